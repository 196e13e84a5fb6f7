"""A persistent matrix product in Triton, as a contender: copies by TMA through tensor
descriptors, one program for each multiprocessor that loops over tiles, and the fastest
of a list of configurations for each shape, with and without warp specialization."""

from __future__ import annotations

import functools
from typing import Callable

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def _set_blocks(arguments) -> None:
    """Gives the descriptors the tiles of a configuration."""
    bm, bn, bk = (arguments[name] for name in ("BM", "BN", "BK"))
    arguments["a"].block_shape = [bm, bk]
    arguments["b"].block_shape = [bk, bn]
    arguments["c"].block_shape = [bm, bn // 2 if arguments["HALVES"] else bn]


def _configuration(bm, bn, bk, stages, warps, halves, specialize=False):
    return triton.Config(
        {"BM": bm, "BN": bn, "BK": bk, "HALVES": halves, "SPECIALIZE": specialize},
        num_stages=stages,
        num_warps=warps,
        pre_hook=_set_blocks,
    )


def _plain_configurations() -> list:
    tiles = (
        # BM, BN, BK, stages, warps
        (128, 256, 64, 3, 8),
        (128, 256, 64, 4, 8),
        (256, 128, 64, 3, 8),
        (128, 128, 64, 4, 4),
        (128, 128, 64, 4, 8),
        (128, 128, 128, 3, 8),
        (128, 64, 64, 5, 4),
        (128, 64, 128, 4, 4),
        (64, 256, 64, 4, 4),
        (64, 128, 64, 5, 4),
        (64, 128, 128, 4, 4),
        (64, 64, 128, 5, 4),
        (64, 32, 128, 6, 4),
    )
    return [
        _configuration(*tile, halves)
        for tile in tiles
        for halves in ((False, True) if tile[0] * tile[1] >= 128 * 256 else (False,))
    ]


def _specialized_configurations() -> list:
    return [
        _configuration(bm, bn, 64, 3, warps, halves=True, specialize=True)
        for bm, bn, warps in ((128, 256, 8), (128, 128, 4))
    ]


def _bench(call, quantiles):
    """Times a configuration for the choice, shortly."""
    return triton.testing.do_bench(call, warmup=2, rep=12, quantiles=quantiles)


@triton.jit
def _product(
    a,
    b,
    c,
    M,
    N,
    K,
    PROGRAMS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    HALVES: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    rows = tl.cdiv(M, BM)
    columns = tl.cdiv(N, BN)
    steps = tl.cdiv(K, BK)
    group = 8 * columns
    for tile in tl.range(
        tl.program_id(0),
        rows * columns,
        PROGRAMS,
        flatten=not SPECIALIZE,
        warp_specialize=SPECIALIZE,
    ):
        # Groups of eight rows of tiles share columns in the second-level cache.
        first = tile // group * 8
        height = min(rows - first, 8)
        row = (first + tile % group % height) * BM
        column = tile % group // height * BN
        sum = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(steps):
            sum = tl.dot(a.load([row, step * BK]), b.load([step * BK, column]), sum)
        if HALVES:
            # Half of the tile needs half of the shared memory.
            parts = tl.permute(tl.reshape(sum, (BM, 2, BN // 2)), (0, 2, 1))
            left, right = tl.split(parts)
            c.store([row, column], left.to(c.dtype))
            c.store([row, column + BN // 2], right.to(c.dtype))
        else:
            c.store([row, column], sum.to(c.dtype))


def _tuned(configurations: list):
    """Returns the kernel that chooses one of these configurations for each shape."""
    choose = triton.autotune(configurations, key=["M", "N", "K"], do_bench=_bench)
    return choose(_product)


@functools.lru_cache
def _kernel():
    """Returns the kernel with all configurations that this version of Triton compiles
    right for the GPU at hand."""
    configurations = _plain_configurations()
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.bfloat16) for _ in "ab")
    for configuration in _specialized_configurations():
        c = torch.zeros_like(a)
        try:
            _launch(_tuned([configuration]), a, b, c)()
            torch.cuda.synchronize()
        except Exception as error:
            print(f"Triton: no warp specialization: {type(error).__name__}")
            continue
        if (c.double() - a.double() @ b.double()).abs().max() < 1:
            configurations.append(configuration)
    return _tuned(configurations)


def _launch(kernel, a, b, c) -> Callable[[], object]:
    device = torch.cuda.get_device_properties(a.device)
    programs = device.multi_processor_count
    # The configuration sets the tiles.
    tensors = [TensorDescriptor.from_tensor(t, [1, 1]) for t in (a, b, c)]
    (m, k), n = a.shape, b.shape[1]

    def grid(meta):
        tiles = triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"])
        return (min(programs, tiles),)

    return lambda: kernel[grid](*tensors, m, n, k, programs)


def contender() -> Callable[..., Callable[[], object]]:
    """Returns the contender; its first call for a shape chooses a configuration."""
    kernel = _kernel()
    return lambda a, b, c: _launch(kernel, a, b, c)
