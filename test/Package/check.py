#!/usr/bin/env python3
"""Tests the CMake packages with foreign projects.

Builds the projects beside this file against the install tree, with the compiler
of the build and with GCC if there is one, and those in C++ and in C against the
build tree, too. With add_subdirectory a project is only configured, because the
libraries have been built already.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FORWARD = os.path.join(ROOT, "examples", "forward.mlir")


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


def check_paths(build, prefix):
    """Installed files must not name the source tree or the build tree."""
    for folder, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".cmake", ".h", ".inc", ".td")):
                with open(path) as file:
                    text = file.read()
                if build in text or ROOT in text:
                    sys.exit("%s names the build or source tree" % path)


def check_tools(build, prefix):
    """Every tool starts from its new place, and mlir-opt loads the plugin."""
    folder = os.path.join(prefix, "bin")
    tools = sorted(os.listdir(folder))
    built = sorted(name for name in os.listdir(os.path.join(build, "bin"))
                   if name.startswith("tile-") and name != "tile-unit-tests")
    if tools != built:
        sys.exit("the installed tools are %s, the built ones %s" % (tools, built))
    for tool in tools:
        run(os.path.join(folder, tool), "--version")
    mlir = cached(build, "MLIR_DIR") or "/usr/lib/llvm-22/lib/cmake/mlir"
    mlir_opt = os.path.join(mlir, "../../../bin/mlir-opt")
    plugin = os.path.join(prefix, "lib", "libTilePlugin.so")
    if not os.path.exists(plugin):
        sys.exit("%s is not installed" % plugin)
    # A program without a sanitizer cannot load a library with one.
    loads = os.path.exists(mlir_opt) and not cached(build, "TILE_SANITIZE")
    if loads:
        text = run(mlir_opt, "--load-dialect-plugin=" + plugin,
                   "--load-pass-plugin=" + plugin, FORWARD,
                   "--pass-pipeline=builtin.module(tile-attach-target{chip=sm_80},"
                   "tile-expand-attention)")
        if "tile.kernel @attention" not in text:
            sys.exit("mlir-opt with the plugin printed:\n%s" % text)
    print("installed: %d tools%s" % (len(tools), ", and mlir-opt loads the plugin" * loads))


class Projects:
    """Foreign projects, built with one compiler against one tree."""

    def __init__(self, name, work, prefix, flags):
        self.name, self.work, self.flags = name, os.path.join(work, name), flags
        self.prefix = prefix

    def build(self, project, prefix=None):
        tree = os.path.join(self.work, project)
        run("cmake", "-S", os.path.join(HERE, project), "-B", tree, "-G", "Ninja",
            "-DCMAKE_PREFIX_PATH=" + (prefix or self.prefix), *self.flags)
        run("ninja", "-C", tree)
        return tree

    def say(self, text):
        print("%s: %s" % (self.name, text))

    def check_cxx(self):
        """Returns the manifest of the kernel for sm_90a, which uses TMA."""
        tree = self.build("cxx")
        ptx = run(os.path.join(tree, "consumer"), FORWARD)
        if ".visible .entry attention(" not in ptx or '"version":2' not in ptx:
            sys.exit("%s: the consumer did not print kernel and manifest" % self.name)
        self.say("the consumer in C++ compiled a kernel")
        manifest = os.path.join(tree, "manifest.json")
        with open(manifest, "w") as file:
            run(os.path.join(tree, "consumer"), FORWARD, "sm_90a", stderr=file)
        return manifest

    def check_dialect(self):
        ptx = run(os.path.join(self.build("dialect"), "toy"))
        if ".visible .entry scale(" not in ptx or "mul" not in ptx:
            sys.exit("%s: the dialect was not compiled:\n%s" % (self.name, ptx))
        self.say("a foreign dialect became a kernel")

    def check_c(self):
        tree = self.build("c")
        lines = run(os.path.join(tree, "compile"), FORWARD).splitlines()
        if lines[:2] != ["sm_90a: PTX, manifest of attention",
                         "gfx942: a code object, manifest of attention"]:
            sys.exit("%s: compile printed %s" % (self.name, lines))
        if len(lines) != 3 or not lines[2].startswith(
                "wrong.mlir:2:3: severity 3: "):
            sys.exit("%s: the error is %s" % (self.name, lines[2:]))
        if run(os.path.join(tree, "execute")) != "64 sums are right\n":
            sys.exit("%s: the kernel computed wrong sums" % self.name)
        self.say("programs in C compiled kernels and ran one")

    def check_launch(self, manifest, prefix=None):
        """The embedder encodes the tensor maps of a manifest."""
        tree = self.build("launch", prefix)
        refused, blocks, *maps = run(
            os.path.join(tree, "embedder"), manifest).splitlines()
        if (refused != "refused: argument 3 'arg3': extent 1 is 255, must be 256:"
                       " the length of q" or blocks != "blocks: 8"):
            sys.exit("%s: the embedder printed '%s', '%s'" % (self.name, refused, blocks))
        q = ("type 6, 4 dimensions, extents 128 256 2 2, strides 512 256 131072,"
             " box 64 ")
        if len(maps) < 3 or not all(line.startswith(q) and ", swizzle 3, 0 2 0" in line
                                    for line in maps):
            sys.exit("%s: the embedder encoded %s" % (self.name, maps))
        self.say("the embedder encoded %d tensor maps" % len(maps))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build directory")
    build = os.path.abspath(parser.parse_args().build)
    work = os.path.join(build, "package")
    shutil.rmtree(work, ignore_errors=True)

    prefix = os.path.join(work, "install")
    run("cmake", "--install", build, "--prefix", prefix)
    check_paths(build, prefix)
    check_tools(build, prefix)
    for path in ("share/doc/Tile/docs/Manifest.md", "share/doc/Tile/examples/forward.mlir",
                 "share/tile/schedules/sm_90a.mlir"):
        if not os.path.exists(os.path.join(prefix, path)):
            sys.exit("%s is not installed" % path)
    # The launcher alone, which brings nothing of the compiler.
    launcher = os.path.join(work, "launcher")
    run("cmake", "--install", build, "--prefix", launcher, "--component", "TileLaunch")
    names = [name for _, _, files in os.walk(launcher) for name in files]
    if any("Compile" in name or name.endswith(".a") for name in names):
        sys.exit("the launcher brings the compiler: %s" % names)

    type = "-DCMAKE_BUILD_TYPE=" + cached(build, "CMAKE_BUILD_TYPE")
    mlir = cached(build, "MLIR_DIR")
    cxx = ["-DMLIR_DIR=" + mlir] if mlir else []
    compilers = [[type, *cxx, *("-D%s=%s" % (variable, cached(build, variable))
                                for variable in ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER"))]]
    if shutil.which("gcc") and shutil.which("g++"):
        compilers.append([type, *cxx, "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++"])

    def check_installed(name, flags):
        projects = Projects(name, work, prefix, flags)
        manifest = projects.check_cxx()
        projects.check_dialect()
        projects.check_c()
        projects.check_launch(manifest, launcher)

    def check_build_tree():
        projects = Projects("build tree", work, build, compilers[0])
        manifest = projects.check_cxx()
        projects.check_c()
        projects.check_launch(manifest)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = [pool.submit(check_installed, name, flags)
                  for name, flags in zip(("installed", "installed, GCC"), compilers)]
        checks.append(pool.submit(check_build_tree))
        for check in checks:
            check.result()
    run("cmake", "-S", os.path.join(HERE, "cxx"), "-B", os.path.join(work, "subdirectory"),
        "-G", "Ninja", "-DTILE_SOURCE_DIR=" + ROOT, *compilers[0])
    print("subdirectory: configured")


if __name__ == "__main__":
    main()
