"""Evaluates programs in float64, with a bound of the error for every element.

A value of the kernel may differ from the exact one by as much as the roundings
of its element type and the approximations of its functions allow. Each element
carries that bound, infinite where nothing can be said (say, behind a comparison
of two values that are closer than their errors).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from .program import INTEGERS, Buffer, Offset, Op, Program, narrowed

#: Bits of the significand, largest number, and what may be flushed to zero.
FORMATS = {
    "f16": (11, 65504.0, 2.0**-24),
    "bf16": (8, 3.3895313892515355e38, 2.0**-126),
    "f32": (24, 3.4028234663852886e38, 2.0**-126),
}

#: The error of a product of f32, by the magnitude of its terms (tile.dot).
PRECISIONS = {"tf32": 2.0**-9, "bf16x3": 3 * 2.0**-16}

#: The largest integers that all formats of products have.
LARGEST_INTEGER = 256

STORAGE = {
    "f16": np.uint16,
    "bf16": np.uint16,
    "f32": np.uint32,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}

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


class Evaluator:
    """Runs a program block by block."""

    def __init__(self, program: Program):
        self.program = program
        self.memories = [
            Memory(buffer, program.extents) for buffer in program.buffers
        ]
        self.values: Dict[int, Value] = {}
        self.variables: Dict[str, int] = {}

    def run(self) -> List[Memory]:
        for y in range(self.program.grid[1]):
            for x in range(self.program.grid[0]):
                self.values = {}
                self.variables = {"x": x, "y": y}
                self.region(self.program.ops)
        for memory in self.memories:
            if memory.atomic and is_float(memory.buffer.dtype):
                self.settle(memory)
        return self.memories

    def settle(self, memory: Memory) -> None:
        """The error of sums in memory, whatever their order."""
        bits, largest, tiny = FORMATS[memory.buffer.dtype]
        integral = (memory.e == 0) & (memory.magnitude <= 2.0**bits)
        integral &= memory.v == np.round(memory.v)
        integral &= memory.before_integral
        bound = memory.e + memory.added * (
            2.0**-bits * 1.01 * (memory.magnitude + memory.e) + tiny
        )
        bound = np.where(memory.magnitude + bound > largest, np.inf, bound)
        bound = np.where(np.isnan(memory.v) | np.isnan(bound), np.inf, bound)
        memory.e = np.where(integral, 0.0, bound)

    def region(self, ops: List[Op]) -> None:
        for op in ops:
            getattr(self, "eval_" + op.kind)(op)

    def dtype(self, value: int) -> str:
        return self.program.types[value].dtype

    # Memory.

    def place(self, op: Op) -> Tuple[Memory, Tuple[Any, ...], Tuple[Any, ...]]:
        """The buffer, and which part of it is which part of the tile."""
        memory = self.memories[op.attrs["buffer"]]
        buffer = memory.buffer
        where: List[Any] = [
            o if isinstance(o, int) else self.variables[o] for o in op.attrs.get("leads", ())
        ]
        inside: List[Any] = []
        for k, (offset, dim) in enumerate(zip(op.attrs["offsets"], buffer.dims)):
            extent = self.program.extents[dim]
            begin = self.at(offset, dim)
            origin, end = 0, memory.extents[len(buffer.leads) + k]
            narrow = op.attrs.get("narrow")
            if narrow and narrow[0] == k:
                _, origin, length = narrowed(buffer, self.program.extents, narrow)
                end = length
            end = max(min(begin + extent, end), begin)
            where.append(slice(origin + begin, origin + end))
            inside.append(slice(0, max(end - begin, 0)))
        return memory, tuple(where), tuple(inside)

    def at(self, offset: Offset, dim: int) -> int:
        base = 0 if offset.variable is None else self.variables[offset.variable]
        return base * self.program.extents[dim] + offset.constant

    def eval_load(self, op: Op) -> None:
        memory, where, inside = self.place(op)
        shape = self.program.shape(op.results[0])
        value = Value(np.zeros(shape, memory.v.dtype), np.zeros(shape))
        value.v[inside], value.e[inside] = memory.v[where], memory.e[where]
        self.values[op.results[0]] = value

    def eval_masked_load(self, op: Op) -> None:
        self.eval_load(op)
        result = op.results[0]
        value, (_, _, inside) = self.values[result], self.place(op)
        kept = np.zeros(value.v.shape, bool)
        kept[inside] = True
        if op.operands:
            kept &= self.values[op.operands[0]].v != 0
        other = op.attrs["other"] or 0
        self.values[result] = Value(np.where(kept, value.v, other), np.where(kept, value.e, 0.0))

    def eval_gather(self, op: Op) -> None:
        memory, axis = self.memories[op.attrs["buffer"]], op.attrs["dim"]
        leads = tuple(
            o if isinstance(o, int) else self.variables[o] for o in op.attrs.get("leads", ())
        )
        rows, shape = self.values[op.operands[0]].v, self.program.shape(op.results[0])
        coordinates, inside = list(np.indices(shape)), np.ones(shape, bool)
        if rows.ndim != len(shape):
            rows = rows[coordinates[axis]]
        coordinates[axis] = rows
        for k, (offset, dim) in enumerate(zip(op.attrs["offsets"], memory.buffer.dims)):
            place = coordinates[k] + self.at(offset, dim)
            extent = memory.extents[len(leads) + k]
            inside &= (place >= 0) & (place < extent)
            coordinates[k] = np.clip(place, 0, extent - 1)
        where = leads + tuple(coordinates)
        self.values[op.results[0]] = Value(
            np.where(inside, memory.v[where], 0), np.where(inside, memory.e[where], 0.0)
        )

    def eval_check(self, op: Op) -> None:
        """Assertions hold."""

    def eval_store(self, op: Op) -> None:
        memory, where, inside = self.place(op)
        value = self.values[op.operands[0]]
        memory.v[where], memory.e[where] = value.v[inside], value.e[inside]
        memory.written[where] = True

    def eval_atomic(self, op: Op) -> None:
        memory, where, inside = self.place(op)
        value, dtype = self.values[op.operands[0]], memory.buffer.dtype
        name = op.attrs["name"]
        if not memory.atomic:
            memory.atomic = True
            memory.before_integral = np.ones(memory.extents, bool)
        if op.results:
            shape = self.program.shape(op.results[0])
            old = Value(np.zeros(shape, memory.v.dtype), np.zeros(shape))
            old.v[inside], old.e[inside] = memory.v[where], memory.e[where]
            self.values[op.results[0]] = old
        v, e = value.v[inside], value.e[inside]
        if name == "addf":
            # Dimensions of stride 0 add up in one place.
            axes = tuple(
                d - len(memory.buffer.leads)
                for d in memory.buffer.repeated
            )
            count = 1
            magnitude = np.abs(v)
            whole = v == np.round(v)
            places = list(where)
            for axis in axes:
                places[axis + len(memory.buffer.leads)] = slice(None)
                count *= v.shape[axis]
                v, e = v.sum(axis, keepdims=True), e.sum(axis, keepdims=True)
                magnitude = magnitude.sum(axis, keepdims=True)
                whole = whole.all(axis, keepdims=True)
            where = tuple(places)
            memory.v[where] += v
            memory.e[where] += e
            memory.added[where] += count
            memory.magnitude[where] += magnitude
            memory.before_integral[where] &= whole
        else:
            function = INTEGER[{"addi": "arith.addi", "maxs": "arith.maxsi",
                                "mins": "arith.minsi", "ori": "arith.ori",
                                "andi": "arith.andi", "maxu": "arith.maxui",
                                "minu": "arith.minui"}[name]]
            memory.v[where] = wrap(function(memory.v[where], v, 64 if dtype == "i64" else 32), dtype)
            memory.e[where] = memory.e[where] + e
        memory.written[where] = True

    def eval_through_shared(self, op: Op) -> None:
        self.values[op.results[0]] = self.values[op.operands[0]]

    eval_convert = eval_through_shared

    # Tiles.

    def constant(self, op: Op, number: float) -> None:
        result = op.results[0]
        shape, dtype = self.program.shape(result), self.dtype(result)
        if is_float(dtype):
            values = np.full(shape, number, np.float64)
            values = decode(encode(values, dtype), dtype)
        else:
            values = np.full(shape, number, np.int64)
        self.values[result] = exact(values)

    def eval_constant(self, op: Op) -> None:
        self.constant(op, op.attrs["value"])

    eval_splat = eval_constant

    def eval_table(self, op: Op) -> None:
        shape = self.program.shape(op.results[0])
        dtype = np.float64 if is_float(self.dtype(op.results[0])) else np.int64
        values = np.array(op.attrs["values"][: int(np.prod(shape))], dtype)
        self.values[op.results[0]] = exact(values.reshape(shape))

    def eval_position(self, op: Op) -> None:
        self.constant(op, self.at(Offset(op.attrs["variable"]), op.attrs["dim"]))

    def eval_iota(self, op: Op) -> None:
        shape = self.program.shape(op.results[0])
        self.values[op.results[0]] = exact(np.indices(shape)[op.attrs["dim"]].astype(np.int64))

    def eval_elementwise(self, op: Op) -> None:
        result, name = op.results[0], op.attrs["name"]
        dtype = self.dtype(result)
        operands = [self.values[v] for v in op.operands]
        with np.errstate(all="ignore"):
            if is_float(dtype):
                value = FUNCTIONS[name](dtype, *operands)
                if op.attrs.get("flags"):
                    x, y = (operand.magnitude() for operand in operands)
                    value.parts = x * y if name == "arith.mulf" else x + y
                    # The operation, and the sum of the parts in the end.
                    value.e = value.e + 8 * 2.0 ** -FORMATS[dtype][0] * value.parts
            else:
                bits = {"i1": 1, "i32": 32, "i64": 64}[dtype]
                v = INTEGER[name](*(x.v for x in operands), bits)
                value = Value(wrap(v, dtype), sum(x.e for x in operands))
                value.e = np.where(value.e > 0, np.inf, 0.0)
        self.values[result] = value

    def eval_compare(self, op: Op) -> None:
        a, b = (self.values[v] for v in op.operands)
        predicate = op.attrs["predicate"]
        with np.errstate(all="ignore"):
            if is_float(self.dtype(op.operands[0])):
                v = COMPARE[predicate](a.v, b.v)
                slack = a.e + b.e
                unsure = (slack > 0) & ~(np.abs(a.v - b.v) > slack)
            else:
                x, y = a.v, b.v
                if predicate[0] == "u":
                    x, y = x.astype(np.uint64), y.astype(np.uint64)
                    if self.dtype(op.operands[0]) == "i32":
                        x, y = x & np.uint64(0xFFFFFFFF), y & np.uint64(0xFFFFFFFF)
                v = COMPARE[predicate if predicate in ("eq", "ne") else "o" + predicate[1:]](x, y)
                unsure = (a.e + b.e) > 0
        self.values[op.results[0]] = Value(v.astype(np.int64), np.where(unsure, np.inf, 0.0))

    def eval_select(self, op: Op) -> None:
        condition, a, b = (self.values[v] for v in op.operands)
        with np.errstate(all="ignore"):
            v = np.where(condition.v != 0, a.v, b.v)
            e = np.where(condition.v != 0, a.e, b.e)
            either = np.abs(a.v - b.v) + np.maximum(a.e, b.e)
            either = np.where((a.v == b.v), np.maximum(a.e, b.e), either)
            if not is_float(self.dtype(op.results[0])):
                either = np.where(either > 0, np.inf, 0.0)
            e = np.where(condition.e > 0, np.where(np.isnan(either), np.inf, either), e)
            parts = np.maximum(a.magnitude(), b.magnitude())
        self.values[op.results[0]] = Value(v, e, parts)

    def eval_cast(self, op: Op) -> None:
        source, result = op.operands[0], op.results[0]
        x, to = self.values[source], self.dtype(result)
        name = op.attrs["name"]
        v, e = x.v, x.e
        if name in ("arith.extf",):
            value = x
        elif name == "arith.truncf":
            value = rounded(v, e, to)
        elif name == "arith.sitofp":
            value = rounded(v.astype(np.float64), e, to)
        elif name == "arith.uitofp":
            bits = {"i1": 1, "i32": 32, "i64": 64}[self.dtype(source)]
            wide = v.astype(np.float64)
            value = rounded(np.where(v < 0, wide + 2.0**bits, wide), e, to)
        elif name == "arith.fptosi":
            with np.errstate(all="ignore"):
                whole = np.trunc(v)
                unsure = (np.trunc(v - e) != whole) | (np.trunc(v + e) != whole)
                unsure |= ~(np.abs(v) + e < (2.0**31 if to == "i32" else 2.0**62))
                value = Value(np.where(unsure, 0, whole).astype(np.int64), np.where(unsure, np.inf, 0.0))
        elif name in ("arith.extsi", "arith.trunci"):
            v = -v if self.dtype(source) == "i1" else v
            value = Value(wrap(v, to), e)
        elif name == "arith.extui":
            v = v & 0xFFFFFFFF if self.dtype(source) == "i32" else v
            value = Value(v, e)
        else:
            raise ValueError(name)
        self.values[result] = value

    def eval_reduce(self, op: Op) -> None:
        source, result, axis = op.operands[0], op.results[0], op.attrs["dim"]
        x, dtype, name = self.values[source], self.dtype(result), op.attrs["name"]
        if x.v.ndim == 1:
            x, axis = Value(x.v[None], x.e[None]), 1
        count = x.v.shape[axis]
        with np.errstate(all="ignore"):
            if not is_float(dtype):
                bits = {"i1": 1, "i32": 32, "i64": 64}[dtype]
                function = INTEGER[REDUCE[name]]
                v = x.v.take(0, axis)
                for i in range(1, count):
                    v = wrap(function(v, x.v.take(i, axis), bits), dtype)
                e = np.where(x.e.sum(axis) > 0, np.inf, 0.0)
                value = Value(v, e)
            elif name == "addf":
                value = summed(x, axis, dtype)
                value.parts = (np.abs(x.v) + x.e).sum(axis)
            elif name == "mulf":
                value = multiplied(x, axis, dtype)
            else:
                v = x.v.max(axis) if name.startswith("max") else x.v.min(axis)
                e = x.e.max(axis)
                # A far smaller element does not decide the largest, however
                # large its error is, unless nothing is known about it.
                value = Value(v, np.where(np.isnan(v), np.inf, e))
        self.values[result] = value

    def eval_inverse(self, op: Op) -> None:
        x = self.values[op.operands[0]]
        identity = np.eye(x.v.shape[0])
        inverse = np.linalg.inv(identity + np.tril(x.v, -1))
        # A change E of the matrix changes its inverse X by X * E * X. The products have 16
        # bits of precision.
        change = np.tril(x.e, -1) + 2.0**-14 * (identity + np.abs(np.tril(x.v, -1)))
        self.values[op.results[0]] = Value(inverse, np.abs(inverse) @ change @ np.abs(inverse))

    def eval_scan(self, op: Op) -> None:
        source, result, axis = op.operands[0], op.results[0], op.attrs["dim"]
        x, dtype, name = self.values[source], self.dtype(result), op.attrs["name"]
        order = slice(None, None, -1 if op.attrs["reverse"] else 1)
        v, e = (np.moveaxis(a, axis, -1)[..., order] for a in (x.v, x.e))
        with np.errstate(all="ignore"):
            if not is_float(dtype):
                bits = {"i1": 1, "i32": 32, "i64": 64}[dtype]
                function = INTEGER[REDUCE[name]]
                scanned = v.copy()
                for i in range(1, v.shape[-1]):
                    scanned[..., i] = wrap(function(scanned[..., i - 1], v[..., i], bits), dtype)
                value = Value(scanned, np.where(np.cumsum(e, -1) > 0, np.inf, 0.0))
            elif name in ("addf", "mulf"):
                function = summed if name == "addf" else multiplied
                value = stacked(
                    [function(Value(v[..., :i], e[..., :i]), -1, dtype) for i in range(1, v.shape[-1] + 1)]
                )
            else:
                function = np.maximum if name.startswith("max") else np.minimum
                scanned = function.accumulate(v, -1)
                e = np.maximum.accumulate(e, -1)
                value = Value(scanned, np.where(np.isnan(scanned), np.inf, e))
        self.values[result] = Value(
            *(np.moveaxis(a[..., order], -1, axis) for a in (value.v, value.e))
        )

    def eval_broadcast(self, op: Op) -> None:
        x, axis = self.values[op.operands[0]], op.attrs["dim"]
        shape = self.program.shape(op.results[0])
        self.values[op.results[0]] = Value(
            np.broadcast_to(np.expand_dims(x.v, axis), shape),
            np.broadcast_to(np.expand_dims(x.e, axis), shape),
        )

    def eval_transpose(self, op: Op) -> None:
        x, order = self.values[op.operands[0]], op.attrs["order"]
        self.values[op.results[0]] = Value(x.v.transpose(order), x.e.transpose(order))

    def eval_reshape(self, op: Op) -> None:
        x, shape = self.values[op.operands[0]], self.program.shape(op.results[0])
        self.values[op.results[0]] = Value(x.v.reshape(shape), x.e.reshape(shape))

    def eval_extract(self, op: Op) -> None:
        x, shape = self.values[op.operands[0]], self.program.shape(op.results[0])
        part = tuple(slice(o, o + n) for o, n in zip(op.attrs["starts"], shape))
        self.values[op.results[0]] = Value(x.v[part], x.e[part])

    def eval_concatenate(self, op: Op) -> None:
        sources, axis = [self.values[v] for v in op.operands], op.attrs["dim"]
        self.values[op.results[0]] = Value(
            *(np.concatenate(parts, axis) for parts in zip(*((x.v, x.e) for x in sources)))
        )

    def eval_dot(self, op: Op) -> None:
        a, b, c = (self.values[v] for v in op.operands)
        if not is_float(self.dtype(op.results[0])):
            self.values[op.results[0]] = exact(wrap(a.v @ b.v + c.v, "i32"))
            return
        precision = op.attrs.get("precision")
        with np.errstate(all="ignore"):
            v = a.v @ b.v + c.v
            magnitude = np.abs(a.v) @ np.abs(b.v) + np.abs(c.v)
            e = np.abs(a.v) @ b.e + a.e @ np.abs(b.v) + a.e @ b.e + c.e
            whole = all((x.v == np.round(x.v)).all() and not x.e.any() for x in (a, b, c))
            terms = a.v.shape[1] + 2
            bound = e + terms * (2.0**-23 * (magnitude + e) + 2.0**-126)
            if precision:
                # The halves of an operand are up to 2^-7 larger than it.
                bound = bound + (PRECISIONS[precision] + terms * 2.0**-29) * (magnitude + e)
                bound = np.where(np.isfinite(magnitude), bound, np.inf)
                whole &= all((np.abs(x.v) <= LARGEST_INTEGER).all() for x in (a, b))
            if whole:
                bound = np.where(magnitude <= 2.0**24, 0.0, bound)
            bound = np.where(np.isnan(v) | np.isnan(bound), np.inf, bound)
        self.values[op.results[0]] = Value(v, bound)

    # Control flow.

    def eval_for(self, op: Op) -> None:
        region = op.regions[0]
        carried = [self.values[v] for v in op.operands]
        for i in range(op.attrs["trips"]):
            self.variables[op.attrs["variable"]] = i
            self.values.update(zip(region.arguments, carried))
            self.region(region.ops)
            carried = [self.values[v] for v in region.yields]
        self.values.update(zip(op.results, carried))

    def eval_if(self, op: Op) -> None:
        index = self.variables[op.attrs["variable"]]
        if "buffer" in op.attrs:
            taken = self.memories[op.attrs["buffer"]].v[index] > 0
        else:
            taken = index < op.attrs["bound"]
        if not taken and len(op.regions) < 2:
            return
        region = op.regions[0 if taken else 1]
        self.region(region.ops)
        self.values.update((r, self.values[y]) for r, y in zip(op.results, region.yields))


def stacked(values: List[Value]) -> Value:
    return Value(*(np.stack(parts, -1) for parts in zip(*((x.v, x.e) for x in values))))


def summed(x: Value, axis: int, dtype: str) -> Value:
    bits, largest, tiny = FORMATS[dtype]
    count = x.v.shape[axis]
    v, magnitude = x.v.sum(axis), np.abs(x.v).sum(axis)
    e = x.e.sum(axis)
    whole = (x.v == np.round(x.v)).all(axis) & (e == 0) & (magnitude <= 2.0**bits)
    bound = e + count * (2.0**-bits * 1.01 * (magnitude + e) + tiny)
    bound = np.where(magnitude + bound > largest, np.inf, bound)
    bound = np.where(np.isnan(v) | np.isnan(bound), np.inf, bound)
    # An infinity among finite numbers.
    bound = np.where(np.isinf(v) & (e == 0), 0.0, bound)
    if count == 1:
        return Value(v, e)
    return Value(v, np.where(whole, 0.0, bound))


def multiplied(x: Value, axis: int, dtype: str) -> Value:
    bits, largest, tiny = FORMATS[dtype]
    count = x.v.shape[axis]
    v = x.v.prod(axis)
    if count == 1:
        return Value(v, x.e.take(0, axis))
    # Partial products in any order lie between these.
    upper = (np.maximum(np.abs(x.v) + x.e, 1)).prod(axis)
    moved = (np.abs(x.v) + x.e).prod(axis) * (1 + 2.0**-bits * 1.01) ** count
    e = moved - np.abs(v) + count * tiny * upper
    e = np.where((upper > largest) | np.isnan(v) | np.isnan(e), np.inf, e)
    return Value(v, e)


# Functions of floats: (dtype, operands...) -> Value.


def add(dtype: str, a: Value, b: Value) -> Value:
    return rounded(a.v + b.v, a.e + b.e, dtype)


def subtract(dtype: str, a: Value, b: Value) -> Value:
    return rounded(a.v - b.v, a.e + b.e, dtype)


def multiply(dtype: str, a: Value, b: Value) -> Value:
    return rounded(a.v * b.v, product_error(a, b), dtype)


def product_error(a: Value, b: Value) -> np.ndarray:
    # 0 * inf: an exact infinity times an exact number has no error.
    left = np.where(b.e == 0, 0.0, np.abs(a.v) * b.e)
    right = np.where(a.e == 0, 0.0, np.abs(b.v) * a.e)
    both = np.where((a.e == 0) | (b.e == 0), 0.0, a.e * b.e)
    return left + right + both


def divide(dtype: str, a: Value, b: Value) -> Value:
    smallest = np.abs(b.v) - b.e
    v = a.v / b.v
    e = (a.e + np.abs(v) * b.e) / smallest
    e = np.where(smallest > 0, e, np.inf)
    return rounded(v, e, dtype, 2.5)


def fused(dtype: str, a: Value, b: Value, c: Value) -> Value:
    return rounded(a.v * b.v + c.v, product_error(a, b) + c.e, dtype, 2)


def maximum(dtype: str, a: Value, b: Value) -> Value:
    return of_two(np.maximum(a.v, b.v), a, b)


def minimum(dtype: str, a: Value, b: Value) -> Value:
    return of_two(np.minimum(a.v, b.v), a, b)


def of_two(v: np.ndarray, a: Value, b: Value) -> Value:
    return Value(v, np.where(np.isnan(v), np.inf, np.maximum(a.e, b.e)))


def monotone(
    function: Callable[[np.ndarray], np.ndarray], relative: float, absolute: float = 0.0
) -> Callable[[str, Value], Value]:
    """A function that grows or falls throughout, off by these in f32."""

    def apply(dtype: str, x: Value) -> Value:
        v = function(x.v)
        e = np.maximum(np.abs(function(x.v + x.e) - v), np.abs(function(x.v - x.e) - v))
        e = np.where(x.e == 0, 0.0, e) + relative * np.abs(v) + absolute
        e = np.where(np.isinf(v) & (x.e == 0), 0.0, e)
        return rounded(v, np.where(np.isnan(e), np.inf, e), dtype)

    return apply


def lipschitz(
    function: Callable[[np.ndarray], np.ndarray], slope: float, absolute: float
) -> Callable[[str, Value], Value]:
    """A function of bounded slope, off by `absolute` in f32."""

    def apply(dtype: str, x: Value) -> Value:
        e = slope * x.e + absolute * (1 + np.abs(x.v))
        return rounded(function(x.v), e, dtype)

    return apply


def sine(dtype: str, x: Value) -> Value:
    """Relative accuracy near 0, absolute elsewhere."""
    e = x.e + 2.0**-21 * np.minimum(np.abs(x.v), 1)
    return rounded(np.sin(x.v), e, dtype)


def exponential(scale: float) -> Callable[[str, Value], Value]:
    """2 ** (scale * x); the product is rounded to f32."""

    def apply(dtype: str, x: Value) -> Value:
        v = np.exp2(scale * x.v)
        far = scale * x.e + (np.abs(x.v) * scale * 2.0**-22 if scale != 1 else 0)
        e = v * (np.exp2(far) - 1 + 2.0**-21)
        e = np.where(np.isneginf(x.v) & (x.e == 0), 0.0, e)
        return rounded(v, np.where(np.isnan(e), np.inf, e), dtype)

    return apply


def logarithm(scale: float) -> Callable[[str, Value], Value]:
    def apply(dtype: str, x: Value) -> Value:
        smallest = x.v - x.e
        v = np.log2(x.v) * scale
        e = (np.log2(x.v / smallest) + 2.0**-21) * scale + np.abs(v) * 2.0**-21
        e = np.where(smallest > 2.0**-120, e, np.inf)
        return rounded(v, e, dtype)

    return apply


def error_function(x: np.ndarray) -> np.ndarray:
    """By the series of Abramowitz and Stegun 7.1.5, and 1 beyond 4."""
    near = np.clip(x, -4.5, 4.5)
    term = near.copy()
    total = near.copy()
    for n in range(1, 90):
        term = -term * near * near / n
        total = total + term / (2 * n + 1)
    return np.where(np.abs(x) < 4.5, total * 2 / np.sqrt(np.pi), np.sign(x))


def root(dtype: str, x: Value) -> Value:
    v = np.sqrt(x.v)
    smallest = x.v - x.e
    e = np.where(smallest > 0, x.e / (v + np.sqrt(np.maximum(smallest, 0))), np.inf)
    e = np.where((x.v == 0) & (x.e == 0), 0.0, e)
    return rounded(v, e, dtype, 4)


def inverse_root(dtype: str, x: Value) -> Value:
    smallest = x.v - x.e
    v = 1 / np.sqrt(x.v)
    e = 1 / np.sqrt(smallest) - v + v * 2.0**-20
    return rounded(v, np.where(smallest > 2.0**-120, e, np.inf), dtype)


def stepwise(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[str, Value], Value]:
    """floor and its like: unknown where the error reaches a step."""

    def apply(dtype: str, x: Value) -> Value:
        v = function(x.v)
        sure = (x.e == 0) | ((function(x.v - x.e) == v) & (function(x.v + x.e) == v))
        return Value(v, np.where(sure, 0.0, np.maximum(1.0, 2 * x.e)))

    return apply


def negate(dtype: str, x: Value) -> Value:
    return Value(-x.v, x.e)


def absolute(dtype: str, x: Value) -> Value:
    return Value(np.abs(x.v), x.e)


FUNCTIONS: Dict[str, Callable[..., Value]] = {
    "arith.addf": add,
    "arith.subf": subtract,
    "arith.mulf": multiply,
    "arith.divf": divide,
    "arith.maximumf": maximum,
    "arith.maxnumf": maximum,
    "arith.minimumf": minimum,
    "arith.minnumf": minimum,
    "arith.negf": negate,
    "math.absf": absolute,
    "math.fma": fused,
    "math.exp2": exponential(1.0),
    "math.exp": exponential(float(np.log2(np.e))),
    "math.log2": logarithm(1.0),
    "math.log": logarithm(float(np.log(2))),
    "math.sqrt": root,
    "math.rsqrt": inverse_root,
    "math.tanh": monotone(np.tanh, 2.0**-20),
    "math.sin": sine,
    "math.cos": lipschitz(np.cos, 1, 2.0**-19),
    "math.erf": lipschitz(error_function, 1.13, 2.0**-18),
    "math.atan": lipschitz(np.arctan, 1, 2.0**-18),
    "math.asinh": lipschitz(np.arcsinh, 1, 2.0**-18),
    "math.log1p": lipschitz(np.log1p, 1, 2.0**-18),
    "math.round": stepwise(lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
    "math.floor": stepwise(np.floor),
    "math.ceil": stepwise(np.ceil),
    "math.trunc": stepwise(np.trunc),
    "math.roundeven": stepwise(np.rint),
}


# Functions of integers: (operands..., bits) -> int64, to be wrapped.


def unsigned(x: np.ndarray, bits: int) -> np.ndarray:
    return x.astype(np.uint64) & np.uint64(2**bits - 1)


def divide_signed(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -quotient, quotient)


INTEGER: Dict[str, Callable[..., np.ndarray]] = {
    "arith.addi": lambda a, b, bits: a + b,
    "arith.subi": lambda a, b, bits: a - b,
    "arith.muli": lambda a, b, bits: a * b,
    "arith.andi": lambda a, b, bits: a & b,
    "arith.ori": lambda a, b, bits: a | b,
    "arith.xori": lambda a, b, bits: a ^ b,
    "arith.maxsi": lambda a, b, bits: np.maximum(a, b),
    "arith.minsi": lambda a, b, bits: np.minimum(a, b),
    "arith.maxui": lambda a, b, bits: np.where(unsigned(a, bits) > unsigned(b, bits), a, b),
    "arith.minui": lambda a, b, bits: np.where(unsigned(a, bits) < unsigned(b, bits), a, b),
    "arith.divsi": divide_signed,
    "arith.remsi": lambda a, b, bits: a - divide_signed(a, b, bits) * b,
    "arith.shli": lambda a, b, bits: a << b,
    "arith.shrsi": lambda a, b, bits: a >> b,
}

REDUCE = {
    "addi": "arith.addi",
    "muli": "arith.muli",
    "maxs": "arith.maxsi",
    "mins": "arith.minsi",
    "maxu": "arith.maxui",
    "minu": "arith.minui",
    "andi": "arith.andi",
    "ori": "arith.ori",
    "xori": "arith.xori",
}

COMPARE: Dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "oeq": np.equal,
    "one": np.not_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


@dataclasses.dataclass
class Coverage:
    """How many elements were compared, and how sharply."""

    elements: int = 0
    exact: int = 0
    tight: int = 0
    unknown: int = 0


def judge(memories: List[Memory], coverage: Coverage) -> List[Tuple[str, str]]:
    """What is wrong after a run: pairs of a kind and a description."""
    faults: List[Tuple[str, str]] = []
    for memory in memories:
        name, dtype = memory.buffer.name, memory.buffer.dtype
        after, before = memory.storage, memory.before
        places = memory.start + memory.places
        touched = np.zeros(after.shape, bool)
        touched[places[memory.written]] = True
        outside = (after != before) & ~touched
        if outside.any():
            at = int(np.flatnonzero(outside)[0]) - memory.start
            kind = "outside" if memory.buffer.output or memory.atomic else "input"
            faults.append(
                (kind, f"{int(outside.sum())} elements outside of what '{name}' is to hold"
                       f" were written, the first at {at} from its begin")
            )
        if not memory.written.any():
            continue
        got = decode(after[places], dtype)
        if not memory.atomic:
            left = memory.written & (after[places] == before[places])
            left &= got != memory.v
            if left.any():
                faults.append(("unwritten", describe(memory, left, "are not written")))
                continue
        bound = memory.e
        with np.errstate(invalid="ignore"):
            if is_float(dtype):
                near = np.abs(got - memory.v) <= bound
                near |= got == memory.v
                unknown = np.isinf(bound)
            else:
                near = got == memory.v
                unknown = bound > 0
        wrong = memory.written & ~near & ~unknown
        coverage.elements += int(memory.written.sum())
        coverage.unknown += int((memory.written & unknown).sum())
        coverage.exact += int((memory.written & (bound == 0)).sum())
        scale = np.abs(memory.v) + 1e-3
        coverage.tight += int((memory.written & (bound <= 0.02 * scale)).sum())
        if wrong.any():
            first = tuple(int(i[0]) for i in np.nonzero(wrong))
            text = describe(memory, wrong, "are wrong")
            faults.append(
                ("wrong", f"{text}: {got[first]:.9g} at {first}, expected {memory.v[first]:.9g}"
                          f" within {bound[first]:.3g}")
            )
    return faults


def describe(memory: Memory, where: np.ndarray, what: str) -> str:
    first = tuple(int(i[0]) for i in np.nonzero(where))
    return (
        f"{int(where.sum())} of {int(memory.written.sum())} elements of"
        f" '{memory.buffer.name}' {what}, the first at {first}"
    )
