"""The documents of the project and the fenced code blocks in them.

CONTRIBUTING.md, section Documents, describes the comments that stand before a block.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^`\n]*)$")
# update-docs.py knows commands at the beginning of a line only.
COMMENT = re.compile(r"^(?:<!-- (run|fails): | *<!-- *(setup|file|needs|run by|not run): *)(.*?) *-->$", re.S)


def documents():
    """Returns the documents that people write."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


class Block:
    """A fenced code block: its language, the other words after the fence, its text,
    the number of its first line, and the comments right before it."""

    def __init__(self, info, text, line, comments):
        words = info.split()
        self.language, self.words = (words[0] if words else ""), words[1:]
        self.text, self.line, self.comments = text, line, comments


def blocks(text):
    """Returns the fenced blocks of a Markdown text."""
    found, lines, i = [], text.split("\n"), 0
    while i < len(lines):
        fence = FENCE.match(lines[i])
        if not fence:
            i += 1
            continue
        end = i + 1
        while end < len(lines) and lines[end].strip() != fence[2]:
            end += 1
        indent = len(fence[1])
        code = "".join(line[min(indent, len(line) - len(line.lstrip())):] + "\n"
                       for line in lines[i + 1:end])
        found.append(Block(fence[3], code, i + 2, comments_before(lines, i)))
        i = end + 1
    return found


def comments_before(lines, i):
    """Returns the comments that end right before line `i`, by kind."""
    found = {}
    while i > 0 and lines[i - 1].rstrip().endswith("-->"):
        start = i - 1
        while start > 0 and "<!--" not in lines[start]:
            start -= 1
        comment = COMMENT.match("\n".join(lines[start:i]))
        if comment:
            found[comment[1] or comment[2]] = comment[3]
        i = start
    return found


def environment(tools):
    """Returns the environment of commands: the folders `tools` come first on PATH."""
    found = dict(os.environ)
    found["PATH"] = os.pathsep.join([*map(str, tools), found["PATH"]])
    return found
