#!/usr/bin/env python3
"""Compiles examples/forward.mlir for one NVIDIA and two AMD chips and shows
what each kernel uses. Needs no GPU, no CUDA and no ROCm; with a ptxas at hand
it also assembles the PTX to learn its registers."""

import argparse
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join("examples", "forward.mlir")
TARGETS = [("sm_90a", "ptx"), ("gfx1100", "hsaco"), ("gfx942", "hsaco")]
ROW = "%-8s %-12s %9s %7s %13s %11s   %s"


def compile_for(chip, kind, tool, folder):
    """Prints one row for each kernel."""
    output = os.path.join(folder, "forward.%s.%s" % (chip, kind))
    manifest = os.path.join(folder, "forward.%s.json" % chip)
    start = time.monotonic()
    done = subprocess.run(
        [tool, "--tile-to-" + kind, "--chip=" + chip, "--resources",
         "--manifest=" + manifest, SOURCE, "-o", output],
        cwd=ROOT, stdout=subprocess.PIPE, text=True)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        sys.exit("%s: %s failed" % (chip, tool))
    used = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            kernel = json.loads(line)
            used[kernel["name"]] = kernel
    with open(manifest) as file:
        kernels = json.load(file)["kernels"]
    for kernel in kernels:
        # Without an assembler, how PTX is allocated is not known.
        resources = used.get(kernel["name"], {})
        print(ROW % (
            chip, kernel["name"], resources.get("registers", "no ptxas"),
            resources.get("spill_bytes", "-"), kernel["shared_bytes"],
            "%.2f s" % seconds, os.path.relpath(output, ROOT)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    build = os.path.abspath(parser.parse_args().build)
    folder = os.path.join(build, "demo")
    os.makedirs(folder, exist_ok=True)
    print("%s: the forward pass of attention in tile IR\n" % SOURCE)
    print(ROW % ("chip", "kernel", "registers", "spills", "shared memory",
                 "compiled in", "written to"))
    for chip, kind in TARGETS:
        compile_for(chip, kind, os.path.join(build, "bin", "tile-translate"),
                    folder)


if __name__ == "__main__":
    main()
