#!/usr/bin/env python3
"""Compares random tile.matmul with float64.

Draws types, extents, strides, transpositions, batches, groups, epilogues, ways to share
sums, and schedules from a seed, and runs each product on the CPU (tile.executor) for one
chip after the other. A result may differ from the exact one by a bound that follows from
the types and the operations. Outputs hold NaN, or a number, before a run, and what lies
between their rows must keep it. A program that the compiler refuses is counted.

By hand: matmuls.py --seconds=3600 --seed=7. matmuls.py --only=12 prints and runs one.
"""

import os
import random
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(ROOT, "test", "fuzz")]

import series  # noqa: E402
from elements import exact, stored  # noqa: E402

from tile.executor import Program  # noqa: E402

#: The rounding error of a number, relative to its magnitude.
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24, "i32": 0.0}

#: Operands, sums, precision, and the error of a sum by that of the magnitudes of its
#: products (tile.dot).
KINDS = (
    ("bf16", "f32", "", 0.0),
    ("f16", "f32", "", 0.0),
    ("i8", "i32", "", 0.0),
    ("f32", "f32", " precision(tf32)", 2.0**-9),
    ("f32", "f32", " precision(bf16x3)", 3 * 2.0**-16),
)

POISON = -7


class Buffer:
    """An argument: a view of memory whose rows may begin at any element."""

    def __init__(self, shape, element, is_packed, numbers=None):
        self.shape, self.element, self.is_packed = tuple(shape), element, is_packed
        width = shape[-1] if is_packed else -(-shape[-1] // 16) * 16
        whole = np.full((*shape[:-1], width), POISON if element == "i32" else np.nan)
        if element == "i8":
            whole[:] = 1
        if numbers is not None:
            whole[..., : shape[-1]] = numbers
        self.memory = stored(whole, element)
        self.before = self.memory.copy()
        self.array = self.memory[..., : shape[-1]]

    @property
    def type(self):
        stride = "?" if self.is_packed else "?:16"
        strides = ", ".join([stride] * (len(self.shape) - 1) + ["1"])
        align = "" if self.is_packed else ", align = 16"
        extents = "?x" * len(self.shape)
        return f"!tile.buffer<{extents}{self.element}, #tile.strided<[{strides}]{align}>, global>"

    @property
    def numbers(self):
        return exact(self.array, self.element)

    def keeps_padding(self):
        width = self.shape[-1]
        left, right = self.memory[..., width:], self.before[..., width:]
        return left.tobytes() == right.tobytes()


class Product:
    """A random product: its program, its arguments, the exact result and its error."""

    def __init__(self, label, chip):
        self.draw = random.Random(f"{label}:{chip}")
        self.has_clusters = chip in ("sm_90a", "sm_100a", "sm_103a", "sm_120a")
        self.random = np.random.default_rng(self.draw.getrandbits(32))
        self.element, self.sum, self.precision, self.bound = self.draw.choice(KINDS)
        self.mode = self.draw.choice(["plain"] * 4 + ["ends", "counts", "atomic", "split"])
        self.m, self.n, self.k = (self.extent() for _ in range(3))
        self.transposed = [self.draw.random() < 0.4 for _ in "ab"]
        self.transposed[0] &= self.mode != "ends"
        self.arguments, self.lines = {}, []
        self.groups = self.draw.randint(1, 5)
        self.draw_operands()
        self.draw_epilogue()
        self.draw_schedule()

    def extent(self):
        return self.draw.choice([1, 7, 16, 33, 64, 72, 100, 130, self.draw.randint(1, 150)])

    def add(self, name, shape, element, numbers=None, is_packed=None):
        if is_packed is None:
            is_packed = self.draw.random() < 0.3
        self.arguments[name] = Buffer(shape, element, is_packed, numbers)
        return self.arguments[name]

    def normal(self, shape, element):
        if element == "i8":
            return self.random.integers(-128, 128, shape).astype(np.float64)
        return self.random.standard_normal(shape)

    def draw_operands(self):
        m, n, k = self.m, self.n, self.k
        outer = [(), (), (2,), (2, 2)][self.draw.randrange(4)]
        outer_a = outer if self.draw.random() < 0.7 else ()
        outer_b = outer
        if self.mode == "ends":
            outer, outer_a, outer_b = (), (), (self.groups,)
        elif self.mode == "counts":
            outer = outer_a = outer_b = (self.groups,)
        elif outer_a and self.draw.random() < 0.3:
            outer_b = ()
        self.outer = outer
        shape = (k, m) if self.transposed[0] else (m, k)
        a = self.add("a", (*outer_a, *shape), self.element,
                     self.normal((*outer_a, *shape), self.element))
        shape = (n, k) if self.transposed[1] else (k, n)
        count = 2 if self.sum == "f32" and self.draw.random() < 0.2 else 1
        bs = [self.add(f"b{i}", (*outer_b, *shape), self.element,
                       self.normal((*outer_b, *shape), self.element)) for i in range(count)]
        left, *right = (x.numbers.swapaxes(-1, -2) if t else x.numbers
                        for x, t in zip([a, *bs], [self.transposed[0], *[self.transposed[1]] * count]))
        #: The exact sums, their errors, and which rows are computed.
        self.sums, self.errors = [], []
        self.written = np.ones((*outer, m, 1), bool)
        if self.mode in ("ends", "counts"):
            self.draw_groups(left, right)
        for r in right if self.mode != "ends" else ():
            self.note(left @ r, np.abs(left) @ np.abs(r))

    def note(self, value, magnitude):
        self.sums.append(value)
        rounding = 0 if self.sum == "i32" else self.k * 2.0**-24
        self.errors.append((self.bound + rounding) * magnitude)

    def draw_groups(self, left, right):
        m = self.m
        if self.mode == "counts":
            counts = [self.draw.choice([0, m, -3, m + 9, self.draw.randint(0, m)])
                      for _ in range(self.groups)]
            self.add("counts", (self.groups,), "i32", np.array(counts), is_packed=True)
            limit = np.clip(counts, 0, m)[:, None, None]
            self.written = np.arange(m)[None, :, None] < limit
            return
        ends = sorted(self.draw.randint(0, m) for _ in range(self.groups))
        self.add("ends", (self.groups,), "i32", np.array(ends), is_packed=True)
        self.written = np.arange(m)[:, None] < ends[-1]
        for r in right:
            value, magnitude = np.zeros((m, self.n)), np.zeros((m, self.n))
            for group, (begin, end) in enumerate(zip([0, *ends], ends)):
                value[begin:end] = left[begin:end] @ r[group]
                magnitude[begin:end] = np.abs(left[begin:end]) @ np.abs(r[group])
            self.note(value, magnitude)

    def draw_epilogue(self):
        """Writes the operations behind the product, and computes the exact result."""
        if self.sum == "i32":
            self.result = "i32"
        else:
            self.result = self.draw.choice(["bf16", "f16", "f32"])
        self.exact, self.error = self.sums[0], self.errors[0]
        self.has_epilogue = len(self.sums) > 1 or (self.sum == "f32" and self.draw.random() < 0.6)
        if self.has_epilogue:
            self.value = "%s0"
            for i in range(1, len(self.sums)):
                self.emit(f"arith.mulf {self.value}, %s{i} : !sum")
                x, y = self.exact, self.sums[i]
                self.error = (np.abs(x) * self.errors[i] + np.abs(y) * self.error
                              + self.error * self.errors[i])
                self.finish(x * y)
            steps = [self.add_columns, self.add_rows, self.scale, self.clamp, self.negate, self.mask]
            if self.mode == "plain":
                steps.append(self.add_residual)
            for _ in range(self.draw.randint(0, 4)):
                self.draw.choice(steps)()
        # f16 overflows.
        largest = np.abs(self.exact).max(initial=0)
        if self.result == "f16" and largest > 1e4:
            self.result = "f32"
        self.error = self.error + ROUNDING[self.result] * (np.abs(self.exact) + self.error) + 1e-7
        if self.sum == "i32":
            self.error = np.zeros_like(self.exact)
        self.add("c", (*self.outer, self.m, self.n), self.result)

    def emit(self, text):
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.value = name
        return name

    def finish(self, exact):
        self.exact = exact
        self.error = self.error + 2.0**-24 * np.abs(exact)

    def splat(self, number):
        value = self.value
        scalar = self.emit(f"arith.constant {number:e} : f32")
        tile = self.emit(f"tensor.splat {scalar}[%bm, %bn] : !sum")
        self.value = value
        return tile

    def vector(self, count, extent, place, axis):
        """Adds a vector that is the same for all rows or columns."""
        name = f"v{len(self.arguments)}"
        buffer = self.add(name, (count,), "f32", self.normal((count,), "f32"), is_packed=True)
        value = self.value
        tile = f"tensor<?xf32, #tile.open<{extent}>>"
        loaded = self.emit(f"tile.load %{name}[{place}] : {buffer.type} -> {tile}")
        grown = self.emit(f"tile.broadcast {loaded} along {axis} : {tile} -> !sum")
        self.emit(f"arith.addf {value}, {grown} : !sum")
        return buffer.numbers

    def add_columns(self):
        self.finish(self.exact + self.vector(self.n, "BN", "%column", 0))

    def add_rows(self):
        # The rows of a group count from its first one.
        if self.mode != "ends":
            self.finish(self.exact + self.vector(self.m, "BM", "%row", 1)[:, None])

    def scale(self):
        number = self.draw.choice([0.5, -2.0, 0.25, 3.0])
        self.emit(f"arith.mulf {self.value}, {self.splat(number)} : !sum")
        self.error = self.error * abs(number)
        self.finish(self.exact * number)

    def clamp(self):
        name, function = self.draw.choice([("maximumf", np.maximum), ("minimumf", np.minimum)])
        number = self.draw.choice([0.0, 1.0, -0.5])
        self.emit(f"arith.{name} {self.value}, {self.splat(number)} : !sum")
        self.exact = function(self.exact, number)

    def negate(self):
        self.emit(f"arith.negf {self.value} : !sum")
        self.exact = -self.exact

    def mask(self):
        """Hides the elements on one side of a column."""
        bound = self.draw.randint(0, self.n)
        value = self.value
        column = self.emit("arith.index_cast %column : index to i32")
        first = self.emit(f"tensor.splat {column}[%bm, %bn] : !ints")
        place = self.emit("tile.iota along 1 : !ints")
        number = self.emit(f"arith.addi {first}, {place} : !ints")
        limit = self.emit(f"arith.constant {bound} : i32")
        limits = self.emit(f"tensor.splat {limit}[%bm, %bn] : !ints")
        flags = self.emit(f"arith.cmpi slt, {number}, {limits} : !ints")
        other = self.splat(2.0)
        self.emit(f"arith.select {flags}, {value}, {other} : !flags, !sum")
        is_kept = np.arange(self.n) < bound
        self.exact = np.where(is_kept, self.exact, 2.0)
        self.error = np.where(is_kept, self.error, 0.0)

    def add_residual(self):
        shape = (self.m, self.n)
        name = f"v{len(self.arguments)}"
        buffer = self.add(name, shape, "bf16", self.normal(shape, "bf16"))
        value = self.value
        tile = "tensor<?x?xbf16, #tile.open<BM, BN>>"
        loaded = self.emit(f"tile.load %{name}[%row, %column] : {buffer.type} -> {tile}")
        wide = self.emit(f"arith.extf {loaded} : {tile} to !sum")
        self.emit(f"arith.addf {value}, {wide} : !sum")
        self.finish(self.exact + buffer.numbers)

    def draw_schedule(self):
        self.schedule = None
        bytes_each = {"i8": 1, "f32": 4}.get(self.element, 2)
        if self.mode == "atomic":
            rows, columns = (-(-extent // 16) * 16 for extent in (self.m, self.n))
            for i in range(len(self.sums)):
                self.add(f"sums{i}", (*self.outer, rows, columns), self.sum)
            if self.draw.random() < 0.6:
                field, most = self.draw.choice([("split", 4), ("stream_k", 13)])
                self.schedule = f"@f_product: {field} = {self.draw.randint(2, most)}"
        if self.mode == "split" or (self.mode != "atomic" and self.draw.random() < 0.5):
            self.bm = self.draw.choice([16, 32, 64, 128])
            self.bn = self.draw.choice([32, 64, 96])
            depth = self.draw.choice([64, 128]) // bytes_each
            warps = self.draw.choice([1, 2, 4, 8])
            self.schedule = (f"params = {{BM = {self.bm}, BN = {self.bn}, BK = {depth}}}, "
                             f"warps = {warps}")
        if self.mode == "split":
            if self.has_clusters and self.bm >= 64 and self.draw.random() < 0.5:
                self.schedule += f", cluster_split = {self.draw.choice([2, 4, 8])}"
                return
            if self.draw.random() < 0.5:
                self.schedule += f", split = {self.draw.randint(2, 4)}"
            else:
                self.schedule += f", stream_k = {self.draw.randint(2, 13)}"

    def text(self):
        kinds = {name: buffer.type for name, buffer in self.arguments.items()}
        signature = ", ".join(f"%{name}: {kind}" for name, kind in kinds.items())
        bs = [name for name in kinds if name[0] == "b"]
        sums = [name for name in kinds if name.startswith("sums")]
        words = f"%a, {', '.join('%' + b for b in bs)} to %c"
        used = ["a", *bs, "c"]
        if self.mode in ("ends", "counts"):
            words += f" {self.mode} %{self.mode}"
            used.append(self.mode)
        if sums:
            words += " atomic " + ", ".join("%" + name for name in sums)
            used += sums
        flags = [f"transpose_{x}" for x, t in zip("ab", self.transposed) if t]
        attributes = f" {{{', '.join(flags)}}}" if flags else ""
        types = ", ".join(kinds[name] for name in used)
        epilogue = self.epilogue() if self.has_epilogue else ""
        return f"""
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
!ints = tensor<?x?xi32, #tile.open<BM, BN>>
!flags = tensor<?x?xi1, #tile.open<BM, BN>>
!result = tensor<?x?x{self.result}, #tile.open<BM, BN>>
func.func @f({signature}) {{
  tile.matmul {words}{self.precision}{attributes} : {types}{epilogue}
  return
}}
"""

    def epilogue(self):
        indices = 1 if self.mode == "ends" else len(self.outer)
        arguments = [f"%s{i}: !sum" for i in range(len(self.sums))]
        arguments += [f"%i{i}: index" for i in range(indices)]
        arguments += ["%row: index", "%column: index"]
        lines = ["%bm = tile.param BM in [16, 32, 64, 128]",
                 "%bn = tile.param BN in [32, 64, 96]", *self.lines]
        value = self.value
        if self.result != "f32":
            lines.append(f"%rounded = arith.truncf {value} : !sum to !result")
            value = "%rounded"
        lines.append(f"tile.yield {value} : !result")
        body = "".join(f"\n    {line}" for line in lines)
        return f" epilogue {{\n  ^bb0({', '.join(arguments)}):{body}\n  }}"

    def run(self, chip):
        """Returns an error, or an empty text."""
        program = Program(self.text(), chip, schedule=self.schedule)
        # Tiles may be computed transposed, and so may be their parts.
        shapes = {name: buffer.shape for name, buffer in self.arguments.items()}
        parts = [
            Buffer(shape, self.sum, is_packed=True)
            for _, shape in program.scratch(shapes).values()
        ]
        program(*(buffer.array for buffer in (*self.arguments.values(), *parts)))
        c = self.arguments["c"]
        found = c.numbers
        if not c.keeps_padding():
            return "memory between the rows of the result changed"
        untouched = Buffer(c.shape, c.element, c.is_packed).array
        written = np.broadcast_to(self.written, c.shape)
        if c.array[~written].tobytes() != untouched[~written].tobytes():
            return "rows of no group changed"
        excess = np.where(written, np.abs(found - self.exact) - self.error, 0)
        excess = np.where(np.isnan(excess), np.inf, excess)
        if excess.size and excess.max() > 0:
            place = np.unravel_index(excess.argmax(), excess.shape)
            return (f"element {tuple(map(int, place))} is {found[place]}, must be "
                    f"{self.exact[place]} within {self.error[place]}")
        return ""

    def __str__(self):
        return f"{self.text()}\n{self.schedule}"


if __name__ == "__main__":
    sys.exit(series.main(__doc__, Product))
