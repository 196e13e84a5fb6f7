#!/usr/bin/env python3
"""Compares random tile.attention_backward with float64.

Draws types, heads, head dimensions, lengths, masks, sinks, packed sequences and the ways
in which gradients add up from a seed, and runs each program on the CPU (tile.executor)
for one chip after the other. Rows between sequences and scratch memory are NaN. Rows of
gradients that belong to no sequence must keep what they held. The bound of the error
follows from the types. A program that the compiler refuses is counted.

By hand: gradients.py --seconds=3600 --seed=7. gradients.py --only=12 prints and runs one.
"""

import sys

import attentions
import numpy as np
import series
from attentions import ROUNDING, Attention, bounds, difference
from elements import exact

from tile.executor import Program
from tile.programs import BackwardVariant, Variant


class Gradients(Attention):
    """A random program, its arguments, the exact gradients and their errors."""

    def draw_program(self):
        self.kv_heads = self.draw.choice([1, 1, 2])
        self.group = self.draw.choice([1, 1, 2, 3])
        self.heads = self.kv_heads * self.group
        self.d = self.draw.choice([16, 40, 64, 64, 72, 96, 128, 128, 192, 256])
        self.dv = self.d if self.chance(0.7) else self.draw.choice([16, 64, 88, 128])
        self.batch = self.draw.choice([1, 1, 2])

    def draw_lengths(self):
        self.draw_program()
        self.packed = self.chance(0.35)
        self.page = 0
        extents = [1, 17, 64, 90, 130, 200, 330]
        if self.packed:
            self.batch = self.draw.choice([1, 2, 3])
            self.sq = [self.draw.choice([0, *extents]) for _ in range(self.batch)]
            self.sk = [self.draw.choice([n, n, *extents]) for n in self.sq]
        else:
            self.sq = [self.draw.choice(extents)] * self.batch
            self.sk = [self.draw.choice([self.sq[0], *extents])] * self.batch
        if sum(self.sk) == 0:
            self.sk[0] = 5

    def draw_features(self):
        self.causal = self.chance(0.5)
        self.window = self.chance(0.25) and tuple(self.draw.choice([-1, 0, 5, 40]) for _ in "lr")
        self.offset = self.draw.choice([-3, 0, 9, 60]) if self.chance(0.2) else None
        self.softcap = self.draw.choice([4.0, 30.0]) if self.chance(0.2) else None
        self.sink = self.draw.choice(["f32", self.element]) if self.chance(0.25) else ""
        self.tree, self.merge, self.queries, self.concurrent = None, False, None, False
        self.dlse = self.chance(0.3)
        self.accumulate = self.chance(0.25)
        self.result = self.draw.choice([self.element, self.element, "f32"])
        self.dq = self.draw.choice(["atomic", "atomic", "kernel"])
        self.kv = self.draw.choice(["loop", "atomic", "separate"] if self.group > 1 else ["loop"])
        self.late = self.chance(0.8)

    @property
    def variant(self):
        forward = Variant(
            self.d, self.dv, self.element, causal=self.causal, window=bool(self.window),
            sink=self.sink, packed=self.packed, softcap=bool(self.softcap),
            offset=self.offset is not None)
        gradient = "f32" if self.result == "f32" else ""
        return BackwardVariant(
            forward, self.dq, self.kv, self.dlse, self.accumulate, gradient, self.late)

    def layout(self, sequences, shape, behind=0):
        """Returns rows of sequences as an array of the operation."""
        return self.pack(sequences, shape, behind) if self.packed else np.stack(sequences)

    def draw_operands(self):
        behind = self.draw.choice([1, 5])
        self.q, self.do = ([self.normal(n, self.heads, d) for n in self.sq]
                           for d in (self.d, self.dv))
        self.k, self.v = ([self.normal(n, self.kv_heads, d) for n in self.sk]
                          for d in (self.d, self.dv))
        if self.sink:
            sink = self.random.standard_normal(self.heads)
            self.sinks = exact(self.add("sink", sink, self.sink), self.sink)
        self.compute_forward()
        for name, rows, heads, d in (
                ("q", self.q, self.heads, self.d), ("k", self.k, self.kv_heads, self.d),
                ("v", self.v, self.kv_heads, self.dv), ("o", self.o, self.heads, self.dv),
                ("do", self.do, self.heads, self.dv)):
            array = self.layout(rows, (heads, d), behind)
            self.add(name, array, self.element)
        self.add_rows("lse", self.lses, behind)
        if self.dlse:
            self.dlses = [self.random.standard_normal((self.heads, n)) for n in self.sq]
            self.add_rows("dlse", self.dlses, behind)
            self.dlses = [x.astype(np.float32).astype(np.float64) for x in self.dlses]
        self.before = {}
        for name, lengths, heads, d in (
                ("dq", self.sq, self.heads, self.d), ("dk", self.sk, self.kv_heads, self.d),
                ("dv", self.sk, self.kv_heads, self.dv)):
            rows = [self.normal(n, heads, d) if self.accumulate else np.full((n, heads, d), np.nan)
                    for n in lengths]
            array = self.add(name, self.layout(rows, (heads, d), behind), self.result)
            self.before[name] = array.copy()
        if self.sink:
            fill = self.random.standard_normal(self.heads) if self.accumulate else np.full(self.heads, np.nan)
            self.before["dsink"] = self.add("dsink", fill, "f32").copy()
        if self.packed:
            for side, lengths in (("q", self.sq), ("k", self.sk)):
                self.add(f"cu_{side}", bounds(lengths), "i32")
                longest = max(lengths)
                self.scalars[f"max_{side}"] = self.draw.choice([longest, longest + 9, max(1, longest // 2)])

    def add_rows(self, name, sequences, behind):
        if self.packed:
            nothing = np.full((self.heads, behind), np.nan)
            self.add(name, np.concatenate([*sequences, nothing], 1), "f32")
        else:
            self.add(name, np.stack(sequences), "f32")

    def scores(self, b):
        """Returns the scores of a sequence, hidden ones -inf, and their derivative."""
        k = np.repeat(self.k[b], self.group, axis=1)
        s = np.einsum("ihd,jhd->hij", self.q[b], k) * self.scale
        slope = np.ones_like(s)
        if self.softcap:
            turned = np.tanh(s / self.softcap)
            s, slope = self.softcap * turned, 1 - turned**2
        return np.where(self.visible(b), s, -np.inf), slope

    def compute_forward(self):
        self.o, self.lses = [], []
        for b in range(self.batch):
            s, _ = self.scores(b)
            top = s.max(axis=2, initial=-np.inf)
            if self.sink:
                top = np.maximum(top, self.sinks[:, None])
            safe = np.where(np.isfinite(top), top, 0)
            total = np.exp(s - safe[..., None]).sum(2)
            if self.sink:
                total = total + np.exp(self.sinks[:, None] - safe)
            with np.errstate(divide="ignore"):
                lse = np.log(total) + safe
            v = np.repeat(self.v[b], self.group, axis=1)
            p = np.exp(s - np.where(np.isfinite(lse), lse, 0)[..., None])
            o = np.einsum("hij,jhd->ihd", p, v)
            self.o.append(exact(attentions.stored(o, self.element), self.element))
            self.lses.append(lse)

    def compute(self):
        """Computes the exact gradients and their errors, for each sequence."""
        self.results = []
        self.dsink = np.zeros(self.heads)
        unit = ROUNDING[self.element]
        # The smallest step of weights and of their gradients.
        least = 2.0**-24 if self.element == "f16" else 0.0
        for b in range(self.batch):
            s, slope = self.scores(b)
            k, v = (np.repeat(x[b], self.group, axis=1) for x in (self.k, self.v))
            q, do = self.q[b], self.do[b]
            finite = np.isfinite(self.lses[b])
            lse = np.where(finite, self.lses[b], 0)
            p = np.where(finite[..., None], np.exp(s - lse[..., None]), 0)
            delta = np.einsum("ihd,ihd->hi", self.o[b], do)
            if self.dlse:
                delta = delta - self.dlses[b]
            dp = np.einsum("ihd,jhd->hij", do, v)
            ds = p * (dp - delta[..., None]) * slope
            # Rounded to 16 bits in front of the products; dp and delta are sums in f32.
            spread = 1e-5 * (np.abs(delta) + np.einsum("ihd,ihd->hi", np.abs(self.o[b]), np.abs(do)))
            error = unit * np.abs(ds) + least + p * (spread[..., None] + 1e-5 * np.abs(dp))
            pairs = {
                "dq": ("hij,jhd->ihd", ds, error, k, self.scale, self.heads),
                "dk": ("hij,ihd->jhd", ds, error, q, self.scale, self.kv_heads),
                "dv": ("hij,ihd->jhd", p, (unit + 1e-5) * p + least, do, 1.0, self.kv_heads),
            }
            found = {}
            for name, (rule, x, error, y, factor, heads) in pairs.items():
                right = np.einsum(rule, x, y) * factor
                bound = 2 * np.einsum(rule, error, np.abs(y)) * factor + 1e-5
                bound += 1e-5 * np.einsum(rule, np.abs(x), np.abs(y)) * factor
                if heads == self.kv_heads:
                    shape = (len(right), self.kv_heads, self.group, right.shape[-1])
                    # Sums of heads may be kept in 16 bits.
                    bound = (bound + unit * np.abs(right)).reshape(shape).sum(2)
                    right = right.reshape(shape).sum(2)
                if self.accumulate:
                    right = right + self.sequence(name, b, self.before[name])
                found[name] = (right, bound + ROUNDING[self.result] * np.abs(right))
            self.results.append(found)
            if self.sink:
                self.dsink -= np.where(finite, np.exp(self.sinks[:, None] - lse) * delta, 0).sum(1)

    def sequence(self, name, b, array):
        """Returns the rows of a sequence in a gradient."""
        whole = exact(array, self.result)
        lengths = self.sq if name == "dq" else self.sk
        begin = int(bounds(lengths)[b])
        return whole[begin : begin + lengths[b]] if self.packed else whole[b]

    def __str__(self):
        return f"{self.variant.ir()}\n{self.variant.name} {self.sq} {self.sk}"

    def run(self, chip):
        program = Program(self.variant.ir(), chip)
        values, numbers = self.inputs()
        kinds = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}
        for name, buffer in self.scratch(program, values, numbers):
            fill = 0x7FC0 if buffer.type == "bf16" else np.nan
            values[name] = np.full(buffer.shape, fill, kinds[buffer.type])
        return self.call(program, {**values, **numbers})

    def check(self):
        for name in ("dq", "dk", "dv"):
            array = self.arguments[name][1]
            total = sum(self.sq if name == "dq" else self.sk)
            if self.packed and array[total:].tobytes() != self.before[name][total:].tobytes():
                return f"rows of {name} of no sequence changed"
            for b, found in enumerate(self.results):
                message = difference(f"{name} of sequence {b}", self.sequence(name, b, array),
                                     *found[name])
                if message:
                    return message
        if self.sink:
            right = self.dsink
            if self.accumulate:
                right = right + self.before["dsink"]
            return difference("dsink", self.arguments["dsink"][1].astype(np.float64), right,
                              1e-3 + 1e-3 * np.abs(right))
        return ""


if __name__ == "__main__":
    sys.exit(series.main(__doc__, Gradients))
