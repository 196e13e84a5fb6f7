"""Tests of reading manifests.

Needs no GPU.
"""

import copy
import unittest
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tile
from launching import ATTENTION, LauncherTest
from tile.launcher import Module


class ManifestTest(LauncherTest):
    def assertMalformed(self, message, change):
        source = copy.deepcopy(ATTENTION)
        change(source, source["kernels"][0])
        with self.assertRaises(tile.ManifestError) as caught:
            self.module(source)
        self.assertEqual(str(caught.exception), message)

    def test_malformed(self):
        def grid(value):
            return lambda root, kernel: kernel.update(grid=[value, 1, 1])

        for message, change in (
            (
                "manifest version is 1, this package reads 2",
                lambda root, kernel: root.update(version=1),
            ),
            (
                "the CUDA driver loads ptx and cubin, not 'hsaco'",
                lambda root, kernel: root.update(kind="hsaco"),
            ),
            (
                "kernels[0]: has no field 'block'",
                lambda root, kernel: kernel.pop("block"),
            ),
            (
                "kernels: 'attention' appears twice",
                lambda root, kernel: root["kernels"].append(kernel),
            ),
            (
                "kernels[0].params: 'q' appears twice",
                lambda root, kernel: kernel["params"][1].update(name="q"),
            ),
            (
                "kernels[0].params[1].kind: 'image' is neither 'scalar' nor 'buffer'",
                lambda root, kernel: kernel["params"][1].update(kind="image"),
            ),
            (
                "kernels[0].params[0].type: 'f8' is not one of f16, bf16, f32, f64,"
                " i8, i32, i64",
                lambda root, kernel: kernel["params"][0].update(type="f8"),
            ),
            (
                "kernels[0].params[0].strides: expected 4 items, got 1",
                lambda root, kernel: kernel["params"][0].update(strides=[1]),
            ),
            (
                "kernels[0].params[0].stride_divisibility[0]: expected an integer of"
                " at least 1, got 0",
                lambda root, kernel: kernel["params"][0].update(
                    stride_divisibility=[0, 8, 8, 1]
                ),
            ),
            ("kernels[0].grid[0]: parameter 2 is not a buffer", grid(["dim", 2, 0])),
            ("kernels[0].grid[0]: parameter 0 has no dimension 4", grid(["dim", 0, 4])),
            (
                "kernels[0].grid[0]: parameter 2 is not an integer scalar",
                grid(["arg", 2]),
            ),
            (
                "kernels[0].grid[0]: ['pow', 2, 2] is not an expression",
                grid(["pow", 2, 2]),
            ),
            ("kernels[0].grid[0][1]: expected a list, got 'x'", grid(["add", "x", 2])),
        ):
            with self.subTest(message):
                self.assertMalformed(message, change)

    def test_not_json(self):
        with self.assertRaisesRegex(tile.ManifestError, "manifest is not JSON"):
            Module(b"", "{", self.driver)


if __name__ == "__main__":
    unittest.main()
