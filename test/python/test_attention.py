"""Tests of attention's program text and of the integration test's cases."""

import sys
import tempfile
import unittest
from itertools import product
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import cases
from tile import CompileError, compiler
from tile.attention import Artifacts, Variant, attention_ir


class ProgramTest(unittest.TestCase):
    def test_all_parts(self):
        self.assertEqual(
            attention_ir(192, 128, "f16", causal=True, window=(64, 0)),
            "!qk = !tile.buffer<?x?x?x192xf16,"
            " #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>\n"
            "!vo = !tile.buffer<?x?x?x128xf16,"
            " #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>\n"
            "!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>\n"
            "func.func @attention(%q: !qk, %k: !qk, %v: !vo, %o: !vo, %lse: !lse,"
            " %scale: f32) {\n"
            "  tile.attention %q, %k, %v, %o lse %lse scale %scale"
            " {causal, window = array<i64: 64, 0>} : !qk, !qk, !vo, !vo, !lse\n"
            "  return\n"
            "}\n",
        )

    def test_least_parts(self):
        text = attention_ir(64, lse=False, name="plain")
        self.assertIn("@plain(%q: !qk, %k: !qk, %v: !vo, %o: !vo, %scale: f32)", text)
        self.assertIn("%o scale %scale : !qk, !qk, !vo, !vo\n", text)
        self.assertNotIn("lse", text)
        self.assertEqual(text.count("x64xbf16"), 2)

    def test_type(self):
        with self.assertRaisesRegex(ValueError, "'f64', must be 'f16' or 'bf16'"):
            attention_ir(64, dtype="f64")


class CasesTest(unittest.TestCase):
    def setUp(self):
        self.cases = cases.all_cases()

    def test_names_are_unique(self):
        names = {case.name for case in self.cases}
        self.assertEqual(len(names), len(self.cases))
        variants = {case.variant for case in self.cases}
        self.assertEqual(len({v.name for v in variants}), len(variants))

    def test_every_variant_occurs(self):
        found = {case.variant for case in self.cases}
        for (d, dv), dtype, (causal, window) in product(
            cases.HEAD_SIZES, cases.DTYPES, cases.MASKS
        ):
            self.assertIn(Variant(d, dv, dtype, causal, window), found)

    def test_full_product_of_one_model(self):
        variants = [Variant(128, 128, "bf16", *mask) for mask in cases.MASKS]
        found = {
            (c.variant, (c.heads, c.kv_heads), (c.sq, c.sk), c.order)
            for c in self.cases
        }
        for row in product(variants, cases.HEADS, cases.SIZES, cases.ORDERS):
            self.assertIn(row, found)

    def test_each_size_of_heads_meets_each_length(self):
        found = {((c.variant.d, c.variant.dv), (c.sq, c.sk)) for c in self.cases}
        for pair in product(cases.HEAD_SIZES, cases.SIZES + (cases.LARGE,)):
            self.assertIn(pair, found)

    def test_pairwise(self):
        factors = [[0, 1, 2], [0, 1], [0, 1, 2, 3]]
        rows = cases.pairwise(factors)
        self.assertEqual(len(rows), 12)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            self.assertEqual(
                {(row[i], row[j]) for row in rows}, set(product(factors[i], factors[j]))
            )


class ArtifactsTest(unittest.TestCase):
    def test_compiles_each_variant_once_and_reports_failures(self):
        good, bad = Variant(64, 64, "bf16"), Variant(96, 96, "bf16")
        sources = []

        def translate(source, chip, output, manifest, options):
            sources.append((Path(source).read_text(), chip))
            if "x96x" in sources[-1][0]:
                raise CompileError("refused")
            Path(output).write_text("new")

        with tempfile.TemporaryDirectory() as folder:
            stale = Path(folder, f"{bad.name}.ptx")
            stale.write_text("old")
            with mock.patch.object(compiler, "translate", translate):
                failures = Artifacts(folder).compile([good, bad, good], "sm_80", 1)
            self.assertEqual(failures, {bad: "refused"})
            self.assertEqual(sources, [(good.ir(), "sm_80"), (bad.ir(), "sm_80")])
            self.assertFalse(stale.exists())
            self.assertEqual(Path(folder, f"{good.name}.ptx").read_text(), "new")


if __name__ == "__main__":
    unittest.main()
