"""The cases of the attention test: masks, heads, sizes, strides and features.

Every combination of the forward masks and sizes for bf16 with heads of 128;
elsewhere enough that any two choices meet in some case, and one large case for
each head size.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Dict, List, Optional, Tuple

from tile.choices import FEW_ROWS
from tile.native import most_cluster_blocks
from tile.programs import DQ_SUMS, KV_SUMS, AnyVariant, BackwardVariant, Variant

HEAD_SIZES = ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256))
#: Head sizes that tiles pad.
PADDED_SIZES = ((8, 8), (40, 40), (72, 72), (80, 80), (112, 112), (160, 160), (64, 136))
DTYPES = ("bf16", "f16")
#: (causal, window)
MASKS = ((False, None), (True, None), (False, (64, 0)), (False, (33, 17)))
#: Query heads and key heads.
HEADS = ((6, 6), (6, 2), (6, 1))
#: Queries and keys.
SIZES = (
    (1, 1),
    (64, 128),
    (113, 203),
    (239, 1),
    (256, 256),
    (512, 256),
    (1023, 1024),
    (2048, 2048),
)
#: The order of the dimensions in memory.
ORDERS = ("bshd", "bhsd")
LARGE = (4224, 4224)

#: The model with which every combination is tested: (d, dv), dtype.
FULL_MODEL = ((128, 128), "bf16")


#: How gradients are summed: dq, and dk and dv of the heads of a group.
SUMS = tuple(product(DQ_SUMS, KV_SUMS))
#: Models that all other features are tested with.
FEATURE_SIZES = ((64, 64), (128, 128))
#: (element type of sinks, softcap)
FEATURES = (("", False), ("f32", False), ("bf16", False), ("", True), ("f16", True))
#: The number of parts of the keys (0: no parts), that of the heads at each query of a
#: tile (0: queries of one head), and the rows of a small tile (0: the usual one).
PARTS = ((1, 0, 0), (3, 0, 0), (2, 8, 0), (7, 2, 8), (0, 16, 0), (3, 8, 16))
#: The blocks of a cluster that share the keys, and heads and rows as in PARTS.
CLUSTERS = ((2, 0, 0), (4, 8, 8), (8, 0, 0), (8, 16, 0))
#: Queries and keys where blocks share the keys.
PARTS_SIZES = ((1, 1), (1, 3001), (3, 203), (113, 2040), (239, 1), (512, 256))
#: Queries and keys of the sequences of a packed batch: some are empty, one is
#: longer than the grid is sized for (GRID_ROWS).
PACKED = (
    ((113, 203), (0, 0), (64, 128), (0, 57), (33, 0), (300, 511), (1, 1)),
    ((128, 128), (256, 250)),
    ((5, 5),),
)
GRID_ROWS = 130
#: Lengths of a batch that is not packed.
UNPACKED = (((113, 203),) * 2, ((256, 250),) * 2)


@dataclass(frozen=True)
class Case:
    """One launch: a compiled variant and the sizes that it leaves dynamic.

    `lengths` holds the queries and keys of each sequence of the batch. All
    sequences have equal lengths unless the variant is packed.
    """

    variant: Variant
    heads: int
    kv_heads: int
    lengths: Tuple[Tuple[int, int], ...]
    order: str
    backward: Optional[BackwardVariant] = None
    window: Optional[Tuple[int, int]] = None
    #: The number of parts of the keys, if the variant has parts.
    parts: int = 1

    @property
    def sides(self) -> Dict[str, int]:
        """The arguments of the window, if the variant has one."""
        return dict(zip(("left", "right"), self.window)) if self.variant.window else {}

    def runs_on(self, chip: str) -> bool:
        """Returns whether the chip has what the case is about."""
        return self.variant.cluster <= most_cluster_blocks(chip)

    @property
    def batch(self) -> int:
        return len(self.lengths)

    @property
    def sq(self) -> int:
        """Queries of each sequence, unless packed."""
        return self.lengths[0][0]

    @property
    def sk(self) -> int:
        """Keys of each sequence, unless packed."""
        return self.lengths[0][1]

    @property
    def name(self) -> str:
        name = (self.backward or self.variant).name
        if self.variant.packed:
            size = "_".join(f"{sq}x{sk}" for sq, sk in self.lengths)
        else:
            size = "{}x{}".format(*self.lengths[0])
        if self.variant.window:
            name += " W{}_{}".format(*self.window)
        if self.variant.parts:
            name += f" P{self.parts}"
        return (
            f"{name} B{self.batch} H{self.heads}/{self.kv_heads} S{size} {self.order}"
        )

    @property
    def variants(self) -> List[AnyVariant]:
        """Returns the variants to compile."""
        return [self.variant] + ([self.backward] if self.backward else [])


def all_cases() -> List[Case]:
    """Returns all cases, in an order that does not change from run to run."""
    cases = forward_cases() + gradient_cases() + feature_cases() + parts_cases()
    return cases + long_cases() + few_cases()


def forward_cases() -> List[Case]:
    """Returns cases of forward attention without features other than masks."""
    models = [
        model for model in product(HEAD_SIZES, DTYPES) if model != FULL_MODEL
    ]
    rows = list(product([FULL_MODEL], MASKS, HEADS, SIZES, ORDERS))
    rows += pairwise([models, MASKS, HEADS, SIZES, ORDERS])
    for i, size in enumerate(HEAD_SIZES):
        dtype, mask = DTYPES[i % 2], MASKS[i % len(MASKS)]
        rows.append(((size, dtype), mask, (6, 2), LARGE, ORDERS[i % 2]))
    cases = [_case(*row) for row in rows]
    for mask in MASKS[:2]:
        cases.append(
            _case(FULL_MODEL, mask, (6, 2), (113, 203), "bshd", lse=False)
        )
    return cases + padded_cases((6, 2))


def parts_cases() -> List[Case]:
    """Returns cases whose blocks share the keys, or whose tiles have heads as rows,
    with all other features."""
    models = list(product(HEAD_SIZES, DTYPES))
    rows = pairwise([models, MASKS, HEADS, FEATURES, PARTS_SIZES, PARTS])
    cases = []
    for i, (((d, dv), dtype), mask, heads, feature, size, parts) in enumerate(rows):
        variant = Variant(
            d, dv, dtype, mask[0], bool(mask[1]), True, feature[0], False, feature[1]
        )
        case = Case(variant, *heads, (size,) * 2, ORDERS[i % 2], window=mask[1])
        cases.append(_with_parts(case, parts))
    for i, parts in enumerate(PARTS):
        (d, dv), dtype = models[2 * i % len(models)]
        causal, window = MASKS[i % len(MASKS)]
        variant = Variant(d, dv, dtype, causal, bool(window), packed=True)
        case = Case(variant, 6, 2, PACKED[0], ORDERS[i % 2], window=window)
        cases.append(_with_parts(case, parts))
    return cases + cluster_cases(HEAD_SIZES, HEADS, FEATURES, PARTS_SIZES, PACKED[0])


def cluster_cases(models, heads, features, sizes, packed) -> List[Case]:
    """Returns cases whose keys the blocks of a cluster share."""
    cases = []
    rows = pairwise([models, MASKS, heads, features, sizes, CLUSTERS])
    for i, (size, mask, counts, (sink, softcap), lengths, cluster) in enumerate(rows):
        case = _case((size, DTYPES[i % 2]), mask, counts, lengths, ORDERS[i % 2])
        variant = replace(case.variant, sink=sink, softcap=softcap)
        cases.append(_in_cluster(replace(case, variant=variant), cluster))
    for i, cluster in enumerate(CLUSTERS):
        causal, window = MASKS[i % len(MASKS)]
        size = models[i % len(models)]
        variant = Variant(*size, DTYPES[i % 2], causal, bool(window), packed=True)
        case = Case(variant, *heads[1], packed, ORDERS[i % 2], window=window)
        cases.append(_in_cluster(case, cluster))
    return cases


def few_cases() -> List[Case]:
    """Returns cases of the kernels for few rows of queries for each processor."""
    cases = []
    rows = list(product(HEAD_SIZES, MASKS, FEW_ROWS, ((1, 1), (113, 203), (512, 256))))
    for i, (size, (causal, window), few, lengths) in enumerate(rows):
        if few > FEW_ROWS[0] and max(size) > 64:
            continue
        sink, softcap = FEATURES[i % len(FEATURES)]
        variant = Variant(
            *size, DTYPES[i % 2], causal, bool(window), sink=sink, softcap=softcap,
            few_rows=few,
        )  # fmt: skip
        cases.append(
            Case(variant, *HEADS[i % len(HEADS)], (lengths,) * 2, ORDERS[i % 2], window=window)
        )
    return cases


def long_cases() -> List[Case]:
    """Returns cases of the kernels for long sequences."""
    variants = [
        Variant(*size, dtype, causal, lse=lse, sink=sink, long_keys=True)
        for size, dtype, (causal, lse, sink) in product(
            HEAD_SIZES, DTYPES, ((False, True, ""), (True, True, "f32"), (True, False, ""))
        )
        if max(size) <= 64
    ]
    rows = list(product(variants, ((1, 2051), (113, 203), (512, 256))))
    rows += [(variant, LARGE) for variant in variants[:2]]
    cases = [
        Case(variant, *HEADS[i % len(HEADS)], (size,) * 2, ORDERS[i % 2])
        for i, (variant, size) in enumerate(rows)
    ]
    return cases + [
        _with_parts(Case(variant, 16, 2, (size,) * 2, ORDERS[i % 2]), (i % 3 + 1, 8, 8 * (i % 2)))
        for i, variant in enumerate(v for v in variants if v.lse)
        for size in ((1, 3001), (113, 2040))
    ]


def padded_cases(heads: Tuple[int, int]) -> List[Case]:
    """Returns a case for each head size that tiles pad; all masks occur."""
    return [
        _case((size, DTYPES[i % 2]), MASKS[i % len(MASKS)], heads, (113, 203), ORDERS[i % 2])
        for i, size in enumerate(PADDED_SIZES)
    ]


def gradient_cases() -> List[Case]:
    """Returns cases with gradients, without features other than masks."""
    models = list(product(HEAD_SIZES, DTYPES))
    rows = pairwise([models, MASKS, HEADS, SIZES, ORDERS])
    for i, size in enumerate(HEAD_SIZES):
        rows.append(((size, DTYPES[i % 2]), MASKS[i % 2], (6, 2), LARGE, ORDERS[i % 2]))
    cases = []
    for model, mask, heads, size, order in rows:
        # One way of summing per model and mask keeps compilations few.
        dq, kv = SUMS[(models.index(model) + 3 * MASKS.index(mask)) % len(SUMS)]
        forward = _case(model, mask, heads, size, order)
        backward = BackwardVariant(forward.variant, dq, kv)
        cases.append(replace(forward, backward=backward))
    for i, forward in enumerate(padded_cases((6, 2))):
        backward = BackwardVariant(forward.variant, *SUMS[i % len(SUMS)])
        cases.append(replace(forward, backward=backward))
    for dq, kv in SUMS:
        forward = _case(FULL_MODEL, MASKS[1], (6, 2), (239, 301), "bshd")
        backward = BackwardVariant(forward.variant, dq, kv)
        case = replace(forward, backward=backward)
        if case not in cases:
            cases.append(case)
    return cases


def feature_cases() -> List[Case]:
    """Returns cases with sinks, softcap and packed sequences, with gradients."""
    lengths = [(True, packed) for packed in PACKED]
    lengths += [(False, unpacked) for unpacked in UNPACKED]
    models = list(product(FEATURE_SIZES, DTYPES))
    cases = []
    for model, mask, heads, feature, (packed, lens), order in pairwise(
        [models, MASKS, HEADS, FEATURES, lengths, ORDERS]
    ):
        (d, dv), dtype = model
        sink, softcap = feature
        variant = Variant(
            d, dv, dtype, mask[0], bool(mask[1]), True, sink, packed, softcap
        )
        # One way of summing per mask, feature and type keeps compilations few.
        dq, kv = SUMS[
            (MASKS.index(mask) + FEATURES.index(feature) + DTYPES.index(dtype))
            % len(SUMS)
        ]
        backward = BackwardVariant(variant, dq, kv)
        cases.append(Case(variant, *heads, lens, order, backward, mask[1]))
    return cases


#: Sizes for the executor, smaller than those for a GPU because it is slower.
SMALL_SIZES = ((1, 1), (64, 128), (113, 203), (239, 1), (160, 257))
SMALL_HEADS = ((2, 2), (4, 2), (3, 1))
SMALL_PARTS_SIZES = ((1, 1), (1, 301), (3, 130), (113, 203), (239, 1))
SMALL_PACKED = ((40, 70), (0, 0), (150, 20), (0, 9), (33, 0), (1, 1))


def small_cases() -> List[Case]:
    """Returns the cases of the executor.

    Any two choices meet in some case for every head size and type, and every
    head size has a packed batch.
    """
    models = list(product(HEAD_SIZES, DTYPES))
    rows = pairwise([models, MASKS, SMALL_HEADS, SMALL_SIZES, ORDERS])
    cases = [_case(*row) for row in rows]
    cases.append(
        _case(FULL_MODEL, MASKS[1], (2, 1), (113, 203), "bshd", lse=False)
    )
    for i, (d, dv) in enumerate(HEAD_SIZES):
        causal, window = MASKS[i % len(MASKS)]
        variant = Variant(d, dv, DTYPES[i % 2], causal, bool(window), packed=True)
        heads = SMALL_HEADS[i % len(SMALL_HEADS)]
        case = Case(variant, *heads, SMALL_PACKED, ORDERS[i % 2], window=window)
        cases.append(case)
    rows = pairwise([HEAD_SIZES, MASKS, SMALL_HEADS, SMALL_PARTS_SIZES, PARTS])
    for i, (size, mask, heads, lengths, parts) in enumerate(rows):
        case = _case((size, DTYPES[i % 2]), mask, heads, lengths, ORDERS[i % 2])
        cases.append(_with_parts(case, parts))
    for i, parts in enumerate(PARTS):
        (d, dv), (causal, window) = HEAD_SIZES[i % len(HEAD_SIZES)], MASKS[i % len(MASKS)]
        variant = Variant(d, dv, DTYPES[i % 2], causal, bool(window), packed=True)
        case = Case(variant, 4, 2, SMALL_PACKED, ORDERS[i % 2], window=window)
        cases.append(_with_parts(case, parts))
    long = Variant(64, 64, DTYPES[0], causal=True, long_keys=True)
    cases.append(_with_parts(Case(long, 4, 2, ((3, 600),) * 2, ORDERS[0]), (2, 2, 0)))
    # Some block has several tiles.
    packed = ((300, 40), *SMALL_PACKED[1:])
    sizes = SMALL_PARTS_SIZES[1:4]
    cases += cluster_cases(
        HEAD_SIZES[::2], SMALL_HEADS, FEATURES[:1], sizes, packed
    )
    return cases + padded_cases((4, 2))


def shard_cases(
    cases: List[Tuple[int, Case]], part: int, parts: int
) -> List[Tuple[int, Case]]:
    """Returns the cases of every `parts`-th kernel from the `part`-th, from 1.

    Cases of the same kernels stay together: they are loaded once.
    """
    numbers: Dict[Tuple[AnyVariant, ...], int] = {}
    return [
        (index, case)
        for index, case in cases
        if numbers.setdefault(tuple(case.variants), len(numbers)) % parts == part - 1
    ]


def pairwise(factors: List[list]) -> List[tuple]:
    """Returns rows in which any two values of different factors meet.

    Greedy: each row is the one with the most pairs that no earlier row has,
    and among those the one with the values used least so far.
    """
    positions = list(combinations(range(len(factors)), 2))

    def pairs(row: tuple) -> List[Tuple[int, int, object, object]]:
        return [(i, j, row[i], row[j]) for i, j in positions]

    candidates = [(row, pairs(row)) for row in product(*factors)]
    missing = {pair for _, row_pairs in candidates for pair in row_pairs}
    used: Counter = Counter()
    chosen = []

    def gain(candidate: Tuple[tuple, list]) -> Tuple[int, int]:
        row, row_pairs = candidate
        new = sum(pair in missing for pair in row_pairs)
        return new, -sum(used[choice] for choice in enumerate(row))

    while missing:
        row, row_pairs = max(candidates, key=gain)
        missing.difference_update(row_pairs)
        used.update(enumerate(row))
        chosen.append(row)
    return chosen


def _with_parts(case: Case, parts: Tuple[int, int, int]) -> Case:
    """Returns the case with one of PARTS."""
    count, pack_heads, few = parts
    variant = replace(
        case.variant, parts=count > 0, pack_heads=pack_heads, few_rows=few
    )
    return replace(case, variant=variant, parts=max(count, 1))


def _in_cluster(case: Case, cluster: Tuple[int, int, int]) -> Case:
    """Returns the case with one of CLUSTERS."""
    blocks, pack_heads, few = cluster
    variant = replace(
        case.variant, cluster=blocks, pack_heads=pack_heads, few_rows=few
    )
    return replace(case, variant=variant)


def _case(model, mask, heads, size, order, lse=True) -> Case:
    (d, dv), dtype = model
    causal, window = mask
    variant = Variant(d, dv, dtype, causal, bool(window), lse)
    lengths = (size,) * (1 if size == LARGE else 2)
    return Case(variant, heads[0], heads[1], lengths, order, window=window)
