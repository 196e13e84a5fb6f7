"""Measures programs on rows against a copy of as many bytes and PyTorch on one GPU.

    rows.py                                    # all kernels, rows of 1000 to 131072
    rows.py --kernels softmax rmsnorm --lengths 4096 4099 4099/4104
    rows.py --prepare FOLDER --chip sm_90a     # only compiles; needs no GPU
    rows.py --folder FOLDER                    # measures what --prepare compiled
    rows.py --schedules                        # several steps and warps beside these

The programs are examples/softmax_rows.mlir, rmsnorm.mlir, rmsnorm_backward.mlir and
cross_entropy.mlir in bf16. `4099/4104` are rows of 4099 elements, 4104 apart; rows that
are not a multiple of 16 bytes apart take the programs with accesses of one element. The
compiler chooses the steps and the warps for the sizes of the rows. With --schedules,
other steps and warps run beside its choice, in turn with the copy and PyTorch. A
time is the median of CUDA events; the second-level cache is flushed before each call.
The copy reads and writes half of the bytes each. In the same run, results are compared
with float64, on the first and the last rows; outputs hold NaN before the first call. The
exit status is 1 if a result is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import tile  # noqa: E402

LENGTHS = ("1000", "1024", "2048", "4096", "4099", "4099/4104", "8192", "16384", "32768",
           "65536", "131072")  # fmt: skip

#: Elements of a matrix: more bytes than a second-level cache holds.
ELEMENTS = 1 << 26

#: Those where a kernel only reads. A copy leaves some 40 MB of what it writes in the
#: cache, which is a small part of so many bytes.
ELEMENTS_READ = 1 << 28

#: Rows that are checked at each end.
CHECKED_ROWS = 32

#: Largest error relative to the largest exact element: two units in the last place.
TOLERANCE = 2**-7

EPSILON = 1e-5


class Kernel(NamedTuple):
    """A kernel of an example."""

    program: str
    #: Tensors [rows, length] in bf16 that it reads or writes.
    matrices: int
    #: The elements of the longest row that stays in registers; 0 if none does.
    most_whole: int = 131072
    #: The argument whose sizes are those of the rows.
    argument: str = "x"
    #: Elements of a matrix.
    elements: int = ELEMENTS


KERNELS = {
    "softmax": Kernel("softmax_rows", 2),
    "softmax_gradient": Kernel("softmax_rows", 3, argument="y"),
    "rmsnorm": Kernel("rmsnorm", 2),
    "gradients": Kernel("rmsnorm_backward", 3),
    "cross_entropy": Kernel("cross_entropy", 1, elements=ELEMENTS_READ),
    "cross_entropy_gradient": Kernel("cross_entropy", 2, 0),
}

#: The most warps of a program. More than 32 run on a cluster of blocks.
MOST_WARPS = 256


class Rows(NamedTuple):
    """The rows of a problem."""

    length: int
    stride: int
    count: int

    @staticmethod
    def parse(text: str, elements: int) -> "Rows":
        numbers = [int(number) for number in text.split("/")]
        if len(numbers) > 2 or min(numbers) < 1 or numbers[-1] < numbers[0]:
            raise ValueError(f"expected LENGTH or LENGTH/STRIDE, got '{text}'")
        return Rows(numbers[0], numbers[-1], max(elements // numbers[0], 1))

    def __str__(self) -> str:
        padding = f"/{self.stride}" if self.stride != self.length else ""
        return f"{self.length}{padding}"

    @property
    def is_packed(self) -> bool:
        """Returns true if a row may begin at any element."""
        return self.stride % 8 != 0


class Choice(NamedTuple):
    """The elements of a row that stays in registers, or 0, those of a step otherwise, and
    the warps of a program; or the sizes that the compiler chooses them for."""

    whole: int
    step: int
    warps: int
    sizes: str = ""

    def __str__(self) -> str:
        return "chosen" if self.sizes else f"{self.whole or self.step}:{self.warps}"


#: The multiprocessors of an H100, and the elements of x whose gradients one of them
#: computes at a time.
PROCESSORS, RESIDENT = 132, 16384


def assumed_parts(length: int) -> int:
    """Returns the blocks, or clusters of them, that are assumed for the sums of RMSNorm's
    gradients: at most two for each multiprocessor."""
    return max(min(PROCESSORS * RESIDENT // length, 2 * PROCESSORS), 1)


def choices(kernel: Kernel, rows: Rows, with_schedules: bool) -> List[Choice]:
    """Returns what runs for these rows: what the compiler chooses, and rows in registers,
    of 8 to 32 elements for each thread, and steps of 8 or 16."""
    sizes = f"{kernel.argument} = {rows.count}x{rows.length}"
    if kernel.program == "rmsnorm_backward":
        sizes += f", parts = {assumed_parts(rows.length)}x{rows.length}"
    found = [Choice(0, 0, 0, sizes)]
    if not with_schedules:
        return found
    whole = max(512, 1 << (rows.length - 1).bit_length())
    if whole <= kernel.most_whole:
        for each in (8, 16, 32):
            warps = whole // (32 * each)
            if 1 <= warps <= MOST_WARPS:
                found.append(Choice(whole, min(256 * warps, 8192), warps))
    steps = [step for step in (512, 1024, 2048, 4096, 8192) if step < whole]
    if not kernel.most_whole:
        steps = [step for step in (1024, 2048, 4096, 8192) if step <= whole]
    for step in steps[-3:]:
        for each in (8, 16):
            found.append(Choice(0, step, max(step // (32 * each), 1)))
    return list(dict.fromkeys(found))


def file_name(name: str, choice: Choice, is_packed: bool) -> str:
    numbers = "-".join(map(str, choice[:3])) + re.sub(r"\W+", "-", choice.sizes)
    return f"{name}-{numbers}{'-packed' if is_packed else ''}"


def source_of(name: str, choice: Choice, is_packed: bool) -> Tuple[str, dict]:
    """Returns the program with this kernel, and its schedule or its sizes."""
    path = ROOT / f"examples/{KERNELS[name].program}.mlir"
    text = path.read_text(encoding="utf-8")
    if is_packed:
        text = re.sub(r"\[\?:\d, 1\], align = 16", "[?, 1]", text)
    if choice.sizes:
        return text, {"sizes": choice.sizes}
    params = f"BS = {choice.step}"
    if KERNELS[name].most_whole:
        params += f", BN = {choice.whole or 512}"
    return text, {"schedule": f"@{name}: params = {{{params}}}, warps = {choice.warps}"}


def needed(arguments) -> Iterator[Tuple[str, Choice, bool]]:
    """Yields the kernels, choices and kinds of rows that the command line asks for."""
    for name in arguments.kernels:
        for text in arguments.lengths:
            rows = Rows.parse(text, KERNELS[name].elements)
            for choice in choices(KERNELS[name], rows, arguments.schedules):
                yield name, choice, rows.is_packed


def prepare(arguments) -> None:
    """Compiles all programs into a folder."""
    folder = Path(arguments.prepare)
    folder.mkdir(parents=True, exist_ok=True)

    def compile_one(what):
        text, options = source_of(*what)
        made = tile.translate(text, arguments.chip, **options)
        path = folder / file_name(*what)
        path.with_suffix(".ptx").write_bytes(made.data)
        path.with_suffix(".json").write_text(made.manifest, encoding="utf-8")

    distinct = list(dict.fromkeys(needed(arguments)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, _ in enumerate(pool.map(compile_one, distinct), 1):
            print(f"\rcompiled {done} of {len(distinct)}", end="", file=sys.stderr)
    print(f"\n{len(distinct)} programs in {folder}", file=sys.stderr)


class Modules:
    """The loaded modules."""

    def __init__(self, folder: Optional[str]):
        self.folder = folder
        self.modules: Dict[tuple, tile.Module] = {}

    def get(self, *what) -> tile.Module:
        if what not in self.modules:
            if self.folder:
                path = Path(self.folder) / (file_name(*what) + ".ptx")
                self.modules[what] = tile.load(path)
            else:
                text, options = source_of(*what)
                self.modules[what] = tile.compile(text, **options)
            self.modules[what].load()
        return self.modules[what]


class Problem:
    """The tensors of one kernel and some rows, and how the kernel, PyTorch and float64
    compute from them."""

    def __init__(self, name: str, rows: Rows):
        import torch

        self.name, self.rows = name, rows
        torch.manual_seed(0)
        shape = (rows.count, rows.stride)
        self.matrices = [
            torch.randn(shape, device="cuda", dtype=torch.bfloat16)[:, : rows.length]
            for _ in range(min(KERNELS[name].matrices, 2))
        ]
        self.w = torch.randn(rows.length, device="cuda", dtype=torch.bfloat16)
        self.labels = torch.randint(rows.length, (rows.count,), device="cuda")
        self.dloss = torch.randn(rows.count, device="cuda")
        self.x = self.matrices[0]
        if name == "softmax_gradient":
            self.x = self.matrices[0] = self.x.float().softmax(-1).bfloat16()
            if rows.stride != rows.length:
                padded = self.blank_rows()
                padded.copy_(self.x)
                self.x = self.matrices[0] = padded
        self.rstd = self.lse = None
        if name == "gradients":
            squares = self.x.float().square().mean(-1)
            self.rstd = (squares + EPSILON).rsqrt()
        if name == "cross_entropy_gradient":
            self.lse = self.x.float().logsumexp(-1)

    def blank_rows(self):
        import torch

        shape = (self.rows.count, self.rows.stride)
        memory = torch.full(shape, math.nan, device="cuda", dtype=torch.bfloat16)
        return memory[:, : self.rows.length]

    def blank(self, *shape, dtype="float32"):
        import torch

        return torch.full(shape, math.nan, device="cuda", dtype=getattr(torch, dtype))

    def bind(self, module: tile.Module, choice: Choice):
        """Returns a launch of the kernel and its results, which hold NaN."""

        count, length = self.rows.count, self.rows.length
        if self.name == "softmax":
            y = self.blank_rows()
            return (lambda: module["softmax"](self.x, y)), [y]
        if self.name == "softmax_gradient":
            dx = self.blank_rows()
            y, dy = self.matrices
            return (lambda: module["softmax_gradient"](y, dy, dx)), [dx]
        if self.name == "rmsnorm":
            y, rstd = self.blank_rows(), self.blank(count)
            return (lambda: module["rmsnorm"](self.x, self.w, y, rstd, EPSILON)), [y]
        if self.name == "gradients":
            blocks = min(module["gradients"].count_resident(), count)
            dx, dw = self.blank_rows(), self.blank(length, dtype="bfloat16")
            parts = self.blank(blocks, -(-length // 4) * 4)[:, :length]
            run = lambda: module.launch(  # noqa: E731
                x=self.x, w=self.w, rstd=self.rstd, dy=self.matrices[1], dx=dx,
                parts=parts, dw=dw)  # fmt: skip
            return run, [dx, dw]
        if self.name == "cross_entropy":
            loss, lse = self.blank(count), self.blank(count)
            return (lambda: module["cross_entropy"](self.x, self.labels, loss, lse)), [loss]
        dx = self.blank_rows()
        return (lambda: module["cross_entropy_gradient"](
            self.x, self.labels, self.lse, self.dloss, dx)), [dx]

    def library(self) -> Callable[[], object]:
        """Returns the call of PyTorch, on rows without padding."""
        import torch
        import torch.nn.functional as F

        length = self.rows.length
        matrices = [matrix.contiguous() for matrix in self.matrices]
        x = matrices[0]
        if self.name == "softmax":
            return lambda: F.softmax(x, -1)
        if self.name == "softmax_gradient":
            return lambda: torch._softmax_backward_data(matrices[1], x, -1, x.dtype)
        if self.name == "rmsnorm":
            return lambda: F.rms_norm(x, (length,), self.w, EPSILON)
        if self.name == "cross_entropy":
            return lambda: F.cross_entropy(x, self.labels, reduction="none")
        x = x.detach().requires_grad_()
        if self.name == "gradients":
            w = self.w.clone().requires_grad_()
            y = F.rms_norm(x, (length,), w, EPSILON)
            return lambda: torch.autograd.grad(y, (x, w), matrices[1], retain_graph=True)
        loss = F.cross_entropy(x, self.labels, reduction="none")
        dloss = self.dloss.to(loss.dtype)
        return lambda: torch.autograd.grad(loss, x, dloss, retain_graph=True)

    def copy(self) -> Callable[[], object]:
        """Returns a copy that reads and writes as many bytes as the kernel."""
        import torch

        moved = 2 * KERNELS[self.name].matrices * self.rows.count * self.rows.length
        source = torch.ones(moved // 2, dtype=torch.int8, device="cuda")
        target = torch.empty_like(source)
        return lambda: target.copy_(source)

    def exact(self, part: slice):
        """Returns the results of some rows in float64."""
        import torch.nn.functional as F

        x = self.x[part].double()
        if self.name == "softmax":
            return x.softmax(-1)
        if self.name == "softmax_gradient":
            dy = self.matrices[1][part].double()
            return x * (dy - (x * dy).sum(-1, keepdim=True))
        if self.name == "rmsnorm":
            return F.rms_norm(x, (self.rows.length,), self.w.double(), EPSILON)
        if self.name == "gradients":
            factor = (x.square().mean(-1, keepdim=True) + EPSILON).rsqrt()
            g = self.matrices[1][part].double() * self.w.double()
            h = x * factor
            return factor * (g - h * (g * h).mean(-1, keepdim=True))
        if self.name == "cross_entropy":
            return F.cross_entropy(x, self.labels[part], reduction="none")
        one = F.one_hot(self.labels[part], self.rows.length)
        return (x.softmax(-1) - one) * self.dloss[part, None].double()

    def exact_dw(self):
        """Returns the gradient of w in float64, computed in parts of the rows."""
        import torch

        sums = torch.zeros(self.rows.length, device="cuda", dtype=torch.float64)
        part = max((1 << 24) // self.rows.length, 1)
        for begin in range(0, self.rows.count, part):
            rows = slice(begin, begin + part)
            x = self.x[rows].double()
            factor = (x.square().mean(-1, keepdim=True) + EPSILON).rsqrt()
            sums += (self.matrices[1][rows].double() * x * factor).sum(0)
        return sums

    def references(self) -> list:
        """Returns the exact results of the checked rows, and that of dw."""
        checked = min(CHECKED_ROWS, self.rows.count)
        ends = [slice(0, checked), slice(self.rows.count - checked, self.rows.count)]
        found = [(0, end, self.exact(end)) for end in ends]
        if self.name == "gradients":
            found.append((1, slice(None), self.exact_dw()))
        return found


def error_of(results: list, references: list) -> float:
    """Returns the largest error relative to the largest exact element."""
    worst = 0.0
    for number, part, right in references:
        difference = (results[number][part].double() - right).abs().max()
        error = (difference / right.abs().max()).item()
        worst = math.inf if math.isnan(error) else max(worst, error)
    # Rows between the ends: everything has been written.
    return worst if all(r.isfinite().all() for r in results) else math.inf


def measure(name: str, rows: Rows, modules: Modules, arguments) -> dict:
    """Returns the times in microseconds of the copy, of PyTorch and of each choice."""
    from timing import time_in_turn

    problem = Problem(name, rows)
    references = problem.references()
    runs = {"copy": problem.copy(), "PyTorch": problem.library()}
    errors = {}
    for choice in choices(KERNELS[name], rows, arguments.schedules):
        module = modules.get(name, choice, rows.is_packed)
        run, results = problem.bind(module, choice)
        run()
        errors[str(choice)] = error_of(results, references)
        runs[str(choice)] = run
    times = time_in_turn(runs, arguments.rounds, arguments.warmup, flush=True)
    return {
        "kernel": name,
        "rows": str(rows),
        "count": rows.count,
        "bytes": 2 * KERNELS[name].matrices * rows.count * rows.length,
        "times": {run: 1e3 * time for run, time in times.items()},
        "errors": errors,
    }


def describe(result: dict, show_all: bool) -> str:
    times = dict(result["times"])
    copy, library = times.pop("copy"), times.pop("PyTorch")
    ours = times["chosen"]
    text = (
        f"{result['kernel']:>22} {result['rows']:>10} {result['bytes'] / copy / 1e3:7.0f}"
        f" {copy:8.1f} {ours:8.1f} {library:8.1f} {copy / ours:8.3f} {library / ours:8.3f}"
    )
    if show_all:
        text += "".join(f"\n{'':33}{copy / time:8.3f}  {run}" for run, time in times.items())
    return text


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", nargs="+", default=list(KERNELS), choices=list(KERNELS))
    parser.add_argument("--lengths", nargs="+", default=LENGTHS, metavar="LENGTH[/STRIDE]")
    parser.add_argument("--prepare", metavar="FOLDER", help="only compile, into a folder")
    parser.add_argument("--chip", default="sm_90a", help="what --prepare compiles for")
    parser.add_argument("--folder", help="the programs that --prepare compiled")
    parser.add_argument("--rounds", type=int, default=30, help="timed rounds")
    parser.add_argument("--warmup", type=int, default=5, help="untimed rounds before")
    parser.add_argument("--schedules", action="store_true",
                        help="measure and print other steps and warps, too")  # fmt: skip
    parser.add_argument("--out", metavar="FILE", help="write all results as JSON")
    arguments = parser.parse_args()
    if arguments.prepare:
        prepare(arguments)
        return 0
    if gpu.is_missing():
        return 0
    import torch

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, bf16")
    print(f"{'kernel':>22} {'length':>10} {'GB/s':>7} {'copy':>8} {'tile':>8} {'PyTorch':>8}"
          f" {'of copy':>8} {'PyTorch':>8}")
    modules = Modules(arguments.folder)
    results, wrong = [], 0
    for name in arguments.kernels:
        for text in arguments.lengths:
            rows = Rows.parse(text, KERNELS[name].elements)
            results.append(measure(name, rows, modules, arguments))
            print(describe(results[-1], arguments.schedules), flush=True)
            for run, error in results[-1]["errors"].items():
                if not error <= TOLERANCE:
                    print(f"WRONG: {name} {rows} {run}: error {error:.2g}", flush=True)
                    wrong += 1
            torch.cuda.empty_cache()
    print("GB/s of the copy; times in microseconds; rates relative to the copy and to PyTorch")
    if arguments.out:
        Path(arguments.out).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    gpu.run(main)
