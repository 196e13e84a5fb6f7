"""Measures the chunk scan of Mamba-2 and the gated delta rule against the Triton kernels of
flash-linear-attention on one GPU.

    recurrences.py                                  # both, on the shapes of that project
    recurrences.py --programs mamba2_ssd --shapes 4,2048,16,128
    recurrences.py --sweep                          # more schedules than the compiler's own

The programs are examples/mamba2_ssd.mlir and examples/gated_delta_rule.mlir. A shape is
batch, length, heads and the size of keys and values. The peers are chunk_simple_gla and
chunk_gated_delta_rule of the package fla; without it, only our times are printed. All of
them start from a state of zeros and give the last state. A time is the median of CUDA
events, in turn. In the same run, outputs and states are compared with a recurrence in
float64, as the root of the mean square of the errors relative to that of the results;
outputs hold NaN before the first call. The exit status is 1 if a result is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import tile  # noqa: E402

#: Those of flash-linear-attention's benchmarks.
SHAPES = (
    "1,8192,96,128", "2,16384,16,128", "4,2048,16,128", "4,4096,64,128",
    "8,2048,32,256", "8,1024,8,64",
)  # fmt: skip

#: Largest relative error, that of flash-linear-attention's tests.
TOLERANCE = 0.005

Shape = Tuple[int, int, int, int]


def program(name: str, size: int) -> str:
    """Returns the example for keys of this size."""
    text = (ROOT / f"examples/{name}.mlir").read_text(encoding="utf-8")
    return text.replace("128x", f"{size}x")


class Recurrence:
    """The tensors of a problem, and who computes it."""

    #: The names of the program and of its parameter for the columns of a block.
    name = columns = ""

    def __init__(self, shape: Shape):
        import torch

        self.shape = shape
        batch, length, heads, size = shape
        generator = torch.Generator("cuda").manual_seed(1)

        def normal(*extents):
            return torch.randn(*extents, generator=generator, device="cuda")

        def uniform(low, high, *extents):
            return low + (high - low) * torch.rand(*extents, generator=generator, device="cuda")

        self.fill(normal, uniform)
        self.first = torch.zeros(batch, heads, size, size, device="cuda")
        self.out = torch.full((batch, length, heads, size), math.nan, device="cuda").bfloat16()
        self.last = torch.full_like(self.first, math.nan)
        self.expected: Optional[tuple] = None

    def sizes(self) -> str:
        return ""

    def check(self, out, last) -> List[float]:
        """Returns the relative errors of the output and of the state."""
        if self.expected is None:
            self.expected = self.compute_exactly()
        return [
            ((found.double() - exact).square().mean().sqrt()
             / exact.square().mean().sqrt()).item()
            for found, exact in zip((out, last), self.expected)
        ]  # fmt: skip

    def choices(self, sweep: bool) -> List[Optional[str]]:
        """Returns the schedules that run; None is the compiler's own."""
        size = self.shape[3]
        if not sweep:
            return [None]
        return [None] + [
            f"params = {{BC = {chunk}, {self.columns} = {columns}}}, warps = {warps}"
            for chunk, columns, warps in itertools.product((32, 64), (32, 64, 128), (4, 8))
            if columns <= size
        ]


class Mamba2(Recurrence):
    """The chunk scan of Mamba-2, one group for each head."""

    name, columns = "mamba2_ssd", "BP"

    def fill(self, normal, uniform):
        batch, length, heads, size = self.shape
        self.x = normal(batch, length, heads, size).bfloat16()
        self.b, self.c = ((normal(batch, length, heads, size) * size**-0.5).bfloat16()
                          for _ in range(2))  # fmt: skip
        self.dt = uniform(0.01, 0.2, batch, length, heads)
        self.a = -uniform(0.5, 2, heads)

    def sizes(self) -> str:
        batch, length, heads, size = self.shape
        x = f"{batch}x{length}x{heads}x{size}"
        return f"x = {x}, b = {x}, c = {x}, y = {x}"

    def arguments(self) -> tuple:
        return self.x, self.dt, self.a, self.b, self.c, self.first, self.out, self.last

    def peer(self) -> Callable[[], tuple]:
        from fla.ops.simple_gla import chunk_simple_gla

        v, g = (self.x * self.dt[..., None]).bfloat16(), self.dt * self.a
        return lambda: chunk_simple_gla(
            self.c, self.b, v, g, scale=1.0, initial_state=self.first, output_final_state=True
        )

    def compute_exactly(self):
        import torch

        x, b, c = (t.double() for t in (self.x, self.b, self.c))
        dt, factor = self.dt.double(), (self.dt * self.a).double().exp()
        out, state = torch.empty_like(x), self.first.double()
        for t in range(self.shape[1]):
            state = state * factor[:, t, :, None, None]
            state += b[:, t, :, :, None] * (x[:, t] * dt[:, t, :, None])[:, :, None]
            out[:, t] = (c[:, t, :, None] @ state)[:, :, 0]
        return out, state


class GatedDeltaRule(Recurrence):
    """The gated delta rule with as many heads of keys as of values."""

    name, columns = "gated_delta_rule", "BV"

    def fill(self, normal, uniform):
        import torch

        batch, length, heads, size = self.shape
        self.q, self.k = (
            torch.nn.functional.normalize(normal(batch, length, heads, size), dim=-1).bfloat16()
            for _ in range(2)
        )
        self.v = normal(batch, length, heads, size).bfloat16()
        self.g = -uniform(0, 0.2, batch, length, heads)
        self.beta = uniform(0, 1, batch, length, heads)
        self.scale = size**-0.5

    def sizes(self) -> str:
        batch, length, heads, size = self.shape
        q = f"{batch}x{length}x{heads}x{size}"
        return f"q = {q}, k = {q}, v = {q}, o = {q}"

    def arguments(self) -> tuple:
        return (self.q, self.k, self.v, self.g, self.beta, self.first, self.out, self.last,
                self.scale)  # fmt: skip

    def peer(self) -> Callable[[], tuple]:
        from fla.ops.gated_delta_rule import chunk_gated_delta_rule

        return lambda: chunk_gated_delta_rule(
            self.q, self.k, self.v, self.g, self.beta, scale=self.scale,
            initial_state=self.first, output_final_state=True,
        )  # fmt: skip

    def compute_exactly(self):
        import torch

        q, k, v = (t.double() for t in (self.q, self.k, self.v))
        beta, factor = self.beta.double(), self.g.double().exp()
        out, state = torch.empty_like(v), self.first.double()
        for t in range(self.shape[1]):
            state = state * factor[:, t, :, None, None]
            change = v[:, t] - (k[:, t, :, None] @ state)[:, :, 0]
            state += k[:, t, :, :, None] * (change * beta[:, t, :, None])[:, :, None]
            out[:, t] = (q[:, t, :, None] @ state)[:, :, 0] * self.scale
        return out, state


PROGRAMS = {kind.name: kind for kind in (Mamba2, GatedDeltaRule)}


def measure(problem: Recurrence, arguments) -> Tuple[Dict[str, float], List[str]]:
    """Returns the times in milliseconds, and a line for each wrong result."""
    from timing import time_in_turn

    runs: Dict[str, Callable[[], object]] = {}
    faults = []
    for schedule in problem.choices(arguments.sweep):
        label = schedule or "compiler's choice"
        try:
            module = tile.compile(program(problem.name, problem.shape[3]), schedule=schedule,
                                  sizes=None if schedule else problem.sizes())  # fmt: skip
        except tile.CompileError as error:
            faults += [] if schedule else [f"{label}: {error}"]
            continue
        problem.out.fill_(math.nan)
        problem.last.fill_(math.nan)
        call = problem.arguments()
        module.launch(*call)
        errors = problem.check(problem.out, problem.last)
        if not max(errors) <= TOLERANCE:
            faults.append(f"{label}: relative errors {errors}, at most {TOLERANCE}")
        runs[label] = lambda m=module: m.launch(*call)
    try:
        runs["fla"] = problem.peer()
    except ImportError as error:
        print(f"no fla: {error}", file=sys.stderr)
    else:
        errors = problem.check(*runs["fla"]())
        print("errors of fla", " ".join(f"{e:.5f}" for e in errors), file=sys.stderr)
    return time_in_turn(runs, arguments.rounds, 3, flush=False), faults


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--sweep", action="store_true", help="measure more schedules")
    arguments = parser.parse_args()
    if gpu.is_missing():
        return 0
    faults = 0
    ratios: Dict[str, List[float]] = {}
    for name in arguments.programs:
        for text in arguments.shapes:
            shape: Shape = tuple(map(int, text.split(",")))  # type: ignore[assignment]
            times, wrong = measure(PROGRAMS[name](shape), arguments)
            for fault in wrong:
                print(f"FAILED {name} {text}: {fault}")
            faults += len(wrong)
            fla = times.pop("fla", None)
            for label, time in sorted(times.items(), key=lambda item: item[1]):
                ratio = f", {fla / time:.2f} times as fast as fla" if fla else ""
                print(f"{name} {text}: {time:.3f} ms{ratio} ({label})", flush=True)
            if fla:
                ratios.setdefault(name, []).append(fla / min(times.values()))
    for name, values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{name}: {mean:.2f} times as fast as fla in the geometric mean")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
