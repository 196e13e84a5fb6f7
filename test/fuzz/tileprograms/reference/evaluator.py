"""Evaluates programs in float64."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from ..program import Offset, Op, Program, narrowed
from .functions import COMPARE, FUNCTIONS, INTEGER, REDUCE, multiplied, stacked, summed
from .memory import Memory
from .values import FORMATS, Value, decode, encode, exact, is_float, rounded, wrap

#: The error of a product of f32, by the magnitude of its terms (tile.dot).
PRECISIONS = {"tf32": 2.0**-9, "bf16x3": 3 * 2.0**-16}

#: The largest integers that all formats of products have.
LARGEST_INTEGER = 256


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
