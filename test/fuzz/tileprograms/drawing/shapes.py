"""Random operations that change shapes and layouts."""

from __future__ import annotations

import math
from typing import List, Optional, Tuple

from ..program import FLOATS
from .values import LIMITS, Values

#: Elements of a thread in a tile that is reshaped.
MOST_OF_A_THREAD = 256
FLOAT_REDUCTIONS = ["addf", "addf", "maximumf", "minimumf", "maxnumf", "minnumf", "mulf"]
INTEGER_REDUCTIONS = [
    "addi", "addi", "muli", "maxs", "mins", "maxu", "minu", "andi", "ori", "xori"
]


class Shapes(Values):
    """Draws reductions, scans, broadcasts, reshapes and conversions of layouts."""

    def reduce(self) -> Optional[int]:
        least = 2 if self.pinned else 1
        found = [v for v in self.values() if len(self.program.types[v].dims) >= least]
        if not found:
            return None
        x = self.draw.choice(found[-4:])
        axis = self.draw.randrange(len(self.program.types[x].dims))
        return self.reduce_along(x, axis)

    def reduce_along(self, x: int, axis: int, name: Optional[str] = None) -> int:
        x, name, limit = self.combined(x, axis, name)
        type = self.program.types[x]
        rest = type.dims[:axis] + type.dims[axis + 1 :]
        rest = rest or (self.dim(1),)
        pin = None if type.pin is None else ("slice", axis, type.dims, type.pin)
        return self.emit("reduce", (rest, type.dtype, pin), [x], limit, name=name, dim=axis)

    def combined(self, x: int, axis: int, name: Optional[str]) -> Tuple[int, str, float]:
        """A tile that can be combined along a dimension, the kind, and the
        largest magnitude of the result."""
        type = self.program.types[x]
        count = self.program.extents[type.dims[axis]]
        if name is None:
            name = self.draw.choice(
                FLOAT_REDUCTIONS if type.dtype in FLOATS else INTEGER_REDUCTIONS
            )
        limit = self.limit[x]
        if name == "mulf":
            # Products of numbers near 1: 1 + x / (large).
            x = self.tame(x, 1.0 / max(count, 2))
            one = self.constant(self.like(x), 1.0)
            x = self.emit("elementwise", self.like(x), [x, one], 1.5, name="arith.addf")
            limit = 3.0
        elif name == "addf":
            x = self.tame(x, LIMITS[type.dtype] / count)
            limit = self.limit[x] * count
        return x, name, limit

    def scan(self) -> Optional[int]:
        found = self.values()
        if not found:
            return None
        x = self.draw.choice(found[-4:])
        axis = self.draw.randrange(len(self.program.types[x].dims))
        return self.scan_along(
            x, axis, self.draw.random() < 0.5, region=self.draw.random() < 0.3
        )

    def scan_along(
        self, x: int, axis: int, reverse: bool, name: Optional[str] = None, region: bool = False
    ) -> int:
        x, name, limit = self.combined(x, axis, name)
        return self.emit("scan", self.like(x), [x], limit, name=name, dim=axis, reverse=reverse,
                         region=region)

    def broadcast(self) -> Optional[int]:
        found = [v for v in self.values() if len(self.program.types[v].dims) < 3]
        if not found:
            return None
        x = self.draw.choice(found[-4:])
        return self.broadcast_to_new(x, self.draw.randrange(len(self.program.types[x].dims) + 1))

    def broadcast_to_new(self, x: int, axis: int, dim: Optional[int] = None) -> Optional[int]:
        type = self.program.types[x]
        if dim is None:
            dim = self.any_dim(min(self.most() // self.size(type.dims), 128))
        dims = type.dims[:axis] + (dim,) + type.dims[axis:]
        if self.size(dims) > self.most():
            return None
        pin = None
        if self.pinned:
            if type.pin[0] == "slice" and type.pin[1] == axis and type.pin[2] == dims:
                pin = type.pin[3]
            else:
                pin = self.pin()
                x = self.convert(x, ("slice", axis, dims, pin))
        return self.emit("broadcast", (dims, type.dtype, pin), [x], self.limit[x], dim=axis)

    def regrow(self) -> None:
        """Reduces along a dimension and broadcasts to another extent."""
        found = [v for v in self.values() if len(self.program.types[v].dims) > 1]
        if not found:
            return
        x = self.draw.choice(found[-4:])
        axis = self.draw.randrange(len(self.program.types[x].dims))
        small = self.reduce_along(x, axis)
        if self.draw.random() < 0.5:
            axis = self.draw.randrange(len(self.program.types[small].dims) + 1)
        self.broadcast_to_new(small, axis)

    def softmax(self) -> None:
        found = [v for v in self.values(True) if len(self.program.types[v].dims) == 2]
        if not found:
            return
        x = self.cast(self.draw.choice(found), "f32")
        x = self.tame(x, 30.0)
        dims, dtype, pin = self.like(x)
        if self.draw.random() < 0.5:
            i = self.emit("iota", (dims, "i32", pin), limit=128.0, dim=1)
            end = self.constant((dims, "i32", pin), self.draw.randint(1, 70))
            seen = self.emit(
                "compare", (dims, "i1", pin), [i, end], 1.0, name="arith.cmpi", predicate="slt"
            )
            hidden = self.constant((dims, dtype, pin), -math.inf)
            self.visible.remove(hidden)
            limit = self.limit[x]
            x = self.emit("select", (dims, dtype, pin), [seen, x, hidden], limit)
        largest = self.reduce_along(x, 1, "maxnumf")
        largest = self.broadcast_to_new(largest, 1, dims[1])
        if self.program.types[largest].pin != pin:
            largest = self.convert(largest, pin)
        below = self.emit("elementwise", (dims, dtype, pin), [x, largest], 60.0, name="arith.subf")
        weights = self.emit("elementwise", (dims, dtype, pin), [below], 1.0, name="math.exp2")
        total = self.reduce_along(weights, 1, "addf")
        total = self.broadcast_to_new(total, 1, dims[1])
        if self.program.types[total].pin != pin:
            total = self.convert(total, pin)
        self.emit("elementwise", (dims, dtype, pin), [weights, total], 1.0, name="arith.divf")

    def transpose(self) -> None:
        found = [v for v in self.values() if len(self.program.types[v].dims) > 1]
        if not found:
            return
        x = self.draw.choice(found)
        type = self.program.types[x]
        order = list(range(len(type.dims)))
        self.draw.shuffle(order)
        dims = tuple(type.dims[k] for k in order)
        pin = None if type.pin is None else ("permute", tuple(order), type.dims, type.pin)
        self.emit("transpose", (dims, type.dtype, pin), [x], self.limit[x], order=tuple(order))

    def reshape(self) -> None:
        x = self.pick()
        if x is None:
            return
        extents = [self.program.extents[d] for d in self.program.types[x].dims]
        count = math.prod(extents)
        # Threads hold copies of a tile whose extents have few factors of two, and
        # no padding helps a tile that is reshaped: its code takes LLVM a minute
        # (docs/notes/amd-attention.md, "Not implemented").
        shares = math.prod(n & -n for n in extents)
        if count / min(shares, 32 * self.program.warps) > MOST_OF_A_THREAD:
            return
        kind = self.draw.random()
        if kind < 0.3:
            shape = [count]
        elif kind < 0.6:
            k = self.draw.randrange(len(extents))
            parts = [f for f in range(1, extents[k] + 1) if extents[k] % f == 0]
            part = self.draw.choice(parts)
            shape = extents[:k] + [extents[k] // part, part] + extents[k + 1 :]
        else:
            part = self.draw.choice([f for f in range(1, count + 1) if count % f == 0])
            shape = [count // part, part]
        if len(shape) <= 3:
            self.reshape_to(x, shape)

    def reshape_to(self, x: int, shape: List[int]) -> int:
        dims = tuple(self.dim(n) for n in shape)
        return self.emit("reshape", (dims, self.dtype(x), None), [x], self.limit[x])

    def extract(self) -> None:
        x = self.pick()
        if x is None:
            return
        parts = []
        for d in self.program.types[x].dims:
            extent = self.program.extents[d]
            counts = [f for f in range(1, extent + 1) if extent % f == 0]
            parts.append(self.draw.choice([1, self.draw.choice(counts)]))
        if self.draw.random() < 0.3:
            self.extract_anywhere(x)
        else:
            self.extract_from(x, parts, [self.draw.randrange(n) for n in parts])

    def extract_anywhere(self, x: int) -> int:
        """A part of any extents, at any place."""
        dims, offsets = [], []
        for d in self.program.types[x].dims:
            whole = self.program.extents[d]
            extent = self.draw.randint(1, whole)
            dims.append(d if extent == whole else self.dim(extent))
            offsets.append(self.draw.randint(0, whole - extent))
        return self.emit(
            "extract", (tuple(dims), self.dtype(x), None), [x], self.limit[x], starts=offsets
        )

    def extract_from(self, x: int, counts: List[int], numbers: List[int]) -> int:
        """The part with these numbers, of a tile divided in so many."""
        dims, offsets = [], []
        for d, count, number in zip(self.program.types[x].dims, counts, numbers):
            extent = self.program.extents[d] // count
            dims.append(d if count == 1 else self.dim(extent))
            offsets.append(number * extent)
        return self.emit(
            "extract", (tuple(dims), self.dtype(x), None), [x], self.limit[x], starts=offsets
        )

    def concatenate(self) -> None:
        x = self.pick()
        if x is None:
            return
        sources = [x] + [self.mate(x) for _ in range(self.draw.choice([0, 1, 1, 2]))]
        if self.size(self.program.types[x].dims) * len(sources) <= self.most():
            self.concatenate_along(sources, self.draw.randrange(len(self.program.types[x].dims)))

    def concatenate_along(self, sources: List[int], axis: int) -> int:
        dims = list(self.program.types[sources[0]].dims)
        dims[axis] = self.dim(self.program.extents[dims[axis]] * len(sources))
        limit = max(self.limit[v] for v in sources)
        return self.emit(
            "concatenate", (tuple(dims), self.dtype(sources[0]), None), sources, limit, dim=axis
        )

    def convert(self, x: int, pin: tuple) -> int:
        shared = self.draw.randrange(6) if self.draw.random() < 0.3 else None
        dims, dtype, _ = self.like(x)
        if dtype == "i1":
            shared = None
        return self.emit("convert", (dims, dtype, pin), [x], self.limit[x], shared=shared)

    def reconvert(self) -> None:
        x = self.pick()
        if x is not None:
            self.convert(x, self.pin())

    def shared(self) -> None:
        x = self.pick()
        if x is not None and self.size(self.program.types[x].dims) <= 2048:
            self.emit(
                "through_shared", self.like(x), [x], self.limit[x], layout=self.draw.randrange(6)
            )
