"""Random extents, types and values."""

from __future__ import annotations

import math
import random
from typing import Dict, List, Optional, Tuple

from ..program import FLOATS, Op, Program

POWERS = [1, 2, 4, 8, 16, 32, 64, 128]
ODDITIES = [3, 5, 7, 12, 13, 24, 48, 60, 68, 80, 96, 100, 112]
#: Largest number that results may reach in each type before they are scaled.
LIMITS = {"f16": 2000.0, "bf16": 1e6, "f32": 1e6}


class Retry(Exception):
    """The draws do not fit together; others may."""


class Values:
    """The operations of a program so far, from the numbers that `draw` gives."""

    def __init__(self, draw: random.Random):
        self.draw = draw
        warps = draw.choice([1, 2, 4, 4, 4, 8])
        grid = (draw.choice([1, 1, 2, 3]), draw.choice([1, 1, 1, 2]))
        self.program = Program([], warps, grid)
        #: A program either pins all layouts or none: the two do not mix.
        self.pinned = draw.random() < 0.2
        #: Largest magnitude of each value, roughly; whether it is at least 0.5.
        self.limit: Dict[int, float] = {}
        self.ops = self.program.ops
        #: Values of the regions around, which may be used here.
        self.visible: List[int] = []
        self.loops: List[Tuple[str, Optional[int], int]] = []
        self.used: set = set()
        self.names = 0
        self.depth = 0

    # Extents.

    def extent(self) -> int:
        kind = self.draw.random()
        if kind < 0.55:
            return self.draw.choice(POWERS)
        if kind < 0.8:
            return self.draw.choice(ODDITIES)
        return self.draw.randint(1, 64)

    def dim(self, extent: int) -> int:
        """The index of a new entry of the table."""
        self.program.extents.append(extent)
        return len(self.program.extents) - 1

    def any_dim(self, largest: int) -> int:
        """A dimension of at most that extent, often one that exists."""
        fits = [d for d, n in enumerate(self.program.extents) if n <= largest]
        if fits and self.draw.random() < 0.6:
            return self.draw.choice(fits)
        return self.dim(min(self.extent(), max(largest, 1)))

    def most(self) -> int:
        """Elements of a tile of this program."""
        return 2048 * max(self.program.warps, 2)

    def dims(self, rank: int) -> Tuple[int, ...]:
        dims: List[int] = []
        left = self.most()
        for _ in range(rank):
            largest = min(left, 128 if rank < 3 else 32)
            dims.append(self.any_dim(largest))
            left //= self.program.extents[dims[-1]]
        return tuple(dims)

    def size(self, dims: Tuple[int, ...]) -> int:
        return math.prod(self.program.extents[d] for d in dims)

    # Values.

    def pin(self) -> Optional[tuple]:
        return ("random", self.draw.randrange(1 << 30)) if self.pinned else None

    def emit(self, kind: str, result: Optional[Tuple], operands=(), limit=0.0, **attrs) -> int:
        """Adds an operation with a result of (dims, dtype, pin)."""
        self.used.update(operands)
        if result is None:
            self.ops.append(Op(kind, [], list(operands), attrs))
            return -1
        value = self.program.new(*result)
        self.ops.append(Op(kind, [value], list(operands), attrs))
        self.limit[value] = limit
        self.visible.append(value)
        return value

    def dtype(self, value: int) -> str:
        return self.program.types[value].dtype

    def like(self, value: int, dtype: Optional[str] = None) -> Tuple:
        type = self.program.types[value]
        return type.dims, dtype or type.dtype, type.pin

    def values(self, floats: Optional[bool] = None) -> List[int]:
        """Values that may be used here, of one kind of element."""
        return [
            v
            for v in self.visible
            if self.dtype(v) != "i1"
            and (floats is None or (self.dtype(v) in FLOATS) == floats)
        ]

    def pick(self, floats: Optional[bool] = None) -> Optional[int]:
        """A value, rather a late one."""
        found = self.values(floats)
        if not found:
            return None
        if self.draw.random() < 0.6:
            found = found[-3:]
        return self.draw.choice(found)

    def constant(self, type: Tuple, number: float) -> int:
        kind = self.draw.choice(["constant", "splat"])
        return self.emit(kind, type, limit=abs(number), value=number)

    def mate(self, value: int) -> int:
        """Another value of the same type: one there is, or a new one."""
        type = self.program.types[value]
        found = [v for v in self.visible if v != value and self.program.types[v] == type]
        if found and self.draw.random() < 0.7:
            return self.draw.choice(found)
        floats = type.dtype in FLOATS
        if self.pinned:
            other = [
                v
                for v in self.visible
                if v != value
                and self.program.types[v].dims == type.dims
                and self.program.types[v].dtype == type.dtype
            ]
            if other:
                return self.convert(self.draw.choice(other), type.pin)
        if self.draw.random() < 0.4:
            return self.load(type.dims, type.dtype, type.pin)
        number = self.draw.choice([0.5, 1.0, -2.0, 3.0]) if floats else self.draw.randint(-9, 9)
        return self.constant(self.like(value), number)

    def tame(self, value: int, largest: float) -> int:
        """The value, scaled down to that magnitude where it may be larger."""
        limit = self.limit[value]
        if limit <= largest:
            return value
        factor = 2.0 ** math.floor(math.log2(largest / limit))
        if self.dtype(value) == "f16" and factor < 2.0**-14:
            factor = 2.0**-14
        scale = self.constant(self.like(value), factor)
        return self.emit(
            "elementwise", self.like(value), [value, scale], limit * factor, name="arith.mulf"
        )

    def cast(self, value: int, to: str) -> int:
        """A float value in another float type."""
        if self.dtype(value) == to:
            return value
        value = self.tame(value, LIMITS[to])
        if self.dtype(value) != "f32":
            value = self.emit(
                "cast", self.like(value, "f32"), [value], self.limit[value], name="arith.extf"
            )
        if to == "f32":
            return value
        return self.emit(
            "cast", self.like(value, to), [value], self.limit[value], name="arith.truncf"
        )
