#!/usr/bin/env python3
"""Generates, or checks, the blocks of documents that quote tools or sources.

In Markdown, a comment right before a fenced block contains the command that
generates the block:

    <!-- run: tile-opt examples/forward.mlir | sed -n '/scf.for/,/}/p' -->
    ```mlir
    ...
    ```

The function `above` runs the shell block that comes before. An image instead of the block,
such as `![Lanes](images/lanes.svg)`, is the output of the command.

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

import documents

ROOT = str(documents.ROOT)
COMMENT = r"<!-- (?P<kind>run|fails): (?P<command>(?:(?!-->).)*?) -->\n"
BLOCK = re.compile(r"(?P<comment>" + COMMENT + r"(?P<fence>```)\w*\n)(?P<text>.*?)(?P<end>^```$)",
                   re.S | re.M)
IMAGE = re.compile(COMMENT + r"!\[[^\]]*\]\((?P<file>[^)]+)\)$", re.M)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.S | re.M)


def output_of(match, tools, path):
    """Returns the output of the command of a block or an image."""
    kind, command, old = match["kind"], match["command"], match.string
    where = "%s:%d" % (path, old.count("\n", 0, match.start()) + 1)
    shell = SHELL.findall(old, 0, match.start())
    if shell and re.search(r"\babove\b", command):
        command = "above() {\n%s}\n%s" % (shell[-1], command)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=documents.environment(tools),
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
    """Returns the old and the current content of the document and of its pictures, by path."""
    old = read(path)

    def replace(match):
        return match["comment"] + output_of(match, tools, path) + match["end"]

    images = list(IMAGE.finditer(old))
    commands = re.findall(r"^<!-- (?:run|fails): ", old, re.M)
    if len(BLOCK.findall(old)) + len(images) != len(commands):
        sys.exit("%s: a command has no fenced block and no image right after it" % path)
    found = {path: (old, BLOCK.sub(replace, old))}
    for match in images:
        image = os.path.join(os.path.dirname(path), match["file"])
        found[image] = (read(image), output_of(match, tools, path))
    return found


def read(path):
    """Returns the content of a file, an empty text if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=os.path.join(ROOT, "build", "bin"),
                        help="folder of the built tools")
    parser.add_argument("--llvm-tools", default="/usr/lib/llvm-22/bin",
                        help="folder of llvm-objdump")
    parser.add_argument("--check", action="store_true",
                        help="change nothing; fail if a block is out of date")
    parser.add_argument("files", nargs="*", help="the documents; all by default")
    options = parser.parse_args()

    tools = [os.path.abspath(options.tools), options.llvm_tools]
    stale = 0
    rendered = {}
    for path in options.files or map(str, documents.documents()):
        rendered.update(render(path, tools))
    for path, (old, new) in rendered.items():
        if old == new:
            continue
        stale += 1
        if options.check:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), path,
                path + " (up to date)"))
        else:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
            print("updated " + path)
    if options.check and stale:
        print("run scripts/update-docs.py on the files above")
    return int(options.check and stale != 0)


if __name__ == "__main__":
    sys.exit(main())
