#!/usr/bin/env python3
"""Builds dist/tile_compiler-VERSION-py3-none-PLATFORM.whl.

The wheel has the compiler, the executor and LLVM in one library that needs only
the C library. PLATFORM names the oldest glibc that has every function that the
library uses: manylinux_2_34_x86_64.
"""

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Debian's license of LLVM, MLIR and LLD, which are part of the library, and of
#: the other archives in it.
LICENSES = {
    "LICENSE-LLVM": "/usr/share/doc/llvm-22-dev/copyright",
    "LICENSE-Boost": "/usr/share/doc/libboost-context-dev/copyright",
    "LICENSE-zlib": "/usr/share/doc/zlib1g-dev/copyright",
    "LICENSE-zstd": "/usr/share/doc/libzstd-dev/copyright",
}


def glibc_version(library: Path) -> str:
    """Returns the newest version of glibc in the library's table of versions."""
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=\0)", library.read_bytes())
    return "%d_%d" % max((int(major), int(minor)) for major, minor in versions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    parser.add_argument("--dist", default="dist", help="where the wheel is written")
    options = parser.parse_args()
    build, dist = Path(options.build).resolve(), Path(options.dist).resolve()

    subprocess.run(["ninja", "-C", str(build), "tile-python"], check=True)
    library = build / "python" / "libtile.so"
    tag = "manylinux_%s_%s" % (glibc_version(library), platform.machine())

    # Built from a copy, so that the source tree has no library and no build folder.
    tree = build / "wheel"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "python", tree, ignore=shutil.ignore_patterns(
        "__pycache__", "CMakeLists.txt", "*.cpp"))
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    folder = tree / "tile" / "_lib"
    folder.mkdir()
    shutil.copy(library, folder)
    (folder / "identity").write_text(
        hashlib.sha256(library.read_bytes()).hexdigest() + "\n")
    for name, path in LICENSES.items():
        if os.path.exists(path):
            shutil.copy(path, folder / name)

    dist.mkdir(exist_ok=True)
    for old in dist.glob("tile_compiler-*.whl"):
        old.unlink()
    # Debian's Python, for which setup.sh installs setuptools and wheel.
    subprocess.run(
        ["/usr/bin/python3", "-m", "pip", "-q", "wheel", "--no-build-isolation",
         "--no-deps", "--no-index", "--wheel-dir", str(dist), str(tree)],
        check=True, env=dict(os.environ, TILE_WHEEL_PLATFORM=tag))
    for wheel in dist.glob("tile_compiler-*.whl"):
        print("%s: %.1f MB" % (wheel, wheel.stat().st_size / 1e6))
    return 0


if __name__ == "__main__":
    sys.exit(main())
