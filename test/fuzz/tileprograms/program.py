"""Random tile programs: their representation and their text.

A program is one kernel. Extents are kept in a table that tiles, buffers and
offsets refer to by index, so that a shrinker may halve one and the program
stays well typed.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from typing import Any, Dict, Iterator, List, Optional, Tuple

FLOATS = ("f16", "bf16", "f32")
INTEGERS = ("i8", "i32", "i64")
#: Operations whose results are not all that they do.
EFFECTS = ("store", "atomic", "check")
#: Bytes of an element.
SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "i32": 4, "i64": 8}

#: Threads of a warp by chip.
LANES = {
    "sm_80": 32,
    "sm_89": 32,
    "sm_90a": 32,
    "sm_100a": 32,
    "sm_103a": 32,
    "sm_120a": 32,
    "gfx90a": 64,
    "gfx942": 64,
    "gfx950": 64,
    "gfx1100": 32,
    "gfx1151": 32,
    "gfx1200": 32,
    "gfx1201": 32,
}
CHIPS = tuple(LANES)


@dataclasses.dataclass(frozen=True)
class Tile:
    """The type of a value: indices into the table of extents, and the element.

    `pin` is None where the compiler chooses the layout, else ("random", seed),
    ("slice", dim, dims of the parent, pin of the parent), or ("permute", order,
    dims of the parent, pin of the parent).
    """

    dims: Tuple[int, ...]
    dtype: str
    pin: Optional[tuple] = None


@dataclasses.dataclass
class Offset:
    """Where along one dimension an access begins: `variable` tiles of that
    dimension, plus `constant` elements. The variable is the coordinate of the
    block ("x", "y"), the number of a loop's iteration ("i3"), or none."""

    variable: Optional[str] = None
    constant: int = 0


@dataclasses.dataclass
class Buffer:
    """An argument in global memory.

    Dimension k has `counts[k]` tiles of extent `dims[k]`, less `cut[k]`
    elements, or more of them where that is negative. `lead` dimensions of the
    extents `leads` stand in front and are fixed by tile.slice. The layout is
    that of #tile.strided, or a #tile.map where `map` is a number of columns to
    a block.
    """

    name: str
    dtype: str
    dims: Tuple[int, ...]
    counts: Tuple[int, ...]
    cut: List[int]
    leads: Tuple[int, ...] = ()
    dynamic: Tuple[bool, ...] = ()
    #: Dimensions in storage, the innermost first.
    order: Tuple[int, ...] = ()
    #: Elements between the innermost ones, and the padding after each row.
    step: int = 1
    padding: int = 0
    #: Whether the strides are `?`, and by what they are said to be divisible.
    dynamic_strides: bool = False
    divisor: int = 1
    align: int = 0
    #: Elements in front of the buffer beyond those that the alignment asks for.
    shift: int = 0
    map: int = 0
    #: Distribution of the initial values; outputs are poisoned instead.
    fill: str = "normal"
    seed: int = 0
    output: bool = False
    #: Dimensions of stride 0; only for inputs and atomics.
    repeated: Tuple[int, ...] = ()

    def extents(self, table: List[int]) -> Tuple[int, ...]:
        inner = tuple(
            max(count * table[dim] - cut, 1)
            for dim, count, cut in zip(self.dims, self.counts, self.cut)
        )
        return self.leads + inner

    def strides(self, table: List[int]) -> Tuple[int, ...]:
        """In elements."""
        extents = self.extents(table)
        order = self.order or tuple(reversed(range(len(extents))))
        strides = [0] * len(extents)
        step = self.step
        for position, dim in enumerate(order):
            if dim in self.repeated:
                continue
            strides[dim] = step
            step *= extents[dim]
            if position == 0:
                step += self.padding
                step = -(-step // self.divisor) * self.divisor
        return tuple(strides)

    def type(self, table: List[int]) -> str:
        extents, strides = self.extents(table), self.strides(table)
        dynamic = self.dynamic or (False,) * len(extents)
        shape = "x".join("?" if d else str(n) for n, d in zip(extents, dynamic))
        align = f", align = {self.align}" if self.align else ""
        if self.map:
            layout = f"#tile.map<(a, b) -> (b floordiv {self.map}, a, b mod {self.map}){align}>"
        else:
            words = []
            order = self.order or tuple(reversed(range(len(extents))))
            for dim, stride in enumerate(strides):
                # A static stride may not hide how a dynamic extent grows.
                grows = any(dynamic[d] for d in order[: order.index(dim)])
                free = (self.dynamic_strides or grows) and stride != 0
                if free and dim == order[0] and self.step == 1:
                    words.append("1")
                elif free:
                    inner = dim == order[0]
                    divides = self.divisor > 1 and not inner and stride % self.divisor == 0
                    words.append(f"?:{self.divisor}" if divides else "?")
                else:
                    words.append(str(stride))
            layout = f"#tile.strided<[{', '.join(words)}]{align}>"
        return f"!tile.buffer<{shape}x{self.dtype}, {layout}, global>"


@dataclasses.dataclass
class Region:
    arguments: List[int] = dataclasses.field(default_factory=list)
    ops: List["Op"] = dataclasses.field(default_factory=list)
    yields: List[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Op:
    """`kind` is a method of reference.Evaluator and of Writer."""

    kind: str
    results: List[int] = dataclasses.field(default_factory=list)
    operands: List[int] = dataclasses.field(default_factory=list)
    attrs: Dict[str, Any] = dataclasses.field(default_factory=dict)
    regions: List[Region] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Program:
    extents: List[int]
    warps: int
    grid: Tuple[int, int]
    buffers: List[Buffer] = dataclasses.field(default_factory=list)
    ops: List[Op] = dataclasses.field(default_factory=list)
    types: Dict[int, Tile] = dataclasses.field(default_factory=dict)
    #: Values of the scalar arguments n0, n1, ...: loop counts.
    scalars: List[int] = dataclasses.field(default_factory=list)
    name: str = "fuzz"
    #: The buffer and the dimension whose extent gives the blocks along x.
    grid_of: Optional[Tuple[str, int]] = None

    def copy(self) -> "Program":
        return copy.deepcopy(self)

    def shape(self, value: int) -> Tuple[int, ...]:
        return tuple(self.extents[d] for d in self.types[value].dims)

    def new(self, dims: Tuple[int, ...], dtype: str, pin: Optional[tuple] = None) -> int:
        value = max(self.types, default=-1) + 1
        self.types[value] = Tile(tuple(dims), dtype, pin)
        return value

    def text(self, chip: str) -> str:
        return Writer(self, chip).text()


def walk(ops: List[Op]) -> Iterator[Op]:
    for op in ops:
        yield op
        for region in op.regions:
            yield from walk(region.ops)


def random_layout(shape: Tuple[int, ...], warps: int, lanes: int, seed: int) -> str:
    """A random layout of a tile in registers that fits the shape."""
    draw = random.Random(seed)
    if draw.random() < 0.5:
        return random_digits(shape, warps, lanes, draw)
    return random_blocked(shape, warps, lanes, draw) or random_digits(
        shape, warps, lanes, draw
    )


def random_blocked(
    shape: Tuple[int, ...], warps: int, lanes: int, draw: random.Random
) -> Optional[str]:
    """A #tile.blocked, or None if few tries find none."""
    rank = len(shape)

    def split(count: int) -> List[int]:
        parts = [1] * rank
        while count > 1:
            parts[draw.randrange(rank)] *= 2
            count //= 2
        return parts

    for _ in range(40):
        lane, warp = split(lanes), split(warps)
        thread = split(draw.choice([1, 1, 2, 4, 8]))
        order = list(range(rank))
        draw.shuffle(order)
        cover = [t * l * w for t, l, w in zip(thread, lane, warp)]
        if all(n % c == 0 or c % n == 0 for n, c in zip(shape, cover)):
            return (
                f"#tile.blocked<thread = {thread}, lane = {lane}, warp = {warp},"
                f" order = {order}>"
            )
    return None


def random_digits(
    shape: Tuple[int, ...], warps: int, lanes: int, draw: random.Random
) -> str:
    """A #tile.layout: the factors of the extents, dealt to registers, lanes and
    warps; lanes and warps that are left over hold copies."""
    digits = []
    for dim, extent in enumerate(shape):
        stride, factor = 1, 2
        while extent > 1:
            while extent % factor:
                factor += 1
            digits.append((factor, dim, stride))
            stride *= factor
            extent //= factor
    draw.shuffle(digits)
    axes: Dict[str, List[str]] = {"register": [], "lane": [], "warp": []}
    free = {"lane": lanes, "warp": warps}
    spread = draw.choice([0.5, 0.9, 1.0])
    for extent, dim, stride in digits:
        fits = [a for a in free if free[a] % extent == 0]
        axis = draw.choice(fits) if fits and draw.random() < spread else "register"
        if axis in free:
            free[axis] //= extent
        by = f" * {stride}" if stride != 1 else ""
        axes[axis].append(f"{extent} -> d{dim}{by}")
    for axis, left in free.items():
        if left > 1:
            axes[axis].insert(draw.randint(0, len(axes[axis])), f"{left} -> 0")
    words = [f"{axis} = [{', '.join(digits)}]" for axis, digits in axes.items()]
    return f"#tile.layout<{', '.join(words)}>"


class Writer:
    """Writes a program as MLIR for one chip; pinned layouts depend on it."""

    def __init__(self, program: Program, chip: str):
        self.program, self.lanes = program, LANES[chip]
        self.lines: List[str] = []
        self.constants: List[int] = []
        self.indent = "  "
        self.temporaries = 0
        #: Values that are not called %v and their number.
        self.names: Dict[int, str] = {}
        #: Loops whose variable counts elements of a dimension.
        self.steps: Dict[str, Optional[int]] = {}

    # Names and types.

    def name(self, value: int) -> str:
        return self.names.get(value, f"%v{value}")

    def layout(self, dims: Tuple[int, ...], pin: tuple) -> str:
        if pin[0] == "random":
            shape = tuple(self.program.extents[d] for d in dims)
            return random_layout(shape, self.program.warps, self.lanes, pin[1])
        parent = self.layout(pin[2], pin[3])
        detail = pin[1] if pin[0] == "slice" else list(pin[1])
        return f"#tile.{pin[0]}<{detail}, {parent}>"

    def tile(self, value: int, layout: str = "", dtype: Optional[str] = None) -> str:
        shape = "x".join(map(str, self.program.shape(value)))
        type = self.program.types[value]
        if type.pin is not None and not layout:
            layout = self.layout(type.dims, type.pin)
        layout = f", {layout}" if layout else ""
        return f"tensor<{shape}x{dtype or type.dtype}{layout}>"

    def constant(self, number: int) -> str:
        if number not in self.constants:
            self.constants.append(number)
        return f"%c{number}"

    def fresh(self) -> str:
        self.temporaries += 1
        return f"%t{self.temporaries}"

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def element(self, dtype: str, value: float) -> str:
        if dtype == "i1":
            return "true" if value else "false"
        if dtype in INTEGERS:
            return str(int(value))
        if value != value or value in (float("inf"), float("-inf")):
            bits = {"f16": "0x7C00", "bf16": "0x7F80", "f32": "0x7F800000"}
            low = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000"}
            return (bits if value > 0 else low)[dtype]
        text = repr(float(value))
        return text if "." in text or "inf" in text else text.replace("e", ".0e")

    # The whole.

    def text(self) -> str:
        program = self.program
        for op in program.ops:
            self.write(op)
        body, self.lines = self.lines, []
        arguments = [
            f"%{b.name}: {b.type(program.extents)} {{tile.name = \"{program.name}_{b.name}\"}}"
            for b in program.buffers
        ]
        arguments += [
            f"%n{i}: index {{tile.name = \"{program.name}_n{i}\"}}"
            for i in range(len(program.scalars))
        ]
        self.indent, self.lines = "  ", []
        grid = [self.constant(n) for n in (*program.grid, 1)]
        blocks = self.tiles_of(program.grid_of, program.grid[0])
        if blocks:
            extent, tile = blocks
            grid[0] = self.fresh()
            self.line(f"{grid[0]} = arith.ceildivui {extent}, {self.constant(tile)} : index")
        head, self.lines = self.lines, []
        constants = [
            f"  %c{n} = arith.constant {n} : index" for n in sorted(self.constants)
        ]
        return "\n".join(
            [
                f"tile.kernel @{program.name}(",
                ",\n".join("    " + a for a in arguments) + ")",
                f"    attributes {{num_warps = {program.warps} : i32}} {{",
                *constants,
                *head,
                f"  tile.grid {', '.join(grid)}",
                "  %x = tile.program_id x",
                "  %y = tile.program_id y",
                *body,
                "}",
                "",
            ]
        )

    def tiles_of(
        self, place: Optional[Tuple[str, int]], count: int
    ) -> Optional[Tuple[str, int]]:
        """Reads the extent of a dimension of `count` tiles. Returns its name and
        the extent of a tile, or None if the dimension has another number of
        tiles or the buffer is gone."""
        program = self.program
        for buffer in program.buffers:
            if place is None or buffer.name != place[0]:
                continue
            k = place[1]
            extent = buffer.extents(program.extents)[len(buffer.leads) + k]
            tile = program.extents[buffer.dims[k]]
            if -(-extent // tile) != count:
                return None
            name = self.fresh()
            self.line(
                f"{name} = tile.dim %{buffer.name}[{len(buffer.leads) + k}] :"
                f" {buffer.type(program.extents)}"
            )
            return name, tile
        return None

    def write(self, op: Op) -> None:
        getattr(self, "write_" + op.kind)(op)

    # Memory.

    def offset(self, offset: Offset, dim: int) -> str:
        extent = self.program.extents[dim]
        if offset.variable is None:
            return self.constant(offset.constant)
        name = f"%{offset.variable}"
        if self.steps.get(offset.variable) != dim and extent != 1:
            scaled = self.fresh()
            self.line(f"{scaled} = arith.muli {name}, {self.constant(extent)} : index")
            name = scaled
        if offset.constant:
            moved = self.fresh()
            self.line(f"{moved} = arith.addi {name}, {self.constant(offset.constant)} : index")
            name = moved
        return name

    def access(self, op: Op) -> Tuple[str, str]:
        """The buffer with its indices, and its type."""
        buffer = self.program.buffers[op.attrs["buffer"]]
        name, type = f"%{buffer.name}", buffer.type(self.program.extents)
        if buffer.leads:
            fixed = [
                self.constant(o) if isinstance(o, int) else f"%{o}"
                for o in op.attrs["leads"]
            ]
            inner = slice_type(buffer, self.program.extents)
            view = self.fresh()
            stars = ["*"] * len(buffer.dims)
            self.line(f"{view} = tile.slice {name}[{', '.join(fixed + stars)}] : {type} to {inner}")
            name, type = view, inner
        if op.attrs.get("narrow"):
            k, start, length = narrowed(buffer, self.program.extents, op.attrs["narrow"])
            inner = narrow_type(buffer, type, k)
            view = self.fresh()
            self.line(
                f"{view} = tile.narrow {name}[{k}] from {self.constant(start)} length"
                f" {self.constant(length)} : {type} to {inner}"
            )
            name, type = view, inner
        indices = [self.offset(o, d) for o, d in zip(op.attrs["offsets"], buffer.dims)]
        return f"{name}[{', '.join(indices)}]", type

    def write_load(self, op: Op) -> None:
        place, type = self.access(op)
        result = op.results[0]
        if op.attrs.get("shared") is None:
            self.line(f"{self.name(result)} = tile.load {place} : {type} -> {self.tile(result)}")
            return
        # Into a tile in shared memory, and from there to the pinned layout.
        dtype = self.program.types[result].dtype
        layout = shared_layout(self.program.shape(result), dtype, op.attrs["shared"])
        shared, tile = self.fresh(), self.tile(result, layout)
        self.line(f"{shared} = tile.load {place} : {type} -> {tile}")
        self.line(
            f"{self.name(result)} = tile.convert_layout {shared} : {tile} -> {self.tile(result)}"
        )

    def write_masked_load(self, op: Op) -> None:
        place, type = self.access(op)
        result = op.results[0]
        extra = f" mask {self.name(op.operands[0])}" if op.operands else ""
        if op.attrs["other"] is not None:
            dtype, other = self.program.types[result].dtype, self.fresh()
            self.line(f"{other} = arith.constant {self.element(dtype, op.attrs['other'])} : {dtype}")
            extra += f" other {other}"
        self.line(
            f"{self.name(result)} = tile.masked_load {place}{extra} : {type} -> {self.tile(result)}"
        )

    def write_gather(self, op: Op) -> None:
        place, type = self.access(op)
        result, rows = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = tile.gather {place} along {op.attrs['dim']} by {self.name(rows)} :"
            f" {type}, {self.tile(rows)} -> {self.tile(result)}"
        )

    def write_store(self, op: Op) -> None:
        place, type = self.access(op)
        value = op.operands[0]
        self.line(f"tile.store {self.name(value)}, {place} : {self.tile(value)}, {type}")

    def write_atomic(self, op: Op) -> None:
        place, type = self.access(op)
        value = op.operands[0]
        start = f"{self.name(op.results[0])} = " if op.results else ""
        end = f" -> {self.tile(value)}" if op.results else ""
        self.line(
            f"{start}tile.atomic_rmw {op.attrs['name']} {self.name(value)}, {place} :"
            f" {self.tile(value)}, {type}{end}"
        )

    def write_through_shared(self, op: Op) -> None:
        """Stores to a buffer in shared memory and loads from it."""
        value, result = op.operands[0], op.results[0]
        shape = self.program.shape(value)
        dtype = self.program.types[value].dtype
        layout = shared_layout(shape, dtype, op.attrs["layout"])
        type = f"!tile.buffer<{'x'.join(map(str, shape))}x{dtype}, {layout}, shared>"
        memory = self.fresh()
        zeros = ", ".join([self.constant(0)] * len(shape))
        self.line(f"{memory} = tile.alloc : {type}")
        self.line(f"tile.store {self.name(value)}, {memory}[{zeros}] : {self.tile(value)}, {type}")
        self.line(f"{self.name(result)} = tile.load {memory}[{zeros}] : {type} -> {self.tile(result)}")

    # Tiles.

    def write_constant(self, op: Op) -> None:
        result = op.results[0]
        value = self.element(self.program.types[result].dtype, op.attrs["value"])
        self.line(f"{self.name(result)} = arith.constant dense<{value}> : {self.tile(result)}")

    def write_table(self, op: Op) -> None:
        result = op.results[0]
        dtype, shape = self.program.types[result].dtype, self.program.shape(result)
        values = [self.element(dtype, v) for v in op.attrs["values"]]
        # A smaller tile, which a reduced program may have, has the first ones.
        for extent in reversed(shape):
            values = [
                "[" + ", ".join(values[i : i + extent]) + "]"
                for i in range(0, len(values) // extent * extent, extent)
            ]
        self.line(f"{self.name(result)} = arith.constant dense<{values[0]}> : {self.tile(result)}")

    def write_splat(self, op: Op) -> None:
        result = op.results[0]
        dtype = self.program.types[result].dtype
        scalar = self.fresh()
        value = self.element(dtype, op.attrs["value"])
        self.line(f"{scalar} = arith.constant {value}" + ("" if dtype == "i1" else f" : {dtype}"))
        self.line(f"{self.name(result)} = tensor.splat {scalar} : {self.tile(result)}")

    def write_position(self, op: Op) -> None:
        """The coordinate of a block or an iteration, in all elements."""
        result = op.results[0]
        scalar = self.fresh()
        dtype = self.program.types[result].dtype
        index = self.offset(Offset(op.attrs["variable"]), op.attrs["dim"])
        self.line(f"{scalar} = arith.index_cast {index} : index to {dtype}")
        self.line(f"{self.name(result)} = tensor.splat {scalar} : {self.tile(result)}")

    def write_iota(self, op: Op) -> None:
        result = op.results[0]
        self.line(f"{self.name(result)} = tile.iota along {op.attrs['dim']} : {self.tile(result)}")

    def write_elementwise(self, op: Op) -> None:
        result = op.results[0]
        operands = ", ".join(f"{self.name(v)}" for v in op.operands)
        if flags := op.attrs.get("flags"):
            operands += f" fastmath<{flags}>"
        self.line(f"{self.name(result)} = {op.attrs['name']} {operands} : {self.tile(result)}")

    def write_compare(self, op: Op) -> None:
        result = op.results[0]
        operands = ", ".join(f"{self.name(v)}" for v in op.operands)
        self.line(
            f"{self.name(result)} = {op.attrs['name']} {op.attrs['predicate']}, {operands} :"
            f" {self.tile(op.operands[0])}"
        )

    def write_check(self, op: Op) -> None:
        value, dim = op.operands[0], op.attrs["dim"]
        type, numbers, flags = (self.tile(value, dtype=t) for t in (None, "i32", "i1"))
        dtype = self.program.types[value].dtype
        i, last, inside = self.fresh(), self.fresh(), self.fresh()
        self.line(f"{i} = tile.iota along {dim} : {numbers}")
        extent = self.program.shape(value)[dim]
        self.line(f"{last} = arith.constant dense<{extent - 1}> : {numbers}")
        self.line(f"{inside} = arith.cmpi sle, {i}, {last} : {numbers}")
        if dtype in FLOATS:
            # True, but no fold of MLIR knows.
            same, both = self.fresh(), self.fresh()
            self.line(f"{same} = arith.cmpf ueq, {self.name(value)}, {self.name(value)} : {type}")
            self.line(f"{both} = arith.andi {inside}, {same} : {flags}")
            inside = both
        self.line(f'tile.assert {inside}, "check of {self.name(value)[1:]}" : {flags}')

    def write_cast(self, op: Op) -> None:
        result, value = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = {op.attrs['name']} {self.name(value)} :"
            f" {self.tile(value)} to {self.tile(result)}"
        )

    def write_select(self, op: Op) -> None:
        result = op.results[0]
        operands = ", ".join(f"{self.name(v)}" for v in op.operands)
        self.line(
            f"{self.name(result)} = arith.select {operands} :"
            f" {self.tile(op.operands[0])}, {self.tile(result)}"
        )

    def write_reduce(self, op: Op) -> None:
        result, value = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = tile.reduce {op.attrs['name']} {self.name(value)} along"
            f" {op.attrs['dim']} : {self.tile(value)} -> {self.tile(result)}"
        )

    def write_inverse(self, op: Op) -> None:
        result, value = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = tile.unit_triangular_inverse {self.name(value)} :"
            f" {self.tile(value)}"
        )

    def write_scan(self, op: Op) -> None:
        result, value, name = op.results[0], op.operands[0], op.attrs["name"]
        along = f"along {op.attrs['dim']}{' reverse' if op.attrs['reverse'] else ''} : {self.tile(value)}"
        if not op.attrs["region"]:
            self.line(f"{self.name(result)} = tile.scan {name} {self.name(value)} {along}")
            return
        operation = name + "i" if name in ("maxs", "mins", "maxu", "minu") else name
        element = self.program.types[value].dtype
        self.line(f"{self.name(result)} = tile.associative_scan {self.name(value)} {along} {{")
        self.line(f"^bb0(%before: {element}, %after: {element}):")
        self.line(f"  %both = arith.{operation} %before, %after : {element}")
        self.line(f"  tile.yield %both : {element}")
        self.line("}")

    def write_broadcast(self, op: Op) -> None:
        result, value = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = tile.broadcast {self.name(value)} along {op.attrs['dim']} :"
            f" {self.tile(value)} -> {self.tile(result)}"
        )

    def write_transpose(self, op: Op) -> None:
        result, value = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = tile.transpose {self.name(value)} {list(op.attrs['order'])} :"
            f" {self.tile(value)} -> {self.tile(result)}"
        )

    def write_reshape(self, op: Op) -> None:
        result, value = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = tile.reshape {self.name(value)} : {self.tile(value)} ->"
            f" {self.tile(result)}"
        )

    def write_extract(self, op: Op) -> None:
        result, value = op.results[0], op.operands[0]
        self.line(
            f"{self.name(result)} = tile.extract {self.name(value)} {op.attrs['starts']} :"
            f" {self.tile(value)} -> {self.tile(result)}"
        )

    def write_concatenate(self, op: Op) -> None:
        result = op.results[0]
        sources = ", ".join(self.name(v) for v in op.operands)
        self.line(
            f"{self.name(result)} = tile.concatenate {sources} along {op.attrs['dim']} :"
            f" {self.tile(op.operands[0])} -> {self.tile(result)}"
        )

    def write_convert(self, op: Op) -> None:
        """Between two pinned layouts, at times by a tile in shared memory."""
        result, value = op.results[0], op.operands[0]
        name, type = self.name(value), self.tile(value)
        if op.attrs.get("shared") is not None:
            dtype = self.program.types[value].dtype
            layout = shared_layout(self.program.shape(value), dtype, op.attrs["shared"])
            shared, tile = self.fresh(), self.tile(value, layout)
            self.line(f"{shared} = tile.convert_layout {name} : {type} -> {tile}")
            name, type = shared, tile
        self.line(
            f"{self.name(result)} = tile.convert_layout {name} : {type} -> {self.tile(result)}"
        )

    def write_dot(self, op: Op) -> None:
        result = op.results[0]
        a, b, c = op.operands
        precision = f" precision({op.attrs['precision']})" if op.attrs.get("precision") else ""
        self.line(
            f"{self.name(result)} = tile.dot {self.name(a)}, {self.name(b)}, {self.name(c)}"
            f"{precision} : {self.tile(a)}, {self.tile(b)} -> {self.tile(result)}"
        )

    # Control flow.

    def write_region(self, region: Region, end: bool) -> None:
        outer, self.indent = self.indent, self.indent + "  "
        for op in region.ops:
            self.write(op)
        if end and region.yields:
            values = ", ".join(f"{self.name(v)}" for v in region.yields)
            types = ", ".join(self.tile(v) for v in region.yields)
            self.line(f"scf.yield {values} : {types}")
        self.indent = outer

    def name_results(self, op: Op) -> str:
        """Results of one operation share a name; returns it with its equals sign."""
        if not op.results:
            return ""
        name = f"%v{op.results[0]}"
        if len(op.results) == 1:
            return f"{name} = "
        for i, value in enumerate(op.results):
            self.names[value] = f"{name}#{i}"
        return f"{name}:{len(op.results)} = "

    def write_for(self, op: Op) -> None:
        variable, dim = op.attrs["variable"], op.attrs["step"]
        step = 1 if dim is None else self.program.extents[dim]
        self.steps[variable] = dim
        trips = op.attrs["trips"]
        tiles = self.tiles_of(op.attrs.get("bound_of"), trips) if dim is not None else None
        if tiles and tiles[1] == step:
            bound = tiles[0]
        elif op.attrs["scalar"] is not None:
            bound = f"%n{op.attrs['scalar']}"
            if step != 1:
                scaled = self.fresh()
                self.line(f"{scaled} = arith.muli {bound}, {self.constant(step)} : index")
                bound = scaled
        else:
            bound = self.constant(trips * step)
        start = self.name_results(op)
        region = op.regions[0]
        carried = ", ".join(
            f"{self.name(a)} = {self.name(v)}" for a, v in zip(region.arguments, op.operands)
        )
        types = ", ".join(self.tile(v) for v in op.results)
        self.line(
            f"{start}scf.for %{variable} = {self.constant(0)} to {bound}"
            f" step {self.constant(step)} iter_args({carried}) -> ({types}) {{"
        )
        self.write_region(region, True)
        self.line("}")

    def write_if(self, op: Op) -> None:
        condition = self.fresh()
        variable, bound = op.attrs["variable"], op.attrs["bound"]
        if "buffer" in op.attrs:
            buffer = self.program.buffers[op.attrs["buffer"]]
            number, zero = self.fresh(), self.fresh()
            self.line(
                f"{number} = tile.load_scalar %{buffer.name}[%{variable}] :"
                f" {buffer.type(self.program.extents)} -> i32"
            )
            self.line(f"{zero} = arith.constant 0 : i32")
            self.line(f"{condition} = arith.cmpi sgt, {number}, {zero} : i32")
        else:
            self.line(
                f"{condition} = arith.cmpi ult, %{variable}, {self.constant(bound)} : index"
            )
        start = self.name_results(op)
        types = ", ".join(self.tile(v) for v in op.results)
        self.line(f"{start}scf.if {condition}" + (f" -> ({types})" if types else "") + " {")
        self.write_region(op.regions[0], True)
        if len(op.regions) > 1:
            self.line("} else {")
            self.write_region(op.regions[1], True)
        self.line("}")


def narrowed(
    buffer: Buffer, table: List[int], narrow: Tuple[int, int, int]
) -> Tuple[int, int, int]:
    """The dimension, the begin and the length of a range, cut to the buffer."""
    k, start, length = narrow
    extent = buffer.extents(table)[len(buffer.leads) + k]
    start = min(start, extent)
    return k, start, min(length, extent - start)


def narrow_type(buffer: Buffer, type: str, k: int) -> str:
    """The type of a range along dimension `k` of a buffer of this type."""
    shape, rest = type[len("!tile.buffer<") :].split(", #tile.strided<[")
    extents = shape.split("x")
    extents[k] = "?"
    strides, rest = rest.split("]", 1)
    word = strides.split(", ")[k]
    size = SIZES[buffer.dtype]
    align = size
    if "align = " in rest:
        align = int(rest.split("align = ")[1].split(">")[0])
    align = align_after(align, word, size)
    rest = f", align = {align}" if align > size else ""
    return f"!tile.buffer<{'x'.join(extents)}, #tile.strided<[{strides}]{rest}>, global>"


def align_after(align: int, stride: str, size: int) -> int:
    """The alignment in bytes that steps along a stride keep."""
    multiple = int(stride[2:]) if stride.startswith("?:") else 1 if stride == "?" else int(stride)
    step = multiple * size
    return min(align, step & -step) if step else align


def slice_type(buffer: Buffer, table: List[int]) -> str:
    """The type of a slice that fixes all leading dimensions."""
    lead = len(buffer.leads)
    shape_and_rest = buffer.type(table)[len("!tile.buffer<") :].split("x", lead)[-1]
    start = shape_and_rest.index("#tile.strided<[") + len("#tile.strided<[")
    end = shape_and_rest.index("]", start)
    words = shape_and_rest[start:end].split(", ")
    kept = ", ".join(words[lead:])
    size, align = SIZES[buffer.dtype], buffer.align
    if align:
        for word in words[:lead]:
            align = align_after(align, word, size)
    # The alignment of an element goes without saying.
    rest = f", align = {align}" if align > size else ""
    return (
        f"!tile.buffer<{shape_and_rest[: start - len('#tile.strided<[')]}"
        f"#tile.strided<[{kept}]{rest}>, global>"
    )


def shared_layout(shape: Tuple[int, ...], dtype: str, kind: int) -> str:
    """One of the memory layouts that suit the shape."""
    size = SIZES[dtype]
    rank = len(shape)
    strides = [1] * rank
    for d in reversed(range(rank - 1)):
        strides[d] = strides[d + 1] * shape[d + 1]
    choices = [f"#tile.strided<{strides}>"]
    if rank >= 2:
        row = shape[-1] * size
        choices += [f"#tile.swizzle<{n}>" for n in (32, 64, 128) if row % n == 0]
        choices.append("#tile.padded<8, order = [1, 0]>" if rank == 2 else choices[0])
        if rank == 2:
            choices.append("#tile.padded<4, order = [0, 1]>")
    return choices[kind % len(choices)]
