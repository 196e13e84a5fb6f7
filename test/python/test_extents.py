"""Attention on the executor: extents of 0, and grids of any size.

Needs NumPy and the executor's library, as test_executor.py does.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Integration"))

try:
    import numpy as np
except ImportError:
    np = None

import tile
from tile.executor import Program
from tile.manifest import evaluate
from tile.programs import BackwardVariant, Variant

#: (batch, query heads, key heads, queries, keys): each extent is 0 once.
EMPTY = (
    (2, 2, 1, 5, 0),
    (2, 2, 1, 0, 5),
    (0, 2, 1, 5, 5),
    (2, 0, 1, 5, 5),
    (2, 2, 1, 0, 0),
)


def halves(shape, fill=1.0):
    """An f16 array that begins at a multiple of 16 bytes."""
    array = np.full(shape, fill, np.float16)
    if array.ctypes.data % 16 == 0:
        return array
    memory = np.empty(array.nbytes + 16, np.uint8)
    start = -memory.ctypes.data % 16
    copy = memory[start : start + array.nbytes].view(np.float16).reshape(shape)
    copy[...] = fill
    return copy


def floats(shape):
    return np.full(shape, np.nan, np.float32)


@unittest.skipIf(np is None, "needs NumPy")
class ExtentTest(unittest.TestCase):
    def chips(self):
        return tile.chips()

    def inputs(self, batch, heads, kv_heads, sq, sk, packed=False):
        """q, k, v, o and lse."""
        lead = () if packed else (batch,)
        q, k, v = (
            halves((*lead, rows, count, 64))
            for rows, count in ((sq, heads), (sk, kv_heads), (sk, kv_heads))
        )
        lse = floats((*lead, heads, sq))
        return {"q": q, "k": k, "v": v, "o": halves(q.shape, np.nan), "lse": lse}

    def gradients(self, program, inputs):
        """do, the gradients and scratch memory."""
        arguments = {"do": halves(inputs["o"].shape)}
        for name in "qkv":
            arguments["d" + name] = halves(inputs[name].shape, np.nan)
        given = {**inputs, **arguments}
        shapes = {name: given[name].shape for name in given if name != "scale"}
        for name, buffer in program.scratch(shapes).items():
            arguments[name] = floats(buffer.shape)
        return arguments

    def run_program(self, program, arguments):
        names = [parameter.name for parameter in program.parameters]
        program(**{name: arguments[name] for name in names})

    def check_forward(self, inputs):
        self.assertTrue((inputs["o"] == 0).all())
        self.assertTrue(np.isneginf(inputs["lse"]).all())

    def test_empty(self):
        for chip in self.chips():
            for causal in (False, True):
                forward = Variant(64, 64, "f16", causal=causal)
                program = Program(forward.ir(), chip)
                sums = ("atomic", "loop") if causal else ("kernel", "separate")
                backward = Program(BackwardVariant(forward, *sums).ir(), chip)
                for extents in EMPTY:
                    with self.subTest(chip=chip, causal=causal, extents=extents):
                        inputs = dict(self.inputs(*extents), scale=0.125)
                        self.run_program(program, inputs)
                        self.check_forward(inputs)
                        results = self.gradients(backward, inputs)
                        self.run_program(backward, {**inputs, **results})
                        for name in ("dq", "dk", "dv"):
                            self.assertTrue((results[name] == 0).all(), name)

    def test_packed_without_keys(self):
        for chip in self.chips():
            program = Program(Variant(64, 64, "f16", packed=True).ir(), chip)
            with self.subTest(chip=chip):
                inputs = self.inputs(0, 2, 1, 5, 0, packed=True)
                bounds = {
                    "cu_q": np.array([0, 3, 5], np.int32),
                    "cu_k": np.zeros(3, np.int32),
                    "max_q": 5,
                }
                self.run_program(program, {**inputs, **bounds, "scale": 0.125})
                self.check_forward(inputs)

    def test_many_heads_and_sequences(self):
        """All blocks lie along x: y and z end at 65535."""
        forward = Variant(64, 64, "f16")
        backward = BackwardVariant(forward, "kernel", "separate")
        for variant in (forward, backward):
            program = Program(variant.ir(), "sm_80")
            for batch, heads in ((65537, 1), (1, 65537)):
                rows, scores = (batch, 1, heads, 64), (batch, heads, 1)
                shapes = {name: rows for name in ("q", "k", "v", "o", "do")}
                shapes.update(dq=rows, dk=rows, dv=rows, lse=scores)
                names = {parameter.name for parameter in program.parameters}
                shapes = {n: shape for n, shape in shapes.items() if n in names}
                scratch = program.scratch(shapes)
                shapes.update({n: buffer.shape for n, buffer in scratch.items()})
                for kernel in program.manifest.kernels:
                    places = {
                        i: shapes[parameter.name]
                        for i, parameter in enumerate(kernel.params)
                        if parameter.name in shapes
                    }
                    grid = [evaluate(e, places, {}, 108) for e in kernel.grid]
                    with self.subTest(kernel=kernel.name, batch=batch, heads=heads):
                        self.assertGreaterEqual(grid[0], 65537)
                        self.assertEqual(grid[1:], [1, 1])

    def test_persistent_grids(self):
        """A persistent kernel writes the same bits on a grid of any size, with
        pairs and without."""
        generator = np.random.default_rng(7)
        for d, causal, blocks in ((128, True, 5), (128, True, 4), (256, True, 3), (128, False, 3)):
            program = Program(Variant(d, d, "f16", causal=causal).ir(), "sm_90a")
            shape = (1, 128 * blocks - 7, 3, d)
            q, k, v = (halves(shape) for _ in range(3))
            for tensor in (q, k, v):
                tensor[...] = generator.standard_normal(shape)
            expected = None
            all_blocks = 3 * blocks
            for grid in (None, 1, 2, 4, 7, 8, 9, 11, 14, all_blocks):
                if grid is not None and grid > all_blocks:
                    continue
                with self.subTest(d=d, causal=causal, blocks=blocks, grid=grid):
                    o, lse = halves(shape, np.nan), floats((1, 3, shape[1]))
                    extents = None if grid is None else (grid, 1, 1)
                    program(q, k, v, o, lse, 0.1, grid=extents)
                    found = (o.tobytes(), lse.tobytes())
                    self.assertFalse(np.isnan(o).any())
                    expected = expected or found
                    self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main()
