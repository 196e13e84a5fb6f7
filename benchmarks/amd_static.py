"""Compares attention on AMD's chips with Triton's, without a GPU: the instructions of
inner loops, and the cycles that an issue model gives them.

    amd_static.py                              # ours, all chips
    amd_static.py --triton                     # beside Triton's best configuration
    amd_static.py --chips gfx942 --heads 128 --passes forward --dtype bf16
    amd_static.py --products                   # examples/gemm.mlir and others
    amd_static.py --triton --out results.json  # with every configuration

`tile-translate --resources` counts both (docs/Tools.md). All loops are without a mask.
Triton's backward has a kernel for dK and dV and one for dQ: their numbers are added.
Its best configuration has the fewest cycles, then the fewest instructions, among those
without private memory, if there are any. The exit status is 1 if one of ours has more
cycles than Triton's, or more than 1.1 times its vector instructions forward.

An element is one of the scores, for a lane; for examples it is 1000 multiplications.
Cycles are those of a SIMD for a wave. "common" is the share of the matrix unit without
blocks that a branch skips, such as those for rows that end within an access; with
--products the exit status is 1 if it is below 0.85 for the plain matrix product.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from tile.programs import BackwardVariant, Variant  # noqa: E402

#: The threads of a wave, by chip.
CHIPS = {"gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32}

PASSES = ("forward", "causal", "backward")

#: Programs with products whose loops are counted.
PRODUCTS = (
    "gemm", "gelu_gemm", "swiglu_gemm", "grouped_gemm", "int4_gemm", "mamba2_ssd",
    "gated_delta_rule",
)  # fmt: skip

#: Instructions that take time of the vector unit.
VECTOR = ("vector", "transcendental")


@dataclass(frozen=True)
class Case:
    """A kernel of attention."""

    chip: str
    d: int
    kind: str
    dtype: str

    @property
    def products(self) -> int:
        """The products of d elements each for an element of the scores."""
        return 5 if self.kind == "backward" else 2

    @property
    def causal(self) -> bool:
        return self.kind != "forward"

    def __str__(self) -> str:
        names = {"causal": "forward, causal", "backward": "backward, causal"}
        return f"{self.chip}, D {self.d}, {names.get(self.kind, self.kind)}"


@dataclass
class Count:
    """What a loop takes for an element, and what its kernel takes."""

    cycles: float
    vector: float
    instructions: float
    share: float
    registers: int
    spills: int
    shared: int
    waves: int
    branches: int
    #: The share of the matrix unit without blocks that a branch skips.
    common: float = 0
    choice: str = ""
    units: Dict[str, float] = field(default_factory=dict)

    def plus(self, other: "Count") -> "Count":
        """Returns the sum for two kernels; of registers and such the worse."""
        cycles = self.cycles + other.cycles
        matrix = self.share * self.cycles + other.share * other.cycles
        return Count(
            cycles,
            self.vector + other.vector,
            self.instructions + other.instructions,
            matrix / cycles,
            max(self.registers, other.registers),
            self.spills + other.spills,
            max(self.shared, other.shared),
            min(self.waves, other.waves),
            max(self.branches, other.branches),
            choice=f"{self.choice} and {other.choice}",
        )

    @property
    def order(self) -> Tuple:
        return bool(self.spills), round(self.cycles, 1), self.instructions

    def cells(self) -> List[str]:
        return [
            f"{self.cycles:.1f}", f"{self.share:.2f}", f"{self.vector:.1f}",
            f"{self.instructions:.1f}", f"{self.registers}", f"{self.spills}",
            f"{self.shared}", f"{self.waves}", f"{self.branches}",
        ]  # fmt: skip


def find_tool() -> str:
    folder = os.environ.get("TILE_BIN", str(ROOT / "build" / "bin"))
    return str(Path(folder) / "tile-translate")


def run_tool(*arguments: str) -> List[dict]:
    """Returns what tile-translate says of each kernel of a code object."""
    command = [find_tool(), *arguments, "--resources"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{' '.join(command)}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def count_loop(kernels: Iterable[dict], operations: int) -> Count:
    """Returns the counts of the loop with products that takes the fewest instructions.

    `operations` are those of an element of the scores in matrix instructions.
    """
    best: Optional[Count] = None
    for kernel in kernels:
        for loop in kernel["loops"]:
            elements = loop["matrix_operations"] / operations / kernel["wave_size"]
            if elements == 0:
                continue
            counts = loop["instructions"]
            count = Count(
                loop["cycles"]["bound"] / elements,
                sum(counts[unit] for unit in VECTOR) / elements,
                sum(counts.values()) / elements,
                loop["matrix_share"],
                kernel["registers"],
                kernel["stack_bytes"],
                kernel["shared_bytes"],
                kernel["waves_per_simd"],
                counts["branch"],
                loop.get("common", loop)["matrix_share"],
                units={unit: number / elements for unit, number in counts.items()},
            )
            if best is None or count.instructions < best.instructions:
                best = count
    if best is None:
        raise ValueError("no loop has a product")
    return best


def compile_ours(program: str, chip: str, *options: str) -> List[dict]:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.mlir"
        source.write_text(program, encoding="utf-8")
        output = str(source.with_suffix(".hsaco"))
        return run_tool(
            "--tile-to-hsaco", f"--chip={chip}", str(source), "-o", output, *options
        )


def count_ours(case: Case, schedule: str = "") -> Count:
    forward = Variant(case.d, case.d, case.dtype, causal=case.causal)
    variant = BackwardVariant(forward) if case.kind == "backward" else forward
    options = [f"--schedule={schedule}"] if schedule else []
    kernels = compile_ours(variant.ir(), case.chip, *options)
    return count_loop(kernels, 2 * case.products * case.d)


def count_triton(kernel: str, case: Case, choice) -> Count:
    import triton_attention

    operations = {"forward": 2, "keys": 4, "queries": 3}[kernel]
    code = triton_attention.compile_kernel(
        kernel, case.chip, CHIPS[case.chip], case.d, case.dtype, case.causal, choice
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.hsaco"
        path.write_bytes(code.asm["hsaco"])
        kernels = run_tool(str(path), f"--launch-shared={code.metadata.shared}")
    count = count_loop(kernels, 2 * operations * case.d)
    count.choice = str(choice)
    return count


def all_of_triton(case: Case, pool: ProcessPoolExecutor) -> Dict[str, list]:
    """Returns the futures of all configurations of each kernel."""
    import triton_attention

    kernels = ("keys", "queries") if case.kind == "backward" else ("forward",)
    return {
        kernel: [
            pool.submit(count_triton, kernel, case, choice)
            for choice in triton_attention.configurations(kernel, CHIPS[case.chip])
        ]
        for kernel in kernels
    }


def best_of_triton(futures: Dict[str, list]) -> Tuple[Count, List[dict]]:
    """Returns the best configuration, and the counts of all."""
    total: Optional[Count] = None
    every: List[dict] = []
    for kernel, runs in futures.items():
        counts = [run.result() for run in runs]
        every += [{"kernel": kernel, **asdict(count)} for count in counts]
        best = min(counts, key=lambda count: count.order)
        total = total.plus(best) if total else best
    assert total is not None
    return total, every


TITLES = (
    "cycles", "share", "vector", "instr", "registers", "spill", "LDS", "waves", "branches"
)  # fmt: skip


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Prints a table in Markdown, of which the first row has the titles."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for number, row in enumerate(rows):
        cells = " | ".join(cell.ljust(width) for cell, width in zip(row, widths))
        print(f"| {cells} |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def print_products(chips: Sequence[str]) -> int:
    rows = [
        ["program", "cycles", "share", "common", "vector", "registers", "spill", "waves"]
    ]
    short = 0
    for name in PRODUCTS:
        program = (ROOT / "examples" / f"{name}.mlir").read_text(encoding="utf-8")
        for chip in chips:
            count = count_loop(compile_ours(program, chip), 2)
            cells = count.cells()
            # An element is an FMA: a number for 1000 of them.
            rows.append([
                f"{name}, {chip}", f"{count.cycles * 1000:.0f}", cells[1],
                f"{count.common:.2f}", f"{count.vector * 1000:.0f}", cells[4], cells[5], cells[7],
            ])  # fmt: skip
            short += name == "gemm" and count.common < 0.85
    print_rows(rows)
    return short


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chips", nargs="+", choices=list(CHIPS), default=list(CHIPS))
    parser.add_argument("--heads", nargs="+", type=int, default=[64, 128], metavar="D")
    parser.add_argument("--passes", nargs="+", choices=PASSES, default=list(PASSES))
    parser.add_argument("--dtype", choices=("f16", "bf16"), default="f16")
    parser.add_argument("--schedule", default="", help="fields of our schedule")
    parser.add_argument("--triton", action="store_true", help="with Triton's kernels")
    parser.add_argument("--products", action="store_true", help="count the examples")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="write all counts as JSON")
    arguments = parser.parse_args()
    if arguments.products:
        return 1 if print_products(arguments.chips) else 0

    cases = [
        Case(chip, d, kind, arguments.dtype)
        for chip in arguments.chips
        for d in arguments.heads
        for kind in arguments.passes
    ]
    rows, results, behind = [["kernel", "", *TITLES]], [], 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        ours = {case: pool.submit(count_ours, case, arguments.schedule) for case in cases}
        others = {
            case: all_of_triton(case, pool) if arguments.triton else {} for case in cases
        }
        for case in cases:
            count = ours[case].result()
            rows.append([str(case), "ours", *count.cells()])
            result = {"case": str(case), "ours": asdict(count)}
            if others[case]:
                triton, result["triton"] = best_of_triton(others[case])
                rows.append(["", f"Triton {triton.choice}", *triton.cells()])
                behind += round(count.cycles, 1) > round(triton.cycles, 1) or (
                    case.kind != "backward" and count.vector > 1.1 * triton.vector
                )
            results.append(result)
    print_rows(rows)
    if arguments.triton:
        print(f"{len(cases)} kernels, {behind} behind Triton's")
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 1 if behind else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
