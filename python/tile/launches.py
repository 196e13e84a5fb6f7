"""Launches whose parameters are laid out once and patched at each call."""

from __future__ import annotations

import ctypes
import struct
import threading
from operator import itemgetter
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import driver as _driver
from . import manifest as _manifest
from .arguments import CheckedArguments, check_layouts
from .errors import ArgumentError
from .manifest import Scalar
from .tensors import Layout

_PACK_CODES = {"f32": "f", "i32": "i", "i64": "q", "index": "q"}

#: Tensor maps that a kernel keeps for each of its parameters.
_MAX_MAPS = 1024


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
        self._memory = (ctypes.c_char * (fixed + 8 * len(numbers) + 8))()
        struct.pack_into(f"={len(numbers)}q", self._memory, fixed, *numbers)
        base = ctypes.addressof(self._memory)
        addresses: List[int] = []
        for offset, found in zip(offsets, checked.numbers):
            addresses.append(base + offset)
            for _ in found:
                addresses.append(base + fixed)
                fixed += 8
        first_map = len(addresses)
        addresses += [0] * len(checked.maps)
        self._pointers = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        self._pack = values.pack_into
        self._select = _selector(places)
        self._map_arguments = checked.maps
        self._empty = any(arguments.empty for arguments in checked.maps)
        self._select_maps = _selector(
            [places[spec_map.argument] for spec_map in spec.tensor_maps]
        )
        self._mapped: Optional[tuple] = None
        # Per tensor map: the position of its address in the array, and the maps
        # of the tensors seen before, by address.
        self._maps: List[Tuple[int, Dict[int, _driver.TensorMap]]] = [
            (position, {}) for position in range(first_map, len(addresses))
        ]
        # The driver reads these maps at every launch.
        self._current: List[_driver.TensorMap] = []

    def launch(
        self,
        driver: _driver.Driver,
        context: int,
        function: int,
        values: Sequence[Any],
        stream: int,
    ) -> None:
        """Launches the kernel in `context`, which is current."""
        self._pack(self._memory, 0, *self._select(values))
        if self._map_arguments:
            mapped = self._select_maps(values)
            if mapped != self._mapped:
                self._set_maps(driver, context, mapped)
        driver.launch(function, self.geometry, stream, self._pointers)

    def _set_maps(self, driver: _driver.Driver, context: int, mapped: tuple) -> None:
        """Sets the tensor maps to those of the tensors at these addresses."""
        self._mapped = None
        current = []
        pointers = self._pointers
        for address, (position, known) in zip(mapped, self._maps):
            encoded = known.get(address)
            if encoded is None:
                arguments = self._map_arguments[len(current)]
                encoded = driver.encode_tensor_map(
                    arguments.type,
                    driver.zeros(context) if arguments.empty else address,
                    *arguments[1:-1],
                )
                # The zeros that stand for a tensor are those of one context.
                if not arguments.empty:
                    if len(known) >= _MAX_MAPS:
                        known.clear()
                    known[address] = encoded
            pointers[position] = encoded.address
            current.append(encoded)
        self._current = current
        if not self._empty:
            self._mapped = mapped


class PreparedLaunch:
    """Kernels of a module in their order, ready for tensors of certain layouts.

    `values` of a launch are the addresses of the tensors and the numbers, in
    the order of `names`. Safe to use from several threads.
    """

    def __init__(
        self,
        module: Any,
        specs: Sequence[_manifest.Kernel],
        names: Sequence[str],
        arguments: Dict[str, Union[Layout, int, float]],
    ):
        places = {name: place for place, name in enumerate(names)}
        self._module = module
        self._lock = threading.Lock()
        self._kernels: List[PreparedKernel] = []
        self.device: Optional[int] = None
        follows = False
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
                self._kernels.append(
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
        if not self._kernels:
            return
        module = self._module
        driver, context, entered = module.enter(self.device)
        try:
            functions = module.functions(driver, context)
            with self._lock:
                for kernel in self._kernels:
                    kernel.launch(
                        driver, context, functions[kernel.name], values, stream
                    )
        finally:
            if entered:
                driver.pop_context()
