#!/usr/bin/env python3
"""Tests of matrix products that programs write as loops, against float64.

    products.py                       # on the GPU at hand, else on the CPU
    products.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import re
import sys

from cpu_chips import CLUSTERS, FULL, RELATED
from program_suite import ROOT, ProgramSuite, choose_lines, example
from tensor_tests import main


class Tests(ProgramSuite):
    """The tests of matrix products."""

    per_chip = (
        "product_stages",
        "product_open",
        "product_split",
        "product_stream_k",
        "product_cluster",
        "product_types",
        "quantized",
        "swiglu_gemm",
        "gelu_gemm",
        "grouped_gemm",
        "int4_gemm",
    )
    #: Chips without clusters refuse the schedules of this program.
    excluded = frozenset(("product_cluster", c) for c in (*FULL, *RELATED) if c not in CLUSTERS)

    def product_stages(self, chip):
        """A matrix product whose two operands are one group of copies."""
        program = (ROOT / "docs/Inputs/gemm.mlir").read_text()
        program = program.replace("%c128", "%rows").replace("%c256", "%columns")
        program = program.replace("128", "64").replace("256", "64")
        a = self.normal((100, 200), "float16", 1)
        b = self.normal((200, 72), "float16", 2)
        for stages in (2, 3):
            c = self.blank(100, 72, dtype="float16")
            self.run(program, chip, a, b, c, schedule=f"stages = {stages}")
            self.compare(c, a.double() @ b.double(), 5e-2)

    def product_open(self, chip):
        """A matrix product whose extents the schedule or the compiler closes."""
        program = (ROOT / "examples/gemm.mlir").read_text()
        a = self.normal((100, 200), "bfloat16", 1)
        b = self.normal((200, 72), "bfloat16", 2)
        for schedule in (
            "params = {BM = 16, BN = 96, BK = 32}",
            "params = {BM = 64, BN = 64, BK = 64}",
            None,
        ):
            c = self.blank(100, 72, dtype="bfloat16")
            self.run(program, chip, a, b, c, schedule=schedule)
            self.compare(c, a.double() @ b.double(), 0.5)

    def share_product(self, chip, shape, schedule, count_parts):
        """Runs a matrix product of which blocks share iterations twice, and compares the
        bits. `count_parts` returns the sums in memory by the tiles and the field `split`
        or `stream_k`; without it, there are none."""
        m, n, k = shape
        a, b = self.normal((m, k), "bfloat16", 1), self.normal((k, n), "bfloat16", 2)
        exact = a.double() @ b.double()
        rows, columns = (int(re.search(rf"{e} = (\d+)", schedule)[1]) for e in ("BM", "BN"))
        sums = []
        if count_parts:
            field = int(re.search(r"(?:split|stream_k) = (\d+)", schedule)[1])
            parts = count_parts(-(-m // rows) * -(-n // columns), field)
        results = []
        for _ in range(2):
            c = self.blank(m, n, dtype="bfloat16")
            if count_parts:
                sums = [self.blank(parts, rows, columns)]
            program = (ROOT / "examples/gemm.mlir").read_text()
            self.run(program, chip, a, b, c, *sums, schedule=schedule)
            self.compare(c, exact, 2**-8 * exact.abs().max().item() if k else 0)
            results.append(c)
        assert results[0].equal(results[1])

    def product_split(self, chip):
        """Matrix products of which several blocks compute a tile: parts of one length,
        parts with few iterations or none, and no iteration at all."""
        for shape, schedule in (
            ((100, 72, 200), "params = {BM = 64, BN = 32, BK = 32}, warps = 4, split = 3"),
            ((200, 72, 136), "params = {BM = 128, BN = 64, BK = 64}, warps = 4, split = 7"),
            ((64, 72, 0), "params = {BM = 64, BN = 96, BK = 32}, warps = 4, split = 2"),
        ):
            self.share_product(chip, shape, schedule, lambda tiles, split: tiles * split)

    def product_stream_k(self, chip):
        """Matrix products of which all blocks share the tiles that are left over: several
        waves of whole tiles, fewer tiles than blocks, no tile left, parts without
        iterations, and no iteration at all."""
        for shape, schedule in (
            ((200, 136, 200), "params = {BM = 64, BN = 32, BK = 32}, warps = 4, stream_k = 7"),
            ((100, 72, 200), "params = {BM = 64, BN = 32, BK = 32}, warps = 4, stream_k = 9"),
            ((128, 96, 136), "params = {BM = 64, BN = 32, BK = 64}, warps = 4, stream_k = 3"),
            ((200, 136, 72), "params = {BM = 64, BN = 64, BK = 64}, warps = 4, stream_k = 11"),
            ((64, 72, 0), "params = {BM = 64, BN = 96, BK = 32}, warps = 4, stream_k = 2"),
        ):
            self.share_product(chip, shape, schedule, lambda tiles, blocks: 2 * blocks)

    def product_cluster(self, chip):
        """Matrix products of which the blocks of a cluster compute a tile: several tiles
        along both dimensions, sums that take the memory of the rings, blocks without
        iterations, and no iteration at all."""
        for shape, schedule in (
            ((100, 72, 200), "params = {BM = 64, BN = 32, BK = 32}, warps = 4, cluster_split = 2"),
            ((200, 72, 136), "params = {BM = 128, BN = 64, BK = 64}, warps = 4, cluster_split = 8"),
            ((200, 200, 392), "params = {BM = 128, BN = 96, BK = 64}, warps = 8, "
                              "stages = 3, cluster_split = 4"),
            ((200, 200, 392), "params = {BM = 192, BN = 64, BK = 32}, warps = 12, "
                              "producers = 0, cluster_split = 3"),
            ((64, 72, 0), "params = {BM = 64, BN = 96, BK = 32}, warps = 4, cluster_split = 4"),
        ):
            self.share_product(chip, shape, schedule, None)

    def test_stream_k_counts(self):
        """Every number of tiles up to two waves and more, for some numbers of blocks."""
        program = (ROOT / "examples/gemm.mlir").read_text()
        chip = "sm_80"
        for blocks in (2, 3, 5, 8):
            schedule = ("params = {BM = 16, BN = 32, BK = 32}, warps = 1, "
                        f"stream_k = {blocks}")
            for tiles in range(1, 2 * blocks + 2):
                a = self.normal((16 * tiles, 160), "bfloat16", tiles)
                b = self.normal((160, 32), "bfloat16", blocks)
                c = self.blank(16 * tiles, 32, dtype="bfloat16")
                self.run(program, chip, a, b, c, self.blank(2 * blocks, 16, 32), schedule=schedule)
                exact = a.double() @ b.double()
                self.compare(c, exact, 2**-8 * exact.abs().max().item())

    #: The elements of operands and sums, the precision, and the error of an element by
    #: the sum of the magnitudes of its products (tile.dot).
    PRODUCTS = (
        ("i8", "i32", "", 0.0),
        ("f32", "f32", " precision(tf32)", 2**-9),
        ("f32", "f32", " precision(bf16x3)", 3 * 2**-16),
    )

    def product(self, element, result, precision, transposed):
        """Returns a loop of products, with operands that are stored transposed or not."""
        # Three stages fit the shared memory of every chip.
        depth = 64 if element == "i8" else 32
        loads = []
        for name, is_transposed in zip("ab", transposed):
            rows, columns = ("%row", "%k") if name == "a" else ("%k", "%column")
            shape = (64, depth) if (name == "a") != is_transposed else (depth, 64)
            tile = "tensor<{}x{}x{}>".format(*shape, element)
            turned = "tensor<{1}x{0}x{2}>".format(*shape, element)
            if is_transposed:
                loads.append(f"""
                    %{name}t = tile.load %{name}[{columns}, {rows}] : !operand -> {tile}
                    %{name}k = tile.transpose %{name}t [1, 0] : {tile} -> {turned}""")
            else:
                loads.append(f"""
                    %{name}k = tile.load %{name}[{rows}, {columns}] : !operand -> {tile}""")
        zero = "0" if result == "i32" else "0.0"
        return f"""
            !operand = !tile.buffer<?x?x{element}, #tile.strided<[?:16, 1], align = 16>, global>
            !result = !tile.buffer<?x?x{result}, #tile.strided<[?:4, 1], align = 16>, global>
            tile.kernel @product(%a: !operand, %b: !operand, %c: !result)
                attributes {{num_warps = 4 : i32}} {{
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c64 = arith.constant 64 : index
              %step = arith.constant {depth} : index
              %m = tile.dim %c[0] : !result
              %n = tile.dim %c[1] : !result
              %depth = tile.dim %a[{0 if transposed[0] else 1}] : !operand
              %rows = arith.ceildivui %m, %c64 : index
              %columns = arith.ceildivui %n, %c64 : index
              tile.grid %rows, %columns, %c1
              %x = tile.program_id x
              %y = tile.program_id y
              %row = arith.muli %x, %c64 : index
              %column = arith.muli %y, %c64 : index
              %zero = arith.constant dense<{zero}> : tensor<64x64x{result}>
              %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero)
                  -> (tensor<64x64x{result}>) {{
                {"".join(loads)}
                %d = tile.dot %ak, %bk, %acc{precision}
                    : tensor<64x{depth}x{element}>, tensor<{depth}x64x{element}> -> tensor<64x64x{result}>
                scf.yield %d : tensor<64x64x{result}>
              }}
              tile.store %sum, %c[%row, %column] : tensor<64x64x{result}>, !result
            }}
        """

    def padded(self, rows, columns, element, seed):
        """Returns a matrix whose rows begin at multiples of 16 elements."""
        import torch

        width = -(-columns // 16) * 16
        if element == "f32":
            return self.normal((rows, width), "float32", seed).detach()[:, :columns]
        generator = torch.Generator(device="cpu").manual_seed(seed)
        whole = torch.randint(-128, 128, (rows, width), generator=generator).to(torch.int8)
        return whole.to(self.device)[:, :columns]

    def product_types(self, chip):
        """Products of bytes, which are exact, and of f32 in both precisions, with ragged
        extents and operands that are stored transposed or not."""
        import torch

        m, n, k = 100, 72, 200
        for element, result, precision, bound in self.PRODUCTS:
            for transposed in ((False, False), (False, True), (True, False), (True, True)):
                a = self.padded(k, m, element, 1) if transposed[0] else self.padded(m, k, element, 1)
                b = self.padded(n, k, element, 2) if transposed[1] else self.padded(k, n, element, 2)
                program = self.product(element, result, precision, transposed)
                dtype = torch.int32 if result == "i32" else torch.float32
                c = torch.full((m, n), -7, dtype=dtype, device=self.device)
                self.run(program, chip, a, b, c,
                         schedule="stages = 3" if transposed[1] else None)
                a, b = (x.double().t() if t else x.double() for x, t in zip((a, b), transposed))
                limit = (bound + k * 2**-24 * (bound != 0)) * (a.abs() @ b.abs())
                excess = ((c.double() - a @ b).abs() - limit).max().item()
                assert excess <= 0, f"{element}{precision} {transposed}: {excess} over the bound"

    def quantized(self, chip):
        """Rows of f32 are quantized to bytes in registers, are an operand of a product with
        loaded bytes, whose sum is quantized again, and are stored."""
        import torch

        program = """
            #rows = #tile.strided<[64, 1], align = 16>
            !floats = !tile.buffer<?x64xf32, #rows, global>
            !bytes = !tile.buffer<?x64xi8, #rows, global>
            !sums = !tile.buffer<?x64xi32, #rows, global>
            !f = tensor<64x64xf32>
            !i = tensor<64x64xi8>
            !s = tensor<64x64xi32>
            tile.kernel @quantized(%x: !floats, %w: !bytes, %q: !bytes, %y: !sums, %z: !sums)
                attributes {num_warps = 4 : i32} {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c64 = arith.constant 64 : index
              %m = tile.dim %x[0] : !floats
              %blocks = arith.ceildivui %m, %c64 : index
              tile.grid %blocks, %c1, %c1
              %b = tile.program_id x
              %row = arith.muli %b, %c64 : index
              %t = tile.load %x[%row, %c0] : !floats -> !f
              %abs = math.absf %t : !f
              %max = tile.reduce maxnumf %abs along 1 : !f -> tensor<64xf32>
              %largest = arith.constant dense<127.0> : tensor<64xf32>
              %scale = arith.divf %largest, %max : tensor<64xf32>
              %scales = tile.broadcast %scale along 1 : tensor<64xf32> -> !f
              %scaled = arith.mulf %t, %scales : !f
              %whole = math.roundeven %scaled : !f
              %bytes = arith.fptosi %whole : !f to !i
              tile.store %bytes, %q[%row, %c0] : !i, !bytes
              %wt = tile.load %w[%c0, %c0] : !bytes -> !i
              %wk = tile.transpose %wt [1, 0] : !i -> !i
              %none = arith.constant dense<0> : !s
              %d = tile.dot %bytes, %wk, %none : !i, !i -> !s
              tile.store %d, %y[%row, %c0] : !s, !sums
              %shift = arith.constant dense<10> : !s
              %small = arith.shrsi %d, %shift : !s
              %again = arith.trunci %small : !s to !i
              %e = tile.dot %wt, %again, %d : !i, !i -> !s
              tile.store %e, %z[%row, %c0] : !s, !sums
            }
        """
        rows = 100
        x = self.normal((rows, 64), "float32", 1).detach()
        w = self.padded(64, 64, "i8", 2)
        q = torch.zeros(rows, 64, dtype=torch.int8, device=self.device)
        y, z = (torch.zeros(rows, 64, dtype=torch.int32, device=self.device) for _ in range(2))
        self.run(program, chip, x, w, q, y, z)
        scale = 127 / x.double().abs().amax(1, keepdim=True)
        # A number near a half may be rounded up or down.
        self.compare(q, x.double() * scale, 0.501)
        bytes_, wide = q.double(), w.double()
        self.compare(y, bytes_ @ wide.t(), 0.0)
        for begin in range(0, rows, 64):
            part = torch.zeros(64, 64, dtype=torch.float64, device=self.device)
            count = min(rows - begin, 64)
            part[:count] = y[begin : begin + count].double()
            again = ((part / 1024).floor() + 128).remainder(256) - 128
            found = z[begin : begin + count]
            # Rows behind the end of x have no largest element.
            if count == 64:
                self.compare(found, wide @ again + part, 0.0)

    def swiglu_gemm(self, chip):
        """A gated product, whose extents the schedule or the compiler closes."""
        import torch

        program = example("swiglu_gemm")
        a = self.normal((100, 200), "bfloat16", 1).detach()
        gate, up = (self.normal((200, 72), "bfloat16", s).detach() for s in (2, 3))
        exact = torch.nn.functional.silu(a.double() @ gate.double()) * (a.double() @ up.double())
        for schedule in (
            "params = {BM = 16, BN = 96, BK = 32}",
            "params = {BM = 64, BN = 64, BK = 64}",
            None,
        ):
            c = self.blank(100, 72, dtype="bfloat16")
            self.run(program, chip, a, gate, up, c, schedule=schedule)
            self.compare(c, exact, 2**-8 * exact.abs().max().item())

    def gelu_gemm(self, chip):
        """A product with bias and activation. The parts of its epilogue, and columns
        that end within an access."""
        import torch

        program = example("gelu_gemm")
        a = self.normal((100, 200), "bfloat16", 1).detach() / 8
        b, bias = (self.normal(shape, "bfloat16", s).detach()
                   for shape, s in (((200, 72), 2), ((72,), 3)))
        exact = torch.nn.functional.gelu(
            a.double() @ b.double() + bias.double(), approximate="tanh"
        )
        for schedule in (
            "params = {BM = 16, BN = 96, BK = 32}",
            "params = {BM = 128, BN = 64, BK = 64}",
            None,
        ):
            c = self.blank(100, 72, dtype="bfloat16")
            self.run(program, chip, a, b, bias, c, schedule=schedule)
            self.compare(c, exact, 2**-8 * exact.abs().max().item())

    def grouped_gemm(self, chip):
        """Products of groups of rows, some of them empty. Rows behind the last group
        are not written."""
        import torch

        program = example("grouped_gemm")
        ends = torch.tensor([0, 37, 37, 100, 229, 260], dtype=torch.int32, device=self.device)
        a = self.normal((271, 200), "bfloat16", 1).detach()
        b = self.normal((len(ends), 200, 72), "bfloat16", 2).detach()
        exact = torch.full((271, 72), float("nan"), dtype=torch.float64, device=self.device)
        begin = 0
        for group, end in enumerate(ends.tolist()):
            exact[begin:end] = a[begin:end].double() @ b[group].double()
            begin = end
        for schedule in (
            "params = {BM = 16, BN = 96, BK = 32}",
            "params = {BM = 64, BN = 64, BK = 64}",
            "params = {BM = 128, BN = 64, BK = 64}, warps = 8",
            None,
        ):
            c = self.blank(271, 72, dtype="bfloat16")
            blocks = torch.full((16, len(ends)), -1, dtype=torch.int32, device=self.device)
            self.run(program, chip, ends, blocks, a, b, c,
                     schedule=schedule and f"@grouped_gemm: {schedule}")
            self.compare(c[:begin], exact[:begin], 2**-8 * exact[:begin].abs().max().item())
            assert c[begin:].isnan().all()

    def int4_gemm(self, chip):
        """A product with weights of 4 bits, eight in a word."""
        from tile import pack_int4

        program = example("int4_gemm")
        m, n, k = 40, 72, 384
        a = self.normal((m, k), "bfloat16", 1).detach()
        scales = self.normal((k // 128, n), "bfloat16", 2).detach()
        q = (self.normal((k, n), "float32", 3).detach() * 4 + 8).round().clamp(0, 15).long()
        weights = (q - 8).double() * scales.double().repeat_interleave(128, 0)
        words = pack_int4(q)
        exact = a.double() @ weights
        for schedule in (
            "params = {BM = 16, BN = 32}, warps = 1",
            "params = {BM = 16, BN = 64}, warps = 4",
            "params = {BM = 64, BN = 32}, warps = 4",
            "params = {BM = 32, BN = 128}, warps = 8",
            None,
        ):
            c = self.blank(m, n, dtype="bfloat16")
            self.run(program, chip, a, words, scales, c, schedule=schedule)
            self.compare(c, exact, 2**-8 * exact.abs().max().item())
        # Blocks that share the iterations divide the columns of the result, which is
        # computed transposed.
        shared = [("BM = 64, BN = 64}, warps = 4, split = 2", [self.blank(4, 64, 64)])]
        if chip in CLUSTERS:
            shared.append(("BM = 16, BN = 64}, warps = 4, cluster_split = 4", []))
        for schedule, sums in shared:
            c = self.blank(m, n, dtype="bfloat16")
            self.run(program, chip, a, words, scales, c, *sums, schedule="params = {" + schedule)
            self.compare(c, exact, 2**-8 * exact.abs().max().item())

    def test_roles_of_synchronous_products(self):
        """Producers that copy by TMA what mma.sync reads, and stores by TMA."""
        from tile import testing

        if self.device == "cuda":
            return
        program = (ROOT / "examples/forward_open.mlir").read_text()
        q = self.normal((1, 300, 2, 128), "float16", 1)
        k, v = (self.normal((1, 200, 2, 128), "float16", s) for s in (2, 3))
        exact, _ = testing.attention(q, k, v, 128**-0.5, causal=False)
        cases = (
            ("sm_120a", "warps = 4, producers = 1, stages = 2"),
            ("sm_120a", "warps = 8, producers = 4, registers = [216, 40], stages = 1"),
            ("sm_100a", "warps = 8, producers = 4, registers = [216, 40], stages = 3"),
        )
        for chip, fields in cases:
            o = self.blank(1, 300, 2, 128, dtype="float16")
            schedule = f"params = {{BQ = {16 * int(fields[8])}, BK = 64}}, {fields}"
            self.run(program, chip, q, k, v, o, 128**-0.5, schedule=schedule)
            self.compare(o, exact, 2e-3)
        a = self.normal((100, 200), "bfloat16", 1)
        b = self.normal((200, 72), "bfloat16", 2)
        program = (ROOT / "examples/gemm.mlir").read_text()
        for chip in ("sm_103a", "sm_120a"):
            c = self.blank(100, 72, dtype="bfloat16")
            schedule = "params = {BM = 64, BN = 64, BK = 64}, warps = 4, producers = 4, stages = 3"
            self.run(program, chip, a, b, c, schedule=schedule)
            self.compare(c, a.double() @ b.double(), 0.5)

    def test_products_in_flight(self):
        """A loop that carries a product over its back edge, and one that waits."""
        a = self.normal((64, 256), "float16", 1)
        b = self.normal((256, 64), "float16", 2)
        results = []
        for kept, other in (("CARRIED", "AWAITED"), ("AWAITED", "CARRIED")):
            path = "test/Executor/pending-products.mlir"
            c = self.blank(64, 64)
            self.run(choose_lines(path, kept, other), "sm_90a", a, b, c)
            self.compare(c, a.double() @ b.double(), 1e-3)
            results.append(c)
        assert results[0].equal(results[1])

    def test_matrix_product(self):
        """A matrix product with the compiler's roles, and with roles by hand."""
        cases = [(200, 328, 264), (136, 8, 64)]
        if self.device == "cuda":
            cases += [(4096, 4096, 4096), (4096, 4096, 64)]
        for rows, columns, inner in cases:
            a = self.normal((rows, inner), "float16", 1)
            b = self.normal((inner, columns), "float16", 2)
            exact = a.double() @ b.double()
            for name in ("gemm", "gemm-roles"):
                c = self.blank(rows, columns, dtype="float16")
                self.run((ROOT / f"docs/Inputs/{name}.mlir").read_text(), "sm_90a", a, b, c)
                self.compare(c, exact, 2**-11 * exact.abs().max().item() + 1e-3)

    def test_order_of_blocks(self):
        """The order of the blocks does not change a matrix product: groups that
        divide the rows of blocks, or do not, and more blocks than there are."""
        program = (ROOT / "docs/Inputs/gemm.mlir").read_text()
        program = program.replace("%c128", "%rows").replace("%c256", "%columns")
        program = program.replace("128", "64").replace("256", "64")
        program = program.replace("num_warps = 8", "num_warps = 4")
        a = self.normal((440, 72), "float16", 1)
        b = self.normal((72, 200), "float16", 2)
        for order in ("plain", "groups<1>", "groups<3, 2>", "groups<2, 3>", "groups<7, 9>", "groups<50>",
                      "groups<65536, 65536>"):
            for chip in ("sm_80", "sm_90a"):
                c = self.blank(440, 200, dtype="float16")
                self.run(program, chip, a, b, c, schedule=f"order = {order}")
                self.compare(c, a.double() @ b.double(), 5e-2)

    def test_chosen_roles(self):
        """Matrix products whose roles, registers and stages the compiler chooses:
        tiles with one or two blocks on a multiprocessor, and no whole tiles."""
        program = (ROOT / "examples/gemm.mlir").read_text()
        tiles = [(128, 128, 4), (64, 256, 4), (64, 64, 8), (192, 128, 12)]
        for rows, columns, warps in tiles:
            schedule = f"params = {{BM = {rows}, BN = {columns}, BK = 64}}, warps = {warps}"
            for m, n, k in [(200, 264, 328), (64, 72, 64)]:
                a = self.normal((m, k), "bfloat16", 1)
                b = self.normal((k, n), "bfloat16", 2)
                exact = a.double() @ b.double()
                c = self.blank(m, n, dtype="bfloat16")
                self.run(program, "sm_90a", a, b, c, schedule=schedule)
                self.compare(c, exact, 2**-8 * exact.abs().max().item())


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
