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
    """Sizes of buffers that only the manifest knows."""

    X = buffer("x", type="f32", rank=2, last=None)
    SCRATCH = buffer("scratch", type="f32", rank=3, last=4)
    N = {"kind": "scalar", "name": "n", "type": "index"}

    def requirement(self, dim, relation, value, argument=1):
        return {
            "argument": argument,
            "dim": dim,
            "relation": relation,
            "value": value,
            "reason": "as x says",
        }

    def scratch(self, *requirements, param=None, shape=(77, 3), **scalars):
        params = [self.X, param or self.SCRATCH, self.N]
        module = self.module(manifest(params, requires=list(requirements)))
        return module.scratch({"x": shape}, scalars)["scratch"]

    def test_each_relation(self):
        rows, columns = ["dim", 0, 0], ["dim", 0, 1]
        self.assertEqual(
            self.scratch(
                self.requirement(0, "equal", ["add", columns, ["arg", 2]]),
                self.requirement(1, "at_least", rows),
                self.requirement(1, "multiple_of", 16),
                self.requirement(1, "at_most", 1 << 30),
                n=2,
            ),
            ("f32", (5, 80, 4)),
        )

    def test_extents_that_depend_on_each_other(self):
        found = self.scratch(
            self.requirement(0, "at_least", ["mul", ["dim", 1, 1], 2]),
            self.requirement(0, "at_least", 9),
            self.requirement(1, "equal", ["dim", 0, 1]),
        )
        self.assertEqual(found.shape, (9, 3, 4))

    def test_all_kernels_count(self):
        source = manifest(
            [self.X, self.SCRATCH],
            requires=[
                self.requirement(0, "equal", 2),
                self.requirement(1, "at_least", ["dim", 0, 1]),
            ],
        )
        second = manifest(
            [self.SCRATCH, self.X],
            name="second",
            requires=[self.requirement(1, "at_least", ["dim", 1, 0], argument=0)],
        )
        source["kernels"] += second["kernels"]
        found = self.module(source).scratch({"x": (77, 3)})
        # 77 rows, and one more for a stride that is a multiple of 8.
        self.assertEqual(found["scratch"].shape, (2, 78, 4))

    def test_permuted_elements_take_whole_blocks(self):
        # Blocks of 8 rows of 4 elements, for each of the first dimension.
        blocks = ["mul", ["dim", 1, 0], ["mul", ["ceildiv", ["dim", 1, 1], 8], 32]]
        param = {**self.SCRATCH, "storage": blocks}
        del param["strides"], param["stride_divisibility"]
        needs = (
            self.requirement(0, "equal", 2),
            self.requirement(1, "at_least", ["dim", 0, 0]),
        )
        self.assertEqual(self.scratch(*needs, param=param).shape, (2, 80, 4))
        empty = self.scratch(*needs, param=param, shape=(0, 3))
        self.assertEqual(empty.shape, (2, 0, 4))

    def test_layout_that_no_extent_suits(self):
        # Rows of 4 elements take the memory of 6.
        param = {**self.SCRATCH, "storage": ["mul", ["dim", 1, 0], ["mul", ["dim", 1, 1], 6]]}
        del param["strides"], param["stride_divisibility"]
        needs = (
            self.requirement(0, "equal", 2),
            self.requirement(1, "at_least", ["dim", 0, 0]),
        )
        with self.assertRaisesRegex(
            tile.ManifestError,
            "the layout of 'scratch' needs more elements than its shape has, whatever"
            " extent 1 is",
        ):
            self.scratch(*needs, param=param)

    def test_strides_have_their_divisors(self):
        # A dense [2, R, 3] buffer has the strides 3 R and 3.
        param = buffer(
            "scratch", type="f32", rank=3, last=3, stride_divisibility=[4, 1, 1]
        )
        needs = (
            self.requirement(0, "equal", 2),
            self.requirement(1, "at_least", ["dim", 0, 0]),
        )
        self.assertEqual(self.scratch(*needs, param=param).shape, (2, 80, 3))
        # An extent that must be equal to another cannot grow.
        fixed = (needs[0], self.requirement(1, "equal", ["dim", 0, 0]))
        self.assertEqual(self.scratch(*fixed, param=param).shape, (2, 77, 3))

    def test_extents_that_nothing_determines(self):
        for requirements in (
            [self.requirement(0, "equal", 1)],
            [self.requirement(0, "equal", 1), self.requirement(1, "at_most", 9)],
            [
                self.requirement(0, "equal", ["dim", 1, 1]),
                self.requirement(1, "equal", ["dim", 1, 0]),
            ],
            [
                self.requirement(0, "equal", 1),
                self.requirement(1, "equal", ["arg", 2]),
            ],
        ):
            with self.assertRaisesRegex(
                tile.ManifestError, "does not determine extent [01] of 'scratch'"
            ):
                self.scratch(*requirements)


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
