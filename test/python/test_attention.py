"""Tests of attention's program text and of the integration test's cases."""

import re
import sys
import tempfile
import unittest
from itertools import product
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import cases
from tile import Artifact, CompileError, compiler
from tile.choices import (
    choose_cluster,
    choose_few_packed_rows,
    choose_few_rows,
    choose_kv_sum,
    choose_packed_heads,
    choose_parts,
    choose_short_queries,
    has_long_keys,
)
from tile.programs import Artifacts, Variant, attention_backward_ir, attention_ir


def without_names(text):
    """The program without the attributes that name its arguments."""
    return re.sub(r' \{tile\.name = "(\w+)"\}', "", text)


class ProgramTest(unittest.TestCase):
    def test_arguments_are_named(self):
        text = attention_ir(64, sink="f32", packed=True)
        names = re.findall(r'%(\w+): !?\w+ \{tile\.name = "(\w+)"\}', text)
        self.assertEqual(
            names,
            [(n, n) for n in "q k v o lse sink cu_q cu_k max_q scale".split()],
        )

    def test_all_parts(self):
        self.assertEqual(
            without_names(attention_ir(192, 128, "f16", causal=True, window=True)),
            "!qk = !tile.buffer<?x?x?x192xf16,"
            " #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>\n"
            "!vo = !tile.buffer<?x?x?x128xf16,"
            " #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>\n"
            "!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>\n"
            "func.func @attention(%q: !qk, %k: !qk, %v: !vo, %o: !vo, %lse: !lse,"
            " %scale: f32, %left: i32, %right: i32) {\n"
            "  tile.attention %q, %k, %v, %o lse %lse scale %scale"
            " window %left, %right {causal} : !qk, !qk, !vo, !vo, !lse\n"
            "  return\n"
            "}\n",
        )

    def test_least_parts(self):
        text = without_names(attention_ir(64, lse=False, name="plain"))
        self.assertIn("@plain(%q: !qk, %k: !qk, %v: !vo, %o: !vo, %scale: f32)", text)
        self.assertIn("%o scale %scale : !qk, !qk, !vo, !vo\n", text)
        self.assertNotIn("lse", text)
        self.assertEqual(text.count("x64xbf16"), 2)

    def test_type(self):
        with self.assertRaisesRegex(ValueError, "'f64', must be 'f16' or 'bf16'"):
            attention_ir(64, dtype="f64")


class BackwardProgramTest(unittest.TestCase):
    def test_all_parts(self):
        variant = Variant(192, 128, "f16", window=True, sink="bf16", packed=True)
        text = without_names(attention_backward_ir(variant, "atomic", "separate"))
        self.assertIn(
            "func.func @backward(%q: !qk, %k: !qk, %v: !vo, %o: !vo, %do: !vo,"
            " %lse: !lse, %dq: !qk, %dk: !qk, %dv: !vo, %stats: !stats,"
            " %dq_acc: !qk_f32, %dk_acc: !qk_f32, %dv_acc: !vo_f32, %sink: !sink,"
            " %dsink: !dsink, %cu_q: !cu, %cu_k: !cu, %max_q: index, %max_k: index,"
            " %scale: f32, %left: i32, %right: i32) {",
            text,
        )
        self.assertIn(
            "%lse to %dq, %dk, %dv using %stats dq_acc %dq_acc kv_acc separate"
            " %dk_acc, %dv_acc sink %sink, %dsink seqlens %cu_q, %cu_k max %max_q,"
            " %max_k scale %scale window %left, %right :",
            text,
        )

    def test_least_parts(self):
        text = attention_backward_ir(Variant(64, 64, "f16", softcap=True), "kernel")
        self.assertIn(
            "%dv using %stats scale %scale softcap %softcap : !qk, !qk, !vo, !vo, !vo,"
            " !lse, !qk, !qk, !vo, !stats\n",
            text,
        )
        self.assertNotIn("acc", text)

    def test_choices(self):
        variant = Variant(64, 64, "f16")
        with self.assertRaisesRegex(ValueError, "dq is 'any', must be one of"):
            attention_backward_ir(variant, "any")
        with self.assertRaisesRegex(ValueError, "kv is 'any', must be one of"):
            attention_backward_ir(variant, kv="any")
        with self.assertRaisesRegex(ValueError, "sink is 'f64', must be"):
            Variant(64, 64, "f16", sink="f64").ir()


class ChooseKVSumTest(unittest.TestCase):
    def choose(self, sequences, heads, kv_heads, length, causal=True, **options):
        window = options.get("window")
        deterministic = options.get("deterministic", False)
        # As for kernels whose blocks of threads have 128 keys.
        blocks = sequences * kv_heads * -(-length // 128)
        group = heads // max(kv_heads, 1)
        return choose_kv_sum(
            blocks, group, length, length, causal, window, 132, deterministic
        )

    def test_without_groups_nothing_is_summed(self):
        for length in (0, 1, 512, 1 << 17):
            self.assertEqual(self.choose(1, 16, 16, length), "loop")
            self.assertEqual(self.choose(0, 0, 0, length), "loop")

    def test_few_blocks_sum_by_head(self):
        # Measured on an H200: one block for each key head leaves it half empty.
        for deterministic, by_head in ((False, "atomic"), (True, "separate")):
            options = {"deterministic": deterministic}
            self.assertEqual(self.choose(4, 8, 1, 4096, **options), by_head)
            self.assertEqual(self.choose(1, 8, 1, 512, causal=False, **options), by_head)

    def test_measured(self):
        # On an H100, D 128; full masks were faster in a loop in all of these shapes.
        for sequences, heads, kv_heads, length, faster in (
            (4, 32, 4, 4096, "atomic"),
            (4, 8, 1, 4096, "atomic"),
            (1, 64, 8, 4096, "atomic"),
            (1, 32, 4, 16384, "atomic"),
            (4, 32, 8, 1024, "loop"),
        ):
            self.assertEqual(self.choose(sequences, heads, kv_heads, length), faster)
            chosen = self.choose(sequences, heads, kv_heads, length, causal=False)
            self.assertEqual(chosen, "loop")

    def test_many_blocks_of_short_sequences_loop(self):
        # Writing and summing costs more, the fewer queries see a key.
        self.assertEqual(self.choose(64, 32, 4, 1024), "loop")
        self.assertEqual(self.choose(4, 32, 8, 16384, window=(64, 0)), "loop")
        self.assertEqual(self.choose(1, 64, 8, 16384), "atomic")

    def test_blocks_of_equal_work_run_in_waves(self):
        # 132 blocks are one wave, 136 are two of which one is nearly empty.
        self.assertEqual(self.choose(33, 32, 4, 128, causal=False), "loop")
        self.assertEqual(self.choose(1, 32, 4, 33 * 128, causal=False), "loop")
        self.assertEqual(self.choose(1, 32, 4, 34 * 128, causal=False), "atomic")


class ChoosePartsTest(unittest.TestCase):
    def decode(self, sequences, keys, kv_heads=8, heads=64):
        """One query: a block for each head of k."""
        streams = sequences * kv_heads
        return choose_parts(streams, keys, sequences * heads, streams, 132)

    def prefill(self, blocks, keys, queries=512, heads=16):
        return choose_parts(blocks, keys, queries * heads, heads, 132)

    def test_parts_fill_the_processors_once(self):
        self.assertEqual(self.decode(1, 1 << 17), 16)
        self.assertEqual(self.decode(8, 1 << 15), 2)
        self.assertEqual(self.prefill(64, 1 << 15), 2)
        self.assertEqual(self.prefill(32, 1 << 15), 4)

    def test_enough_blocks_have_all_keys(self):
        for keys in (1024, 1 << 13, 1 << 17):
            self.assertEqual(self.decode(64, keys), 1)
            self.assertEqual(self.prefill(128, keys), 1)

    def test_parts_have_some_keys(self):
        self.assertEqual(self.decode(1, 1024), 8)
        for keys in (0, 1, 127, 256, 512):
            self.assertEqual(self.decode(1, keys), 1)

    def test_combining_costs_the_more_the_more_rows_there_are(self):
        most = [
            choose_parts(8, 4096, rows, 8, 132) for rows in (64, 1 << 12, 1 << 16, 1 << 20)
        ]
        self.assertEqual(most, sorted(most, reverse=True))
        self.assertEqual(most[-1], 1)

    def test_two_parts_may_be_a_cluster(self):
        def decode(sequences, keys, most=8):
            call = (8 * sequences, keys, 64 * sequences, 8 * sequences, 132)
            return choose_cluster(choose_parts(*call), most, *call)

        # A pair needs no second kernel.
        self.assertEqual(decode(8, 1024), 2)
        self.assertEqual(decode(8, 1 << 13), 2)
        self.assertEqual(decode(8, 1024, most=1), 0)
        # More blocks read faster, and one block has nothing to combine.
        self.assertEqual(decode(1, 1024), 0)
        self.assertEqual(decode(1, 1 << 15), 0)
        self.assertEqual(decode(64, 1024), 0)
        for keys in (0, 1, 127, 255):
            self.assertEqual(decode(8, keys), 0)

    def test_heads_are_rows_where_that_takes_fewer_tiles(self):
        for queries, group, heads in (
            (1, 8, 8), (1, 1, 1), (4, 8, 8), (8, 8, 8), (56, 8, 8), (65, 8, 0), (128, 8, 0),
            (1, 6, 8), (1, 48, 64), (1, 200, 64), (2, 1, 0), (1000, 16, 0),
        ):  # fmt: skip
            with self.subTest(queries=queries, group=group):
                self.assertEqual(choose_packed_heads(queries, group), heads)

    def test_short_sequences_of_mixed_batches(self):
        for total, sequences, longest, group, short in (
            # Steps beside one chunk or two; a group of 6 takes the room of 8.
            (519, 8, 512, 8, 2), (4158, 64, 2048, 6, 8), (519, 8, 512, 1, 16),
            # Some sequences have more than two queries.
            (526, 8, 512, 8, 2), (527, 8, 512, 8, 8),
            (519, 8, 512, 48, 1), (2055, 8, 2048, 200, 1),
            # All may be as long as the longest one, and only steps.
            (512, 1, 512, 8, 0), (8192, 4, 2048, 8, 0), (8193, 4, 2048, 8, 0),
            (64, 64, 1, 8, 0), (64, 64, 8, 8, 0), (40, 64, 0, 8, 0),
            # Nobody said how long the longest one is.
            (64, 64, 64, 8, 2),
        ):  # fmt: skip
            with self.subTest(total=total, sequences=sequences, group=group):
                found = choose_short_queries(total, sequences, longest, group)
                self.assertEqual(found, short)

    def test_tiles_of_few_packed_rows(self):
        for queries, heads, packed, rows in (
            (1, 1, False, 8), (1, 8, False, 8), (1, 16, False, 16), (2, 8, True, 16),
            (3, 8, False, 0), (3, 8, True, 64), (8, 8, True, 64), (9, 8, True, 0),
            (1, 0, True, 0), (0, 8, True, 0),
        ):  # fmt: skip
            with self.subTest(queries=queries, heads=heads, packed=packed):
                found = choose_few_packed_rows(queries, heads, packed)
                self.assertEqual(found, rows)

    def test_schedules_for_long_keys(self):
        few = {"pack_heads": 8, "few_rows": 8, "key_lengths": True}
        for head, features, is_long in (
            (64, {}, True), (128, {}, False), (64, {"softcap": True}, False),
            (64, few, True), (128, few, True), (192, few, False),
            (64, {**few, "softcap": True}, True), (128, {**few, "few_rows": 0}, False),
            (64, {**few, "packed": True}, False),
        ):  # fmt: skip
            with self.subTest(head=head, features=features):
                variant = Variant(head, head, "bf16", **features)
                self.assertEqual(has_long_keys(variant, 2048), is_long)
                self.assertFalse(has_long_keys(variant, 2047))

    def test_small_tiles_where_each_processor_has_at_most_one(self):
        for d, sequences, queries, heads, rows in (
            (64, 1, 1024, 8, 64), (64, 1, 1024, 16, 128), (64, 1, 1024, 32, 0),
            (64, 2, 65, 33, 64), (64, 2, 65, 34, 128), (128, 1, 1024, 8, 64),
            (128, 1, 1024, 16, 0), (256, 4, 256, 8, 64),
        ):  # fmt: skip
            with self.subTest(d=d, sequences=sequences, queries=queries, heads=heads):
                variant = Variant(d, d, "bf16")
                found = choose_few_rows(
                    variant, sequences, queries, queries, heads, heads, 132
                )
                self.assertEqual(found, rows)
        for d, queries, keys, heads in ((128, 512, 32768, 16), (64, 512, 32768, 16)):
            with self.subTest(d=d, queries=queries, keys=keys, heads=heads):
                variant = Variant(d, d, "bf16")
                found = choose_few_rows(variant, 1, queries, keys, heads, heads, 132)
                self.assertEqual(found, 0)
        for features in ({"packed": True}, {"pack_heads": 8}, {"key_lengths": True}):
            variant = Variant(64, 64, "bf16", **features)
            self.assertEqual(choose_few_rows(variant, 1, 64, 64, 8, 8, 132), 0)

    def test_the_program_says_how_few_rows_there_are(self):
        variant = Variant(64, 64, "bf16", few_rows=64)
        self.assertIn("expected_rows = 64 : i64", variant.ir())
        self.assertIn("few_rows_64", variant.name)


class CasesTest(unittest.TestCase):
    def setUp(self):
        self.cases = cases.all_cases()

    def test_names_are_unique(self):
        names = {case.name for case in self.cases}
        self.assertEqual(len(names), len(self.cases))
        variants = {variant for case in self.cases for variant in case.variants}
        self.assertEqual(len({v.name for v in variants}), len(variants))

    def test_every_variant_occurs(self):
        found = {(case.variant, case.window) for case in self.cases}
        for (d, dv), dtype, (causal, window) in product(
            cases.HEAD_SIZES, cases.DTYPES, cases.MASKS
        ):
            self.assertIn((Variant(d, dv, dtype, causal, bool(window)), window), found)

    def test_full_product_of_one_model(self):
        variants = [
            (Variant(128, 128, "bf16", causal, bool(window)), window)
            for causal, window in cases.MASKS
        ]
        found = {
            ((c.variant, c.window), (c.heads, c.kv_heads), c.lengths[0], c.order)
            for c in self.cases
        }
        for row in product(variants, cases.HEADS, cases.SIZES, cases.ORDERS):
            self.assertIn(row, found)

    def test_each_size_of_heads_meets_each_length(self):
        found = {((c.variant.d, c.variant.dv), c.lengths[0]) for c in self.cases}
        for pair in product(cases.HEAD_SIZES, cases.SIZES + (cases.LARGE,)):
            self.assertIn(pair, found)

    def test_gradients_meet_everything(self):
        found = [c for c in self.cases if c.backward]
        models = {(c.variant.d, c.variant.dv, c.variant.dtype) for c in found}
        for size, dtype in product(cases.HEAD_SIZES, cases.DTYPES):
            self.assertIn((*size, dtype), models)
        sizes = {model[:2] for model in models}
        self.assertEqual(sizes, {*cases.HEAD_SIZES, *cases.PADDED_SIZES})
        self.assertEqual({(c.backward.dq, c.backward.kv) for c in found}, set(cases.SUMS))
        self.assertEqual(
            {(c.variant.sink, c.variant.softcap) for c in found}, set(cases.FEATURES)
        )
        for mask in cases.MASKS:
            packed = {
                c.variant.packed
                for c in found
                if (c.variant.causal, c.window) == mask
            }
            self.assertEqual(packed, {False, True})
        lengths = {size for c in found if c.variant.packed for size in c.lengths}
        self.assertIn((0, 0), lengths)
        self.assertGreater(max(sq for sq, _ in lengths), cases.GRID_ROWS)

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

        def translate(text, chip, *, name, schedule):
            sources.append((text, chip))
            if "x96x" in text:
                raise CompileError("refused")
            return Artifact(b"new", "{}", "")

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
