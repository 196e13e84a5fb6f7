"""The part of the CUDA driver API that a launcher needs, through ctypes."""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any, Dict, Optional, Sequence, Tuple

from .errors import DriverError

LIBRARY = "libcuda.so.1"

# Values of cuda.h's enumerations.
_JIT_INFO_LOG_BUFFER = 3
_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4
_JIT_ERROR_LOG_BUFFER = 5
_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
_LAUNCH_PARAM_END = 0
_LAUNCH_PARAM_BUFFER_POINTER = 1
_LAUNCH_PARAM_BUFFER_SIZE = 2
_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
_ERROR_INVALID_VALUE = 1

_TENSOR_MAP_TYPES = {"f16": 6, "f32": 7, "f64": 8, "bf16": 9, "i32": 3, "i64": 5}
_TENSOR_MAP_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_TENSOR_MAP_L2_PROMOTION_256B = 3
_TENSOR_MAP_BYTES = 128

_LOG_BYTES = 1 << 16

_PROTOTYPES = {
    "cuInit": [c_uint],
    "cuGetErrorName": [c_int, c_void_p],
    "cuGetErrorString": [c_int, c_void_p],
    "cuDeviceGet": [c_void_p, c_int],
    "cuDeviceGetAttribute": [c_void_p, c_int, c_int],
    "cuDevicePrimaryCtxRetain": [c_void_p, c_int],
    "cuCtxGetCurrent": [c_void_p],
    "cuCtxGetDevice": [c_void_p],
    "cuCtxPushCurrent_v2": [c_void_p],
    "cuCtxPopCurrent_v2": [c_void_p],
    "cuModuleLoadDataEx": [c_void_p, c_void_p, c_uint, c_void_p, c_void_p],
    "cuModuleUnload": [c_void_p],
    "cuModuleGetFunction": [c_void_p, c_void_p, c_char_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuPointerGetAttribute": [c_void_p, c_int, ctypes.c_uint64],
    "cuTensorMapEncodeTiled": [c_void_p, c_int, c_uint]
    + [c_void_p] * 5
    + [c_int] * 4,
    "cuLaunchKernel": [c_void_p] + [c_uint] * 7 + [c_void_p] * 3,
    "cuLaunchKernelEx": [c_void_p] * 4,
}


class _LaunchParams(ctypes.Structure):
    """cuLaunchKernel's `extra`: all parameters of a kernel in one buffer."""

    _fields_ = [
        ("pointer_tag", c_void_p),
        ("pointer", c_char_p),
        ("size_tag", c_void_p),
        ("size", c_void_p),
        ("end_tag", c_void_p),
    ]


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


class Driver:
    """The CUDA driver. Handles are integers; every failure is a DriverError.

    `library` replaces the shared library, for tests.
    """

    def __init__(self, library: Any = None):
        self._lib = _open() if library is None else library
        self._primary: Dict[int, int] = {}
        self._lock = threading.Lock()
        self._call("cuInit", 0)

    def current_context(self) -> int:
        """The calling thread's context, 0 where it has none."""
        context = c_void_p()
        self._call("cuCtxGetCurrent", byref(context))
        return context.value or 0

    def current_device(self) -> int:
        """The device of the calling thread's context, which must have one."""
        device = c_int()
        self._call("cuCtxGetDevice", byref(device))
        return device.value

    def primary_context(self, device: int) -> int:
        """The primary context of a device, retained for the process."""
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

    def pointer_device(self, pointer: int) -> Optional[int]:
        """The device that owns an address, None where CUDA does not know it."""
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
        info = ctypes.create_string_buffer(_LOG_BYTES)
        error = ctypes.create_string_buffer(_LOG_BYTES)
        keys = (c_int * 4)(
            _JIT_INFO_LOG_BUFFER,
            _JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            _JIT_ERROR_LOG_BUFFER,
            _JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        )
        values = (c_void_p * 4)(
            ctypes.addressof(info), _LOG_BYTES, ctypes.addressof(error), _LOG_BYTES
        )
        module = c_void_p()
        # The copy ends with the null byte that the driver expects after PTX.
        text = ctypes.create_string_buffer(image)
        status = self._lib.cuModuleLoadDataEx(byref(module), text, 4, keys, values)
        self._check("cuModuleLoadDataEx", status, _decode(error.value))
        return module.value, _decode(info.value)

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

    def encode_tensor_map(
        self,
        type: str,
        address: int,
        extents: Sequence[int],
        strides: Sequence[int],
        box: Sequence[int],
        swizzle: int,
    ) -> bytes:
        """What the copy engine needs to know of a tensor and the boxes it copies.

        Extents and boxes count elements, the innermost dimension first;
        `strides` are those of the other dimensions, in bytes.
        """
        rank = len(extents)
        # The driver wants 64 bytes of alignment.
        memory = ctypes.create_string_buffer(_TENSOR_MAP_BYTES + 64)
        place = -(-ctypes.addressof(memory) // 64) * 64
        status = self._lib.cuTensorMapEncodeTiled(
            place,
            _TENSOR_MAP_TYPES[type],
            rank,
            address,
            (ctypes.c_uint64 * rank)(*extents),
            (ctypes.c_uint64 * (rank - 1))(*strides),
            (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*[1] * rank),
            0,
            _TENSOR_MAP_SWIZZLES[swizzle],
            _TENSOR_MAP_L2_PROMOTION_256B,
            0,
        )
        if status:
            self._check(
                "cuTensorMapEncodeTiled",
                status,
                f"{type} at {address:#x}, extents {tuple(extents)}, strides"
                f" {tuple(strides)} bytes, box {tuple(box)}",
            )
        return ctypes.string_at(place, _TENSOR_MAP_BYTES)

    def launch(
        self,
        function: int,
        grid: Tuple[int, int, int],
        block: Tuple[int, int, int],
        shared_bytes: int,
        stream: int,
        params: bytes,
        offsets: Sequence[int] = (),
        overlaps: bool = False,
    ) -> None:
        """Launches a kernel whose parameters lie in `params` as in memory.

        With `offsets`, where each of them begins in `params`, the driver places
        them itself: parameters that ask for more alignment than the place has
        where the driver puts the first one do not lie as in memory. With
        `overlaps` the kernel may start before the one in front of it in the
        stream has ended, as soon as that one allows it.
        """
        pointers = extra = None
        if offsets:
            memory = ctypes.create_string_buffer(params, len(params))
            base = ctypes.addressof(memory)
            pointers = (c_void_p * len(offsets))(*[base + at for at in offsets])
        else:
            size = c_size_t(len(params))
            record = _LaunchParams(
                _LAUNCH_PARAM_BUFFER_POINTER,
                params,
                _LAUNCH_PARAM_BUFFER_SIZE,
                ctypes.addressof(size),
                _LAUNCH_PARAM_END,
            )
            extra = byref(record)
        if overlaps:
            attribute = _LaunchAttribute(
                _LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 0, 1
            )
            config = _LaunchConfig(
                grid, block, shared_bytes, stream, ctypes.pointer(attribute), 1
            )
            status = self._lib.cuLaunchKernelEx(
                byref(config), function, pointers, extra
            )
        else:
            status = self._lib.cuLaunchKernel(
                function, *grid, *block, shared_bytes, stream, pointers, extra
            )
        if status:
            self._check(
                "cuLaunchKernelEx" if overlaps else "cuLaunchKernel",
                status,
                f"grid {grid}, block {block}, {shared_bytes} bytes of shared memory",
            )

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


_shared: Optional[Driver] = None
_shared_lock = threading.Lock()


def shared() -> Driver:
    """The process's driver, opened at the first call."""
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
