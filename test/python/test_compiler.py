"""Tests of compiling in this process."""

import json
import os
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import tile
from tile import native

FORWARD = (ROOT / "examples" / "forward.mlir").read_text()


class TranslateTest(unittest.TestCase):
    def test_kinds(self):
        ptx = tile.translate(FORWARD, "sm_90a")
        self.assertIn(b".visible .entry attention(", ptx.data)
        self.assertEqual(json.loads(ptx.manifest)["chip"], "sm_90a")
        self.assertEqual(ptx.messages, "")
        self.assertTrue(tile.translate(FORWARD, "gfx942", "hsaco").data.startswith(b"\x7fELF"))
        self.assertIn(b"define", tile.translate(FORWARD, "gfx942", "llvmir").data)

    def test_errors_are_located(self):
        with self.assertRaisesRegex(tile.CompileError, r"(?s)a\.mlir:2:1: error: .*\^"):
            tile.translate("\nwrong", "sm_80", name="a.mlir")
        with self.assertRaisesRegex(tile.CompileError, 'unknown target chip "sm_1"'):
            tile.translate(FORWARD, "sm_1")
        with self.assertRaisesRegex(tile.CompileError, "HSACO is for AMD chips"):
            tile.translate(FORWARD, "sm_80", "hsaco")
        with self.assertRaisesRegex(tile.CompileError, "level is 0 to 3, not 4"):
            tile.translate(FORWARD, "sm_80", opt_level=4)
        with self.assertRaisesRegex(tile.CompileError, "llvmir, .*not 'elf'|not 'elf'"):
            tile.translate(FORWARD, "sm_80", "elf")

    def test_schedule(self):
        (kernel,) = json.loads(tile.translate(FORWARD, "sm_80").manifest)["kernels"]
        (other,) = json.loads(
            tile.translate(FORWARD, "sm_80", schedule="tile = [32, 64], warps = 2").manifest
        )["kernels"]
        self.assertEqual([kernel["block"][0], other["block"][0]], [128, 64])
        with self.assertRaisesRegex(
            tile.CompileError, r"--schedule:1:1: error: a schedule has no field 'stage'"
        ):
            tile.translate(FORWARD, "sm_80", schedule="stage = 2")

    def test_sizes(self):
        program = (ROOT / "examples" / "gemm.mlir").read_text()
        large = tile.translate(program, "sm_90a")
        small = tile.translate(program, "sm_90a", sizes="a = 64x7168, b = 7168x2112")
        kernels = json.loads(small.manifest)["kernels"]
        self.assertNotEqual(json.loads(large.manifest)["kernels"][0], kernels[0])
        # The blocks of clusters share the iterations of a tile.
        self.assertEqual([kernel["name"] for kernel in kernels], ["gemm"])
        self.assertEqual(kernels[0]["grid"][0][::2], ["mul", 4])
        # Blocks share the iterations of a tile, and another kernel adds their sums.
        other = tile.translate(program, "sm_90a", sizes="a = 256x7168, b = 7168x576")
        kernels = json.loads(other.manifest)["kernels"]
        self.assertEqual([kernel["name"] for kernel in kernels], ["gemm", "gemm_sum"])
        with self.assertRaisesRegex(
            tile.CompileError, r"--sizes:1:1: error: no kernel has an argument 'x'"
        ):
            tile.translate(program, "sm_90a", sizes="x = 3")

    def test_assertions(self):
        program = """
            tile.kernel @k(%n: i32) {
              %c0 = arith.constant 0 : i32
              %c1 = arith.constant 1 : index
              tile.grid %c1, %c1, %c1
              %positive = arith.cmpi sgt, %n, %c0 : i32
              tile.assert %positive, "n is not positive" : i1
            }
        """
        self.assertIn(b"vprintf", tile.translate(program, "sm_80").data)
        self.assertNotIn(
            b"vprintf", tile.translate(program, "sm_80", assertions=False).data
        )

    def test_remarks(self):
        messages = tile.translate(FORWARD, "sm_80", remarks=True).messages
        self.assertIn("remark: [Passed] loop-pipelined", messages)

    def test_threads(self):
        chips = ["sm_80", "gfx942", "sm_90a", "gfx1100"] * 2
        kinds = {"s": "ptx", "g": "hsaco"}
        with ThreadPoolExecutor(4) as pool:
            together = list(
                pool.map(lambda c: tile.translate(FORWARD, c, kinds[c[0]]).data, chips)
            )
        for chip, data in zip(chips, together):
            self.assertEqual(data, tile.translate(FORWARD, chip, kinds[chip[0]]).data)

    def test_chips(self):
        self.assertIn("sm_90a", tile.chips())
        self.assertIn("gfx1201", tile.chips())


class LibraryTest(unittest.TestCase):
    def test_missing(self):
        with mock.patch.dict(os.environ, TILE_LIBRARY="/nowhere/libtile.so"):
            with self.assertRaisesRegex(tile.CompileError, "no file /nowhere/libtile.so"):
                tile.translate(FORWARD, "sm_80")

    def test_no_library(self):
        with mock.patch.dict(os.environ, TILE_LIBRARY=__file__):
            with self.assertRaisesRegex(tile.CompileError, "cannot load .*test_compiler"):
                native.library()


if __name__ == "__main__":
    unittest.main()
