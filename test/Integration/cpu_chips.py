"""The chips for which tests run in the executor."""

from __future__ import annotations

import zlib
from typing import Iterable, List, Tuple

#: Chips that run all tests.
FULL = ("sm_80", "sm_89", "sm_90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
#: Chips with the instructions of one above, or of one and TMA, which run some of them.
RELATED = ("sm_100a", "sm_103a", "sm_120a", "gfx90a", "gfx1151", "gfx1200")

#: Chips whose programs may have the threads of a cluster.
CLUSTERS = ("sm_90a", "sm_100a", "sm_103a", "sm_120a")
#: Chips with 64 KiB of shared memory.
SMALL_MEMORY = ("gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1200", "gfx1201")


def takes(chip: str, test: str) -> bool:
    """Returns whether a chip runs the test of that name.

    Each test runs on one of the related chips. Names decide, so that a new test moves
    no other one.
    """
    if chip in FULL:
        return True
    return zlib.crc32(test.encode()) % len(RELATED) == RELATED.index(chip)


def pairs(tests: Iterable[str]) -> List[Tuple[str, str]]:
    """Returns the pairs of a test and a chip that run."""
    return [(t, c) for t in tests for c in (*FULL, *RELATED) if takes(c, t)]
