"""Reading tensors of any framework without importing one.

Two protocols are understood: PyTorch's methods (data_ptr, stride, ...), which
also serve bfloat16, and `__cuda_array_interface__`.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from .errors import ArgumentError

_TORCH_TYPES = {
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.float64": "f64",
    "torch.int8": "i8",
    "torch.int32": "i32",
    "torch.int64": "i64",
}
_ARRAY_TYPES = {
    "<f2": "f16",
    "<f4": "f32",
    "<f8": "f64",
    "|i1": "i8",
    "<i4": "i32",
    "<i8": "i64",
}
#: Bytes of an element of each type.
ELEMENT_BYTES = {
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
    "i8": 1,
    "i32": 4,
    "i64": 8,
}


class Layout(NamedTuple):
    """Type, shape and device of a tensor; extents and strides count elements.

    `device` is None for a tensor without storage, which is on no device.
    """

    type: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    device: Optional[int]


#: Our names of frameworks' dtype objects, added at their first use.
_dtypes: Dict[Any, str] = {}


def is_tensor(value: Any) -> bool:
    """Returns whether `value` is a tensor that `describe` would read or refuse."""
    return hasattr(value, "data_ptr") or hasattr(value, "__cuda_array_interface__")


def host_scalar(value: Any) -> Any:
    """Returns the number in a tensor of PyTorch on the CPU that has no dimensions.

    Raises TypeError for other tensors.
    """
    if getattr(value, "shape", None) != () or str(getattr(value, "device", "")) != "cpu":
        raise TypeError
    return value.item()


def describe(
    value: Any, pointer_device: Callable[[int], Optional[int]]
) -> Tuple[int, tuple]:
    """Returns the address and the fields of the layout of a tensor.

    The tensor must be on a CUDA device. `pointer_device` finds the device of an
    address, for the protocol that does not name it. Raises ArgumentError,
    without naming the argument.
    """
    # An attempt is faster than a test, and every launch comes through here.
    try:
        on_device, dtype = value.is_cuda, value.dtype
        read = value.data_ptr
    except AttributeError:
        return _describe_interface(value, pointer_device)
    if not on_device:
        raise ArgumentError(f"is on device '{value.device}', must be on a CUDA device")
    type = _dtypes.get(dtype)
    if type is None:
        type = _dtypes[dtype] = _TORCH_TYPES.get(str(dtype), str(dtype))
    return read(), (type, value.shape, value.stride(), value.get_device())


def describe_cpu(value: Any) -> Tuple[int, Layout]:
    """Returns the address and the layout of a PyTorch tensor on the CPU.

    Raises ArgumentError, without naming the argument.
    """
    if str(value.device) != "cpu":
        raise ArgumentError(f"is on device '{value.device}', must be on the CPU")
    type = _TORCH_TYPES.get(str(value.dtype), str(value.dtype))
    return value.data_ptr(), Layout(type, tuple(value.shape), value.stride(), None)


def current_stream(values: Tuple[Any, ...], device: Optional[int]) -> int:
    """Returns the stream that the owner of the tensors works on.

    That is PyTorch's current stream if a tensor is PyTorch's, else the stream
    that an array's interface names, else the default stream.
    """
    torch = sys.modules.get("torch")
    if torch is not None and any(isinstance(v, torch.Tensor) for v in values):
        return torch.cuda.current_stream(device).cuda_stream
    for value in values:
        interface = getattr(value, "__cuda_array_interface__", None)
        if interface is not None and interface.get("stream"):
            return interface["stream"]
    return 0


def stream_handle(stream: Any) -> int:
    """Returns the driver's handle of a stream, an integer or an object."""
    if isinstance(stream, int):
        return stream
    for attribute in ("cuda_stream", "ptr"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return (protocol() if callable(protocol) else protocol)[1]
    raise ArgumentError(f"stream: expected a CUDA stream, got {type_name(stream)}")


def _describe_interface(
    value: Any, pointer_device: Callable[[int], Optional[int]]
) -> Tuple[int, tuple]:
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        raise ArgumentError(
            f"expected a tensor on a CUDA device, got {type_name(value)}"
        )
    typestr = interface["typestr"]
    type = _ARRAY_TYPES.get(typestr, typestr)
    # The protocol has no name for bfloat16: libraries send two opaque bytes.
    if getattr(getattr(value, "dtype", None), "name", None) == "bfloat16":
        type = "bf16"
    shape = tuple(interface["shape"])
    byte_strides = interface.get("strides")
    if byte_strides is None:
        strides = _contiguous(shape)
    elif type not in ELEMENT_BYTES:
        # The caller refuses the type; its size is not needed for that.
        strides = tuple(byte_strides)
    else:
        size = ELEMENT_BYTES[type]
        for dimension, stride in enumerate(byte_strides):
            if stride % size:
                raise ArgumentError(
                    f"stride {dimension} is {stride} bytes, not a whole number"
                    f" of {type}"
                )
        strides = tuple(stride // size for stride in byte_strides)
    pointer = interface["data"][0]
    device = None
    if pointer:
        device = pointer_device(pointer)
        if device is None:
            raise ArgumentError("is not in the memory of a CUDA device")
    return pointer, (type, shape, strides, device)


def _contiguous(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    strides = []
    stride = 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def type_name(value: Any) -> str:
    cls = type(value)
    if cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__}.{cls.__qualname__}"
