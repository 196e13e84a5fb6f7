"""Tests that attention on AMD has no bank conflicts in shared memory."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python")]

from tile.programs import BackwardVariant, Variant

try:
    import numpy as np

    from tile.executor import Program
except ImportError:
    np = None

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1200", "gfx1201")
DIMENSIONS = (64, 80, 96, 128, 192, 256)

#: Queries and keys: two tiles or more of each kernel.
QUERIES, KEYS = 64, 256


def make_arguments(program, variant):
    """Returns zeros for all arguments; each tensor has one head."""
    shapes = {
        name: (1, KEYS if name in ("k", "v", "dk", "dv") else QUERIES, 1, variant.d)
        for name in ("q", "k", "v", "o", "do", "dq", "dk", "dv")
    }
    shapes["lse"] = (1, 1, QUERIES)
    scalars = {"scale": 0.1, "left": 100, "right": 0}
    scratch = program.scratch(shapes)
    types = {"f16": np.float16, "f32": np.float32}
    arguments = []
    for parameter in program.parameters:
        name = parameter.name
        if name in scalars:
            arguments.append(scalars[name])
        elif name in scratch:
            arguments.append(np.zeros(scratch[name].shape, np.float32))
        else:
            dtype = types["f32" if name == "lse" else variant.dtype]
            arguments.append(np.zeros(shapes[name], dtype))
    return arguments


@unittest.skipIf(np is None, "needs NumPy")
class BankConflictsTest(unittest.TestCase):
    def check(self, chip, variant, forward):
        with self.subTest(chip=chip, variant=variant.name):
            program = Program(
                variant.ir(), chip, checks=False, statistics=True, assertions=False
            )
            kernels = program(*make_arguments(program, forward), jobs=1)
            self.assertTrue(any(kernel.shared_sweeps for kernel in kernels))
            for kernel in kernels:
                self.assertEqual(kernel.bank_conflicts, 0, kernel.kernel)

    def test_forward(self):
        for i, chip in enumerate(CHIPS):
            for j, d in enumerate(DIMENSIONS):
                # The masks in turn.
                mask = (i + j) % 3
                forward = Variant(d, d, "f16", causal=mask == 1, window=mask == 2)
                self.check(chip, forward, forward)

    def test_backward(self):
        for i, chip in enumerate(CHIPS):
            for j, d in enumerate(DIMENSIONS):
                mask = (i + j) % 3
                forward = Variant(d, d, "f16", causal=mask == 1, window=mask == 2)
                self.check(chip, BackwardVariant(forward), forward)

    def test_gradient_of_queries_alone(self):
        for i, chip in enumerate(CHIPS):
            for j, d in enumerate(DIMENSIONS):
                mask = (i + j) % 3
                forward = Variant(d, d, "f16", causal=mask == 1, window=mask == 2)
                self.check(chip, BackwardVariant(forward, "kernel"), forward)


if __name__ == "__main__":
    unittest.main()
