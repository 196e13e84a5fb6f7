"""Measures the schedules that the cost model ranks first.

    python -m tile.tune gemm.mlir --sizes 'a = 4096x4096, b = 4096x4096, c = 4096x4096'

compiles the first candidates for the open extents of a program in parallel, times them
on the GPU at hand, compares their results, and prints the fastest one as a schedule for
`--schedule`. There are `--candidates` schedules: the first ones in the model's order,
and the best of these with other stages and producer warps.

The GPU may be in another machine, which needs PyTorch and this package but no compiler:

    python -m tile.tune gemm.mlir --chip sm_90a --sizes ... --prepare FOLDER
    python -m tile.tune --measure FOLDER                       # beside the GPU
    python -m tile.tune --best FOLDER

`--row FILE` makes the fastest schedule a row of that file of schedules, for the kernel and
the sizes. A file `<chip>.mlir` in a folder that TILE_SCHEDULES names, or in the source
tree before a build, is what the compiler then reads.

A folder has `job.json`, with the sizes and the candidates in the model's order, the
artifact and the manifest of each candidate (`0.ptx` or `0.hsaco`, `0.json`, ...), and,
after the measurement, `results.json`: for each candidate its schedule, its predicted
`cycles` (null for other stages and producers), its median time `us` (null if it
failed), and the `error`. The package launches kernels on NVIDIA GPUs. For an AMD GPU,
another program measures the code objects of the folder and writes `results.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import re
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import compiler
from . import manifest as _manifest
from .errors import ArgumentError, CompileError, DriverError, ManifestError
from .launcher import Module, load

#: The compiler's remark about a candidate.
_REMARK = re.compile(
    r"extents-(?:chosen|rejected).*?\"(params = \{[^}]*\}, warps = \d+[^:\"]*): (\S+) cycles"
)

#: The candidates that are measured.
_COUNT = 24

#: Fields that the best candidates have in turn, in place of those that the compiler
#: chooses. A chip that cannot have them refuses the schedule.
_VARIANTS = (
    "stages = 2",
    "stages = 3",
    "stages = 4",
    "stages = 6",
    "stages = 8",
    "producers = 4",
)

#: The largest difference between the results of two candidates, relative to the
#: largest element: four units in the last place of bf16.
_TOLERANCE = 2**-6


class Candidate(NamedTuple):
    """Fields of a schedule, and the clock cycles that the model predicts, if it does.
    The first candidate has the fewest. In programs with products, others follow in
    the order in which they are worth a measurement (docs/Schedules.md)."""

    schedule: str
    cycles: Optional[float]


class Result(NamedTuple):
    """A measured candidate. `us` is None if it failed; `error` says why."""

    schedule: str
    cycles: Optional[float]
    us: Optional[float]
    error: str = ""


def candidates(
    source: str,
    chip: str,
    *,
    sizes: Optional[str] = None,
    schedule: Optional[str] = None,
    count: int = 6,
) -> List[Candidate]:
    """Returns the first `count` candidates for the open extents of a program, in the
    model's order. `sizes` and `schedule` are those of `translate`."""
    messages = compiler.translate(
        source,
        chip,
        "ptx" if chip.startswith("sm_") else "hsaco",
        remarks=True,
        schedule=schedule,
        sizes=sizes,
        candidates=count,
    ).messages
    # A candidate repeats the values that the schedule gives.
    found = [
        Candidate(_merge(f"{schedule}, {s}") if schedule else s, float(cycles))
        for s, cycles in _REMARK.findall(messages)
    ]
    if not found:
        raise CompileError("the program leaves no extents open")
    return found


def variants(found: Sequence[Candidate], count: int) -> List[Candidate]:
    """Returns `count` schedules: the first of `found`, and then the best of them with
    other stages and producer warps."""
    most = max(count - count // 3, 1)
    chosen = list(found[:most])
    seen = {c.schedule for c in chosen}
    for candidate in found:
        for variant in _VARIANTS:
            if len(chosen) >= count:
                return chosen
            schedule = _merge(f"{candidate.schedule}, {variant}")
            if schedule not in seen:
                seen.add(schedule)
                chosen.append(Candidate(schedule, None))
    return chosen


def _merge(schedule: str) -> str:
    """Returns a schedule with the last of the fields that come twice."""
    fields: Dict[str, str] = {}
    for field in re.findall(r"\w+(?:\s*=\s*(?:\{[^}]*\}|\[[^\]]*\]|\w+))?", schedule):
        fields[field.split("=")[0].strip()] = field
    return ", ".join(fields.values())


def _compile(source: str, chip: str, schedule: str, path: str) -> None:
    kind = "ptx" if chip.startswith("sm_") else "hsaco"
    artifact = compiler.translate(source, chip, kind, schedule=schedule)
    Path(f"{path}.{kind}").write_bytes(artifact.data)
    Path(path + ".json").write_text(artifact.manifest)


def prepare(
    source: str,
    folder: "os.PathLike[str]",
    chip: str,
    *,
    sizes: str,
    schedule: Optional[str] = None,
    count: int = _COUNT,
    jobs: Optional[int] = None,
    progress: bool = False,
) -> List[Candidate]:
    """Compiles `count` candidates of a program into a folder, in `jobs` processes. A
    candidate that does not compile is not measured."""
    found = candidates(source, chip, sizes=sizes, schedule=schedule, count=count)
    found = variants(found, count)
    Path(folder).mkdir(parents=True, exist_ok=True)
    errors: Dict[int, str] = {}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=spawn) as pool:
        running = {
            pool.submit(_compile, source, chip, c.schedule, str(Path(folder) / str(i))): i
            for i, c in enumerate(found)
        }
        for done, future in enumerate(as_completed(running), 1):
            if error := future.exception():
                errors[running[future]] = str(error)
            if progress:
                _show("compiled", done, len(found))
    job = {
        "chip": chip,
        "kernel": _find_kernel(source),
        "sizes": sizes,
        "candidates": [
            {"schedule": c.schedule, "cycles": c.cycles, "error": errors.get(i, "")}
            for i, c in enumerate(found)
        ],
    }
    (Path(folder) / "job.json").write_text(json.dumps(job, indent=2) + "\n")
    return found


def _find_kernel(source: str) -> str:
    """Returns the name of the first kernel with open extents."""
    for kernel in re.split(r"(?=tile\.kernel\s+@)", source):
        if "tile.param" in kernel:
            return re.match(r"tile\.kernel\s+@([\w$.]+)", kernel).group(1)
    raise CompileError("the program leaves no extents open")


def write_row(
    path: "os.PathLike[str]", chip: str, kernel: str, sizes: str, schedule: str
) -> None:
    """Adds a row to a file of schedules of a chip, in front of the others. A row for
    the kernel and the sizes is replaced. A new file includes the compiler's rows."""
    entries = (entry.strip() for entry in sizes.split(","))
    start = f'tile.kernel_row @{kernel} sizes "{", ".join(entries)}" use '
    path = Path(path)
    lines = [f"// Schedules for {chip}.", f'tile.include_schedules "{chip}"']
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith(start)]
    comments = 0
    while comments < len(lines) and (lines[comments] + "//").startswith("//"):
        comments += 1
    lines.insert(comments, f"{start}<{schedule}>")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _show(verb: str, done: int, count: int) -> None:
    bar = "#" * (30 * done // count)
    end = "\n" if done == count else ""
    print(f"\r{verb} [{bar:<30}] {done}/{count}", end=end, file=sys.stderr, flush=True)


#: Returns the time of a module with these kernels in microseconds, and the tensors that
#: it has written. The extents of each argument are the sizes.
Timer = Callable[
    [Module, Sequence[_manifest.Kernel], Dict[str, Tuple[int, ...]]],
    Tuple[float, Sequence[Any]],
]


def parse_sizes(text: str) -> Dict[str, Tuple[int, ...]]:
    """Returns the extents of each argument. Raises ArgumentError for `?`: a
    measurement needs all of them."""
    sizes = {}
    for entry in text.split(","):
        name, equal, shape = entry.partition("=")
        extents = shape.strip().split("x")
        if not equal or not all(extent.strip().isdigit() for extent in extents):
            raise ArgumentError(f"expected 'argument = extents', got '{entry.strip()}'")
        sizes[name.strip()] = tuple(map(int, extents))
    return sizes


def measure(
    folder: "os.PathLike[str]",
    *,
    timer: Optional[Timer] = None,
    progress: bool = False,
) -> List[Result]:
    """Times the candidates of a folder and writes `results.json`. A candidate whose
    results differ from those of the first one fails."""
    folder = Path(folder)
    job = json.loads((folder / "job.json").read_text())
    sizes = parse_sizes(job["sizes"])
    timer = timer or GPUTimer()
    results: List[Result] = []
    expected = None
    for i, candidate in enumerate(job["candidates"]):
        us, error = None, candidate["error"]
        if not error:
            try:
                kernels = _manifest.parse((folder / f"{i}.json").read_bytes()).kernels
                us, outputs = timer(load(folder / f"{i}.ptx"), kernels, sizes)
                if not all(math.isfinite(abs(x).max()) for x in outputs):
                    error = "its results are not finite; arguments without --sizes hold NaN"
                elif expected is None:
                    expected = outputs
                elif not (difference := _difference(outputs, expected)) <= _TOLERANCE:
                    error = f"its results differ by {difference:.2g} from the first"
                us = None if error else us
            except (ArgumentError, DriverError, ManifestError) as problem:
                us, error = None, str(problem)
        results.append(Result(candidate["schedule"], candidate["cycles"], us, error))
        if progress:
            _show("measured", i + 1, len(job["candidates"]))
    text = json.dumps([result._asdict() for result in results], indent=2)
    (folder / "results.json").write_text(text + "\n")
    return results


def _difference(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """Returns the largest difference relative to the largest expected element."""
    return max(
        (
            float(abs(a - b).max()) / max(float(abs(b).max()), 1e-30)
            for a, b in zip(found, expected)
        ),
        default=0.0,
    )


def _shapes_of(module, kernels, sizes) -> Dict[str, Tuple[int, ...]]:
    """Returns the shapes of all buffers: those of `sizes`, of the program, and of
    scratch memory."""
    shapes = {}
    for param in (param for kernel in kernels for param in kernel.params):
        if not isinstance(param, _manifest.Buffer):
            continue
        shape = sizes.get(param.name, param.shape)
        if len(shape) == len(param.shape) and None not in shape:
            shapes[param.name] = tuple(shape)
    scalars = {name: shape[0] for name, shape in sizes.items() if name not in shapes}
    try:
        scratch = module.scratch(shapes, scalars)
    except ManifestError as error:
        raise ArgumentError(f"--sizes does not give all extents: {error}") from None
    return {**{name: shape for name, (_, shape) in scratch.items()}, **shapes}


class GPUTimer:
    """Times modules on the GPU of PyTorch with random arguments."""

    def __init__(self, rounds: int = 20, warmup: int = 5):
        self._rounds, self._warmup = rounds, warmup
        self._arguments: Dict[str, Any] = {}

    def __call__(self, module, kernels, sizes):
        import torch

        names = {
            "f16": torch.float16,
            "bf16": torch.bfloat16,
            "f32": torch.float32,
            "i8": torch.int8,
            "i32": torch.int32,
            "i64": torch.int64,
        }
        arguments = {}
        shapes = _shapes_of(module, kernels, sizes)
        for param in (param for kernel in kernels for param in kernel.params):
            if isinstance(param, _manifest.Scalar):
                is_float = param.type in _manifest.FLOAT_SCALARS
                value = sizes.get(param.name, (1,))[0]
                arguments[param.name] = 0.1 if is_float else value
                continue
            if not isinstance(param, _manifest.Buffer) or param.name in arguments:
                continue
            shape = shapes[param.name]
            if param.name not in sizes and None in param.shape:
                # Candidates differ in scratch memory.
                arguments[param.name] = torch.full(
                    shape, math.nan, device="cuda", dtype=names[param.type]
                )
                continue
            if param.name not in self._arguments:
                torch.manual_seed(len(self._arguments))
                values = torch.randn(shape, device="cuda", dtype=torch.float32)
                self._arguments[param.name] = values.to(names[param.type])
            arguments[param.name] = self._arguments[param.name].clone()
        module.launch(**arguments)
        outputs = [
            tensor.double()
            for name, tensor in arguments.items()
            if name in self._arguments
            and not torch.equal(tensor, self._arguments[name])
        ]
        times = []
        # More than a second-level cache holds. To read it leaves nothing to be written.
        flush = torch.zeros(64 << 20, dtype=torch.float32, device="cuda")
        for turn in range(self._warmup + self._rounds):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(1_000_000)
            flush.amax()
            begin.record()
            module.launch(**arguments)
            end.record()
            if turn >= self._warmup:
                times.append((begin, end))
        torch.cuda.synchronize()
        return statistics.median(1e3 * a.elapsed_time(b) for a, b in times), outputs


def best(folder: "os.PathLike[str]") -> Result:
    """Returns the fastest candidate of a measured folder."""
    results = [
        Result(**entry)
        for entry in json.loads((Path(folder) / "results.json").read_text())
    ]
    working = [result for result in results if result.us is not None]
    if not working:
        raise CompileError(f"no candidate ran: {results[0].error if results else ''}")
    return min(working, key=lambda result: result.us)


def tune(
    source: str,
    chip: str,
    *,
    sizes: str,
    schedule: Optional[str] = None,
    count: int = _COUNT,
    jobs: Optional[int] = None,
    timer: Optional[Timer] = None,
    progress: bool = False,
) -> Result:
    """Compiles and times the candidates, and returns the fastest one."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(
            source,
            folder,
            chip,
            sizes=sizes,
            schedule=schedule,
            count=count,
            jobs=jobs,
            progress=progress,
        )
        measure(folder, timer=timer, progress=progress)
        return best(folder)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tile.tune",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("program", nargs="?", help="a program with open extents")
    parser.add_argument("--sizes", help="the extents of the arguments")
    parser.add_argument("--schedule", help="fields that all candidates have")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument(
        "--candidates",
        type=int,
        default=_COUNT,
        metavar="N",
        help=f"schedules that are measured ({_COUNT})",
    )
    parser.add_argument("--jobs", type=int, help="processes that compile")
    parser.add_argument("--row", metavar="FILE", help="add the fastest to this file")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--prepare", metavar="FOLDER", help="only compile")
    group.add_argument("--measure", metavar="FOLDER", help="only measure")
    group.add_argument("--best", metavar="FOLDER", help="only print the fastest")
    options = parser.parse_args(arguments)
    compiles = not (options.measure or options.best)
    if compiles and not (options.program and options.sizes):
        parser.error("a program and --sizes are needed")
    if options.candidates < 1:
        parser.error("--candidates must be at least 1")
    if compiles and not options.prepare and not options.chip.startswith("sm_"):
        parser.error("kernels for AMD GPUs are only prepared (--prepare)")
    try:
        if options.measure:
            measure(options.measure, progress=True)
            result = best(options.measure)
        elif options.best:
            result = best(options.best)
        else:
            source = Path(options.program).read_text(encoding="utf-8")
            common = {"sizes": options.sizes, "schedule": options.schedule}
            common.update(count=options.candidates, jobs=options.jobs, progress=True)
            parse_sizes(options.sizes)
            if options.prepare:
                prepare(source, options.prepare, options.chip, **common)
                return 0
            result = tune(source, options.chip, **common)
            job = {"chip": options.chip, "sizes": options.sizes}
            job["kernel"] = _find_kernel(source)
        if options.row:
            if options.measure or options.best:
                folder = Path(options.measure or options.best)
                job = json.loads((folder / "job.json").read_text())
            place = job["chip"], job["kernel"], job["sizes"]
            write_row(options.row, *place, result.schedule)
    except (ArgumentError, CompileError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(result.schedule)
    print(f"{result.us:.1f} us", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
