"""Tests the shapes, files, tables and plots of the benchmark; measures nothing."""

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "attention.py"
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "benchmarks")]

import amd_static
import fa3
import fa4
import flash_infer
import plot
from results import (
    MAIN_SCOPE,
    OURS_MAIN,
    SPIKE,
    SPIKE_MAIN,
    Measurement,
    RateTable,
    Results,
    Row,
    markdown,
    ratio,
    summary,
)
from shapes import Shape

TORCH = importlib.util.find_spec("torch") is not None
MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def shape(length, d=128, causal=False, backward=False):
    sizes = (16384 // length, 2048 // d, 2048 // d, length, d, d)
    return Shape(*sizes, causal, "bf16", backward)


def results():
    rows = [
        Row(
            shape(4096),
            {
                "ours": Measurement(1.0, 600.0, 0.25, 0.3, 1.5),
                "cudnn": Measurement(1.2, 500.0, 0.5),
                "flex": Measurement(1.5, 400.0, 0.75, 12.25),
            },
        ),
        Row(shape(1024), {"ours": Measurement(1.0, 450.0, 0.2, 0.3, 1.5)}),
        Row(shape(1024, d=64, causal=True), {"cudnn": Measurement(2.0, 300.0, 0.1)}),
    ]
    return Results("a GPU", rows)


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
    )


class Shapes(unittest.TestCase):
    def test_operations(self):
        full = shape(1024)
        self.assertEqual(full.operations, 4 * 16 * 16 * 1024**2 * 128)
        self.assertEqual(shape(1024, causal=True).operations, full.operations / 2)
        backward = shape(1024, backward=True)
        self.assertEqual(backward.operations, 2.5 * full.operations)
        wide = Shape(8, 32, 2, 1024, 192, 128, False, "f16", False)
        self.assertEqual(wide.operations, 2 * 8 * 32 * 1024**2 * 320)
        self.assertEqual(wide.cells[2:5], ["32/2", "1024", "192/128"])

    def test_sizes_by_tokens_and_width(self):
        spec = importlib.util.spec_from_file_location("benchmark", SCRIPT)
        benchmark = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(benchmark)
        words = "x -d 64 256 -s 1024 16384 --tokens 16384 --width 2048 --mask full"
        with mock.patch.object(sys, "argv", words.split()):
            made = list(benchmark.make_shapes(benchmark.parse_arguments()))
        sizes = [(s.batch, s.heads, s.kv_heads, s.length, s.d) for s in made]
        self.assertEqual(
            sizes,
            [
                (16, 32, 32, 1024, 64),
                (1, 32, 32, 16384, 64),
                (16, 8, 8, 1024, 256),
                (1, 8, 8, 16384, 256),
            ],
        )

    def test_sizes_of_v(self):
        spec = importlib.util.spec_from_file_location("benchmark", SCRIPT)
        benchmark = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(benchmark)
        words = "x -d 96 192/128 -n 32 --kv-heads 4 --mask full"
        with mock.patch.object(sys, "argv", words.split()):
            made = list(benchmark.make_shapes(benchmark.parse_arguments()))
        self.assertEqual(
            [s.cells[2:5] for s in made],
            [["32/4", "4096", "96"], ["32/4", "4096", "192/128"]],
        )
        done = run("-d", "192x128")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'192x128' is no head size like 128 or 192/128", done.stderr)

    def test_refuses_sizes_that_do_not_divide(self):
        done = run("--tokens", 1000, "-s", 512)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--tokens must be a multiple of every length", done.stderr)
        done = run("--width", 100, "-d", 64)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--width must be a multiple of every head size", done.stderr)


class Files(unittest.TestCase):
    def test_round_trip(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            results().save(path)
            self.assertEqual(Results.load(path), results())
            for text in ("[]", "{", '{"machine": "x", "rows": [{"shape": {}}]}'):
                path.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(ValueError, "holds no results"):
                    Results.load(path)

    def test_tables(self):
        self.assertEqual(results().contenders, ["ours", "cudnn", "flex"])
        self.assertEqual(ratio(results().rows[0], "cudnn"), 1.2)
        self.assertIsNone(ratio(results().rows[1], "cudnn"))
        table = RateTable(["ours", "cudnn"])
        self.assertEqual(
            table.title.split()[-4:], ["type", "ours", "cudnn", "ours/cudnn"]
        )
        line = table.line(results().rows[0])
        self.assertEqual(line.split()[-3:], ["600.0", "500.0", "1.200"])
        self.assertEqual(len(line), len(table.title))
        self.assertEqual(table.line(results().rows[1]).split()[-2:], ["n/a", "n/a"])
        text = markdown(results()).splitlines()
        self.assertEqual(text[0], "a GPU")
        self.assertIn(
            "| forward | 4 | 16/16 | 4096 | 128 | full | bf16 | 600 (0.25) | 500 (0.50)"
            " | 400 (0.75) | 1.20 | 1.50 |",
            text,
        )
        self.assertIn(
            "| forward | 4 | 16/16 | 4096 | 128 | full | bf16 | 0.30 + 1.50 |"
            " precompiled | 12.25 |",
            text,
        )

    def test_summary(self):
        rows = [
            Row(
                shape(length, backward=backward),
                {
                    "ours": Measurement(1.0, 600.0, 0.25),
                    "cudnn": Measurement(1.0, cudnn, 0.5),
                    "fa3": Measurement(1.0, 400.0, 0.5),
                    SPIKE: Measurement(1.0, 900.0, 0.5),
                },
            )
            for length, cudnn, backward in (
                (1024, 600.0, False), (4096, 150.0, False), (1024, 300.0, True),
            )
        ]  # fmt: skip
        rows[1].measurements.pop("fa3")
        lines = [
            "forward, 2 shapes, ours/peer, mean (least): cudnn 2.000 (1.000),"
            " fa3 1.500 (1.500), best peer 2.000 (1.000)",
            "backward, 1 shapes, ours/peer, mean (least): cudnn 2.000 (2.000),"
            " fa3 1.500 (1.500), best peer 1.500 (1.500)",
        ]
        self.assertEqual(summary(Results("a GPU", rows)), lines)
        self.assertIn(lines[0], markdown(Results("a GPU", rows)).splitlines())
        self.assertEqual(summary(Results("a GPU", [Row(shape(1024))])), [])

    def test_a_main_kernel_by_hand_is_compared_with_ours_alone(self):
        row = Row(
            shape(4096, backward=True),
            {
                "ours": Measurement(2.0, 500.0, 0.25),
                OURS_MAIN: Measurement(1.6, 625.0, 0.25),
                SPIKE_MAIN: Measurement(2.0, 500.0, 0.5),
            },
        )
        self.assertEqual(ratio(row, SPIKE_MAIN), 1.25)
        table = RateTable(["ours", SPIKE, OURS_MAIN, SPIKE_MAIN])
        self.assertEqual(
            " ".join(table.title.split()[-9:]),
            "ours spike ours/spike ours main spike main main/spike main",
        )
        line = table.line(row)
        self.assertEqual(
            line.split()[-6:], ["500.0", "n/a", "n/a", "625.0", "500.0", "1.250"]
        )
        self.assertEqual(len(line), len(table.title))
        text = markdown(Results("a GPU", [row])).splitlines()
        self.assertIn(MAIN_SCOPE, text)
        self.assertIn(
            "| backward | 4 | 16/16 | 4096 | 128 | full | bf16 | 500 (0.25) | 625 (0.25)"
            " | 500 (0.50) | 1.25 |",
            text,
        )
        self.assertNotIn(MAIN_SCOPE, markdown(results()))

    def test_table_from_results(self):
        with tempfile.TemporaryDirectory() as folder:
            saved, table = Path(folder) / "r.json", Path(folder) / "t.md"
            results().save(saved)
            done = run("--plot-from", saved, "--table", table)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(table.read_text(encoding="utf-8"), markdown(results()))
            done = run("--plot-from", saved)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--plot-from needs --plot or --table", done.stderr)
            saved.write_text("[]", encoding="utf-8")
            done = run("--plot-from", saved, "--table", table)
            self.assertEqual(done.returncode, 1)
            self.assertIn("holds no results", done.stderr)


class FlashAttention3(unittest.TestCase):
    def test_needs_a_folder(self):
        with mock.patch.dict("os.environ"):
            os.environ.pop("FA3", None)
            self.assertFalse(fa3.is_given())
            self.assertIsNone(fa3.load())
        with mock.patch.dict("os.environ", {"FA3": "folder"}):
            self.assertTrue(fa3.is_given())


class FlashAttention4(unittest.TestCase):
    def test_needs_a_package(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch("sys.path", [folder]):
                importlib.invalidate_caches()
                self.assertFalse(fa4.is_installed())
                self.assertIsNone(fa4.load())
                package = Path(folder) / "flash_attn" / "cute"
                package.mkdir(parents=True)
                for part in (package.parent, package):
                    (part / "__init__.py").write_text("", encoding="utf-8")
                interface = package / "interface.py"
                interface.write_text("name = 'kernels'\n", encoding="utf-8")
                importlib.invalidate_caches()
                with mock.patch.dict("sys.modules"), mock.patch("sys.argv", ["x"]):
                    self.assertTrue(fa4.is_installed())
                    self.assertEqual(fa4.load().name, "kernels")


class FlashInfer(unittest.TestCase):
    def test_needs_a_package(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch("sys.path", [folder]):
                importlib.invalidate_caches()
                self.assertFalse(flash_infer.is_installed())
                (Path(folder) / "flashinfer.py").write_text("", encoding="utf-8")
                importlib.invalidate_caches()
                self.assertTrue(flash_infer.is_installed())

    @unittest.skipUnless(TORCH, "no PyTorch")
    def test_plans_a_call(self):
        import torch

        wrapper = mock.MagicMock()
        package = mock.MagicMock(BatchDecodeWithPagedKVCacheWrapper=wrapper)
        q = torch.zeros(2, 4, 8, 16)
        caches = [torch.zeros(12, 64, 2, 16) for _ in range(2)]
        table = torch.arange(12, dtype=torch.int32).view(2, 6)
        with mock.patch.dict("sys.modules", flashinfer=package), mock.patch.object(
            flash_infer, "WORKSPACE_BYTES", 64
        ):
            o, lse = flash_infer.plan(q, caches, table, 300)()
        self.assertEqual((o.shape, lse.shape), ((2, 4, 8, 16), (2, 8, 4)))
        (indptr, indices, last, *sizes), options = wrapper().plan.call_args
        # A sequence has four full pages and one with 44 keys.
        self.assertEqual(indptr.tolist(), [0, 5, 10])
        self.assertEqual(indices.tolist(), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10])
        self.assertEqual(last.tolist(), [44, 44])
        self.assertEqual((sizes, options["q_len_per_req"]), ([8, 2, 16, 64], 4))
        arguments, options = wrapper().run.call_args
        self.assertEqual(arguments[0].shape, (8, 8, 16))
        # The results are views of the buffers of the call.
        self.assertEqual(options["out"].data_ptr(), o.data_ptr())
        self.assertEqual(options["lse"].data_ptr(), lse.data_ptr())


class AMDStatic(unittest.TestCase):
    @staticmethod
    def kernel(*loops):
        names = ("matrix", "vector", "transcendental", "branch")
        return {
            "wave_size": 64, "registers": 100, "stack_bytes": 4, "shared_bytes": 8,
            "waves_per_simd": 2,
            "loops": [
                {
                    "matrix_operations": operations,
                    "instructions": dict(zip(names, counts)),
                    "cycles": {"bound": 1024},
                    "matrix_share": 0.5,
                }
                for operations, counts in loops
            ],
        }  # fmt: skip

    def test_counts_the_shortest_loop_with_products(self):
        # A lane has 8 elements of 256 operations each.
        operations = 8 * 64 * 256
        masked, plain, rest = (8, 80, 8, 2), (8, 16, 8, 1), (0, 4, 0, 1)
        kernel = self.kernel((operations, masked), (operations, plain), (0, rest))
        count = amd_static.count_loop([kernel], 256)
        self.assertEqual((count.cycles, count.vector), (128, 3))
        self.assertEqual(count.instructions, 33 / 8)
        self.assertEqual((count.branches, count.waves, count.spills), (1, 2, 4))
        with self.assertRaisesRegex(ValueError, "no loop has a product"):
            amd_static.count_loop([self.kernel((0, rest))], 256)

    def test_adds_two_kernels(self):
        operations = 8 * 64 * 256
        one = amd_static.count_loop([self.kernel((operations, (8, 16, 8, 1)))], 256)
        two = amd_static.count_loop([self.kernel((operations, (8, 8, 0, 3)))], 512)
        two.share, two.waves = 0.25, 1
        both = one.plus(two)
        self.assertEqual((both.cycles, both.vector), (384, 5))
        self.assertEqual((both.share, both.waves), ((64 + 64) / 384, 1))
        self.assertEqual((both.branches, both.spills), (3, 8))

    def test_a_kernel_without_private_memory_is_better(self):
        operations = 8 * 64 * 256
        one = amd_static.count_loop([self.kernel((operations, (8, 16, 8, 1)))], 256)
        two = amd_static.count_loop([self.kernel((operations, (8, 99, 8, 1)))], 256)
        two.spills = 0
        self.assertLess(two.order, one.order)

    def test_counts_a_kernel(self):
        case = amd_static.Case("gfx942", 64, "causal", "f16")
        count = amd_static.count_ours(case, "tile = [64, 64], warps = 4")
        # Each wave reads all of K and V for 16 rows.
        self.assertEqual(count.spills, 0)
        wider = amd_static.count_ours(case, "tile = [128, 64], warps = 4")
        self.assertLess(wider.units["shared"], 0.75 * count.units["shared"])
        # Its MFMAs have 32 rows, not 16, and half of the depth.
        self.assertAlmostEqual(count.units["matrix"], 2 * wider.units["matrix"])


class Plot(unittest.TestCase):
    def test_panels(self):
        found = plot.panels(results())
        self.assertEqual(
            [[row.shape.length for row in rows] for rows in found.values()],
            [[1024, 4096], [1024]],
        )
        self.assertEqual(
            list(found)[0], ("forward", "D 128", "full", "bf16", "group of 1")
        )

    @unittest.skipIf(MATPLOTLIB, "there is matplotlib")
    def test_says_what_is_missing(self):
        done = run("--plot", "x.png")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a plot needs matplotlib", done.stderr)

    @unittest.skipUnless(MATPLOTLIB, "no matplotlib")
    def test_writes_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            saved, picture = Path(folder) / "r.json", Path(folder) / "p.png"
            results().save(saved)
            done = run("--plot-from", saved, "--plot", picture)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))


class Compilation(unittest.TestCase):
    def test_times_lie_beside_the_artifacts(self):
        spec = importlib.util.spec_from_file_location("benchmark", SCRIPT)
        benchmark = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(benchmark)

        def compile(self, variants, chip):
            return {v: "no" for v in variants if v.dtype == "f16"}

        one = shape(1024)
        two = Shape(1, 1, 1, 64, 64, 64, True, "f16", False)
        with tempfile.TemporaryDirectory() as folder, mock.patch(
            "tile.programs.Artifacts.compile", compile
        ), contextlib.redirect_stdout(io.StringIO()) as out:
            status = benchmark.compile_all(Path(folder), [one, two, one], "sm_90a")
            seconds = json.loads((Path(folder) / benchmark.SECONDS_FILE).read_text())
        self.assertEqual(status, 1)
        self.assertEqual(out.getvalue(), f"FAILED {two.forward_variant.name}: no\n")
        self.assertEqual(set(seconds), {s.forward_variant.name for s in (one, two)})
        self.assertTrue(all(value >= 0 for value in seconds.values()))


if __name__ == "__main__":
    unittest.main()
