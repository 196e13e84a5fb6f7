"""The arguments of a program: what they hold before a run, and what is expected behind it."""

from __future__ import annotations

from typing import List, Tuple

import numpy as np

from ..program import Buffer
from .values import STORAGE, decode, encode, is_float

#: What outputs hold before a run. The floats are NaN of a kind that no
#: operation returns.
POISON = {
    "f16": 0x7E5A,
    "bf16": 0x7FD5,
    "f32": 0x7FC5A5A5,
    "i8": 0x5A,
    "i32": 0x5EADBEEF,
    "i64": 0x5EADBEEF5EADBEEF,
}


class Memory:
    """One argument: its storage before the run and what is expected after it."""

    def __init__(self, buffer: Buffer, table: List[int]):
        self.buffer = buffer
        self.extents = buffer.extents(table)
        generator = np.random.default_rng(buffer.seed)
        dtype, size = buffer.dtype, np.dtype(STORAGE[buffer.dtype]).itemsize
        if buffer.map:
            columns = buffer.map
            rows, width = self.extents
            blocks = -(-width // columns)
            count = blocks * rows * columns
            i, j = np.indices(self.extents)
            self.places = (j // columns * rows + i) * columns + j % columns
            self.strides = (width, 1)
        else:
            self.strides = buffer.strides(table)
            indices = np.indices(self.extents)
            self.places = sum(
                (i * s for i, s in zip(indices, self.strides)), np.zeros(self.extents, int)
            )
            count = int(self.places.max()) + 1
        # The first element lies at a multiple of the alignment, and at no
        # larger power of two if `shift` says so.
        unit = max(buffer.align // size, 1)
        guard = 64
        self.start = guard + buffer.shift * unit
        total = self.start + count + guard
        memory = np.empty(total * size + 256, np.uint8)
        skip = -memory.ctypes.data % 256
        self.storage = memory[skip : skip + total * size].view(STORAGE[dtype])
        self.storage[...] = POISON[dtype]
        self.v = np.zeros(self.extents, np.float64 if is_float(dtype) else np.int64)
        self.e = np.zeros(self.extents)
        self.written = np.zeros(self.extents, bool)
        if not buffer.output:
            self.v = fill(generator, buffer, self.extents)
            if buffer.repeated:
                # One value along the dimensions of stride 0.
                first = tuple(
                    slice(0, 1) if d in buffer.repeated else slice(None)
                    for d in range(len(self.extents))
                )
                self.v = np.broadcast_to(self.v[first], self.extents).copy()
            self.storage[self.start + self.places] = encode(self.v, dtype)
            self.v = decode(encode(self.v, dtype), dtype)
        self.before = self.storage.copy()
        #: Of atomic sums: how often and how much was added, for the error.
        self.added = np.zeros(self.extents)
        self.magnitude = np.abs(self.v).astype(float)
        self.atomic = False

    def argument(self) -> np.ndarray:
        """The array that is passed to the executor."""
        dtype = self.buffer.dtype
        size = self.storage.itemsize
        flat = self.storage[self.start :]
        if dtype in ("f16", "f32"):
            flat = flat.view({"f16": np.float16, "f32": np.float32}[dtype])
        return np.lib.stride_tricks.as_strided(
            flat, self.extents, [s * size for s in self.strides]
        )


def fill(generator: np.random.Generator, buffer: Buffer, shape: Tuple[int, ...]) -> np.ndarray:
    kind, dtype = buffer.fill, buffer.dtype
    if not is_float(dtype):
        if kind == "wide":
            return generator.integers(-(2**31), 2**31, shape)
        if kind == "zeros":
            return np.zeros(shape, np.int64)
        return generator.integers(-50, 51, shape)
    if kind == "normal":
        return np.clip(generator.standard_normal(shape), -4, 4)
    if kind == "integers":
        return generator.integers(-4, 5, shape).astype(float)
    if kind == "positive":
        return generator.uniform(0.5, 1.5, shape)
    if kind == "zeros":
        return np.zeros(shape)
    raise ValueError(kind)
