"""Checks that no file includes a header of a higher floor. Usage:
floors.py <root of the repository>

A folder of lib/ and the folder of the same name in include/tile/ are one library.
FLOORS lists the folders from the lowest floor to the highest. A folder includes
headers of itself and of lower floors only. Floors without IR include no header of
MLIR, so that a launcher needs none. Every folder must be on a floor.
"""

import os
import re
import sys

FLOORS = [
    ["Support"],
    ["Layout"],
    ["Chips"],
    ["Launch"],
    ["Dialect/Tile/IR"],
    ["Dialect/TileGPU/IR"],
    ["Analysis"],
    ["Dialect/Tile/Transforms"],
    ["Dialect/TileGPU/Transforms", "Kernels", "Import", "Reducer"],
    ["Conversion/GPUToLLVM"],
    ["Conversion/TileToGPU", "Conversion/TileToNVGPU", "Conversion/TileToAMDGPU"],
    ["Pipelines"],
    ["InitAll"],
    ["Driver"],
    ["Executor"],
    ["Tools"],
    ["CAPI", "Plugin"],
]
NO_IR = ["Layout", "Chips", "Launch"]

FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}


def library(path):
    """Returns the library that a path of lib/ or include/tile/ belongs to."""
    stem = re.sub(r"^(lib|include/tile)/", "", path)
    for name in sorted(FLOOR, key=len, reverse=True):
        if stem.startswith((name + "/", name + ".")):
            return name
    return None


def included(root, path, text):
    """Yields the headers of the project that a file includes, as paths from the
    root, and other headers as they are written."""
    for name in re.findall(r'^(?:#include|include) "([^"]+)"', text, re.M):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if name.startswith("tile/"):
            yield "include/" + name
        elif os.path.exists(os.path.join(root, beside)):
            yield beside
        elif os.path.exists(os.path.join(root, "lib", name)):
            yield "lib/" + name
        else:
            yield name


def main():
    root = sys.argv[1]
    faults, files, edges = [], 0, set()
    for base in ("lib", "include/tile"):
        for folder, _, names in os.walk(os.path.join(root, base)):
            for name in names:
                if not name.endswith((".h", ".cpp", ".c", ".td")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), root)
                user = library(path)
                if user is None:
                    faults.append("%s is on no floor" % path)
                    continue
                files += 1
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    text = file.read()
                for header in included(root, path, text):
                    if user in NO_IR and header.startswith("mlir/"):
                        faults.append("%s (no IR) includes %s" % (path, header))
                    if not header.startswith(("lib/", "include/tile/")):
                        continue
                    used = library(header)
                    if used is None:
                        faults.append("%s includes %s, which is on no floor" % (path, header))
                    elif used != user and FLOOR[used] >= FLOOR[user]:
                        faults.append("%s (floor %s) includes %s (floor %s)"
                                      % (path, user, header, used))
                    elif used != user:
                        edges.add((user, used))
    for fault in faults:
        print(fault)
    print("%d files, %d pairs of libraries, %d faults" % (files, len(edges), len(faults)))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
