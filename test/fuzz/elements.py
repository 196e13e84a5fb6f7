"""Arrays of f16, bf16, f32, i8 and i32; bf16 as bits."""

import numpy as np


def to_bf16(numbers):
    """Returns the nearest bf16 as bits."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)


def stored(numbers, element):
    """Returns an array of the element type."""
    if element == "bf16":
        return to_bf16(numbers)
    return numbers.astype({"f16": "f2", "f32": "f4", "i8": "i1", "i32": "i4"}[element])


def exact(array, element):
    """Returns the numbers of an array in float64."""
    if element == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)
