"""Draws random programs."""

from __future__ import annotations

import random
from typing import Dict, List, Tuple

from .drawing.control import Control
from .drawing.elements import Elements
from .drawing.memory import Memory
from .drawing.products import Products
from .drawing.shapes import Shapes
from .drawing.values import Retry
from .program import Program, walk
from .prune import prune


class Generator(Memory, Elements, Shapes, Products, Control):
    """Builds one program from the numbers that `draw` gives."""

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


def generate(seed: str) -> Program:
    draw = random.Random(seed)
    while True:
        try:
            program = Generator(draw).build()
        except Retry:
            continue
        if program.buffers and any(op.kind in ("store", "atomic") for op in program.ops):
            return program
