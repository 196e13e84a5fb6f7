"""Makes a failing program smaller while it fails in the same way."""

from __future__ import annotations

import dataclasses
import time
from typing import Callable, Iterator, List

from .prune import prune
from .program import EFFECTS, Op, Program, Tile, walk


def shrink(program: Program, fails: Callable[[Program], bool], seconds: float) -> Program:
    """The smallest program found in that time of which `fails` is true."""
    until = time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for candidate in candidates(program):
            if time.monotonic() > until:
                return program
            prune(candidate)
            if candidate.buffers and size(candidate) < size(program) and fails(candidate):
                program, progress = candidate, True
                break
    return program


def size(program: Program) -> tuple:
    """What shrinking lowers: operations first, then extents and the rest."""
    ops = list(walk(program.ops))
    shape = sum(
        n
        for op in ops
        for v in (*op.results, *op.operands)
        for n in program.shape(v)
    )
    detail = sum(
        sum(b.dynamic) + bool(b.align) + bool(b.shift) + (b.step > 1) + bool(b.padding)
        + bool(b.map) + b.dynamic_strides + (b.divisor > 1) + any(b.cut) + len(b.repeated)
        + (b.order != tuple(reversed(range(len(b.leads) + len(b.dims)))) and b.order != ())
        + sum(n > 1 for n in b.leads)
        for b in program.buffers
    )
    offsets = sum(
        bool(o.constant) + (o.variable is not None)
        for op in ops
        for o in op.attrs.get("offsets", ())
    )
    pins = sum(type.pin is not None for type in program.types.values())
    trips = sum(op.attrs["trips"] for op in ops if op.kind == "for")
    weight = sum(1 for op in ops if op.kind not in ("constant",))
    return (
        weight * 8 + shape / 8 + detail + offsets + pins + trips + program.warps
        + sum(program.grid) * 4 + len(program.scalars)
        + sum(op.attrs.get("shared") is not None for op in ops)
    ,)


def candidates(program: Program) -> Iterator[Program]:
    ops = list(walk(program.ops))
    # Half of the stores, each store, each operation.
    for i, op in reversed(list(enumerate(ops))):
        if op.kind in EFFECTS:
            yield changed(program, i, delete)
    for i, op in reversed(list(enumerate(ops))):
        if op.kind in EFFECTS + ("constant",):
            continue
        if op.kind == "for":
            yield changed(program, i, skip_loop)
        elif op.kind == "if":
            yield changed(program, i, lambda p, op: keep_region(p, op, 0))
            yield changed(program, i, lambda p, op: keep_region(p, op, 1))
        for operand in op.operands:
            if op.results and program.types[operand] == program.types[op.results[0]]:
                yield changed(program, i, lambda p, op, v=operand: forward(p, op, v))
        if len(op.results) == 1:
            yield changed(program, i, freeze)
    for d, extent in enumerate(program.extents):
        for smaller in (1, extent // 2, 1 << max(extent.bit_length() - 1, 0), extent - 1):
            if 0 < smaller < extent:
                copy = program.copy()
                copy.extents[d] = smaller
                for buffer in copy.buffers:
                    for k, dim in enumerate(buffer.dims):
                        if dim == d:
                            buffer.cut[k] = min(buffer.cut[k], max(smaller - 1, 0))
                yield copy
    if program.warps > 1:
        for warps in (1, program.warps // 2):
            copy = program.copy()
            copy.warps = warps
            yield copy
    if program.grid != (1, 1):
        copy = program.copy()
        copy.grid = (1, 1)
        yield copy
    if any(type.pin for type in program.types.values()):
        copy = program.copy()
        copy.types = {v: Tile(t.dims, t.dtype) for v, t in copy.types.items()}
        for op in walk(copy.ops):
            op.attrs.pop("shared", None)
        for op in list(walk(copy.ops)):
            if op.kind == "convert":
                forward(copy, op, op.operands[0])
        yield copy
    for i, op in enumerate(ops):
        if op.kind == "for" and op.attrs["trips"] > 1:
            yield changed(program, i, lambda p, op: op.attrs.update(trips=1, scalar=None))
        if op.kind == "for" and op.attrs["scalar"] is not None:
            yield changed(program, i, lambda p, op: op.attrs.update(scalar=None))
        if op.attrs.get("shared") is not None:
            yield changed(program, i, lambda p, op: op.attrs.update(shared=None))
        if any(o.constant for o in op.attrs.get("offsets", ())):
            yield changed(program, i, straighten)
    for i, buffer in enumerate(program.buffers):
        plain = dict(
            dynamic=(False,) * (len(buffer.leads) + len(buffer.dims)), align=0, shift=0,
            step=1, padding=0, map=0, dynamic_strides=False, divisor=1, order=(),
            cut=[0] * len(buffer.dims), repeated=(),
        )
        copy = program.copy()
        copy.buffers[i] = dataclasses.replace(copy.buffers[i], **plain)
        yield copy
        for name, value in plain.items():
            if getattr(buffer, name) != value:
                copy = program.copy()
                setattr(copy.buffers[i], name, value)
                yield copy


def changed(program: Program, index: int, change: Callable[[Program, Op], None]) -> Program:
    """A copy in which one operation was changed."""
    copy = program.copy()
    change(copy, list(walk(copy.ops))[index])
    return copy


def block_of(ops: List[Op], op: Op) -> List[Op]:
    """The list that holds the operation itself."""
    for other in ops:
        if other is op:
            return ops
        for region in other.regions:
            found = block_of(region.ops, op)
            if found:
                return found
    return []


def delete(program: Program, op: Op) -> None:
    block = block_of(program.ops, op)
    block[:] = [other for other in block if other is not op]


def replace(program: Program, old: int, new: int) -> None:
    for op in walk(program.ops):
        op.operands = [new if v == old else v for v in op.operands]
        for region in op.regions:
            region.yields = [new if v == old else v for v in region.yields]


def forward(program: Program, op: Op, value: int) -> None:
    """Uses an operand in place of the result."""
    delete(program, op)
    replace(program, op.results[0], value)


def freeze(program: Program, op: Op) -> None:
    """Makes the result a constant."""
    op.kind, op.operands, op.attrs, op.regions = "constant", [], {"value": 1}, []


def skip_loop(program: Program, op: Op) -> None:
    delete(program, op)
    for result, start in zip(op.results, op.operands):
        replace(program, result, start)


def keep_region(program: Program, op: Op, index: int) -> None:
    """Puts the operations of one region in place of the branch."""
    if index >= len(op.regions):
        return
    region = op.regions[index]
    block = block_of(program.ops, op)
    at = next(i for i, other in enumerate(block) if other is op)
    block[at : at + 1] = region.ops
    for result, value in zip(op.results, region.yields):
        replace(program, result, value)


def straighten(program: Program, op: Op) -> None:
    for offset in op.attrs["offsets"]:
        offset.constant = 0
