"""Measures a matrix product, written as a plain loop, against cuBLAS on one GPU.

The kernels and torch.matmul run on the same matrices of normal random numbers, in
turn. A time is the median of CUDA events. The first and the last rows of the result
are checked against float64 in the same run; the output holds NaN before the first
call. The exit status is 1 if a result is wrong.

    gemm.py                                    # examples/gemm.mlir with several tiles
    gemm.py --shapes 4096x4096x4096            # M x N x K
    gemm.py --tiles 128x256x64:8               # BM x BN x BK : warps
    gemm.py --schedules 'order = plain' 'order = groups<16>'
    gemm.py --program docs/Inputs/gemm.mlir --schedules 'stages = 2'

A program has one kernel with the parameters a [M, K], b [K, N] and c [M, N] in f16 or
bf16. Its tiles have open extents BM, BN and BK, or none. Each combination of tiles and
schedules is one contender.
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

#: The extents of weights in DeepGEMM's tests, N x K.
WEIGHTS = (
    "2112x7168",
    "576x7168",
    "24576x1536",
    "32768x512",
    "7168x16384",
    "4096x7168",
    "7168x2048",
)

SHAPES = (
    "4096x4096x4096",
    "8192x8192x8192",
    "1024x4096x4096",
    *(f"{m}x{weight}" for m in (64, 128, 4096) for weight in WEIGHTS),
)

#: Rows and columns of C of a thread block, the step along K, and warps.
TILES = ("128x256x64:8", "128x192x64:8", "128x128x64:8", "64x128x64:4")

#: Rows of the result that are checked at each end.
CHECKED_ROWS = 128

#: Largest error relative to the largest exact element, by element type: two units
#: in the last place.
TOLERANCE = {"f16": 2**-10, "bf16": 2**-7}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default=str(ROOT / "examples/gemm.mlir"))
    parser.add_argument("--tiles", nargs="+", default=TILES, metavar="BMxBNxBK:WARPS")
    parser.add_argument(
        "--schedules", nargs="+", default=[""], help="fields of schedules to compare"
    )
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
    text = Path(arguments.program).read_text(encoding="utf-8")
    dtype = "bf16" if "xbf16," in text else "f16"
    kernels = {
        name: tile.compile(text, schedule=schedule or None)
        for name, schedule in contenders(text, arguments).items()
    }
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {dtype}")
    for number, name in enumerate(kernels, 1):
        print(f"({number}) {name}")
    columns = "".join(f"{f'({number})':>8}" for number in range(1, len(kernels) + 1))
    print(f"{'M x N x K':>20} {'cuBLAS':>8} {columns} {'best':>8}")
    ratios, wrong = [], 0
    for shape in arguments.shapes:
        m, n, k = map(int, shape.split("x"))
        times, errors = measure(kernels, m, n, k, dtype, arguments)
        library = times.pop("cuBLAS")
        ratios.append([library / time for time in times.values()])
        ratios[-1].append(max(ratios[-1]))
        bad = [name for name, error in errors.items() if not error <= TOLERANCE[dtype]]
        wrong += len(bad)
        columns = "".join(f"{ratio:8.3f}" for ratio in ratios[-1][:-1])
        print(
            f"{shape:>20} {2 * m * n * k / (library * 1e9):8.0f} {columns}"
            f" {ratios[-1][-1]:8.3f}"
            + "".join(f"  WRONG: {name}: error {errors[name]:.2g}" for name in bad),
            flush=True,
        )
    means = [math.exp(sum(map(math.log, r)) / len(r)) for r in zip(*ratios)]
    columns = "".join(f"{mean:8.3f}" for mean in means[:-1])
    print(f"{'geometric mean':>20} {'':8} {columns} {means[-1]:8.3f}")
    print("TFLOP/s of cuBLAS; rates of the others relative to it")
    return 1 if wrong else 0


def contenders(text: str, arguments) -> dict:
    """Returns the schedule of each contender by its name."""
    if "tile.param" not in text:
        return {schedule or "as written": schedule for schedule in arguments.schedules}
    found = {}
    for tiles in arguments.tiles:
        extents, warps = tiles.split(":")
        bm, bn, bk = map(int, extents.split("x"))
        fields = f"params = {{BM = {bm}, BN = {bn}, BK = {bk}}}, warps = {warps}"
        for schedule in arguments.schedules:
            name = f"{tiles} {schedule}".strip()
            found[name] = f"{fields}, {schedule}" if schedule else fields
    return found


def measure(kernels: dict, m: int, n: int, k: int, dtype: str, arguments):
    """Returns the time of each contender in milliseconds, and the largest errors of
    ours relative to the largest exact element."""
    import torch
    from timing import time_in_turn

    torch.manual_seed(0)
    element = {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    a = torch.randn(m, k, device="cuda", dtype=element)
    b = torch.randn(k, n, device="cuda", dtype=element)
    ends = [slice(0, min(m, CHECKED_ROWS)), slice(m - min(m, CHECKED_ROWS), m)]
    exact = [a[rows].double() @ b.double() for rows in ends]
    runs = {"cuBLAS": lambda: torch.matmul(a, b)}
    errors = {}
    for name, kernel in kernels.items():
        c = torch.full((m, n), float("nan"), device="cuda", dtype=element)
        kernel.launch(a, b, c)
        found = [
            ((c[rows].double() - right).abs().max() / right.abs().max()).item()
            for rows, right in zip(ends, exact)
        ]
        errors[name] = math.inf if any(map(math.isnan, found)) else max(found)
        runs[name] = lambda kernel=kernel, c=c: kernel.launch(a, b, c)
    times = time_in_turn(runs, arguments.rounds, arguments.warmup, flush=True)
    return times, errors


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, tile.CompileError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
