#!/usr/bin/env python3
"""Test of tile programs written by hand, against float64.

    programs.py                       # on the GPU at hand, else on the CPU
    programs.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import sys
import tempfile
from pathlib import Path

from cpu_chips import CLUSTERS, FULL, RELATED, SMALL_MEMORY
from program_suite import ProgramSuite
from tensor_tests import main

ROOT = Path(__file__).resolve().parents[2]

def choose_lines(path: str, kept: str, dropped: str) -> str:
    """Returns the program of a file with lines for two variants. Lines of `kept`
    that are comments become code; lines that end with a comment of `dropped` go."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    lines = [line.replace(f"// {kept}: ", "") for line in lines]
    return "\n".join(
        line for line in lines if not line.rstrip().endswith(f"// {dropped}")
    )


def example(name: str, packed: bool = False) -> str:
    """Returns the program of an example. With `packed`, rows may begin at any element,
    as those of a matrix without padding whose length is odd."""
    text = (ROOT / f"examples/{name}.mlir").read_text(encoding="utf-8")
    if packed:
        text = re.sub(r"\[\?:\d, 1\], align = 16", "[?, 1]", text)
    return text


def steps(extents: str, elements: int, warps: int, *kernels: str) -> str:
    """Returns a schedule with these elements for each of the extents, and these warps, for
    each kernel. A step has at most 8192 elements."""
    values = {"BS": min(elements, 8192)}
    params = ", ".join(f"{name} = {values.get(name, elements)}" for name in extents.split())
    return "; ".join(f"@{k}: params = {{{params}}}, warps = {warps}" for k in kernels)


def printed(run):
    """Calls `run` and returns the lines that kernels print to the standard output."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        saved = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            run()
            ctypes.CDLL(None).fflush(None)
        finally:
            sys.stdout.flush()
            os.dup2(saved, 1)
            os.close(saved)
        file.seek(0)
        return file.read().decode().splitlines()


class Tests(ProgramSuite):
    """The tests of programs."""

    per_chip = (
        "scalars",
        "loaded_scalars",
        "prints",
        "softmax",
        "scan",
        "gather",
        "paged",
        "masked_load",
        "shapes",
        "functions",
        "attention",
        "functions_near_zero",
        "functions_far",
        "remainders",
        "page_table",
        "attention_stages",
        "product_stages",
        "product_open",
        "product_split",
        "product_stream_k",
        "product_cluster",
        "product_types",
        "quantized",
        "attention_open",
        "backward_open",
        "masked_loop",
        "masks",
        "ragged_rows",
        "softmax_rows",
        "rmsnorm",
        "cross_entropy",
        "swiglu_gemm",
        "gelu_gemm",
        "grouped_gemm",
        "int4_gemm",
        "old_values",
        "open_ended_loop",
        "triangular_inverse",
        "mamba2_ssd",
        "gated_delta_rule",
    )
    #: The tiles of this program do not fit the shared memory of the chip.
    excluded = frozenset({("attention", "gfx1100"), ("attention", "gfx1151")})
    #: Chips without clusters refuse the schedules of this program.
    excluded |= {("product_cluster", c) for c in (*FULL, *RELATED) if c not in CLUSTERS}

    def scalars(self, chip):
        """Scalar arguments of every type."""
        import torch

        program = """
!out = !tile.buffer<6xf64, #tile.strided<[1]>, global>
tile.kernel @scalars(%out: !out, %h: f16, %b: bf16, %s: f32, %d: f64, %flag: i1, %i: i32,
                     %other: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %h64 = arith.extf %h : f16 to f64
  %b64 = arith.extf %b : bf16 to f64
  %s64 = arith.extf %s : f32 to f64
  %i64 = arith.sitofp %i : i32 to f64
  %o64 = arith.uitofp %other : i1 to f64
  %c = arith.select %flag, %h64, %b64 : f64
  PUTS
}"""
        puts = [
            f"%t{i} = tensor.splat %{name} : tensor<1xf64>\n"
            f"%i{i} = arith.constant {i} : index\n"
            f"tile.store %t{i}, %out[%i{i}] : tensor<1xf64>, !out"
            for i, name in enumerate(("h64", "b64", "s64", "d", "c", "o64"))
        ]
        program = program.replace("PUTS", "\n  ".join(puts))
        for flag, number in ((True, 0.1), (False, float("inf")), (True, float("-inf"))):
            out = self.blank(6, dtype="float64")
            self.run(program, chip, out, number, number, number, number, flag, -7, not flag)
            half, bf16, single = (
                torch.tensor(number, dtype=getattr(torch, dtype)).double().item()
                for dtype in ("float16", "bfloat16", "float32")
            )
            expected = [half, bf16, single, number, half if flag else bf16, not flag]
            assert out.tolist() == expected, f"{out.tolist()} instead of {expected}"

    def loaded_scalars(self, chip):
        """Elements of every type, read as scalars, at every place of a row."""
        import torch

        numbers = torch.tensor([-128, -3, 0, 1, 17, 127], dtype=torch.float64)
        types = ("f16", "bf16", "f32", "f64", "i8", "i32", "i64")
        program = "!out = !tile.buffer<7x6xf64, #tile.strided<[6, 1]>, global>\n"
        for type in types:
            program += f"!{type} = !tile.buffer<6x{type}, #tile.strided<[1]>, global>\n"
        arguments = ", ".join(f"%{type}: !{type}" for type in types)
        program += f"""
tile.kernel @loads(%out: !out, {arguments}) attributes {{num_warps = 1 : i32}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  tile.grid %c6, %c1, %c1
  %i = tile.program_id x
"""
        for row, type in enumerate(types):
            convert = "sitofp" if type[0] == "i" else "extf"
            wide = f"arith.{convert} %n{row} : {type} to f64"
            program += f"""
  %n{row} = tile.load_scalar %{type}[%i] : !{type} -> {type}
  %w{row} = {wide if type != "f64" else f"arith.negf %n{row} : f64"}
  %r{row} = arith.constant {row} : index
  %t{row} = tensor.splat %w{row} : tensor<1x1xf64>
  tile.store %t{row}, %out[%r{row}, %i] : tensor<1x1xf64>, !out
"""
        dtypes = ("float16", "bfloat16", "float32", "float64", "int8", "int32", "int64")
        out = self.blank(7, 6, dtype="float64")
        rows = [numbers.to(getattr(torch, dtype)).to(self.device) for dtype in dtypes]
        self.run(program + "}", chip, out, *rows)
        expected = numbers.repeat(7, 1)
        expected[types.index("f64")] *= -1
        assert out.cpu().equal(expected), out

    def prints(self, chip):
        """A product in a loop whose steps are printed and checked: each element once in each
        iteration, and in the order of the iterations."""
        import torch

        rows, columns, depth = 60, 24, 64
        program = example("gemm")
        program = re.sub(
            r"( +)scf.yield %next",
            r"""\1%is_number = arith.cmpf oeq, %next, %next : !acc
\1tile.print "step" %i : index
\1tile.assert %is_number, "a sum is NaN" : tensor<?x?xi1, #tile.open<BM, BN>>
\1tile.print "sum" %next : !acc
\g<0>""",
            program,
        )
        schedule = "@gemm: params = {BM = 64, BN = 32, BK = 32}, warps = 4"
        a = self.normal((rows, depth), "bfloat16", 1).detach().round()
        b = self.normal((depth, columns), "bfloat16", 2).detach().round()
        c = self.blank(rows, columns, dtype="bfloat16")

        def run():
            self.run(program, chip, a, b, c, schedule=schedule)
            if self.device == "cuda":
                torch.cuda.synchronize()

        lines = printed(run)
        found = {}
        for line in lines:
            label, place, value = line.split(": ")
            index, _, number = value.rpartition(" = ")
            found.setdefault(label + index, []).append(float(number))
        assert found.pop("step") == [0, 32]
        expected = torch.zeros(2, 64, 32, dtype=torch.float64)
        for i in range(2):
            part = a.double()[:, : 32 * (i + 1)] @ b.double()[: 32 * (i + 1)]
            expected[i, :rows, :columns] = part.cpu()
        assert len(found) == 64 * 32, len(found)
        for row in range(64):
            for column in range(32):
                sums = expected[:, row, column].tolist()
                # Numbers are integers, and sums of them exact.
                assert found[f"sum[{row}, {column}]"] == sums, (row, column, sums)
        self.compare(c, expected[1, :rows, :columns].to(c.device), 0.5)
        if self.device == "cpu":
            from tile import ExecutionError

            a[7, 40] = float("nan")
            try:
                printed(lambda: self.run(program, chip, a, b, c, schedule=schedule))
            except ExecutionError as error:
                message = r"assertion failed at \[7, \d+\]: a sum is NaN"
                assert re.search(message, str(error)), error
            else:
                raise AssertionError("a NaN is not found")

    def softmax(self, chip):
        x = self.normal((100, 256), "float32", 1)
        y = self.blank(100, 256)
        self.run((ROOT / "examples/softmax.mlir").read_text(), chip, x, y)
        self.compare(y, x.double().softmax(-1), 1e-5)

    def scan(self, chip):
        """Scans from both ends, along rows and columns that threads do not divide.
        A NaN reaches only what is behind it."""
        import torch

        rows, columns = 60, 200
        x = self.normal((rows, columns), "float32", 1).detach()
        x[20, 77] = float("nan")
        exact = x.double()
        tile = f"tensor<{rows}x{columns}xf32>"
        for dim in (0, 1):
            for reverse in (False, True):
                program = f"""
                    !b = !tile.buffer<{rows}x{columns}xf32, #tile.strided<[{columns}, 1], align = 16>, global>
                    tile.kernel @scan(%x: !b, %sums: !b, %largest: !b) attributes {{num_warps = 4 : i32}} {{
                      %c0 = arith.constant 0 : index
                      %c1 = arith.constant 1 : index
                      tile.grid %c1, %c1, %c1
                      %t = tile.load %x[%c0, %c0] : !b -> {tile}
                      %s = tile.scan addf %t along {dim}{" reverse" * reverse} : {tile}
                      tile.store %s, %sums[%c0, %c0] : {tile}, !b
                      %m = tile.scan maximumf %t along {dim}{" reverse" * reverse} : {tile}
                      tile.store %m, %largest[%c0, %c0] : {tile}, !b
                    }}
                """
                sums, largest = self.blank(rows, columns), self.blank(rows, columns)
                self.run(program, chip, x, sums, largest)
                source = exact.flip(dim) if reverse else exact
                expected = [source.cumsum(dim), source.cummax(dim).values]
                if reverse:
                    expected = [tensor.flip(dim) for tensor in expected]
                for found, wanted, tolerance in zip((sums, largest), expected, (1e-4, 0.0)):
                    assert torch.equal(found.isnan(), wanted.isnan()), "NaN in other places"
                    self.compare(found.nan_to_num(), wanted.nan_to_num(), tolerance)

    def paged(self, chip):
        """Rows of pages of any size from any row on, in registers and as the operand of a
        product. Rows behind the length are zero, and so are those of pages that do not
        exist; entries of the table behind the length are not read."""
        import torch

        program = """
            !pages = !tile.buffer<?xROWSx?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
            !tables = !tile.buffer<?x?xi32, #tile.strided<[?, ?]>, global>
            !identity = !tile.buffer<32x32xf16, #tile.strided<[32, 1], align = 16>, global>
            !out = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
            !view = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16, page = ROWS>, global>
            tile.kernel @paged(%cache: !pages, %tables: !tables, %identity: !identity, %out: !out, %product: !out,
                %first: i32, %length: i32) attributes {num_warps = 4 : i32} {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c32 = arith.constant 32 : index
              %rows = tile.dim %out[0] : !out
              %blocks = arith.ceildivui %rows, %c32 : index
              tile.grid %blocks, %c1, %c1
              %b = tile.program_id x
              %row = arith.muli %b, %c32 : index
              %n = arith.index_cast %length : i32 to index
              %start = arith.index_cast %first : i32 to index
              %pages = tile.slice %cache[*, *, %c1, *] : !pages
              %table = tile.slice %tables[%c1, *] : !tables
              %view = tile.paged %pages by %table length %n
                  : !tile.buffer<?xROWSx64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>,
                    !tile.buffer<?xi32, #tile.strided<[?]>, global>
              %from = arith.addi %row, %start : index
              %x = tile.load %view[%from, %c0]
                  : !view -> tensor<32x64xf16>
              %y = arith.extf %x : tensor<32x64xf16> to tensor<32x64xf32>
              tile.store %y, %out[%row, %c0] : tensor<32x64xf32>, !out
              %i = tile.load %identity[%c0, %c0] : !identity -> tensor<32x32xf16>
              %z = tile.load %view[%row, %c0]
                  : !view -> tensor<32x64xf16>
              %zero = arith.constant dense<0.0> : tensor<32x64xf32>
              %p = tile.dot %i, %z, %zero : tensor<32x32xf16>, tensor<32x64xf16> -> tensor<32x64xf32>
              tile.store %p, %product[%row, %c0] : tensor<32x64xf32>, !out
            }
        """
        identity = torch.eye(32, dtype=torch.float16, device=self.device)
        for page, first, length in (
            (1, 0, 77), (3, -5, 100), (7, 11, 95), (8, 0, 64), (16, 3, 90), (24, -40, 70),
            (32, 0, 128), (48, 1, 0), (64, 0, 1), (256, 96, 200),
        ):  # fmt: skip
            entries = 200 // page + 1
            count = entries + 2
            cache = self.normal((count, page, 3, 64), "float16", page).detach()
            order = torch.randperm(count, generator=torch.Generator().manual_seed(page))
            table = order[:entries].int().to(self.device)
            sequence = torch.zeros(400, 64, dtype=torch.float16, device=self.device)
            rows = cache[table.long(), :, 1].reshape(-1, 64)[:length]
            sequence[100 : 100 + len(rows)] = rows
            missing = length // page // 2
            if page < length:  # a page that does not exist
                table[missing] = count
                sequence[100 + missing * page : 100 + (missing + 1) * page] = 0
            table[-(-length // page) :] = 2147480000
            tables = torch.zeros(2, entries, 2, dtype=torch.int32, device=self.device)
            tables[1, :, 0] = table
            out, product = self.blank(150, 64), self.blank(150, 64)
            self.run(
                program.replace("ROWS", str(page)), chip, cache, tables[:, :, 0], identity, out,
                product, first, length,
            )  # fmt: skip
            assert torch.equal(out, sequence[100 + first :][:150].float()), (page, first)
            assert torch.equal(product, sequence[100:][:150].float()), page

    def gather(self, chip):
        """Rows by a list, elements of rows by labels, and columns by a list, some of which
        do not exist."""
        import torch

        program = """
            !table = !tile.buffer<?x100xTYPE, #tile.strided<[?:4, 1], align = 8>, global>
            !list = !tile.buffer<?xi32, #tile.strided<[1], align = 4>, global>
            !labels = !tile.buffer<?x1xi64, #tile.strided<[1, 1]>, global>
            !out = !tile.buffer<?x1xTYPE, #tile.strided<[1, 1]>, global>
            func.func private @read(%list: !list, %row: index) -> tensor<32xi32> {
              %t = tile.load %list[%row] : !list -> tensor<32xi32>
              return %t : tensor<32xi32>
            }
            tile.kernel @gather(%table: !table, %list: !list, %labels: !labels, %rows: !table, %chosen: !out,
                %columns: !table) attributes {num_warps = 4 : i32} {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c32 = arith.constant 32 : index
              %count = tile.dim %list[0] : !list
              %blocks = arith.ceildivui %count, %c32 : index
              tile.grid %blocks, %c1, %c1
              %b = tile.program_id x
              %row = arith.muli %b, %c32 : index
              %i = func.call @read(%list, %row) : (!list, index) -> tensor<32xi32>
              %r = tile.gather %table[%c0, %c0] along 0 by %i : !table, tensor<32xi32> -> tensor<32x128xTYPE>
              tile.store %r, %rows[%row, %c0] : tensor<32x128xTYPE>, !table
              %l = tile.load %labels[%row, %c0] : !labels -> tensor<32x1xi64>
              %e = tile.gather %table[%row, %c0] along 1 by %l : !table, tensor<32x1xi64> -> tensor<32x1xTYPE>
              tile.store %e, %chosen[%row, %c0] : tensor<32x1xTYPE>, !out
              %c = tile.gather %table[%row, %c1] along 1 by %i : !table, tensor<32xi32> -> tensor<32x32xTYPE>
              tile.store %c, %columns[%row, %c0] : tensor<32x32xTYPE>, !table
            }
        """
        rows, count = 60, 150
        generator = torch.Generator(device="cpu").manual_seed(5)
        names = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
        for dtype in names:
            table = self.normal((rows, 100), dtype, 1).detach()
            whole = torch.zeros(count, 100, dtype=table.dtype, device=table.device)
            whole[:rows] = table
            list_ = torch.randint(-3, rows + 3, (count,), generator=generator, dtype=torch.int32)
            labels = torch.randint(-3, 103, (count, 1), generator=generator)
            list_, labels = list_.to(table.device), labels.to(table.device)
            taken, chosen, columns = (
                self.blank(count, n, dtype=dtype) for n in (100, 1, 100)
            )
            self.run(program.replace("TYPE", names[dtype]), chip, table, list_, labels, taken,
                     chosen, columns)
            exists = (list_ >= 0) & (list_ < rows)
            wanted = table[list_.long().clamp(0, rows - 1)] * exists[:, None]
            self.compare(taken, wanted.double(), 0.0)
            exists = (labels >= 0) & (labels < 100)
            self.compare(chosen, (whole.gather(1, labels.clamp(0, 99)) * exists).double(), 0.0)
            for begin in range(0, count, 32):
                block = list_[begin : begin + 32].long() + 1
                block = torch.nn.functional.pad(block, (0, 32 - len(block)), value=1)
                exists = (block >= 0) & (block < 100)
                wanted = whole[begin : begin + 32][:, block.clamp(0, 99)] * exists
                self.compare(columns[begin : begin + 32, :32], wanted.double(), 0.0)

    def masked_load(self, chip):
        """Elements outside of the mask and of the buffer have another value."""
        import torch

        program = """
            !x = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
            tile.kernel @lower(%x: !x, %y: !x, %other: f32) attributes {num_warps = 4 : i32} {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              tile.grid %c1, %c1, %c1
              %i = tile.iota along 0 : tensor<64x64xi32>
              %j = tile.iota along 1 : tensor<64x64xi32>
              %m = arith.cmpi sge, %i, %j : tensor<64x64xi32>
              %t = tile.masked_load %x[%c0, %c0] mask %m other %other : !x -> tensor<64x64xf32>
              tile.store %t, %y[%c0, %c0] : tensor<64x64xf32>, !x
            }
        """
        x, y = self.normal((50, 41), "float32", 1).detach(), self.blank(64, 64)
        self.run(program, chip, x, y, -7.0)
        wanted = torch.full((64, 64), -7.0, dtype=torch.float64, device=x.device)
        lower = torch.ones(50, 41, device=x.device).tril().bool()
        wanted[:50, :41] = torch.where(lower, x.double(), -7.0)
        self.compare(y, wanted, 0.0)

    def shapes(self, chip):
        """Parts, reshaped tiles, tiles side by side, a constant tile and a sum of all
        elements that every thread has."""
        program = """
            !x = !tile.buffer<60x96xf32, #tile.strided<[96, 1], align = 16>, global>
            !y = !tile.buffer<60x192xf32, #tile.strided<[192, 1], align = 16>, global>
            tile.kernel @shapes(%x: !x, %y: !y) attributes {num_warps = 4 : i32} {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              tile.grid %c1, %c1, %c1
              %t = tile.load %x[%c0, %c0] : !x -> tensor<60x96xf32>
              %flat = tile.reshape %t : tensor<60x96xf32> -> tensor<1x5760xf32>
              %sum = tile.reduce addf %flat along 1 : tensor<1x5760xf32> -> tensor<1xf32>
              %s = tensor.extract %sum[%c0] : tensor<1xf32>
              %sums = tensor.splat %s : tensor<60x96xf32>
              %groups = tile.reshape %t : tensor<60x96xf32> -> tensor<60x4x24xf32>
              %factors = arith.constant dense<[1.0, -2.0, 3.0, 0.5]> : tensor<4xf32>
              %rows = tile.broadcast %factors along 0 : tensor<4xf32> -> tensor<60x4xf32>
              %all = tile.broadcast %rows along 2 : tensor<60x4xf32> -> tensor<60x4x24xf32>
              %scaled = arith.mulf %groups, %all : tensor<60x4x24xf32>
              %last = tile.extract %scaled [0, 3, 0] : tensor<60x4x24xf32> -> tensor<60x1x24xf32>
              %first = tile.extract %scaled [0, 0, 0] : tensor<60x4x24xf32> -> tensor<60x1x24xf32>
              %ends = tile.concatenate %last, %first, %last, %first along 1 : tensor<60x1x24xf32> -> tensor<60x4x24xf32>
              %right = tile.reshape %ends : tensor<60x4x24xf32> -> tensor<60x96xf32>
              %moved = arith.addf %t, %sums : tensor<60x96xf32>
              %both = tile.concatenate %moved, %right along 1 : tensor<60x96xf32> -> tensor<60x192xf32>
              tile.store %both, %y[%c0, %c0] : tensor<60x192xf32>, !y
            }
        """
        import torch

        x, y = self.normal((60, 96), "float32", 1).detach(), self.blank(60, 192)
        self.run(program, chip, x, y)
        exact = x.double()
        ends = [0.5 * exact[:, 72:], exact[:, :24]]
        self.compare(y, torch.cat([exact + exact.sum(), *ends, *ends], 1), 1e-4)

    def apply(self, chip, operations, x, y=None):
        """Returns the result of each operation on %x, and %y, of f32."""
        count = x.numel()
        type = f"tensor<{count}xf32>"
        program = f"""
            !x = !tile.buffer<{count}xf32, #tile.strided<[1], align = 16>, global>
            !r = !tile.buffer<{len(operations)}x{count}xf32, #tile.strided<[{count}, 1], align = 16>, global>
            tile.kernel @functions(%xs: !x, %ys: !x, %rs: !r) attributes {{num_warps = 4 : i32}} {{
              %c1 = arith.constant 1 : index
              %c0 = arith.constant 0 : index
              tile.grid %c1, %c1, %c1
              %x = tile.load %xs[%c0] : !x -> {type}
              %y = tile.load %ys[%c0] : !x -> {type}
        """
        for i, operation in enumerate(operations):
            program += f"""
              %n{i} = arith.constant {i} : index
              %v{i} = tile.slice %rs[%n{i}, *] : !r to !x
              %r{i} = {operation} : {type}
              tile.store %r{i}, %v{i}[%c0] : {type}, !x
            """
        results = self.blank(len(operations), count)
        self.run(program + "}", chip, x, x if y is None else y, results)
        return results

    def functions(self, chip):
        """Functions of math that no chip has an instruction for."""
        import torch

        names = ["acos", "asin", "atan", "sinh", "cosh", "tan", "asinh", "atanh", "erf", "erfc",
                 "expm1", "log1p", "sin", "cos", "round", "tanh"]
        x = torch.linspace(-0.99, 0.99, 256, dtype=torch.float32).to(self.device)
        found = self.apply(chip, [f"math.{name} %x" for name in names], x)
        exact = torch.stack([getattr(torch, name)(x.double()) for name in names])
        self.compare(found, exact, 1e-5)

    def functions_near_zero(self, chip):
        """Functions that are near x, or near half of it, keep their relative accuracy."""
        import torch

        names = ["asin", "atan", "sinh", "tan", "asinh", "atanh", "erf", "expm1", "log1p", "sin",
                 "tanh"]
        magnitudes = torch.logspace(-37, -0.01, 128, dtype=torch.float64).float()
        x = torch.cat([magnitudes, -magnitudes]).to(self.device)
        found = self.apply(chip, [f"math.{name} %x" for name in names], x)
        exact = torch.stack([getattr(torch, name)(x.double()) for name in names])
        self.compare(found.double() / x.double(), exact / x.double(), 1e-5)
        # A root has a third of the exponent, and those of 0 and infinity are themselves.
        numbers = torch.tensor([2.0**-149, 1e-40, 1e-38, 1e-30, 0.3, 8, 1e30, 3e38] * 16).float()
        x = torch.cat([numbers, -numbers]).to(self.device)
        found = self.apply(chip, ["math.cbrt %x"], x)[0].double()
        self.compare(found**3 / x.double(), torch.ones_like(found), 1e-6)
        x = torch.tensor([0.0, -0.0, math.inf, -math.inf] * 32).to(self.device)
        assert self.apply(chip, ["math.cbrt %x"], x)[0].equal(x), "a root of 0 or infinity"
        zeros = torch.tensor([0.0, -0.0] * 64, dtype=torch.float32).to(self.device)
        found = self.apply(chip, ["math.sin %x", "math.tan %x", "math.tanh %x"], zeros)
        assert (found.signbit() == zeros.signbit()).all() and (found == 0).all(), "a sign of zero"

    def functions_far(self, chip):
        """Functions of large numbers."""
        import torch

        x = self.normal((256,), "float32", 1).detach() * 2.0 ** torch.arange(256).remainder(21).to(self.device)
        found = self.apply(chip, ["math.sin %x", "math.cos %x"], x)
        exact = torch.stack([x.double().sin(), x.double().cos()])
        self.compare(found, exact, 2**-22)
        x = 1 + 2.0 ** torch.linspace(-20, 120, 256, dtype=torch.float64).float().to(self.device)
        found = self.apply(chip, ["math.acosh %x", "math.tanh %x"], x)
        exact = torch.stack([x.double().acosh(), x.double().tanh()])
        self.compare(found.double() / exact, torch.ones_like(exact), 1e-5)
        # No period of the functions is known so far out, but their range is.
        x = 2.0 ** torch.linspace(24, 127, 256, dtype=torch.float64).float().to(self.device)
        found = self.apply(chip, ["math.sin %x", "math.cos %x"], x)
        assert (found.abs() <= 1).all(), "a sine beyond 1"

    def remainders(self, chip):
        """arith.remf is exact, whatever the exponents are."""
        import torch

        exponents = 2.0 ** (torch.arange(512) * 7919 % 250 - 125).double()
        x = self.normal((512,), "float32", 1).detach() * exponents.float().to(self.device)
        y = self.normal((512,), "float32", 2).detach() * exponents.flip(0).float().to(self.device)
        special = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 2.0**-140]
        for i, left in enumerate(special):
            for j, right in enumerate(special):
                x[8 * i + j], y[8 * i + j] = left, right
        found = self.apply(chip, ["arith.remf %x, %y"], x, y)[0].double()
        exact = torch.fmod(x.double(), y.double())
        assert found.isnan().equal(exact.isnan()), "a rest that is, or is not, NaN"
        self.compare(found.nan_to_num(), exact.nan_to_num(), 0)
        assert (found.signbit() == x.signbit())[~exact.isnan()].all(), "a sign of a rest"

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
        import torch

        program = example("int4_gemm")
        m, n, k = 40, 72, 384
        a = self.normal((m, k), "bfloat16", 1).detach()
        scales = self.normal((k // 128, n), "bfloat16", 2).detach()
        q = (self.normal((k, n), "float32", 3).detach() * 4 + 8).round().clamp(0, 15).long()
        weights = (q - 8).double() * scales.double().repeat_interleave(128, 0)
        # Pair h of word i holds rows 8h + 2i and 8h + 2i + 1 of 32.
        pairs, halves = (torch.arange(count, device=self.device) for count in (4, 2))
        shifts = 4 * pairs[:, None, None, None] + 16 * halves[:, None]
        words = (q.view(-1, 4, 4, 2, n) << shifts).sum((1, 3)).view(-1, n)
        words = torch.where(words >= 2**31, words - 2**32, words).int()
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

    def old_values(self, chip):
        """Old values of atomic additions: tiles of any size, from places that are partly
        outside of the buffer, with copies of the values in all warps or in none."""
        import torch

        for dtype, element, shape, start, extents in (
            ("int32", "i32", (1,), (3,), (10,)),
            ("float32", "f32", (3,), (-1,), (10,)),
            ("float16", "f16", (7,), (8,), (10,)),
            ("int32", "i32", (384,), (0,), (384,)),
            ("int64", "i64", (4, 5), (-2, 1), (3, 4)),
            ("float64", "f64", (2, 2, 3), (1, -1, 0), (2, 2, 9)),
            ("int32", "i32", (1,), (30,), (10,)),
        ):
            any_strides = ", ".join(["?"] * (len(shape) - 1) + ["1"])
            buffer = f"!tile.buffer<{'?x' * len(shape)}{element}, #tile.strided<[{any_strides}]>, global>"
            tile = f"tensor<{'x'.join(map(str, shape))}x{element}>"
            zeros = ", ".join(["%c0"] * len(shape))
            places = ", ".join(f"%p{i}" for i in range(len(shape)))
            constants = "".join(
                f"%p{i} = arith.constant {place} : index\n" for i, place in enumerate(start)
            )
            kind = "addi" if element[0] == "i" else "addf"
            program = f"""
                !b = {buffer}
                tile.kernel @add(%x: !b, %sums: !b, %old: !b) attributes {{num_warps = 4 : i32}} {{
                  %c0 = arith.constant 0 : index
                  %c1 = arith.constant 1 : index
                  {constants}
                  tile.grid %c1, %c1, %c1
                  %t = tile.load %x[{zeros}] : !b -> {tile}
                  %o = tile.atomic_rmw {kind} %t, %sums[{places}] : {tile}, !b -> {tile}
                  tile.store %o, %old[{zeros}] : {tile}, !b
                }}
            """
            generator = torch.Generator().manual_seed(len(shape))
            kind = getattr(torch, dtype)
            x, before = (
                torch.randint(-9, 10, size, generator=generator).to(kind).to(self.device)
                for size in (shape, extents)
            )
            sums, old = before.clone(), self.blank(*shape, dtype=dtype)
            wanted_sums, wanted_old = before.clone(), torch.zeros_like(x)
            inside = [
                range(max(0, -first), min(size, extent - first))
                for first, size, extent in zip(start, shape, extents)
            ]
            if all(inside):
                here = tuple(slice(r.start, r.stop) for r in inside)
                there = tuple(
                    slice(r.start + first, r.stop + first) for r, first in zip(inside, start)
                )
                wanted_old[here] = before[there]
                wanted_sums[there] += x[here]
            self.run(program, chip, x, sums, old)
            assert sums.equal(wanted_sums), (element, shape)
            assert old.equal(wanted_old), (element, shape)

    def open_ended_loop(self, chip):
        """Square roots by Newton's method, until all elements of a block are close: a loop
        whose number of iterations its tiles decide."""
        program = """
            !b = !tile.buffer<?xf32, #tile.strided<[1]>, global>
            !t = tensor<50xf32>
            tile.kernel @roots(%x: !b, %out: !b) attributes {num_warps = 2 : i32} {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c50 = arith.constant 50 : index
              %count = tile.dim %x[0] : !b
              %blocks = arith.ceildivui %count, %c50 : index
              tile.grid %blocks, %c1, %c1
              %block = tile.program_id x
              %place = arith.muli %block, %c50 : index
              %one = arith.constant 1.0 : f32
              %near = arith.constant 1.0e-5 : f32
              %half = arith.constant dense<0.5> : !t
              %t = tile.masked_load %x[%place] other %one : !b -> !t
              %root = scf.while (%y = %t, %bound = %near) : (!t, f32) -> !t {
                %square = arith.mulf %y, %y : !t
                %difference = arith.subf %square, %t : !t
                %error = math.absf %difference : !t
                %relative = arith.divf %error, %t : !t
                %worst = tile.reduce maxnumf %relative along 0 : !t -> tensor<1xf32>
                %e = tensor.extract %worst[%c0] : tensor<1xf32>
                %more = arith.cmpf ogt, %e, %bound : f32
                scf.condition(%more) %y : !t
              } do {
              ^bb0(%y: !t):
                %quotient = arith.divf %t, %y : !t
                %sum = arith.addf %quotient, %y : !t
                %next = arith.mulf %sum, %half : !t
                scf.yield %next, %near : !t, f32
              }
              tile.store %root, %out[%place] : !t, !b
            }
        """
        x = self.normal((173,), "float32", 1).detach().abs() * 100 + 1e-3
        y = self.blank(173)
        self.run(program, chip, x, y)
        self.compare(y.double() / x.double().sqrt(), 1.0, 1e-5)

    def triangular_inverse(self, chip):
        """The inverse of a unit triangular matrix. What is above its lower triangle is
        not used."""
        import torch

        for size in (16, 24, 64):
            program = (ROOT / "test/Executor/triangular-inverse.mlir").read_text()
            program = program.replace("64x64", f"{size}x{size}")
            a = self.normal((size, size), "float32", 1).detach() * 0.3
            lower = a.double().tril(-1)
            identity = torch.eye(size, dtype=torch.float64, device=self.device)
            exact = torch.linalg.inv(identity + lower)
            a += torch.full_like(a, float("nan")).triu()
            inverse = self.blank(size, size)
            self.run(program, chip, a, inverse)
            bound = (exact.abs() @ (identity + lower.abs()) @ exact.abs()).max().item()
            self.compare(inverse, exact, 2**-14 * bound)

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

    def masked_loop(self, chip):
        """A loop whose masks hide nothing in some iterations. The bounds of the masks
        are i32 and wrap around."""
        import torch

        program = (ROOT / "test/Executor/masked-loop.mlir").read_text()
        a = self.normal((64, 32), "float16", 1)
        b = self.normal((32, 512), "float16", 2)
        product = a.double() @ b.double()
        row = torch.arange(64, dtype=torch.int32, device=self.device)[:, None]
        most, least = 2**31 - 1, -(2**31)
        for begin, end, first, last in (
            (0, 512, -100, 600),  # no mask
            (0, 512, 0, 300),
            (0, 500, 70, 200),
            (64, 512, -64, 0),
            (0, 64, 10, 20),
            (0, 512, 300, 100),  # nothing is visible
            (0, 512, -1000, -500),
            (256, 256, 0, 512),  # no iteration
            (320, 64, 0, 512),
            (0, 512, 0, most - 20),  # row + last wraps around
            (0, 512, least, most),
            (0, 512, most - 30, most),
        ):
            expected = torch.zeros((64, 64), dtype=torch.float64, device=self.device)
            for n in range(begin, end, 64):
                key = torch.arange(n, n + 64, dtype=torch.int32, device=self.device)[None]
                visible = (key >= row + first) & (key <= row + last)
                expected += product[:, n : n + 64] * visible
            results = []
            for schedule in (None, "keep_loops"):
                o = self.blank(64, 64)
                self.run(program, chip, a, b, o, begin, end, first, last, schedule=schedule)
                self.compare(o, expected, 1e-3)
                results.append(o)
            assert results[0].equal(results[1])

    def masks(self, chip):
        """Masks of several comparisons, which become one where no sum wraps around."""
        import torch

        def wrap(x):
            return (x + 2**31) % 2**32 - 2**31

        program = (ROOT / "test/Executor/masks.mlir").read_text()
        line = torch.arange(64, dtype=torch.int32, device=self.device)[:, None]
        column = torch.arange(96, dtype=torch.int32, device=self.device)[None]
        generator = torch.Generator(self.device).manual_seed(1)
        lengths = torch.randint(-5, 110, (64,), dtype=torch.int32, device=self.device,
                                generator=generator)
        most, least = 2**31 - 1, -(2**31)
        lengths[:4] = torch.tensor([most, least, most - 1, least + 1], dtype=torch.int32)
        limits = lengths[:, None]
        for n, row, end, window in (
            (0, 0, 96, 20),
            (32, 40, 70, 1),
            (0, -200, 96, 20),  # nothing is visible
            (64, 64, 0, 0),
            (70, 3, -1, -10),
            (0, most - 20, most, 5),  # row + line wraps around
            (0, least, most, 5),
            (most - 50, most - 60, 30, 7),  # n + column wraps around
            (most, 0, most, most),
            (least, 0, least, least),
            (least + 40, least, 96, -7),
        ):
            query = wrap(row + line.long())
            key = wrap(n + column.long())
            begin = wrap(query - window)
            start = min(max(n, 0), most - 95)
            place = start + column.long()
            expected = [
                (column < end) & (key <= query),
                (key <= query) & (key > begin) & (column < limits),
                (column >= end) | (key > query) | (line >= end),
                (wrap(query - key) < window) & (column <= limits),
                (line >= end) & (query > key) & (column >= end),
                ~((column < limits) & (key < query)) & (line <= column),
                (wrap(end - column.long()) > limits) & (column != 3),
                (column < end) & (place <= query) & (column < limits) & (line >= end),
                (place > begin)
                & (start - column.long() < limits)
                & (place >= query)
                & (column < end),
            ]
            found = self.blank(9, 64, 96)
            arguments = (lengths, found, n, row, end, window)
            self.run(program, chip, *arguments)
            for i, mask in enumerate(expected):
                assert found[i].bool().equal(mask), (i, n, row, end, window)

    def ragged_rows(self, chip):
        """Rows that end within an access, or at any address."""
        program = (ROOT / "test/Executor/ragged-rows.mlir").read_text()
        unaligned = program.replace("[?:8, 1], align = 16", "[?, 1]")
        for rows, columns, stride, text in (
            (5, 1003, 1008, program),
            (1, 7, 8, program),
            (6, 264, 264, program),
            (9, 256, 512, program),
            (5, 1003, 1003, unaligned),
            (3, 1, 2, unaligned),
        ):
            x = self.normal((rows, columns), "bfloat16", columns).detach()
            memory = [self.blank(rows, stride, dtype="bfloat16") for _ in range(2)]
            memory[0][:, :columns] = x
            self.run(text, chip, *(m[:, :columns] for m in memory))
            found = memory[1][:, :columns]
            assert found.equal((x.float() ** 2).bfloat16()), (rows, columns)
            assert memory[1][:, columns:].isnan().all(), (rows, columns)

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
        program = (ROOT / "examples/forward_tile.mlir").read_text()
        for chip in ("sm_80", "sm_90a"):
            for scale in (0.1, -0.1, 0.0):
                o = self.blank(1, 150, 1, 128, dtype="float16")
                self.run(program, chip, q, k, v, o, scale)
                scores = torch.einsum("bqhd,bkhd->bhqk", q.double(), k.double())
                weights = (scale * scores).softmax(-1)
                exact = torch.einsum("bhqk,bkhd->bqhd", weights, v.double())
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
