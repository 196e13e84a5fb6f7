"""Random accesses to memory."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from ..program import FLOATS, SIZES, Buffer, Offset, Op
from .values import Retry, Values

#: Distributions of floats and the largest number of each.
FILLS = {"normal": 4.0, "integers": 4.0, "positive": 1.5}


class Memory(Values):
    """Draws buffers, loads and stores."""

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
        # Coordinates, their extents and their steps. A coordinate selects elements along a
        # dimension of the tile, or an element of a leading dimension.
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
