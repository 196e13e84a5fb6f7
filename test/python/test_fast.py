"""Tests of launches and operators in C++, against a fake driver.

The fake driver must see the same launches from C++ as from Python. CPU tensors
stand for those of a CUDA device. Needs PyTorch 2.11 and the compiler;
test/Integration/flash.py tests the results.
"""

import ctypes
import math
import struct
import sys
import threading
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from fakes import FakeCuda
from launching import manifest
from tile import compiler, native
from tile.driver import Driver
from tile.launcher import Module
from tile.programs import BackwardVariant, Variant
from tile.tensors import Layout

try:
    import torch
    from tile import fast, flash, prepared

    HAS_OPERATORS = hasattr(torch.library, "get_kernel")
except ImportError:
    torch, HAS_OPERATORS = None, False

#: Marks the memory of an encoded map; the rest is its number.
_MAP = 0x7F << 56

_POINTER = ctypes.c_void_p
_STATUS = ctypes.c_int


class NativeCuda:
    """The functions of a FakeCuda for callers in C."""

    def __init__(self, cuda):
        self.cuda = cuda
        #: The number of parameters of each kernel, and of its tensor maps.
        self.counts = {}
        self.encoded = 0
        pointers = ctypes.POINTER(_POINTER)
        u64, u32 = ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint32)
        kinds = {
            "cuCtxGetCurrent": (self.get_current, [pointers]),
            "cuCtxPushCurrent_v2": (self.push, [_POINTER]),
            "cuCtxPopCurrent_v2": (self.pop, [pointers]),
            "cuTensorMapEncodeTiled": (
                self.encode,
                [_POINTER, _STATUS, ctypes.c_uint32, _POINTER, u64, u64, u32, u32]
                + [_STATUS] * 4,
            ),
            "cuLaunchKernelEx": (self.launch, [_POINTER, _POINTER, pointers, _POINTER]),
        }
        self.functions = {
            name: ctypes.CFUNCTYPE(_STATUS, *parameters)(function)
            for name, (function, parameters) in kinds.items()
        }

    def address(self, name):
        return ctypes.cast(self.functions[name], _POINTER).value

    def get_current(self, out):
        out[0] = self.cuda.stack[-1] if self.cuda.stack else None
        return 0

    def push(self, context):
        return self.cuda.cuCtxPushCurrent_v2(context)

    def pop(self, out):
        out[0] = self.cuda.stack.pop()
        return 0

    def encode(
        self, place, type, rank, address, extents, strides, box, steps, interleave,
        swizzle, promotion, fill,
    ):  # fmt: skip
        status = self.cuda.cuTensorMapEncodeTiled(
            place, type, rank, address or 0, extents[:rank], strides[: rank - 1],
            box[:rank], steps[:rank], interleave, swizzle, promotion, fill,
        )  # fmt: skip
        number = self.cuda.places.pop(place, 0)
        ctypes.memmove(place, struct.pack("Q", _MAP | number), 8)
        return status

    def launch(self, config, function, parameters, extra):
        count, maps = self.counts[self.cuda.functions[function]]
        addresses = parameters[: count + maps]
        for address in addresses[count:]:
            (mark,) = struct.unpack("Q", ctypes.string_at(address, 8))
            assert mark >> 56 == _MAP >> 56 and address % 64 == 0
            self.cuda.places[address] = mark & ~_MAP
        bytes_of = types.SimpleNamespace(_obj=(ctypes.c_char * 56).from_address(config))
        status = self.cuda.cuLaunchKernelEx(bytes_of, function, addresses, extra)
        for address in addresses[count:]:
            del self.cuda.places[address]
        return status


class FastTest(unittest.TestCase):
    def setUp(self):
        if torch is None:
            self.skipTest("no PyTorch")
        self.cuda = FakeCuda()
        self.driver = Driver(self.cuda)
        self.native = NativeCuda(self.cuda)
        self.driver.function_address = self.native.address
        self.library = native.library()

    def module(self, variant, chip="sm_90a"):
        made = compiler.translate(variant.ir(), chip)
        module = Module(made.data, made.manifest, self.driver)
        for spec in module.manifest.kernels:
            params = sum(
                1
                if not hasattr(param, "strides")
                else 1 + param.shape.count(None) + param.strides.count(None)
                for param in spec.params
            )
            self.native.counts[spec.name] = params, len(spec.tensor_maps)
        return module


class LaunchTest(FastTest):
    """A PreparedLaunch in Python against the one in C++."""

    def prepare(self, module, keys=77, **numbers):
        def heads(rows, heads):
            strides = (rows * heads * 64, heads * 64, 64, 1)
            return Layout("bf16", (2, rows, heads, 64), strides, 1)

        q, k = heads(33, 4), heads(keys, 2)
        arguments = {
            **dict.fromkeys(("q", "o", "do", "dq"), q),
            **dict.fromkeys(("k", "v", "dk", "dv"), k),
            "lse": Layout("f32", (2, 4, 33), (132, 33, 1), 1),
        }
        shapes = {name: layout.shape for name, layout in arguments.items()}
        for name, scratch in module.scratch(shapes).items():
            strides = [1]
            for extent in reversed(scratch.shape[1:]):
                strides.insert(0, strides[0] * extent)
            arguments[name] = Layout(scratch.type, scratch.shape, tuple(strides), 1)
        names = tuple(arguments) + ("scale", "left", "right")
        arguments.update(scale=0, left=0, right=0)
        return names, module.prepare(names, arguments)

    def values(self, names, seed):
        numbers = {"scale": 0.5 + seed, "left": -1, "right": 7}
        return [
            numbers.get(name, (2 << 40) + 4096 * (place + 100 * seed))
            for place, name in enumerate(names)
        ]

    def check(self, variant, keys=77, chip="sm_90a"):
        module = self.module(variant, chip)
        names, launch = self.prepare(module, keys)
        made = fast.native_launch(self.library, launch)
        try:
            for seed in (0, 1, 0):
                for current in (0, 1):
                    # Both with the context current and with another.
                    self.cuda.stack[:] = [1000 + current]
                    values = self.values(names, seed)
                    seen = []
                    for run in (
                        lambda: launch.launch(values, 77),
                        lambda: self.run_native(made, values, 77),
                    ):
                        self.cuda.launches.clear()
                        run()
                        seen.append([self.describe(r) for r in self.cuda.launches])
                        self.assertEqual(self.cuda.stack, [1000 + current])
                    self.assertEqual(len(seen[0]), len(launch.kernels))
                    self.assertEqual(seen[0], seen[1])
            return len(self.cuda.tensor_maps)
        finally:
            self.library.tilePreparedLaunchDestroy(made)

    def describe(self, record):
        """Returns a launch with its tensor maps in place of their numbers."""
        counts = self.native.counts[record.function]
        widths = self.widths(record.function)
        params = [
            self.cuda.tensor_maps[p - 1] if i >= counts[0] else p[: widths[i]]
            for i, p in enumerate(record.params)
        ]
        return (
            record.context, record.function, record.grid, record.block,
            record.shared_bytes, record.stream, record.overlaps, params,
        )  # fmt: skip

    def widths(self, function):
        """Returns the bytes of each parameter of a kernel."""
        found = []
        for spec in self.specs:
            if spec.name == function:
                for param in spec.params:
                    narrow = getattr(param, "type", "") in ("f32", "i32")
                    if hasattr(param, "strides"):
                        extents = param.shape.count(None) + param.strides.count(None)
                        found += [8] * (1 + extents)
                    else:
                        found.append(4 if narrow else 8)
        return found

    def module(self, variant, chip="sm_90a"):
        module = super().module(variant, chip)
        self.specs = module.manifest.kernels
        return module

    def run_native(self, made, values, stream):
        array = (fast._Value * len(values))()
        for slot, value in zip(array, values):
            if isinstance(value, float):
                slot.real = value
            else:
                slot.word = value & (2**64 - 1)
        self.assertEqual(self.library.tilePreparedLaunchRun(made, array, stream), 0)

    def test_forward(self):
        # Each address is encoded once here and once there.
        maps = self.check(Variant(64, 64, "bf16", causal=True))
        self.assertGreater(maps, 0)
        self.assertEqual(maps % 4, 0)

    def test_scalars_of_each_type(self):
        code = {"f16": "e", "bf16": "H", "f32": "f", "f64": "d", "i1": "B", "i32": "i", "i64": "q"}
        params = [
            {"kind": "scalar", "name": f"p{i}", "type": type} for i, type in enumerate(code)
        ]
        module = Module(b".version 8.0", manifest(params), self.driver)
        self.native.counts["kernel"] = len(params), 0
        names = tuple(param["name"] for param in params)
        launch = module.prepare(names, dict.fromkeys(names, 0))
        made = fast.native_launch(self.library, launch)
        for values in (
            [1 + 2.0**-11, 1 + 2.0**-8, 0.1, 0.1, True, -3, -(1 << 40)],
            [math.inf, -math.inf, -0.0, 2.0**-1074, False, 1 << 30, 7],
            [2.0**-24, 2.0**-133, 2.0**-149, 1e300, True, 0, 0],
        ):
            self.cuda.launches.clear()
            launch.launch(values, 77)
            self.run_native(made, values, 77)
            python, c = (r.unpack("=" + "".join(code.values())) for r in self.cuda.launches)
            self.assertEqual(python, c)
        self.library.tilePreparedLaunchDestroy(made)

    def test_numbers_and_no_tensor_maps(self):
        self.check(Variant(64, 64, "bf16", window=True), chip="sm_80")

    def test_backward(self):
        forward = Variant(64, 64, "bf16", causal=True)
        for kv in ("loop", "separate"):
            self.check(BackwardVariant(forward, kv=kv))

    def test_maps_of_tensors_without_elements(self):
        self.check(Variant(64, 64, "bf16"), keys=0)

    def test_error_of_the_driver(self):
        module = self.module(Variant(64, 64, "bf16"))
        names, launch = self.prepare(module)
        made = fast.native_launch(self.library, launch)
        array = (fast._Value * len(names))()
        # Address 0 has no tensor map.
        self.assertEqual(self.library.tilePreparedLaunchRun(made, array, 0), 1)
        self.assertEqual((self.cuda.launches, self.cuda.stack), ([], []))
        self.library.tilePreparedLaunchDestroy(made)


class OperatorsTest(FastTest):
    """Operators whose plans launch on the fake driver."""

    def setUp(self):
        super().setUp()
        if not HAS_OPERATORS:
            self.skipTest("needs PyTorch 2.11")
        self.modules = {}
        patches = [
            mock.patch.object(prepared, "kernels_of", self.kernels),
            mock.patch.object(fast, "_torch_functions", self.torch_functions),
            mock.patch.dict(prepared._found, clear=True),
            mock.patch.dict(flash._plans, clear=True),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.below = torch.library.Library("aten", "IMPL")
        self.addCleanup(self.below._destroy)
        for name in flash.OPERATORS:
            self.below.impl(name, self.refuse, "CPU")
            # PyTorch refuses a second kernel in Python, not one above its own.
            torch.library._impls.discard(f"aten/{name}/CPU")
        fast.forget()
        self.addCleanup(fast.forget)
        self.installed = flash.install("CPU")
        self.addCleanup(self.installed.remove)
        self.assertIsInstance(self.installed, fast.Operators)
        self.operator = torch.ops.aten._scaled_dot_product_flash_attention

    def refuse(self, *arguments, **options):
        raise NotImplementedError("the kernel below")

    def kernels(self, variant, device):
        if variant not in self.modules:
            self.modules[variant] = self.module(variant)
        return self.modules[variant]

    def torch_functions(self, libtorch, real=None if torch is None else fast._torch_functions):
        def stream(device, out):
            out[0] = 55
            return 0

        kind = ctypes.CFUNCTYPE(_STATUS, ctypes.c_int, ctypes.POINTER(_POINTER))
        self.stream = kind(stream)
        found = real(libtorch)
        if found is not None:
            found.aoti_torch_get_current_cuda_stream = ctypes.cast(self.stream, _POINTER).value
        return found

    def tensors(self, rows=33, **options):
        options.setdefault("dtype", torch.float16)
        return [torch.randn(2, 4, rows, 64, **options) for _ in range(3)]

    def scales(self):
        """Returns the scales of the launches so far, which come last but for maps."""
        found = []
        for record in self.cuda.launches:
            place = self.native.counts[record.function][0] - 1
            found.append(struct.unpack_from("f", record.params[place])[0])
        return found

    def test_calls_of_a_kind_seen_before_leave_python_alone(self):
        q, k, v = self.tensors()
        self.operator(q, k, v, 0.0, True)
        nothing = mock.Mock(side_effect=AssertionError("called Python"))
        with mock.patch.object(prepared.Forward, "run", nothing):
            q, k, v = self.tensors()
            results = self.operator(q, k, v, 0.0, True)
            self.operator(q, k, v, 0.0, True, scale=0.5)
            # Cannot be done, and is not remembered.
            for scale in (-1.0, float("nan"), float("inf")):
                with self.assertRaisesRegex(RuntimeError, "the kernel below"):
                    self.operator(q, k, v, 0.0, True, scale=scale)
            self.operator(q, k, v, 0.0, True, scale=0.25)
        self.assertEqual(self.scales(), [0.125, 0.125, 0.5, 0.25])
        first, second = self.cuda.launches[:2]
        self.assertEqual((second.grid, second.block), (first.grid, first.block))
        self.assertEqual(second.stream, 55)
        self.assertEqual(fast.planned_calls() >= 3, True)
        out, lse, cu_q, cu_k, max_q, max_k, seed, offset, mask = results
        self.assertEqual((out.shape, out.stride(), out.dtype), (q.shape, q.stride(), q.dtype))
        self.assertEqual((lse.shape, lse.dtype), ((2, 4, 33), torch.float32))
        self.assertEqual((cu_q, cu_k, max_q, max_k), (None, None, 33, 33))
        self.assertEqual((seed.shape, offset.shape, mask.shape), ((2,), (), (0,)))
        self.assertEqual((seed.dtype, mask.dtype), (torch.uint64, torch.float16))

    def test_what_changes_a_plan(self):
        q, k, v = self.tensors()
        wide = self.tensors(66)
        half = [t[:, :, ::2] for t in wide]
        brain = self.tensors(dtype=torch.bfloat16)
        calls = [
            (q, k, v, 0.0, True),
            (q, k, v, 0.0, False),
            (*half, 0.0, True),
            (*brain, 0.0, True),
            (q[:1], k[:1], v[:1], 0.0, True),
        ]
        run = prepared.Forward.run
        with mock.patch.object(prepared.Forward, "run", autospec=True, side_effect=run) as ran:
            for _ in range(3):
                for call in calls:
                    self.operator(*call)
            self.assertEqual(ran.call_count, len(calls))
            torch.use_deterministic_algorithms(True)
            try:
                for _ in range(2):
                    self.operator(*calls[0])
            finally:
                torch.use_deterministic_algorithms(False)
            self.operator(*calls[0])
            self.assertEqual(ran.call_count, len(calls) + 1)
        self.assertEqual(len(self.cuda.launches), 3 * len(calls) + 3)

    def test_addresses_without_alignment(self):
        """Calls of one kind may differ in that."""
        q, k, v = self.tensors()
        odd = torch.zeros(q.numel() + 1, dtype=q.dtype)[1:].view(q.shape)
        for _ in range(2):
            self.operator(q, k, v, 0.0, True)
            with self.assertRaisesRegex(RuntimeError, "the kernel below"):
                self.operator(odd, k, v, 0.0, True)
        self.assertEqual(len(self.cuda.launches), 2)

    def test_gradients(self):
        inputs = [t.requires_grad_() for t in self.tensors()]
        do = torch.randn(2, 4, 33, 64).half()
        odd = torch.zeros(do.numel() + 1, dtype=do.dtype)[1:].view(do.shape)
        counts = []
        # The gradients that come last are copied before.
        for gradient in (do, do, do.float(), do, odd, do):
            before, planned = len(self.cuda.launches), fast.planned_calls()
            out = self.operator(*inputs, 0.0, True)[0]
            found = torch.autograd.grad(out, inputs, gradient.to(out.dtype))
            counts.append(fast.planned_calls() - planned)
            launched = self.cuda.launches[before:]
            self.assertEqual(len(launched), 4)
            for tensor, like in zip(found, inputs):
                self.assertEqual(tensor.stride(), like.stride())
        self.assertEqual(counts, [0, 2, 2, 2, 1, 2])

    def test_errors_have_their_text(self):
        q, k, v = self.tensors()
        self.operator(q, k, v)
        with self.assertRaisesRegex(RuntimeError, "^the kernel below$"):
            self.operator(q, k, v, 0.5)
        with mock.patch.object(prepared.Forward, "run", side_effect=KeyError("name")):
            with self.assertRaisesRegex(RuntimeError, "^KeyError: 'name'$"):
                self.operator(q[:, :1], k[:, :1], v[:, :1])
        memory = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        with mock.patch.object(prepared.Forward, "run", side_effect=memory):
            with self.assertRaisesRegex(RuntimeError, "^CUDA out of memory. Tried"):
                self.operator(q[:, :1], k[:, :1], v[:, :1])
        # A launch that fails runs again in Python.
        self.operator(q, k, v)
        with mock.patch.object(self.cuda, "cuLaunchKernelEx", lambda *rest: 1):
            self.operator(q, k, v)
            fail = mock.patch.object(self.driver, "_launch", lambda *rest: 1)
            with fail, self.assertRaisesRegex(RuntimeError, "cuLaunchKernelEx failed"):
                self.operator(q, k, v)
        self.operator(q, k, v)

    def test_threads(self):
        q, k, v = self.tensors()
        self.operator(q, k, v)
        calls, threads = 50, 4

        def work():
            for _ in range(calls):
                self.operator(q, k, v)

        started = [threading.Thread(target=work) for _ in range(threads)]
        before = fast.planned_calls()
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        self.assertEqual(fast.planned_calls() - before, calls * threads)
        self.assertEqual(len(self.cuda.launches), calls * threads + 1)

    def test_installed_once(self):
        with self.assertRaisesRegex(RuntimeError, "installed already"):
            flash.install("CPU")
        self.installed.remove()
        self.installed.remove()
        q, k, v = self.tensors()
        with self.assertRaisesRegex(NotImplementedError, "the kernel below"):
            self.operator(q, k, v)
        again = flash.install("CPU")
        run = prepared.Forward.run
        with mock.patch.object(prepared.Forward, "run", autospec=True, side_effect=run) as ran:
            self.operator(q, k, v)
            again.remove()
            again = flash.install("CPU")
            self.operator(q, k, v)
            again.remove()
            # Plans stay.
            self.assertEqual(ran.call_count, 1)

    def test_without_functions_of_pytorch(self):
        """An older PyTorch or one without this library runs all calls in Python."""
        self.operator(*self.tensors())
        self.installed.remove()
        with mock.patch.object(fast, "_TORCH", (*fast._TORCH, "a_function_to_come")):
            self.assertIsNone(fast.install({}, "CPU"))
        with mock.patch.object(native, "library", side_effect=native.CompileError("none")):
            handle = flash.install("CPU")
            self.assertIsInstance(handle, flash.Handle)
            self.operator(*self.tensors())
            handle.remove()
        self.assertEqual(len(self.cuda.launches), 2)


if __name__ == "__main__":
    unittest.main()
