#!/usr/bin/env python3
"""Generates, or checks, the grammars in editors/ that highlight tile programs.

The operations, attributes, types and keywords come from TableGen. The TextMate
grammar covers the syntax of MLIR, too; the syntax file of Vim extends LLVM's.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIALECTS = ["Dialect/Tile/IR/TileOps.td", "Dialect/TileGPU/IR/TileGPUOps.td"]
TEXTMATE = os.path.join("editors", "vscode", "tile.tmLanguage.json")
VIM = os.path.join("editors", "vim", "after", "syntax", "mlir.vim")


def read_records(tblgen, td):
    include = os.path.join(ROOT, "include")
    # The TableGen files of MLIR lie beside the tool: <prefix>/bin, <prefix>/include.
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(tblgen)))
    return json.loads(subprocess.check_output(
        [tblgen, "--dump-json", "-I", include, "-I", os.path.join(prefix, "include"),
         os.path.join(include, "tile", td)]))


class Definitions:
    """The records of one TableGen file."""

    def __init__(self, records):
        self.records = records

    def instances(self, kind):
        return [self.records[name] for name in self.records["!instanceof"].get(kind, [])]

    def names(self, kind, dialect_field, name_field):
        """Returns pairs of a dialect of the project and a name, with their records."""
        for record in self.instances(kind):
            dialect = record[dialect_field]
            dialect = dialect and self.records[dialect["def"]]["name"]
            if dialect in ("tile", "tile_gpu") and record[name_field]:
                yield (dialect, record[name_field]), record

    def cases(self, enum):
        return {self.records[case["def"]]["str"] for case in enum["enumerants"]}


class Words:
    """The names that the dialects define, as sorted lists."""

    def __init__(self, tblgen):
        operations, attributes, types, keywords = set(), set(), set(), set()
        for td in DIALECTS:
            definitions = Definitions(read_records(tblgen, td))
            for name, op in definitions.names("Op", "opDialect", "opName"):
                operations.add(name)
                keywords |= set(re.findall(r"`([a-z_]+)`", op["assemblyFormat"] or ""))
            attributes |= {name for name, _ in
                           definitions.names("AttrDef", "dialect", "mnemonic")}
            types |= {name for name, _ in
                      definitions.names("TypeDef", "dialect", "mnemonic")}
            for enum in definitions.instances("EnumInfo"):
                if enum["cppNamespace"].startswith("::tile"):
                    keywords |= definitions.cases(enum)
        self.operations = sorted(operations)
        self.attributes = sorted(attributes)
        self.types = sorted(types)
        # `x` also separates the extents of a shape.
        self.keywords = sorted(word for word in keywords if len(word) > 1)


def alternatives(names, separator=r"\."):
    """Returns an expression for `dialect.name`, for each dialect in `names`."""
    dialects = sorted({dialect for dialect, _ in names})
    return "(?:%s)" % "|".join(
        "%s%s(?:%s)" % (dialect, separator, "|".join(n for d, n in names if d == dialect))
        for dialect in dialects)


def textmate(words):
    name_end = r"(?![\w$.])"
    patterns = [
        ("comment.line.double-slash.mlir", r"//.*$"),
        ("string.quoted.double.mlir", r'"(?:[^"\\]|\\.)*"'),
        ("support.function.operation.tile",
         r"(?<![\w$.#!%@])" + alternatives(words.operations) + name_end),
        ("support.type.layout.tile", "#" + alternatives(words.attributes) + name_end),
        ("support.type.buffer.tile", "!" + alternatives(words.types) + name_end),
        ("variable.other.mlir", r"%[\w$.-]+(?:[#:]\d+)?"),
        ("entity.name.function.mlir", r"@[\w$.-]+"),
        ("entity.name.label.mlir", r"\^[\w$.-]+"),
        ("variable.other.alias.mlir", r"[#!][A-Za-z_][\w$.]*"),
        ("entity.other.attribute-name.mlir", r"(?<![\w$.])[A-Za-z_][\w$.]*(?=\s*=(?!=))"),
        ("entity.name.function.operation.mlir", r"(?<![\w$.])[a-z_][\w$]*(?:\.[\w$]+)+"),
        ("constant.numeric.hex.mlir", r"\b0x[0-9A-Fa-f]+\b"),
        ("constant.numeric.shape.mlir", r"(?<![\w$.])(?:(?:\d+|\?)x)+"),
        ("storage.type.mlir", r"(?:(?<=x)|\b)(?:[su]?i\d+|bf16|tf32|f\d+(?:E\d+M\d+\w*)?|index"
                              r"|none|tensor|vector|memref|complex|tuple)\b"),
        ("keyword.other.tile",
         r"(?<![\w$.-])(?:%s)(?![\w$.])" % "|".join(words.keywords)),
        ("keyword.control.mlir",
         r"(?<![\w$.-])(?:affine_map|affine_set|array|attributes|dense|else|iter_args|loc"
         r"|module|private|public|step|to|unit)\b"),
        ("constant.language.mlir", r"\b(?:true|false)\b"),
        ("constant.numeric.mlir", r"(?<![\w$])-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"),
    ]
    grammar = {
        "comment": "scripts/update-grammar.py generates this file.",
        "name": "Tile",
        "scopeName": "source.mlir.tile",
        "fileTypes": ["mlir"],
        "injectionSelector": "L:source.mlir -comment -string",
        "patterns": [{"name": name, "match": match} for name, match in patterns],
    }
    return json.dumps(grammar, indent=2) + "\n"


def vim(words):
    def lines(group, prefix, names):
        for dialect in sorted({d for d, _ in names}):
            yield "syn match %s /%s%s\\.\\%%(%s\\)\\>\\.\\@!/" % (
                group, prefix, dialect, "\\|".join(n for d, n in names if d == dialect))

    return "\n".join([
        '" scripts/update-grammar.py generates this file. It extends the syntax file of',
        '" MLIR in LLVM (mlir/utils/vim/syntax/mlir.vim).',
        "",
        *lines("tileOperation", "\\<", words.operations),
        *lines("tileLayout", "#", words.attributes),
        *lines("tileBuffer", "!", words.types),
        "syn keyword tileKeyword " + " ".join(words.keywords),
        "",
        "hi def link tileOperation Function",
        "hi def link tileLayout Type",
        "hi def link tileBuffer Type",
        "hi def link tileKeyword Keyword",
    ]) + "\n"


def find_tblgen():
    return shutil.which("llvm-tblgen",
                        path=os.pathsep.join(["/usr/lib/llvm-22/bin", os.environ["PATH"]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tblgen", default=find_tblgen(), help="llvm-tblgen of LLVM 22")
    parser.add_argument("--check", action="store_true",
                        help="fail if a file is not what this script generates")
    options = parser.parse_args()
    if not options.tblgen:
        sys.exit("llvm-tblgen was not found; see --tblgen")

    words = Words(options.tblgen)
    stale = False
    for path, text in ((TEXTMATE, textmate(words)), (VIM, vim(words))):
        full = os.path.join(ROOT, path)
        if options.check:
            try:
                with open(full, encoding="utf-8") as file:
                    current = file.read()
            except OSError:
                current = None
            if current != text:
                print("%s is out of date: run scripts/update-grammar.py" % path)
                stale = True
        else:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
