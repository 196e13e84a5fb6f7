"""Tests of requirements on extents, of scratch sizes and of the grid.

Needs no GPU.
"""

import ctypes
import unittest
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tile
from fakes import FakeTensor
from launching import LauncherTest, buffer, manifest
from tile import compiler, native
from tile import manifest as manifest_module
from tile.programs import BackwardVariant, Variant
from tile.scratch import Scratch, scratch_buffers


class StorageTest(LauncherTest):
    """Buffers whose elements the kernel permutes."""

    BLOCKS = buffer("acc", type="f32", rank=2, storage=["mul", ["ceildiv", ["dim", 0, 0], 8], 1024])
    for field in ("strides", "stride_divisibility"):
        del BLOCKS[field]

    def test_passes_pointer_and_extents(self):
        self.module(manifest([self.BLOCKS])).launch(
            FakeTensor((256, 128), dtype="float32")
        )
        (launch,) = self.cuda.launches
        self.assertEqual(launch.unpack("@Pq"), (1 << 40, 256))

    def test_refuses_what_is_shorter_than_its_blocks(self):
        self.assertRefused(
            "argument 0 'acc': spans 32000 elements, must span 32768: its layout"
            " stores whole blocks",
            self.module(manifest([self.BLOCKS])),
            FakeTensor((250, 128), dtype="float32"),
        )

    def test_nothing_is_stored_of_an_empty_tensor(self):
        self.module(manifest([self.BLOCKS])).launch(
            FakeTensor((0, 128), dtype="float32")
        )


class GridTest(LauncherTest):
    PARAMS = [
        buffer("x", rank=2, strides=[None, 1], shape=[None, None]),
        {"kind": "scalar", "name": "n", "type": "index"},
    ]

    def grid(self, *grid, shape=(20, 3), n=7):
        padded = list(grid) + [1] * (3 - len(grid))
        self.module(manifest(self.PARAMS, padded)).launch(
            FakeTensor(shape, strides=(8, 1)), n
        )
        return self.cuda.launches[-1].grid[: len(grid)]

    def test_operators(self):
        rows, n = ["dim", 0, 0], ["arg", 1]
        self.assertEqual(self.grid(["add", rows, n], ["sub", rows, n]), (27, 13))
        self.assertEqual(self.grid(["mul", rows, n], ["mod", rows, n]), (140, 6))
        self.assertEqual(
            self.grid(["floordiv", rows, n], ["ceildiv", rows, n]), (2, 3)
        )
        self.assertEqual(self.grid(["min", rows, n], ["max", rows, n]), (7, 20))
        self.assertEqual(self.grid(["ceildiv", 21, 7], ["ceildiv", 22, 7]), (3, 4))
        self.assertEqual(self.grid(["mul", ["add", rows, 1], ["dim", 0, 1]]), (63,))

    def test_scalar_changes_the_grid_of_a_known_layout(self):
        module = self.module(manifest(self.PARAMS, [["arg", 1], 1, 1]))
        x = FakeTensor((4, 8))
        for n in (1, 5):
            module.launch(x, n)
        self.assertEqual([launch.grid[0] for launch in self.cuda.launches], [1, 5])

    def test_empty_grid_launches_nothing(self):
        module = self.module(manifest(self.PARAMS, [["dim", 0, 0], 1, 1]))
        module.launch(FakeTensor((0, 8), pointer=0), 1)
        self.assertEqual(self.cuda.launches, [])

    def test_grid_follows_the_multiprocessors(self):
        grid = [["min", ["arg", 1], ["multiprocessors"]], 1, 1]
        module = self.module(manifest(self.PARAMS, grid))
        for n in (5, 1000):
            module.launch(FakeTensor((4, 8)), n)
        self.assertEqual([launch.grid[0] for launch in self.cuda.launches], [5, 114])

    def test_limits(self):
        x = FakeTensor((20, 3), strides=(8, 1))
        self.assertRefused(
            "kernel: grid extent y is 70000, must be between 0 and 65535",
            self.module(manifest(self.PARAMS, [1, ["arg", 1], 1])), x, 70000,
        )  # fmt: skip
        self.assertRefused(
            "kernel: grid extent x is -5, must be between 0 and 2147483647",
            self.module(manifest(self.PARAMS, [["arg", 1], 1, 1])), x, -5,
        )  # fmt: skip
        self.assertRefused(
            "an expression of the manifest divides 20 by zero",
            self.module(
                manifest(self.PARAMS, [["ceildiv", ["dim", 0, 0], ["arg", 1]], 1, 1])
            ), x, 0,
        )  # fmt: skip


class RequirementTest(LauncherTest):
    PARAMS = [
        buffer("a", type="f32", rank=2, last=None),
        buffer("b", type="f32", rank=2, last=None),
        {"kind": "scalar", "name": "n", "type": "index"},
    ]

    def requirement(self, relation, value, **fields):
        return {
            "argument": 1,
            "dim": 0,
            "relation": relation,
            "value": value,
            "reason": "as a says",
            **fields,
        }

    def require(self, *requirements):
        return self.module(manifest(self.PARAMS, requires=list(requirements)))

    def test_each_relation(self):
        rows = ["add", ["dim", 0, 0], ["arg", 2]]
        for relation, good, bad, words in (
            ("equal", (6,), (5, 7, 12), "must be 6"),
            ("at_least", (6, 7), (0, 5), "must be at least 6"),
            ("at_most", (0, 6), (7,), "must be at most 6"),
            ("multiple_of", (0, 6, 12), (3, 7), "must be a multiple of 6"),
        ):
            module = self.require(self.requirement(relation, rows))
            a = FakeTensor((4, 8), dtype="float32")
            for extent in good:
                module.launch(a, FakeTensor((extent, 8), dtype="float32"), 2)
            self.cuda.launches.clear()
            for extent in bad:
                self.assertRefused(
                    f"argument 1 'b': extent 0 is {extent}, {words}: as a says",
                    module, a, FakeTensor((extent, 8), dtype="float32"), 2,
                )  # fmt: skip

    def test_only_zero_is_a_multiple_of_zero(self):
        module = self.require(self.requirement("multiple_of", ["dim", 0, 0]))
        empty = FakeTensor((0, 8), dtype="float32")
        module.launch(empty, empty, 0)
        self.cuda.launches.clear()
        self.assertRefused(
            "argument 1 'b': extent 0 is 4, must be a multiple of 0: as a says",
            module, empty, FakeTensor((4, 8), dtype="float32"), 0,
        )  # fmt: skip

    def test_a_scalar_is_checked_again_with_layouts_seen_before(self):
        module = self.require(self.requirement("at_least", ["arg", 2]))
        a = FakeTensor((4, 8), dtype="float32")
        module.launch(a, a, 4)
        self.cuda.launches.clear()
        self.assertRefused(
            "argument 1 'b': extent 0 is 4, must be at least 5: as a says",
            module, a, a, 5,
        )  # fmt: skip

    def test_malformed_ones_are_refused(self):
        good = self.requirement("equal", 1)
        for fields, message in (
            ({"argument": 2}, "kernels[0].requires[0]: parameter 2 is not a buffer"),
            ({"argument": 9}, "kernels[0].requires[0]: parameter 9 is not a buffer"),
            ({"dim": 2}, "kernels[0].requires[0]: parameter 1 has no dimension 2"),
            (
                {"relation": "less"},
                "kernels[0].requires[0].relation: 'less' is not one of equal,"
                " at_least, at_most, multiple_of",
            ),
            (
                {"value": ["arg", 0]},
                "kernels[0].requires[0].value: parameter 0 is not an integer scalar",
            ),
            ({"reason": 1}, "kernels[0].requires[0].reason: expected a name, got 1"),
        ):
            with self.assertRaises(tile.ManifestError) as caught:
                self.require({**good, **fields})
            self.assertEqual(str(caught.exception), message)


class ScratchTest(LauncherTest):
    """Shapes of buffers that only the manifest knows."""

    PARAMS = [
        buffer("x", type="f32", rank=2, last=None),
        buffer("scratch", type="f32", rank=3, last=4),
        {"kind": "scalar", "name": "n", "type": "index"},
    ]
    EXTENTS = [["add", ["dim", "x", 1], ["arg", "n"]], ["mul", ["dim", "x", 0], 2], 4]

    def module_with(self, *shapes):
        return self.module({**manifest(self.PARAMS), "shapes": list(shapes)})

    def test_expressions_name_their_parameters(self):
        module = self.module_with({"name": "scratch", "extents": self.EXTENTS})
        found = module.scratch({"x": (77, 3)}, {"n": 2})
        self.assertEqual(found, {"scratch": ("f32", (5, 154, 4))})

    def test_buffers_that_depend_on_each_other(self):
        module = self.module_with(
            {"name": "x", "extents": [7, 3]},
            {"name": "scratch", "extents": self.EXTENTS},
        )
        self.assertEqual(module.scratch({}, {"n": 2})["scratch"].shape, (5, 14, 4))
        # The shape that the caller gives counts.
        found = module.scratch({"x": (8, 3)}, {"n": 2})
        self.assertEqual(found, {"scratch": ("f32", (5, 16, 4))})

    def test_what_is_missing(self):
        module = self.module_with({"name": "scratch", "extents": self.EXTENTS})
        for shapes, scalars, message in (
            ({}, {"n": 2}, "the shape of 'scratch' depends on 'x', which is not given"),
            ({"x": (7, 3)}, {}, "the shape of 'scratch' depends on 'n', which is not given"),
        ):
            with self.assertRaises(tile.ManifestError) as caught:
                module.scratch(shapes, scalars)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaises(tile.ManifestError) as caught:
            self.module_with().scratch({"x": (7, 3)})
        self.assertEqual(
            str(caught.exception), "the manifest does not determine the shape of 'scratch'"
        )

    def test_malformed_ones_are_refused(self):
        for entry, message in (
            ({"name": "y", "extents": []}, "shapes[0].name: parameter 'y' is not a buffer"),
            ({"name": "n", "extents": []}, "shapes[0].name: parameter 'n' is not a buffer"),
            ({"name": "x"}, "shapes[0]: has no field 'extents'"),
            ({"name": "x", "extents": [1]}, "shapes[0].extents: expected 2 items, got 1"),
            (
                {"name": "x", "extents": [1, ["dim", "n", 0]]},
                "shapes[0].extents[1]: parameter 'n' is not a buffer",
            ),
            (
                {"name": "x", "extents": [1, ["arg", "x"]]},
                "shapes[0].extents[1]: parameter 'x' is not an integer scalar",
            ),
            (
                {"name": "x", "extents": [1, ["dim", 1, 0]]},
                "shapes[0].extents[1][1]: expected a name, got 1",
            ),
        ):
            with self.assertRaises(tile.ManifestError) as caught:
                self.module_with(entry)
            self.assertEqual(str(caught.exception), message)
        entry = {"name": "x", "extents": [1, 1]}
        with self.assertRaises(tile.ManifestError) as caught:
            self.module_with(entry, entry)
        self.assertEqual(str(caught.exception), "shapes: 'x' appears twice")


class Argument(ctypes.Structure):
    """TileLaunchArgument of tile-c/Launch.h."""

    _fields_ = [
        ("type", ctypes.c_char_p),
        ("address", ctypes.c_uint64),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("is_real", ctypes.c_int),
        ("real", ctypes.c_double),
        ("integer", ctypes.c_int64),
    ]


class FoundScratch(ctypes.Structure):
    """TileLaunchScratch of tile-c/Launch.h."""

    _fields_ = [
        ("type", ctypes.c_char * 8),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.c_int64 * 8),
    ]


class ScratchInCTest(unittest.TestCase):
    """C finds the same buffers in a manifest."""

    def setUp(self):
        path = native.find().parent / "libTileLaunchC.so"
        if not path.is_file():
            self.skipTest(f"no {path}")
        self.library = ctypes.CDLL(str(path))

    def find(self, manifest, name, shapes, scalars):
        arguments = []
        for shape in shapes.values():
            extents = (ctypes.c_int64 * len(shape))(*shape)
            arguments.append(Argument(b"f32", 0, len(shape), extents, None))
        arguments += [Argument(integer=number) for number in scalars.values()]
        names = [given.encode() for given in (*shapes, *scalars)]
        found, message = FoundScratch(), ctypes.create_string_buffer(256)
        status = self.library.tileFindScratch(
            manifest.encode(), name.encode(), (ctypes.c_char_p * len(names))(*names),
            (Argument * len(arguments))(*arguments), ctypes.c_size_t(len(arguments)),
            ctypes.byref(found), message,
        )  # fmt: skip
        self.assertEqual((status, message.value), (0, b""))
        return Scratch(found.type.decode(), tuple(found.shape[: found.rank]))

    def test_gradients_of_attention(self):
        for chip, kind, packed, dq, kv, d in (
            ("sm_90a", "ptx", False, "atomic", "separate", 64),
            ("sm_90a", "ptx", True, "atomic", "atomic", 128),
            ("sm_80", "ptx", True, "kernel", "separate", 96),
            ("gfx942", "hsaco", False, "atomic", "separate", 64),
        ):
            forward = Variant(d, d, "f16", packed=packed)
            program = BackwardVariant(forward, dq, kv).ir()
            text = compiler.translate(program, chip, kind).manifest
            batch = () if packed else (2,)
            q, k = (*batch, 77, 4, d), (*batch, 130, 2, d)
            shapes = {
                **dict.fromkeys(("q", "o", "do", "dq"), q),
                **dict.fromkeys(("k", "v", "dk", "dv"), k),
                "lse": (4, 77) if packed else (2, 4, 77),
            }
            scalars = {}
            if packed:
                shapes.update(cu_q=(4,), cu_k=(4,))
                scalars.update(max_q=50, max_k=90)
            buffers = scratch_buffers(manifest_module.parse(text), shapes, scalars)
            self.assertIn("stats", buffers)
            for name, scratch in buffers.items():
                self.assertEqual(self.find(text, name, shapes, scalars), scratch, name)


if __name__ == "__main__":
    unittest.main()
