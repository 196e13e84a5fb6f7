"""Measures four variants of the matrix product against PyTorch on one GPU.

    product_variants.py                              # all of them, on their shapes
    product_variants.py --variants grouped           # one of them
    product_variants.py --variants gelu --shapes 4096x4096x4096
    product_variants.py --variants int4 --calls 32   # like the layers of a model
    product_variants.py --variants ragged --schedules 'params = {BM = 128, BN = 128, BK = 64}, warps = 8'

    ragged    examples/gemm.mlir with rows that begin at any element, against torch.matmul
    gelu      examples/gelu_gemm.mlir, against torch.matmul and one elementwise kernel of
              torch.compile, addmm and F.gelu, and cuBLAS's own epilogue
    grouped   examples/grouped_gemm.mlir, against torch._grouped_mm
    int4      examples/int4_gemm.mlir, against torch.matmul with the same weights in bf16

Shapes are M x N x K; those of `grouped` have `:ROWS,ROWS,...` behind them, the rows of each
group, or `:G` for G groups with as many rows each. The data are normal random numbers in
bf16. The compiler chooses the extents for the sizes; --schedules adds other contenders.
A time is the median of CUDA events, all contenders in turn, and the second-level cache is
flushed before each call. With --calls, a CUDA graph has so many calls, on tensors of their
own, and a time is that of the graph divided by them: a single call takes the time of its
launch and of the events, too. Outputs hold NaN before the first call. Rows of the results
are compared with float64 in the same run. The exit status is 1 if a result is wrong.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path
from typing import Callable, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import tile  # noqa: E402
from products import CHECKED_ROWS, TOLERANCE, Shape, mean  # noqa: E402

#: The quantized weights that share a scale.
GROUP = 128

Runs = Dict[str, Callable[[], object]]


class Variant:
    """A problem: its tensors, who computes it, and some rows of the exact result."""

    #: The program, and the shapes that are measured.
    program = ""
    shapes: Tuple[str, ...] = ()

    def __init__(self, shape: str):
        import torch

        torch.manual_seed(0)
        self.text = shape
        self.shape = Shape.parse(shape.split(":")[0])
        self.fill()
        self.c = self.blank(self.shape.m, self.shape.n)

    def fill(self) -> None:
        """Makes the arguments."""
        m, n, k = self.shape
        self.a, self.b = self.normal(m, k), self.normal(k, n)

    def normal(self, *extents):
        import torch

        return torch.randn(*extents, device="cuda", dtype=torch.bfloat16)

    def blank(self, *extents):
        import torch

        return torch.full(extents, math.nan, device="cuda", dtype=torch.bfloat16)

    def source(self) -> str:
        return (ROOT / f"examples/{self.program}.mlir").read_text(encoding="utf-8")

    def arguments(self) -> dict:
        return {"a": self.a, "b": self.b, "c": self.c}

    def peers(self) -> Runs:
        """Returns calls that return the result."""
        raise NotImplementedError

    def checked(self) -> List[slice]:
        """Returns the rows that are checked."""
        m = self.shape.m
        return [slice(0, min(m, CHECKED_ROWS)), slice(m - min(m, CHECKED_ROWS), m)]

    def exact(self, rows: slice):
        """Returns rows of the result in float64."""
        return self.a[rows].double() @ self.b.double()

    def compile(self, schedule: str) -> tile.Module:
        sizes = ", ".join(
            f"{name} = {'x'.join(map(str, tensor.shape))}"
            for name, tensor in self.arguments().items()
        )
        schedule = f"@{self.program}: {schedule}" if schedule else None
        return tile.compile(self.source(), schedule=schedule, sizes=sizes)

    def bind(self, schedule: str) -> Callable[[], object]:
        import torch

        module = self.compile(schedule)
        arguments = self.arguments()
        shapes = {name: tuple(tensor.shape) for name, tensor in arguments.items()}
        scratch = {
            name: torch.full(extents, math.nan, device="cuda", dtype=torch.float32)
            for name, (_, extents) in module.scratch(shapes).items()
        }

        def run():
            module.launch(**arguments, **scratch)
            return self.c

        return run


class Ragged(Variant):
    program = "gemm"
    shapes = ("4097x4099x4101", "2049x8191x4101", "8193x8191x4097")

    def source(self) -> str:
        return re.sub(r"\[\?:\d, 1\], align = 16", "[?, 1]", super().source())

    def peers(self) -> Runs:
        import torch

        return {"torch.matmul": lambda: torch.matmul(self.a, self.b)}


class Gelu(Variant):
    program = "gelu_gemm"
    shapes = ("4096x4096x4096", "8192x4096x4096", "4096x14336x4096")

    def fill(self) -> None:
        super().fill()
        # Results of order 1, where GELU is not linear.
        self.a *= self.shape.k**-0.5
        self.bias = self.normal(self.shape.n)

    def arguments(self) -> dict:
        return {"a": self.a, "b": self.b, "bias": self.bias, "c": self.c}

    def peers(self) -> Runs:
        import torch
        import torch.nn.functional as F

        def activate(y, bias):
            return F.gelu(y + bias, approximate="tanh")

        fused = torch.compile(activate)
        runs = {
            "matmul + compiled": lambda: fused(torch.matmul(self.a, self.b), self.bias),
            "addmm + F.gelu": lambda: F.gelu(
                torch.addmm(self.bias, self.a, self.b), approximate="tanh"
            ),
            "cuBLAS's epilogue": lambda: torch._addmm_activation(
                self.bias, self.a, self.b, use_gelu=True
            ),
        }
        return runs

    def exact(self, rows: slice):
        import torch.nn.functional as F

        return F.gelu(super().exact(rows) + self.bias.double(), approximate="tanh")


class Grouped(Variant):
    program = "grouped_gemm"
    shapes = (
        *(f"32768x{weight}:{groups}" for groups in (4, 8)
          for weight in ("6144x7168", "7168x3072", "4096x4096", "4096x2048")),
        # Uneven: an empty group, and groups that begin at odd rows.
        "32768x6144x7168:9831,7209,4915,3933,3277,2294,0,1309",
        "32768x4096x2048:9831,7209,4915,3933,3277,2294,0,1309",
    )  # fmt: skip

    def fill(self) -> None:
        import torch

        m, n, k = self.shape
        numbers = [int(number) for number in self.text.split(":")[1].split(",")]
        rows = [m // numbers[0]] * numbers[0] if len(numbers) == 1 else numbers
        if sum(rows) != m:
            raise ValueError(f"the groups of '{self.text}' have {sum(rows)} rows, not {m}")
        self.a, self.b = self.normal(m, k), self.normal(len(rows), k, n)
        self.bounds = [sum(rows[:i]) for i in range(len(rows) + 1)]
        self.ends = torch.tensor(self.bounds[1:], device="cuda", dtype=torch.int32)
        self.blocks = torch.full((16, len(rows)), -1, device="cuda", dtype=torch.int32)

    def arguments(self) -> dict:
        return {"a": self.a, "b": self.b, "ends": self.ends, "blocks": self.blocks, "c": self.c}

    def peers(self) -> Runs:
        import torch

        transposed = self.b.transpose(1, 2).contiguous().transpose(1, 2)
        return {
            "_grouped_mm": lambda: torch._grouped_mm(self.a, self.b, offs=self.ends),
            "the same, B transposed": lambda: torch._grouped_mm(
                self.a, transposed, offs=self.ends
            ),
        }

    def checked(self) -> List[slice]:
        found = []
        for begin, end in zip(self.bounds, self.bounds[1:]):
            few = min(CHECKED_ROWS, end - begin)
            found += [slice(begin, begin + few), slice(end - few, end)] if few else []
        return found

    def exact(self, rows: slice):
        group = max(g for g, begin in enumerate(self.bounds[:-1]) if begin <= rows.start)
        return self.a[rows].double() @ self.b[group].double()


class Int4(Variant):
    program = "int4_gemm"
    shapes = ("16x4096x4096", "16x8192x8192", "16x14336x4096", "1x8192x8192", "64x8192x8192")

    def fill(self) -> None:
        import torch
        from tile import pack_int4

        m, n, k = self.shape
        self.a = self.normal(m, k)
        q = torch.randint(16, (k, n), device="cuda", dtype=torch.int64)
        self.scales = (torch.rand(k // GROUP, n, device="cuda") / 16 + 0.01).bfloat16()
        self.words = pack_int4(q)
        each = self.scales.double().repeat_interleave(GROUP, 0)
        self.exact_b = (q - 8).double() * each
        self.b = self.exact_b.bfloat16()

    def arguments(self) -> dict:
        return {"a": self.a, "words": self.words, "scales": self.scales, "c": self.c}

    def peers(self) -> Runs:
        import torch

        return {"torch.matmul, bf16": lambda: torch.matmul(self.a, self.b)}

    def exact(self, rows: slice):
        return self.a[rows].double() @ self.exact_b


VARIANTS = {kind.__name__.lower(): kind for kind in (Ragged, Gelu, Grouped, Int4)}


def errors_of(problem: Variant, runs: Runs) -> Dict[str, float]:
    """Calls each contender and returns the largest error of each relative to the largest
    exact element."""
    ends = problem.checked()
    exact = [problem.exact(rows) for rows in ends]
    errors = {}
    for name, run in runs.items():
        problem.c.fill_(math.nan)
        result = run()
        found = [
            ((result[rows].double() - right).abs().max() / right.abs().max()).item()
            for rows, right in zip(ends, exact)
        ]
        # Rows between those that are compared: everything has been written.
        wrong = any(map(math.isnan, found)) or not result.isfinite().all()
        errors[name] = math.inf if wrong else max(found)
    return errors


def measure(
    problems: List[Variant], arguments
) -> Tuple[Dict[str, float], Dict[str, float]]:
    """Returns the time of each contender in milliseconds for one of the problems, which
    are alike, and its largest error."""
    import few_queries
    from timing import time_in_turn

    calls: Dict[str, List[Callable[[], object]]] = {}
    errors: Dict[str, float] = {}
    for problem in problems:
        runs = {"ours": problem.bind("")}
        for schedule in arguments.schedules:
            runs[schedule] = problem.bind(schedule)
        runs.update(problem.peers())
        for name, error in errors_of(problem, runs).items():
            errors[name] = max(error, errors.get(name, 0.0))
            calls.setdefault(name, []).append(runs[name])
    if len(problems) == 1:
        timed = {name: run for name, (run,) in calls.items()}
    else:
        timed = {
            name: few_queries.capture(lambda runs=runs: [run() for run in runs])[0].replay
            for name, runs in calls.items()
        }
    times = time_in_turn(timed, arguments.rounds, arguments.warmup, flush=True)
    return {name: time / len(problems) for name, time in times.items()}, errors


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--shapes", nargs="+", metavar="MxNxK", help="instead of those listed")
    parser.add_argument("--schedules", nargs="+", default=[], help="more contenders")
    parser.add_argument("--calls", type=int, default=1, help="calls of a graph")
    parser.add_argument("--rounds", type=int, default=30, help="timed rounds")
    parser.add_argument("--warmup", type=int, default=5, help="untimed rounds before")
    arguments = parser.parse_args()
    if arguments.calls < 1:
        parser.error("--calls: expected a positive number")
    if gpu.is_missing():
        return 0
    import torch

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, bf16")
    wrong = 0
    for name in arguments.variants:
        kind = VARIANTS[name]
        ratios = []
        for shape in arguments.shapes or kind.shapes:
            problems = [kind(shape) for _ in range(arguments.calls)]
            times, errors = measure(problems, arguments)
            m, n, k = problems[0].shape
            print(f"{name} {shape}", flush=True)
            best = min(times[peer] for peer in times if peer not in ("ours", *arguments.schedules))
            ratios.append(best / times["ours"])
            for run, time in times.items():
                print(
                    f"  {run:<24} {1e3 * time:9.1f} us {2 * m * n * k / (time * 1e9):7.1f} TFLOP/s"
                    f"  best of PyTorch / this: {best / time:6.3f}  error {errors[run]:.2g}",
                    flush=True,
                )
                if not errors[run] <= TOLERANCE["bf16"]:
                    print(f"WRONG: {name} {shape} {run}: error {errors[run]:.2g}", flush=True)
                    wrong += 1
            del problems
            torch.cuda.empty_cache()
        print(f"{name}: {mean(ratios):.3f} of the best of PyTorch in the geometric mean, "
              f"{min(ratios):.3f} at least")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    gpu.run(main)
