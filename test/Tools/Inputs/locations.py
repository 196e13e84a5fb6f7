"""Runs tools on inputs and fails if one prints a diagnostic without a location.

    locations.py TOOL-AND-OPTIONS... -- INPUT...
"""

import subprocess
import sys

split = sys.argv.index("--")
command, inputs = sys.argv[1:split], sys.argv[split + 1 :]
assert inputs, "no inputs"
errors = 0
for path in inputs:
    done = subprocess.run(command + [path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = done.stderr.decode(errors="replace")
    errors += message.count("error:")
    if "<unknown>" in message or "loc(unknown)" in message:
        sys.exit(f"{' '.join(command)} {path}:\n{message}")
# Inputs without errors would show nothing.
assert errors > len(inputs), errors
