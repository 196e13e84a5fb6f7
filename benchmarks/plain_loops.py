"""Measures attention that is written as a plain loop beside tile.attention.

The programs are examples/forward_open.mlir and backward_open.mlir with other head
dimensions and with a causal mask. The compiler chooses the extents of tiles, the
warps and the order of the loop: once for the sizes of the problem ("sized"), once
without them ("open"). tile.attention is in folders of artifacts, which may come from
different versions:

    attention.py --compile-only --artifacts DIR --chip sm_90a --dtype f16 ...
    plain_loops.py --artifacts before=DIR now=DIR

All contenders run on the same tensors in one process, in random order. Every result is
checked against float64 in the same run; outputs hold NaN before the first call. The
exit status is 1 if a result is wrong. A number is the rate relative to that of the
first folder.
"""

from __future__ import annotations

import argparse
import math
import sys
from itertools import product
from pathlib import Path
from typing import Callable, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import tile  # noqa: E402
from shapes import Shape  # noqa: E402
from tile.programs import Artifacts  # noqa: E402

#: Rows of dq_sums are padded to blocks of the fragments of any instruction.
SUM_ROWS = 64

#: The changes that give a program a causal mask, for as many queries as keys.
CAUSAL = {
    "forward": (
        (
            "  %all:3 = scf.for %n = %c0 to %keys step",
            "  %seen_keys = arith.addi %row, %bq : index\n"
            "  %last = arith.minui %seen_keys, %keys : index\n"
            "  %query = tile.iota along 0 : !ints\n"
            "  %all:3 = scf.for %n = %c0 to %last step",
        ),
        (
            "    %seen = arith.select %visible, %s2, %hidden : !flags, !scores\n",
            "    %before = arith.subi %row, %n : index\n"
            "    %before32 = arith.index_cast %before : index to i32\n"
            "    %before_t = tensor.splat %before32[%bq, %bk] : !ints\n"
            "    %diagonal = arith.addi %query, %before_t : !ints\n"
            "    %earlier = arith.cmpi sle, %column, %diagonal : !ints\n"
            "    %both = arith.andi %visible, %earlier : !flags\n"
            "    %seen = arith.select %both, %s2, %hidden : !flags, !scores\n",
        ),
    ),
    "backward": (
        (
            "  %sums:2 = scf.for %m = %c0 to",
            "  %first_tile = arith.divui %key, %bq : index\n"
            "  %first = arith.muli %first_tile, %bq : index\n"
            "  %query = tile.iota along 1 : !ints\n"
            "  %sums:2 = scf.for %m = %first to",
        ),
        (
            "    %p = arith.select %visible, %exp, %no_scores : !flags, !scores\n",
            "    %after = arith.subi %m, %key : index\n"
            "    %after32 = arith.index_cast %after : index to i32\n"
            "    %after_t = tensor.splat %after32[%bk, %bq] : !ints\n"
            "    %diagonal = arith.addi %query, %after_t : !ints\n"
            "    %earlier = arith.cmpi sle, %row, %diagonal : !ints\n"
            "    %both = arith.andi %visible, %earlier : !flags\n"
            "    %p = arith.select %both, %exp, %no_scores : !flags, !scores\n",
        ),
    ),
}


def program(shape: Shape) -> str:
    """Returns the plain loop for the head dimension and the mask of a shape."""
    name = "backward" if shape.backward else "forward"
    text = (ROOT / f"examples/{name}_open.mlir").read_text(encoding="utf-8")
    if shape.causal:
        for old, new in CAUSAL[name]:
            if text.count(old) != 1:
                raise ValueError(f"examples/{name}_open.mlir has another loop: {old}")
            text = text.replace(old, new)
    return text.replace("128x", f"{shape.d}x").replace("x128", f"x{shape.d}")


def sizes(shape: Shape) -> str:
    """Returns the sizes of the arguments for the compiler."""
    rows = f"{shape.batch}x{shape.length}x{shape.heads}x{shape.d}"
    names = ["q", "k", "v"] + (["do", "dk", "dv"] if shape.backward else ["o"])
    return ", ".join(f"{name} = {rows}" for name in names)


def plain(problem, module: "tile.Module", ours) -> Callable[[], Tuple]:
    """Returns a call of a plain loop on a problem. The gradients read o and lse of
    `ours`, a contender."""
    import torch

    shape = problem.shape
    q, k, v = (x.transpose(1, 2) for x in (problem.q, problem.k, problem.v))
    if not shape.backward:
        out = torch.full_like(problem.q, math.nan)
        arguments = (q, k, v, out.transpose(1, 2), problem.scale)

        def forward() -> Tuple:
            module.launch(*arguments)
            return (out,)

        return forward

    def blank(*extents: int):
        return torch.full(extents, math.nan, device="cuda")

    batch, heads, length, d = problem.q.shape
    padded = -(-length // SUM_ROWS) * SUM_ROWS
    dq, dk, dv = (torch.full_like(x, math.nan) for x in (problem.q, problem.k, problem.v))
    values = (
        ours.out.transpose(1, 2), problem.do.transpose(1, 2), ours.lse,
        blank(batch, heads, length), blank(batch, heads, length),
        blank(batch, padded, heads, d), q, k, v,
        dk.transpose(1, 2), dv.transpose(1, 2), problem.scale, dq.transpose(1, 2),
    )  # fmt: skip

    def backward() -> Tuple:
        module.launch(*values)
        return (dq, dk, dv)

    return backward


def measure(arguments, shape: Shape, folders: Dict[str, Artifacts]) -> Tuple[Dict, List]:
    """Returns the time of each contender and descriptions of wrong results."""
    from contenders import Ours
    from problem import Problem
    from timing import time_in_turn

    problem = Problem(shape, "bshd")
    runs: Dict[str, Callable[[], Tuple]] = {}
    wrong = []
    for name, artifacts in folders.items():
        ours = Ours(problem, artifacts, {})
        runs[name] = ours.all.run
        if ours.all.fault:
            wrong.append(f"{name}: {ours.all.fault}")
    text = program(shape)
    known = sizes(shape)
    runs["sized"] = plain(problem, tile.compile(text, sizes=known), ours)
    runs["open"] = plain(problem, tile.compile(text), ours)
    for number, schedule in enumerate(arguments.schedules, 1):
        module = tile.compile(text, sizes=known, schedule=schedule)
        runs[f"({number})"] = plain(problem, module, ours)
    for name, run in runs.items():
        error = problem.error(run())
        if not error <= 1:
            wrong.append(f"the error of {name} is {error:.3g} times the tolerance")
    times = time_in_turn(runs, arguments.rounds, arguments.warmup, flush=True)
    return times, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--artifacts", nargs="+", required=True, metavar="NAME=DIR")
    parser.add_argument(
        "--pass", dest="passes", nargs="+", default=["forward", "backward"],
        choices=["forward", "backward"],
    )  # fmt: skip
    parser.add_argument(
        "--schedules", nargs="+", default=[], help="fields of schedules, sized as well"
    )
    parser.add_argument("-d", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("-s", type=int, nargs="+", default=[1024, 4096, 16384])
    parser.add_argument(
        "--mask", nargs="+", default=["full", "causal"], choices=["full", "causal"]
    )
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--width", type=int, default=2048, help="columns of all heads")
    parser.add_argument("--rounds", type=int, default=50, help="timed rounds")
    parser.add_argument("--warmup", type=int, default=10, help="untimed rounds before")
    arguments = parser.parse_args()
    if gpu.is_missing():
        return 0
    import torch

    pairs = [text.partition("=") for text in arguments.artifacts]
    if any(not name or not folder for name, _, folder in pairs):
        parser.error("--artifacts takes NAME=DIR")
    folders = {name: Artifacts(Path(folder)) for name, _, folder in pairs}
    columns = [*folders, "sized", "open"]
    for number, schedule in enumerate(arguments.schedules, 1):
        print(f"({number}) {schedule}")
        columns.append(f"({number})")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, f16")
    print(f"{'':>28} {columns[0]:>10}" + "".join(f"{c:>8}" for c in columns[1:]))
    failed = False
    ratios: Dict[Tuple[str, str], List[float]] = {}
    for kind, d, mask, s in product(
        arguments.passes, arguments.d, arguments.mask, arguments.s
    ):
        heads = arguments.width // d
        batch = arguments.tokens // s
        causal, backward = mask == "causal", kind == "backward"
        shape = Shape(batch, heads, heads, s, d, d, causal, "f16", backward)
        times, wrong = measure(arguments, shape, folders)
        rate = shape.operations / (times[columns[0]] * 1e9)
        line = f"{kind:>9} {d:4} {mask:>6} {s:6} {rate:10.0f}"
        for column in columns[1:]:
            ratio = times[columns[0]] / times[column]
            ratios.setdefault((kind, column), []).append(ratio)
            line += f"{ratio:8.3f}"
        failed = failed or bool(wrong)
        print(line + "".join(f"  WRONG: {text}" for text in wrong), flush=True)
    for (kind, column), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{kind} {column}: {mean:.3f}, at least {min(values):.3f}")
    print("TFLOP/s of the first column; rates of the others relative to it")
    return 1 if failed else 0


if __name__ == "__main__":
    gpu.run(main)
