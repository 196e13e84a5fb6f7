#!/usr/bin/env python3
"""Checks the sources with the hooks of .pre-commit-config.yaml.

Each hook is a program from PyPI with a pinned version. The first run installs them
into <build>/format-tools. Without --fix, the script changes no source, prints what
the hooks would change, and fails if that is anything.
"""

import argparse
import os
import re
import subprocess
import sys

import pypi_tools

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONFIGURATION = os.path.join(ROOT, ".pre-commit-config.yaml")


def pinned():
    """Returns the requirements of the hooks, for example clang-format==22.1.8."""
    with open(CONFIGURATION, encoding="utf-8") as file:
        found = re.findall(r"additional_dependencies: \[(\S+==\S+)\]", file.read())
    if not found:
        sys.exit("%s pins no program" % CONFIGURATION)
    return found


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout.split("\0")
    # A file that was removed but not staged is still tracked.
    return [path for path in listed if path and os.path.exists(os.path.join(ROOT, path))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    parser.add_argument("--fix", action="store_true", help="change the sources")
    options = parser.parse_args()
    folder = os.path.join(os.path.abspath(options.build), "format-tools")
    pypi_tools.install(folder, pinned())

    clang_format = [os.path.join(folder, "bin", "clang-format"), "-i"]
    ruff = [os.path.join(folder, "bin", "ruff"), "check", "--quiet", "--no-cache",
            "--output-format=concise"]
    if options.fix:
        ruff.append("--fix")
    else:
        clang_format[1:] = ["--dry-run", "--Werror", "--ferror-limit=1"]
    sources = (tracked("*.h", "*.cpp", "*.c"), tracked("*.py"))
    failed = False
    for command, files in zip((clang_format, ruff), sources):
        if not files:
            sys.exit("git lists no files for %s" % os.path.basename(command[0]))
        failed |= subprocess.run(command + files, cwd=ROOT).returncode != 0
    if failed and not options.fix:
        print("`make format` repairs the layout and some of the faults")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
