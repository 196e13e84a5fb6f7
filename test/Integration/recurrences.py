#!/usr/bin/env python3
"""Tests of recurrences over chunks of steps, against float64.

    recurrences.py                       # on the GPU at hand, else on the CPU
    recurrences.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import sys

from cpu_chips import SMALL_MEMORY
from program_suite import ProgramSuite, example
from tensor_tests import main


class Tests(ProgramSuite):
    """The tests of recurrences."""

    per_chip = (
        "mamba2_ssd",
        "gated_delta_rule",
    )

    def compare_mean(self, found, exact, tolerance=0.004):
        """Compares the mean square of the errors with that of the results."""
        error = (found.double() - exact).square().mean().sqrt() / exact.square().mean().sqrt()
        assert error <= tolerance, f"relative error {error}, must be at most {tolerance}"

    #: Chunks and columns of a block of the recurrences, and warps; None is the
    #: compiler's choice. The columns of the programs are no multiple of 64.
    CHUNKS = ((64, 64, 4), (32, 32, 4), (32, 128, 8), None)

    def chunks(self, columns, chip):
        """Returns the schedules of a program with a recurrence."""
        for choice in self.CHUNKS:
            if choice is None:
                yield None
            # Other tiles do not fit the shared memory of the chip.
            elif chip not in SMALL_MEMORY or choice[1] == 32:
                chunk, count, warps = choice
                yield f"params = {{BC = {chunk}, {columns} = {count}}}, warps = {warps}"

    def mamba2_ssd(self, chip):
        """The chunk scan of Mamba-2: heads share groups, and the last chunk is
        incomplete."""
        import torch

        n, length, heads, groups, channels, size = 1, 100, 4, 2, 96, 128
        x = self.normal((n, length, heads, channels), "bfloat16", 1).detach()
        b, c = (self.normal((n, length, groups, size), "bfloat16", seed).detach() * 0.3
                for seed in (2, 3))  # fmt: skip
        dt = self.normal((n, length, heads), "float32", 4).detach().abs() * 0.2
        a = -self.normal((heads,), "float32", 5).detach().abs()
        first = self.normal((n, heads, size, channels), "float32", 6).detach()
        exact = torch.empty(x.shape, dtype=torch.float64, device=self.device)
        state = first.double()
        factors = (dt.double() * a.double()).exp()
        for t in range(length):
            bt, ct = (p[:, t].double().repeat_interleave(heads // groups, 1) for p in (b, c))
            added = dt[:, t, :, None].double() * x[:, t].double()
            state = state * factors[:, t, :, None, None] + bt[..., None] * added[:, :, None]
            exact[:, t] = (ct[:, :, None] @ state)[:, :, 0]
        for schedule in self.chunks("BP", chip):
            y, last = self.blank(*x.shape, dtype="bfloat16"), self.blank(*first.shape)
            self.run(example("mamba2_ssd"), chip, x, dt, a, b, c, first, y, last,
                     schedule=schedule)  # fmt: skip
            self.compare_mean(y, exact)
            self.compare_mean(last, state)

    def gated_delta_rule(self, chip):
        """The gated delta rule: heads of values share keys, and the last chunk is
        incomplete."""
        import torch

        n, length, heads, key_heads, values, size = 2, 100, 2, 1, 96, 128
        q, k = (
            torch.nn.functional.normalize(
                self.normal((n, length, key_heads, size), "float32", seed).detach(), dim=-1
            ).bfloat16()
            for seed in (1, 2)
        )
        v = self.normal((n, length, heads, values), "bfloat16", 3).detach()
        g = -self.normal((n, length, heads), "float32", 4).detach().abs() * 0.1
        beta = self.normal((n, length, heads), "float32", 5).detach().sigmoid()
        first = self.normal((n, heads, size, values), "float32", 6).detach()
        scale = size**-0.5
        exact = torch.empty(v.shape, dtype=torch.float64, device=self.device)
        state, factors = first.double(), g.double().exp()
        for t in range(length):
            qt, kt = (p[:, t].double().repeat_interleave(heads // key_heads, 1) for p in (q, k))
            state = state * factors[:, t, :, None, None]
            change = v[:, t].double() - (kt[:, :, None] @ state)[:, :, 0]
            state = state + kt[..., None] * (change * beta[:, t, :, None].double())[:, :, None]
            exact[:, t] = (qt[:, :, None] @ state)[:, :, 0] * scale
        for schedule in self.chunks("BV", chip):
            o, last = self.blank(*v.shape, dtype="bfloat16"), self.blank(*first.shape)
            self.run(example("gated_delta_rule"), chip, q, k, v, g, beta, first, o, last, scale,
                     schedule=schedule)  # fmt: skip
            self.compare_mean(o, exact)
            self.compare_mean(last, state)


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
