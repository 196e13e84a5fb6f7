"""Prints the scopes that the TextMate grammar gives to a program.

highlight.py GRAMMAR FILE prints a line `SCOPE: TEXT` for each token. With
--operations it checks instead that each operation `tile.*` and `tile_gpu.*` of the
file has the scope of an operation.

The grammar has matches of single lines only, so the search is that of an editor:
at each position the first pattern that matches wins.
"""

import json
import re
import sys


def tokens(patterns, line):
    position = 0
    while position < len(line):
        found = [(match.start(), number, match, scope)
                 for number, (scope, expression) in enumerate(patterns)
                 for match in [expression.search(line, position)] if match and match[0]]
        if not found:
            return
        _, _, match, scope = min(found, key=lambda entry: entry[:2])
        yield scope, match.start(), match[0]
        position = match.end()


def main():
    arguments = sys.argv[1:]
    check = "--operations" in arguments
    grammar, path = [a for a in arguments if a != "--operations"]
    with open(grammar) as file:
        patterns = [(p["name"], re.compile(p["match"])) for p in json.load(file)["patterns"]]
    count = 0
    with open(path) as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        found = list(tokens(patterns, line))
        if not check:
            for scope, _, text in found:
                print("%s: %s" % (scope, text))
            continue
        code = line.split("//")[0]
        code = re.sub(r'"[^"]*"', lambda m: " " * len(m[0]), code)
        # An operation begins a line, or stands after `=`.
        for match in re.finditer(r"(?:^\s*|= )(tile(?:_gpu)?\.[\w.]+)", code):
            count += 1
            if ("support.function.operation.tile", match.start(1), match[1]) not in found:
                sys.exit("%s:%d: %s is not highlighted" % (path, number, match[1]))
    if check:
        print("%d operations are highlighted" % count)


main()
