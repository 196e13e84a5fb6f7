#!/usr/bin/env python3
"""Installs the wheel where LLVM is hidden, and runs README's example.

Makes a virtual environment, installs the wheel without an index, and starts its
Python in a mount namespace in which the folders of LLVM and the build are empty.
If this machine allows no namespaces, only the libraries that the process has
mapped are checked.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Prints what the library of the wheel can do, then every mapped library.
SCRIPT = """\
import numpy, sys, tile
from importlib import metadata
from tile import native

assert metadata.version("tile-compiler") == tile.__version__
assert native.library().tileVersion().decode().startswith("Tile " + tile.__version__)
assert str(native.find()).startswith(sys.prefix), native.find()
(plugin,) = (
    entry for entry in metadata.distribution("tile-compiler").entry_points
    if entry.group == "vllm.general_plugins"
)
assert plugin.name == "tile" and callable(plugin.load())
program = open(sys.argv[1]).read()
assert b".entry attention" in tile.translate(program, "sm_90a").data
assert tile.translate(program, "gfx942", "hsaco").data[:4] == b"\\x7fELF"
exec(open(sys.argv[2]).read())
print(open("/proc/self/maps").read())
"""


def readme_example() -> str:
    """Returns the block of README.md that runs on the CPU."""
    text = (ROOT / "README.md").read_text()
    return re.search(r"<!-- wheel -->\n```python\n(.*?)```", text, re.S).group(1)


def hidden(build: Path, work: Path, command):
    """Returns the command in a namespace without LLVM and without the build."""
    folders = [str(build / "lib"), str(build / "bin")]
    for library in ("/usr/lib/llvm-22", "/usr/lib/llvm-19", "/usr/lib/llvm-14"):
        if os.path.isdir(library):
            folders.append(library)
    empty = work / "empty"
    empty.mkdir(exist_ok=True)
    mounts = "".join("mount --bind %s %s && " % (empty, f) for f in folders)
    files = [str(f) for pattern in ("libLLVM*.so*", "libMLIR*.so*", "libboost_context.so*")
             for f in Path("/usr/lib/x86_64-linux-gnu").glob(pattern)]
    (work / "nothing").touch()
    mounts += "".join("mount --bind %s %s && " % (work / "nothing", f) for f in files)
    unshare = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    if subprocess.run(unshare + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("no mount namespaces: LLVM is not hidden")
        return command
    return unshare + ["sh", "-c", mounts + 'exec "$@"', "sh", *command]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    build = Path(parser.parse_args().build).resolve()
    work = build / "wheel-test"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()

    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "wheel.py"),
                           "--build", str(build), "--dist", str(work)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit("no wheel was built:\n" + done.stdout)
    wheels = list(work.glob("*.whl"))
    if len(wheels) != 1 or wheels[0].stat().st_size > 60e6:
        sys.exit("expected one wheel of less than 60 MB: %s" % wheels)

    # NumPy is Debian's, because the test needs no network.
    environment = work / "environment"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages",
                    str(environment)], check=True)
    subprocess.run([str(environment / "bin" / "pip"), "-q", "install", "--no-index",
                    str(wheels[0])], check=True)
    script, example = work / "script.py", work / "example.py"
    script.write_text(SCRIPT)
    example.write_text(readme_example())
    clean = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(work)}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            hidden(build, work,
                   [str(environment / "bin" / "python"), str(script),
                    str(ROOT / "examples" / "forward.mlir"), str(example)]),
            cwd=folder, env=clean, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("the wheel failed:\n" + done.stdout)
    foreign = re.findall(r"\S*lib(?:LLVM|MLIR|Tile|lld|boost|z3)\S*", done.stdout)
    if foreign:
        sys.exit("the wheel uses %s" % sorted(set(foreign)))
    print("%s: compiled for two chips and ran README's example" % wheels[0].name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
