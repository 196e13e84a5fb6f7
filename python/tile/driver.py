"""The part of the CUDA driver API that a launcher needs, through ctypes."""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any, Dict, Optional, Tuple

from .errors import DriverError

LIBRARY = "libcuda.so.1"

# Values of cuda.h's enumerations.
_JIT_INFO_LOG_BUFFER = 3
_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4
_JIT_ERROR_LOG_BUFFER = 5
_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11
_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
_ERROR_INVALID_VALUE = 1
_JIT_INPUT_PTX = 1

# The driver has only unsigned bytes, which are copied alike.
_TENSOR_MAP_TYPES = {
    "i8": 0,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
    "i32": 3,
    "i64": 5,
}
_TENSOR_MAP_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_TENSOR_MAP_L2_PROMOTION_128B = 2
_TENSOR_MAP_BYTES = 128

#: Tensor maps that are kept, about half a kilobyte each.
_MAX_TENSOR_MAPS = 16384

#: Bytes of the memory of zeros that stands for tensors without elements.
_ZERO_BYTES = 256

_LOG_BYTES = 1 << 16

_PROTOTYPES = {
    "cuInit": [c_uint],
    "cuDriverGetVersion": [c_void_p],
    "cuGetErrorName": [c_int, c_void_p],
    "cuGetErrorString": [c_int, c_void_p],
    "cuDeviceGet": [c_void_p, c_int],
    "cuDeviceGetAttribute": [c_void_p, c_int, c_int],
    "cuDevicePrimaryCtxRetain": [c_void_p, c_int],
    "cuCtxGetCurrent": [c_void_p],
    "cuCtxSynchronize": [],
    "cuCtxGetDevice": [c_void_p],
    "cuCtxPushCurrent_v2": [c_void_p],
    "cuCtxPopCurrent_v2": [c_void_p],
    "cuModuleLoadDataEx": [c_void_p, c_void_p, c_uint, c_void_p, c_void_p],
    "cuModuleUnload": [c_void_p],
    "cuModuleGetFunction": [c_void_p, c_void_p, c_char_p],
    "cuLinkCreate_v2": [c_uint, c_void_p, c_void_p, c_void_p],
    "cuLinkAddData_v2": [c_void_p, c_int, c_void_p, c_size_t, c_char_p]
    + [c_uint, c_void_p, c_void_p],
    "cuLinkComplete": [c_void_p, c_void_p, c_void_p],
    "cuLinkDestroy": [c_void_p],
    "cuMemAlloc_v2": [c_void_p, c_size_t],
    "cuMemsetD8_v2": [ctypes.c_uint64, ctypes.c_ubyte, c_size_t],
    "cuFuncGetAttribute": [c_void_p, c_int, c_void_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": [c_void_p, c_void_p]
    + [c_int, c_size_t],
    "cuOccupancyMaxActiveClusters": [c_void_p, c_void_p, c_void_p],
    "cuPointerGetAttribute": [c_void_p, c_int, ctypes.c_uint64],
    "cuTensorMapEncodeTiled": [c_void_p, c_int, c_uint]
    + [c_void_p] * 5
    + [c_int] * 4,
    "cuLaunchKernelEx": [c_void_p] * 4,
}


class _LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute, where the value is an int."""

    _fields_ = [
        ("id", c_int),
        ("padding", c_int),
        ("value", c_int),
        ("rest", c_int * 15),
    ]


class _LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared_bytes", c_uint),
        ("stream", c_void_p),
        ("attributes", ctypes.POINTER(_LaunchAttribute)),
        ("attribute_count", c_uint),
    ]


def tensor_map_constants(type: str, swizzle: int) -> Dict[str, int]:
    """Returns the arguments of cuTensorMapEncodeTiled that are enumerators."""
    return {
        "type": _TENSOR_MAP_TYPES[type],
        "interleave": 0,
        "swizzle": _TENSOR_MAP_SWIZZLES[swizzle],
        "promotion": _TENSOR_MAP_L2_PROMOTION_128B,
        "fill": 0,
    }


class LaunchGeometry:
    """The part of a launch that does not change from call to call.

    A launch that `overlaps` the one before it in the stream may start before
    that one has ended, as soon as that one allows it.
    """

    def __init__(
        self,
        grid: Tuple[int, int, int],
        block: Tuple[int, int, int],
        shared_bytes: int,
        overlaps: bool,
    ):
        self._attribute = _LaunchAttribute(
            _LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 0, 1
        )
        self.config = _LaunchConfig(
            grid,
            block,
            shared_bytes,
            0,
            ctypes.pointer(self._attribute),
            1 if overlaps else 0,
        )
        self.reference = byref(self.config)

    def __str__(self) -> str:
        config = self.config
        return (
            f"grid {tuple(config.grid)}, block {tuple(config.block)},"
            f" {config.shared_bytes} bytes of shared memory"
        )


class TensorMap:
    """An encoded tensor map in memory that the driver can read."""

    def __init__(self) -> None:
        # The driver requires an alignment of 64 bytes.
        self._memory = ctypes.create_string_buffer(_TENSOR_MAP_BYTES + 64)
        self.address = -(-ctypes.addressof(self._memory) // 64) * 64


class Driver:
    """The CUDA driver. Handles are integers; every failure is a DriverError.

    `library` replaces the shared library, for tests.
    """

    def __init__(self, library: Any = None):
        self._lib = _open() if library is None else library
        self._primary: Dict[int, int] = {}
        self._zeros: Dict[int, int] = {}
        self._maps: Dict[tuple, TensorMap] = {}
        self._lock = threading.Lock()
        # Bound here because every launch calls them.
        self._get_context = self._lib.cuCtxGetCurrent
        self._launch = self._lib.cuLaunchKernelEx
        self._call("cuInit", 0)

    def version(self) -> int:
        """Returns the CUDA version of the driver, such as 13000."""
        version = c_int()
        self._call("cuDriverGetVersion", byref(version))
        return version.value

    def function_address(self, name: str) -> int:
        """Returns the address of one of the driver's functions."""
        return ctypes.cast(getattr(self._lib, name), c_void_p).value or 0

    def current_context(self) -> int:
        """Returns the calling thread's context, 0 if it has none."""
        context = c_void_p()
        status = self._get_context(byref(context))
        if status:
            self._check("cuCtxGetCurrent", status)
        return context.value or 0

    def current_device(self) -> int:
        """Returns the device of the calling thread's context, which must have one."""
        device = c_int()
        self._call("cuCtxGetDevice", byref(device))
        return device.value

    def primary_context(self, device: int) -> int:
        """Returns the primary context of a device, retained for the process."""
        with self._lock:
            if device not in self._primary:
                handle, context = c_int(), c_void_p()
                self._call("cuDeviceGet", byref(handle), device)
                self._call("cuDevicePrimaryCtxRetain", byref(context), handle)
                self._primary[device] = context.value
            return self._primary[device]

    def push_context(self, context: int) -> None:
        self._call("cuCtxPushCurrent_v2", context)

    def pop_context(self) -> None:
        self._call("cuCtxPopCurrent_v2", byref(c_void_p()))

    def compute_capability(self, device: int) -> Tuple[int, int]:
        return (
            self._attribute(_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
            self._attribute(_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
        )

    def multiprocessors(self, device: int) -> int:
        """The number of multiprocessors of a device."""
        return self._attribute(_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)

    def count_resident(
        self, function: int, block: Tuple[int, int, int], shared_bytes: int, device: int
    ) -> int:
        """Returns how many blocks of a kernel, or clusters of them, run at a time."""
        width, count = c_int(), c_int()
        self._call("cuFuncGetAttribute", byref(width),
                   _FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function)  # fmt: skip
        if width.value > 1:
            geometry = LaunchGeometry((width.value, 1, 1), block, shared_bytes, False)
            self._call("cuOccupancyMaxActiveClusters", byref(count), function,
                       geometry.reference)  # fmt: skip
            return count.value
        threads = block[0] * block[1] * block[2]
        self._call("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(count),
                   function, threads, shared_bytes)  # fmt: skip
        return count.value * self.multiprocessors(device)

    def pointer_device(self, pointer: int) -> Optional[int]:
        """Returns the device that owns an address, None if CUDA does not know it."""
        device = c_int()
        status = self._lib.cuPointerGetAttribute(
            byref(device), _POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer
        )
        if status == _ERROR_INVALID_VALUE:
            return None
        self._check("cuPointerGetAttribute", status)
        # -1 or -2: ordinary memory of the host or of no device.
        return device.value if device.value >= 0 else None

    def load_module(self, image: bytes) -> Tuple[int, str]:
        """Loads PTX or a cubin into the current context.

        Returns the module and what the JIT compiler reported; an error holds
        the JIT compiler's error log.
        """
        options = _JitOptions()
        module = c_void_p()
        # The copy ends with the null byte that the driver expects after PTX.
        text = ctypes.create_string_buffer(image)
        status = self._lib.cuModuleLoadDataEx(byref(module), text, *options.arguments)
        self._check("cuModuleLoadDataEx", status, options.errors)
        return module.value, options.information

    def compile_ptx(self, ptx: bytes) -> Tuple[bytes, str]:
        """Compiles PTX for the device of the current context.

        Returns the cubin and what the JIT compiler reported; an error holds
        the JIT compiler's error log.
        """
        options = _JitOptions()
        state, cubin, size = c_void_p(), c_void_p(), c_size_t()
        status = self._lib.cuLinkCreate_v2(*options.arguments, byref(state))
        self._check("cuLinkCreate", status, options.errors)
        try:
            text = ctypes.create_string_buffer(ptx)
            status = self._lib.cuLinkAddData_v2(
                state, _JIT_INPUT_PTX, text, len(text), b"kernel.ptx", 0, None, None
            )
            self._check("cuLinkAddData", status, options.errors)
            status = self._lib.cuLinkComplete(state, byref(cubin), byref(size))
            self._check("cuLinkComplete", status, options.errors)
            # The linker owns the memory of the cubin.
            return ctypes.string_at(cubin.value, size.value), options.information
        finally:
            self._lib.cuLinkDestroy(state)

    def unload_module(self, module: int) -> None:
        self._call("cuModuleUnload", module)

    def get_function(self, module: int, name: str) -> int:
        function = c_void_p()
        status = self._lib.cuModuleGetFunction(byref(function), module, name.encode())
        self._check("cuModuleGetFunction", status, f"kernel '{name}'")
        return function.value

    def allow_shared_memory(self, function: int, size: int, device: int) -> None:
        """Lets a kernel be launched with `size` bytes of dynamic shared memory."""
        status = self._lib.cuFuncSetAttribute(
            function, _FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, size
        )
        if status:
            limit = self._attribute(
                _DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device
            )
            self._check(
                "cuFuncSetAttribute",
                status,
                f"{size} bytes of shared memory requested, the device has {limit}",
            )

    def zeros(self, context: int) -> int:
        """Returns the address of 256 bytes of zeros in the memory of `context`.

        `context` must be current. The memory lives as long as the process.
        """
        with self._lock:
            if context not in self._zeros:
                pointer = c_void_p()
                self._call("cuMemAlloc_v2", byref(pointer), _ZERO_BYTES)
                self._call("cuMemsetD8_v2", pointer.value, 0, _ZERO_BYTES)
                # Other streams do not wait for the memset.
                self._call("cuCtxSynchronize")
                self._zeros[context] = pointer.value
            return self._zeros[context]

    def encode_tensor_map(
        self,
        type: str,
        address: int,
        extents: Tuple[int, ...],
        strides: Tuple[int, ...],
        box: Tuple[int, ...],
        swizzle: int,
    ) -> TensorMap:
        """Returns the tensor map of a tensor and of the boxes that TMA copies.

        Extents and boxes count elements, the innermost dimension first;
        `strides` are those of the other dimensions, in bytes. Maps are kept,
        because addresses recur and the driver takes 17 us to encode a map.
        """
        key = (type, address, extents, strides, box, swizzle)
        found = self._maps.get(key)
        if found is not None:
            return found
        rank = len(extents)
        made = TensorMap()
        constants = tensor_map_constants(type, swizzle)
        status = self._lib.cuTensorMapEncodeTiled(
            made.address,
            constants["type"],
            rank,
            address,
            (ctypes.c_uint64 * rank)(*extents),
            (ctypes.c_uint64 * (rank - 1))(*strides),
            (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*[1] * rank),
            constants["interleave"],
            constants["swizzle"],
            constants["promotion"],
            constants["fill"],
        )
        if status:
            self._check(
                "cuTensorMapEncodeTiled",
                status,
                f"{type} at {address:#x}, extents {extents}, strides"
                f" {strides} bytes, box {box}",
            )
        with self._lock:
            if len(self._maps) >= _MAX_TENSOR_MAPS:
                self._maps.clear()
            return self._maps.setdefault(key, made)

    def launch(
        self, function: int, geometry: LaunchGeometry, stream: int, parameters: Any
    ) -> None:
        """Launches a kernel.

        `parameters` is an array with the address of each kernel parameter. The
        driver reads them before it returns. No other thread may use `geometry`
        meanwhile.
        """
        geometry.config.stream = stream
        status = self._launch(geometry.reference, function, parameters, None)
        if status:
            self._check("cuLaunchKernelEx", status, str(geometry))

    def _attribute(self, attribute: int, device: int) -> int:
        handle, value = c_int(), c_int()
        self._call("cuDeviceGet", byref(handle), device)
        self._call("cuDeviceGetAttribute", byref(value), attribute, handle)
        return value.value

    def _call(self, function: str, *arguments: Any) -> None:
        self._check(function, getattr(self._lib, function)(*arguments))

    def _check(self, function: str, status: int, detail: str = "") -> None:
        if status == 0:
            return
        name = self._error_text("cuGetErrorName", status) or f"error {status}"
        text = self._error_text("cuGetErrorString", status)
        message = f"{function} failed: {name}" + (f" ({text})" if text else "")
        raise DriverError(message + (f"\n{detail}" if detail else ""), name)

    def _error_text(self, function: str, status: int) -> str:
        text = c_char_p()
        if getattr(self._lib, function)(status, byref(text)):
            return ""
        return _decode(text.value or b"")


class _JitOptions:
    """Log buffers for the driver's JIT compiler."""

    def __init__(self) -> None:
        self._info = ctypes.create_string_buffer(_LOG_BYTES)
        self._error = ctypes.create_string_buffer(_LOG_BYTES)
        self._keys = (c_int * 4)(
            _JIT_INFO_LOG_BUFFER,
            _JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            _JIT_ERROR_LOG_BUFFER,
            _JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        )
        self._values = (c_void_p * 4)(
            ctypes.addressof(self._info),
            _LOG_BYTES,
            ctypes.addressof(self._error),
            _LOG_BYTES,
        )
        #: The number of options, their names and their values.
        self.arguments = (4, self._keys, self._values)

    @property
    def information(self) -> str:
        return _decode(self._info.value)

    @property
    def errors(self) -> str:
        return _decode(self._error.value)


_shared: Optional[Driver] = None
_shared_lock = threading.Lock()


def shared() -> Driver:
    """Returns the process's driver, which the first call opens."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Driver()
        return _shared


def _open() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise DriverError(f"the CUDA driver cannot be loaded: {error}") from None
    for name, arguments in _PROTOTYPES.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = c_int
    return library


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace").strip()
