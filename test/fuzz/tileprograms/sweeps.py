"""Systematic programs: every operation at extents that are chosen, not drawn.

Buffers have random strides and ragged ends, as those of random programs have.
Several kernels form one module, so that few compilers are started.
"""

from __future__ import annotations

import itertools
import math
import random
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from .drawing.control import COMBINATIONS
from .drawing.products import PRODUCT_TYPES
from .drawing.shapes import FLOAT_REDUCTIONS, INTEGER_REDUCTIONS
from .drawing.values import Retry
from .generate import Generator
from .program import FLOATS, Program
from .prune import prune
from .runner import Job

WARPS = (1, 2, 4, 8)
ROWS = (1, 2, 4, 8, 16, 32, 64)
COLUMNS = (8, 16, 32, 64, 128)
#: Extents that no small power of two divides, beside each other and beside powers.
ODD_COLUMNS = ((12, 60), (60, 12), (60, 68), (68, 100), (100, 60), (96, 80), (64, 100), (100, 64), (7, 13), (13, 8))
ODD_ROWS = (3, 5, 7, 13, 24, 60)
PRODUCTS = (16, 32, 48, 64, 80, 96, 112, 128)
#: Kernels of one module.
BATCH = 6

#: Adds the operations of one case to a generator.
Case = Callable[[Generator], None]


def broadcasts(full: bool) -> Iterator[Case]:
    """A reduction, and a broadcast to another extent: growing and shrinking."""
    pairs = list(itertools.permutations(COLUMNS, 2)) + list(ODD_COLUMNS)
    rows: Sequence[int] = range(1, 65) if full else ROWS
    cases = [(r, c) for r in rows for c in pairs]
    if not full:
        cases += [(r, c) for r, c in zip(itertools.cycle(ODD_ROWS), pairs)]
    for r, (c, to) in cases:
        for axis in (0, 1):
            yield lambda g, r=r, c=c, to=to, axis=axis: broadcast(g, r, c, to, axis)


def broadcast(g: Generator, rows: int, columns: int, to: int, axis: int) -> None:
    r, c, t = g.dim(rows), g.dim(columns), g.dim(to)
    x = g.load((r, c) if axis == 1 else (c, r), "f32")
    small = g.reduce_along(x, axis, "addf")
    g.store(g.emit("broadcast", ((r, t) if axis == 1 else (t, r), "f32", None), [small],
                   g.limit[small], dim=axis))


#: The element and the kind of a reduction.
KINDS = [("f32", k) for k in dict.fromkeys(FLOAT_REDUCTIONS)]
KINDS += [("i32", k) for k in dict.fromkeys(INTEGER_REDUCTIONS)]
KINDS += [("f16", "addf"), ("bf16", "maxnumf"), ("f16", "mulf"), ("i64", "addi")]


def combined_shapes(full: bool) -> List[Tuple[int, ...]]:
    shapes = list(itertools.product(ROWS, COLUMNS)) if full else list(
        zip(itertools.cycle(ROWS), itertools.islice(itertools.cycle(COLUMNS), 35)))
    shapes += [(60, 60), (68, 17), (7, 100), (13, 13), (1, 60), (100, 3)]
    return shapes + [(2, 8, 16), (4, 4, 32), (3, 5, 7), (8, 1, 64), (1, 16, 12), (16, 16, 2)]


def reductions(full: bool) -> Iterator[Case]:
    turn = itertools.cycle(KINDS)
    for shape in combined_shapes(full):
        for axis in range(len(shape)):
            for _ in range(len(KINDS) if full else 1):
                dtype, kind = next(turn)
                yield lambda g, s=shape, a=axis, d=dtype, k=kind: reduction(g, s, a, d, k)


def reduction(g: Generator, shape: Sequence[int], axis: int, dtype: str, kind: str) -> None:
    x = g.load(tuple(g.dim(n) for n in shape), dtype)
    g.store(g.reduce_along(x, axis, kind))


def scans(full: bool) -> Iterator[Case]:
    turn = itertools.cycle([(*k, reverse) for k in KINDS for reverse in (False, True)])
    for shape in [*combined_shapes(full), (1,), (13,), (64,), (100,), (512,), (1024,), (2048,)]:
        for axis in range(len(shape)):
            for _ in range(2 * len(KINDS) if full else 2):
                dtype, kind, reverse = next(turn)
                for region in (False, True):
                    yield lambda g, s=shape, a=axis, d=dtype, k=kind, r=reverse, by=region: scan(
                        g, s, a, d, k, r, by
                    )


def scan(
    g: Generator, shape: Sequence[int], axis: int, dtype: str, kind: str, reverse: bool, region: bool
) -> None:
    x = g.load(tuple(g.dim(n) for n in shape), dtype)
    g.store(g.scan_along(x, axis, reverse, kind, region))


def reshapes(full: bool) -> Iterator[Case]:
    shapes = [(64, 128), (12, 40), (60, 60), (7, 13), (96, 20), (2, 8, 16), (3, 5, 7), (1, 64), (2048,)]
    turn = itertools.cycle(["f32", "f16", "i32", "i64", "bf16"])
    for shape in shapes:
        count = math.prod(shape)
        parts = [f for f in range(1, count + 1) if count % f == 0][:: 1 if full else 5]
        for to in [[count], *([count // f, f] for f in parts)]:
            dtype = next(turn)
            yield lambda g, s=shape, t=to, d=dtype: reshape(g, s, t, d)


def reshape(g: Generator, shape: Sequence[int], to: Sequence[int], dtype: str) -> None:
    g.store(g.reshape_to(g.load(tuple(g.dim(n) for n in shape), dtype), list(to)))


def parts(full: bool) -> Iterator[Case]:
    """Parts of tiles, and tiles side by side."""
    shapes = [(64, 128), (16, 16), (12, 40), (60, 60), (96, 20), (2, 8, 16), (1, 64), (512,)]
    turn = itertools.cycle(["f32", "f16", "i32", "i64", "bf16"])
    for shape in shapes:
        divisors = [[f for f in range(1, n + 1) if n % f == 0] for n in shape]
        counts = list(itertools.product(*divisors))
        for count in counts[:: 1 if full else max(len(counts) // 8, 1)]:
            dtype = next(turn)
            yield lambda g, s=shape, c=count, d=dtype: part(g, s, c, d)
        for _ in range(8 if full else 2):
            dtype = next(turn)
            yield lambda g, s=shape, d=dtype: part_anywhere(g, s, d)
        for axis in range(len(shape)):
            for number in (1, 2, 3):
                dtype = next(turn)
                yield lambda g, s=shape, a=axis, n=number, d=dtype: side_by_side(g, s, a, n, d)


def part(g: Generator, shape: Sequence[int], counts: Sequence[int], dtype: str) -> None:
    x = g.load(tuple(g.dim(n) for n in shape), dtype)
    g.store(g.extract_from(x, list(counts), [g.draw.randrange(n) for n in counts]))


def part_anywhere(g: Generator, shape: Sequence[int], dtype: str) -> None:
    x = g.load(tuple(g.dim(n) for n in shape), dtype)
    g.store(g.extract_anywhere(x))


def side_by_side(g: Generator, shape: Sequence[int], axis: int, number: int, dtype: str) -> None:
    dims = tuple(g.dim(n) for n in shape)
    g.store(g.concatenate_along([g.load(dims, dtype) for _ in range(number)], axis))


def gathers(full: bool) -> Iterator[Case]:
    shapes = [(64, 128), (16, 16), (12, 40), (1, 64), (100, 3), (2, 8, 16), (512,)]
    turn = itertools.cycle(["f32", "f16", "i64", "bf16"])
    for shape in shapes:
        for axis in range(len(shape)):
            for count in (None, 1, 13, 64) if full else (None, 13, 64):
                dtype = next(turn)
                yield lambda g, s=shape, a=axis, n=count, d=dtype: gather(g, s, a, n, d)


def gather(g: Generator, shape: Sequence[int], axis: int, count: Optional[int], dtype: str) -> None:
    """An index for each element, or `count` along the axis."""
    dims = tuple(g.dim(n) for n in shape)
    rows = g.load(dims if count is None else (g.dim(count),), "i32")
    g.store(g.gather_by(rows, dims, axis, dtype))


def tables(full: bool) -> Iterator[Case]:
    for shape in [(1,), (7,), (16,), (1024,), (16, 8), (3, 60), (32, 32), (2, 4, 8)]:
        for dtype in ("f32", "f16", "i32"):
            yield lambda g, s=shape, d=dtype: g.store(g.table_of(tuple(g.dim(n) for n in s), d))


def transposes(full: bool) -> Iterator[Case]:
    shapes = [(r, c) for r in ROWS for c in COLUMNS][:: 1 if full else 3]
    shapes += [(60, 60), (68, 100), (7, 13), (1, 13), (96, 20)]
    deep = [(2, 8, 16), (3, 5, 7), (8, 1, 64), (16, 4, 12)]
    turn = itertools.cycle(["f32", "f16", "i32", "bf16", "i64"])
    for shape in shapes:
        yield lambda g, s=shape, d=next(turn): transpose(g, s, (1, 0), d)
    for shape in deep:
        for order in list(itertools.permutations(range(3)))[1 :: 1 if full else 2]:
            yield lambda g, s=shape, o=order, d=next(turn): transpose(g, s, o, d)


def transpose(g: Generator, shape: Sequence[int], order: Tuple[int, ...], dtype: str) -> None:
    dims = tuple(g.dim(n) for n in shape)
    x = g.load(dims, dtype)
    result = (tuple(dims[k] for k in order), dtype, None)
    g.store(g.emit("transpose", result, [x], g.limit[x], order=order))


def masks(full: bool) -> Iterator[Case]:
    """iota along each dimension, comparisons and a select."""
    shapes = [(r, c) for r in ROWS for c in COLUMNS][:: 1 if full else 4]
    shapes += [(60, 60), (7, 100), (13, 68), (3, 4, 5), (2, 16, 32), (17,), (64,), (100,)]
    for shape in shapes:
        for axis in range(len(shape)):
            yield lambda g, s=shape, a=axis: mask(g, s, a)
    # The draws of the cases differ.
    for number in range(300 if full else 30):
        yield lambda g, s=shapes[number % len(shapes)]: random_mask(g, s)


def random_mask(g: Generator, shape: Sequence[int]) -> None:
    dims = tuple(g.dim(n) for n in shape)
    x = g.load(dims, "f32")
    hidden = g.constant((dims, "f32", None), float("-inf"))
    for _ in range(4):
        seen = g.coordinate_mask((dims, "i32", None))
        g.store(g.emit("select", (dims, "f32", None), [seen, x, hidden], g.limit[x]))


def mask(g: Generator, shape: Sequence[int], axis: int) -> None:
    dims = tuple(g.dim(n) for n in shape)
    x = g.load(dims, "f32")
    i = g.emit("iota", (dims, "i32", None), limit=128.0, dim=axis)
    j = g.emit("iota", (dims, "i32", None), limit=128.0, dim=(axis + 1) % len(dims))
    if len(dims) == 1:
        j = g.constant((dims, "i32", None), shape[0] // 2)
    seen = g.emit("compare", (dims, "i1", None), [i, j], 1.0, name="arith.cmpi", predicate="sle")
    hidden = g.constant((dims, "f32", None), float("-inf"))
    g.store(g.emit("select", (dims, "f32", None), [seen, x, hidden], g.limit[x]))
    g.store(i)


def loops(full: bool) -> Iterator[Case]:
    """A sum that grows by a tile an iteration."""
    shapes = [(r, c) for r in ROWS for c in COLUMNS][:: 1 if full else 2]
    shapes += [(60, 20), (7, 13), (24, 96)]
    for number, shape in enumerate(shapes):
        for trips in (0, 1, 3) if full else ((0, 1, 3)[number % 3],):
            yield lambda g, s=shape, t=trips: loop(g, s, t)


def loop(g: Generator, shape: Sequence[int], trips: int) -> None:
    dims = tuple(g.dim(n) for n in shape)
    type = (dims, "f32", None)

    def body(carried: int) -> int:
        x = g.load(dims, "f32")
        return g.emit("elementwise", type, [carried, x], 100.0, name="arith.addf")

    g.store(carry(g, g.load(dims, "f32"), trips, [None, *dims], 100.0, body))


def carry(
    g: Generator, start: int, trips: int, steps: Sequence[Optional[int]], limit: float,
    body: Callable[[int], int],
) -> int:  # fmt: skip
    """The result of a loop that carries one tile."""
    from .program import Op, Region

    step = g.draw.choice(steps)
    region = Region()
    outer, g.ops = g.ops, region.ops
    seen = len(g.visible)
    g.loops.append(("i", step, trips))
    carried = g.program.new(*g.like(start))
    region.arguments.append(carried)
    g.limit[carried] = limit
    region.yields.append(body(carried))
    g.loops.pop()
    g.ops = outer
    del g.visible[seen:]
    result = g.program.new(*g.like(start))
    g.limit[result] = limit
    attrs = {"variable": "i", "step": step, "trips": trips, "scalar": None}
    g.ops.append(Op("for", [result], [start], attrs, [region]))
    return result


def carried_reductions(full: bool) -> Iterator[Case]:
    """Reductions that a loop combines: sums, also scaled ones, and others."""
    turn = itertools.cycle(
        [("f32", "addf", True), ("f32", "addf", False), ("f32", "maxnumf", False),
         ("i32", "addi", False), ("f16", "minimumf", False), ("i32", "xori", False)]
    )  # fmt: skip
    shapes = [(r, c) for r in ROWS for c in COLUMNS]
    shapes += [(60, 20), (7, 13), (24, 96), (1, 512), (1, 1000), (2, 8, 16), (3, 5, 7)]
    for number, shape in enumerate(shapes):
        for axis in range(len(shape)) if full else (len(shape) - 1 - number % 2,):
            for _ in range(6 if full else 2):
                dtype, kind, scaled = next(turn)
                yield lambda g, s=shape, a=axis, d=dtype, k=kind, f=scaled, t=number % 4: (
                    carried_reduction(g, s, a, d, k, f, t))  # fmt: skip


def carried_reduction(
    g: Generator, shape: Sequence[int], axis: int, dtype: str, kind: str, scaled: bool, trips: int
) -> None:
    dims = tuple(g.dim(n) for n in shape)
    rest = dims[:axis] + dims[axis + 1 :] or (g.dim(1),)
    type = (rest, dtype, None)
    flags = "reassoc" if dtype in FLOATS else ""

    def body(carried: int) -> int:
        new = g.reduce_along(g.load(dims, dtype), axis, kind)
        if scaled:
            factor = g.load(rest, dtype)
            carried = g.emit(
                "elementwise", type, [carried, factor], 1e4, name="arith.mulf", flags=flags
            )
        if g.draw.random() < 0.3:
            numbers = (rest, "i32", None)
            seen = g.emit(
                "compare", (rest, "i1", None), [g.load(rest, "i32"), g.constant(numbers, 0)], 1.0,
                name="arith.cmpi", predicate="slt",
            )  # fmt: skip
            carried = g.emit("select", type, [seen, carried, g.constant(type, 0)], 1e4)
        return g.emit(
            "elementwise", type, [carried, new], 1e4, name=COMBINATIONS[kind],
            **({"flags": flags} if kind == "addf" else {}),
        )  # fmt: skip

    start = g.load(rest, dtype) if g.draw.random() < 0.5 else g.constant(type, 0)
    g.store(carry(g, start, trips, [None, dims[axis]], 1e4, body))


def dots(full: bool) -> Iterator[Case]:
    cases = list(itertools.product(PRODUCTS, repeat=3))
    if not full:
        cases = cases[3::17]
    cases += [(60, 60, 60), (20, 12, 24), (68, 100, 16), (64, 60, 64), (16, 7, 13), (1, 64, 64),
              (48, 48, 20), (8, 8, 8)]
    turn = itertools.cycle(PRODUCT_TYPES)
    for m, n, k in cases:
        for chained in (False, True) if full else (n <= 64 and m <= 64,):
            yield lambda g, m=m, n=n, k=k, c=chained, d=next(turn): dot(g, m, n, k, c, d)


def dot(
    g: Generator, m: int, n: int, k: int, chained: bool, type: Tuple[str, Optional[str]]
) -> None:
    dtype, precision = type
    sums = "f32" if dtype in FLOATS else "i32"
    dm, dn, dk = g.dim(m), g.dim(n), g.dim(k)
    a = g.load((dm, dk), dtype)
    if g.draw.random() < 0.5:
        b = g.load((dn, dk), dtype)
        b = g.emit("transpose", ((dk, dn), dtype, None), [b], g.limit[b], order=(1, 0))
    else:
        b = g.load((dk, dn), dtype)
    zero = g.constant(((dm, dn), sums, None), 0)
    s = g.emit("dot", ((dm, dn), sums, None), [a, b, zero], 16.0 * k, precision=precision)
    if chained and dtype in FLOATS:
        p = g.cast(s, dtype)
        b = g.load((dn, dk), dtype)
        zero = g.constant(((dm, dk), "f32", None), 0.0)
        s = g.emit("dot", ((dm, dk), "f32", None), [p, b, zero], 1e6, precision=precision)
    g.store(s)


SWEEPS: Dict[str, Callable[[bool], Iterator[Case]]] = {
    "broadcast": broadcasts,
    "reduce": reductions,
    "scan": scans,
    "reshape": reshapes,
    "part": parts,
    "table": tables,
    "gather": gathers,
    "transpose": transposes,
    "mask": masks,
    "loop": loops,
    "carried": carried_reductions,
    "dot": dots,
}


def build(case: Case, label: str, warps: int) -> Program:
    draw = random.Random(label)
    while True:
        generator = Generator(draw)
        generator.pinned = False
        generator.program.warps = warps
        try:
            case(generator)
        except Retry:
            continue
        prune(generator.program)
        return generator.program


def jobs(full: bool, chips: Sequence[str], names: Optional[Sequence[str]] = None) -> Iterator[Job]:
    """All cases. In full each is compiled for all numbers of warps and all
    chips; else these come in turn."""
    for name, cases in SWEEPS.items():
        if names and name not in names:
            continue
        variants = list(itertools.product(chips, WARPS))
        waiting: Dict[str, List[Program]] = {chip: [] for chip in chips}
        first: Dict[str, int] = {}
        number = 0
        for case in cases(full):
            # Steps that share no factor with the number of variants reach all.
            chosen = variants if full else [variants[number * 5 % len(variants)]]
            for chip, warps in chosen:
                program = build(case, f"{name}:{number}", warps)
                batch = waiting[chip]
                program.name = f"k{len(batch)}"
                first.setdefault(chip, number)
                batch.append(program)
                if len(batch) == BATCH:
                    yield Job(f"{name}:{first.pop(chip)}", batch, chip)
                    waiting[chip] = []
            number += 1
        for chip, batch in waiting.items():
            if batch:
                yield Job(f"{name}:{first[chip]}", batch, chip)
