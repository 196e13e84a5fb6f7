#!/usr/bin/env python3
"""Compares random tile programs with float64.

Draws programs from a seed, compiles each of them for several chips, and runs
it on the CPU (tile.executor). NumPy computes the results in float64, together
with a bound of the error for each element. Outputs are filled with NaN before
a run and lie between guard elements. A failing program is shrunk and printed
with its seed.

By hand: numerics.py --seconds=3600 --seed=7. numerics.py --only=12 runs one
program for all chips.
"""

import argparse
import collections
import json
import os
import re
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(ROOT, "test", "fuzz")]

from tileprograms import sweeps  # noqa: E402
from tileprograms.generate import generate  # noqa: E402
from tileprograms.program import CHIPS  # noqa: E402
from tileprograms.runner import Job, Pool, text_of  # noqa: E402
from tileprograms.shrink import shrink  # noqa: E402


def random_jobs(options, chips):
    """Each program for some of the chips, so that all come in turn."""
    numbers = [options.only] if options.only is not None else iter(int, 1)
    number = -1
    for only in numbers:
        number = only if options.only is not None else number + 1
        if options.only is None and options.count is not None and number >= options.count:
            return
        each = len(chips) if options.only is not None else options.chips_each
        for k in range(min(each, len(chips))):
            chip = chips[(number * each + k) % len(chips)]
            label = "%s:%d" % (options.seed, number)
            artifact = options.artifacts > 0 and (number * each + k) % options.artifacts == 0
            yield Job(label, [generate(label)], chip, artifact)


def singles(job):
    """The programs of a failed job, each for itself."""
    for i, program in enumerate(job.programs):
        yield Job("%s/%d" % (job.label, i), [program], job.chip)


def signature(outcome):
    """What failures of one cause have in common."""
    lines = outcome.message.strip().splitlines()
    first = lines[-1:] if outcome.kind == "fuzzer" else lines[:1]
    return outcome.kind + ": " + re.sub(r"[-\d.]+(e[-+]\d+)?", "N", "".join(first))[:160]


class Session:
    """Counts outcomes, and shrinks and prints failures."""

    def __init__(self, options, pool):
        self.options, self.pool = options, pool
        self.kinds = collections.Counter()
        self.chips = collections.Counter()
        self.signatures = collections.Counter()
        self.coverage = [0, 0, 0, 0]
        self.slowest = (0.0, "")
        self.compiling = 0.0
        self.failures = []

    def run(self, jobs, until=None):
        for job, outcome in self.pool.run(jobs, until):
            if outcome.failed and len(job.programs) > 1:
                self.failures.append((job, outcome))
                continue
            count = len(job.programs)
            self.kinds[outcome.kind] += count
            self.chips[job.chip] += count
            self.coverage = [a + b for a, b in zip(self.coverage, outcome.coverage)]
            self.compiling += outcome.seconds
            self.slowest = max(self.slowest, (outcome.seconds / count, job.label + " " + job.chip))
            if outcome.failed:
                print("%s %s %s" % (job.label, job.chip, signature(outcome)), flush=True)
                self.failures.append((job, outcome))

    def finish(self):
        """Splits failed jobs of several programs, then reports what failed."""
        joined = [job for job, _ in self.failures if len(job.programs) > 1]
        self.failures = [f for f in self.failures if len(f[0].programs) == 1]
        if joined:
            before = len(self.failures)
            self.run(single for job in joined for single in singles(job))
            if len(self.failures) == before:
                print("%d modules fail of which no kernel fails alone" % len(joined))
                self.kinds["joined"] += len(joined)
        for job, outcome in self.failures:
            self.report(job, outcome)

    def report(self, job, outcome):
        name = signature(outcome)
        self.signatures[name] += 1
        if self.signatures[name] > self.options.each:
            return
        program = job.programs[0]
        if self.options.shrink > 0 and outcome.kind != "fuzzer":
            def fails(candidate):
                again = self.pool.one(Job(job.label, [candidate], job.chip, job.artifact))
                return again.kind == outcome.kind and (
                    outcome.kind != "error" or signature(again) == name)
            program = shrink(program, fails, self.options.shrink)
            again = self.pool.one(Job(job.label, [program], job.chip, job.artifact))
            if again.failed:
                outcome = again
        head = ["seed %s, %s: %s" % (job.label, job.chip, outcome.kind)]
        head += ["  " + line for line in outcome.message.strip().splitlines()[-12:]]
        head += ["  %s: %s, %s" % (b.name, b.fill, list(b.extents(program.extents)))
                 for b in program.buffers]
        head += ["  n%d = %d" % (i, n) for i, n in enumerate(program.scalars)]
        text = "".join("// %s\n" % line for line in head)
        text += text_of(Job(job.label, [program], job.chip))
        print("\n" + text, flush=True)
        if self.options.failures:
            os.makedirs(self.options.failures, exist_ok=True)
            file = "%s-%s.mlir" % (re.sub(r"[^\w.]", "-", job.label), job.chip)
            with open(os.path.join(self.options.failures, file), "w") as stream:
                stream.write(text)

    def summary(self):
        total, exact, tight, unknown = self.coverage
        share = 100 / max(total, 1)
        print("%d elements compared: %.0f%% exactly, %.0f%% within 2%%, %.1f%% not at all" % (
            total, exact * share, tight * share, unknown * share))
        print("chips: " + ", ".join("%s %d" % (c, self.chips[c]) for c in CHIPS))
        print("compilation: %.0f s of CPU time, at most %.1f s a kernel (%s)" % (
            self.compiling, *self.slowest))
        for name, count in self.signatures.most_common():
            print("%5d  %s" % (count, name))
        passed, refused = self.kinds["passed"], self.kinds["refused"]
        failed = sum(self.kinds.values()) - passed - refused
        # A run that compares hardly anything proves nothing.
        if not failed and (passed == 0 or refused > passed or unknown * share > 20):
            print("too little was compared")
            failed = 1
        print("%d passed, %d failed, %d refused" % (passed, failed, refused))
        return passed, failed, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, help="random programs (default: 150)")
    parser.add_argument("--seconds", type=float, help="draw programs for that long instead")
    parser.add_argument("--only", type=int, help="run this program only, for all chips")
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--chips-each", type=int, default=2, help="chips for each program")
    parser.add_argument("--artifacts", type=int, default=10,
                        help="every so many programs are compiled to PTX or a code object, too;"
                        " 0 for none")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sweeps", choices=["some", "full", "none"], default="some",
                        help="systematic programs before the random ones")
    parser.add_argument("--sweep", action="append", help="only sweeps of these names")
    parser.add_argument("--shrink", type=float, default=60, help="seconds to shrink a failure")
    parser.add_argument("--each", type=int, default=2, help="failures printed of one kind")
    parser.add_argument("--failures", help="folder for the failing programs")
    parser.add_argument("--report", help="JSON file for the counts")
    parser.add_argument("--print", action="store_true", help="print the programs only")
    options = parser.parse_args()
    if options.seconds is None and options.count is None:
        options.count = 150
    chips = options.chips.split(",")

    if options.print:
        options.count = options.count or 1
        for job in random_jobs(options, chips[:1]):
            print("// %s\n%s" % (job.label, text_of(job)))
        return 0

    pool = Pool(options.jobs)
    session = Session(options, pool)
    begin = time.monotonic()
    if options.only is None and options.sweeps != "none":
        session.run(sweeps.jobs(options.sweeps == "full", chips, options.sweep))
    until = None if options.seconds is None else begin + options.seconds
    if not options.sweep:
        session.run(random_jobs(options, chips), until)
    session.finish()
    pool.stop()
    passed, failed, refused = session.summary()
    if options.report:
        with open(options.report, "w") as file:
            json.dump({"passed": passed, "failed": failed, "skipped": refused}, file)
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
