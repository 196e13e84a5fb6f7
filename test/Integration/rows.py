#!/usr/bin/env python3
"""Tests of programs that reduce rows, against float64.

    rows.py                       # on the GPU at hand, else on the CPU
    rows.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import sys

from cpu_chips import CLUSTERS
from program_suite import ROOT, ProgramSuite, example
from tensor_tests import main


def steps(extents: str, elements: int, warps: int, *kernels: str) -> str:
    """Returns a schedule with these elements for each of the extents, and these warps, for
    each kernel. A step has at most 8192 elements."""
    values = {"BS": min(elements, 8192)}
    params = ", ".join(f"{name} = {values.get(name, elements)}" for name in extents.split())
    return "; ".join(f"@{k}: params = {{{params}}}, warps = {warps}" for k in kernels)


def joined_program(shape: "tuple[int, int]", dim: int, warps: int, kind: str) -> str:
    """Returns a program that stores e + e * sum, the sum of the products of e and w, and
    the maximum of x, where e = exp((x - maximum) / 2), along a dimension."""
    size, rows = f"{shape[0]}x{shape[1]}xf32", f"{shape[1 - dim]}xf32"
    return f"""
!b = !tile.buffer<{size}, #tile.strided<[{shape[1]}, 1]>, global>
!r = !tile.buffer<{rows}, #tile.strided<[1]>, global>
!t = tensor<{size}>
!n = tensor<{rows}>
tile.kernel @k(%x: !b, %w: !b, %y: !b, %s: !r, %m: !r) attributes {{num_warps = {warps} : i32}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !b -> !t
  %u = tile.load %w[%c0, %c0] : !b -> !t
  %half = arith.constant dense<0.5> : !t
  %most = tile.reduce {kind} %t along {dim} : !t -> !n
  %most_t = tile.broadcast %most along {dim} : !n -> !t
  %below = arith.subf %t, %most_t : !t
  %scaled = arith.mulf %below, %half : !t
  %e = math.exp %scaled : !t
  %weighted = arith.mulf %e, %u : !t
  %sum = tile.reduce addf %weighted along {dim} : !t -> !n
  %sum_t = tile.broadcast %sum along {dim} : !n -> !t
  %product = arith.mulf %e, %sum_t : !t
  %all = arith.addf %product, %e : !t
  tile.store %all, %y[%c0, %c0] : !t, !b
  tile.store %sum, %s[%c0] : !n, !r
  tile.store %most, %m[%c0] : !n, !r
}}
"""


class Tests(ProgramSuite):
    """The tests of rows."""

    per_chip = (
        "softmax",
        "softmax_rows",
        "softmax_exchange",
        "joined_reductions",
        "rmsnorm",
        "cross_entropy",
    )

    def softmax(self, chip):
        x = self.normal((100, 256), "float32", 1)
        y = self.blank(100, 256)
        self.run((ROOT / "examples/softmax.mlir").read_text(), chip, x, y)
        self.compare(y, x.double().softmax(-1), 1e-5)

    def rows(self, count, length, stride, seed=None):
        """Returns rows of normal random numbers in bf16, or of NaN without a seed, each
        `stride` elements after the one before."""
        if seed is None:
            return self.blank(count, stride, dtype="bfloat16")[:, :length]
        values = 2 * self.normal((count, stride), "float32", seed).detach()
        return values.bfloat16()[:, :length]

    def compare_rows(self, found, expected):
        """Compares rows in bf16, of which nothing else than the rows is written."""
        self.compare(found, expected, 2**-8 * expected.abs().max().item() + 1e-6)
        stride = found.stride(0)
        whole = found.as_strided((found.shape[0] - 1, stride), (stride, 1))
        assert whole[:, found.shape[1]:].isnan().all(), "a store after the end of a row"

    #: The length and the stride of rows, and the elements of a step and the warps: rows
    #: that one step holds, longer ones, and ends within and between accesses.
    ROWS = (
        (1000, 1000, 1024, 4),
        (1000, 1008, 512, 2),
        (1536, 1536, 512, 4),
        (1037, 1040, 1024, 4),
        (1037, 1040, 1280, 5),
        (1037, 1037, 2048, 8),
        (1037, 1037, 512, 1),
        (5, 8, 512, 1),
        (1001, 1005, 1024, 4),
    )

    #: Rows of more than four steps, rows of which the next one is copied to shared
    #: memory, and rows that the blocks of a cluster share.
    LONG_ROWS = (
        (2100, 2104, 512, 2),
        (8003, 8008, 16384, 32),
        (8003, 8008, 16384, 64),
        (5001, 5001, 8192, 64),
    )

    def row_cases(self, chip):
        """Returns the rows that the chip has threads for."""
        most = 64 if chip in CLUSTERS else 32 if chip.startswith("sm_") else 16
        return [*self.ROWS, *(row for row in self.LONG_ROWS if row[3] <= most)]

    def softmax_rows(self, chip):
        """The softmax of rows of any length, and its gradient."""
        names = ("softmax", "softmax_gradient")
        for length, stride, extent, warps in self.row_cases(chip):
            x, dy = (self.rows(5, length, stride, seed) for seed in (1, 2))
            # One element is far above the others, and a row hides some.
            x[1, length // 2] = 90
            x[2, ::2] = float("-inf")
            y, dx = (self.rows(5, length, stride) for _ in range(2))
            program = example("softmax_rows", packed=stride % 8 != 0)
            self.run(program, chip, x, y, dy, dx, schedule=steps("BN BS", extent, warps, *names))
            self.compare_rows(y, x.double().softmax(-1))
            exact = y.double() * (dy - (y.double() * dy).sum(-1, keepdim=True))
            self.compare_rows(dx, exact)

    def softmax_exchange(self, chip):
        """Rows whose warps exchange their maxima and their sums at once, some of which
        have no element of the row, or none but -inf; on sm_90a those of a cluster, too."""
        cases = [(1000, 16384, 16), (16384, 16384, 16)]
        if chip == "sm_90a":
            cases += [(70000, 131072, 64)]
        for length, extent, warps in cases:
            x = self.rows(4, length, -(-length // 8) * 8, 1)
            x[1, length // 2] = 90
            x[2, length // 8 :] = float("-inf")
            x[3] -= 200
            y = self.rows(4, length, -(-length // 8) * 8)
            schedule = f"@softmax: params = {{BN = {extent}, BS = 1024}}, warps = {warps}"
            self.run(example("softmax_rows"), chip, x, y, x.clone(), self.rows(*x.shape, x.stride(0)),
                     schedule=schedule)
            self.compare_rows(y, x.double().softmax(-1))

    def joined_reductions(self, chip):
        """Maxima and sums of exponentials along either dimension, with weights, other
        uses of the exponentials, and warps that have none but -inf."""
        import torch

        for rows, dim, warps, kind in (
            (1, 1, 16, "maxnumf"), (4, 1, 8, "maximumf"), (8, 1, 16, "maxnumf"), (4, 0, 8, "maxnumf"),
        ):  # fmt: skip
            shape = (rows, 4096) if dim else (4096, rows)
            x, w = (self.normal(shape, "float32", seed).detach() for seed in (1, 2))
            x.select(1 - dim, 0)[:3000] = float("-inf")
            x.select(1 - dim, rows - 1)[4000] = 300
            y, total, most = self.blank(*shape), self.blank(rows), self.blank(rows)
            self.run(joined_program(shape, dim, warps, kind), chip, x, w, y, total, most)
            maxima = x.double().amax(dim, keepdim=True)
            e = (0.5 * (x.double() - maxima)).exp()
            sums = (e * w.double()).sum(dim, keepdim=True)
            assert torch.equal(most.double(), maxima.flatten()), "the maxima differ"
            scale = (e * w.double()).abs().sum(dim).max().item()
            self.compare(total, sums.flatten(), 1e-6 * scale)
            self.compare(y, e * (1 + sums), 1e-6 * (1 + scale))

    def rmsnorm(self, chip):
        """RMSNorm of rows of any length, and its gradients, twice the same bits."""
        import torch

        for length, stride, extent, warps in self.row_cases(chip):
            packed = stride % 8 != 0
            x, dy = (self.rows(5, length, stride, seed) for seed in (1, 2))
            w = self.normal((length,), "bfloat16", 3).detach()
            y = self.rows(5, length, stride)
            rstd = self.blank(5)
            self.run(example("rmsnorm", packed), chip, x, w, y, rstd, 1e-5,
                     schedule=steps("BN BS", extent, warps, "rmsnorm"))
            exact = [t.double().requires_grad_() for t in (x, w)]
            with torch.enable_grad():
                factor = (exact[0].square().mean(-1, keepdim=True) + 1e-5).rsqrt()
                result = exact[0] * factor * exact[1]
                result.backward(dy.double())
            self.compare_rows(y, result.detach())
            self.compare(rstd, factor.detach()[:, 0], 1e-5)
            # Fewer blocks than rows, and more.
            for blocks in (2, 7):
                results = []
                for _ in range(2):
                    dx, dw = self.rows(5, length, stride), self.blank(length, dtype="bfloat16")
                    parts = self.blank(blocks, -(-length // 4) * 4)[:, :length]
                    self.run(example("rmsnorm_backward", packed), chip, x, w, rstd, dy, dx,
                             parts, dw, schedule=steps("BN BS", extent, warps, "gradients"))
                    self.compare_rows(dx, exact[0].grad)
                    bound = 2**-8 * exact[1].grad.abs().max().item()
                    self.compare(dw, exact[1].grad, bound)
                    results.append(dw)
                assert results[0].equal(results[1])

    def cross_entropy(self, chip):
        """The cross-entropy of rows of any length, and its gradient. One label hides
        its row."""
        import torch

        names = ("cross_entropy", "cross_entropy_gradient")
        # Steps that are longer than the row: some places of the tile see no element.
        long_step = (600, 600, 512, 1024, 4)
        cases = [(*row[:3], min(row[2], 8192), row[3]) for row in self.row_cases(chip)]
        for length, stride, extent, step, warps in [*cases, long_step]:
            x = self.rows(5, length, stride, 1)
            x[1, length // 2] = 90
            labels = torch.tensor([0, length - 1, -100, length // 2, 3], device=self.device)
            dloss = self.normal((5,), "float32", 2).detach()
            loss, lse = self.blank(5), self.blank(5)
            dx = self.rows(5, length, stride)
            program = example("cross_entropy", packed=stride % 8 != 0)
            forward = f"@{names[0]}: params = {{BN = {extent}, BS = {step}}}, warps = {warps}; "
            self.run(program, chip, x, labels, loss, lse, dloss, dx,
                     schedule=forward + steps("BS", step, min(warps, 32), names[1]))
            exact = x.double().requires_grad_()
            with torch.enable_grad():
                right = torch.nn.functional.cross_entropy(exact, labels, reduction="none")
                right.backward(dloss.double())
            self.compare(loss, right.detach(), 1e-4)
            self.compare(lse, x.double().logsumexp(-1), 1e-4)
            self.compare_rows(dx, exact.grad)


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
