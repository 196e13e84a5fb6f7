#!/usr/bin/env python3
"""Runs the scripts of this folder, several at a time, and adds up their results.

    suites.py --device cpu                   # on the CPU, for all chips
    suites.py --device cuda --jobs 12        # on the GPU at hand
    suites.py --device cuda kv_cache parts   # two of them

They take the package `tile` of this checkout. With `--logs`, each script prints to
DIR/<name>.log. The last line is "N passed, M failed, K skipped"; the exit status is 1
if a case failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import List, Tuple

HERE = Path(__file__).resolve().parent

#: The grid of attention, which has processes of its own.
ATTENTION = "attention"

#: Scripts that take `--device`, those that take longest first. `distributed` runs on
#: the CPU only.
SCRIPTS = (
    "kv_cache", "parts", "vllm_backend", "autograd", "operations", "products", "rows",
    "attention_loops", "recurrences", "matmul", "flash", "hugging_face", "distributed",
)  # fmt: skip

Counts = Tuple[int, int, int]


def command_of(name: str, device: str) -> List[str]:
    """Returns the command line of a script."""
    command = [sys.executable, str(HERE / f"{name}.py")]
    if name != ATTENTION:
        return [*command, f"--device={device}"]
    return [*command, "--on=executor"] if device == "cpu" else command


def run(name: str, device: str, logs: str) -> Counts:
    """Runs a script; returns the cases that passed, failed and were skipped."""
    begin = time.monotonic()
    done = subprocess.run(
        command_of(name, device), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", done.stdout, re.M)
    passed, failed, skipped = map(int, found[-1]) if found else (0, 1, 0)
    if done.returncode != 0:
        failed = max(failed, 1)
    if logs:
        Path(logs, f"{name}.log").write_text(done.stdout, encoding="utf-8")
    seconds = time.monotonic() - begin
    summary = f"{name}: {passed} passed, {failed} failed, {skipped} skipped ({seconds:.0f} s)"
    print(summary if logs else f"{done.stdout.rstrip()}\n{summary}", flush=True)
    return passed, failed, skipped


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    parser.add_argument("--jobs", type=int, help="scripts at a time; on a GPU, 1 by default")
    parser.add_argument("--logs", metavar="DIR", default="")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    device = arguments.device
    known = [ATTENTION, *(n for n in SCRIPTS if device == "cpu" or n != "distributed")]
    names = arguments.names or known
    for name in names:
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
    if arguments.logs:
        os.makedirs(arguments.logs, exist_ok=True)

    results = []
    if device == "cpu" and ATTENTION in names:
        # It takes all cores.
        names = [name for name in names if name != ATTENTION]
        results.append(run(ATTENTION, device, arguments.logs))
    jobs = arguments.jobs or (os.cpu_count() if device == "cpu" else 1)
    with ThreadPoolExecutor(jobs) as pool:
        results += pool.map(lambda name: run(name, device, arguments.logs), names)
    passed, failed, skipped = map(sum, zip(*results))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
