"""Draws random programs."""

from __future__ import annotations

import math
import random
from typing import Dict, List, Optional, Tuple

from .program import EFFECTS, FLOATS, SIZES, Buffer, Offset, Op, Program, Region, walk

POWERS = [1, 2, 4, 8, 16, 32, 64, 128]
ODDITIES = [3, 5, 7, 12, 13, 24, 48, 60, 68, 80, 96, 100, 112]
#: Largest number that results may reach in each type before they are scaled.
#: The elements of operands of products, and their precision.
PRODUCT_TYPES = [("f16", None), ("f16", None), ("bf16", None), ("bf16", None), ("i8", None),
                 ("f32", "tf32"), ("f32", "bf16x3")]

LIMITS = {"f16": 2000.0, "bf16": 1e6, "f32": 1e6}
#: Elements of a thread in a tile that is reshaped.
MOST_OF_A_THREAD = 256
#: The operations that combine two tiles like reductions of these kinds.
COMBINATIONS = {
    "addf": "arith.addf", "maxnumf": "arith.maxnumf", "minimumf": "arith.minimumf", "addi": "arith.addi",
    "maxs": "arith.maxsi", "xori": "arith.xori",
}  # fmt: skip
FLOAT_REDUCTIONS = ["addf", "addf", "maximumf", "minimumf", "maxnumf", "minnumf", "mulf"]
INTEGER_REDUCTIONS = [
    "addi", "addi", "muli", "maxs", "mins", "maxu", "minu", "andi", "ori", "xori"
]
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
#: Distributions of floats and the largest number of each.
FILLS = {"normal": 4.0, "integers": 4.0, "positive": 1.5}


class Generator:
    """Builds one program from the numbers that `draw` gives."""

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

    # Buffers.

    def buffer(self, dims: Tuple[int, ...], dtype: str, output: bool) -> Buffer:
        draw = self.draw
        self.names += 1
        name = ("o" if output else "a") + str(self.names)
        buffer = Buffer(name, dtype, dims, (1,) * len(dims), [0] * len(dims), output=output)
        buffer.seed = draw.randrange(1 << 30)
        if dtype in FLOATS:
            buffer.fill = draw.choice(list(FILLS))
        elif draw.random() < 0.2:
            buffer.fill = "wide"
        return buffer

    def place(self, dims: Tuple[int, ...], dtype: str, output: bool) -> Tuple[int, Dict]:
        """A new buffer for tiles of these dimensions, and where this block's, or
        this iteration's, lies in it."""
        draw, program = self.draw, self.program
        buffer = self.buffer(dims, dtype, output)
        gx, gy = program.grid
        # What each coordinate selects: a dimension, or a leading one.
        variables: List[Tuple[str, int, Optional[int]]] = []
        if gx > 1 and (output or draw.random() < 0.7):
            variables.append(("x", gx, None))
        if gy > 1 and (output or draw.random() < 0.7):
            variables.append(("y", gy, None))
        for name, step, trips in self.loops:
            if output or draw.random() < 0.7:
                variables.append((name, max(trips, 1), step))
        counts = [1] * len(dims)
        offsets = [Offset() for _ in dims]
        leads: List[int] = []
        fixed: List[str] = []
        free = list(range(len(dims)))
        draw.shuffle(free)
        for name, count, step in variables:
            fits = [k for k in free if step is None or dims[k] == step]
            # The variable of a loop over elements selects that dimension only.
            if step is None and name in ("x", "y") or step is None:
                fits = [k for k in free]
            if fits and draw.random() < 0.75:
                k = fits[0]
                free.remove(k)
                counts[k] = count
                offsets[k] = Offset(name)
            elif step is None:
                leads.append(count)
                fixed.append(name)
            elif output:
                raise Retry
        buffer.counts, buffer.leads = tuple(counts), tuple(leads)
        rank = len(leads) + len(dims)
        # Ragged ends, and more memory than is accessed.
        for k, dim in enumerate(dims):
            extent = program.extents[dim]
            kind = draw.random()
            if kind < 0.3 and extent > 1:
                buffer.cut[k] = draw.randint(1, extent - 1)
            elif kind < 0.4:
                buffer.cut[k] = -draw.randint(1, 9)
            elif kind < 0.5 and not output:
                offsets[k].constant = draw.choice([1, 3, 4, extent])
        buffer.dynamic = tuple(draw.random() < 0.5 for _ in range(rank))
        order = list(reversed(range(rank)))
        if draw.random() < 0.25:
            draw.shuffle(order)
        buffer.order = tuple(order)
        kind = draw.random()
        if kind < 0.1:
            buffer.step = draw.choice([2, 3])
        elif kind < 0.4:
            buffer.padding = draw.choice([1, 3, 8, 16])
        if draw.random() < 0.5:
            buffer.divisor = draw.choice([1, 2, 4, 8])
        buffer.dynamic_strides = draw.random() < 0.5
        buffer.align = draw.choice([0, 0, 4, 8, 16, 16])
        if buffer.align < SIZES[dtype]:
            buffer.align = 0
        buffer.shift = draw.choice([0, 0, 1])
        if (
            rank == 2
            and not leads
            and draw.random() < 0.1
            and program.extents[dims[1]] % 8 == 0
        ):
            buffer.map = draw.choice([2, 4, 8])
            buffer.cut[1] = 0
            buffer.order, buffer.step, buffer.padding = (), 1, 0
        program.buffers.append(buffer)
        return len(program.buffers) - 1, {"offsets": offsets, "leads": fixed}

    def load(self, dims: Tuple[int, ...], dtype: str, pin: Optional[tuple] = None) -> int:
        index, where = self.place(dims, dtype, False)
        buffer = self.program.buffers[index]
        if len(dims) == 2 and not buffer.map and self.draw.random() < 0.05:
            buffer.repeated = (len(buffer.leads) + self.draw.randrange(2),)
        if not buffer.map and self.draw.random() < 0.1:
            k = self.draw.randrange(len(dims))
            extent = buffer.extents(self.program.extents)[len(buffer.leads) + k]
            start = self.draw.randrange(extent)
            where["narrow"] = (k, start, self.draw.randint(0, extent - start))
        limit = FILLS.get(buffer.fill, 100.0)
        if self.pinned and pin is None:
            pin = self.pin()
        shared = None
        if self.pinned and self.draw.random() < 0.3:
            shared = self.draw.randrange(6)
        return self.emit(
            "load", (dims, dtype, pin), limit=limit, buffer=index, shared=shared, **where
        )

    def store(self, value: int) -> None:
        dims, dtype, _ = self.like(value)
        kind = self.draw.random()
        if kind < 0.15 and dtype in (*FLOATS, "i32", "i64"):
            self.atomic(value)
            return
        index, where = self.place(dims, dtype, True)
        self.emit("store", None, [value], buffer=index, **where)

    def atomic(self, value: int) -> None:
        dims, dtype, _ = self.like(value)
        index, where = self.place(dims, dtype, self.draw.random() < 0.3)
        buffer = self.program.buffers[index]
        buffer.output = False
        name = "addf"
        if dtype not in FLOATS:
            name = self.draw.choice(["addi", "addi", "maxs", "mins", "maxu", "minu", "ori", "andi"])
        elif not buffer.map and len(dims) == 2 and self.draw.random() < 0.1:
            buffer.repeated = (len(buffer.leads) + self.draw.randrange(2),)
        self.emit("atomic", None, [value], buffer=index, name=name, **where)

    def check(self) -> None:
        """An assertion on a value that holds, but not in what padding adds to tiles."""
        x = self.pick()
        if x is not None:
            axis = self.draw.randrange(len(self.program.types[x].dims))
            # The value counts as used where it is stored.
            self.ops.append(Op("check", [], [x], {"dim": axis}))

    # Operations.

    def step(self) -> None:
        options = [
            (self.elementwise, 6), (self.integer, 2), (self.new_load, 2), (self.reduce, 4),
            (self.scan, 3),
            (self.broadcast, 4), (self.regrow, 3), (self.transpose, 2), (self.mask, 2),
            (self.casts, 2), (self.count, 1), (self.softmax, 1), (self.check, 1),
        ]
        if self.pinned:
            options += [(self.reconvert, 4)]
        else:
            options += [
                (self.dot, 4), (self.shared, 1), (self.masked_load, 2), (self.reshape, 3),
                (self.extract, 2), (self.concatenate, 2), (self.table, 1),
                (self.gather, 2), (self.triangular_inverse, 0.5),
            ]
        if self.depth < 2:
            options += [(self.loop, 2), (self.branch, 1)]
        chosen = self.draw.choices([o for o, _ in options], [w for _, w in options])[0]
        chosen()

    def new_load(self) -> None:
        rank = self.draw.choice([1, 2, 2, 2, 2, 3])
        dtype = self.draw.choice(["f32", "f32", "f32", "f16", "bf16", "i32", "i64"])
        self.load(self.dims(rank), dtype)

    def masked_load(self) -> None:
        """A load with a mask, another value, or both."""
        draw = self.draw
        dtype = draw.choice(["f32", "f32", "f16", "bf16", "i32", "i64"])
        dims = self.dims(draw.choice([1, 2, 2, 2, 3]))
        masks = []
        if draw.random() < 0.6:
            masks.append(self.coordinate_mask((dims, "i32", None)))
        other = draw.choice([3, -1, 0]) if not masks or draw.random() < 0.6 else None
        index, where = self.place(dims, dtype, False)
        limit = FILLS.get(self.program.buffers[index].fill, 100.0)
        self.emit("masked_load", (dims, dtype, None), masks, limit, buffer=index, other=other, **where)

    def gather(self) -> None:
        draw = self.draw
        dims = self.dims(draw.choice([1, 2, 2, 3]))
        axis = draw.randrange(len(dims))
        dtype = draw.choice(["f32", "f32", "f16", "bf16", "i32", "i64"])
        if draw.random() < 0.4:
            rows = self.load(dims, draw.choice(["i32", "i64"]))
        else:
            room = self.most() // max(self.size(dims) // self.program.extents[dims[axis]], 1)
            rows = self.load((self.any_dim(min(room, 128)),), draw.choice(["i32", "i64"]))
        self.gather_by(rows, dims, axis, dtype)

    def gather_by(self, rows: int, dims: Tuple[int, ...], axis: int, dtype: str) -> int:
        """Elements of a new buffer for tiles of these dimensions. The indices are an
        element for each result, or for each coordinate along the axis."""
        if self.draw.random() < 0.8:
            mask = self.constant(self.like(rows), 127)
            rows = self.emit("elementwise", self.like(rows), [rows, mask], 127.0, name="arith.andi")
        index, where = self.place(dims, dtype, False)
        buffer = self.program.buffers[index]
        buffer.map = 0
        limit = FILLS.get(buffer.fill, 100.0)
        shape = self.program.types[rows].dims
        if shape != dims:
            shape = dims[:axis] + shape + dims[axis + 1 :]
        return self.emit("gather", (shape, dtype, None), [rows], limit, buffer=index, dim=axis, **where)

    def table(self) -> None:
        """A constant tile of several numbers."""
        dims = self.dims(self.draw.choice([1, 2]))
        dtype = self.draw.choice(["f32", "f16", "i32"])
        if self.size(dims) <= 1024:
            self.table_of(dims, dtype)

    def table_of(self, dims: Tuple[int, ...], dtype: str) -> int:
        values = [self.draw.randint(-8, 8) for _ in range(self.size(dims))]
        return self.emit("table", (dims, dtype, None), limit=8.0, values=values)

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

    def dot(self) -> None:
        """A product, of what is there or of new tiles."""
        draw = self.draw
        dtype, precision = draw.choice(PRODUCT_TYPES)
        extents = [16, 16, 32, 32, 64, 64, 128, 48, 80, 96, 112]
        if draw.random() < 0.15:
            extents = [4, 8, 20, 24, 60, 68, 100, 7, 13]
        usual = [
            v
            for v in self.values(True)
            if dtype in FLOATS
            and len(self.program.types[v].dims) == 2
            and all(self.program.extents[d] in extents for d in self.program.types[v].dims)
        ]
        if usual and draw.random() < 0.6:
            a = self.cast(self.tame(draw.choice(usual), 50.0), dtype)
            m, k = self.program.types[a].dims
        else:
            m, k = self.dim(draw.choice(extents)), self.dim(draw.choice(extents))
            if self.size((m, k)) > self.most():
                return
            a = self.load((m, k), dtype)
        room = self.most() // max(self.program.extents[m], self.program.extents[k])
        fits = [n for n in extents if n <= room]
        if not fits:
            return
        n = self.dim(draw.choice(fits))
        if draw.random() < 0.4:
            b = self.load((n, k), dtype)
            b = self.emit(
                "transpose", ((k, n), dtype, None), [b], self.limit[b], order=(1, 0)
            )
        else:
            b = self.load((k, n), dtype)
        sums = "f32" if dtype in FLOATS else "i32"
        type = ((m, n), sums, None)
        if draw.random() < 0.7:
            c = self.constant(type, 0.0 if dtype in FLOATS else 0)
        else:
            c = self.load((m, n), sums)
        limit = self.limit[a] * self.limit[b] * self.program.extents[k] + self.limit[c]
        self.emit("dot", type, [a, b, c], limit, precision=precision)
        # Only products use tiles of bytes.
        self.visible = [v for v in self.visible if self.dtype(v) != "i8"]

    def triangular_inverse(self) -> None:
        """The inverse of a unit triangular matrix, whose elements are below 2 because
        those of the source are small."""
        dim = self.dim(self.draw.choice([16, 16, 32, 48, 64, 7, 24]))
        x = self.tame(self.load((dim, dim), "f32"), 0.5 / self.program.extents[dim])
        self.emit("inverse", self.like(x), [x], 2.0)

    # Control flow.

    def region(self, body) -> Region:
        """A region whose operations `body` adds; its values end with it."""
        outer, seen = self.ops, len(self.visible)
        region = Region()
        self.ops = region.ops
        self.depth += 1
        region.yields = body(region)
        self.depth -= 1
        self.ops = outer
        del self.visible[seen:]
        return region

    def next_like(self, value: int, target: Tuple, largest: float) -> int:
        """A late value of this type, or one made from `value`."""
        found = [
            v
            for v in self.visible[-6:]
            if self.like(v) == target and self.limit[v] <= largest
        ]
        return self.draw.choice(found) if found else value

    def loop(self) -> None:
        draw = self.draw
        starts: List[int] = []
        for _ in range(draw.choice([1, 1, 2])):
            x = self.pick()
            if x is None:
                return
            if x not in starts:
                starts.append(x)
        trips = draw.choice([0, 1, 2, 3, 3])
        step = None
        if draw.random() < 0.5:
            step = draw.choice(self.program.types[starts[0]].dims)
        scalar = None
        if draw.random() < 0.5:
            scalar = len(self.program.scalars)
            self.program.scalars.append(trips)
        self.names += 1
        variable = f"i{self.names}"

        def body(region: Region) -> List[int]:
            yields = []
            self.loops.append((variable, step, trips))
            for x in starts:
                carried = self.program.new(*self.like(x))
                region.arguments.append(carried)
                self.limit[carried] = self.limit[x]
                self.visible.append(carried)
            for _ in range(draw.randint(1, 4)):
                self.step()
            for x, carried in zip(starts, region.arguments):
                yields.append(self.carry(x, carried))
            self.loops.pop()
            return yields

        region = self.region(body)
        self.used.update(starts)
        results = []
        for x in starts:
            result = self.program.new(*self.like(x))
            self.limit[result] = self.limit[x] * 4 + 64
            results.append(result)
        self.ops.append(
            Op(
                "for", results, starts,
                {"variable": variable, "step": step, "trips": trips, "scalar": scalar}, [region],
            )
        )
        self.visible += results

    def carry(self, x: int, carried: int) -> int:
        """What an iteration hands on: half of what it got, and something new."""
        type = self.like(x)
        kind = self.draw.choice(["addf", "addf", "addf", "maxnumf", "minimumf"])
        if type[1] not in FLOATS:
            kind = self.draw.choice(["addi", "addi", "maxs", "xori"])
        new = self.reduced_like(type, kind) if self.draw.random() < 0.5 else None
        if new is None:
            new = self.next_like(carried, type, 64.0)
        elif kind != "addf":
            limit = 2.0**31 if kind == "addi" else max(self.limit[x], self.limit[new])
            return self.emit(
                "elementwise", type, [carried, new], limit, name=COMBINATIONS[kind]
            )
        if type[1] not in FLOATS:
            if new == carried:
                new = self.mate(carried)
            return self.emit("elementwise", type, [carried, new], 2.0**31, name="arith.addi")
        if new == carried:
            new = self.tame(self.mate(carried), 8.0)
        half = self.constant(type, 0.5)
        flags = "reassoc" if self.draw.random() < 0.8 else ""
        scaled = self.emit(
            "elementwise", type, [carried, half], self.limit[x], name="arith.mulf", flags=flags
        )
        return self.emit(
            "elementwise", type, [scaled, new], self.limit[x] + 64, name="arith.addf", flags=flags
        )

    def reduced_like(self, target: Tuple, kind: str) -> Optional[int]:
        """A reduction of this type of a late value; None if there is no such value."""
        found = []
        for v in self.visible[-8:]:
            dims, dtype, pin = self.like(v)
            for axis in range(len(dims) if len(dims) > 1 else 0):
                rest = dims[:axis] + dims[axis + 1 :]
                slice = None if pin is None else ("slice", axis, dims, pin)
                if (rest, dtype, slice) == target:
                    found.append((v, axis))
        if not found:
            return None
        v, axis = self.draw.choice(found)
        new = self.reduce_along(v, axis, kind)
        return new if kind != "addf" else self.tame(new, 64.0)

    def branch(self) -> None:
        draw = self.draw
        x = self.pick()
        if x is None:
            return
        type = self.like(x)
        limits = []

        def body(region: Region) -> List[int]:
            for _ in range(draw.randint(0, 3)):
                self.step()
            chosen = self.next_like(x, type, max(self.limit[x], 64.0))
            if chosen == x:
                chosen = self.mate(x)
            limits.append(self.limit[chosen])
            self.used.add(chosen)
            return [chosen]

        def stores(region: Region) -> List[int]:
            self.store(x)
            return []

        variable = draw.choice(["x", "y"] + [name for name, step, _ in self.loops if step is None])
        attrs = {"variable": variable, "bound": draw.choice([0, 1, 2])}
        if draw.random() < 0.3:
            # A condition that is loaded.
            attrs["buffer"] = len(self.program.buffers)
            flags = self.buffer((self.dim(4),), "i32", False)
            flags.fill = "normal"
            self.program.buffers.append(flags)
        if draw.random() < 0.2:
            self.ops.append(Op("if", [], [], attrs, [self.region(stores)]))
            return
        regions = [self.region(body), self.region(body)]
        result = self.program.new(*type)
        self.limit[result] = max(limits)
        self.ops.append(Op("if", [result], [], attrs, regions))
        self.visible.append(result)

    def build(self) -> Program:
        for _ in range(self.draw.choice([1, 1, 2])):
            self.new_load()
        for _ in range(self.draw.randint(2, 9)):
            self.step()
        unused = [v for v in self.values() if v not in self.used]
        stored = unused[-3:] or [self.pick()]
        for value in stored:
            self.store(value)
        prune(self.program)
        self.bounds()
        return self.program

    def bounds(self) -> None:
        """Takes some grids and loop bounds from extents of buffers."""
        program = self.program
        along: Dict[str, List[Tuple[str, int]]] = {}
        for op in walk(program.ops):
            if "narrow" in op.attrs:
                continue
            for k, offset in enumerate(op.attrs.get("offsets", ())):
                buffer = program.buffers[op.attrs["buffer"]]
                if buffer.dynamic[len(buffer.leads) + k] and not offset.constant:
                    along.setdefault(offset.variable, []).append((buffer.name, k))
        if "x" in along and self.draw.random() < 0.7:
            program.grid_of = self.draw.choice(along["x"])
        for op in walk(program.ops):
            if op.kind == "for" and op.attrs["variable"] in along and self.draw.random() < 0.7:
                op.attrs["bound_of"] = self.draw.choice(along[op.attrs["variable"]])


class Retry(Exception):
    """The draws do not fit together; others may."""


def generate(seed: str) -> Program:
    draw = random.Random(seed)
    while True:
        try:
            program = Generator(draw).build()
        except Retry:
            continue
        if program.buffers and any(op.kind in ("store", "atomic") for op in program.ops):
            return program


def prune(program: Program) -> None:
    """Deletes operations whose results nobody uses, and buffers that nobody
    accesses."""

    def sweep(ops: List[Op], live: set) -> List[Op]:
        kept = []
        for op in reversed(ops):
            effect = op.kind in EFFECTS or any(
                has_effect(region.ops) for region in op.regions
            )
            if not effect and not any(r in live for r in op.results):
                continue
            for region in op.regions:
                live.update(region.yields)
                region.ops = sweep(region.ops, live)
            live.update(op.operands)
            kept.append(op)
        return kept[::-1]

    def has_effect(ops: List[Op]) -> bool:
        return any(
            op.kind in EFFECTS or any(has_effect(r.ops) for r in op.regions)
            for op in ops
        )

    program.ops = sweep(program.ops, set())
    used = {op.attrs["buffer"] for op in walk(program.ops) if "buffer" in op.attrs}
    order = {old: new for new, old in enumerate(sorted(used))}
    program.buffers = [program.buffers[i] for i in sorted(used)]
    for op in walk(program.ops):
        if "buffer" in op.attrs:
            op.attrs["buffer"] = order[op.attrs["buffer"]]
    scalars = sorted(
        {op.attrs["scalar"] for op in walk(program.ops) if op.attrs.get("scalar") is not None}
    )
    program.scalars = [program.scalars[i] for i in scalars]
    for op in walk(program.ops):
        if op.attrs.get("scalar") is not None:
            op.attrs["scalar"] = scalars.index(op.attrs["scalar"])
