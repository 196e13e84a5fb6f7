#!/usr/bin/env python3
"""Tests of attention that programs write as loops, against float64.

    attention_loops.py                       # on the GPU at hand, else on the CPU
    attention_loops.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import sys
from itertools import product

from program_suite import ROOT, ProgramSuite, choose_lines
from tensor_tests import main


class Tests(ProgramSuite):
    """The tests of loops."""

    per_chip = (
        "attention",
        "page_table",
        "attention_stages",
        "attention_open",
        "backward_open",
    )
    #: The tiles of this program do not fit the shared memory of the chip.
    excluded = frozenset({("attention", "gfx1100"), ("attention", "gfx1151")})

    def attention(self, chip):
        from tile import testing

        rows, keys = 200, 130
        q = self.normal((2, rows, 2, 128), "float16", 1)
        k, v = (self.normal((2, keys, 2, 128), "float16", seed) for seed in (2, 3))
        o = self.blank(2, rows, 2, 128, dtype="float16")
        program = (ROOT / "examples/forward_tile.mlir").read_text()
        self.run(program, chip, q, k, v, o, 128**-0.5)
        exact, _ = testing.attention(q, k, v, 128**-0.5, causal=False)
        self.compare(o, exact, 2e-3)

    def attention_stages(self, chip):
        """Attention with rings of several lengths: their slots are filled by
        asynchronous copies, or through registers."""
        from tile import testing

        rows, keys = 100, 190
        q = self.normal((1, rows, 2, 64), "float16", 1)
        k, v = (self.normal((1, keys, 2, 64), "float16", seed) for seed in (2, 3))
        program = (ROOT / "examples/forward_tile.mlir").read_text()
        program = program.replace("%c128", "%extent").replace("128", "64")
        exact, _ = testing.attention(q, k, v, 64**-0.5, causal=False)
        most = 2 if ("attention", chip) in self.excluded else 3
        for stages in range(1, most + 1):
            o = self.blank(1, rows, 2, 64, dtype="float16")
            schedule = f"stages = {stages}"
            self.run(program, chip, q, k, v, o, 64**-0.5, schedule=schedule)
            self.compare(o, exact, 2e-3)

    def attention_open(self, chip):
        """Attention whose extents the schedule or the compiler closes."""
        from tile import testing

        rows, keys = 100, 130
        q = self.normal((1, rows, 2, 128), "float16", 1)
        k, v = (self.normal((1, keys, 2, 128), "float16", seed) for seed in (2, 3))
        program = (ROOT / "examples/forward_open.mlir").read_text()
        exact, _ = testing.attention(q, k, v, 128**-0.5, causal=False)
        for schedule in (
            "params = {BQ = 32, BK = 64}, stages = 1",
            "params = {BQ = 64, BK = 32}, stages = 1",
            None,
        ):
            o = self.blank(1, rows, 2, 128, dtype="float16")
            self.run(program, chip, q, k, v, o, 128**-0.5, schedule=schedule)
            self.compare(o, exact, 2e-3)

    def backward_open(self, chip):
        """The gradients of attention, with extents that the schedule or the compiler
        closes. The last tiles of queries and of keys are incomplete."""
        import torch

        rows, keys, heads = 100, 150, 2
        q, do = (self.normal((1, rows, heads, 128), "float16", seed) for seed in (1, 4))
        k, v = (self.normal((1, keys, heads, 128), "float16", seed) for seed in (2, 3))
        scale = 128**-0.5
        exact = [t.detach().double().requires_grad_() for t in (q, k, v)]
        with torch.enable_grad():
            scores = scale * torch.einsum("bqhd,bkhd->bhqk", *exact[:2])
            o = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), exact[2])
            o.backward(do.double())
        lse = scores.detach().logsumexp(-1).float()
        program = (ROOT / "examples/backward_open.mlir").read_text()
        for schedule in (
            "@gradients: params = {BQ = 16, BK = 64}, stages = 1",
            "@gradients: params = {BQ = 32, BK = 32}, stages = 1",
            None,
        ):
            dq, dk, dv = (self.blank(*t.shape, dtype="float16") for t in exact)
            # Whole blocks of rows: numbers of the threads' fragments, of MFMAs of 32
            # rows on CDNA.
            padded = -(-rows // 32) * 32
            sums = self.blank(1, padded, heads, 128)
            lse2, delta = (self.blank(1, heads, rows) for _ in range(2))
            self.run(program, chip, o.detach().half(), do, lse, lse2, delta, sums,
                     q, k, v, dk, dv, scale, dq, schedule=schedule)
            for found, expected in zip((dq, dk, dv), exact):
                self.compare(found, expected.grad, 4e-3)

    def page_table(self, chip):
        """Page numbers from memory, and computed ones."""
        import torch

        pages = torch.tensor([3 * i % 7 for i in range(7)], dtype=torch.int32)
        x = self.normal((448, 64), "float16", 1)
        read = x.double().view(7, 64, 64)[pages.long()]
        exact = (read @ read.transpose(1, 2)).sum(0)
        for kept, other in (("TABLE", "COMPUTED"), ("COMPUTED", "TABLE")):
            path = "test/Executor/page-table.mlir"
            o = self.blank(64, 64)
            pages = pages.to(self.device)
            self.run(choose_lines(path, kept, other), chip, x, pages, o)
            self.compare(o, exact, 1e-2)

    def test_scale_of_maximum(self):
        """Scores with a positive, a negative and a zero scale."""
        import torch

        q = self.normal((1, 150, 1, 128), "float16", 1)
        k, v = (self.normal((1, 130, 1, 128), "float16", seed) for seed in (2, 3))
        for scale in (0.1, -0.1, 0.0):
            scores = torch.einsum("bqhd,bkhd->bhqk", q.double(), k.double())
            weights = (scale * scores).softmax(-1)
            exact = torch.einsum("bhqk,bkhd->bqhd", weights, v.double())
            # forward_open has roles on sm_90a, and so two versions of its loops.
            for name, chip in product(("tile", "open"), ("sm_80", "sm_90a")):
                o = self.blank(1, 150, 1, 128, dtype="float16")
                program = (ROOT / f"examples/forward_{name}.mlir").read_text()
                self.run(program, chip, q, k, v, o, scale)
                self.compare(o, exact, 4e-3)

    def test_persistent(self):
        """Persistent kernels with one and two stages of the tiles of a work, fewer
        works than multiprocessors, and more."""
        from tile import testing

        program = (ROOT / "examples/forward_open.mlir").read_text()
        cases = [(1, 300, 2)]
        if self.device == "cuda":
            cases += [(3, 2000, 16)]
        for batch, rows, heads in cases:
            q = self.normal((batch, rows, heads, 128), "float16", 1)
            k, v = (self.normal((batch, 200, heads, 128), "float16", s) for s in (2, 3))
            exact, _ = testing.attention(q, k, v, 128**-0.5, causal=False)
            for fields in ("work_stages = 1, stages = 2", "work_stages = 2, stages = 2"):
                o = self.blank(batch, rows, heads, 128, dtype="float16")
                schedule = (
                    "params = {BQ = 128, BK = 64}, warps = 8, producers = 4, "
                    f"registers = [232, 40], {fields}"
                )
                self.run(program, "sm_90a", q, k, v, o, 128**-0.5, schedule=schedule)
                self.compare(o, exact, 2e-3)


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
