"""Tests of what the comparison of the executor with a GPU is made of."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

try:
    import numpy as np

    import agreement
except ImportError:
    np = None

import cases


@unittest.skipIf(np is None, "no NumPy")
class Agreement(unittest.TestCase):
    def test_every_kernel_is_there_once(self):
        rows = agreement.kernels()
        names = [case.variants[-1].name for _, case in rows]
        self.assertEqual(len(names), len(set(names)))
        grid = {v.name for case in cases.all_cases() for v in case.variants}
        self.assertEqual(set(names), grid)
        # The gradients of a variant are those of its forward pass.
        forward = {c.variant: seed for seed, c in rows if c.backward is None}
        for seed, case in rows:
            self.assertEqual(seed, forward[case.variant])

    def test_saves_what_kernels_compute(self):
        rows = [
            (seed, case)
            for seed, case in agreement.kernels()
            if case.variant.name == "attention-d64-f16-full"
        ]
        self.assertEqual(len(rows), 2)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(agreement.save(folder, "sm_80", 1, rows), 0)
            forward = np.load(agreement.path_of(folder, rows[0][1]))
            backward = np.load(agreement.path_of(folder, rows[1][1]))
            self.assertEqual(set(forward.files), {"o", "lse"})
            self.assertEqual(set(backward.files), {"dq", "dk", "dv"})
            for array in [*forward.values(), *backward.values()]:
                self.assertTrue(np.isfinite(array).all())
            self.assertEqual(backward["dq"].shape, (1, 77, 2, 64))
            for suffix in (".ptx", ".json"):
                self.assertTrue((folder / f"attention-d64-f16-full{suffix}").exists())


if __name__ == "__main__":
    unittest.main()
