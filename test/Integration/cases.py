"""The cases of the attention test: masks, heads, sizes and strides.

Every combination for bf16 with heads of 128; elsewhere enough that any two
choices meet in some case, and one large case for each head size.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, product
from typing import List, Tuple

from tile.attention import Variant

HEAD_SIZES = ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256))
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

#: The model of which every combination is tested: (d, dv), dtype.
FULL_MODEL = ((128, 128), "bf16")


@dataclass(frozen=True)
class Case:
    """One launch: a compiled variant and what it leaves dynamic."""

    variant: Variant
    heads: int
    kv_heads: int
    sq: int
    sk: int
    order: str

    @property
    def batch(self) -> int:
        return 1 if (self.sq, self.sk) == LARGE else 2

    @property
    def name(self) -> str:
        return (
            f"{self.variant.name} B{self.batch} H{self.heads}/{self.kv_heads}"
            f" S{self.sq}x{self.sk} {self.order}"
        )


def all_cases() -> List[Case]:
    """Every case, in an order that does not change from run to run."""
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
    return cases


#: What the executor runs: smaller, as a CPU is slower than a GPU.
SMALL_SIZES = ((1, 1), (64, 128), (113, 203), (239, 1), (160, 257))
SMALL_HEADS = ((2, 2), (4, 2), (3, 1))


def small_cases() -> List[Case]:
    """Cases in which any two choices meet, for every head size and type."""
    models = list(product(HEAD_SIZES, DTYPES))
    rows = pairwise([models, MASKS, SMALL_HEADS, SMALL_SIZES, ORDERS])
    cases = [_case(*row) for row in rows]
    cases.append(
        _case(FULL_MODEL, MASKS[1], (2, 1), (113, 203), "bshd", lse=False)
    )
    return cases


def pairwise(factors: List[list]) -> List[tuple]:
    """Rows in which any two values of different factors meet.

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


def _case(model, mask, heads, size, order, lse=True) -> Case:
    (d, dv), dtype = model
    variant = Variant(d, dv, dtype, mask[0], mask[1], lse)
    return Case(variant, heads[0], heads[1], size[0], size[1], order)
