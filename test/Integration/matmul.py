#!/usr/bin/env python3
"""Test of tile.matmul against float64.

    matmul.py                       # on the GPU at hand, else on the CPU
    matmul.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import itertools
import sys

from program_suite import ProgramSuite
from tensor_tests import main

#: The type of the elements in PyTorch.
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "i8": "int8", "i32": "int32"}

#: The rounding error of a result, relative to its magnitude.
ROUNDING = {"f16": 2**-11, "bf16": 2**-8, "f32": 0.0, "i32": 0.0}


def buffer(rank: int, element: str, packed: bool = False) -> str:
    """Returns the type of a buffer whose rows are aligned, or may begin at any element."""
    outer = "?" if packed else "?:16"
    strides = ", ".join([outer] * (rank - 1) + ["1"])
    align = "" if packed else ", align = 16"
    return f"!tile.buffer<{'?x' * rank}{element}, #tile.strided<[{strides}]{align}>, global>"


def matmul(operands: dict, text: str, before: str = "") -> str:
    """Returns a program with one tile.matmul. `operands` maps names of arguments to types;
    `text` is what follows the operation's name."""
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in operands.items())
    return f"""
        !sum = tensor<?x?xf32, #tile.open<BM, BN>>
        !result = tensor<?x?xbf16, #tile.open<BM, BN>>
        {before}
        func.func @product({arguments}) {{
          tile.matmul {text}
          return
        }}
    """


class Tests(ProgramSuite):
    """The tests of tile.matmul."""

    per_chip = (
        "transposed",
        "types",
        "ragged",
        "batches",
        "epilogue",
        "gated",
        "row_sums",
        "groups",
        "masked_groups",
        "atomic",
        "split",
        "stream_k",
        "no_depth",
    )

    def stored(self, shape, element, seed, packed=False):
        """Returns a tensor whose rows begin at multiples of 16 elements, unless `packed`."""
        import torch

        width = shape[-1] if packed else -(-shape[-1] // 16) * 16
        whole = (*shape[:-1], width)
        if element == "i8":
            generator = torch.Generator(device="cpu").manual_seed(seed)
            values = torch.randint(-128, 128, whole, generator=generator).to(torch.int8)
            return values.to(self.device)[..., : shape[-1]]
        return self.normal(whole, TYPES[element], seed).detach()[..., : shape[-1]]

    def result(self, shape, element, packed=False):
        """Returns a tensor for a result."""
        width = shape[-1] if packed else -(-shape[-1] // 16) * 16
        return self.blank(*shape[:-1], width, dtype=TYPES[element])[..., : shape[-1]]

    def check(self, found, a, b, element, bound=0.0):
        """Compares a product. `bound` is the error of an element by the sum of the
        magnitudes of its products."""
        a, b = a.double(), b.double()
        exact, magnitude = a @ b, a.abs() @ b.abs()
        exact_sums = a.dtype.is_floating_point and element == "i32"
        limit = (bound + (0 if exact_sums else a.shape[-1] * 2**-24)) * magnitude
        limit = limit + ROUNDING[element] * exact.abs() * 1.01
        excess = ((found.double() - exact).abs() - limit).max().item()
        assert excess <= 0, f"{excess} over the bound"

    def product(self, chip, element, transposed, result, sizes, precision="", bound=0.0,
                packed=False, schedule=None):
        m, n, k = sizes
        a = self.stored((k, m) if transposed[0] else (m, k), element, 1, packed)
        b = self.stored((n, k) if transposed[1] else (k, n), element, 2, packed)
        c = self.result((m, n), result, packed)
        flags = ["transpose_" + name for name, is_set in zip("ab", transposed) if is_set]
        attributes = f" {{{', '.join(flags)}}}" if flags else ""
        kinds = {"a": buffer(2, element, packed), "b": buffer(2, element, packed),
                 "c": buffer(2, result, packed)}
        text = f"%a, %b to %c{precision}{attributes} : {', '.join(kinds.values())}"
        self.run(matmul(kinds, text), chip, a, b, c, schedule=schedule)
        self.check(c, a.t() if transposed[0] else a, b.t() if transposed[1] else b, result, bound)

    def transposed(self, chip):
        """Operands that are stored transposed or not."""
        for transposed in itertools.product((False, True), repeat=2):
            self.product(chip, "bf16", transposed, "bf16", (100, 72, 200))

    def types(self, chip):
        """All types of elements, with operands that are stored transposed or not."""
        for transposed in ((False, True), (True, False)):
            self.product(chip, "f16", transposed, "f32", (100, 72, 104))
            self.product(chip, "bf16", transposed, "f16", (100, 72, 104))
            self.product(chip, "i8", transposed, "i32", (72, 40, 104))
            self.product(chip, "f32", transposed, "f32", (72, 40, 104), " precision(tf32)", 2**-9)
            self.product(chip, "f32", transposed, "bf16", (72, 40, 104), " precision(bf16x3)",
                         3 * 2**-16)

    def ragged(self, chip):
        """Matrices without padding whose rows begin at any element."""
        for sizes in ((33, 65, 129), (1, 1, 1), (127, 31, 67)):
            self.product(chip, "bf16", (False, False), "bf16", sizes, packed=True)
        self.product(chip, "bf16", (True, True), "bf16", (33, 65, 129), packed=True)

    def batches(self, chip):
        """Batches of one and two dimensions, and operands that all batches share."""
        m, n, k = 40, 72, 56
        for counts, shapes in (((3,), ((3,), (3,))), ((3,), ((3,), ())), ((3,), ((), (3,))),
                               ((2, 3), ((2, 3), (2, 3))), ((2, 3), ((2, 3), ()))):
            a = self.stored((*shapes[0], m, k), "bf16", 1)
            b = self.stored((*shapes[1], n, k), "bf16", 2)
            c = self.result((*counts, m, n), "bf16")
            kinds = {name: buffer(x.dim(), "bf16") for name, x in zip("abc", (a, b, c))}
            text = f"%a, %b to %c {{transpose_b}} : {', '.join(kinds.values())}"
            self.run(matmul(kinds, text), chip, a, b, c)
            self.check(c, a, b.transpose(-1, -2), "bf16")

    def epilogue(self, chip):
        """Bias, GELU, a residual, and a scale that depends on the batch, from a function."""
        import torch

        kinds = {"a": buffer(3, "bf16"), "b": buffer(2, "bf16"), "bias": buffer(1, "f32"),
                 "residual": buffer(3, "bf16"), "scales": buffer(1, "f32"), "c": buffer(3, "bf16")}
        before = """
            func.func private @gelu(%x: !sum, %bm: index, %bn: index) -> !sum {
              %root = arith.constant 0.70710678 : f32
              %roots = tensor.splat %root[%bm, %bn] : !sum
              %scaled = arith.mulf %x, %roots : !sum
              %erf = math.erf %scaled : !sum
              %one = arith.constant 1.0 : f32
              %ones = tensor.splat %one[%bm, %bn] : !sum
              %half = arith.constant 0.5 : f32
              %halves = tensor.splat %half[%bm, %bn] : !sum
              %y = arith.addf %erf, %ones : !sum
              %z = arith.mulf %x, %y : !sum
              %gelu = arith.mulf %z, %halves : !sum
              return %gelu : !sum
            }
        """
        text = f"""%a, %b to %c : {kinds["a"]}, {kinds["b"]}, {kinds["c"]} epilogue {{
          ^bb0(%sum: !sum, %batch: index, %row: index, %column: index):
            %bm = tile.param BM in [32, 64]
            %bn = tile.param BN in [32, 64]
            %bt = tile.load %bias[%column] : {kinds["bias"]} -> tensor<?xf32, #tile.open<BN>>
            %bias_tile = tile.broadcast %bt along 0 : tensor<?xf32, #tile.open<BN>> -> !sum
            %x = arith.addf %sum, %bias_tile : !sum
            %gelu = func.call @gelu(%x, %bm, %bn) : (!sum, index, index) -> !sum
            %scale = tile.load_scalar %scales[%batch] : {kinds["scales"]} -> f32
            %scales_tile = tensor.splat %scale[%bm, %bn] : !sum
            %g = arith.mulf %gelu, %scales_tile : !sum
            %r = tile.slice %residual[%batch, *, *] : {kinds["residual"]} to {buffer(2, "bf16")}
            %rt = tile.load %r[%row, %column] : {buffer(2, "bf16")} -> !result
            %rf = arith.extf %rt : !result to !sum
            %all = arith.addf %g, %rf : !sum
            %rounded = arith.truncf %all : !sum to !result
            tile.yield %rounded : !result
          }}"""
        batches, m, n, k = 2, 40, 72, 56
        a = self.stored((batches, m, k), "bf16", 1)
        b = self.stored((k, n), "bf16", 2)
        bias = self.stored((n,), "f32", 3, packed=True)
        residual = self.stored((batches, m, n), "bf16", 4)
        scales = self.stored((batches,), "f32", 5, packed=True)
        c = self.result((batches, m, n), "bf16")
        self.run(matmul(kinds, text, before), chip, a, b, bias, residual, scales, c)
        x = a.double() @ b.double() + bias.double()
        exact = torch.nn.functional.gelu(x) * scales.double()[:, None, None] + residual.double()
        self.compare(c, exact, 2**-8 * exact.abs().max().item())

    def gated(self, chip):
        """Two products of one a, and two results."""
        import torch

        kinds = {"a": buffer(2, "bf16"), "g": buffer(2, "bf16"), "u": buffer(2, "bf16"),
                 "c": buffer(2, "bf16"), "sums": buffer(2, "f32")}
        types = ", ".join(kinds.values())
        text = f"""%a, %g, %u to %c, %sums : {types} epilogue {{
          ^bb0(%gate: !sum, %up: !sum, %row: index, %column: index):
            %bm = tile.param BM in [32, 64]
            %bn = tile.param BN in [32, 64]
            %zero = arith.constant 0.0 : f32
            %zeros = tensor.splat %zero[%bm, %bn] : !sum
            %relu = arith.maximumf %gate, %zeros : !sum
            %gated = arith.mulf %relu, %up : !sum
            %rounded = arith.truncf %gated : !sum to !result
            tile.yield %rounded, %gate : !result, !sum
          }}"""
        m, n, k = 72, 40, 100
        a = self.stored((m, k), "bf16", 1)
        g, u = (self.stored((k, n), "bf16", seed) for seed in (2, 3))
        c, sums = self.result((m, n), "bf16"), self.result((m, n), "f32")
        self.run(matmul(kinds, text), chip, a, g, u, c, sums)
        self.check(sums, a, g, "f32")
        exact = torch.relu(a.double() @ g.double()) * (a.double() @ u.double())
        self.compare(c, exact, 2**-8 * exact.abs().max().item())

    def row_sums(self, chip):
        """An epilogue without a result of its own: the sums of rows, added atomically."""
        import torch

        kinds = {"a": buffer(2, "bf16"), "b": buffer(2, "bf16"), "rows": buffer(1, "f32")}
        text = f"""%a, %b {{transpose_b}} : {kinds["a"]}, {kinds["b"]} epilogue {{
          ^bb0(%sum: !sum, %row: index, %column: index):
            %squares = arith.mulf %sum, %sum : !sum
            %part = tile.reduce addf %squares along 1 : !sum -> tensor<?xf32, #tile.open<BM>>
            tile.atomic_rmw addf %part, %rows[%row] : tensor<?xf32, #tile.open<BM>>, {kinds["rows"]}
            tile.yield
          }}"""
        m, n, k = 72, 300, 56
        a, b = self.stored((m, k), "bf16", 1), self.stored((n, k), "bf16", 2)
        rows = torch.zeros(m, device=self.device)
        self.run(matmul(kinds, text), chip, a, b, rows)
        exact = (a.double() @ b.double().t()).square().sum(1)
        self.compare(rows, exact, 2**-16 * exact.abs().max().item())

    def groups(self, chip):
        """Groups of rows, some empty, with ends in and out of bounds."""
        import torch

        kinds = {"a": buffer(2, "bf16"), "b": buffer(3, "bf16"),
                 "ends": "!tile.buffer<?xi32, #tile.strided<[1]>, global>", "c": buffer(2, "bf16")}
        rows = 271
        for ends in ([0, 37, 37, 100, 229, 260], [50], [271, 271], [100, 400]):
            groups = len(ends)
            a = self.stored((rows, 104), "bf16", 1)
            b = self.stored((groups, 72, 104), "bf16", 2)
            c = self.result((rows, 72), "bf16")
            text = (f"%a, %b to %c ends %ends {{transpose_b}} : {kinds['a']}, {kinds['b']}, "
                    f"{kinds['c']}, {kinds['ends']}")
            tensor = torch.tensor(ends, dtype=torch.int32, device=self.device)
            self.run(matmul(kinds, text), chip, a, b, tensor, c)
            begin = 0
            for group, end in enumerate(ends):
                end = min(end, rows)
                if end > begin:
                    self.check(c[begin:end], a[begin:end], b[group].t(), "bf16")
                begin = end
            assert c[begin:].isnan().all()

    def masked_groups(self, chip):
        """Groups with as many rows as a number in memory says."""
        import torch

        kinds = {"a": buffer(3, "bf16"), "b": buffer(3, "bf16"),
                 "counts": "!tile.buffer<?xi32, #tile.strided<[1]>, global>", "c": buffer(3, "bf16")}
        counts, rows = [0, 37, 100, 200, -5], 100
        for transposed in (False, True):
            a = self.stored((len(counts), 104, rows) if transposed else (len(counts), rows, 104),
                            "bf16", 1)
            b = self.stored((len(counts), 104, 72), "bf16", 2)
            c = self.result((len(counts), rows, 72), "bf16")
            flags = " {transpose_a}" if transposed else ""
            text = (f"%a, %b to %c counts %counts{flags} : {kinds['a']}, {kinds['b']}, "
                    f"{kinds['c']}, {kinds['counts']}")
            tensor = torch.tensor(counts, dtype=torch.int32, device=self.device)
            self.run(matmul(kinds, text), chip, a, b, tensor, c)
            for group, count in enumerate(counts):
                count = min(max(count, 0), rows)
                if count:
                    left = a[group].t() if transposed else a[group]
                    self.check(c[group, :count], left[:count], b[group], "bf16")
                assert c[group, count:].isnan().all()

    def atomic(self, chip):
        """Sums that blocks add up atomically, with an epilogue and without, and batches."""
        for element, sum_type, batches in (("bf16", "f32", ()), ("bf16", "f32", (2,)),
                                           ("i8", "i32", ())):
            m, n, k = 40, 72, 200
            rank = len(batches) + 2
            result = "i32" if element == "i8" else "bf16"
            kinds = {"a": buffer(rank, element), "b": buffer(rank, element),
                     "sums": buffer(rank, sum_type), "c": buffer(rank, result)}
            types = ", ".join(kinds[name] for name in ("a", "b", "c", "sums"))
            a, b = self.stored((*batches, m, k), element, 1), self.stored((*batches, k, n), element, 2)
            for schedule in (None, "split = 3", "stream_k = 5"):
                if schedule:
                    schedule = "@product_product: " + schedule
                c = self.result((*batches, m, n), result)
                sums = self.blank(*batches, 48, 80, dtype=TYPES[sum_type])
                text = f"%a, %b to %c atomic %sums : {types}"
                self.run(matmul(kinds, text), chip, a, b, sums, c, schedule=schedule)
                self.check(c, a, b, result, 2**-20)

    def split(self, chip):
        """Parts of i32 sums in a buffer of the compiler's."""
        m, n, k = 64, 64, 200
        a, b = self.stored((m, k), "i8", 1), self.stored((k, n), "i8", 2)
        c = self.result((m, n), "i32")
        kinds = {"a": buffer(2, "i8"), "b": buffer(2, "i8"), "c": buffer(2, "i32")}
        parts = self.blank(4, 32, 64, dtype="int32")
        self.run(matmul(kinds, f"%a, %b to %c : {', '.join(kinds.values())}"), chip, a, b, c, parts,
                 schedule="params = {BM = 32, BN = 64, BK = 64}, warps = 2, split = 2")
        self.check(c, a, b, "i32")

    def stream_k(self, chip):
        """Tiles of two batches that blocks share."""
        shape, m, n, k = (2,), 100, 96, 200
        kinds = {"a": buffer(3, "bf16"), "b": buffer(3, "bf16"), "c": buffer(3, "bf16")}
        a, b = self.stored((*shape, m, k), "bf16", 1), self.stored((*shape, k, n), "bf16", 2)
        for bn, blocks in ((32, 7), (64, 5), (96, 3), (32, 40)):
            c = self.result((*shape, m, n), "bf16")
            parts = self.blank(2 * blocks, 32, bn)
            self.run(matmul(kinds, f"%a, %b to %c : {', '.join(kinds.values())}"), chip, a, b, c,
                     parts, schedule=f"params = {{BM = 32, BN = {bn}, BK = 64}}, warps = 2, "
                                     f"stream_k = {blocks}")
            self.check(c, a, b, "bf16")

    def no_depth(self, chip):
        """A product over no elements is 0."""
        a, b = self.stored((40, 0), "bf16", 1, packed=True), self.stored((0, 72), "bf16", 2, packed=True)
        c = self.result((40, 72), "bf16", packed=True)
        kinds = {name: buffer(2, "bf16", packed=True) for name in "abc"}
        self.run(matmul(kinds, f"%a, %b to %c : {', '.join(kinds.values())}"), chip, a, b, c)
        assert (c == 0).all()


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
