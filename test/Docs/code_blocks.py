#!/usr/bin/env python3
"""Runs the code blocks of the documentation site.

Reads the pages that scripts/site.py has written to <build>/docs/source. CONTRIBUTING.md,
section Documents, says how blocks of each language are checked. The last line counts the
blocks.
"""

import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import documents  # noqa: E402

#: Seconds that one block may take.
LIMIT = 300

#: Runs one block of a page after another in one process; a block that leaves the process
#: ends the session.
SESSION = r"""
import json, os, re, sys, traceback, warnings

warnings.simplefilter("ignore")
# The output of blocks and their processes is discarded. The answers for the test go
# to the original standard output.
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
names = {"__name__": "__main__"}


def version(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def missing(needs):
    for need in filter(None, needs.split(", ")):
        name, _, least = need.partition(" ")
        try:
            if name == "cuda":
                import torch
                if not torch.cuda.is_available():
                    return need
            elif version(__import__(name).__version__) < version(least or "0"):
                return need
        except ImportError:
            return need
    return ""


for line in sys.stdin:
    block = json.loads(line)
    result = {"skipped": missing(block["needs"]), "error": ""}
    try:
        # A block that is skipped must still be Python.
        code = [compile("\n" * block["line"] + text, block["page"], "exec")
                for text in (block["setup"], block["code"])]
        for part in code if not result["skipped"] else ():
            exec(part, names)
    except BaseException:
        result["error"] = traceback.format_exc()
    print(json.dumps(result), file=answers, flush=True)
"""


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


class Page:
    """A page and the state that its blocks share: a folder and a Python session."""

    def __init__(self, name, tester):
        self.name, self.tester = name, tester
        self.folder = tester.scratch / name.replace("/", "-")
        self.session = None

    def work(self):
        """Returns the folder where blocks run: it has links to all that the sources have."""
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            for path in ROOT.iterdir():
                (self.folder / path.name).symlink_to(path)
            link = self.folder / "build"
            link.unlink(missing_ok=True)
            link.symlink_to(self.tester.build)
        return self.folder

    def shell(self, block):
        if "needs" in block.comments:
            # Python knows whether it is there.
            self.python(documents.Block("python", "", block.line, {"needs": block.comments["needs"]}))
        text = block.comments.get("setup", "") + "\n" + block.text
        # A session of its own, so that all its processes end with it.
        with subprocess.Popen(["bash", "-eo", "pipefail", "-c", text], cwd=self.work(),
                              env=self.tester.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as process:
            timer = threading.Timer(LIMIT, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
            output = process.communicate()[0]
            timer.cancel()
        if process.returncode != 0:
            raise Failure("exit status %d\n%s" % (process.returncode, output))

    def python(self, block):
        if not self.session:
            self.session = subprocess.Popen(
                [self.tester.python, "-c", SESSION], cwd=self.work(), text=True,
                env=self.tester.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        print(json.dumps({"page": self.name, "line": block.line - 1, "code": block.text,
                          "setup": block.comments.get("setup", ""),
                          "needs": block.comments.get("needs", "")}),
              file=self.session.stdin, flush=True)
        timer = threading.Timer(LIMIT, self.session.kill)
        timer.start()
        answer = self.session.stdout.readline()
        timer.cancel()
        if not answer:
            self.session = None
            raise Failure("the block ended the process, or took longer than %d seconds" % LIMIT)
        answer = json.loads(answer)
        if answer["error"]:
            raise Failure(answer["error"])
        if answer["skipped"]:
            raise Skipped("needs " + answer["skipped"])

    def mlir(self, block):
        """Parses and verifies a program, operations of a kernel, attributes or types.

        The text after a comment `// becomes` is a program of its own.
        """
        text = block.comments.get("setup", "") + "\n" + block.text
        aliases = re.findall(r"^[#!]\w+ = .*", text, re.M)
        body = re.sub(r"^[#!]\w+ = .*\n", "", text, flags=re.M)
        known = {alias.split()[0] for alias in aliases}
        used = set(re.findall(r"[#!][a-z]\w*(?![\w.])", text))
        aliases += [line for name, line in self.tester.aliases.items()
                    if name in used - known]
        head = "\n".join(aliases) + "\n"
        for part in re.split(r"^// becomes.*$", body, flags=re.M):
            bare = re.sub(r"//.*", "", part).strip()
            if re.match(r"[#!]", bare):
                self.tester.parse(head + attributes(bare))
            elif re.match(r"gpu\.func\b", bare):
                self.tester.parse(head + "gpu.module @doc {\n%s}\n" % part)
            elif re.match(r"(module|func\.func|tile\.kernel|gpu\.module)\b", bare):
                self.tester.parse(head + part)
            else:
                self.tester.parse_operations(head, part)

    def json(self, block):
        value = json.loads(block.text)
        if isinstance(value, dict) and "kernels" in value:
            check = self.tester.run_python("import sys, tile.manifest; "
                                           "tile.manifest.parse(sys.stdin.read())", block.text)
            if check:
                raise Failure(check)

    def excerpt(self, block):
        if "example" in block.words:
            self.tester.compile_example(block)
            return
        # The site leaves out the private members at the end of a class.
        if re.sub("};$", "", squeeze(block.text)) not in self.tester.excerpts():
            raise Failure("no header and no file of test/Package has these lines")

    def check(self, block):
        """Checks one block. Raises Failure or Skipped."""
        kinds = block.comments.keys()
        if block.language.startswith("{") or "run" in kinds or "fails" in kinds:
            return  # A directive of Sphinx, or a block that update-docs.py generates.
        if "output" in block.words:
            return
        if "run by" in kinds:
            if not (ROOT / block.comments["run by"]).exists():
                raise Failure("there is no " + block.comments["run by"])
            return
        if "not run" in kinds:
            if not block.comments["not run"]:
                raise Failure("no reason is given")
            raise Skipped(block.comments["not run"])
        if "file" in kinds:
            path = self.work() / block.comments["file"]
            path.write_text(block.text)
            path.chmod(0o755)
            return
        checks = {"sh": self.shell, "python": self.python, "mlir": self.mlir, "json": self.json,
                  "c": self.excerpt, "cpp": self.excerpt, "cmake": self.excerpt}
        if block.language not in checks:
            raise Failure("a block of '%s' is neither run nor marked as output" % block.language)
        checks[block.language](block)

    def close(self):
        if self.session:
            self.session.stdin.close()
            self.session.wait()


def squeeze(text):
    """Returns the text without white space and without the marks of line comments."""
    return re.sub(r"\s+|^\s*//+", "", text, flags=re.M)


def attributes(text):
    """Returns a module with the attributes and types of `text`, one after the other."""
    found, depth = [""], 0
    for line in text.splitlines():
        line = re.sub(r"//.*", "", line).strip()
        found[-1] += line + " "
        depth += len(re.findall(r"[<(\[]", line)) - len(re.findall(r"(?<!-)>|[)\]]", line))
        if depth == 0:
            found.append("")
    return "module attributes {%s} {}\n" % ", ".join(
        "doc.a%d = %s" % item for item in enumerate(filter(str.strip, found)))


#: Programs that build, install, publish or delete. A block that calls one fails, so that a block
#: without a mark cannot do harm.
FORBIDDEN = ("apt", "apt-get", "cmake", "gh", "git", "make", "ninja", "pip", "pip3", "rm", "sudo")


class Tester:
    def __init__(self, build, python, scratch):
        self.build, self.python, self.scratch = build, python, scratch
        guard = scratch / "forbidden"
        guard.mkdir()
        for name in FORBIDDEN:
            (guard / name).write_text("#!/bin/sh\necho \"mark the block 'not run'; the test does not run"
                                      " $0\"\nexit 1\n")
            (guard / name).chmod(0o755)
        # The python3 of shell blocks is the one that runs Python blocks.
        (guard / "python3").write_text('#!/bin/sh\nexec "%s" "$@"\n' % python)
        (guard / "python3").chmod(0o755)
        self.environment = documents.environment([guard, build / "bin", "/usr/lib/llvm-22/bin"])
        self.environment.update(
            PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1",
            TILE_LIBRARY=str(build / "lib" / "libTileExecutorC.so"),
            TILE_CACHE_DIR=str(scratch / "cache"))
        lines = (Path(__file__).parent / "Inputs" / "aliases.mlir").read_text().splitlines()
        self.aliases = {line.split()[0]: line for line in lines if re.match(r"[#!]\w+ =", line)}
        self.squeezed = ""

    def excerpts(self):
        if not self.squeezed:
            paths = [*(ROOT / "include").rglob("*.h"), *(ROOT / "test" / "Package").rglob("*.*")]
            self.squeezed = "\n".join(squeeze(path.read_text()) for path in paths if path.is_file())
        return self.squeezed

    def compile_example(self, block):
        """Compiles the example of a header's comment as the body of a function."""
        cache = (self.build / "CMakeCache.txt").read_text()

        def cached(name):
            return re.search(r"^%s:\w+=(.*)" % name, cache, re.M)[1]

        name = "example." + block.language
        body = re.sub(r"^( *)\.\.\.", r"\1;", block.text, flags=re.M)
        source = '#include "%s"\nvoid example(void);\nvoid example(void) {\n%s}\n' % (
            Path(__file__).parent / "Inputs" / name, body)
        compiler = cached("CMAKE_C_COMPILER") if block.language == "c" else cached("CMAKE_CXX_COMPILER")
        done = subprocess.run(
            [compiler, "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused", *(
                ["-x", "c"] if block.language == "c" else ["-x", "c++", "-std=c++17"]),
             "-I%s" % (ROOT / "include"), "-I%s" % (self.build / "include"), "-isystem",
             str(Path(cached("LLVM_DIR")).parents[2] / "include"), "-"],
            input=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failure(done.stdout)

    def run_python(self, code, text):
        """Returns what Python says about an error, or an empty text."""
        done = subprocess.run([self.python, "-c", code], input=text, env=self.environment, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return done.stderr if done.returncode != 0 else ""

    def errors(self, text):
        """Returns the errors of tile-opt, or an empty text."""
        done = subprocess.run([self.build / "bin" / "tile-opt", "--allow-unregistered-dialect",
                               "-o", "/dev/null"], input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout if done.returncode != 0 else ""

    def parse(self, text):
        errors = self.errors(text)
        if errors:
            raise Failure(errors)

    def parse_operations(self, head, body):
        """Parses operations in a kernel, a function, a role or a module.

        Values that the operations use but do not define are arguments of the kernel, or
        results where a kernel cannot have such an argument. The types are those that the
        parser expects.
        """
        grid = "" if "tile.grid" in body else (
            "%doc = arith.constant 1 : index\ntile.grid %doc, %doc, %doc\n")
        warps = re.search(r"warps = \[(\d+), \d", body)
        kernel = "tile.kernel @doc() attributes {num_warps = %s : i32} {\n%s" % (
            warps[1] if warps else 4, grid)
        failures = []
        for begin, end in ((kernel, "}\n"), ("func.func @doc() {\n", "return\n}\n"),
                           (kernel + "tile.warp_roles warps = [4, 1] {\n}, {\n", "}\n}\n"),
                           ("", "")):
            types, errors = {}, ""
            for _ in range(40):
                arguments = ", ".join("%s: %s" % item for item in types.items()
                                      if re.match(r"index$|[fi]\d+$|!tile.*global>$", item[1]))
                results = "".join('%s = "doc.value"() : () -> %s\n' % item
                                  for item in types.items() if item[0] + ":" not in arguments)
                errors = self.errors(head + begin.replace("()", "(%s)" % arguments) + results + body + end)
                unknown = re.findall(r"use of undeclared SSA value name\n(.*)\n( *)\^", errors)
                wrong = re.search(r"use of value '(%[\w]+)' expects different type than prior uses: "
                                  r"'(.*)' vs '.*'", errors)
                if wrong and wrong[1] in types and types[wrong[1]] == "none":
                    types[wrong[1]] = wrong[2]
                elif unknown:
                    for line, column in unknown:
                        types[re.match(r"%\w+", line[len(column):])[0]] = "none"
                else:
                    break
            if not errors:
                return
            failures.append(errors)
        raise Failure("\n".join(failures))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build directory")
    parser.add_argument("--pages", help="the folder of the pages (<build>/docs/source)")
    parser.add_argument("--page", default="", help="check only pages whose path has this text")
    options = parser.parse_args()
    build = Path(options.build).resolve()
    source = Path(options.pages) if options.pages else build / "docs" / "source"
    with tempfile.TemporaryDirectory() as scratch:
        tester = Tester(build, sys.executable, Path(scratch))

        def check_page(path):
            """Returns the counts of passed, failed and skipped blocks, and messages."""
            name = str(path.relative_to(source))
            page = Page(name, tester)
            passed = failed = skipped = 0
            messages = []
            for block in documents.blocks(path.read_text(encoding="utf-8")):
                try:
                    page.check(block)
                    passed += 1
                except Skipped as reason:
                    skipped += 1
                    messages.append("%s:%d: not run: %s" % (name, block.line, reason))
                except (Failure, ValueError) as error:
                    failed += 1
                    messages.append("%s:%d: %s\n%s" % (name, block.line, error, block.text))
            page.close()
            return (passed, failed, skipped), messages

        paths = [path for path in sorted(source.rglob("*.md"))
                 if options.page in str(path.relative_to(source))]
        counts = [(0, 0, 0)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for count, messages in pool.map(check_page, paths):
                counts.append(count)
                for message in messages:
                    print(message, flush=True)
    passed, failed, skipped = map(sum, zip(*counts))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return int(failed != 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
