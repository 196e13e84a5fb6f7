"""Compiles attention and the examples with products for AMD chips; prints which
spill registers.

usage: attention-spills.py TILE_TRANSLATE
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tile.programs import BackwardVariant, Variant

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
HEADS = ((64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))


def cases():
    """Every head dimension with a window, which has the most loops, and on the
    chips with the fewest registers without a mask; types and results in turn.
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
    for d, dv in HEADS[3:]:
        forward = Variant(d, dv, "f16", causal=True)
        for chip in ("gfx1100", "gfx1201"):
            yield chip, BackwardVariant(forward, "atomic")
    # The sums of dq beside those of dk and dv leave the fewest registers.
    for forward in (
        Variant(256, 256, "f16", causal=True, packed=True),
        Variant(256, 256, "bf16", window=True, packed=True),
    ):
        yield "gfx1100", BackwardVariant(forward, "atomic")
    yield "gfx1100", BackwardVariant(Variant(256, 256, "f16"), "atomic", kv="atomic")
    # Softcaps and packed sequences take registers.
    packed = Variant(128, 128, "bf16", packed=True, softcap=True)
    yield "gfx950", packed
    forward = Variant(64, 64, "f16", packed=True, window=True)
    yield "gfx1201", BackwardVariant(forward, "atomic")
    forward = Variant(64, 64, "bf16", packed=True, causal=True)
    yield "gfx1201", BackwardVariant(forward, "atomic", kv="separate")
    # Columns of padding take more.
    for forward in (
        Variant(80, 80, "f16", packed=True, window=True),
        Variant(72, 72, "bf16", packed=True, window=True, softcap=True),
        Variant(88, 88, "f16", packed=True, causal=True, softcap=True),
    ):
        yield "gfx1201", BackwardVariant(forward, "atomic")
    forward = Variant(72, 72, "f16", packed=True, window=True)
    yield "gfx1201", BackwardVariant(forward, "atomic", kv="atomic")
    forward = Variant(256, 256, "f16", packed=True, window=True, softcap=True)
    yield "gfx1100", BackwardVariant(forward, "atomic")
    # The kernel of dq alone has the bounds of packed sequences beside its sums.
    for dtype in ("f16", "bf16"):
        for mask in ("causal", "window"):
            forward = Variant(
                256, 256, dtype, packed=True, softcap=True, **{mask: True})
            yield "gfx1100", BackwardVariant(forward, "kernel")
    forward = Variant(88, 88, "bf16", packed=True, window=True, softcap=True)
    yield "gfx1100", BackwardVariant(forward, "atomic")
    forward = Variant(80, 80, "bf16", packed=True, window=True)
    yield "gfx1201", BackwardVariant(forward, "atomic", kv="atomic")
    for mode in ("loop", "atomic"):
        forward = Variant(64, 64, "bf16", packed=True, softcap=True)
        yield "gfx1201", BackwardVariant(forward, "atomic", kv=mode)


def examples():
    for name in ("gelu_gemm", "swiglu_gemm", "int4_gemm"):
        for chip in ("gfx942", "gfx950", "gfx1100", "gfx1201"):
            yield chip, name


def compile_one(chip, name, source):
    done = subprocess.run(
        [sys.argv[1], "--tile-to-hsaco", "--chip=" + chip, "--resources",
         "-", "-o", "/dev/null"],
        input=source, capture_output=True, text=True)
    if done.returncode != 0:
        return "%s %s: %s" % (chip, name, done.stderr.strip())
    # Scalar registers are spilled to lanes of vector registers, not to memory.
    spilled = any(json.loads(line)["stack_bytes"]
                  for line in done.stdout.splitlines())
    return "%s %s: %s" % (chip, name, "spills" if spilled else "fits")


def main():
    programs = [(chip, variant.name, variant.ir()) for chip, variant in cases()]
    programs += [
        (chip, name, (EXAMPLES / (name + ".mlir")).read_text(encoding="utf-8"))
        for chip, name in examples()
    ]
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(lambda program: compile_one(*program), programs):
            print(line)


if __name__ == "__main__":
    main()
