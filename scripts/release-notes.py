#!/usr/bin/env python3
"""Prints the section of CHANGELOG.md about a version, for the notes of a release.

Fails if there is no such section, if it is empty or marked as unreleased, or if
another file of the project states another version.
"""

import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Files that state the version, with an expression that finds it.
STATED = {
    "CMakeLists.txt": r"^project\(Tile VERSION (\S+)",
    os.path.join("python", "tile", "version.py"): r'^__version__ = "(.+)"$',
    os.path.join("editors", "vscode", "package.json"): r'^  "version": "(.+)",$',
}


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def stated_versions(root):
    for path, expression in STATED.items():
        found = re.search(expression, read(root, path), re.M)
        if not found:
            sys.exit("%s states no version" % path)
        yield path, found[1]


def section(changelog, version):
    """Returns the note behind the version in its heading, and the text below."""
    found = re.search(r"^## %s(?: \(([^)\n]*)\))?\n(.*?)(?=^## |\Z)" % re.escape(version),
                      changelog, re.M | re.S)
    if not found:
        known = re.findall(r"^## (\S+)", changelog, re.M)
        sys.exit("CHANGELOG.md has no section about %s, only about %s" % (
            version, ", ".join(known) or "nothing"))
    return found[1], found[2].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?",
                        help="for example 0.1.0 or v0.1.0; left out, the version of the project")
    parser.add_argument("--unreleased", action="store_true",
                        help="accept a section that is marked as unreleased")
    parser.add_argument("--root", default=ROOT, help="the checkout")
    options = parser.parse_args()

    stated = dict(stated_versions(options.root))
    version = (options.version or stated["CMakeLists.txt"]).removeprefix("v")
    for path, other in stated.items():
        if other != version:
            sys.exit("%s states version %s, not %s" % (path, other, version))
    note, text = section(read(options.root, "CHANGELOG.md"), version)
    if note == "unreleased" and not options.unreleased:
        sys.exit("CHANGELOG.md marks %s as unreleased: write the date there" % version)
    if not text:
        sys.exit("the section about %s in CHANGELOG.md is empty" % version)
    print(text)


if __name__ == "__main__":
    main()
