#!/usr/bin/env python3
"""Compiles examples/forward.mlir for one NVIDIA and two AMD chips, and prints the
resources of each kernel. Then runs the kernels on the CPU and compares the
results with float64. Needs no GPU, no CUDA and no ROCm. The registers of the PTX
kernel are printed only if a ptxas is found, which assembles it."""

import argparse
import json
import math
import os
import random
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join("examples", "forward.mlir")
TARGETS = [("sm_90a", "ptx"), ("gfx1100", "hsaco"), ("gfx942", "hsaco")]
ROW = "%-8s %-12s %9s %7s %13s %11s   %s"


def compile_for(chip, kind, tool, folder):
    """Compiles for `chip` and prints one row for each kernel."""
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
        # The register count of PTX is known only after ptxas has assembled it.
        resources = used.get(kernel["name"], {})
        print(ROW % (
            chip, kernel["name"], resources.get("registers", "no ptxas"),
            resources.get("spill_bytes", "-"), kernel["shared_bytes"],
            "%.2f s" % seconds, os.path.relpath(output, ROOT)))


def write_npy(path, values, shape, kind):
    """Writes a float16 (`e`) or float64 (`d`) array in NumPy's format."""
    size = struct.calcsize(kind)
    header = "{'descr': '<f%d', 'fortran_order': False, 'shape': %s, }" % (
        size, tuple(shape))
    header += " " * (-(11 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack("<%d%s" % (len(values), kind), *values))


def reference_attention(q, k, v, scale):
    """Computes causal attention of one head in float64, on lists of rows."""
    rows = []
    for i, query in enumerate(q):
        seen = k[:i + 1 + len(k) - len(q)]
        weights = [math.exp(scale * sum(a * b for a, b in zip(query, key)))
                   for key in seen]
        total = sum(weights)
        rows.append([sum(w * row[j] for w, row in zip(weights, v)) / total
                     for j in range(len(v[0]))])
    return rows


def run_all(build, folder):
    """Runs the kernels on the CPU; prints the error of each against float64."""
    length, d, scale = 80, 128, 128 ** -0.5
    numbers = random.Random(0)
    rows = []
    for name in "qkv":
        # The inputs, rounded to float16.
        half = [struct.unpack("e", struct.pack("e", numbers.gauss(0, 1)))[0]
                for _ in range(length * d)]
        write_npy(os.path.join(folder, name + ".npy"), half,
                  (1, length, 1, d), "e")
        rows.append([half[i:i + d] for i in range(0, len(half), d)])
    reference = [x for row in reference_attention(*rows, scale) for x in row]
    write_npy(os.path.join(folder, "o.npy"), reference, (1, length, 1, d), "d")
    files = ["--arg=" + os.path.join(folder, name + ".npy") for name in "qkv"]
    print("\nThe same kernels on this CPU, %d queries and keys, against "
          "float64:\n" % length)
    for chip, _ in TARGETS:
        start = time.monotonic()
        done = subprocess.run(
            [os.path.join(build, "bin", "tile-run"), SOURCE, "--chip=" + chip,
             *files, "--arg=nan:1x%dx1x%d:f16" % (length, d),
             "--arg=nan:1x1x%d:f32" % length, "--arg=%r" % scale,
             "--expect=" + os.path.join(folder, "o.npy"), "--atol=2e-3"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True)
        seconds = time.monotonic() - start
        print("%-8s %-40s in %.2f s" % (chip, done.stdout.strip(), seconds))
        if done.returncode != 0:
            sys.exit("%s: the result differs from float64" % chip)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    build = os.path.abspath(parser.parse_args().build)
    folder = os.path.join(build, "demo")
    os.makedirs(folder, exist_ok=True)
    print("%s: forward attention in tile IR\n" % SOURCE)
    print(ROW % ("chip", "kernel", "registers", "spills", "shared memory",
                 "compiled in", "written to"))
    for chip, kind in TARGETS:
        compile_for(chip, kind, os.path.join(build, "bin", "tile-translate"),
                    folder)
    run_all(build, folder)


if __name__ == "__main__":
    main()
