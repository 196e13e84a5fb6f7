"""Configuration of Sphinx; scripts/site.py runs it."""

import re
import sys
from pathlib import Path

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

project = "tile"
release = re.search(r'"(.+)"', (ROOT / "python/tile/version.py").read_text()).group(1)
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = "tile " + release
html_show_copyright = False
html_copy_source = False

# Headings have the anchors that GitHub gives them.
myst_heading_anchors = 4

# The reference of Python reads the docstrings of the package, which imports these.
autodoc_mock_imports = ["numpy", "torch"]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# Docstrings put code in single backquotes.
default_role = "code"


class MLIRLexer(RegexLexer):
    """Highlights MLIR in code blocks."""

    name, aliases = "MLIR", ["mlir"]
    tokens = {"root": [
        (r"\s+", Text),
        (r"//.*", Comment.Single),
        (r'"[^"\n]*"', String),
        (r"[%@^][\w$.#-]+(:\d+)?", Name.Variable),
        (r"[#!][\w$.]+", Name.Decorator),
        (r"(\d+|\?)(?=x)(x)", bygroups(Number, Text)),
        (r"-?\d+(\.\d+)?([eE][-+]?\d+)?", Number),
        (r"([iu]\d+|b?f\d+|index|tensor|vector|memref|none)\b", Keyword.Type),
        (r"[a-z_][\w]*\.[\w.]+", Name.Function),
        (r"[A-Za-z_]\w*", Name),
        (r"[-+*=<>:,?|()\[\]{}.]", Operator),
        (r".", Text),
    ]}


def setup(app):
    app.add_lexer("mlir", MLIRLexer)
