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
    gemm.py --triton                           # beside Triton's persistent kernel

A program has one kernel with the parameters a [M, K], b [K, N] and c [M, N] in f16 or
bf16. Its tiles have open extents BM, BN and BK, or none. Each combination of tiles and
schedules is one contender. gemm_model.py measures what the compiler chooses itself.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import products  # noqa: E402
from products import Shape, mean  # noqa: E402

SHAPES = (
    "4096x4096x4096",
    "8192x8192x8192",
    "1024x4096x4096",
    *products.weights_of((64, 128, 4096)),
)

#: Rows and columns of C of a thread block, the step along K, and warps.
TILES = ("128x256x64:8", "128x192x64:8", "128x128x64:8", "64x128x64:4")


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
    parser.add_argument("--triton", action="store_true", help="with Triton's kernel")
    parser.add_argument("--rounds", type=int, default=50, help="timed rounds")
    parser.add_argument("--warmup", type=int, default=10, help="untimed rounds before")
    arguments = parser.parse_args()
    if gpu.is_missing():
        return 0
    import torch

    text = Path(arguments.program).read_text(encoding="utf-8")
    dtype = products.element_type(text)
    schedules = contenders(text, arguments)
    modules = products.compile_all(text, schedules.values())
    runs = {name: products.ours(modules[schedule]) for name, schedule in schedules.items()}
    if arguments.triton:
        import triton_gemm

        runs["Triton"] = triton_gemm.contender()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {dtype}")
    for number, name in enumerate(runs, 1):
        print(f"({number}) {name}")
    columns = "".join(f"{f'({number})':>8}" for number in range(1, len(runs) + 1))
    print(f"{'M x N x K':>20} {'cuBLAS':>8} {columns} {'best':>8}")
    ratios, wrong = [], 0
    for shape in map(Shape.parse, arguments.shapes):
        measured = products.measure(runs, shape, dtype, arguments.rounds, arguments.warmup)
        ratios.append([measured.ratio(name) for name in runs])
        ratios[-1].append(max(ratios[-1]))
        bad = measured.wrong(dtype)
        wrong += len(bad)
        columns = "".join(f"{ratio:8.3f}" for ratio in ratios[-1][:-1])
        rate = 2 * shape.m * shape.n * shape.k / (measured.library * 1e9)
        print(
            f"{str(shape):>20} {rate:8.0f} {columns} {ratios[-1][-1]:8.3f}"
            + "".join(f"  WRONG: {n}: error {measured.errors[n]:.2g}" for n in bad),
            flush=True,
        )
    means = [mean(column) for column in zip(*ratios)]
    columns = "".join(f"{number:8.3f}" for number in means[:-1])
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


if __name__ == "__main__":
    gpu.run(main)
