#!/usr/bin/env python3
"""Tests the CMake package with a consumer project.

The project is built and run against the install tree and against the build tree.
With add_subdirectory it is only configured, because the libraries have been built
already.
"""

import argparse
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def run(*command, **streams):
    done = subprocess.run(command, **dict(
        dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True), **streams))
    if done.returncode != 0:
        print(done.stdout or "", end="")
        sys.exit("failed: " + " ".join(command))
    return done.stdout


def cached(build, variable):
    """Returns a cached variable of the build tree; the consumer uses the same."""
    with open(os.path.join(build, "CMakeCache.txt")) as file:
        for line in file:
            if line.startswith(variable + ":"):
                return line.rstrip("\n").split("=", 1)[1]
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    build = os.path.abspath(parser.parse_args().build)
    work = os.path.join(build, "package")
    shutil.rmtree(work, ignore_errors=True)

    prefix = os.path.join(work, "install")
    run("cmake", "--install", build, "--prefix", prefix)
    # Installed files must not name the source tree or the build tree.
    for folder, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".cmake", ".h", ".inc", ".td")):
                with open(path) as file:
                    text = file.read()
                if build in text or ROOT in text:
                    sys.exit("%s names the build or source tree" % path)

    same = ["-G", "Ninja"]
    for variable in ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "MLIR_DIR",
                     "CMAKE_BUILD_TYPE"):
        value = cached(build, variable)
        if value:
            same.append("-D%s=%s" % (variable, value))

    def configure(name, *flags):
        tree = os.path.join(work, name)
        run("cmake", "-S", HERE, "-B", tree, *same, *flags)
        return tree

    for name, tile_dir in (("installed", prefix), ("build-tree", build)):
        tree = configure(name, "-DCMAKE_PREFIX_PATH=" + tile_dir)
        run("ninja", "-C", tree)
        ptx = run(os.path.join(tree, "consumer"),
                  os.path.join(ROOT, "examples", "forward.mlir"))
        if ".visible .entry attention(" not in ptx or '"version":1' not in ptx:
            sys.exit("%s: the consumer did not print kernel and manifest" % name)
        print("%s: the consumer compiled a kernel" % name)
        # The kernel for sm_90a uses TMA; the embedder encodes its tensor maps.
        manifest = os.path.join(tree, "manifest.json")
        with open(manifest, "w") as file:
            run(os.path.join(tree, "consumer"),
                os.path.join(ROOT, "examples", "forward.mlir"), "sm_90a", stderr=file)
        refused, blocks, *maps = run(
            os.path.join(tree, "embedder"), manifest).splitlines()
        if (refused != "refused: argument 3 'arg3': extent 1 is 255, must be 256:"
                       " the length of q" or blocks != "blocks: 8"):
            sys.exit("%s: the embedder printed '%s', '%s'" % (name, refused, blocks))
        q = ("type 6, 4 dimensions, extents 128 256 2 2, strides 512 256 131072,"
             " box 64 ")
        if len(maps) < 3 or not all(line.startswith(q) and ", swizzle 3, 0 3 0" in line
                                    for line in maps):
            sys.exit("%s: the embedder encoded %s" % (name, maps))
        print("%s: the embedder encoded %d tensor maps" % (name, len(maps)))
    configure("subdirectory", "-DTILE_SOURCE_DIR=" + ROOT)
    print("subdirectory: configured")


if __name__ == "__main__":
    main()
