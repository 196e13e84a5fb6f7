"""A series of random programs from a seed, for one chip after the other."""

import argparse
import time

from tileprograms.program import CHIPS

from tile.errors import CompileError

#: Processor time after which a program has failed, in seconds.
MOST_SECONDS = 40

#: Refusals of programs that do not fit a chip. Other errors are defects.
REFUSALS = ("has no values of its open extents", "bytes of shared memory", "registers",
            "no instruction", "the limit is", "does not fit")


def main(description, make):
    """Parses the arguments of the process and runs a series; returns the exit status.

    `make` takes the number of a program as text, and a chip. It returns an object:
    str() of it describes the program, and run(chip) returns an error or an empty text.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=140, help="programs, one for each chip in turn")
    parser.add_argument("--seconds", type=float, help="the time to run, instead of --count")
    parser.add_argument("--only", type=int, help="prints and runs one program")
    options = parser.parse_args()
    counts = {"passed": 0, "failed": 0, "refused": 0}
    end = time.monotonic() + options.seconds if options.seconds else None
    number = options.only or 0
    while True:
        label, chip = f"{options.seed}:{number}", CHIPS[number % len(CHIPS)]
        program = make(label, chip)
        if options.only is not None:
            print(program)
        status, error = run(program, chip)
        counts[status] += 1
        if status == "failed":
            print(f"FAILED {label} {chip}: {error[:600]}", flush=True)
        number += 1
        if options.only is not None or (end is None and number >= options.count) or (
                end is not None and time.monotonic() > end):
            break
    print(f"{counts['refused']} refused")
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


def run(program, chip):
    """Runs one program. Returns its status and its error."""
    begin = time.process_time()
    try:
        error = program.run(chip)
        status = "failed" if error else "passed"
    except CompileError as refusal:
        error = str(refusal)
        status = "refused" if any(text in error for text in REFUSALS) else "failed"
    except Exception as defect:
        error, status = f"{type(defect).__name__}: {defect}", "failed"
    seconds = time.process_time() - begin
    if seconds > MOST_SECONDS:
        error, status = f"took {seconds:.0f} s", "failed"
    return status, error
