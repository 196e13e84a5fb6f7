"""Compiles and runs programs in processes of their own.

A crash, or a compilation that takes too long, ends one process and is a result
like any other.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from .program import Program

#: The build folder: that of the library in use, or else the default.
BUILD = (Path(os.environ["TILE_LIBRARY"]).resolve().parents[1] if "TILE_LIBRARY" in os.environ
         else Path(__file__).resolve().parents[3] / "build")
TRANSLATE = str(BUILD / "bin" / "tile-translate")

#: Seconds of CPU time that a kernel may take to compile, and a run.
COMPILE_LIMIT = 20.0
RUN_LIMIT = 120.0
MEMORY_LIMIT = 32 << 30  # bytes of address space
#: Compiled programs keep memory, so a worker ends after this many jobs.
JOBS_OF_A_WORKER = 10

#: Refusals that the language allows: no instruction of the chip divides the
#: product among the warps, a thread has too few registers for a tile or
#: too many elements of it, or the tiles need more shared memory than the chip has.
REFUSALS = re.compile(
    r"no matrix instruction of \w+ divides the product"
    r"|needs \d+ registers a thread for a tile of"
    r"|gives a thread \d+ elements of a tile of"
    r"|needs \d+ bytes of shared memory; \w+ has \d+"
)


@dataclasses.dataclass
class Job:
    """Programs that are compiled as one module."""

    label: str
    programs: List[Program]
    chip: str
    #: Whether the chip's back end compiles it as well, to PTX or a code object.
    artifact: bool = False


@dataclasses.dataclass
class Outcome:
    """What became of a job.

    `kind` is "passed", "refused", or what is wrong: "wrong", "unwritten",
    "outside", "input", "report" (of the executor's checks), "argument",
    "error", "slow", "crash", "hang" or "fuzzer" (a mistake of this program).
    """

    kind: str
    message: str = ""
    seconds: float = 0.0
    coverage: Tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def failed(self) -> bool:
        return self.kind not in ("passed", "refused")


def text_of(job: Job) -> str:
    return "\n".join(program.text(job.chip) for program in job.programs)


def perform(job: Job, send) -> Outcome:
    """Runs a job in this process; calls `send` once it is compiled."""
    from .reference.evaluator import Evaluator
    from .reference.judge import Coverage, judge
    from tile.errors import ArgumentError, CompileError, ExecutionError
    from tile.executor import Program as Compiled

    evaluators = [Evaluator(program) for program in job.programs]
    named: Dict[str, Any] = {}
    memories = []
    for program, evaluator in zip(job.programs, evaluators):
        memories += evaluator.run()
        for memory in evaluator.memories:
            named[f"{program.name}_{memory.buffer.name}"] = memory.argument()
        for i, scalar in enumerate(program.scalars):
            named[f"{program.name}_n{i}"] = scalar
    text = text_of(job)
    begin = time.process_time()
    try:
        compiled = Compiled(text, job.chip)
    except CompileError as error:
        message = str(error)
        kind = "refused" if REFUSALS.search(message) else "error"
        return Outcome(kind, message, time.process_time() - begin)
    seconds = time.process_time() - begin
    send()
    if seconds > COMPILE_LIMIT * len(job.programs):
        return Outcome("slow", f"compiles for {seconds:.1f} s", seconds)
    if job.artifact:
        failure = translate(text, job)
        if failure:
            return failure
    try:
        compiled(jobs=1, **named)
    except ExecutionError as error:
        return Outcome("report", str(error), seconds)
    except ArgumentError as error:
        return Outcome("argument", str(error), seconds)
    coverage = Coverage()
    faults = judge(memories, coverage)
    counts = (coverage.elements, coverage.exact, coverage.tight, coverage.unknown)
    if faults:
        kinds = [kind for kind, _ in faults]
        order = ["outside", "unwritten", "wrong", "input"]
        kind = min(kinds, key=order.index)
        return Outcome(kind, "\n".join(text for _, text in faults), seconds, counts)
    return Outcome("passed", "", seconds, counts)


def translate(text: str, job: Job) -> Optional[Outcome]:
    """Compiles for the GPU; returns the failure, if it is one."""
    kind = "hsaco" if job.chip.startswith("gfx") else "ptx"
    limit = int(COMPILE_LIMIT * len(job.programs))
    command = [TRANSLATE, f"--tile-to-{kind}", f"--chip={job.chip}", "-o", os.devnull, "-"]
    begin = os.times()
    done = subprocess.run(
        command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
    )
    end = os.times()
    spent = end.children_user + end.children_system - begin.children_user - begin.children_system
    if done.returncode == 0:
        return None
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and spent > limit - 1:
        return Outcome("slow", f"the back end still compiles after {spent:.0f} s of CPU time", spent)
    if done.returncode < 0:
        return Outcome("crash", f"the back end ended by signal {-done.returncode}\n{done.stdout[-3000:]}")
    return Outcome("error", "the back end: " + done.stdout.strip()[-3000:])


def serve(connection, errors: str) -> None:
    """The loop of a worker."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    stream = os.open(errors, os.O_WRONLY | os.O_TRUNC)
    os.dup2(stream, 2)
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        os.ftruncate(2, 0)
        try:
            outcome = perform(job, lambda: connection.send(None))
        except Exception:
            outcome = Outcome("fuzzer", traceback.format_exc())
        connection.send(outcome)


class Worker:
    def __init__(self):
        self.errors = tempfile.NamedTemporaryFile(prefix="tile-fuzz-")
        self.start()

    def start(self) -> None:
        self.connection, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=serve, args=(other, self.errors.name), daemon=True
        )
        self.process.start()
        other.close()
        self.job: Optional[Job] = None
        self.jobs = 0

    def cpu_time(self) -> float:
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def submit(self, job: Job) -> None:
        if self.jobs == JOBS_OF_A_WORKER:
            self.stop()
            self.start()
        self.jobs += 1
        self.job, self.compiled = job, False
        self.begin = self.cpu_time()
        self.connection.send(job)

    def poll(self) -> Optional[Outcome]:
        """The outcome if there is one, after news or some time."""
        assert self.job
        try:
            while self.connection.poll():
                outcome = self.connection.recv()
                if outcome is not None:
                    self.job = None
                    return outcome
                self.compiled, self.begin = True, self.cpu_time()
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode or 0
            with open(self.errors.name, errors="replace") as file:
                tail = file.read()[-3000:]
            self.connection.close()
            self.start()
            return Outcome("crash", f"ended by signal {-code}\n{tail}")
        spent = self.cpu_time() - self.begin
        limit = RUN_LIMIT if self.compiled else COMPILE_LIMIT * len(self.job.programs) + 2
        if spent <= limit:
            return None
        kind = "hang" if self.compiled else "slow"
        what = "runs" if self.compiled else "compiles"
        self.stop()
        self.start()
        return Outcome(kind, f"still {what} after {spent:.0f} s of CPU time", spent)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class Pool:
    """Some workers that take jobs in order."""

    def __init__(self, count: int):
        self.workers = [Worker() for _ in range(count)]

    def run(self, jobs: Iterable[Job], until: Optional[float] = None) -> Iterator[Tuple[Job, Outcome]]:
        """Yields jobs with their outcomes as they end; begins none after
        `until`."""
        source = iter(jobs)
        busy: Dict[Worker, Job] = {}
        more = True
        while True:
            for worker in self.workers:
                if worker not in busy and more:
                    job = None
                    if until is None or time.monotonic() < until:
                        job = next(source, None)
                    if job is None:
                        more = False
                        break
                    worker.submit(job)
                    busy[worker] = job
            if not busy:
                return
            multiprocessing.connection.wait([w.connection for w in busy], timeout=0.25)
            for worker in list(busy):
                outcome = worker.poll()
                if outcome is not None:
                    yield busy.pop(worker), outcome

    def one(self, job: Job) -> Outcome:
        """Runs a job on the first worker, which is idle."""
        worker = self.workers[0]
        worker.submit(job)
        while True:
            multiprocessing.connection.wait([worker.connection], timeout=0.25)
            outcome = worker.poll()
            if outcome is not None:
                return outcome

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()
