"""Tests of the tuner, with a timer in place of a GPU."""

import contextlib
import io
import json
import math
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import tile
from tile import tune

GEMM = (ROOT / "examples" / "gemm.mlir").read_text()
SIZES = "a = 64x512, b = 512x256, c = 64x256"


class FakeTimer:
    """Gives the modules these times and results, in turn."""

    def __init__(self, *results):
        self.results = list(results)

    def __call__(self, module, kernels, sizes):
        assert kernels[0].name == "gemm" and sizes["a"] == (64, 512)
        us, value = self.results.pop(0)
        if isinstance(value, Exception):
            raise value
        return us, [numpy.array([value, 1.0])]


class TuneTest(unittest.TestCase):
    def test_candidates(self):
        found = tune.candidates(GEMM, "sm_90a", sizes=SIZES)
        self.assertEqual(len(found), 6)
        self.assertEqual(min(c.cycles for c in found), found[0].cycles)
        # They differ in their tiles, or in whether blocks share one.
        kinds = {(c.schedule.split("}")[0], "split" in c.schedule) for c in found}
        self.assertEqual(len(kinds), 6)
        some = tune.candidates(
            GEMM, "sm_90a", sizes=SIZES, schedule="stages = 2, params = {BK = 32}"
        )
        for candidate in some:
            self.assertRegex(
                candidate.schedule,
                r"^stages = 2, params = \{BK = 32, BM = \d+, BN = \d+\}, warps = \d+(, (cluster_)?split = \d+)?$",
            )
        # More of them follow in the model's order.
        more = tune.candidates(GEMM, "sm_90a", sizes=SIZES, count=15)
        self.assertEqual(more[:6], found)
        self.assertEqual(len({c.schedule for c in more}), 15)
        # Blocks share the iterations of long loops where there are few tiles.
        shared = tune.candidates(GEMM, "sm_90a", sizes="a = 64x7168, b = 7168x576")
        self.assertRegex(shared[0].schedule, r"split = \d+, order = plain(, work_stages = 0)?$")
        with self.assertRaisesRegex(tile.CompileError, "leaves no extents open"):
            tune.candidates((ROOT / "examples/softmax.mlir").read_text(), "sm_90a")

    def test_variants(self):
        found = [tune.Candidate(f"warps = {n}", n) for n in (4, 8)]
        self.assertEqual(tune.variants(found, 1), found[:1])
        chosen = tune.variants(found, 6)
        self.assertEqual(chosen[:2], found)
        self.assertEqual(chosen[2], tune.Candidate("warps = 4, stages = 2", None))
        self.assertEqual(len(chosen), 6)
        every = tune.variants([tune.Candidate("warps = 4, stages = 4", 1)], 100)
        self.assertEqual(len(every), 6)
        self.assertEqual(every[1].schedule, "warps = 4, stages = 2")
        self.assertIn("warps = 4, stages = 4, producers = 4", [c.schedule for c in every])

    def test_amd(self):
        with tempfile.TemporaryDirectory() as folder:
            found = tune.prepare(GEMM, folder, "gfx942", sizes=SIZES, count=3, jobs=2)
            self.assertEqual(len(found), 3)
            job = json.loads((Path(folder) / "job.json").read_text())
            for i, candidate in enumerate(job["candidates"]):
                self.assertEqual(candidate["error"], "")
                data = (Path(folder) / f"{i}.hsaco").read_bytes()
                self.assertTrue(data.startswith(b"\x7fELF"))
                self.assertTrue((Path(folder) / f"{i}.json").exists())
            # Another program has measured the code objects.
            results = [dict(schedule=c.schedule, cycles=c.cycles, us=us)
                       for c, us in zip(found, (3.0, 1.0, 2.0))]
            (Path(folder) / "results.json").write_text(json.dumps(results))
            self.assertEqual(tune.best(folder).schedule, found[1].schedule)

    def test_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            found = tune.prepare(GEMM, folder, "sm_90a", sizes=SIZES, count=6, jobs=2)
            job = json.loads((Path(folder) / "job.json").read_text())
            self.assertEqual(
                [c["schedule"] for c in job["candidates"]], [c.schedule for c in found]
            )
            timer = FakeTimer(
                (9, 1.0),
                (3, 1.5),  # another result
                (5, 1.001),
                (0, tile.DriverError("no memory")),
                (1, math.nan),
                (7, 1.0),
            )
            results = tune.measure(folder, timer=timer)
            self.assertEqual([r.us for r in results], [9, None, 5, None, None, 7])
            self.assertIn("differ by 0.5 from the first", results[1].error)
            self.assertIn("no memory", results[3].error)
            self.assertIn("its results are not finite", results[4].error)
            self.assertEqual(tune.best(folder), results[2])
            # Results that are not finite are nothing to compare with.
            timer = FakeTimer((9, math.nan), *[(n, 2.0) for n in (3, 5, 4, 6, 7)])
            again = tune.measure(folder, timer=timer)
            self.assertEqual([r.us for r in again], [None, 3, 5, 4, 6, 7])
            tune.measure(folder, timer=FakeTimer(*[(1, math.inf)] * 6))
            with self.assertRaisesRegex(tile.CompileError, "arguments without --sizes"):
                tune.best(folder)
            (Path(folder) / "results.json").write_text(
                json.dumps([r._asdict() for r in results])
            )
            out = io.StringIO()
            row = str(Path(folder) / "row.mlir")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                self.assertEqual(tune.main(["--best", folder, "--row", row]), 0)
            self.assertEqual(out.getvalue(), f"{found[2].schedule}\n5.0 us\n")
            self.assertIn(
                f'tile.kernel_row @gemm sizes "{SIZES}" use <{found[2].schedule}>\n',
                Path(row).read_text(),
            )
            # The schedule is one that the compiler reads.
            tile.translate(GEMM, "sm_90a", schedule=found[2].schedule)

    def test_rows(self):
        def compile_with(folder, **options):
            before = os.environ.get("TILE_SCHEDULES")
            os.environ["TILE_SCHEDULES"] = folder
            try:
                return tile.translate(GEMM, "sm_90a", **options).data
            finally:
                del os.environ["TILE_SCHEDULES"]
                if before is not None:
                    os.environ["TILE_SCHEDULES"] = before

        schedule = "params = {BM = 64, BN = 96, BK = 32}, warps = 4, stages = 3"
        expected = tile.translate(GEMM, "sm_90a", schedule=schedule).data
        self.assertNotEqual(tile.translate(GEMM, "sm_90a", sizes=SIZES).data, expected)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sm_90a.mlir"
            tune.write_row(path, "sm_90a", "gemm", SIZES, "params = {BM = 128}, warps = 8")
            tune.write_row(path, "sm_90a", "gemm", SIZES, schedule)
            tune.write_row(path, "sm_90a", "other", "a = 1", "params = {BM = 128}")
            self.assertEqual(
                path.read_text(),
                "// Schedules for sm_90a.\n"
                'tile.kernel_row @other sizes "a = 1" use <params = {BM = 128}>\n'
                f'tile.kernel_row @gemm sizes "{SIZES}" use <{schedule}>\n'
                'tile.include_schedules "sm_90a"\n',
            )
            self.assertEqual(compile_with(folder, sizes=SIZES), expected)
            self.assertNotEqual(compile_with(folder), expected)

    def test_nothing_runs(self):
        failure = (0, tile.DriverError("no memory"))
        with self.assertRaisesRegex(tile.CompileError, "no candidate ran: .*no memory"):
            timer = FakeTimer(*[failure] * 6)
            tune.tune(GEMM, "sm_90a", sizes=SIZES, count=6, jobs=2, timer=timer)

    def test_errors(self):
        with self.assertRaisesRegex(tile.ArgumentError, "expected 'argument = extents'"):
            tune.parse_sizes("a = 64x?")
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(tune.main([str(ROOT / "none.mlir"), "--sizes", SIZES]), 1)
        self.assertIn("error: ", err.getvalue())
        for wrong in (["--candidates", "0"], ["--chip", "gfx942"]):
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
                tune.main(["gemm.mlir", "--sizes", SIZES, *wrong])


if __name__ == "__main__":
    unittest.main()
