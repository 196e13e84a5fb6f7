#!/usr/bin/env python3
"""Compares random tile.attention with float64.

Draws types, heads, head dimensions, lengths, masks, trees, sinks, pages, parts, tables of
works of all or of some sequences, packed heads, clusters and merges from a seed, and runs
each program on the CPU (tile.executor) for one chip after the other. What no sequence
holds is NaN: rows of caches, pages of nobody, rows between sequences. Entries of tables
behind the lengths are no pages. Elements of o that belong to no query, or to a sequence
without works, must keep what they held. The bound of the error follows from the types. A
program that the compiler refuses is counted.

By hand: attentions.py --seconds=3600 --seed=7. attentions.py --only=12 prints and runs one.
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
from tile.native import most_cluster_blocks  # noqa: E402

#: An entry of a table that is no page.
GARBAGE = 2147480000

#: The error of a rounded weight or result, relative to its magnitude.
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-23}


def bounds(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


class Attention:
    """A random program, its arguments, the exact results and their errors."""

    def __init__(self, label, chip):
        self.chip = chip
        self.draw = random.Random(f"{label}:{chip}")
        self.random = np.random.default_rng(self.draw.getrandbits(32))
        self.element = self.draw.choice(["f16", "bf16"])
        self.kv_heads = self.draw.choice([1, 1, 2, 3])
        self.group = self.draw.choice([1, 1, 2, 3, 4, 7, 8])
        self.heads = self.kv_heads * self.group
        self.d = self.draw.choice([16, 32, 40, 64, 64, 72, 96, 128, 192, 256])
        self.dv = self.d if self.draw.random() < 0.7 else self.draw.choice([16, 32, 64, 88, 128])
        self.batch = self.draw.choice([1, 2, 2, 3, 4])
        #: The type and the array of each argument, in order.
        self.arguments = {}
        self.scalars = {}
        self.draw_lengths()
        self.draw_features()
        self.draw_operands()
        self.compute()

    def chance(self, share):
        return self.draw.random() < share

    def draw_lengths(self):
        few = self.chance(0.5)

        def queries():
            return self.draw.choice([1, 2, 3, 5, 8]) if few else self.draw.choice([1, 17, 33, 64, 90])

        self.packed = self.chance(0.45)
        self.keys = self.draw.choice(
            ["same"] * 2 + ["lengths"] * 2 + ["table"] * 3 + ["list"] * 3)
        if self.packed:
            self.sq = [self.draw.choice([0, queries(), queries()]) for _ in range(self.batch)]
        else:
            self.sq = [queries()] * self.batch
        self.page = self.draw.choice([1, 3, 4, 8, 12, 16, 16, 32, 64, 128])
        room = self.draw.choice([20, 70, 150, 260])
        self.room = -(-room // self.page) * self.page
        if self.keys == "same" and not self.packed:
            self.sk = [self.draw.choice([1, 7, 64, 130, 200])] * self.batch
        else:
            self.sk = [self.draw.choice([0, 1, self.page, self.draw.randint(0, room), room])
                       for _ in range(self.batch)]

    def draw_features(self):
        self.causal = self.chance(0.5)
        self.window = self.chance(0.3) and tuple(
            self.draw.choice([-1, 0, 5, 40]) for _ in "lr")
        self.offset = self.draw.choice([-3, 0, 9, 60]) if self.chance(0.2) else None
        self.softcap = self.draw.choice([4.0, 30.0]) if self.chance(0.2) else None
        self.sink = self.draw.choice(["f32", self.element]) if self.chance(0.25) else None
        words = -(-max(self.sq) // 32)
        self.tree = self.draw.randint(max(words, 1), 4) if self.chance(0.3) else None
        self.parts = self.draw.choice(["none", "none", "parts", "works"])
        # The queries of the sequences that have works.
        self.queries = None
        if self.parts == "works" and self.packed and self.chance(0.5):
            self.queries = sorted(self.draw.choices([0, *self.sq, 1000], k=2))
        self.concurrent = bool(self.queries) and self.draw.random() < 0.5
        self.merge = self.chance(0.2)
        self.lse = self.merge or self.chance(0.6)
        self.o_element = self.draw.choice([self.element, self.element, "f32"])
        fields = []
        if self.group > 1 and self.chance(0.5):
            fields.append(f"pack_heads = {self.draw.choice([2, 4, 8])}")
        sharesKeys = self.parts == "none" and not self.merge
        if sharesKeys and most_cluster_blocks(self.chip) > 1 and self.chance(0.4):
            fields.append(f"cluster_split = {self.draw.choice([2, 4, 8])}")
        self.schedule = ", ".join(fields) or None
        # The rows that are of use in a tile; any number is right.
        self.rows = self.draw.choice([8, 16, 32, 64]) if self.chance(0.5) else None

    def type(self, shape, element, static=()):
        """Returns the type of a buffer whose dimensions are open but for `static`."""
        isTile = element in ("f16", "bf16") or (static and element == "f32")
        unit = "?:8" if isTile else "?"
        extents = ["?"] * len(shape)
        for dim in static:
            extents[dim] = str(shape[dim])
        strides = ", ".join([unit] * (len(shape) - 1) + ["1"])
        align = ", align = 16" if isTile else ""
        return (f"!tile.buffer<{'x'.join(extents)}x{element}, "
                f"#tile.strided<[{strides}]{align}>, global>")

    def add(self, name, numbers, element, static=()):
        array = np.ascontiguousarray(stored(np.asarray(numbers, np.float64), element))
        if len(array.shape) == 4 and element != "i32" and self.chance(0.3) and 1 not in static:
            # The same elements, heads in front of rows.
            array = np.ascontiguousarray(array.swapaxes(1, 2)).swapaxes(1, 2)
        self.arguments[name] = (self.type(array.shape, element, static), array)
        return array

    def normal(self, *shape):
        return exact(stored(self.random.standard_normal(shape), self.element), self.element)

    def pack(self, rows, shape, behind):
        """Returns the rows of all sequences one after the other, and NaN behind."""
        return np.concatenate([*rows, np.full((behind, *shape), np.nan)])

    def draw_operands(self):
        self.q = [self.normal(n, self.heads, self.d) for n in self.sq]
        self.k = [self.normal(n, self.kv_heads, self.d) for n in self.sk]
        self.v = [self.normal(n, self.kv_heads, self.dv) for n in self.sk]
        q = self.pack(self.q, (self.heads, self.d), self.draw.choice([1, 5])) if self.packed else np.stack(self.q)
        self.add("q", q, self.element, [q.ndim - 1])
        if self.keys in ("table", "list"):
            self.add_pages()
        else:
            behind = self.draw.choice([1, 5])
            for name, rows, d in (("k", self.k, self.d), ("v", self.v, self.dv)):
                self.add_keys(name, rows, d, behind)
        rows = q.shape[:-1]
        o = np.full((*rows, self.dv), np.nan)
        lse = np.full((self.heads, rows[0]) if self.packed else
                      (self.batch, self.heads, rows[1]), np.nan)
        if self.merge:
            self.draw_before(o, lse)
        self.before = self.add("o", o, self.o_element, [o.ndim - 1]).copy()
        if self.lse:
            self.lse_before = self.add("lse", lse, "f32").copy()
        if self.sink:
            sink = self.random.standard_normal(self.heads)
            self.sinks = exact(self.add("sink", sink, self.sink), self.sink)
            kind = self.arguments["sink"][0].replace("?:8", "?").replace(", align = 16", "")
            self.arguments["sink"] = (kind, self.arguments["sink"][1])
        if self.packed:
            self.add("cu_q", bounds(self.sq), "i32")
            longest = max(self.sq)
            self.scalars["max_q"] = self.draw.choice([longest, max(1, longest // 2), longest + 9])
            if self.keys == "same":
                self.add("cu_k", bounds(self.sk), "i32")
        if self.keys == "list":
            self.add("lengths", [n - (-(-n // self.page) - 1) * self.page if n else 7
                                 for n in self.sk], "i32")
            self.add("table", self.pages, "i32")
            self.add("cu_pages", self.cu_pages, "i32")
        elif self.keys != "same":
            self.add("lengths", self.sk, "i32")
            if self.keys == "table":
                self.add("table", self.pages, "i32")
        if self.tree:
            self.add_tree()

    def draw_before(self, o, lse):
        """Draws the result for other keys; some queries have seen none."""
        for b, n in enumerate(self.sq):
            begin = int(bounds(self.sq)[b])
            part = o[begin : begin + n] if self.packed else o[b]
            logs = lse[:, begin : begin + n] if self.packed else lse[b]
            part[:] = self.normal(n, self.heads, self.dv)
            logs[:] = self.random.standard_normal((self.heads, n)) * 3
            empty = self.random.random((self.heads, n)) < 0.2
            logs[empty] = -np.inf
            part[empty.T] = 0

    def add_keys(self, name, rows, d, behind):
        if self.keys == "lengths":
            whole = np.full((self.batch, self.room, self.kv_heads, d), np.nan)
            for b, part in enumerate(rows):
                whole[b, : len(part)] = part
        else:
            pack = self.packed
            whole = self.pack(rows, (self.kv_heads, d), behind) if pack else np.stack(rows)
        self.add(name, whole, self.element, [whole.ndim - 1])

    def add_pages(self):
        counts = [-(-n // self.page) for n in self.sk]
        order = self.random.permutation(sum(counts) + 3)
        caches = [np.full((len(order), self.page, self.kv_heads, d), np.nan)
                  for d in (self.d, self.dv)]
        lists, used = [], 0
        for b, count in enumerate(counts):
            lists.append(order[used : used + count])
            used += count
            for cache, rows in zip(caches, (self.k[b], self.v[b])):
                for i, page in enumerate(lists[-1]):
                    part = rows[i * self.page : (i + 1) * self.page]
                    cache[page, : len(part)] = part
        for name, cache in zip("kv", caches):
            self.add(name, cache, self.element, [1, 3])
        if self.keys == "table":
            self.pages = np.full((self.batch, self.room // self.page + 1), GARBAGE)
            for row, pages in zip(self.pages, lists):
                row[: len(pages)] = pages
        else:
            garbage = np.full(2, GARBAGE)
            self.pages = np.concatenate([garbage, *lists, garbage])
            self.cu_pages = bounds(counts) + 2

    def add_tree(self):
        words = [self.random.integers(-(2**31), 2**31, (n, self.tree)) for n in self.sq]
        self.nodes = [((part[..., None] >> np.arange(32)) & 1).astype(bool)
                      .reshape(len(part), 32 * self.tree) for part in words]
        if self.packed:
            behind = len(self.arguments["q"][1]) - sum(self.sq)
            array = np.concatenate([*words, np.full((behind, self.tree), -1)]).astype(np.int32)
        else:
            array = np.stack(words).astype(np.int32)
        extents = "?x" * (array.ndim - 1) + str(self.tree)
        strides = ", ".join(["?"] * (array.ndim - 1) + ["1"])
        self.arguments["tree"] = (
            f"!tile.buffer<{extents}xi32, #tile.strided<[{strides}]>, global>", array)

    def visible(self, b):
        sq, sk = self.sq[b], self.sk[b]
        offset = sk - sq if self.offset is None else self.offset
        i, j = np.arange(sq)[:, None] + offset, np.arange(sk)[None, :]
        mask = np.ones((sq, sk), bool)
        left, right = self.window or (-1, -1)
        if self.causal:
            right = 0
        if left >= 0:
            mask &= j >= i - left
        if right >= 0:
            mask &= j <= i + right
        if self.tree:
            node = np.broadcast_to(j - offset, mask.shape)
            inside = np.clip(node, 0, 32 * self.tree - 1)
            mask &= (node < 0) | ((node < 32 * self.tree) & np.take_along_axis(self.nodes[b], inside, 1))
        return mask

    def compute(self):
        """Computes the exact results and their errors, for each sequence."""
        self.results = []
        for b in range(self.batch):
            mask = self.visible(b)
            k, v = (np.repeat(x[b], self.group, axis=1) for x in (self.k, self.v))
            s = np.einsum("ihd,jhd->hij", self.q[b], k) * self.scale
            if self.softcap:
                s = self.softcap * np.tanh(s / self.softcap)
            s = np.where(mask, s, -np.inf)
            top = s.max(axis=2, initial=-np.inf)
            if self.sink:
                top = np.maximum(top, self.sinks[:, None])
            safe = np.where(np.isfinite(top), top, 0)
            p = np.exp(s - safe[..., None])
            total = p.sum(2)
            if self.sink:
                total = total + np.exp(self.sinks[:, None] - safe)
            with np.errstate(divide="ignore"):
                lse = np.log(total) + safe
            p = p / np.where(total == 0, 1, total)[..., None]
            o = np.einsum("hij,jhd->ihd", p, v)
            size = np.einsum("hij,jhd->ihd", p, np.abs(v))
            if self.merge:
                o, lse, size = self.merged(b, o, lse, size)
            error = 2 * ROUNDING[self.element] * size + 1e-5
            error += ROUNDING[self.o_element] * np.abs(o)
            self.results.append((o, lse, error))

    def part(self, whole, b):
        begin = int(bounds(self.sq)[b])
        return whole[begin : begin + self.sq[b]] if self.packed else whole[b]

    def lse_part(self, whole, b):
        begin = int(bounds(self.sq)[b])
        return whole[:, begin : begin + self.sq[b]] if self.packed else whole[b]

    def merged(self, b, o, lse, size):
        before = self.part(exact(self.before, self.o_element), b)
        log = self.lse_part(self.lse_before.astype(np.float64), b)
        z = np.logaddexp(lse, log)
        safe = np.where(np.isfinite(z), z, 0)
        x, y = (np.exp(part - safe).T[..., None] for part in (lse, log))
        return o * x + before * y, z, size * x + np.abs(before) * y

    @property
    def scale(self):
        return self.d**-0.5

    def text(self):
        kinds = {name: kind for name, (kind, _) in self.arguments.items()}
        words = "%q, %k, %v, %o"
        used = ["q", "k", "v", "o"]

        def name(text, *names):
            nonlocal words
            words += f" {text} " + ", ".join("%" + n for n in names)
            used.extend(names)

        if self.lse:
            name("lse", "lse")
        if self.parts != "none":
            lead = 1 if self.packed or self.parts == "works" else 2
            if self.parts == "parts":
                lead += 1
            kinds["o_parts"] = self.type((0,) * (lead + 1) + (self.dv,), "f32", [lead + 1])
            kinds["lse_parts"] = self.type((0,) * (lead + 1), "f32")
            name("parts", "o_parts", "lse_parts")
        if self.parts == "works":
            kinds["works"] = "!tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>"
            name("works", "works")
        if self.queries:
            words += " queries %least_q to %most_q"
        if self.sink:
            name("sink", "sink")
        if self.packed:
            name("seqlens", "cu_q", *(["cu_k"] if self.keys == "same" else []))
            words += " max %max_q"
        if self.keys != "same":
            name("key_lengths", "lengths")
        if self.keys == "table":
            name("pages", "table")
        elif self.keys == "list":
            name("pages", "table", "cu_pages")
        if self.tree:
            name("tree_mask", "tree")
        words += " scale %scale"
        scalars = {"scale": "f32"}
        if self.packed:
            scalars["max_q"] = "index"
        if self.queries:
            scalars.update(least_q="index", most_q="index")
        for flag, word, names in ((self.softcap, "softcap", ["softcap"]),
                                  (self.window, "window", ["left", "right"]),
                                  (self.offset is not None, "offset", ["offset"])):
            if flag:
                words += f" {word} " + ", ".join("%" + n for n in names)
                scalars.update({n: "f32" if word == "softcap" else "i32" for n in names})
        flags = [flag for flag in ("causal", "merge", "concurrent") if getattr(self, flag)]
        if self.schedule:
            flags.append(f"schedule = #tile.schedule<{self.schedule}>")
        if self.rows:
            flags.append(f"expected_rows = {self.rows} : i64")
        attributes = f" {{{', '.join(flags)}}}" if flags else ""
        signature = ", ".join(f"%{n}: {kind}" for n, kind in {**kinds, **scalars}.items())
        types = ", ".join(kinds[n] for n in used)
        return f"func.func @f({signature}) {{\n  tile.attention {words}{attributes}\n      : {types}\n  return\n}}\n"

    def __str__(self):
        return f"{self.text()}\n{self.sq} {self.sk} {self.page}"

    def run(self, chip):
        """Returns an error, or an empty text."""
        program = Program(self.text(), chip)
        values, numbers = self.inputs()
        parts = self.draw.choice([1, 2, 3, 5])
        for name, buffer in self.scratch(program, values, numbers):
            shape = buffer.shape
            if self.parts == "parts":
                shape = (parts, *shape[1:])
            fill = 1234567 if buffer.type == "i32" else np.nan
            values[name] = np.full(shape, fill, np.int32 if buffer.type == "i32" else np.float32)
        return self.call(program, {**values, **numbers})

    def inputs(self):
        """Returns the arrays and the numbers that a call takes, by their names."""
        numbers = {**self.scalars, "scale": self.scale}
        if self.softcap:
            numbers["softcap"] = self.softcap
        if self.window:
            numbers["left"], numbers["right"] = self.window
        if self.queries:
            numbers["least_q"], numbers["most_q"] = self.queries
        if self.offset is not None:
            numbers["offset"] = self.offset
        return {name: array for name, (_, array) in self.arguments.items()}, numbers

    @staticmethod
    def scratch(program, values, numbers):
        """Returns the names of scratch buffers, with their types and shapes."""
        integers = {n: v for n, v in numbers.items() if isinstance(v, int)}
        return program.scratch({n: v.shape for n, v in values.items()}, integers).items()

    def call(self, program, arguments):
        """Calls the program; returns an error, or an empty text."""
        wanted = [parameter.name for parameter in program.parameters]
        program(**{n: v for n, v in arguments.items() if n in wanted})
        return self.check()

    def check(self):
        o = self.arguments["o"][1]
        found = exact(o, self.o_element)
        if self.packed:
            total = sum(self.sq)
            if o[total:].tobytes() != self.before[total:].tobytes():
                return "rows of no sequence changed"
        for b, (right, lse, error) in enumerate(self.results):
            if self.queries and not self.queries[0] <= self.sq[b] <= self.queries[1]:
                if self.part(o, b).tobytes() != self.part(self.before, b).tobytes():
                    return f"sequence {b} has no works, but its rows changed"
                continue
            message = difference(f"o of sequence {b}", self.part(found, b), right, error)
            if not message and self.lse:
                logs = self.lse_part(self.arguments["lse"][1].astype(np.float64), b)
                if not np.array_equal(np.isneginf(logs), np.isneginf(lse)):
                    return f"lse of sequence {b} is -inf elsewhere"
                finite = np.isfinite(lse)
                message = difference(f"lse of sequence {b}", np.where(finite, logs, 0),
                                     np.where(finite, lse, 0), 1e-4 + 1e-5 * np.abs(lse))
            if message:
                return message
        return ""


def difference(what, found, right, error):
    excess = np.abs(found - right) - error
    excess = np.where(np.isnan(excess), np.inf, excess)
    excess = np.where(found == right, 0, excess)
    if excess.size and excess.max() > 0:
        place = np.unravel_index(excess.argmax(), excess.shape)
        return (f"{what}: element {tuple(map(int, place))} is {found[place]}, must be "
                f"{right[place]} within {np.broadcast_to(error, right.shape)[place]}")
    return ""


if __name__ == "__main__":
    sys.exit(series.main(__doc__, Attention))
