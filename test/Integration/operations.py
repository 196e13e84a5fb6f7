#!/usr/bin/env python3
"""Tests of single operations over tiles and of scalars, against float64.

    operations.py                       # on the GPU at hand, else on the CPU
    operations.py --device cpu          # in the executor; needs no GPU

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

from program_suite import ROOT, ProgramSuite, example
from tensor_tests import main


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
    """The tests of operations."""

    per_chip = (
        "scalars",
        "loaded_scalars",
        "prints",
        "scan",
        "associative_scan",
        "gather",
        "paged",
        "masked_load",
        "shapes",
        "functions",
        "functions_near_zero",
        "functions_far",
        "remainders",
        "masked_loop",
        "masks",
        "ragged_rows",
        "old_values",
        "open_ended_loop",
        "triangular_inverse",
    )

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

    def associative_scan(self, chip):
        """Recurrences h[i] = a[i] * h[i - 1] + b[i] from both ends, in steps of a loop, and the
        last number before each place that is not 0, which does not commute."""
        import torch

        rows, steps = 24, 300
        a = (self.normal((rows, steps), "float32", 1).detach() / 2).half()
        b = self.normal((rows, steps), "float32", 2).detach()
        numbers = (self.normal((rows, steps), "float32", 3).detach() * 2).int()
        program = """
            !a = !tile.buffer<?x?xf16, #tile.strided<[?, 1]>, global>
            !b = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
            !n = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>
            !a_tile = tensor<8x?xf16, #tile.open<BN>>
            !b_tile = tensor<8x?xf32, #tile.open<BN>>
            !n_tile = tensor<8x?xi32, #tile.open<BN>>
            tile.kernel @recurrence(%a: !a, %b: !b, %n: !n, %h: !b, %last: !n) {
              %bn = tile.param BN in [64, 100, 128]
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c8 = arith.constant 8 : index
              %rows = tile.dim %a[0] : !a
              %steps = tile.dim %a[1] : !a
              %blocks = arith.ceildivui %rows, %c8 : index
              tile.grid %blocks, %c1, %c1
              %x = tile.program_id x
              %row = arith.muli %x, %c8 : index
              %count = arith.ceildivui %steps, %bn : index
              %first = arith.constant dense<0.0> : tensor<8xf32>
              %all = scf.for %j = %c0 to %count step %c1 iter_args(%carried = %first) -> (tensor<8xf32>) {
                %i = PLACE
                %step = arith.muli %i, %bn : index
                %at = tile.load %a[%row, %step] : !a -> !a_tile
                %bt = tile.load %b[%row, %step] : !b -> !b_tile
                %nt = tile.load %n[%row, %step] : !n -> !n_tile
                %decay, %sums = tile.associative_scan %at, %bt along 1 REVERSE : !a_tile, !b_tile {
                ^bb0(%a0: f16, %h0: f32, %a1: f16, %b1: f32):
                  %a2 = arith.mulf %a0, %a1 : f16
                  %wide = arith.extf %a1 : f16 to f32
                  %decayed = arith.mulf %wide, %h0 : f32
                  %h1 = arith.addf %decayed, %b1 : f32
                  tile.yield %a2, %h1 : f16, f32
                }
                %before = tile.broadcast %carried along 1 : tensor<8xf32> -> !b_tile
                %wide = arith.extf %decay : !a_tile to !b_tile
                %decayed = arith.mulf %wide, %before : !b_tile
                %ht = arith.addf %decayed, %sums : !b_tile
                tile.store %ht, %h[%row, %step] : !b_tile, !b
                %kept = tile.associative_scan %nt along 1 REVERSE : !n_tile {
                ^bb0(%early: i32, %late: i32):
                  %none = arith.constant 0 : i32
                  %isNone = arith.cmpi eq, %late, %none : i32
                  %latest = arith.select %isNone, %early, %late : i32
                  tile.yield %latest : i32
                }
                tile.store %kept, %last[%row, %step] : !n_tile, !n
                %column = tile.iota along 1 : !n_tile
                %zero32 = arith.constant 0 : i32
                %end = tensor.splat %zero32[%bn] : !n_tile
                %ends = arith.cmpi eq, %column, END : !n_tile
                %zeros = arith.subf %ht, %ht : !b_tile
                %only = arith.select %ends, %ht, %zeros : tensor<8x?xi1, #tile.open<BN>>, !b_tile
                %next = tile.reduce addf %only along 1 : !b_tile -> tensor<8xf32>
                scf.yield %next : tensor<8xf32>
              }
            }
        """
        for step, reverse in ((64, False), (100, False), (100, True)):
            text = program.replace("REVERSE", "reverse" if reverse else "")
            if reverse:
                text = text.replace("PLACE", "arith.subi %last_step, %j : index")
                text = text.replace(
                    "%first =", "%last_step = arith.subi %count, %c1 : index\n%first ="
                )
                text = text.replace("END", "%end")
            else:
                text = text.replace("PLACE", "arith.addi %j, %c0 : index")
                text = text.replace(
                    "%ends =",
                    "%bn32 = arith.index_cast %bn : index to i32\n%one = arith.constant 1 : i32\n"
                    "%end32 = arith.subi %bn32, %one : i32\n"
                    "%last_column = tensor.splat %end32[%bn] : !n_tile\n%ends =",
                ).replace("END", "%last_column")
            h = self.blank(rows, steps)
            last = torch.full_like(numbers, -77)
            self.run(text, chip, a, b, numbers, h, last,
                     schedule=f"@recurrence: params = {{BN = {step}}}, warps = 4")
            exact, kept = torch.zeros(rows, steps).double(), torch.zeros(rows, steps).int()
            state, found = torch.zeros(rows).double(), torch.zeros(rows).int()
            for j, i in enumerate(range(steps - 1, -1, -1) if reverse else range(steps)):
                if j % step == 0:
                    found = torch.zeros(rows).int()
                state = a[:, i].double().cpu() * state + b[:, i].double().cpu()
                found = torch.where(numbers[:, i].cpu() == 0, found, numbers[:, i].cpu())
                exact[:, i], kept[:, i] = state, found
            self.compare(h, exact.to(h.device), 2**-8 * exact.abs().max().item())
            assert torch.equal(last.cpu(), kept), "other numbers are kept"

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


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
