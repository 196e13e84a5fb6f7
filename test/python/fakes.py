"""Stand-ins for the CUDA driver's library and for tensors of a framework."""

import ctypes
import struct
from dataclasses import dataclass

ERRORS = {
    1: (b"CUDA_ERROR_INVALID_VALUE", b"invalid argument"),
    218: (b"CUDA_ERROR_INVALID_PTX", b"a PTX JIT compilation failed"),
    500: (b"CUDA_ERROR_NOT_FOUND", b"named symbol not found"),
}


@dataclass
class LaunchRecord:
    context: int
    function: str
    grid: tuple
    block: tuple
    shared_bytes: int
    stream: int
    params: bytes
    overlaps: bool = False

    def unpack(self, code):
        return struct.unpack(code, self.params)


class FakeCuda:
    """libcuda with one context per device; records what it is asked for.

    Contexts are 1000 + device, modules 2000 + count, functions are handles of
    names. Addresses belong to device (address >> 40), those below to none.
    """

    def __init__(self, devices=2, capability=(9, 0)):
        self.devices = devices
        self.capability = capability
        self.stack = []
        self.images = []
        self.functions = {}
        self.launches = []
        self.shared = {}
        self.unloaded = []
        self.known_kernels = None
        self.load_error = 0
        self.info_log = b""
        self.error_log = b""
        self.shared_limit = 232448
        self.tensor_maps = []
        # Bytes of each parameter, for launches that pass an array of pointers.
        self.parameter_sizes = None

    def cuInit(self, flags):
        return 0

    def cuGetErrorName(self, status, out):
        out._obj.value = ERRORS[status][0]
        return 0

    def cuGetErrorString(self, status, out):
        out._obj.value = ERRORS[status][1]
        return 0

    def cuDeviceGet(self, out, ordinal):
        if ordinal >= self.devices:
            return 1
        out._obj.value = ordinal
        return 0

    def cuDeviceGetAttribute(self, out, attribute, device):
        out._obj.value = {
            75: self.capability[0],
            76: self.capability[1],
            97: self.shared_limit,
        }[attribute]
        return 0

    def cuDevicePrimaryCtxRetain(self, out, device):
        out._obj.value = 1000 + device.value
        return 0

    def cuCtxGetCurrent(self, out):
        out._obj.value = self.stack[-1] if self.stack else None
        return 0

    def cuCtxGetDevice(self, out):
        out._obj.value = self.stack[-1] - 1000
        return 0

    def cuCtxPushCurrent_v2(self, context):
        self.stack.append(context)
        return 0

    def cuCtxPopCurrent_v2(self, out):
        out._obj.value = self.stack.pop()
        return 0

    def cuPointerGetAttribute(self, out, attribute, pointer):
        assert attribute == 9
        if pointer >> 40 == 0:
            return 1
        out._obj.value = (pointer >> 40) - 1
        return 0

    def cuModuleLoadDataEx(self, out, image, count, keys, values):
        buffers = dict(zip(list(keys), list(values)))
        assert count == len(buffers)
        for key, text in ((3, self.info_log), (5, self.error_log)):
            assert buffers[key + 1] > len(text)
            ctypes.memmove(buffers[key], text + b"\0", len(text) + 1)
        if self.load_error:
            return self.load_error
        self.images.append((self.stack[-1], image.raw))
        out._obj.value = 2000 + len(self.images)
        return 0

    def cuModuleUnload(self, module):
        self.unloaded.append((self.stack[-1], module))
        return 0

    def cuModuleGetFunction(self, out, module, name):
        if self.known_kernels is not None and name.decode() not in self.known_kernels:
            return 500
        handle = 3000 + len(self.functions)
        self.functions[handle] = name.decode()
        out._obj.value = handle
        return 0

    def cuFuncSetAttribute(self, function, attribute, value):
        assert attribute == 8
        if value > self.shared_limit:
            return 1
        self.shared[self.functions[function]] = value
        return 0

    def cuLaunchKernel(
        self, function, gx, gy, gz, bx, by, bz, shared, stream, params, extra
    ):
        launch = (function, (gx, gy, gz), (bx, by, bz), shared, stream)
        self._record(*launch, self._parameters(params, extra))
        return 0

    def cuLaunchKernelEx(self, config, function, params, extra):
        # Words and addresses as cuda.h lays them out.
        config = bytes(config._obj)
        gx, gy, gz, bx, by, bz, shared, stream, attributes, count = struct.unpack(
            "=7I4xQQI4x", config
        )
        attribute = ctypes.string_at(attributes, 72)
        assert count == 1 and struct.unpack("=i4xi60x", attribute) == (6, 1)
        launch = (function, (gx, gy, gz), (bx, by, bz), shared, stream)
        self._record(*launch, self._parameters(params, extra), overlaps=True)
        return 0

    def _parameters(self, params, extra):
        if params is not None:
            assert extra is None
            return b"".join(
                ctypes.string_at(pointer, size)
                for pointer, size in zip(list(params), self.parameter_sizes)
            )
        words = (ctypes.c_void_p * 5).from_buffer(extra._obj)
        assert (words[0], words[2], words[4]) == (1, 2, None)
        size = ctypes.c_size_t.from_address(words[3]).value
        return ctypes.string_at(words[1], size)

    def _record(
        self, function, grid, block, shared, stream, params, overlaps=False
    ):
        self.launches.append(
            LaunchRecord(
                self.stack[-1],
                self.functions[function],
                grid,
                block,
                shared,
                stream,
                params,
                overlaps,
            )
        )

    def cuTensorMapEncodeTiled(
        self, place, type, rank, address, extents, strides, box, steps,
        interleave, swizzle, promotion, fill,
    ):  # fmt: skip
        assert place % 64 == 0 and list(steps) == [1] * rank
        assert (interleave, promotion, fill) == (0, 3, 0)
        if any(stride % 16 for stride in strides):
            return 1
        self.tensor_maps.append(
            (type, address, tuple(extents), tuple(strides), tuple(box), swizzle)
        )
        ctypes.memset(place, len(self.tensor_maps), 128)
        return 0


class FakeDtype:
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return self._name


DTYPES = {
    name: FakeDtype(f"torch.{name}")
    for name in ("float16", "bfloat16", "float32", "float64", "int32", "int64")
}


def contiguous(shape):
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride *= extent
    return tuple(strides)


class FakeTensor:
    """A tensor with PyTorch's methods and no storage."""

    def __init__(self, shape, dtype="float16", strides=None, pointer=None, device=0):
        self.shape = tuple(shape)
        self.dtype = DTYPES[dtype]
        self._strides = contiguous(shape) if strides is None else tuple(strides)
        self._pointer = (1 << 40) if pointer is None else pointer
        self._device = device
        self.is_cuda = device >= 0
        self.device = f"cuda:{device}" if device >= 0 else "cpu"

    def data_ptr(self):
        return self._pointer

    def stride(self):
        return self._strides

    def get_device(self):
        return self._device


class FakeArray:
    """An array with the CUDA array interface alone, as CuPy's."""

    def __init__(self, shape, typestr="<f2", strides=None, pointer=1 << 40, **extra):
        self.__cuda_array_interface__ = {
            "shape": tuple(shape),
            "typestr": typestr,
            "data": (pointer, False),
            "strides": strides,
            "version": 3,
            **extra,
        }
