"""Checks of a kernel's arguments against its manifest.

Extents, strides, types and devices are checked once for a set of layouts; the
result says how to launch the kernel with any tensors that have these layouts.
"""

from __future__ import annotations

import math
import operator
import struct
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import manifest as _manifest
from . import tensors
from .errors import ArgumentError
from .manifest import Buffer, Scalar
from .tensors import ELEMENT_BYTES, Layout

#: Kernels compare coordinates with extents in 32 bits.
_MAX_EXTENT = 2**31 - 1

_GRID_LIMITS = (2**31 - 1, 2**16 - 1, 2**16 - 1)
_INTEGER_BITS = {"i32": 32, "i64": 64, "index": 64}

#: Round to the nearest, ties to even. Standard sizes check the range of a
#: number, native ones do not.
_ROUND = {"f16": struct.Struct("<e").pack, "f32": struct.Struct("<f").pack}

#: The exponents of the units in the last place of the smallest bf16, and of one
#: in the binade [0.5, 1).
_BF16_LEAST, _BF16_DIGITS = -133, 8

#: A tensor map that ends with each sequence: see docs/Manifest.md.
_RAGGED_ROWS = 2**30
_RAGGED_EXTENT = 2**31
_RAGGED_BYTES = 2**35
#: The unit of offsets in ragged tensor maps, in bytes.
_OFFSET_UNIT = 16


class MapArguments(NamedTuple):
    """Arguments of cuTensorMapEncodeTiled without the address.

    `empty` maps describe a tensor without elements. They need the address of
    some zeros: every box of such a map holds zeros.
    """

    type: str
    extents: Tuple[int, ...]
    strides: Tuple[int, ...]
    box: Tuple[int, ...]
    swizzle: int
    empty: bool


class CheckedArguments(NamedTuple):
    """Facts about a launch that follow from the layouts of the arguments.

    `numbers` holds, for each buffer parameter, its dynamic extents and then
    its dynamic strides; for a scalar nothing.
    """

    grid: Tuple[int, int, int]
    numbers: Tuple[Tuple[int, ...], ...]
    device: Optional[int]
    maps: Tuple[MapArguments, ...]


def check_layouts(
    spec: _manifest.Kernel,
    arguments: Sequence[Union[Layout, int, float]],
    multiprocessors: Callable[[Optional[int]], int],
) -> CheckedArguments:
    """Checks the layouts of all buffers and the integers that sizes depend on.

    `arguments` has one entry for each parameter: a layout, or the number of a
    scalar. `multiprocessors` returns the number of a device. Raises
    ArgumentError that names the argument.
    """
    layouts = {i: a for i, a in enumerate(arguments) if isinstance(a, Layout)}
    scalars = {i: a for i, a in enumerate(arguments) if not isinstance(a, Layout)}
    shapes = {position: layout.shape for position, layout in layouts.items()}
    first: Optional[int] = None
    numbers: List[Tuple[int, ...]] = []
    for position, param in enumerate(spec.params):
        layout = layouts.get(position)
        if layout is None:
            numbers.append(())
            continue
        try:
            numbers.append(tuple(_dynamic_numbers(param, layout)))
        except ArgumentError as error:
            raise ArgumentError(label(spec, position) + str(error)) from None
        if layout.device is None:
            continue
        if first is None:
            first = position
        elif layout.device != layouts[first].device:
            raise ArgumentError(
                f"{label(spec, position)}is on device {layout.device}, but"
                f" {label(spec, first)[:-2]} is on device {layouts[first].device}"
            )
    device = None if first is None else layouts[first].device
    processors = multiprocessors(device)
    for requirement in spec.requires:
        wrong = requirement.check(shapes, scalars, processors)
        if wrong is not None:
            raise ArgumentError(label(spec, requirement.argument) + wrong)
    _check_storage(spec, layouts, shapes, scalars, processors)
    grid = tuple(
        _grid_extent(spec, axis, expression, shapes, scalars, processors)
        for axis, expression in enumerate(spec.grid)
    )
    maps = []
    for tensor_map in spec.tensor_maps:
        try:
            maps.append(_map_arguments(tensor_map, layouts[tensor_map.argument]))
        except ArgumentError as error:
            raise ArgumentError(label(spec, tensor_map.argument) + str(error)) from None
    return CheckedArguments(grid, tuple(numbers), device, tuple(maps))


def label(spec: _manifest.Kernel, position: int) -> str:
    """Returns the beginning of a message about an argument."""
    return f"argument {position} '{spec.params[position].name}': "


def read_scalar(param: Scalar, value: Any) -> Union[int, float]:
    """Returns the number that `value` stands for; raises ArgumentError."""
    if param.type in _manifest.FLOAT_SCALARS:
        number = _convert(param, "a number", float, value)
        try:
            _round(param.type, number)
        except OverflowError:
            raise ArgumentError(f"{value} does not fit {param.type}") from None
    elif param.type == "i1":
        number = _convert(param, "a bool", _truth, value)
        if number not in (0, 1):
            raise ArgumentError(f"{number} does not fit i1")
    else:
        number = _convert(param, "an integer", operator.index, value)
        limit = 1 << _INTEGER_BITS[param.type] - 1
        if not -limit <= number < limit:
            raise ArgumentError(f"{number} does not fit {param.type}")
    if param.nonnegative and not (number >= 0 and math.isfinite(number)):
        raise ArgumentError(f"must be finite and not negative, got {number}")
    return number


def bf16_bits(number: float) -> int:
    """Rounds to bf16, to the nearest, ties to even; returns the bits.

    Raises OverflowError if a finite number would become infinite.
    """
    if number and math.isfinite(number):
        exponent = max(math.frexp(number)[1] - _BF16_DIGITS, _BF16_LEAST)
        # Scaling by a power of two is exact, and so is the result in f32.
        number = math.copysign(
            math.ldexp(round(math.ldexp(number, -exponent)), exponent), number
        )
    bits = int.from_bytes(_ROUND["f32"](number), "little") >> 16
    # The bits that tell a NaN from an infinity may be among those cut off.
    return bits | 0x40 if math.isnan(number) else bits


def _round(type: str, number: float) -> None:
    """Raises OverflowError if a finite number becomes infinite."""
    if type == "bf16":
        bf16_bits(number)
    elif type in _ROUND:
        _ROUND[type](number)


def _convert(param: Scalar, noun: str, convert: Callable[[Any], Any], value: Any) -> Any:
    try:
        if tensors.is_tensor(value):
            # Other tensors would convert by waiting for the device.
            value = tensors.host_scalar(value)
        # A string would convert by parsing.
        elif isinstance(value, (str, bytes)):
            raise TypeError
        return convert(value)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"expected {noun} ({param.type}), got {tensors.type_name(value)}"
        ) from None
    except OverflowError:
        raise ArgumentError(f"{value} does not fit {param.type}") from None


def _truth(value: Any) -> int:
    # The bool of NumPy is no integer.
    return int(value) if type(value).__name__ in ("bool", "bool_") else operator.index(value)


def _dynamic_numbers(param: Buffer, layout: Layout) -> List[int]:
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
    empty = 0 in layout.shape
    for dimension, (stride, required, divisor, limit) in enumerate(
        zip(layout.strides, param.strides, param.divisibility, param.limits)
    ):
        # No address depends on such a stride, so any value fits.
        unused = empty or layout.shape[dimension] == 1
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
        if limit is not None and not 0 <= stride <= limit and not unused:
            raise ArgumentError(
                f"stride {dimension} is {stride}, must be between 0 and {limit}"
            )
        strides.append(stride)
    return extents + strides


def _check_storage(
    spec: _manifest.Kernel,
    layouts: Mapping[int, Layout],
    shapes: Mapping[int, Tuple[int, ...]],
    scalars: Mapping[int, Any],
    processors: int,
) -> None:
    """A buffer with permuted elements stores whole blocks of them."""
    for position, layout in layouts.items():
        storage = spec.params[position].storage
        if storage is None or 0 in layout.shape:
            continue
        needed = _manifest.evaluate(storage, shapes, scalars, processors)
        span = 1 + sum(
            (extent - 1) * stride
            for extent, stride in zip(layout.shape, layout.strides)
        )
        if span < needed:
            raise ArgumentError(
                f"{label(spec, position)}spans {span} elements, must span"
                f" {needed}: its layout stores whole blocks"
            )


def _grid_extent(spec, axis, expression, shapes, scalars, processors) -> int:
    extent = _manifest.evaluate(expression, shapes, scalars, processors)
    if not 0 <= extent <= _GRID_LIMITS[axis]:
        raise ArgumentError(
            f"{spec.name}: grid extent {'xyz'[axis]} is {extent}, must be"
            f" between 0 and {_GRID_LIMITS[axis]}"
        )
    return extent


def _check_offsets(layout: Layout, dims: Sequence[int], width: int) -> None:
    """The offsets along these dimensions are one coordinate of a tensor map."""
    strides = {d: layout.strides[d] * width for d in dims if layout.shape[d] > 1}
    for d, stride in strides.items():
        if stride < 0 or stride % _OFFSET_UNIT != 0:
            raise ArgumentError(
                f"stride {d} is {layout.strides[d]}, must be divisible by"
                f" {_OFFSET_UNIT // width}"
            )
    most = sum((layout.shape[d] - 1) * stride for d, stride in strides.items())
    if most >= _RAGGED_EXTENT * _OFFSET_UNIT:
        raise ArgumentError(
            f"the last offset along dimensions {list(dims)} is {most} bytes, must be"
            " below 2^35"
        )


def _map_arguments(spec: _manifest.TensorMap, layout: Layout) -> MapArguments:
    width = ELEMENT_BYTES[layout.type]
    rank = len(spec.dims)
    empty = 0 in layout.shape
    if empty:
        # The driver refuses extents of 0. Of a map with extents of 1 over some
        # zeros, every box holds zeros, within the map and outside of it.
        extents, strides = (1,) * rank, (16,) * (rank - 1)
    else:
        extents = tuple(layout.shape[dim] for dim in spec.dims)
        strides = tuple(
            # No address depends on the stride of a dimension with one element.
            layout.strides[dim] * width if layout.shape[dim] > 1 else 16
            for dim in spec.dims[1:]
        )
    box = spec.box
    if spec.ragged is not None:
        rows = layout.shape[spec.ragged]
        if rows > _RAGGED_ROWS:
            raise ArgumentError(
                f"extent {spec.ragged} is {rows}, must be at most 2^30 for"
                " sequences in it"
            )
        others = [d for d in range(len(layout.shape)) if d not in spec.dims]
        if others:
            box += (1,)
            extents += (1 if empty else _RAGGED_EXTENT,)
            strides += (_OFFSET_UNIT,)
            if not empty:
                _check_offsets(layout, others, width)
        box += (1, 1)
        if empty:
            extents, strides = extents + (1, 1), strides + (16, 16)
        else:
            place = spec.dims.index(spec.ragged)
            stride = strides[place - 1]
            extents = extents[:place] + (_RAGGED_ROWS,) + extents[place + 1 :]
            extents += (_RAGGED_EXTENT, _RAGGED_EXTENT)
            strides += (stride, _RAGGED_BYTES - stride)
    return MapArguments(layout.type, extents, strides, box, spec.swizzle, empty)
