"""Launches whose parameters are laid out once and patched at each call."""

from __future__ import annotations

import ctypes
import struct
import threading
from operator import itemgetter
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import driver as _driver
from . import manifest as _manifest
from .arguments import CheckedArguments, bf16_bits, check_layouts
from .errors import ArgumentError
from .manifest import Scalar
from .tensors import Layout

#: The struct codes of scalars. A bf16 is packed as its bits.
_PACK_CODES = {
    "f16": "e",
    "bf16": "H",
    "f32": "f",
    "f64": "d",
    "i1": "?",
    "i32": "i",
    "i64": "q",
    "index": "q",
}

#: Sets of tensor maps that a kernel keeps.
_MAX_MAPS = 1024

#: The tensor maps of a launch, and their addresses.
_Maps = Tuple[Tuple[_driver.TensorMap, ...], List[int]]


def _selector(places: Sequence[int]) -> Callable[[Sequence[Any]], Tuple[Any, ...]]:
    """Returns a function that takes these items of a sequence."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)


class PreparedKernel:
    """The parameters of one kernel for one set of layouts.

    The driver takes an array with the address of each parameter. Addresses of
    tensors and scalars are patched at each launch, in one piece of memory;
    extents and strides stay. `places` are the positions of the kernel's
    arguments among the values of the launch.
    """

    def __init__(
        self,
        spec: _manifest.Kernel,
        checked: CheckedArguments,
        places: Sequence[int],
        overlaps: bool,
    ):
        self.name = spec.name
        self.geometry = _driver.LaunchGeometry(
            checked.grid, spec.block, spec.shared_bytes, overlaps
        )
        code = "@" + "".join(
            _PACK_CODES[param.type] if isinstance(param, Scalar) else "P"
            for param in spec.params
        )
        values = struct.Struct(code)
        ends = [struct.calcsize(code[: 2 + i]) for i in range(len(spec.params))]
        offsets = [end - struct.calcsize(c) for end, c in zip(ends, code[1:])]
        numbers = [n for found in checked.numbers for n in found]
        fixed = -(-values.size // 8) * 8
        self.memory = (ctypes.c_char * (fixed + 8 * len(numbers) + 8))()
        struct.pack_into(f"={len(numbers)}q", self.memory, fixed, *numbers)
        #: Where the parameters are in `memory`, in their order.
        self.offsets: List[int] = []
        for offset, found in zip(offsets, checked.numbers):
            self.offsets.append(offset)
            for _ in found:
                self.offsets.append(fixed)
                fixed += 8
        #: Offset, position among the values of a launch, and struct code of each
        #: parameter that a launch sets.
        self.patches = list(zip(offsets, places, code[1:]))
        #: For each tensor map the position of its address and its arguments.
        self.maps = [
            (places[spec_map.argument], arguments)
            for spec_map, arguments in zip(spec.tensor_maps, checked.maps)
        ]
        base = ctypes.addressof(self.memory)
        addresses = [base + offset for offset in self.offsets]
        first_map = len(addresses)
        addresses += [0] * len(checked.maps)
        self._pointers = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        self._pack = values.pack_into
        self._select = _selector(places)
        self._bf16 = [
            i
            for i, param in enumerate(spec.params)
            if isinstance(param, Scalar) and param.type == "bf16"
        ]
        self._map_arguments = checked.maps
        self._empty = any(arguments.empty for arguments in checked.maps)
        self._select_maps = _selector([place for place, _ in self.maps])
        self._mapped: Optional[tuple] = None
        # The encoded maps of tensors seen before, by their addresses.
        self._known: Dict[tuple, _Maps] = {}
        self._put_maps = struct.Struct(f"{len(checked.maps)}P").pack_into
        self._first_map = first_map * ctypes.sizeof(ctypes.c_void_p)
        # The driver reads these maps at every launch.
        self._current: Optional[_Maps] = None

    def launch(
        self,
        driver: _driver.Driver,
        context: int,
        function: int,
        values: Sequence[Any],
        stream: int,
    ) -> None:
        """Launches the kernel in `context`, which is current."""
        selected = self._select(values)
        if self._bf16:
            selected = list(selected)
            for i in self._bf16:
                selected[i] = bf16_bits(selected[i])
        self._pack(self.memory, 0, *selected)
        if self._map_arguments:
            mapped = self._select_maps(values)
            if mapped != self._mapped:
                self._set_maps(driver, context, mapped)
        driver.launch(function, self.geometry, stream, self._pointers)

    def _set_maps(self, driver: _driver.Driver, context: int, mapped: tuple) -> None:
        """Sets the tensor maps to those of the tensors at these addresses."""
        self._mapped = None
        maps = self._known.get(mapped)
        if maps is None:
            encoded = tuple(
                driver.encode_tensor_map(
                    arguments.type,
                    driver.zeros(context) if arguments.empty else address,
                    *arguments[1:-1],
                )
                for arguments, address in zip(self._map_arguments, mapped)
            )
            maps = encoded, [tensor_map.address for tensor_map in encoded]
            # The zeros that stand for a tensor are those of one context.
            if not self._empty:
                if len(self._known) >= _MAX_MAPS:
                    self._known.clear()
                self._known[mapped] = maps
        self._put_maps(self._pointers, self._first_map, *maps[1])
        self._current = maps
        if not self._empty:
            self._mapped = mapped


class PreparedLaunch:
    """Kernels of a module in their order, ready for tensors of certain layouts.

    `values` of a launch are the addresses of the tensors and the numbers, in
    the order of `names`. With `follows`, the launch in front of it in the stream is one
    of tile's own, which a kernel that waits may overlap. Safe to use from several
    threads.
    """

    def __init__(
        self,
        module: Any,
        specs: Sequence[_manifest.Kernel],
        names: Sequence[str],
        arguments: Dict[str, Union[Layout, int, float]],
        follows: bool = False,
    ):
        places = {name: place for place, name in enumerate(names)}
        self.module = module
        self._lock = threading.Lock()
        self.kernels: List[PreparedKernel] = []
        self.device: Optional[int] = None
        for spec in specs:
            checked = check_layouts(
                spec,
                [arguments[param.name] for param in spec.params],
                module.multiprocessors,
            )
            if self.device is None:
                self.device = checked.device
            elif checked.device not in (None, self.device):
                raise ArgumentError(
                    f"{spec.name}: its tensors are on device {checked.device}, those"
                    f" of {specs[0].name} on device {self.device}"
                )
            # A grid without blocks is not launched, and what is in front of it
            # in the stream need not have ended.
            launched = 0 not in checked.grid
            if launched:
                self.kernels.append(
                    PreparedKernel(
                        spec,
                        checked,
                        [places[param.name] for param in spec.params],
                        spec.overlaps_previous and follows,
                    )
                )
            follows = launched

    def launch(self, values: Sequence[Any], stream: int) -> None:
        """Launches the kernels on a stream; does not wait for them."""
        if not self.kernels:
            return
        module = self.module
        driver, context, entered = module.enter(self.device)
        try:
            functions = module.functions(driver, context)
            with self._lock:
                for kernel in self.kernels:
                    kernel.launch(
                        driver, context, functions[kernel.name], values, stream
                    )
        finally:
            if entered:
                driver.pop_context()
