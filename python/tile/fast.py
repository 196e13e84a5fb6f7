"""Operators of PyTorch that run without Python once a call of their kind was seen.

PyTorch calls a kernel written in Python through boxed values, which takes longer
than all the rest of a call. `install` registers kernels in C++ instead
(tile-c/TorchOperators.h). A call of a new kind still runs in Python, which then
stores how to repeat it: what to allocate, and the prepared launch.

The kernels in C++ use functions of PyTorch's stable C interface. Where PyTorch
lacks one of them, or there is no library of this package, `install` returns None.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import torch

from . import driver as _driver
from . import native
from .arguments import MapArguments
from .errors import CompileError, DriverError
from .launches import PreparedLaunch

#: Functions of PyTorch in the order of TileTorchFunctions.
_TORCH = (
    "aoti_torch_library_init_impl",
    "aoti_torch_library_impl",
    "aoti_torch_delete_library_object",
    "aoti_torch_call_dispatcher",
    "aoti_torch_is_defined",
    "aoti_torch_get_dim",
    "aoti_torch_get_sizes",
    "aoti_torch_get_strides",
    "aoti_torch_get_dtype",
    "aoti_torch_get_device_type",
    "aoti_torch_get_device_index",
    "aoti_torch_get_data_ptr",
    "aoti_torch_empty_strided",
    "aoti_torch_new_uninitialized_tensor",
    "aoti_torch_delete_tensor_object",
    "aoti_torch_check",
    "aoti_torch_get_current_cuda_stream",
    "torch_delete_stable_ivalue",
    "_ZN2at13globalContextEv",
    "_ZNK2at7Context23deterministicAlgorithmsEv",
)

#: Those that may be missing: on a machine without CUDA, in older versions.
_OPTIONAL = ("aoti_torch_get_current_cuda_stream", "torch_delete_stable_ivalue")

#: Functions of CUDA's driver in the order of TileDriver.
_CUDA = (
    "cuCtxGetCurrent",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuTensorMapEncodeTiled",
    "cuLaunchKernelEx",
)

#: Letters of TileTorchOperator for types of a schema.
_LETTERS = {
    "Tensor": "T",
    "int": "i",
    "float": "f",
    "bool": "b",
    "Optional[Tensor]": "t",
    "Optional[int]": "j",
    "Optional[float]": "r",
}

#: Values of TilePatchKind by the letters of a parameter's struct code.
_PATCH_KINDS = {"P": 0, "q": 0, "d": 0, "i": 1, "f": 2, "e": 3, "H": 4, "?": 5}

_RANK = 8
_MAP_RANK = 5


class _TorchFunctions(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in _TORCH]


class _CudaFunctions(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in _CUDA]


class _Value(ctypes.Union):
    """TileLaunchValue."""

    _fields_ = [("word", ctypes.c_uint64), ("real", ctypes.c_double)]


class _Patch(ctypes.Structure):
    """TileParameterPatch."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("offset", "value", "kind")]


class _Map(ctypes.Structure):
    """TilePreparedMap, with TileTensorMapArguments."""

    _fields_ = [
        ("value", ctypes.c_uint32),
        ("is_empty", ctypes.c_int),
        ("type", ctypes.c_int),
        ("rank", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("extents", ctypes.c_uint64 * _MAP_RANK),
        ("strides", ctypes.c_uint64 * (_MAP_RANK - 1)),
        ("box", ctypes.c_uint32 * _MAP_RANK),
        ("steps", ctypes.c_uint32 * _MAP_RANK),
        ("interleave", ctypes.c_int),
        ("swizzle", ctypes.c_int),
        ("promotion", ctypes.c_int),
        ("fill", ctypes.c_int),
    ]


class _Kernel(ctypes.Structure):
    """TilePreparedKernel."""

    _fields_ = [
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint32),
        ("overlaps", ctypes.c_int),
        ("memory", ctypes.c_void_p),
        ("memory_bytes", ctypes.c_size_t),
        ("patches", ctypes.POINTER(_Patch)),
        ("patch_count", ctypes.c_size_t),
        ("offsets", ctypes.POINTER(ctypes.c_uint32)),
        ("offset_count", ctypes.c_size_t),
        ("maps", ctypes.POINTER(_Map)),
        ("map_count", ctypes.c_size_t),
    ]


class _Operator(ctypes.Structure):
    """TileTorchOperator."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("fallback", ctypes.c_char_p),
        ("arguments", ctypes.c_char_p),
        ("results", ctypes.c_char_p),
        ("scale", ctypes.c_uint32),
    ]


class _Buffer(ctypes.Structure):
    """TileTorchBuffer."""

    _fields_ = [
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_uint32),
        ("sizes", ctypes.c_int64 * _RANK),
        ("strides", ctypes.c_int64 * _RANK),
    ]


class _Address(ctypes.Structure):
    """TileTorchAddress."""

    _fields_ = [
        ("value", ctypes.c_uint32),
        ("is_buffer", ctypes.c_int),
        ("index", ctypes.c_uint32),
        ("offset", ctypes.c_int64),
    ]


class _Result(ctypes.Structure):
    """TileTorchResult."""

    _fields_ = [("kind", ctypes.c_int), ("number", ctypes.c_int64)]


_Run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Value))


class _PlanStructure(ctypes.Structure):
    """TileTorchPlan."""

    _fields_ = [
        ("launch", ctypes.c_void_p),
        ("run", _Run),
        ("values", ctypes.POINTER(_Value)),
        ("value_count", ctypes.c_size_t),
        ("addresses", ctypes.POINTER(_Address)),
        ("address_count", ctypes.c_size_t),
        ("buffers", ctypes.POINTER(_Buffer)),
        ("buffer_count", ctypes.c_size_t),
        ("results", ctypes.POINTER(_Result)),
        ("result_count", ctypes.c_size_t),
        ("aligned", ctypes.c_uint64),
        ("scale_value", ctypes.c_uint32),
        ("scale", ctypes.c_double),
        ("device_type", ctypes.c_int32),
        ("device_index", ctypes.c_int32),
    ]


class Plan(NamedTuple):
    """How to repeat a call.

    `launch` takes values in the order of `names`. A value comes from `inputs` (the
    position of the operator's argument), from `buffers` (a tensor like the one
    that the call allocates), from `scratch` (the offset in bytes in the buffer of
    that name, "scratch"), or it is one of `numbers`; others are null addresses.
    `results` are names of buffers, integers and None. Arguments in `aligned` need
    an address that is a multiple of 16.
    """

    launch: Any
    names: Sequence[str]
    inputs: Mapping[str, int]
    buffers: Mapping[str, torch.Tensor]
    scratch: Mapping[str, int]
    numbers: Mapping[str, Union[int, float]]
    results: Sequence[Union[str, int, None]]
    aligned: Sequence[str]
    scale: float


#: The device types and the numbers of dtypes in PyTorch's C interface.
_DEVICES = {"cpu": "aoti_torch_device_type_cpu", "cuda": "aoti_torch_device_type_cuda"}
_DTYPES = {
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.float32: "float32",
    torch.int64: "int64",
    getattr(torch, "uint64", torch.int64): "uint64",
}


class Operators:
    """The installed operators."""

    def __init__(self, libtorch: ctypes.CDLL, library: ctypes.CDLL, fallbacks: Any):
        self._libtorch = libtorch
        self._library = library
        self._fallbacks = fallbacks

    def remove(self) -> None:
        """Gives the operators back to the kernels below; may be called again."""
        global _installed
        fallbacks, self._fallbacks = self._fallbacks, None
        if fallbacks is not None:
            self._library.tileTorchRemove()
            fallbacks._destroy()
            _installed = None

    def store(self, plan: Plan) -> None:
        """Stores the plan of the call that this thread runs in Python, if any."""
        values = (_Value * len(plan.names))()
        addresses = []
        indices = {name: index for index, name in enumerate(plan.buffers)}
        for place, name in enumerate(plan.names):
            number = plan.numbers.get(name)
            if name in plan.inputs:
                addresses.append(_Address(place, 0, plan.inputs[name], 0))
            elif name in plan.scratch:
                addresses.append(
                    _Address(place, 1, indices["scratch"], plan.scratch[name])
                )
            elif name in indices:
                addresses.append(_Address(place, 1, indices[name], 0))
            elif isinstance(number, float):
                values[place].real = number
            elif number is not None:
                values[place].word = number & (2**64 - 1)
        device = next(iter(plan.buffers.values())).device
        buffers = [self._buffer(tensor) for tensor in plan.buffers.values()]
        made = _PlanStructure(
            values=values,
            value_count=len(values),
            aligned=sum(1 << plan.inputs[name] for name in plan.aligned),
            scale_value=plan.names.index("scale"),
            scale=plan.scale,
            device_type=getattr(self._libtorch, _DEVICES[device.type])(),
            device_index=0 if device.index is None else device.index,
        )
        made.addresses, made.address_count = _array(_Address, addresses)
        made.buffers, made.buffer_count = _array(_Buffer, buffers)
        results = []
        for result in plan.results:
            if isinstance(result, str):
                results.append(_Result(0, indices[result]))
            else:
                results.append(_Result(1, 0) if result is None else _Result(2, result))
        made.results, made.result_count = _array(_Result, results)
        if isinstance(plan.launch, PreparedLaunch):
            made.launch = native_launch(self._library, plan.launch)
        else:
            made.run = self._runner(plan)
        self._library.tileTorchStore(ctypes.byref(made))

    def _buffer(self, tensor: torch.Tensor) -> _Buffer:
        dtype = getattr(self._libtorch, f"aoti_torch_dtype_{_DTYPES[tensor.dtype]}")
        made = _Buffer(dtype(), tensor.dim())
        made.sizes[: tensor.dim()] = tensor.shape
        made.strides[: tensor.dim()] = tensor.stride()
        return made

    def _runner(self, plan: Plan) -> Any:
        """Returns a function for C++ that launches on the CPU."""
        reals = {name for name, n in plan.numbers.items() if isinstance(n, float)}
        count, launch = len(plan.names), plan.launch.launch

        def run(values: Any) -> int:
            try:
                launch(
                    [
                        values[i].real if plan.names[i] in reals else _signed(values[i].word)
                        for i in range(count)
                    ],
                    0,
                )
            except Exception:
                # The call runs again in Python and says why.
                return 1
            return 0

        _alive.append(_Run(run))
        return _alive[-1]


_installed: Optional[Operators] = None

#: Functions that plans for the CPU call.
_alive: List[Any] = []


def installed() -> Optional[Operators]:
    """Returns the operators, if they are installed."""
    return _installed


def install(
    kernels: Mapping[str, Callable], dispatch_key: str
) -> Optional[Operators]:
    """Registers kernels for operators of the namespace aten.

    `kernels` are the functions that run calls of a new kind: they take the set of
    dispatch keys and the arguments, and may store a plan. An exception in them
    becomes a RuntimeError with its text. Returns None where this is not possible.
    """
    global _installed
    if _installed is not None:
        raise RuntimeError("the operators are installed already")
    try:
        library = native.library()
        libtorch = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch.so"))
        cuda = _cuda_functions(_driver.shared()) if dispatch_key == "CUDA" else None
    except (CompileError, DriverError, OSError):
        return None
    functions = _torch_functions(libtorch)
    if functions is None or (
        cuda is not None and not functions.aoti_torch_get_current_cuda_stream
    ):
        return None
    fallbacks = torch.library.Library("tile", "FRAGMENT")
    try:
        operators = [
            _define(fallbacks, library, name, kernel, dispatch_key)
            for name, kernel in kernels.items()
        ]
    except NotImplementedError:
        fallbacks._destroy()
        return None
    array, count = _array(_Operator, operators)
    status = library.tileTorchInstall(
        ctypes.byref(functions),
        None if cuda is None else ctypes.byref(cuda),
        dispatch_key.encode(),
        array,
        count,
    )
    if status:
        fallbacks._destroy()
        return None
    _installed = Operators(libtorch, library, fallbacks)
    return _installed


def forget() -> None:
    """Forgets all plans. No call of the operators may run."""
    native.library().tileTorchForget()
    _alive.clear()


def planned_calls() -> int:
    """Returns how many calls ran without Python so far."""
    return 0 if _installed is None else native.library().tileTorchPlannedCalls()


def native_launch(library: ctypes.CDLL, launch: PreparedLaunch) -> int:
    """Returns a TilePreparedLaunch for the context that `launch` would use now."""
    driver, context, entered = launch.module.enter(launch.device)
    try:
        functions = launch.module.functions(driver, context)
        zeros = 0
        if any(arguments.empty for k in launch.kernels for _, arguments in k.maps):
            zeros = driver.zeros(context)
    finally:
        if entered:
            driver.pop_context()
    kernels = []
    for kernel in launch.kernels:
        config = kernel.geometry.config
        made = _Kernel(
            function=functions[kernel.name],
            grid=config.grid,
            block=config.block,
            shared_bytes=config.shared_bytes,
            overlaps=config.attribute_count,
            memory=ctypes.addressof(kernel.memory),
            memory_bytes=len(kernel.memory),
        )
        made.patches, made.patch_count = _array(
            _Patch,
            [_Patch(offset, place, _PATCH_KINDS[code]) for offset, place, code in kernel.patches],
        )
        made.offsets, made.offset_count = _array(ctypes.c_uint32, kernel.offsets)
        made.maps, made.map_count = _array(
            _Map, [_map(place, arguments, zeros) for place, arguments in kernel.maps]
        )
        kernels.append(made)
    array, count = _array(_Kernel, kernels)
    cuda = _cuda_functions(driver)
    return library.tilePreparedLaunchCreate(ctypes.byref(cuda), context, array, count)


def _map(place: int, arguments: MapArguments, zeros: int) -> _Map:
    type, extents, strides, box, swizzle, empty = arguments
    rank = len(extents)
    made = _Map(
        value=place,
        is_empty=empty,
        rank=rank,
        address=zeros if empty else 0,
        **_driver.tensor_map_constants(type, swizzle),
    )
    made.extents[:rank] = extents
    made.strides[: rank - 1] = strides
    made.box[:rank] = box
    made.steps[:rank] = [1] * rank
    return made


def _signed(word: int) -> int:
    return word - 2**64 if word >> 63 else word


def _array(type: Any, items: Sequence[Any]) -> Tuple[Any, int]:
    return (type * max(len(items), 1))(*items), len(items)


def _cuda_functions(driver: _driver.Driver) -> _CudaFunctions:
    return _CudaFunctions(*map(driver.function_address, _CUDA))


def _torch_functions(libtorch: ctypes.CDLL) -> Optional[_TorchFunctions]:
    """Returns the functions of PyTorch, None if it lacks one of them."""
    found = _TorchFunctions()
    for name in _TORCH:
        function = getattr(libtorch, name, None)
        if function is not None:
            setattr(found, name, ctypes.cast(function, ctypes.c_void_p).value)
        elif name not in _OPTIONAL:
            return None
    # No stable function says this. Check that the one that there is does.
    context = libtorch._ZN2at13globalContextEv
    context.restype, context.argtypes = ctypes.c_void_p, []
    deterministic = libtorch._ZNK2at7Context23deterministicAlgorithmsEv
    deterministic.restype, deterministic.argtypes = ctypes.c_bool, [ctypes.c_void_p]
    if deterministic(context()) != torch.are_deterministic_algorithms_enabled():
        return None
    return found


def _define(
    fallbacks: Any, library: ctypes.CDLL, name: str, kernel: Callable, dispatch_key: str
) -> _Operator:
    """Defines the operator for calls of a new kind; returns the description of both.

    Raises NotImplementedError if the schema has types that the kernels in C++ do
    not know.
    """
    schema = getattr(torch.ops.aten, name).default._schema
    try:
        arguments = "".join(_LETTERS[str(a.type)] for a in schema.arguments)
        results = "".join(_LETTERS[str(r.type)] for r in schema.returns)
    except KeyError as error:
        raise NotImplementedError(f"{name} has a {error}") from None
    names = [argument.name for argument in schema.arguments]
    if not set(results) <= set("Ti") or "scale" not in names:
        raise NotImplementedError(f"{name} has results {results}")
    tensors = results.count("T")
    before = str(schema).split(" -> ")[0].replace("aten::", "aten", 1)
    fallback = f"aten{name}"
    fallbacks.define(f"{before} -> ({', '.join(['Tensor'] * tensors)})")

    def run(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        integers: Sequence[int] = ()
        error, found = None, ()
        try:
            found = kernel(keyset, *args, **kwargs)
            integers = [r for r, letter in zip(found, results) if letter == "i"]
            found = tuple(r for r, letter in zip(found, results) if letter == "T")
        except BaseException as raised:
            error = _text(raised)
            found = (None,) * tensors
        array, count = _array(ctypes.c_int64, integers)
        library.tileTorchAnswer(error, array, count)
        return found

    fallbacks.impl(fallback, run, dispatch_key, with_keyset=True)
    for key in ("Autograd", "ADInplaceOrView"):
        fallbacks.impl(fallback, torch.library.fallthrough_kernel, key)
    return _Operator(
        name.encode(),
        f"tile::{fallback}".encode(),
        arguments.encode(),
        results.encode(),
        names.index("scale"),
    )


def _text(error: BaseException) -> bytes:
    """Returns what an error says, with its type where that says more."""
    if isinstance(error, RuntimeError) and str(error):
        return str(error).encode()
    return f"{type(error).__name__}: {error}".encode()
