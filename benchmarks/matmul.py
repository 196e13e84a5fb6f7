"""Measures tile.matmul against PyTorch on one GPU: operands that are stored transposed
or not, types of elements, and batches.

    matmul.py                                        # all variants, 4096x4096x4096
    matmul.py --variants bf16:nt f32:nn --shapes 8192x1024x4096 64x4096x4096
    matmul.py --variants bf16:nn --batches 16 --shapes 1024x1024x1024

A variant is a type (bf16, f16, f32 or i8) and how a and b are stored: n as M x K or
K x N, t transposed. f32 is multiplied in tf32 by both. Shapes are M x N x K. The data
are normal random numbers, or random bytes. The compiler chooses the extents for the
sizes. A time is the median of CUDA events, ours and PyTorch's in turn, and the
second-level cache is flushed before each call. Outputs hold other numbers before the
first call. Rows of the results are compared with float64 in the same run. The exit
status is 1 if a result is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import tile  # noqa: E402
from products import CHECKED_ROWS, Shape, mean  # noqa: E402

#: The type of the result, the attribute of the operation, and the largest error of an
#: element relative to the largest one.
TYPES = {
    "bf16": ("bf16", "", 2**-7),
    "f16": ("f16", "", 2**-10),
    "f32": ("f32", " precision(tf32)", 2**-9),
    "i8": ("i32", "", 0.0),
}
VARIANTS = tuple(f"bf16:{a}{b}" for a, b in itertools.product("nt", repeat=2)) + (
    "f16:nn",
    "f32:nn",
    "f32:nt",
    "i8:nt",
)


def program(element: str, stored: str, rank: int) -> str:
    """Returns a program with one operation."""
    result, precision, _ = TYPES[element]
    flags = [f"transpose_{name}" for name, s in zip("ab", stored) if s == "t"]
    attributes = f" {{{', '.join(flags)}}}" if flags else ""
    strides = ", ".join(["?:16"] * (rank - 1) + ["1"])

    def buffer(kind: str) -> str:
        return f"!tile.buffer<{'?x' * rank}{kind}, #tile.strided<[{strides}], align = 16>, global>"

    return f"""
        !factor = {buffer(element)}
        !result = {buffer(result)}
        func.func @product(%a: !factor, %b: !factor, %c: !result) {{
          tile.matmul %a, %b to %c{precision}{attributes} : !factor, !factor, !result
          return
        }}
    """


def measure(variant: str, shape: Shape, batches: int, schedule: str, rounds: int):
    """Returns the rate of PyTorch in TFLOP/s, our rate relative to it, and our error."""
    import torch
    from timing import time_in_turn

    element, stored = variant.split(":")
    result, _, _ = TYPES[element]
    kinds = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32,
             "i8": torch.int8, "i32": torch.int32}
    torch.manual_seed(0)
    outer = (batches,) if batches > 1 else ()

    def factor(rows: int, columns: int, is_transposed: bool):
        extents = (*outer, columns, rows) if is_transposed else (*outer, rows, columns)
        if element == "i8":
            return torch.randint(-128, 128, extents, device="cuda", dtype=torch.int8)
        return torch.randn(extents, device="cuda", dtype=kinds[element])

    m, n, k = shape
    a, b = factor(m, k, stored[0] == "t"), factor(k, n, stored[1] == "t")
    left, right = (
        x.transpose(-1, -2) if s == "t" else x for x, s in zip((a, b), stored)
    )
    c = torch.full((*outer, m, n), -7, device="cuda", dtype=kinds[result])
    tensors = {"a": a, "b": b, "c": c}
    sizes = ", ".join(f"{x} = {'x'.join(map(str, t.shape))}" for x, t in tensors.items())
    module = tile.compile(program(element, stored, c.dim()), sizes=sizes, schedule=schedule or None)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    scratch = {
        name: torch.full(extents, -7, device="cuda", dtype=kinds[kind])
        for name, (kind, extents) in module.scratch(shapes).items()
    }
    multiply = torch._int_mm if element == "i8" else torch.matmul
    runs = {
        "tile": lambda: module.launch(**tensors, **scratch),
        "PyTorch": lambda: multiply(left, right),
    }
    runs["tile"]()
    errors = []
    for rows in (slice(0, CHECKED_ROWS), slice(max(m - CHECKED_ROWS, 0), m)):
        exact = left[..., rows, :].double() @ right.double()
        errors.append(((c[..., rows, :].double() - exact).abs().max() / exact.abs().max()).item())
    times = time_in_turn(runs, rounds, 5, flush=True)
    rate = 2 * batches * m * n * k / (times["PyTorch"] * 1e9)
    return rate, times["PyTorch"] / times["tile"], max(errors)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variants", nargs="+", default=VARIANTS, metavar="TYPE:AB")
    parser.add_argument("--shapes", nargs="+", default=["4096x4096x4096"], metavar="MxNxK")
    parser.add_argument("--batches", type=int, default=1)
    parser.add_argument("--schedule", default="", help="fields of the schedule")
    parser.add_argument("--rounds", type=int, default=30, help="timed rounds")
    arguments = parser.parse_args()
    if gpu.is_missing():
        return 0
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'variant':>10} {'M x N x K':>20} {'PyTorch':>8} {'tile':>8}")
    ratios, wrong = [], 0
    for variant, shape in itertools.product(arguments.variants, arguments.shapes):
        rate, ratio, error = measure(variant, Shape.parse(shape), arguments.batches,
                                     arguments.schedule, arguments.rounds)
        ratios.append(ratio)
        is_wrong = not error <= TYPES[variant.split(":")[0]][2]
        wrong += is_wrong
        print(f"{variant:>10} {shape:>20} {rate:8.0f} {ratio:8.3f}"
              + (f"  WRONG: error {error:.2g}" if is_wrong else ""), flush=True)
    print(f"{'geometric mean':>31} {'':8} {mean(ratios):8.3f}")
    print("TFLOP/s of PyTorch; our rate relative to it")
    return 1 if wrong else 0


if __name__ == "__main__":
    gpu.run(main)
