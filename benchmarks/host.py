"""Measures the time that calls of attention take on the host.

tile.attention and, in PyTorch 2.11, scaled_dot_product_attention on our kernels are
measured in turn with scaled_dot_product_attention on PyTorch's, on tensors so small
that the GPU never falls behind. A time is the median over rounds of the time of a
call, in microseconds. The targets are ratios to the time of PyTorch: 1.5 for a forward
call of tile.attention, 1.2 for forward and backward, and 1.0 for
scaled_dot_product_attention on our kernels.

    host.py                                # compile and measure
    host.py --pack DIR --chip sm_90a       # compile to DIR; needs no GPU
    TILE_PACK_DIR=DIR host.py              # measure; needs no compiler
    host.py --profile                      # where the time goes
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import pstats
import statistics
import sys
import time
from pathlib import Path
from typing import Callable, Dict, Iterator, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from tile import cache  # noqa: E402
from tile.programs import KV_SUMS, BackwardVariant, Variant  # noqa: E402

#: Head dimension, heads of q and of k.
SHAPES = ((64, 4, 4), (128, 4, 4), (128, 8, 2))
BATCH, LENGTH = 1, 128

#: Largest ratios to PyTorch's time that are acceptable, of tile.attention and of
#: scaled_dot_product_attention on our kernels.
TARGETS = {
    "forward": (1.5, 1.0),
    "forward+backward": (1.2, 1.0),
    "forward+backward, autocast": (1.2, 1.0),
}

#: What is measured: a call, and a context manager that it is called in.
Contender = Tuple[Callable[[], object], Callable[[], object]]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pack", metavar="DIR", help="compile to DIR, do not measure")
    parser.add_argument("--chip", default="sm_90a", help="chip to compile for")
    parser.add_argument("--calls", type=int, default=300, help="calls in a round")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--profile", action="store_true", help="print profiles")
    arguments = parser.parse_args()
    if arguments.pack:
        programs = [variant.ir() for variant in variants()]
        cache.precompile(programs, arguments.chip, arguments.pack)
        print(f"{len(programs)} programs in {arguments.pack}")
        return 0
    return measure(arguments)


def variants() -> Iterator:
    for d in sorted({d for d, _, _ in SHAPES}):
        forward = Variant(d, d, "bf16", causal=True)
        yield forward
        for kv in KV_SUMS[:2]:
            yield BackwardVariant(forward, kv=kv)


def measure(arguments: argparse.Namespace) -> int:
    import torch

    has_list = hasattr(torch.nn.attention, "register_flash_attention_impl")
    head = f"{'call':28} {'D':>4} {'H':>5} {'SDPA us':>8} {'tile us':>8} {'ratio':>6}"
    print(head + (f" {'SDPA on tile us':>16} {'ratio':>6}" if has_list else ""))
    missed = 0
    for d, heads, kv_heads in SHAPES:
        for name, contenders in calls(d, heads, kv_heads, has_list).items():
            peer, *times = median_times(contenders, arguments.calls, arguments.rounds)
            line = f"{name:28} {d:4} {heads:>3}/{kv_heads} {peer:8.1f}"
            for time_of, width, target in zip(times, (8, 16), TARGETS.get(name, (0, 0))):
                line += f" {time_of:{width}.1f} {time_of / peer:6.2f}"
                if target:
                    line += f" (target {target})"
                    missed += time_of / peer > target
            print(line, flush=True)
            if arguments.profile:
                for function, active in contenders[1:]:
                    with active():
                        profile(function)
    return int(missed > 0)


def calls(
    d: int, heads: int, kv_heads: int, has_list: bool
) -> Dict[str, Tuple[Contender, ...]]:
    """Returns PyTorch's call, ours and PyTorch's on our kernels, by name."""
    import torch
    import tile
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    def tensor(heads: int) -> torch.Tensor:
        return torch.randn(BATCH, LENGTH, heads, d, device="cuda", dtype=torch.bfloat16)

    q, k, v, do = tensor(heads), tensor(kv_heads), tensor(kv_heads), tensor(heads)
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    grouped = {"enable_gqa": True} if heads != kv_heads else {}

    def ours(*inputs: torch.Tensor) -> torch.Tensor:
        return tile.attention(*inputs, causal=True)

    def peer(*inputs: torch.Tensor) -> torch.Tensor:
        views = (t.transpose(1, 2) for t in inputs)
        return sdpa(*views, is_causal=True, **grouped).transpose(1, 2)

    def forward(function):
        def call():
            with torch.no_grad():
                return function(q, k, v)

        return call

    def both(function):
        return lambda: torch.autograd.grad(function(*leaves), leaves, do)

    def autocast(function):
        wide = [t.detach().float().requires_grad_() for t in leaves]
        narrow = torch.bfloat16

        def call():
            # As a layer of a model: projections give tensors of the narrow type.
            with torch.autocast("cuda", dtype=narrow):
                out = function(*(t.to(narrow) for t in wide))
            return torch.autograd.grad(out, wide, do)

        return call

    @contextlib.contextmanager
    def flash():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            yield

    @contextlib.contextmanager
    def adapter():
        handle = tile.flash.activate()
        try:
            with flash():
                yield
        finally:
            handle.remove()

    functions = [(peer, flash), (ours, contextlib.nullcontext)]
    if has_list:
        functions.append((peer, adapter))
    kinds = {
        "forward": forward,
        "forward with graph": lambda function: lambda: function(*leaves),
        "forward+backward": both,
        "forward+backward, autocast": autocast,
    }
    return {
        name: tuple((kind(function), active) for function, active in functions)
        for name, kind in kinds.items()
    }


def median_times(
    contenders: Tuple[Contender, ...], calls: int, rounds: int
) -> Tuple[float, ...]:
    """Returns microseconds of a call of each contender, measured in turn."""
    import torch

    times: list = [[] for _ in contenders]
    for _ in range(rounds):
        for (function, active), found in zip(contenders, times):
            with active():
                for _ in range(20):
                    function()
                torch.cuda.synchronize()
                begin = time.perf_counter()
                for _ in range(calls):
                    function()
                found.append((time.perf_counter() - begin) / calls * 1e6)
                torch.cuda.synchronize()
    return tuple(statistics.median(found) for found in times)


def profile(function: Callable[[], object]) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(300):
        function()
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(14)


if __name__ == "__main__":
    sys.exit(main())
