#!/usr/bin/env python3
"""Builds the project, runs the test suites and counts their results.

The last line is "N passed, N failed". A suite that cannot run and a build that
fails count as one failure each.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Result:
    """The counts of one suite."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped


def run(command, **options):
    """Runs `command` with its output on the terminal; returns its exit status."""
    sys.stdout.flush()
    try:
        return subprocess.run(command, cwd=ROOT, **options).returncode
    except OSError as error:
        print("cannot run %s: %s" % (command[0], error))
        return 127


def ninja(build, *targets):
    return run(["ninja", "-C", build, *targets], stdin=subprocess.DEVNULL)


def read_report(path):
    """Returns the JSON report of a suite, or None if the suite wrote none."""
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def fresh(path):
    """Removes the file of an earlier run and returns `path`."""
    if os.path.exists(path):
        os.remove(path)
    return path


def library_of(build):
    """Returns the library that the Python package loads."""
    return os.path.join(build, "lib", "libTileExecutorC.so")


def together(function, items):
    """Calls `function` with each of the items, one call at a time for each CPU of
    this machine, and adds the results."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return add(list(pool.map(function, items)))


def check_unit(build):
    shards = os.cpu_count()

    def run_shard(index):
        report = fresh(os.path.join(build, "unit.%d.json" % index))
        environment = dict(os.environ, GTEST_TOTAL_SHARDS=str(shards),
                           GTEST_SHARD_INDEX=str(index))
        status = run([os.path.join(build, "bin", "tile-unit-tests"),
                      "--gtest_brief=1", "--gtest_output=json:" + report],
                     env=environment)
        counts = read_report(report)
        if counts is None:
            return Result(failed=1)
        failed = counts["failures"] + counts["errors"]
        if status != 0 and failed == 0:
            failed = 1
        skipped = sum(test["result"] == "SKIPPED" for suite in counts["testsuites"]
                      for test in suite["testsuite"])
        ran = counts["tests"] - counts["disabled"] - skipped
        return Result(ran - failed, failed, counts["disabled"] + skipped)

    return together(run_shard, range(shards))


def check_lit(build):
    report = fresh(os.path.join(build, "lit.json"))
    environment = dict(os.environ)
    environment["LIT_OPTS"] = " ".join(
        ["--output=" + report, environment.get("LIT_OPTS", "")])
    status = run(["ninja", "-C", build, "check-tile"], env=environment)
    tests = read_report(report)
    if tests is None:
        return Result(failed=1)
    codes = [test["code"] for test in tests["tests"]]
    passed = sum(code in ("PASS", "FLAKYPASS", "XFAIL") for code in codes)
    skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED")
                  for code in codes)
    failed = len(codes) - passed - skipped
    if status != 0 and failed == 0:
        failed = 1
    return Result(passed, failed, skipped)


def check_python(build):
    tests = os.path.join(ROOT, "test", "python")
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.path.join(ROOT, "python")
    environment["TILE_LIBRARY"] = library_of(build)
    python = find_python("numpy", "torch")

    def run_module(name):
        done = subprocess.run(
            [python, "-m", "unittest", "discover", "-s", tests, "-p", name], cwd=ROOT,
            env=environment, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
        print("%s\n%s" % (name, done.stdout), end="", flush=True)
        ran = re.search(r"^Ran (\d+) tests?", done.stdout, re.M)
        if not ran:
            return Result(failed=1)
        counts = {key: int(value) for key, value in
                  re.findall(r"(\w+)=(\d+)", done.stdout[ran.end():])}
        failed = (counts.get("failures", 0) + counts.get("errors", 0) +
                  counts.get("successes", 0))  # "unexpected successes"
        skipped = counts.get("skipped", 0)
        if done.returncode != 0 and failed == 0:
            failed = 1
        return Result(max(int(ran.group(1)) - failed - skipped, 0), failed, skipped)

    return together(run_module, sorted(name for name in os.listdir(tests)
                                       if name.startswith("test_")))


def counted(command, live=False, **options):
    """Runs a command, and shows what it prints at once or at its end; returns the counts
    on its last line."""
    lines, counts = [], None
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          **options) as process:
        for line in process.stdout:
            counts = re.match(r"(\d+) passed, (\d+) failed, (\d+) skipped$", line)
            if live:
                print(line, end="", flush=True)
            else:
                lines.append(line)
    print("".join(lines), end="", flush=True)
    if not counts:
        return Result(failed=1)
    passed, failed, skipped = map(int, counts.groups())
    if process.returncode != 0 and failed == 0:
        failed = 1
    return Result(passed, failed, skipped)


def check_integration(build, device):
    """Runs the scripts of test/Integration."""
    environment = dict(os.environ)
    environment["TILE_LIBRARY"] = library_of(build)
    return counted([find_python("numpy", "torch"),
                    os.path.join("test", "Integration", "suites.py"), "--device=" + device],
                   live=True, env=environment)


def check_gpu(build):
    """Checks numerics on the local GPU; without a GPU all cases are skipped."""
    return check_integration(build, "cuda")


def check_executor(build):
    """Checks the kernels of every chip on the CPU, with NumPy and PyTorch."""
    return check_integration(build, "cpu")


def add(results):
    return Result(sum(r.passed for r in results), sum(r.failed for r in results),
                  sum(r.skipped for r in results))


def find_python(*packages):
    """Returns a Python that has the packages, or else the first of them: this
    one, or else Debian's."""
    for wanted in (packages, packages[:1]):
        for python in (sys.executable, "/usr/bin/python3"):
            try:
                if subprocess.run([python, "-c", "import " + ", ".join(wanted)],
                                  stderr=subprocess.DEVNULL).returncode == 0:
                    return python
            except OSError:
                pass
    return sys.executable


def check_package(build):
    failed = run([sys.executable, os.path.join("test", "Package", "check.py"),
                  "--build=" + build]) != 0
    return Result(int(not failed), int(failed))


def check_wheel(build):
    failed = run([sys.executable, os.path.join("test", "Package", "wheel.py"),
                  "--build=" + build]) != 0
    return Result(int(not failed), int(failed))


def check_format(build):
    failed = run([sys.executable, os.path.join("scripts", "format.py"),
                  "--build=" + build]) != 0
    return Result(int(not failed), int(failed))


def check_docs(build):
    """Builds the site and runs its code blocks; the target tile-docs has been built."""
    failed = run([sys.executable, os.path.join("scripts", "site.py"),
                  "--build=" + build]) != 0
    site = Result(int(not failed), int(failed))
    script = os.path.join("test", "Docs", "code_blocks.py")
    return add([site, counted([find_python("numpy", "torch"), script, "--build=" + build])])


def check_fuzz(build):
    report = fresh(os.path.join(build, "fuzz.json"))
    run([sys.executable, os.path.join("test", "fuzz", "mutate.py"),
         "--tool=" + os.path.join(build, "bin", "tile-opt"),
         "--translate=" + os.path.join(build, "bin", "tile-translate"),
         "--failures=" + os.path.join(build, "fuzz-failures"),
         "--report=" + report])
    counts = read_report(report)
    if counts is None:
        return Result(failed=1)
    return Result(counts["passed"], counts["failed"])


def check_numerics(build):
    """Random tile programs on the CPU; needs NumPy."""
    report = fresh(os.path.join(build, "numerics.json"))
    environment = dict(os.environ)
    environment["TILE_LIBRARY"] = library_of(build)
    run([find_python("numpy"), os.path.join("test", "fuzz", "numerics.py"),
         "--failures=" + os.path.join(build, "numerics-failures"),
         "--report=" + report], env=environment)
    counts = read_report(report)
    if counts is None:
        return Result(failed=1)
    python = find_python("numpy")
    operations = together(
        lambda name: counted([python, os.path.join("test", "fuzz", name)], env=environment),
        ("attentions.py", "matmuls.py", "gradients.py"))
    return add([Result(counts["passed"], counts["failed"], counts["skipped"]), operations])


SUITES = [
    ("format", "layout of C and C++, faults in Python (programs from PyPI)",
     check_format),
    ("unit", "layout algebra and tables (GoogleTest)", check_unit),
    ("lit", "dialect, passes, tools, documents", check_lit),
    ("python", "Python package", check_python),
    ("executor", "attention for every chip on the CPU, against float64",
     check_executor),
    ("gpu", "attention on a GPU, against float64", check_gpu),
    ("package", "install, find_package and add_subdirectory", check_package),
    ("wheel", "the wheel, installed where LLVM is hidden", check_wheel),
    ("docs", "the site builds without warnings, its code blocks run (Sphinx from PyPI)",
     check_docs),
    ("fuzz", "mutated inputs: no crash, no silent failure", check_fuzz),
    ("numerics", "random tile programs on the CPU, against float64",
     check_numerics),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    parser.add_argument("--suite", action="append",
                        choices=[name for name, _, _ in SUITES],
                        help="run only this suite (may be repeated)")
    options = parser.parse_args()
    build = os.path.abspath(options.build)

    # The suites run one process for each core.
    os.environ.setdefault("TILE_CPU_THREADS", "1")

    targets = ["all", "tile-docs"]
    if os.path.isdir(os.path.join(ROOT, "test", "unit")):
        targets.append("tile-unit-tests")
    if ninja(build, *targets) != 0:
        print("the build failed\n0 passed, 1 failed")
        return 1

    rows = []
    for name, what, suite in SUITES:
        if options.suite and name not in options.suite:
            continue
        print("\n== %s: %s" % (name, what))
        start = time.monotonic()
        rows.append((name, suite(build), time.monotonic() - start))

    print("\n%-8s %7s %7s %8s %8s" % ("suite", "passed", "failed", "skipped",
                                       "seconds"))
    for name, result, seconds in rows:
        print("%-8s %7d %7d %8d %8.1f" % (name, result.passed, result.failed,
                                          result.skipped, seconds))
    passed = sum(result.passed for _, result, _ in rows)
    failed = sum(result.failed for _, result, _ in rows)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
