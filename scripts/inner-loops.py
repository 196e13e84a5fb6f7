#!/usr/bin/env python3
"""Counts the instructions of the innermost loops of AMD code objects.

    inner-loops.py attention.hsaco               # a table with a line for each loop
    inner-loops.py --compare before/ after/      # files of equal names

A loop is the code from the target of a backward branch to that branch; the longest
one counts if several branches share a target. Loops that contain another one are
left out. With --compare the exit status is 1 if the innermost loops of a kernel have
more instructions in `after` than in `before`. Needs LLVM's llvm-objdump.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

#: Kinds of instructions, with the beginnings of their mnemonics. The first match
#: counts.
KINDS = {
    "matrix": r"v_(mfma|smfmac|wmma|swmmac)",
    "special": r"v_s?_?(exp|log|rcp|rsq|sqrt|sin|cos)_",
    "vector": r"v_",
    "LDS": r"ds_",
    "memory": r"(global|buffer|flat|scratch)_",
    "wait": r"s_(wait|nop|barrier)",
    "branch": r"s_(c?branch|call|setpc|swappc)",
    "scalar": r"s_",
}

KERNEL = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
INSTRUCTION = re.compile(
    r"^\s+(?P<mnemonic>\w+).*// (?P<address>[0-9A-F]+):[ 0-9A-F]*"
    r"(?:<(?P<symbol>[^+>]+)(?:\+0x(?P<offset>[0-9a-f]+))?>)?$"
)


def kind_of(mnemonic):
    """Returns the kind of an instruction; "other" if none matches."""
    return next((k for k, begin in KINDS.items() if re.match(begin, mnemonic)), "other")


def parse(disassembly):
    """Returns the instructions of each kernel in the output of llvm-objdump: tuples
    of address, mnemonic, and the target of a branch or None."""
    kernels, starts, name = {}, {}, None
    for line in disassembly.splitlines():
        if kernel := KERNEL.match(line):
            name = kernel["name"]
            starts[name] = int(line.split()[0], 16)
            kernels[name] = []
        elif name and (found := INSTRUCTION.match(line)):
            target = None
            if found["symbol"] in starts:
                target = starts[found["symbol"]] + int(found["offset"] or "0", 16)
            address = int(found["address"], 16)
            kernels[name].append((address, found["mnemonic"], target))
    return kernels


def innermost_loops(instructions):
    """Returns a counter of kinds for each innermost loop, in the order of the code."""
    ends = {}
    for address, _, target in instructions:
        if target is not None and target <= address:
            ends[target] = max(address, ends.get(target, 0))
    spans = [
        (start, end)
        for start, end in sorted(ends.items())
        if not any(start < other <= end for other in ends)
    ]
    return [
        Counter(kind_of(m) for address, m, _ in instructions if start <= address <= end)
        for start, end in spans
    ]


def read_loops(path, objdump):
    """Returns the innermost loops of each kernel of a code object."""
    done = subprocess.run([objdump, "-d", str(path)], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{path}: {done.stderr.strip()}")
    return {name: innermost_loops(code) for name, code in parse(done.stdout).items()}


def print_table(files, objdump):
    columns = ["all", *KINDS]
    print(f"{'kernel':40}{'loop':>5}" + "".join(f"{c:>8}" for c in columns))
    for path in files:
        for name, loops in read_loops(path, objdump).items():
            for number, loop in enumerate(loops):
                counts = [sum(loop.values()), *(loop[kind] for kind in KINDS)]
                cells = "".join(f"{count:8}" for count in counts)
                print(f"{name:40}{number:5}{cells}")
    return 0


def compare(before, after, objdump):
    """Prints the kernels whose innermost loops have changed."""
    names = sorted(p.name for p in after.iterdir() if (before / p.name).is_file())
    kernels = changed = longer = 0
    for name in names:
        if not all((f / name).read_bytes()[:4] == b"\x7fELF" for f in (before, after)):
            continue
        old, new = (read_loops(folder / name, objdump) for folder in (before, after))
        for kernel in new.keys() & old.keys():
            kernels += 1
            counts = [[sum(loop.values()) for loop in x[kernel]] for x in (old, new)]
            if counts[0] == counts[1]:
                continue
            changed += 1
            longer += sum(counts[1]) > sum(counts[0])
            print(f"{name} {kernel}: {counts[0]} -> {counts[1]}")
    print(f"{kernels} kernels, {changed} changed, {longer} with more instructions")
    return 1 if longer or not kernels else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--compare", nargs=2, type=Path, metavar="FOLDER")
    parser.add_argument("--objdump", help="default: llvm-objdump-22 or llvm-objdump")
    arguments = parser.parse_args()
    objdump = arguments.objdump or shutil.which("llvm-objdump-22")
    objdump = objdump or shutil.which("llvm-objdump")
    if not objdump:
        parser.error("llvm-objdump is not installed")
    if bool(arguments.files) == bool(arguments.compare):
        parser.error("give either files or --compare")
    if arguments.compare:
        return compare(*arguments.compare, objdump)
    return print_table(arguments.files, objdump)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
