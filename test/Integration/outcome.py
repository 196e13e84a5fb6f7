"""Limits and results that the attention test shares between CPU and GPU."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Tuple

#: Rows past the end of each sequence, more than any tile has, and elements
#: past the end of each row; both hold NaN.
PAD_ROWS = 264
PAD_COLUMNS = 8

#: Largest difference allowed of the logarithm of a row's sum.
LSE_TOLERANCE = 1e-3


class Outcome(NamedTuple):
    """The result of a case, which passed if `faults` is empty.

    `errors` holds the largest error and its limit by output.
    """

    faults: List[str]
    errors: Dict[str, Tuple[float, float]]
