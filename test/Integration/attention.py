#!/usr/bin/env python3
"""Numerical test of attention and its gradients, against float64.

    attention.py                                 # on the GPU at hand; needs PyTorch
    attention.py --on executor [--chip gfx942]   # on the CPU; needs NumPy

The executor runs a smaller grid, for every chip or for the named ones. All other
options are for GPUs. The compiler and the GPU may be on two machines:

    attention.py --compile-only --artifacts DIR --chip sm_80    # no GPU needed
    attention.py --artifacts DIR                                # no compiler needed

Without these options it compiles for the GPU at hand. Cases run in a worker process,
which is replaced when a kernel crashes or hangs. A slow run, such as one under a
sanitizer, can be divided among N processes that each take one part of the kernels. It
can also skip the judgement of results, which launches many kernels of PyTorch:

    attention.py --artifacts DIR --shard 1/8 --launch-only \\
        --under 'compute-sanitizer --tool racecheck --error-exitcode 1'

The last line is
"N passed, M failed, K skipped"; the exit status is 1 if a case failed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import queue
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import on_executor  # noqa: E402
import cpu_chips  # noqa: E402
from cases import Case, all_cases, shard_cases, small_cases  # noqa: E402
from tile import ArgumentError, DriverError, ManifestError, chip_for, chips  # noqa: E402
from tile import driver as tile_driver  # noqa: E402
from tile.programs import Artifacts  # noqa: E402

#: Seconds that a worker may take to start.
START_SECONDS = 180

#: Exit status of a worker whose CUDA context is lost.
CONTEXT_LOST = 3

#: A worker prints the first when it has started, and the second before a result.
READY_MARK = "READY"
RESULT_MARK = "RESULT "


class Result(NamedTuple):
    """`status` is passed, failed or skipped; `errors` as in check.Outcome."""

    status: str
    detail: str = ""
    errors: Dict[str, Tuple[float, float]] = {}


def main() -> int:
    arguments = parse_arguments()
    everything = small_cases() if arguments.on == "executor" else all_cases()
    cases = [
        (index, case)
        for index, case in enumerate(everything)
        if re.search(arguments.filter, case.name)
    ]
    cases = shard_cases(cases, *arguments.shard)
    if not cases:
        part = "/".join(map(str, arguments.shard))
        print(f"no case of part {part} matches '{arguments.filter}'")
        return 1
    if arguments.list:
        print("\n".join(case.name for _, case in cases))
        return 0
    if arguments.worker is not None:
        return work(arguments)
    if arguments.compile_only:
        return compile_all(arguments, keep_suitable(cases, arguments.chip))

    executor = arguments.on == "executor"
    missing = on_executor.missing_requirement() if executor else missing_requirement()
    if missing:
        print(f"SKIPPED: {missing}")
        print(f"0 passed, 0 failed, {len(cases)} skipped")
        return 1 if arguments.require_gpu else 0
    if executor:
        return run_on_executor(arguments, cases)
    cases = keep_suitable(cases, get_chip(arguments))
    results = run_all(arguments, cases)
    return print_totals(report(cases, results))


def keep_suitable(cases: List[Tuple[int, Case]], chip: str) -> List[Tuple[int, Case]]:
    """Returns the cases that run on a chip."""
    return [(index, case) for index, case in cases if case.runs_on(chip)]


def get_chip(arguments: argparse.Namespace) -> str:
    """Returns the chip to compile for, by default that of the first GPU."""
    return arguments.chip or chip_for(tile_driver.shared().compute_capability(0))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--on", choices=("gpu", "executor"), default="gpu", help="where to run"
    )
    parser.add_argument("--artifacts", metavar="DIR", help="folder of artifacts")
    parser.add_argument("--compile-only", action="store_true", help="run nothing")
    parser.add_argument("--chip", help="chip to compile for; default: the GPU's, or with --on executor all chips")
    parser.add_argument("--jobs", type=int, default=2, help="compilations at a time")
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help="take matching cases only"
    )
    parser.add_argument(
        "--shard",
        type=shard,
        default=(1, 1),
        metavar="I/N",
        help="take the Ith of N parts, each with kernels of its own",
    )
    parser.add_argument(
        "--verbose", action="store_true", help="print each case when it is done"
    )
    parser.add_argument("--list", action="store_true", help="print the cases' names")
    parser.add_argument(
        "--timeout", type=float, default=60, help="seconds that a case may take"
    )
    parser.add_argument(
        "--require-gpu", action="store_true", help="fail where there is no GPU"
    )
    parser.add_argument(
        "--launches",
        type=int,
        default=3,
        help="launches of each case; all bits but those of atomic sums must agree",
    )
    parser.add_argument(
        "--launch-only",
        action="store_true",
        help="launch kernels once and judge no results, for sanitizers",
    )
    parser.add_argument(
        "--under",
        default="",
        metavar="COMMAND",
        help="prefix of the worker's command, such as 'compute-sanitizer --tool memcheck'",
    )
    # Indices of the cases that a worker is to run.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.compile_only and not (arguments.artifacts and arguments.chip):
        parser.error("--compile-only needs --artifacts and --chip")
    return arguments


def shard(text: str) -> Tuple[int, int]:
    """Returns the numbers of I/N, 1 <= I <= N."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with 1 <= I <= N")
    return int(match[1]), int(match[2])


def run_on_executor(
    arguments: argparse.Namespace, cases: List[Tuple[int, Case]]
) -> int:
    totals: Dict[str, int] = {}
    names = dict(cases)
    # Without a choice, chips that are related to others run some of the cases.
    cases_of = {
        chip: [
            (index, case)
            for index, case in keep_suitable(cases, chip)
            if arguments.chip or cpu_chips.takes(chip, case.variant.name)
        ]
        for chip in (arguments.chip.split(",") if arguments.chip else chips())
    }
    cases_of = {chip: found for chip, found in cases_of.items() if found}
    for chip, outcomes in on_executor.run_chips(cases_of, arguments.jobs):
        print(f"\n{chip}")
        results = {}
        for index, *result in outcomes:
            results[index] = Result(*result)
            if results[index].status != "passed":
                print(f"FAILED {names[index].name}: {results[index].detail}", flush=True)
        for status, number_of in report(cases_of[chip], results).items():
            totals[status] = totals.get(status, 0) + number_of
    print()
    return print_totals(totals)


def missing_requirement() -> Optional[str]:
    """Returns why cases cannot run here, None if they can."""
    try:
        tile_driver.shared().compute_capability(0)
    except DriverError as error:
        return f"no GPU ({error})"
    if importlib.util.find_spec("torch") is None:
        return "no PyTorch"
    return None


def compile_all(arguments: argparse.Namespace, cases: List[Tuple[int, Case]]) -> int:
    variants = list(dict.fromkeys(v for _, case in cases for v in case.variants))
    failures = Artifacts(arguments.artifacts).compile(
        variants, arguments.chip, arguments.jobs
    )
    for variant, message in failures.items():
        print(f"FAILED {variant.name}: {message}")
    print(
        f"{len(variants) - len(failures)} passed, {len(failures)} failed, 0 skipped"
    )
    return 1 if failures else 0


def run_all(
    arguments: argparse.Namespace, cases: List[Tuple[int, Case]]
) -> Dict[int, Result]:
    if arguments.artifacts:
        return run_workers(arguments, cases, arguments.artifacts)
    with tempfile.TemporaryDirectory(prefix="tile-") as folder:
        failures = Artifacts(folder).compile(
            (v for _, case in cases for v in case.variants),
            get_chip(arguments),
            arguments.jobs,
        )
        results = {
            index: Result("failed", failures[variant])
            for index, case in cases
            for variant in case.variants
            if variant in failures
        }
        rest = [(index, case) for index, case in cases if index not in results]
        results.update(run_workers(arguments, rest, folder))
        return results


def run_workers(
    arguments: argparse.Namespace, cases: List[Tuple[int, Case]], folder: str
) -> Dict[int, Result]:
    """Runs cases in workers until each has a result."""
    results: Dict[int, Result] = {}
    pending = dict(cases)
    while pending:
        broken = run_worker(arguments, pending, folder, results)
        if broken is None:
            continue
        # More cases of what broke the worker would cost a worker each.
        for index in list(pending):
            if pending[index].variants == broken.variants:
                detail = f"not run, because the worker broke at {broken.name}"
                results[index] = Result("failed", detail)
                del pending[index]
    return results


def run_worker(
    arguments: argparse.Namespace,
    pending: Dict[int, Case],
    folder: str,
    results: Dict[int, Result],
) -> Optional[Case]:
    """Runs one worker; moves finished cases from `pending` to `results`.

    Returns the case that broke it, which has its result too, if one did.
    """
    command = shlex.split(arguments.under)
    command += [sys.executable, __file__, "--artifacts", folder]
    command += ["--launches", str(arguments.launches)]
    command += ["--launch-only"] * arguments.launch_only
    command += ["--worker", ",".join(map(str, pending))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    lines: "queue.Queue[Optional[str]]" = queue.Queue()

    def read() -> None:
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()

    def finish(index: int, result: Result) -> Case:
        results[index] = result
        case = pending.pop(index)
        if result.status != "passed" or arguments.verbose:
            detail = f": {result.detail}" if result.detail else ""
            print(f"{result.status.upper()} {case.name}{detail}", flush=True)
        return case

    case = None
    limit = START_SECONDS
    fault = None
    while True:
        try:
            line = lines.get(timeout=limit)
        except queue.Empty:
            process.kill()
            fault = f"took more than {limit:g} s"
            break
        if line is None:
            break
        if line.startswith(READY_MARK):
            limit = arguments.timeout
        elif line.startswith(RESULT_MARK):
            index, *result = json.loads(line[len(RESULT_MARK) :])
            case = finish(index, Result(*result))
    status = process.wait()
    if status == CONTEXT_LOST:
        return case
    if not pending:
        # What the worker runs under may have found something, too.
        if status and case:
            detail = f"the worker ended with status {status}"
            results[index] = Result("failed", detail)
            print(f"FAILED {case.name}, or one before: {detail}", flush=True)
        return None
    fault = fault or f"ended its process with status {status}"
    return finish(next(iter(pending)), Result("failed", fault))


def work(arguments: argparse.Namespace) -> int:
    """Runs cases in this process; prints one line of JSON for each."""
    import torch

    from check import run_case

    torch.cuda.synchronize()
    print(READY_MARK, flush=True)
    artifacts, judged = Artifacts(arguments.artifacts), not arguments.launch_only
    cases = all_cases()
    for index in map(int, arguments.worker.split(",")):
        case = cases[index]
        try:
            outcome = run_case(case, artifacts, index, arguments.launches, judged)
            status = "failed" if outcome.faults else "passed"
            emit(index, status, "; ".join(outcome.faults), outcome.errors)
        except torch.cuda.OutOfMemoryError:
            emit(index, "skipped", "the GPU's memory is too small", {})
        except (ArgumentError, ManifestError, OSError) as error:
            emit(index, "failed", str(error), {})
        except Exception as error:  # noqa: BLE001 - a fault of one case only
            emit(index, "failed", f"{type(error).__name__}: {error}", {})
            if not context_works():
                return CONTEXT_LOST
    return 0


def emit(index: int, status: str, detail: str, errors: Dict[str, Any]) -> None:
    print(RESULT_MARK + json.dumps([index, status, detail, errors]), flush=True)


def context_works() -> bool:
    """Returns whether this process can still use the GPU after an error."""
    import torch

    try:
        torch.cuda.synchronize()
        return bool(torch.ones(1, device="cuda").item() == 1)
    except Exception:  # noqa: BLE001 - any error means that it cannot
        return False


def report(
    cases: List[Tuple[int, Case]], results: Dict[int, Result]
) -> Dict[str, int]:
    """Prints one row per variant; returns the counts by status."""
    rows: Dict[str, List[Result]] = {}
    for index, case in cases:
        rows.setdefault(case.variants[-1].name, []).append(results[index])
    width = max(map(len, rows))
    print(
        f"{'variant':{width}} {'passed':>6} {'failed':>6} {'skipped':>7}"
        f" {'error/limit':>11} {'LSE error':>9}"
    )
    for name, found in rows.items():
        counts = [count(found, s) for s in ("passed", "failed", "skipped")]
        errors = [e for r in found for n, e in r.errors.items() if n != "lse"]
        sums = [r.errors["lse"][0] for r in found if "lse" in r.errors]
        ratio = max((error / max(limit, 1e-30) for error, limit in errors), default=None)
        print(
            f"{name:{width}} {counts[0]:6} {counts[1]:6} {counts[2]:7}"
            f" {number(ratio, '.3f'):>11} {number(max(sums, default=None), '.1e'):>9}"
        )
    everything = list(results.values())
    return {s: count(everything, s) for s in ("passed", "failed", "skipped")}


def print_totals(totals: Dict[str, int]) -> int:
    """Prints the last line; returns the exit status."""
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**totals))
    return 1 if totals["failed"] else 0


def count(results: List[Result], status: str) -> int:
    return sum(result.status == status for result in results)


def number(value: Optional[float], form: str) -> str:
    return "-" if value is None else format(value, form)


if __name__ == "__main__":
    sys.exit(main())
