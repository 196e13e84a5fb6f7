"""Measures the time that calls of attention take on the host.

Calls are measured in turn with scaled_dot_product_attention, on tensors so small
that the GPU never falls behind. A time is the median over rounds of the time of a
call, in microseconds. The targets are 1.5 times the time of PyTorch for forward
and 1.2 times for forward and backward.

    host.py                                # compile and measure
    host.py --pack DIR --chip sm_90a       # compile to DIR; needs no GPU
    TILE_PACK_DIR=DIR host.py              # measure; needs no compiler
    host.py --profile                      # where the time goes
"""

from __future__ import annotations

import argparse
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

#: Largest ratios to PyTorch's time that are acceptable.
TARGETS = {"forward": 1.5, "forward+backward": 1.2}


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
    print(f"{'call':28} {'D':>4} {'H':>5} {'tile us':>8} {'SDPA us':>8} {'ratio':>6}")
    missed = 0
    for d, heads, kv_heads in SHAPES:
        for name, (ours, peer) in calls(d, heads, kv_heads).items():
            times = median_times((ours, peer), arguments.calls, arguments.rounds)
            ratio = times[0] / times[1]
            target = TARGETS.get(name)
            missed += target is not None and ratio > target
            note = f" target {target}" if target else ""
            print(
                f"{name:28} {d:4} {heads:>3}/{kv_heads} {times[0]:8.1f} {times[1]:8.1f}"
                f" {ratio:6.2f}{note}",
                flush=True,
            )
            if arguments.profile:
                profile(ours)
    return int(missed > 0)


def calls(
    d: int, heads: int, kv_heads: int
) -> Dict[str, Tuple[Callable[[], object], Callable[[], object]]]:
    """Returns our call and PyTorch's, by name."""
    import torch
    import tile
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

    functions = (ours, peer)
    return {
        "forward": tuple(map(forward, functions)),
        "forward with graph": tuple(
            (lambda f=function: f(*leaves)) for function in functions
        ),
        "forward+backward": tuple(map(both, functions)),
    }


def median_times(
    functions: Tuple[Callable[[], object], ...], calls: int, rounds: int
) -> Tuple[float, ...]:
    """Returns microseconds of a call of each function, measured in turn."""
    import torch

    times: list = [[] for _ in functions]
    for function in functions:
        for _ in range(20):
            function()
    for _ in range(rounds):
        for function, found in zip(functions, times):
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
