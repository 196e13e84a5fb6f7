"""Measures a matrix product, written as a plain loop, against cuBLAS on one GPU.

The kernel and torch.matmul run on the same matrices of normal random numbers, in
turn. A time is the median of CUDA events. The first and the last rows of the result
are checked against float64 in the same run; the output holds NaN before the first
call. The exit status is 1 if a result is wrong.

    gemm.py                                    # docs/Inputs/gemm.mlir
    gemm.py --shapes 4096x4096x4096            # M x N x K
    gemm.py --program FILE --schedule 'stages = 2'

A program has one kernel with the parameters a [M, K], b [K, N] and c [M, N] in f16.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import tile  # noqa: E402

SHAPES = (
    "4096x4096x4096",
    "8192x8192x8192",
    "4096x7168x2048",
    "4096x2112x7168",
    "1024x4096x4096",
)

#: Rows of the result that are checked at each end.
CHECKED_ROWS = 128

#: Largest error relative to the largest exact element: two units in the last place
#: of f16.
TOLERANCE = 2**-10


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default=str(ROOT / "docs/Inputs/gemm.mlir"))
    parser.add_argument("--schedule", help="fields of a schedule that are replaced")
    parser.add_argument("--shapes", nargs="+", default=SHAPES, metavar="MxNxK")
    parser.add_argument("--rounds", type=int, default=50, help="timed rounds")
    parser.add_argument("--warmup", type=int, default=10, help="untimed rounds before")
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("SKIPPED: no PyTorch")
        return 0
    import torch

    if not torch.cuda.is_available():
        print("SKIPPED: no GPU")
        return 0
    kernel = tile.compile(Path(arguments.program), schedule=arguments.schedule)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'M x N x K':>20} {'ours':>8} {'cuBLAS':>8} {'ratio':>7}")
    ratios, wrong = [], 0
    for text in arguments.shapes:
        m, n, k = map(int, text.split("x"))
        times, error = measure(kernel, m, n, k, arguments)
        rates = {name: 2 * m * n * k / (t * 1e9) for name, t in times.items()}
        ratios.append(rates["ours"] / rates["cuBLAS"])
        is_right = error <= TOLERANCE
        wrong += not is_right
        print(
            f"{text:>20} {rates['ours']:8.0f} {rates['cuBLAS']:8.0f}"
            f" {ratios[-1]:7.3f}" + ("" if is_right else f"  WRONG: error {error:.2g}"),
            flush=True,
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"TFLOP/s; geometric mean of the ratios {mean:.3f}")
    return 1 if wrong else 0


def measure(kernel, m: int, n: int, k: int, arguments):
    """Returns the time of each contender in milliseconds, and the largest error of
    ours relative to the largest exact element."""
    import torch
    from timing import time_in_turn

    torch.manual_seed(0)
    a = torch.randn(m, k, device="cuda", dtype=torch.float16)
    b = torch.randn(k, n, device="cuda", dtype=torch.float16)
    c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
    kernel.launch(a, b, c)
    error = 0.0
    for rows in (slice(0, CHECKED_ROWS), slice(m - min(m, CHECKED_ROWS), m)):
        exact = a[rows].double() @ b.double()
        found = ((c[rows].double() - exact).abs().max() / exact.abs().max()).item()
        error = math.inf if math.isnan(found) else max(error, found)
    runs = {
        "ours": lambda: kernel.launch(a, b, c),
        "cuBLAS": lambda: torch.matmul(a, b),
    }
    times = time_in_turn(runs, arguments.rounds, arguments.warmup, flush=True)
    return times, error


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, tile.CompileError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
