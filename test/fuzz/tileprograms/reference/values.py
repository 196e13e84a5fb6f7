"""Values with a bound of their error, and the formats that round them.

A value of the kernel may differ from the exact one by as much as the roundings
of its element type and the approximations of its functions allow. Each element
carries that bound, infinite where nothing can be said (say, behind a comparison
of two values that are closer than their errors).
"""

from __future__ import annotations

import dataclasses
from typing import Optional

import numpy as np

from ..program import INTEGERS

#: Bits of the significand, largest number, and what may be flushed to zero.
FORMATS = {
    "f16": (11, 65504.0, 2.0**-24),
    "bf16": (8, 3.3895313892515355e38, 2.0**-126),
    "f32": (24, 3.4028234663852886e38, 2.0**-126),
}

STORAGE = {
    "f16": np.uint16,
    "bf16": np.uint16,
    "f32": np.uint32,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}


def encode(values: np.ndarray, dtype: str) -> np.ndarray:
    """The bits of the values, rounded to nearest even."""
    if dtype in INTEGERS:
        return values.astype(STORAGE[dtype])
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype == "f16":
            return values.astype(np.float16).view(np.uint16)
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    if dtype == "f32":
        return bits
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def decode(bits: np.ndarray, dtype: str) -> np.ndarray:
    """The values of the bits, as float64 or int64."""
    if dtype in INTEGERS:
        return bits.astype(np.int64)
    bits = np.ascontiguousarray(bits)
    if dtype == "f16":
        return bits.view(np.float16).astype(np.float64)
    if dtype == "bf16":
        bits = bits.astype(np.uint32) << 16
    return bits.view(np.float32).astype(np.float64)


@dataclasses.dataclass
class Value:
    """Elements, and how far from them the kernel's may be."""

    v: np.ndarray
    e: np.ndarray
    #: Of a sum that threads may have parts of, the sum of the magnitudes of the parts.
    parts: Optional[np.ndarray] = None

    def magnitude(self) -> np.ndarray:
        return np.abs(self.v) + self.e if self.parts is None else self.parts


def is_float(dtype: str) -> bool:
    return dtype in FORMATS


def exact(values: np.ndarray) -> Value:
    return Value(values, np.zeros(values.shape))


def wrap(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "i1":
        return values & 1
    return values.astype(np.int32).astype(np.int64) if dtype == "i32" else values


def rounded(v: np.ndarray, e: np.ndarray, dtype: str, ulps: float = 1.0) -> Value:
    """A float result: `e` and a rounding to `dtype`, of `ulps` half units."""
    bits, largest, tiny = FORMATS[dtype]
    with np.errstate(all="ignore"):
        same = (e == 0) & (decode(encode(v, dtype), dtype) == v)
        total = e + ulps * 2.0**-bits * (np.abs(v) + e) * 1.001 + tiny
        total = np.where(np.abs(v) + total > largest, np.inf, total)
        total = np.where(np.isnan(v) | np.isnan(total), np.inf, total)
        # Infinities of exact operands stay what they are.
        total = np.where(np.isinf(v) & (e == 0), 0.0, total)
    return Value(v, np.where(same, 0.0, total))
