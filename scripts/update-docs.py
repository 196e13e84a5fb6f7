#!/usr/bin/env python3
"""Generates, or checks, the blocks of documents that quote tools or sources.

In Markdown, a comment right before a fenced block contains the command that
generates the block:

    <!-- run: tile-opt examples/forward.mlir | sed -n '/scf.for/,/}/p' -->
    ```mlir
    ...
    ```

The command runs in bash in the root of the repository. The built tools and
LLVM's tools come first on PATH. The block is the output of the command, without
its common indentation; `sed -n` can cut out an excerpt.

The command must succeed. With `fails:` instead of `run:` it must fail, and the
block also contains its stderr.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"(?P<comment><!-- (?P<kind>run|fails): (?P<command>.*?) -->\n"
                   r"(?P<fence>```)\w*\n)(?P<text>.*?)(?P<end>^```$)",
                   re.S | re.M)


def output_of(kind, command, tools, where):
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join(
        tools + [environment["PATH"]])
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if kind == "fails" else subprocess.PIPE, text=True)
    if (done.returncode != 0) != (kind == "fails"):
        sys.exit("%s: exit status %d of: %s\n%s" % (
            where, done.returncode, command, done.stderr or done.stdout))
    text = textwrap.dedent(done.stdout)
    if not text.strip():
        sys.exit("%s: no output of: %s" % (where, command))
    return text if text.endswith("\n") else text + "\n"


def render(path, tools):
    """Returns the content of the file and the content with current blocks."""
    with open(path, encoding="utf-8") as file:
        old = file.read()

    def replace(match):
        line = old.count("\n", 0, match.start()) + 1
        text = output_of(match["kind"], match["command"], tools,
                         "%s:%d" % (path, line))
        return match["comment"] + text + match["end"]

    if len(BLOCK.findall(old)) != len(re.findall(r"^<!-- (?:run|fails): ", old, re.M)):
        sys.exit("%s: a command has no fenced block right after it" % path)
    return old, BLOCK.sub(replace, old)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=os.path.join(ROOT, "build", "bin"),
                        help="folder of the built tools")
    parser.add_argument("--llvm-tools", default="/usr/lib/llvm-22/bin",
                        help="folder of llvm-objdump")
    parser.add_argument("--check", action="store_true",
                        help="change nothing; fail if a block is out of date")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()

    tools = [os.path.abspath(options.tools), options.llvm_tools]
    stale = 0
    for path in options.files:
        old, new = render(path, tools)
        if old == new:
            continue
        stale += 1
        if options.check:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), path,
                path + " (up to date)"))
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
            print("updated " + path)
    if options.check and stale:
        print("run scripts/update-docs.py on the files above")
    return int(options.check and stale != 0)


if __name__ == "__main__":
    sys.exit(main())
