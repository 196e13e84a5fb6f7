"""Compiles attention for AMD chips; prints which variants spill registers.

usage: attention-spills.py TILE_TRANSLATE
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tile.programs import BackwardVariant, Variant

HEADS = ((64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))


def cases():
    """Every head dimension with a window, which has the most loops, and on the
    chips with the fewest registers without a mask; types and results in turn.
    Backward for those that fit.
    """
    for i, (d, dv) in enumerate(HEADS):
        window = Variant(d, dv, ("bf16", "f16")[i % 2], window=True)
        full = Variant(d, dv, ("f16", "bf16")[i % 2], lse=i % 3 == 0)
        for chip in ("gfx1100", "gfx1201", "gfx942", "gfx950"):
            yield chip, window
        for chip in ("gfx1100", "gfx1201"):
            yield chip, full
        # One chip of the others in turn.
        yield ("gfx90a", "gfx1151", "gfx1200")[i % 3], window
    for d in (64, 96, 128):
        forward = Variant(d, d, "bf16", window=True)
        yield "gfx1100", BackwardVariant(forward, "kernel")
        for chip in ("gfx1100", "gfx1201", "gfx90a", "gfx942", "gfx950"):
            yield chip, BackwardVariant(forward, "atomic")


def compile_one(case):
    chip, variant = case
    done = subprocess.run(
        [sys.argv[1], "--tile-to-hsaco", "--chip=" + chip, "--resources",
         "-", "-o", "/dev/null"],
        input=variant.ir(), capture_output=True, text=True)
    if done.returncode != 0:
        return "%s %s: %s" % (chip, variant.name, done.stderr.strip())
    # Scalar registers are spilled to lanes of vector registers, not to memory.
    spilled = any(json.loads(line)["stack_bytes"]
                  for line in done.stdout.splitlines())
    return "%s %s: %s" % (chip, variant.name, "spills" if spilled else "fits")


def main():
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(compile_one, cases()):
            print(line)


if __name__ == "__main__":
    main()
