"""Stand-ins for the CUDA driver's library and for tensors of a framework."""

import ctypes
import re
import struct
from dataclasses import dataclass

ERRORS = {
    1: (b"CUDA_ERROR_INVALID_VALUE", b"invalid argument"),
    200: (b"CUDA_ERROR_INVALID_IMAGE", b"device kernel image is invalid"),
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
    params: list
    overlaps: bool = False

    def unpack(self, code):
        """Returns the parameters, whose types are those of the struct code."""
        codes = "".join(
            letter if letter == "s" else letter * int(count or 1)
            for count, letter in re.findall(r"(\d*)([A-Za-z?])", code)
        )
        assert len(codes) == len(self.params)
        return tuple(
            data if code == "s" else struct.unpack_from("@" + code, data)[0]
            for code, data in zip(codes, self.params)
        )


class FakeCuda:
    """A libcuda with one context per device, which records calls.

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
        self.multiprocessors = 114
        self.cluster_width = 0
        self.tensor_maps = []
        # The numbers of encoded maps, by their addresses.
        self.places = {}
        self.version = 13000
        self.links = []
        self.log_buffers = {}
        self.allocations = []

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
            16: self.multiprocessors,
            75: self.capability[0],
            76: self.capability[1],
            97: self.shared_limit,
        }[attribute]
        return 0

    def cuFuncGetAttribute(self, out, attribute, function):
        assert attribute == 11
        out._obj.value = self.cluster_width
        return 0

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, out, function, threads, shared_bytes):
        out._obj.value = 2048 // threads
        return 0

    def cuOccupancyMaxActiveClusters(self, out, function, config):
        out._obj.value = 128 // config._obj.grid[0]
        return 0

    def cuDevicePrimaryCtxRetain(self, out, device):
        out._obj.value = 1000 + device.value
        return 0

    def cuCtxGetCurrent(self, out):
        out._obj.value = self.stack[-1] if self.stack else None
        return 0

    def cuCtxSynchronize(self):
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

    def cuDriverGetVersion(self, out):
        out._obj.value = self.version
        return 0

    def _write_logs(self, count, keys, values):
        buffers = dict(zip(list(keys), list(values)))
        assert count == len(buffers)
        for key, text in ((3, self.info_log), (5, self.error_log)):
            assert buffers[key + 1] > len(text)
            ctypes.memmove(buffers[key], text + b"\0", len(text) + 1)

    def cuModuleLoadDataEx(self, out, image, count, keys, values):
        self._write_logs(count, keys, values)
        if self.load_error:
            return self.load_error
        self.images.append((self.stack[-1], image.raw))
        out._obj.value = 2000 + len(self.images)
        return 0

    def cuLinkCreate_v2(self, count, keys, values, out):
        self._write_logs(count, keys, values)
        out._obj.value = 4000
        return 0

    def cuLinkAddData_v2(self, state, type, data, size, name, count, keys, values):
        assert (state.value, type, count) == (4000, 1, 0)
        if self.load_error:
            return self.load_error
        self.linked = ctypes.create_string_buffer(b"cubin of " + data.raw[:size])
        return 0

    def cuLinkComplete(self, state, cubin, size):
        self.links.append(self.stack[-1])
        cubin._obj.value = ctypes.addressof(self.linked)
        size._obj.value = len(self.linked)
        return 0

    def cuLinkDestroy(self, state):
        ctypes.memset(self.linked, 0, len(self.linked))
        return 0

    def cuMemAlloc_v2(self, out, size):
        self.allocations.append(self.stack[-1])
        out._obj.value = (self.stack[-1] - 999 << 40) + 0xF00
        return 0

    def cuMemsetD8_v2(self, pointer, value, size):
        assert (pointer & 0xFFF, value, size) == (0xF00, 0, 256)
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

    def cuLaunchKernelEx(self, config, function, params, extra):
        # Words and addresses as cuda.h lays them out.
        config = bytes(config._obj)
        gx, gy, gz, bx, by, bz, shared, stream, attributes, count = struct.unpack(
            "=7I4xQQI4x", config
        )
        assert count in (0, 1) and extra is None
        if count:
            attribute = ctypes.string_at(attributes, 72)
            assert struct.unpack("=i4xi60x", attribute) == (6, 1)
        self.launches.append(
            LaunchRecord(
                self.stack[-1],
                self.functions[function],
                (gx, gy, gz),
                (bx, by, bz),
                shared,
                stream,
                [self._parameter(address) for address in params if address],
                bool(count),
            )
        )
        return 0

    def _parameter(self, address):
        if address in self.places:
            return self.places[address]
        # No parameter but a tensor map has more bytes.
        return ctypes.string_at(address, 8)

    def cuTensorMapEncodeTiled(
        self, place, type, rank, address, extents, strides, box, steps,
        interleave, swizzle, promotion, fill,
    ):  # fmt: skip
        assert place % 64 == 0 and list(steps) == [1] * rank
        # The driver encodes maps only for a thread with a context.
        if not self.stack or address % 16 or not address:
            return 1
        assert (interleave, promotion, fill) == (0, 2, 0)
        if any(stride % 16 for stride in strides):
            return 1
        self.tensor_maps.append(
            (type, address, tuple(extents), tuple(strides), tuple(box), swizzle)
        )
        self.places[place] = len(self.tensor_maps)
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
