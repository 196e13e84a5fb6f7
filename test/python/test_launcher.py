"""Tests of loading, argument checks and launches, against a fake driver.

Run with `python -m unittest discover -s test/python`; needs no GPU.
"""

import copy
import json
import math
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tile
from tile import compiler
from tile.launcher import Module
from fakes import FakeArray, FakeTensor
from launching import ATTENTION, LauncherTest, buffer, manifest




class PackingTest(LauncherTest):
    def test_packs_pointer_then_dynamic_extents_then_dynamic_strides(self):
        module = self.module(ATTENTION)
        q = FakeTensor((2, 300, 6, 128), strides=(300 * 768, 768, 128, 1))
        o = FakeTensor(
            (2, 300, 6, 128), strides=(6 * 512 * 128, 128, 512 * 128, 1),
            pointer=(1 << 40) + 4096,
        )
        module["attention"](q, o, 0.5)
        (launch,) = self.cuda.launches
        self.assertEqual(
            launch.unpack("@P6qP6qf"),
            (
                1 << 40, 2, 300, 6, 230400, 768, 128,
                (1 << 40) + 4096, 2, 300, 6, 393216, 128, 65536,
                0.5,
            ),
        )  # fmt: skip
        self.assertEqual(launch.function, "attention")
        self.assertEqual(launch.grid, (3, 6, 2))
        self.assertEqual(launch.block, (128, 1, 1))
        self.assertEqual(launch.shared_bytes, 98304)

    def test_scalars_of_each_type(self):
        module = self.module(
            manifest(
                [
                    {"kind": "scalar", "name": "a", "type": "i32"},
                    {"kind": "scalar", "name": "b", "type": "index"},
                    {"kind": "scalar", "name": "c", "type": "f32"},
                    {"kind": "scalar", "name": "d", "type": "i64"},
                ]
            )
        )
        module.launch(-3, 1 << 40, 0.25, -(1 << 40))
        (launch,) = self.cuda.launches
        self.assertEqual(launch.unpack("=iqfq"), (-3, 1 << 40, 0.25, -(1 << 40)))

    def test_narrow_scalars(self):
        types = ("f16", "bf16", "i1", "f64", "bf16")
        module = self.module(
            manifest(
                [
                    {"kind": "scalar", "name": f"p{i}", "type": type}
                    for i, type in enumerate(types)
                ]
            )
        )
        # Between two neighbours, ties go to the even one.
        module.launch(1 + 2**-11, 1 + 2**-8, True, 0.1, 1 + 3 * 2**-8)
        module.launch(1 + 3 * 2**-11, -0.0, 0, 0.1, 2.0**-133)
        module.launch(math.inf, math.inf, False, -math.inf, -math.inf)
        module.launch(math.nan, math.nan, 1, math.nan, 2.0**-134)
        unpacked = [launch.unpack("=eH?dH") for launch in self.cuda.launches]
        self.assertEqual(unpacked[0], (1.0, 0x3F80, True, 0.1, 0x3F82))
        self.assertEqual(unpacked[1], (1 + 2**-9, 0x8000, False, 0.1, 0x0001))
        self.assertEqual(unpacked[2], (math.inf, 0x7F80, False, -math.inf, 0xFF80))
        half, bf16, flag, double, least = unpacked[3]
        self.assertTrue(math.isnan(half) and math.isnan(double) and flag)
        self.assertEqual((bf16, least), (0x7FC0, 0))

    def test_resident_programs(self):
        module = self.module(ATTENTION)
        kernel = module["attention"]
        threads = kernel.spec.block[0]
        self.assertEqual(kernel.count_resident(), 114 * (2048 // threads))
        self.cuda.cluster_width = 8
        self.assertEqual(kernel.count_resident(0), 16)

    def test_layouts_seen_before_still_pass_new_addresses_and_scalars(self):
        module = self.module(ATTENTION)
        for i in range(3):
            pointer = (1 << 40) + 256 * i
            q = FakeTensor((1, 8, 1, 128), pointer=pointer)
            module.launch(q, q, float(i))
            values = self.cuda.launches[i].unpack("@P6qP6qf")
            self.assertEqual((values[0], values[7], values[14]), (pointer, pointer, i))
        self.assertEqual(len(module._launcher._prepared), 1)

    def test_layouts_seen_before_are_checked_for_alignment_again(self):
        module = self.module(ATTENTION)
        good = FakeTensor((1, 8, 1, 128))
        module.launch(good, good, 1.0)
        self.cuda.launches.clear()
        self.assertRefused(
            "argument 1 'o': address 0x10000000008 must be aligned to 16 bytes",
            module, good, FakeTensor((1, 8, 1, 128), pointer=(1 << 40) + 8), 1.0,
        )  # fmt: skip

    def test_unused_stride_is_replaced_by_a_divisible_one(self):
        module = self.module(ATTENTION)
        q = FakeTensor((1, 8, 1, 128), strides=(1001, 128, 3, 1))
        module.launch(q, q, 1.0)
        values = self.cuda.launches[0].unpack("@P6qP6qf")
        self.assertEqual(values[4:7], (1008, 128, 8))

    def test_unused_static_stride_is_free(self):
        module = self.module(manifest([buffer("x", rank=2, last=1)]))
        module.launch(FakeTensor((4, 1), strides=(8, 77)))
        self.assertEqual(len(self.cuda.launches), 1)

    def test_arguments_by_name(self):
        module = self.module(ATTENTION)
        q = FakeTensor((1, 8, 1, 128))
        module.launch(q, scale=2.0, o=q)
        module["attention"](scale=3.0, o=q, q=q)
        scales = [launch.unpack("@P6qP6qf")[-1] for launch in self.cuda.launches]
        self.assertEqual(scales, [2.0, 3.0])

    def test_array_interface_strides_are_bytes(self):
        module = self.module(ATTENTION)
        contiguous = FakeArray((1, 8, 2, 128))
        strided = FakeArray((1, 8, 2, 128), strides=(4096, 256, 2048, 2))
        module.launch(contiguous, strided, 1.0)
        values = self.cuda.launches[0].unpack("@P6qP6qf")
        self.assertEqual(values[1:7], (1, 8, 2, 2048, 256, 128))
        self.assertEqual(values[8:14], (1, 8, 2, 2048, 128, 1024))

    def test_bfloat16(self):
        module = self.module(manifest([buffer("x", type="bf16")]))
        module.launch(FakeTensor((1, 1, 1, 128), dtype="bfloat16"))
        array = FakeArray((1, 1, 1, 128), typestr="<V2")
        array.dtype = types.SimpleNamespace(name="bfloat16")
        module.launch(array)
        self.assertEqual(len(self.cuda.launches), 2)


class ArgumentCheckTest(LauncherTest):
    def refuse(self, message, q=None, o=None, scale=1.0):
        good = FakeTensor((2, 16, 4, 128))
        q = good if q is None else q
        o = good if o is None else o
        self.assertRefused(message, self.module(ATTENTION), q, o, scale)

    def test_count(self):
        module = self.module(ATTENTION)
        q = FakeTensor((2, 16, 4, 128))
        self.assertRefused(
            "attention: expected 3 arguments (q, o, scale), got 2", module, q, q
        )
        self.assertRefused(
            "attention: expected 3 arguments (q, o, scale), got 4", module, q, q, 1, 1
        )
        with self.assertRaisesRegex(tile.ArgumentError, "expected 3 .* got 0"):
            module["attention"]()

    def test_names(self):
        module = self.module(ATTENTION)
        q = FakeTensor((2, 16, 4, 128))
        self.assertRefused(
            "attention: no argument 'mask', there are: q, o, scale",
            module, q, q, 1.0, mask=q,
        )  # fmt: skip
        self.assertRefused(
            "attention: argument 'q' is given twice", module, q, q, q=q
        )

    def test_type(self):
        self.refuse(
            "argument 0 'q': type is f32, must be f16",
            FakeTensor((2, 16, 4, 128), dtype="float32"),
        )
        self.refuse(
            "argument 1 'o': type is f64, must be f16",
            o=FakeTensor((2, 16, 4, 128), dtype="float64"),
        )
        self.refuse(
            "argument 0 'q': type is f64, must be f16",
            FakeArray((2, 16, 4, 128), typestr="<f8", strides=(8, 8, 8, 8)),
        )

    def test_rank(self):
        self.refuse(
            "argument 0 'q': rank is 3, must be 4", FakeTensor((16, 4, 128))
        )

    def test_large_extent(self):
        self.refuse(
            "argument 0 'q': extent 1 is 2147483648, must be below 2^31",
            FakeTensor((2, 2**31, 4, 128)),
        )

    def test_static_extent(self):
        self.refuse(
            "argument 0 'q': extent 3 is 64, must be 128", FakeTensor((2, 16, 4, 64))
        )

    def test_static_stride(self):
        self.refuse(
            "argument 1 'o': stride 3 is 2, must be 1",
            o=FakeTensor((2, 16, 4, 128), strides=(32768, 2048, 512, 2)),
        )

    def test_stride_divisibility(self):
        self.refuse(
            "argument 0 'q': stride 1 is 129, must be divisible by 8",
            FakeTensor((2, 16, 4, 128), strides=(65536, 129, 4096, 1)),
        )

    def test_stride_limits(self):
        limits = [None, 2048, None, None]
        module = self.module(manifest([buffer("x", stride_limits=limits)]))
        for stride in (2056, -8):
            self.assertRefused(
                f"argument 0 'x': stride 1 is {stride}, must be between 0 and 2048",
                module,
                FakeTensor((2, 16, 4, 128), strides=(65536, stride, 512, 1)),
            )
        module.launch(FakeTensor((2, 16, 4, 128), strides=(1 << 40, 2048, 512, 1)))
        module.launch(FakeTensor((2, 1, 4, 128), strides=(512, 1 << 40, 128, 1)))
        self.assertEqual(len(self.cuda.launches), 2)

    def test_alignment(self):
        self.refuse(
            "argument 0 'q': address 0x10000000002 must be aligned to 16 bytes",
            FakeTensor((2, 16, 4, 128), pointer=(1 << 40) + 2),
        )

    def test_device(self):
        self.refuse(
            "argument 0 'q': is on device 'cpu', must be on a CUDA device",
            FakeTensor((2, 16, 4, 128), device=-1),
        )
        self.refuse(
            "argument 1 'o': is on device 1, but argument 0 'q' is on device 0",
            o=FakeTensor((2, 16, 4, 128), device=1),
        )
        self.refuse(
            "argument 0 'q': is not in the memory of a CUDA device",
            FakeArray((2, 16, 4, 128), pointer=4096),
        )

    def test_not_a_tensor(self):
        self.refuse("argument 0 'q': expected a tensor on a CUDA device, got list", [1])

    def test_fractional_byte_stride(self):
        self.refuse(
            "argument 0 'q': stride 1 is 3 bytes, not a whole number of f16",
            FakeArray((2, 16, 4, 128), strides=(16, 3, 16, 2)),
        )

    def test_scalars(self):
        self.refuse("argument 2 'scale': expected a number (f32), got str", scale="1")
        self.refuse("argument 2 'scale': expected a number (f32), got list", scale=[1])
        self.refuse("argument 2 'scale': 1e+300 does not fit f32", scale=1e300)
        self.refuse(
            "argument 2 'scale': expected a number (f32), got fakes.FakeTensor",
            scale=FakeTensor(()),
        )
        module = self.module(manifest([{"kind": "scalar", "name": "n", "type": "i32"}]))
        for type, large in (("f16", 65520.0), ("bf16", 3.4e38), ("bf16", 2**1100)):
            number = self.module(
                manifest([{"kind": "scalar", "name": "x", "type": type}])
            )
            self.assertRefused(
                f"argument 0 'x': {large} does not fit {type}", number, large
            )
        flag = self.module(manifest([{"kind": "scalar", "name": "b", "type": "i1"}]))
        self.assertRefused("argument 0 'b': 2 does not fit i1", flag, 2)
        self.assertRefused("argument 0 'b': -1 does not fit i1", flag, -1)
        self.assertRefused(
            "argument 0 'b': expected a bool (i1), got float", flag, 1.0
        )
        self.assertRefused("argument 0 'n': 2147483648 does not fit i32", module, 2**31)
        self.assertRefused(
            "argument 0 'n': expected an integer (i32), got float", module, 1.0
        )


    def test_nonnegative_scalars(self):
        scale = {"kind": "scalar", "name": "scale", "type": "f32", "nonnegative": True}
        module = self.module(manifest([scale]))
        for bad in (-1.0, float("nan"), float("inf")):
            self.assertRefused(
                f"argument 0 'scale': must be finite and not negative, got {bad}",
                module,
                bad,
            )
        for good in (0.0, -0.0, 0, 0.125):
            module.launch(good)
        self.assertEqual(len(self.cuda.launches), 4)
        with self.assertRaisesRegex(
            tile.ManifestError,
            r"kernels\[0\].params\[0\].nonnegative: expected true or false, got 1",
        ):
            self.module(manifest([{**scale, "nonnegative": 1}]))



class TensorMapTest(LauncherTest):
    """Kernels that copy with TMA."""

    MAP = {
        "kind": "tensor_map",
        "argument": 1,
        "dims": [3, 1, 2, 0],
        "box": [64, 128, 1, 1],
        "swizzle": 128,
    }
    SCALE = {"kind": "scalar", "name": "scale", "type": "f32"}
    PARAMS = [buffer("q"), buffer("k"), SCALE, MAP, {**MAP, "argument": 0}]

    def launch(self, module, k, q=None):
        module.launch(q or FakeTensor((1, 8, 1, 128)), k, 0.5)

    def test_extents_strides_and_box_innermost_first(self):
        k = FakeTensor(
            (2, 300, 6, 128), strides=(300 * 768, 768, 128, 1), dtype="float16",
            pointer=(1 << 40) + 4096,
        )  # fmt: skip
        self.launch(self.module(manifest(self.PARAMS)), k)
        f16, swizzle = 6, 3
        self.assertEqual(
            self.cuda.tensor_maps[0],
            (
                f16, (1 << 40) + 4096, (128, 300, 6, 2), (1536, 256, 460800),
                (64, 128, 1, 1), swizzle,
            ),
        )  # fmt: skip

    def test_maps_follow_the_parameters(self):
        self.launch(self.module(manifest(self.PARAMS)), FakeTensor((2, 4, 6, 128)))
        (launch,) = self.cuda.launches
        values = launch.unpack("=Q6qQ6qfss")
        self.assertEqual(values[7:11], (1 << 40, 2, 4, 6))
        self.assertEqual(values[14:], (0.5, 1, 2))

    def test_made_once_for_an_address_and_a_shape(self):
        for pointer in (1 << 40, (1 << 40) + 256, 1 << 40):
            # Modules share maps: the first argument is the same tensor.
            module = self.module(manifest(self.PARAMS))
            self.launch(module, FakeTensor((2, 4, 6, 128), pointer=pointer))
        self.assertEqual(len(self.cuda.tensor_maps), 3)
        maps = [launch.unpack("=Q6qQ6qfss")[15:] for launch in self.cuda.launches]
        self.assertEqual(maps, [(1, 2), (3, 2), (1, 2)])

    def test_made_in_the_context_of_the_device(self):
        # The fake driver refuses to encode a map for a thread without a context.
        self.assertEqual(self.cuda.stack, [])
        self.launch(self.module(manifest(self.PARAMS)), FakeTensor((2, 4, 6, 128)))
        self.assertEqual(len(self.cuda.launches), 1)

    def test_dimensions_with_one_element(self):
        k = FakeTensor((1, 4, 1, 128), strides=(3, 128, 5, 1))
        self.launch(self.module(manifest(self.PARAMS)), k)
        _, address, extents, strides, _, _ = self.cuda.tensor_maps[0]
        self.assertEqual(address, 1 << 40)
        self.assertEqual((extents, strides), ((128, 4, 1, 1), (256, 16, 16)))

    def test_tensors_without_elements(self):
        # Neither the address nor the strides of such a tensor count.
        module = self.module(manifest(self.PARAMS))
        for shape, strides, pointer in (
            ((1, 0, 1, 128), (3, 128, 5, 1), 0),
            ((2, 0, 6, 128), (768, 1, 129, 3), 8),
        ):
            k = FakeTensor(shape, strides=strides, pointer=pointer)
            self.launch(module, k)
            launch = self.cuda.launches[-1]
            _, address, extents, strides, box, _ = self.cuda.tensor_maps[
                launch.unpack("=Q6qQ6qfss")[15] - 1
            ]
            self.assertEqual(address, (1 << 40) + 0xF00)
            self.assertEqual((extents, strides), ((1,) * 4, (16,) * 3))
            self.assertEqual(box, (64, 128, 1, 1))
        # The zeros are allocated once for a context.
        self.assertEqual(self.cuda.allocations, [1000])

    def test_ragged_tensors_without_elements(self):
        x = buffer("x", rank=3)
        ragged = {
            **self.MAP, "dims": [2, 0, 1], "box": [64, 128, 1], "ragged": 0,
            "argument": 0,
        }  # fmt: skip
        module = self.module(manifest([x, ragged]))
        module.launch(FakeTensor((0, 2, 128), pointer=0))
        (encoded,) = self.cuda.tensor_maps
        self.assertEqual(encoded[2:5], ((1,) * 5, (16,) * 4, (64, 128, 1, 1, 1)))

    def test_ragged_maps_end_with_each_sequence(self):
        x = buffer("x", rank=3)
        ragged = {
            **self.MAP, "dims": [2, 0, 1], "box": [64, 128, 1], "ragged": 0,
            "argument": 0,
        }  # fmt: skip
        module = self.module(manifest([x, ragged]))
        module.launch(FakeTensor((9, 2, 128), strides=(256, 128, 1)))
        _, address, extents, strides, box, _ = self.cuda.tensor_maps[0]
        self.assertEqual(extents, (128, 2**30, 2, 2**31, 2**31))
        self.assertEqual(strides, (512, 256, 512, 2**35 - 512))
        self.assertEqual(box, (64, 128, 1, 1, 1))
        steps = (2, *strides)
        for begin, length, row in ((0, 9, 8), (3, 4, 0), (8, 1, 0)):
            place = (5, 2**30 - length + row, 1, begin + length, 2**30)
            moved = sum(at * step for at, step in zip(place, steps)) % 2**64
            self.assertEqual(moved, 10 + (begin + row) * 512 + 256)
            self.assertTrue(all(at < extent for at, extent in zip(place, extents)))
        self.cuda.launches.clear()
        self.assertRefused(
            "argument 0 'x': extent 0 is 1073741825, must be at most 2^30 for"
            " sequences in it",
            module, FakeTensor((2**30 + 1, 2, 128)),
        )  # fmt: skip
        for dimension in (2, 3, -1):
            with self.assertRaises(tile.ManifestError):
                self.module(manifest([x, {**ragged, "ragged": dimension}]))

    def test_offsets_replace_dimensions_of_ragged_maps(self):
        cached = {
            **self.MAP, "dims": [3, 1], "box": [64, 16], "ragged": 1, "argument": 0,
        }  # fmt: skip
        module = self.module(manifest([buffer("x"), cached]))
        module.launch(FakeTensor((4, 16, 2, 128), strides=(4096, 128, 2048, 1)))
        _, _, extents, strides, box, _ = self.cuda.tensor_maps[0]
        self.assertEqual(extents, (128, 2**30, 2**31, 2**31, 2**31))
        self.assertEqual(strides, (256, 16, 256, 2**35 - 256))
        self.assertEqual(box, (64, 16, 1, 1, 1))
        self.cuda.launches.clear()
        self.assertRefused(
            "argument 0 'x': the last offset along dimensions [0, 2] is"
            f" {2**35 + 4096 - 32} bytes, must be below 2^35",
            module, FakeTensor((2**30, 16, 2, 128), strides=(16, 128, 2048, 1)),
        )  # fmt: skip
        for change in ({"ragged": 0}, {"ragged": None}, {"dims": [3, 3]}, {"dims": [3]}):
            with self.assertRaises(tile.ManifestError):
                self.module(manifest([buffer("x"), {**cached, **change}]))

    def test_malformed(self):
        for message, last in (
            (
                "kernels[0].params[4].argument: parameter 2 is not a buffer",
                {**self.MAP, "argument": 2},
            ),
            (
                "kernels[0].params[4].dims: (3, 1, 2, 2) are not the dimensions of a"
                " buffer",
                {**self.MAP, "dims": [3, 1, 2, 2]},
            ),
            (
                "kernels[0].params[4].swizzle: 16 is not one of 0, 32, 64, 128",
                {**self.MAP, "swizzle": 16},
            ),
            (
                "kernels[0].params[4]: stands after a parameter of kind 'tensor_map'",
                buffer("v"),
            ),
        ):
            with self.subTest(message):
                with self.assertRaises(tile.ManifestError) as caught:
                    self.module(manifest(self.PARAMS[:4] + [last]))
                self.assertEqual(str(caught.exception), message)




class ModuleTest(LauncherTest):
    def two_kernels(self):
        source = copy.deepcopy(ATTENTION)
        second = copy.deepcopy(source["kernels"][0])
        second["name"] = "finish"
        second["shared_bytes"] = 1024
        second["params"] = [buffer("o"), buffer("sum", type="f32", alignment=4)]
        source["kernels"].append(second)
        return self.module(source)

    def test_kernels_share_arguments_by_name(self):
        module = self.two_kernels()
        self.assertEqual(module.parameters, ("q", "o", "scale", "sum"))
        q = FakeTensor((1, 8, 1, 128))
        o = FakeTensor((1, 8, 1, 128), pointer=(1 << 40) + 1024)
        total = FakeTensor((1, 8, 1, 128), dtype="float32", pointer=(1 << 40) + 4096)
        module.launch(q, o, 1.0, total, stream=77)
        first, second = self.cuda.launches
        self.assertEqual((first.function, second.function), ("attention", "finish"))
        self.assertEqual((first.stream, second.stream), (77, 77))
        values = second.unpack("@P6qP6q")
        self.assertEqual((values[0], values[7]), ((1 << 40) + 1024, (1 << 40) + 4096))

    def test_kernels_overlap_only_those_launched_just_before(self):
        kernel = manifest([buffer("x")], grid=[["dim", 0, 0], 1, 1])["kernels"][0]
        source = manifest([buffer("x")])
        source["kernels"] = [
            {**kernel, "name": name, "overlaps_previous": overlaps}
            for name, overlaps in (("a", True), ("b", True), ("c", False), ("d", True))
        ]
        source["kernels"][1]["grid"] = [["dim", 0, 1], 1, 1]
        module = self.module(source)
        x = FakeTensor((1, 8, 1, 128))
        module.launch(x, stream=77)
        module["d"](x)
        self.assertEqual(
            [(launch.function, launch.overlaps) for launch in self.cuda.launches],
            [("a", False), ("b", True), ("c", False), ("d", True), ("d", False)],
        )
        whole, own = self.cuda.launches[3:]
        self.assertEqual((whole.grid, whole.block), (own.grid, own.block))
        self.assertEqual((whole.stream, whole.shared_bytes), (77, 0))
        self.assertEqual(whole.params, own.params)
        self.cuda.launches.clear()
        # The second kernel is not launched, so the third must not overlap.
        source["kernels"][2]["overlaps_previous"] = True
        self.module(source).launch(FakeTensor((1, 0, 1, 128)))
        self.assertEqual(
            [(launch.function, launch.overlaps) for launch in self.cuda.launches],
            [("a", False), ("c", False), ("d", True)],
        )

    def test_overlap_is_true_or_false(self):
        source = manifest([buffer("q")], overlaps_previous=1)
        with self.assertRaises(tile.ManifestError) as caught:
            self.module(source)
        self.assertEqual(
            str(caught.exception),
            "kernels[0].overlaps_previous: expected true or false, got 1",
        )

    def test_nothing_is_launched_unless_every_kernel_accepts(self):
        x = FakeTensor((1, 8, 1, 128))
        self.assertRefused(
            "argument 1 'sum': type is f16, must be f32",
            self.two_kernels(), x, x, 1.0, x,
        )  # fmt: skip

    def test_large_shared_memory_is_asked_for_once(self):
        module = self.two_kernels()
        x = FakeTensor((1, 8, 1, 128))
        total = FakeTensor((1, 8, 1, 128), dtype="float32")
        module.launch(x, x, 1.0, total)
        self.assertEqual(self.cuda.shared, {"attention": 98304})
        self.cuda.shared.clear()
        module.launch(x, x, 1.0, total)
        self.assertEqual(self.cuda.shared, {})

    def test_shared_memory_beyond_the_device(self):
        self.cuda.shared_limit = 50000
        x = FakeTensor((1, 8, 1, 128))
        with self.assertRaises(tile.DriverError) as caught:
            self.module(ATTENTION).launch(x, x, 1.0)
        self.assertIn("98304 bytes of shared memory", str(caught.exception))
        self.assertIn("the device has 50000", str(caught.exception))

    def test_image_ends_with_a_null_byte(self):
        self.module(ATTENTION).load()
        self.assertEqual(self.cuda.images, [(1000, b".version 8.0\0")])
        self.assertEqual(self.cuda.stack, [])

    def test_jit_errors_carry_name_text_and_log(self):
        self.cuda.load_error = 218
        self.cuda.error_log = b"ptxas application ptx input, line 5; error"
        with self.assertRaises(tile.DriverError) as caught:
            self.module(ATTENTION).load()
        self.assertEqual(
            str(caught.exception),
            "cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX (a PTX JIT compilation"
            " failed)\nptxas application ptx input, line 5; error",
        )
        self.assertEqual(caught.exception.name, "CUDA_ERROR_INVALID_PTX")

    def test_info_log_is_kept(self):
        self.cuda.info_log = b"ptxas info: 3 registers"
        module = self.module(ATTENTION)
        module.load()
        self.assertEqual(module.log, "ptxas info: 3 registers")

    def test_kernel_missing_from_the_artifact(self):
        self.cuda.known_kernels = ["other"]
        message = "NOT_FOUND.*\nkernel 'attention'"
        with self.assertRaisesRegex(tile.DriverError, message):
            self.module(ATTENTION).load()

    def test_unknown_kernel_name(self):
        with self.assertRaisesRegex(KeyError, "no kernel 'x', there are: attention"):
            self.module(ATTENTION)["x"]

    def test_close_unloads_and_a_launch_loads_again(self):
        module = self.module(ATTENTION)
        module.load(1)
        module.close()
        self.assertEqual(self.cuda.unloaded, [(1001, 2001)])
        module.load(1)
        self.assertEqual(len(self.cuda.images), 2)


class ContextTest(LauncherTest):
    def launch_on(self, device):
        x = FakeTensor((1, 8, 1, 128), device=device)
        self.module(ATTENTION).launch(x, x, 1.0)
        return self.cuda.launches[-1].context

    def test_without_context_uses_the_primary_one(self):
        self.assertEqual(self.launch_on(1), 1001)
        self.assertEqual(self.cuda.stack, [])

    def test_current_context_of_the_device_is_kept(self):
        self.cuda.stack = [1000]
        with mock.patch.object(self.cuda, "cuCtxPushCurrent_v2", side_effect=OSError):
            self.assertEqual(self.launch_on(0), 1000)

    def test_other_device_is_entered_and_left(self):
        self.cuda.stack = [1000]
        self.assertEqual(self.launch_on(1), 1001)
        self.assertEqual(self.cuda.stack, [1000])

    def test_context_is_left_after_an_error(self):
        self.cuda.load_error = 218
        with self.assertRaises(tile.DriverError):
            self.launch_on(0)
        self.assertEqual(self.cuda.stack, [])

    def test_one_load_per_context(self):
        module = self.module(ATTENTION)
        for device in (0, 1, 0, 1):
            x = FakeTensor((1, 8, 1, 128), device=device)
            module.launch(x, x, 1.0)
        self.assertEqual([context for context, _ in self.cuda.images], [1000, 1001])


class StreamTest(LauncherTest):
    def stream_of(self, value, **named):
        self.module(ATTENTION).launch(value, value, 1.0, **named)
        return self.cuda.launches[-1].stream

    def test_default(self):
        self.assertEqual(self.stream_of(FakeTensor((1, 8, 1, 128))), 0)

    def test_torch_current_stream(self):
        current = mock.Mock(return_value=types.SimpleNamespace(cuda_stream=4242))
        torch = types.SimpleNamespace(
            Tensor=FakeTensor, cuda=types.SimpleNamespace(current_stream=current)
        )
        with mock.patch.dict(sys.modules, torch=torch):
            stream = self.stream_of(FakeTensor((1, 8, 1, 128), device=1))
        self.assertEqual(stream, 4242)
        current.assert_called_once_with(1)

    def test_array_interface(self):
        self.assertEqual(self.stream_of(FakeArray((1, 8, 1, 128), stream=2)), 2)

    def test_explicit(self):
        array = FakeArray((1, 8, 1, 128), stream=2)
        self.assertEqual(self.stream_of(array, stream=0), 0)
        for given in (
            types.SimpleNamespace(cuda_stream=9),
            types.SimpleNamespace(ptr=9),
            types.SimpleNamespace(__cuda_stream__=lambda: (0, 9)),
        ):
            self.assertEqual(self.stream_of(array, stream=given), 9)
        with self.assertRaisesRegex(tile.ArgumentError, "expected a CUDA stream"):
            self.stream_of(array, stream="0")



class CubinTest(LauncherTest):
    """Compilations of the driver that are kept on disk."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def load(self, folder=None, image=b"PTX"):
        module = Module(image, ATTENTION, self.driver, folder or self.folder)
        module.load()
        return module, self.cuda.images[-1][1].rstrip(b"\0")

    def test_compiles_once_for_a_capability_and_a_driver(self):
        for _ in range(2):
            self.assertEqual(self.load()[1], b"cubin of PTX")
        self.assertEqual(len(self.cuda.links), 1)
        self.assertEqual(
            [path.name for path in self.folder.iterdir()], ["kernel-90-13000.cubin"]
        )
        self.cuda.version = 13010
        self.load()
        self.cuda.capability = (9, 1)
        self.load()
        self.assertEqual(len(self.cuda.links), 3)
        self.assertEqual(len(list(self.folder.iterdir())), 3)

    def test_a_damaged_file_is_written_again(self):
        self.load()
        (path,) = self.folder.iterdir()
        path.write_bytes(b"damaged")
        whole = self.cuda.cuModuleLoadDataEx

        def refuse(out, image, *rest):
            return 200 if image.raw.startswith(b"damaged") else whole(out, image, *rest)

        with mock.patch.object(self.cuda, "cuModuleLoadDataEx", refuse):
            self.assertEqual(self.load()[1], b"cubin of PTX")
        self.assertTrue(path.read_bytes().startswith(b"cubin of PTX"))

    def test_a_folder_that_cannot_be_written(self):
        self.assertEqual(self.load(self.folder / "missing")[1], b"cubin of PTX")

    def test_ptx_that_the_driver_does_not_link(self):
        with mock.patch.object(self.cuda, "cuLinkComplete", return_value=200):
            self.assertEqual(self.load()[1], b"PTX")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_roles_are_not_linked(self):
        """The driver's linker drops their register counts, and says so only the
        first time."""
        image = b"setmaxnreg.inc.sync.aligned.u32 240;"
        for _ in range(2):
            self.assertEqual(self.load(image=image)[1], image)
        self.assertEqual(self.cuda.links, [])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_errors_and_reports(self):
        self.cuda.info_log = b"ptxas info: 3 registers"
        self.assertEqual(self.load()[0].log, "ptxas info: 3 registers")
        self.assertEqual(self.load()[0].log, "")
        (path,) = self.folder.iterdir()
        path.unlink()
        self.cuda.load_error, self.cuda.error_log = 218, b"line 5; error"
        with self.assertRaisesRegex(tile.DriverError, "INVALID_PTX.*\nline 5; error"):
            self.load()

    def test_without_a_folder_the_driver_loads_the_ptx(self):
        Module(b"PTX", ATTENTION, self.driver).load()
        self.assertEqual((self.cuda.images[-1][1], self.cuda.links), (b"PTX\0", []))


class LoadTest(LauncherTest):
    def test_load_reads_both_files(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k.ptx").write_bytes(b"PTX")
            Path(folder, "k.json").write_text(json.dumps(ATTENTION))
            for manifest_path in (Path(folder, "k.json"), None):
                module = tile.load(Path(folder, "k.ptx"), manifest_path, self.driver)
                module.load()
        self.assertEqual([image for _, image in self.cuda.images], [b"PTX\0"] * 2)


def stand_in(text, chip, *, opt_level, name, schedule=None, sizes=None, assertions=True):
    if "broken" in text:
        raise tile.CompileError(f"{name}:1:1: error: broken")
    return tile.Artifact(f"{chip} -O{opt_level} {text}".encode(), json.dumps(ATTENTION), "")


class CompileTest(LauncherTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        patch = mock.patch.object(compiler, "translate", stand_in)
        patch.start()
        self.addCleanup(patch.stop)

    def image(self, *args, **named):
        tile.compile(*args, driver=self.driver, **named).load()
        return self.cuda.images[-1][1]

    def test_text_and_path(self):
        expected = b"sm_80 -O3 text\0"
        self.assertEqual(self.image("text", "sm_80"), expected)
        path = self.folder / "in.mlir"
        path.write_text("text")
        self.assertEqual(self.image(path, "sm_80"), expected)
        self.assertEqual(self.image(str(path), "sm_80"), expected)

    def test_chip_of_the_device(self):
        self.assertEqual(self.image("text"), b"sm_90a -O3 text\0")

    def test_chips(self):
        for capability, chip in (
            ((8, 0), "sm_80"),
            ((8, 6), "sm_80"),
            ((8, 9), "sm_89"),
            ((9, 0), "sm_90a"),
            ((10, 0), "sm_100a"),
            ((10, 3), "sm_103a"),
            ((12, 0), "sm_120a"),
            ((12, 1), "sm_80"),
        ):
            self.assertEqual(tile.chip_for(capability), chip)
        with self.assertRaisesRegex(tile.CompileError, "7.5, 8.0 is the oldest"):
            tile.chip_for((7, 5))

    def test_error_carries_the_messages(self):
        path = self.folder / "x.mlir"
        path.write_text("broken")
        with self.assertRaisesRegex(tile.CompileError, "x.mlir:1:1: error: broken"):
            tile.compile(path, "sm_80", driver=self.driver)


if __name__ == "__main__":
    unittest.main()
