"""Random operations on the elements of tiles."""

from __future__ import annotations

from typing import Tuple

from ..program import FLOATS
from .values import LIMITS, Values

UNARY = [
    "arith.negf", "math.absf", "math.exp2", "math.exp", "math.tanh", "math.sqrt",
    "math.log2", "math.log", "math.rsqrt", "math.sin", "math.cos", "math.erf",
    "math.floor", "math.ceil", "math.trunc", "math.roundeven", "math.round", "math.atan",
    "math.asinh", "math.log1p",
]
BINARY = [
    "arith.addf", "arith.addf", "arith.subf", "arith.mulf", "arith.mulf", "arith.divf",
    "arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf",
]
INTEGER_BINARY = [
    "arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori",
    "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.divsi",
    "arith.remsi", "arith.shli", "arith.shrsi",
]


class Elements(Values):
    """Draws operations on elements, coordinates, masks and casts."""

    def elementwise(self) -> None:
        x = self.pick(True)
        if x is None:
            return
        dtype = self.dtype(x)
        type = self.like(x)
        if self.draw.random() < 0.1:
            a, b = self.mate(x), self.mate(x)
            limit = self.limit[x] * self.limit[a] + self.limit[b]
            if limit < LIMITS[dtype]:
                self.emit("elementwise", type, [x, a, b], limit, name="math.fma")
            return
        if self.draw.random() < 0.4:
            self.unary(x, self.draw.choice(UNARY))
            return
        name = self.draw.choice(BINARY)
        y = self.mate(x)
        a, b = self.limit[x], self.limit[y]
        if name == "arith.divf":
            y = self.away_from_zero(y)
            limit = 2 * a
        elif name == "arith.mulf":
            limit = a * b
        elif name in ("arith.addf", "arith.subf"):
            limit = a + b
        else:
            limit = max(a, b)
        if limit < LIMITS[dtype]:
            self.emit("elementwise", type, [x, y], limit, name=name)

    def away_from_zero(self, x: int) -> int:
        """|x| + 0.5"""
        type, limit = self.like(x), self.limit[x]
        x = self.emit("elementwise", type, [x], limit, name="math.absf")
        half = self.constant(type, 0.5)
        return self.emit("elementwise", type, [x, half], limit + 0.5, name="arith.addf")

    def unary(self, x: int, name: str) -> int:
        limit = self.limit[x]
        if name in ("math.exp", "math.exp2"):
            x = self.tame(x, 4.0)
            limit = 60.0
        elif name in ("math.log", "math.log2", "math.rsqrt", "math.sqrt"):
            x = self.away_from_zero(x)
            limit = max(limit, 2.0)
        elif name == "math.log1p":
            x = self.away_from_zero(x)
        elif name in ("math.atan", "math.asinh"):
            x = self.tame(x, 1000.0)
        elif name in ("math.tanh", "math.sin", "math.cos", "math.erf"):
            x = self.tame(x, 16.0)
            limit = 1.0
        return self.emit("elementwise", self.like(x), [x], limit, name=name)

    def integer(self) -> None:
        x = self.pick(False)
        if x is None:
            self.count()
            return
        type = self.like(x)
        bits = 32 if self.dtype(x) == "i32" else 64
        name = self.draw.choice(INTEGER_BINARY)
        if name in ("arith.divsi", "arith.remsi"):
            y = self.constant(type, self.draw.choice([2, 3, 7, -5]))
        elif name in ("arith.shli", "arith.shrsi"):
            y = self.constant(type, self.draw.randrange(bits // 2))
        else:
            y = self.mate(x)
        self.emit("elementwise", type, [x, y], 2.0**bits, name=name)

    def count(self) -> None:
        """Coordinates of elements, blocks and iterations."""
        dtype = self.draw.choice(["i32", "i32", "i64"])
        found = self.pick()
        dims = self.dims(2) if found is None else self.program.types[found].dims
        pin = None
        if self.pinned:
            pin = self.pin() if found is None else self.program.types[found].pin
        axis = self.draw.randrange(len(dims))
        x = self.emit("iota", (dims, dtype, pin), limit=128.0, dim=axis)
        if self.draw.random() < 0.5:
            variables = ["x", "y"] + [name for name, step, _ in self.loops if step is None]
            start = self.emit(
                "position", (dims, dtype, pin), limit=1000.0,
                variable=self.draw.choice(variables), dim=dims[axis],
            )
            self.emit("elementwise", (dims, dtype, pin), [x, start], 1000.0, name="arith.addi")

    def compare(self, x: int) -> int:
        """A mask from `x` and another value."""
        if self.dtype(x) in FLOATS:
            name, predicate = "arith.cmpf", self.draw.choice(["olt", "ole", "ogt", "oge", "one"])
        else:
            name = "arith.cmpi"
            predicate = self.draw.choice(["slt", "sle", "sgt", "sge", "eq", "ne", "ult", "uge"])
        y = self.mate(x)
        return self.emit(
            "compare", self.like(x, "i1"), [x, y], 1.0, name=name, predicate=predicate
        )

    def coordinate_mask(self, type: Tuple) -> int:
        """A mask of comparisons of coordinates, as of a ragged or a causal tile."""
        flags = (type[0], "i1", type[2])
        # Its numbers are too large for other operations.
        visible, seen = list(self.visible), None
        for _ in range(self.draw.choice([1, 1, 2, 2, 3, 4])):
            part = self.emit(
                "compare", flags, [self.coordinate(type), self.coordinate(type)], 1.0,
                name="arith.cmpi",
                predicate=self.draw.choice(["slt", "sle", "sgt", "sge", "slt", "sle", "eq", "ult"]),
            )
            if seen is not None:
                name = self.draw.choice(["arith.andi", "arith.andi", "arith.ori", "arith.xori"])
                part = self.emit("elementwise", flags, [seen, part], 1.0, name=name)
            seen = part
        self.visible[:] = visible
        return seen

    def coordinate(self, type: Tuple) -> int:
        """One side of a comparison: a sum of coordinates and a number."""
        dims = type[0]
        number = self.draw.choice(
            [0, self.draw.randint(-40, 140), self.draw.randint(0, 64), 2**31 - 40, -(2**31) + 30]
        )
        if self.draw.random() < 0.3:
            return self.constant(type, number)
        axis = self.draw.randrange(len(dims))
        total = self.emit("iota", type, limit=128.0, dim=axis)
        for _ in range(self.draw.choice([0, 0, 1, 2])):
            kind = self.draw.random()
            if kind < 0.3:
                other = self.constant(type, number)
            elif kind < 0.6:
                other = self.emit("iota", type, limit=128.0, dim=self.draw.randrange(len(dims)))
            else:
                variables = ["x", "y"] + [name for name, step, _ in self.loops if step is None]
                other = self.emit(
                    "position", type, limit=1000.0, variable=self.draw.choice(variables),
                    dim=dims[axis],
                )
            name = self.draw.choice(["arith.addi", "arith.addi", "arith.subi"])
            operands = [total, other] if self.draw.random() < 0.7 else [other, total]
            total = self.emit("elementwise", type, operands, 1000.0, name=name)
        return total

    def mask(self) -> None:
        x = self.pick()
        if x is None:
            return
        type = self.like(x)
        if self.draw.random() < 0.5:
            seen = self.coordinate_mask(self.like(x, "i32"))
        else:
            seen = self.compare(x)
            if self.draw.random() < 0.3:
                other = self.compare(x)
                seen = self.emit(
                    "elementwise", self.like(x, "i1"), [seen, other], 1.0,
                    name=self.draw.choice(["arith.andi", "arith.ori", "arith.xori"]),
                )
        if self.draw.random() < 0.15:
            to = self.draw.choice(["i32", "f32"])
            name = self.draw.choice(["arith.extui", "arith.extsi"]) if to == "i32" else "arith.uitofp"
            self.emit("cast", self.like(x, to), [seen], 1.0, name=name)
            return
        y = self.mate(x)
        self.emit("select", type, [seen, x, y], max(self.limit[x], self.limit[y]))

    def casts(self) -> None:
        x = self.pick()
        if x is None:
            return
        dtype = self.dtype(x)
        if dtype in FLOATS:
            if self.draw.random() < 0.3:
                x = self.tame(x, 1000.0)
                self.emit("cast", self.like(x, "i32"), [x], 1000.0, name="arith.fptosi")
            else:
                self.cast(x, self.draw.choice([f for f in FLOATS if f != dtype]))
        elif self.draw.random() < 0.4:
            to, name = ("i64", "arith.extsi") if dtype == "i32" else ("i32", "arith.trunci")
            if dtype == "i32" and self.draw.random() < 0.3:
                name = "arith.extui"
            self.emit("cast", self.like(x, to), [x], 2.0**31, name=name)
        else:
            # Small enough for the types of floats.
            low = self.constant(self.like(x), 63)
            x = self.emit("elementwise", self.like(x), [x, low], 63.0, name="arith.andi")
            self.emit("cast", self.like(x, "f32"), [x], 63.0, name="arith.sitofp")
