"""Fused attention in Triton for AMD's chips, as a contender: forward, and backward with
a kernel for dK and dV and one for dQ. The rows of a tensor are D elements apart, and
tiles divide the lengths. compile_kernels() needs no GPU."""

from __future__ import annotations

from typing import Dict, List, NamedTuple

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget


@triton.jit
def _tile(rows, D: tl.constexpr):
    return rows[:, None] * D + tl.arange(0, D)[None, :]


@triton.jit
def _transposed(rows, D: tl.constexpr):
    return tl.arange(0, D)[:, None] + rows[None, :] * D


@triton.jit
def _walk_keys(
    sum, most, acc, q, k, v, scale, queries, first, end,
    MASK: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    for start in range(first, end, BN):
        keys = start + tl.arange(0, BN)
        scores = tl.dot(q, tl.load(k + _transposed(keys, D)))
        if MASK:
            scores = tl.where(queries[:, None] >= keys[None, :], scores, -1.0e6)
        larger = tl.maximum(most, tl.max(scores, 1) * scale)
        p = tl.math.exp2(scores * scale - larger[:, None])
        ratio = tl.math.exp2(most - larger)
        sum = sum * ratio + tl.sum(p, 1)
        acc = acc * ratio[:, None]
        values = tl.load(v + _tile(keys, D))
        acc = tl.dot(p.to(values.dtype), values, acc)
        most = larger
    return sum, most, acc


@triton.jit
def _forward(
    q, k, v, o, lse, scale, length,
    CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length
    first = tl.program_id(0) * BM
    queries = first + tl.arange(0, BM)
    q += head * D
    k += head * D
    v += head * D
    tile = tl.load(q + _tile(queries, D))
    most = tl.full([BM], float("-inf"), tl.float32)
    sum = tl.full([BM], 1.0, tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    scale *= 1.44269504
    end = first if CAUSAL else length
    sum, most, acc = _walk_keys(
        sum, most, acc, tile, k, v, scale, queries, 0, end, False, BN, D
    )
    if CAUSAL:
        sum, most, acc = _walk_keys(
            sum, most, acc, tile, k, v, scale, queries, first, first + BM, True, BN, D
        )
    tl.store(lse + head + queries, most + tl.math.log2(sum))
    acc = acc / sum[:, None]
    tl.store(o + head * D + _tile(queries, D), acc.to(o.type.element_ty))


@triton.jit
def _walk_queries(
    dk, dv, kt, vt, q, do, lse, delta, keys, first, end,
    MASK: tl.constexpr, BM: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    for start in range(first, end, BM):
        queries = start + tl.arange(0, BM)
        qt = tl.load(q + _transposed(queries, D))
        p = tl.math.exp2(tl.dot(kt, qt) - tl.load(lse + queries)[None, :])
        if MASK:
            p = tl.where(queries[None, :] >= keys[:, None], p, 0.0)
        gradient = tl.load(do + _tile(queries, D))
        dv = tl.dot(p.to(gradient.dtype), gradient, dv)
        dp = tl.dot(vt, tl.trans(gradient))
        ds = p * (dp - tl.load(delta + queries)[None, :])
        dk = tl.dot(ds.to(qt.dtype), tl.trans(qt), dk)
    return dk, dv


@triton.jit
def _backward_keys(
    q, k, v, do, dk, dv, lse, delta, scale, length,
    CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length
    first = tl.program_id(0) * BN
    keys = first + tl.arange(0, BN)
    q += head * D
    do += head * D
    lse += head
    delta += head
    at = head * D + _tile(keys, D)
    kt = tl.load(k + at)
    vt = tl.load(v + at)
    sum_k = tl.zeros([BN, D], tl.float32)
    sum_v = tl.zeros([BN, D], tl.float32)
    unmasked = 0
    if CAUSAL:
        unmasked = first + BN
        sum_k, sum_v = _walk_queries(
            sum_k, sum_v, kt, vt, q, do, lse, delta, keys, first, unmasked, True, BM, D
        )
    sum_k, sum_v = _walk_queries(
        sum_k, sum_v, kt, vt, q, do, lse, delta, keys, unmasked, length, False, BM, D
    )
    tl.store(dk + at, (sum_k * scale).to(dk.type.element_ty))
    tl.store(dv + at, sum_v.to(dv.type.element_ty))


@triton.jit
def _walk_keys_again(
    dq, q, do, k, v, lse, delta, queries, first, end,
    MASK: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    for start in range(first, end, BN):
        keys = start + tl.arange(0, BN)
        at = _transposed(keys, D)
        kt = tl.load(k + at)
        p = tl.math.exp2(tl.dot(q, kt) - lse[:, None])
        if MASK:
            p = tl.where(queries[:, None] >= keys[None, :], p, 0.0)
        ds = p * (tl.dot(do, tl.load(v + at)) - delta[:, None])
        dq = tl.dot(ds.to(kt.dtype), tl.trans(kt), dq)
    return dq


@triton.jit
def _backward_queries(
    q, k, v, do, dq, lse, delta, scale, length,
    CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length
    first = tl.program_id(0) * BM
    queries = first + tl.arange(0, BM)
    k += head * D
    v += head * D
    at = head * D + _tile(queries, D)
    tile = tl.load(q + at)
    gradient = tl.load(do + at)
    rows = tl.load(lse + head + queries)
    sums = tl.load(delta + head + queries)
    result = tl.zeros([BM, D], tl.float32)
    end = first if CAUSAL else length
    result = _walk_keys_again(
        result, tile, gradient, k, v, rows, sums, queries, 0, end, False, BN, D
    )
    if CAUSAL:
        result = _walk_keys_again(
            result, tile, gradient, k, v, rows, sums, queries, first, first + BM, True,
            BN, D,
        )  # fmt: skip
    tl.store(dq + at, (result * scale).to(dq.type.element_ty))


class Configuration(NamedTuple):
    """The tile, and options of the compiler. `mma` is the extent of MFMAs, 0 for the
    compiler's choice."""

    bm: int
    bn: int
    warps: int
    stages: int
    mma: int = 0

    def __str__(self) -> str:
        mma = f", mma {self.mma}" if self.mma else ""
        return f"{self.bm} x {self.bn}, {self.warps}, stages {self.stages}{mma}"


#: Triton's names of element types.
_NAMES = {"f16": "fp16", "bf16": "bf16"}

#: The kernels: arguments that point to elements of 16 and of 32 bits.
_KERNELS = {
    "forward": (_forward, "q k v o", "lse"),
    "keys": (_backward_keys, "q k v do dk dv", "lse delta"),
    "queries": (_backward_queries, "q k v do dq", "lse delta"),
}

_TILES = {
    ("forward", 64): ((128, 128, 4), (128, 64, 4), (128, 32, 4), (256, 64, 8)),
    ("forward", 32): ((128, 64, 8), (128, 32, 8), (64, 32, 4), (128, 32, 4)),
    ("keys", 64): ((32, 128, 4), (16, 128, 4), (64, 64, 4), (32, 64, 4)),
    ("keys", 32): ((32, 128, 8), (16, 64, 4), (32, 64, 4), (32, 128, 4)),
    ("queries", 64): ((128, 32, 4), (128, 16, 4), (64, 64, 4), (64, 32, 4)),
    ("queries", 32): ((128, 32, 8), (64, 16, 4), (64, 32, 4), (128, 32, 4)),
}


def configurations(kernel: str, warp_size: int) -> List[Configuration]:
    """Returns the configurations of a kernel for chips with such waves."""
    choices = [(1, 0)]
    if warp_size == 64:
        choices = [(1, 16), (1, 32), (2, 16), (2, 32)]
    return [
        Configuration(*tile, stages, mma)
        for tile in _TILES[kernel, warp_size]
        for stages, mma in choices
        if mma <= tile[0] // tile[2]
    ]


def compile_kernel(
    kernel: str,
    chip: str,
    warp_size: int,
    d: int,
    dtype: str,
    causal: bool,
    choice: Configuration,
):
    """Returns a compiled kernel for f16 or bf16."""
    function, halves, floats = _KERNELS[kernel]
    signature = {name: f"*{_NAMES[dtype]}" for name in halves.split()}
    signature |= {name: "*fp32" for name in floats.split()}
    pointers = range(len(signature))
    signature |= {"scale": "fp32", "length": "i32"}
    attributes = {
        (i,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for i in pointers
    }
    attributes[len(signature) - 1,] = [["tt.divisibility", 16]]
    values: Dict[str, object] = {
        "CAUSAL": causal, "BM": choice.bm, "BN": choice.bn, "D": d
    }  # fmt: skip
    signature |= {name: "constexpr" for name in values}
    names = list(signature)
    constants = {(names.index(name),): value for name, value in values.items()}
    source = triton.compiler.ASTSource(function, signature, constants, attributes)
    options = {
        "num_warps": choice.warps,
        "num_stages": choice.stages,
        "matrix_instr_nonkdim": choice.mma,
    }
    target = GPUTarget("hip", chip, warp_size)
    return triton.compile(source, target=target, options=options)
