"""Assembles attention with ptxas; prints its complaints.

SUITE is "features", combinations of features, or "all", also the programs that the
tests run on a GPU. Of these, so many are assembled that any two choices which meet
in some program meet in one of them; with --every, all are.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Integration"))

from cases import all_cases  # noqa: E402
from tile.programs import BackwardVariant, Variant  # noqa: E402

HEADS = ((64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))
FEATURES = (
    {},
    {"causal": True},
    {"window": True, "sink": "f32"},
    {"causal": True, "softcap": True, "lse": False},
)


def programs(suite):
    found = []
    if suite == "all":
        found += [variant for case in all_cases() for variant in case.variants]
        found += part_programs()
        found += cache_programs()
        found += long_programs()
    found += feature_programs(packed=False)
    # In packed batches more is known only to the kernel.
    found += feature_programs(packed=True)
    return list(dict.fromkeys(found))


def choices(variant):
    """Returns the choices that make a program: its features, and as one choice its
    kind and head dimensions, which decide most registers."""
    fields = asdict(variant)
    forward = fields.pop("forward", fields)
    tile = type(variant), forward.pop("d"), forward.pop("dv")
    return [*{**fields, **forward, "tile": tile}.items()]


def covering(variants):
    """Returns the programs in which any two choices meet that meet in `variants`.

    Greedy: the next program is the one with the most pairs that no earlier one has.
    """
    missing = {variant: set(combinations(choices(variant), 2)) for variant in variants}
    chosen = []
    while missing:
        chosen.append(max(missing, key=lambda variant: len(missing[variant])))
        met = missing.pop(chosen[-1])
        missing = {variant: pairs - met for variant, pairs in missing.items() if pairs - met}
    return chosen


def part_programs():
    """Attention on parts of the keys."""
    for d in (64, 128, 256):
        forward = Variant(d, d, "bf16", causal=True, offset=True)
        yield forward
        yield BackwardVariant(forward, dlse=True, accumulate=True, gradient_dtype="f32")
        # At head dimension 256 the tile of o beside the accumulator spills.
        if d < 256:
            yield replace(forward, merge=True, o_dtype="f32")


def cache_programs():
    """Attention over caches, dense and in pages, without and with a table of works."""
    for d, dv in HEADS:
        for page in (0, 64):
            cache = Variant(d, dv, "bf16", causal=True, key_lengths=True, page=page)
            yield cache
            rows = replace(cache, parts=True, pack_heads=8)
            yield rows
            if d <= 64:
                yield replace(rows, long_keys=True)
            yield replace(rows, few_rows=8)
            yield replace(rows, few_rows=16, long_keys=True)
            mixed = replace(cache, packed=True, parts=True, works=True)
            yield mixed
            yield replace(mixed, pack_heads=8)
            yield replace(mixed, pack_heads=8, few_rows=64)
            yield replace(mixed, pack_heads=8, few_rows=16)
        pages = replace(cache, page_list=True)
        yield pages
        tree = replace(pages, causal=False, tree_words=1)
        yield tree
        yield replace(tree, parts=True, pack_heads=8)


def long_programs():
    """Attention on many keys, which has tiles of its own at head dimension 64."""
    for causal in (False, True):
        forward = Variant(64, 64, "bf16", causal=causal, long_keys=True)
        yield forward
        yield replace(forward, lse=False)
        yield replace(forward, sink="f32")
        yield replace(forward, packed=True, sink="bf16")
        yield replace(forward, key_lengths=True, page=64)


def feature_programs(packed):
    for i, (d, dv) in enumerate(HEADS):
        for j, features in enumerate(FEATURES):
            dtype = ("bf16", "f16")[(i + j + packed) % 2]
            forward = Variant(d, dv, dtype, packed=packed, **features)
            yield forward
            yield BackwardVariant(
                replace(forward, lse=True), kv=("loop", "separate")[j % 2])


def assemble(options, variant):
    done = subprocess.run(
        [options.tile_translate, "--tile-to-ptx", "--chip=" + options.chip],
        input=variant.ir(), capture_output=True, text=True)
    if done.returncode != 0:
        return "%s: %s" % (variant.name, done.stderr.strip())
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder) / "kernel.ptx"
        ptx.write_text(done.stdout)
        done = subprocess.run(
            [options.ptxas, "-arch=" + options.chip, "-v", str(ptx), "-o", "/dev/null"],
            capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        return "%s: %s" % (variant.name, said.strip())
    advice = re.findall(r"C75\d\d|C7602", said)
    if advice:
        return "%s: %s" % (variant.name, " ".join(advice))
    spills = max(map(int, re.findall(r"(\d+) bytes spill stores", said)))
    if spills:
        return "%s: spills, %d bytes" % (variant.name, spills)
    return "%s: fits" % variant.name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_translate")
    parser.add_argument("ptxas")
    parser.add_argument("chip")
    parser.add_argument("suite", choices=("features", "all"))
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    variants = programs(options.suite)
    chosen = variants if options.every else covering(variants)
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(partial(assemble, options), chosen):
            print(line)
    print("%d of %d programs" % (len(chosen), len(variants)))


if __name__ == "__main__":
    main()
