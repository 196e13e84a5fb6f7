"""Loading an artifact and launching its kernels.

A launch checks every argument against the manifest. What it learns from
extents, strides, types and devices is kept, so that a launch with layouts seen
before only reads the addresses, packs the parameters and calls the driver.
"""

from __future__ import annotations

import math
import operator
import os
import struct
import threading
from typing import (
    Any,
    Callable,
    Dict,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from . import driver as _driver
from . import manifest as _manifest
from . import tensors
from .errors import ArgumentError, ManifestError
from .manifest import Buffer, Scalar
from .tensors import Layout

#: Dynamic shared memory that a kernel may use without asking for more.
_DEFAULT_SHARED_BYTES = 48 * 1024

#: Kernels compare coordinates with extents in 32 bits.
_MAX_EXTENT = 2**31 - 1

_GRID_LIMITS = (2**31 - 1, 2**16 - 1, 2**16 - 1)
_INTEGER_BITS = {"i32": 32, "i64": 64, "index": 64}
_INTEGER = (operator.index, "an integer")
_PACK_CODES = {"f32": "f", "i32": "i", "i64": "q", "index": "q"}

#: Standard sizes check the range of a number, native ones do not.
_F32 = struct.Struct("<f")

_ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "f64": 8, "i64": 8}

_TENSOR_MAP_BYTES = 128

#: A tensor map that ends with each sequence: see docs/Manifest.md.
_RAGGED_ROWS = 2**30
_RAGGED_EXTENT = 2**31
_RAGGED_BYTES = 2**35

#: Plans kept per kernel; a program with more distinct shapes starts over.
_MAX_PLANS = 4096


class _Plan(NamedTuple):
    """What the layouts of one set of arguments determine.

    `values` are all the kernel's parameters, with gaps for addresses and
    scalars.
    """

    grid: Tuple[int, int, int]
    values: List[Any]
    device: Optional[int]
    #: What describes the tensor of each tensor map, but for its address, and
    #: the maps of the addresses seen before.
    tensors: Tuple[tuple, ...]
    maps: Dict[Tuple[int, ...], bytes]


class _Launch(NamedTuple):
    """A checked launch, ready for a driver."""

    kernel: "Kernel"
    plan: _Plan
    params: bytes


class Kernel:
    """One kernel of a module; calling it checks, then launches."""

    def __init__(self, module: "Module", spec: _manifest.Kernel):
        self.spec = spec
        self._module = module
        self._names = tuple(param.name for param in spec.params)
        self._launch_scalars = spec.launch_scalars
        self._plans: Dict[tuple, _Plan] = {}

        # Parameters are packed with C's alignment, as kernel parameters are.
        code, slots, position = "@", [], 0
        for param in spec.params:
            slots.append(position)
            if isinstance(param, Scalar):
                code += _PACK_CODES[param.type]
                position += 1
                continue
            dynamic = param.shape.count(None) + param.strides.count(None)
            code += "P" + "q" * dynamic
            position += 1 + dynamic
        # Tensor maps follow; where, only the driver knows.
        self._offsets: Tuple[int, ...] = ()
        if spec.tensor_maps:
            kinds = code[1:]
            ends = [struct.calcsize(code[: 2 + i]) for i in range(len(kinds))]
            starts = [end - struct.calcsize(kind) for end, kind in zip(ends, kinds)]
            maps = range(len(spec.tensor_maps))
            starts += [ends[-1] + _TENSOR_MAP_BYTES * i for i in maps]
            self._offsets = tuple(starts)
            code += f"{_TENSOR_MAP_BYTES * len(spec.tensor_maps)}s"
        self._packer = struct.Struct(code)
        self._slots = tuple(slots)

    @property
    def name(self) -> str:
        return self.spec.name

    def __call__(self, *args: Any, stream: Any = None, **named: Any) -> None:
        """Launches this kernel alone; arguments in order or by name."""
        if named or len(args) != len(self._names):
            args = _bind(self.name, self._names, args, named)
        self._module._run((self.prepare(args),), args, stream)

    def prepare(self, args: Sequence[Any]) -> _Launch:
        """Checks one argument per parameter and packs them."""
        given: List[Any] = []
        key: List[Any] = []
        pointer_device = self._module._pointer_device
        for position, (param, value) in enumerate(zip(self.spec.params, args)):
            try:
                if isinstance(param, Scalar):
                    given.append(_scalar(param, value))
                    continue
                pointer, layout = tensors.describe(value, pointer_device)
                if pointer % param.alignment:
                    raise ArgumentError(
                        f"address {pointer:#x} must be aligned to"
                        f" {param.alignment} bytes"
                    )
            except ArgumentError as error:
                raise ArgumentError(self._argument(position) + str(error)) from None
            given.append(pointer)
            key.append(layout)
        for position in self._launch_scalars:
            key.append(given[position])

        plan_key = tuple(key)
        plan = self._plans.get(plan_key)
        if plan is None:
            plan = self._make_plan(key, given)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[plan_key] = plan

        values = plan.values.copy()
        for slot, value in zip(self._slots, given):
            values[slot] = value
        if plan.tensors:
            values.append(self._tensor_maps(plan, given))
        return _Launch(self, plan, self._packer.pack(*values))

    def _tensor_maps(self, plan: _Plan, given: Sequence[Any]) -> bytes:
        addresses = tuple(given[spec.argument] for spec in self.spec.tensor_maps)
        maps = plan.maps.get(addresses)
        if maps is None:
            driver = self._module._get_driver()
            maps = b"".join(
                # Nothing is copied from a tensor without elements.
                driver.encode_tensor_map(tensor[0], address or 16, *tensor[1:])
                for address, tensor in zip(addresses, plan.tensors)
            )
            if len(plan.maps) >= _MAX_PLANS:
                plan.maps.clear()
            plan.maps[addresses] = maps
        return maps

    def _argument(self, position: int) -> str:
        return f"argument {position} '{self._names[position]}': "

    def _make_plan(self, layouts: Sequence[Any], scalars: Sequence[Any]) -> _Plan:
        values: List[Any] = []
        shapes: Dict[int, Tuple[int, ...]] = {}
        known: Dict[int, Layout] = {}
        first: Optional[Tuple[int, int]] = None
        remaining = iter(layouts)
        for position, param in enumerate(self.spec.params):
            values.append(0)
            if isinstance(param, Scalar):
                continue
            layout = Layout(*next(remaining))
            try:
                values += _dynamic_values(param, layout)
            except ArgumentError as error:
                raise ArgumentError(self._argument(position) + str(error)) from None
            shapes[position] = tuple(layout.shape)
            known[position] = layout
            if layout.device is None:
                continue
            if first is None:
                first = (position, layout.device)
            elif layout.device != first[1]:
                raise ArgumentError(
                    f"{self._argument(position)}is on device {layout.device}, but"
                    f" argument {first[0]} '{self._names[first[0]]}' is on device"
                    f" {first[1]}"
                )
        for requirement in self.spec.requires:
            wrong = requirement.check(shapes, scalars)
            if wrong is not None:
                raise ArgumentError(self._argument(requirement.argument) + wrong)
        self._check_storage(layouts, shapes, scalars)
        grid = tuple(
            self._grid_extent(axis, expression, shapes, scalars)
            for axis, expression in enumerate(self.spec.grid)
        )
        described = tuple(
            self._describe(spec, known[spec.argument])
            for spec in self.spec.tensor_maps
        )
        return _Plan(grid, values, first[1] if first else None, described, {})

    def _describe(self, spec: _manifest.TensorMap, layout: Layout) -> tuple:
        try:
            return _describe_tensor(spec, layout)
        except ArgumentError as error:
            raise ArgumentError(self._argument(spec.argument) + str(error)) from None

    def _check_storage(self, layouts, shapes, scalars) -> None:
        """A permuted buffer stores whole blocks, so it may need more elements."""
        remaining = iter(layouts)
        for position, param in enumerate(self.spec.params):
            if isinstance(param, Scalar):
                continue
            layout = Layout(*next(remaining))
            if param.storage is None or 0 in layout.shape:
                continue
            needed = _manifest.evaluate(param.storage, shapes, scalars)
            span = 1 + sum(
                (extent - 1) * stride
                for extent, stride in zip(layout.shape, layout.strides)
            )
            if span < needed:
                raise ArgumentError(
                    f"{self._argument(position)}spans {span} elements, must span"
                    f" {needed}: its layout stores whole blocks"
                )

    def _grid_extent(self, axis, expression, shapes, scalars) -> int:
        extent = _manifest.evaluate(expression, shapes, scalars)
        if not 0 <= extent <= _GRID_LIMITS[axis]:
            raise ArgumentError(
                f"{self.name}: grid extent {'xyz'[axis]} is {extent}, must be"
                f" between 0 and {_GRID_LIMITS[axis]}"
            )
        return extent


class Module:
    """The kernels of one artifact.

    The artifact is loaded into a device's context at the first launch there,
    so a module serves several devices, and arguments are checked where there
    is no device at all. Safe to use from several threads.
    """

    def __init__(
        self,
        image: bytes,
        manifest: Union[str, bytes, dict, _manifest.Manifest],
        driver: Optional[_driver.Driver] = None,
    ):
        if not isinstance(manifest, _manifest.Manifest):
            manifest = _manifest.parse(manifest)
        if manifest.kind not in ("ptx", "cubin"):
            raise ManifestError(
                f"the CUDA driver loads ptx and cubin, not '{manifest.kind}'"
            )
        self.manifest = manifest
        self.kernels = {spec.name: Kernel(self, spec) for spec in manifest.kernels}
        #: The names of all kernels' parameters, in order of first appearance.
        self.parameters: Tuple[str, ...] = tuple(
            dict.fromkeys(
                param.name for spec in manifest.kernels for param in spec.params
            )
        )
        places = {name: i for i, name in enumerate(self.parameters)}
        self._selections = tuple(
            (kernel, tuple(places[name] for name in kernel._names))
            for kernel in self.kernels.values()
        )
        self._image = image
        self._driver = driver
        self._lock = threading.Lock()
        self._logs: List[str] = []
        # Per context: the module and its functions by kernel name.
        self._loaded: Dict[int, Tuple[int, Dict[str, int]]] = {}
        # Per (current context, device): the context to launch in.
        self._contexts: Dict[Tuple[int, int], int] = {}

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self.kernels[name]
        except KeyError:
            raise KeyError(
                f"no kernel '{name}', there are: {', '.join(self.kernels)}"
            ) from None

    def launch(self, *args: Any, stream: Any = None, **named: Any) -> None:
        """Launches all kernels in the manifest's order on one stream.

        The arguments are `self.parameters`, in that order or by name; kernels
        that name the same parameter share its argument. Nothing is launched
        unless every kernel accepts its arguments. `stream` is a handle or a
        stream object; without one it is PyTorch's current stream for PyTorch
        tensors, else the stream that a tensor's interface names, else the
        default stream.
        """
        if named or len(args) != len(self.parameters):
            label = next(iter(self.kernels))
            args = _bind(label, self.parameters, args, named)
        launches = tuple(
            kernel.prepare([args[i] for i in selection])
            for kernel, selection in self._selections
        )
        self._run(launches, args, stream)

    __call__ = launch

    @property
    def log(self) -> str:
        """What the driver's JIT compiler reported, where the module is loaded."""
        return "\n".join(self._logs)

    def load(self, device: int = 0) -> None:
        """Loads the artifact for a device now rather than at first launch."""
        self._in_context(device, lambda driver, functions: None)

    def close(self) -> None:
        """Unloads the artifact everywhere; a later launch loads it again.

        No launch of it may still be running.
        """
        with self._lock:
            driver = self._get_driver() if self._loaded else None
            while self._loaded:
                context, (module, _) = self._loaded.popitem()
                driver.push_context(context)
                try:
                    driver.unload_module(module)
                finally:
                    driver.pop_context()

    def _run(self, launches: Sequence[_Launch], args: tuple, stream: Any) -> None:
        device = None
        for launch in launches:
            own = launch.plan.device
            if device is None:
                device = own
            elif own is not None and own != device:
                raise ArgumentError(
                    f"{launch.kernel.name}: its tensors are on device {own}, those"
                    f" of {launches[0].kernel.name} on device {device}"
                )
        # A kernel may overlap the one before only if that one is launched: what
        # is in front of these kernels need not have ended else.
        overlapping = [False] + [
            kernel.spec.overlaps_previous and 0 not in before.plan.grid
            for before, (kernel, _, _) in zip(launches, launches[1:])
        ]
        if all(0 in launch.plan.grid for launch in launches):
            return

        def launch_all(driver: _driver.Driver, functions: Dict[str, int]) -> None:
            if stream is not None:
                handle = tensors.stream_handle(stream)
            else:
                handle = tensors.current_stream(args, device)
            for (kernel, plan, params), overlaps in zip(launches, overlapping):
                if 0 in plan.grid:
                    continue
                spec = kernel.spec
                driver.launch(
                    functions[spec.name],
                    plan.grid,
                    spec.block,
                    spec.shared_bytes,
                    handle,
                    params,
                    kernel._offsets,
                    overlaps,
                )

        self._in_context(device, launch_all)

    def _in_context(
        self,
        device: Optional[int],
        action: Callable[[_driver.Driver, Dict[str, int]], None],
    ) -> None:
        """Calls `action` with the functions of a context that is current.

        That is the thread's context where it is one of the device, else the
        device's primary context, current for the time of the call only.
        """
        driver = self._get_driver()
        current = driver.current_context()
        context = self._contexts.get((current, device))
        if context is None:
            context = self._choose_context(driver, current, device)
            self._contexts[(current, device)] = context
        if context == current:
            action(driver, self._functions(driver, context))
            return
        driver.push_context(context)
        try:
            action(driver, self._functions(driver, context))
        finally:
            driver.pop_context()

    @staticmethod
    def _choose_context(
        driver: _driver.Driver, current: int, device: Optional[int]
    ) -> int:
        if current and (device is None or driver.current_device() == device):
            return current
        return driver.primary_context(device or 0)

    def _functions(self, driver: _driver.Driver, context: int) -> Dict[str, int]:
        """The functions in `context`, which is current, loaded once."""
        loaded = self._loaded.get(context)
        if loaded is not None:
            return loaded[1]
        with self._lock:
            if context not in self._loaded:
                module, log = driver.load_module(self._image)
                functions = {}
                for spec in self.manifest.kernels:
                    function = driver.get_function(module, spec.name)
                    if spec.shared_bytes > _DEFAULT_SHARED_BYTES:
                        driver.allow_shared_memory(
                            function, spec.shared_bytes, driver.current_device()
                        )
                    functions[spec.name] = function
                if log:
                    self._logs.append(log)
                self._loaded[context] = (module, functions)
            return self._loaded[context][1]

    def _get_driver(self) -> _driver.Driver:
        if self._driver is None:
            self._driver = _driver.shared()
        return self._driver

    def _pointer_device(self, pointer: int) -> Optional[int]:
        return self._get_driver().pointer_device(pointer)


def load(
    artifact_path: Union[str, "os.PathLike[str]"],
    manifest_path: Union[str, "os.PathLike[str]", None] = None,
    driver: Optional[_driver.Driver] = None,
) -> Module:
    """Loads an artifact (PTX or cubin) and its manifest.

    Without `manifest_path` the manifest is the file beside the artifact with
    the suffix .json. Raises OSError and ManifestError; what the driver thinks
    of the artifact shows at the first launch or at `Module.load`.
    """
    if manifest_path is None:
        manifest_path = os.path.splitext(os.fspath(artifact_path))[0] + ".json"
    with open(artifact_path, "rb") as file:
        image = file.read()
    with open(manifest_path, "rb") as file:
        return Module(image, file.read(), driver)


def _bind(
    label: str, names: Tuple[str, ...], args: tuple, named: Dict[str, Any]
) -> tuple:
    """Merges positional and named arguments into one tuple."""
    bound = dict(zip(names, args))
    for name, value in named.items():
        if name not in names:
            raise ArgumentError(
                f"{label}: no argument '{name}', there are: {', '.join(names)}"
            )
        if name in bound:
            raise ArgumentError(f"{label}: argument '{name}' is given twice")
        bound[name] = value
    if len(args) > len(names) or len(bound) < len(names):
        raise ArgumentError(
            f"{label}: expected {len(names)} arguments ({', '.join(names)}),"
            f" got {len(args) + len(named)}"
        )
    return tuple(bound[name] for name in names)


def _dynamic_values(param: Buffer, layout: Layout) -> List[int]:
    """Checks a tensor; returns its dynamic extents, then its dynamic strides."""
    if layout.type != param.type:
        raise ArgumentError(f"type is {layout.type}, must be {param.type}")
    if len(layout.shape) != param.rank:
        raise ArgumentError(f"rank is {len(layout.shape)}, must be {param.rank}")
    extents, strides = [], []
    for dimension, (extent, required) in enumerate(zip(layout.shape, param.shape)):
        if extent > _MAX_EXTENT:
            raise ArgumentError(f"extent {dimension} is {extent}, must be below 2^31")
        if required is None:
            extents.append(extent)
        elif extent != required:
            raise ArgumentError(f"extent {dimension} is {extent}, must be {required}")
    for dimension, (stride, required, divisor) in enumerate(
        zip(layout.strides, param.strides, param.divisibility)
    ):
        # The stride of a dimension that is never stepped along is free.
        unused = layout.shape[dimension] <= 1
        if required is not None:
            if stride != required and not unused:
                raise ArgumentError(
                    f"stride {dimension} is {stride}, must be {required}"
                )
            continue
        if stride % divisor:
            if not unused:
                raise ArgumentError(
                    f"stride {dimension} is {stride}, must be divisible by {divisor}"
                )
            stride += divisor - stride % divisor
        strides.append(stride)
    return extents + strides


def _describe_tensor(spec: _manifest.TensorMap, layout: Layout) -> tuple:
    """Type, extents, strides, box and swizzle, as the driver wants them."""
    width = _ELEMENT_BYTES[layout.type]
    # A map has no empty dimension; kernels copy nothing from an empty tensor.
    extents = tuple(max(layout.shape[dim], 1) for dim in spec.dims)
    strides = tuple(
        # Free, where the dimension is never stepped along.
        layout.strides[dim] * width if layout.shape[dim] > 1 else 16
        for dim in spec.dims[1:]
    )
    box = spec.box
    if spec.ragged is not None:
        if layout.shape[spec.ragged] > _RAGGED_ROWS:
            raise ArgumentError(
                f"extent {spec.ragged} is {layout.shape[spec.ragged]}, must be at"
                f" most 2^30 for sequences in it"
            )
        place = spec.dims.index(spec.ragged)
        stride = strides[place - 1]
        extents = extents[:place] + (_RAGGED_ROWS,) + extents[place + 1 :]
        extents += (_RAGGED_EXTENT, _RAGGED_EXTENT)
        strides += (stride, _RAGGED_BYTES - stride)
        box += (1, 1)
    return layout.type, extents, strides, box, spec.swizzle


def _scalar(param: Scalar, value: Any) -> Union[int, float]:
    convert, noun = (float, "a number") if param.type == "f32" else _INTEGER
    try:
        # A tensor would convert by waiting for the device, a string by parsing.
        if tensors.is_tensor(value) or isinstance(value, (str, bytes)):
            raise TypeError
        number = convert(value)
    except TypeError:
        raise ArgumentError(
            f"expected {noun} ({param.type}), got {tensors.type_name(value)}"
        ) from None
    if param.type == "f32":
        try:
            _F32.pack(number)
        except OverflowError:
            raise ArgumentError(f"{value} does not fit f32") from None
    elif not -(1 << _INTEGER_BITS[param.type] - 1) <= number < (
        1 << _INTEGER_BITS[param.type] - 1
    ):
        raise ArgumentError(f"{number} does not fit {param.type}")
    if param.nonnegative and not (number >= 0 and math.isfinite(number)):
        raise ArgumentError(f"must be finite and not negative, got {number}")
    return number

