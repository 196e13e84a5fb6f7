"""Assembles attention for Hopper; prints what ptxas complains of.

usage: hopper-ptxas.py TILE_TRANSLATE PTXAS
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tile.programs import BackwardVariant, Variant

HEADS = ((64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))
FEATURES = (
    {},
    {"causal": True},
    {"window": (33, 17), "sink": "f32"},
    {"causal": True, "softcap": True, "lse": False},
)

#: Bytes that kernels of packed batches spill: scalars of a sequence, for each
#: block of rows or in loops under a mask.
SPILLS = (
    (r"d128-.*packed-softcap-backward", 24),
    (r"d192-(causal|w).*packed$|d192-causal.*packed-softcap$", 20),
    (r"d256-.*packed-backward", 16),
    (r"d256-causal.*packed(-softcap)?$", 40),
    (r"d256-w.*packed$", 36),
)


def cases():
    for i, (d, dv) in enumerate(HEADS):
        for j, features in enumerate(FEATURES):
            dtype = ("bf16", "f16")[(i + j) % 2]
            yield Variant(d, dv, dtype, **features)
            gradients = BackwardVariant(
                Variant(d, dv, dtype, **{**features, "lse": True}),
                kv=("loop", "separate")[j % 2])
            yield gradients
    yield from packed_cases()


def packed_cases():
    # In packed batches more is known only to the kernel.
    for i, (d, dv) in enumerate(HEADS):
        for j, features in enumerate(FEATURES):
            dtype = ("f16", "bf16")[(i + j) % 2]
            yield Variant(d, dv, dtype, packed=True, **features)
            yield BackwardVariant(
                Variant(d, dv, dtype, packed=True, **{**features, "lse": True}),
                kv=("loop", "separate")[j % 2])


def allowed_bytes(variant):
    name = re.sub("-(f16|bf16)-|-dq_.*", "-", variant.name).strip("-")
    return next((most for form, most in SPILLS if re.search(form, name)), 0)


def assemble(variant):
    done = subprocess.run(
        [sys.argv[1], "--tile-to-ptx", "--chip=sm_90a"],
        input=variant.ir(), capture_output=True, text=True)
    if done.returncode != 0:
        return "%s: %s" % (variant.name, done.stderr.strip())
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder) / "kernel.ptx"
        ptx.write_text(done.stdout)
        done = subprocess.run(
            [sys.argv[2], "-arch=sm_90a", "-v", str(ptx), "-o", "/dev/null"],
            capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        return "%s: %s" % (variant.name, said.strip())
    advice = re.findall(r"C75\d\d|C7602", said)
    if advice:
        return "%s: %s" % (variant.name, " ".join(advice))
    spills = re.search(r"[1-9]\d* bytes spill stores", said)
    if spills and int(spills.group(0).split()[0]) > allowed_bytes(variant):
        return "%s: spills, %s" % (variant.name, spills.group(0))
    return "%s: fits" % variant.name


def main():
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(assemble, cases()):
            print(line)


if __name__ == "__main__":
    main()
