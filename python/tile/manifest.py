"""The manifest that tile-translate writes beside an artifact.

`parse` turns its JSON into checked, immutable records; docs/Manifest.md explains
each field.
"""

from __future__ import annotations

import json
import operator
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, FrozenSet, Mapping, Optional, Tuple, Union

from .errors import ArgumentError, ManifestError

VERSION = 2

BUFFER_TYPES = ("f16", "bf16", "f32", "f64", "i8", "i32", "i64")
FLOAT_SCALARS = ("f16", "bf16", "f32", "f64")
#: Integers that sizes may depend on. An i1 is a condition.
INTEGER_SCALARS = ("i32", "i64", "index")
SCALAR_TYPES = FLOAT_SCALARS + ("i1",) + INTEGER_SCALARS

#: Tensor maps have at most five dimensions; ragged ones need two of them.
MAX_RAGGED_RANK = 3

#: An integer, ("dim", p, d), ("arg", p), ("multiprocessors",) or (operator, a, b),
#: where p is the position of a parameter, or its name in the shapes of a manifest.
Expression = Union[int, Tuple[Any, ...]]

_OPERATORS: Dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}

#: Relations of an extent to a number, with their words in messages.
_RELATIONS: Dict[str, Tuple[Callable[[int, int], bool], str]] = {
    "equal": (operator.eq, ""),
    "at_least": (operator.ge, "at least "),
    "at_most": (operator.le, "at most "),
    "multiple_of": (
        lambda a, b: a == 0 if b == 0 else a % b == 0,
        "a multiple of ",
    ),
}
RELATIONS = tuple(_RELATIONS)


@dataclass(frozen=True)
class Scalar:
    """A parameter passed by value; `nonnegative` ones must be finite as well."""

    name: str
    type: str
    nonnegative: bool = False


@dataclass(frozen=True)
class Buffer:
    """A pointer with the extents and strides, in elements, that are dynamic.

    `None` in `shape` or `strides` is dynamic, a number is required of the
    tensor. `alignment` counts bytes. Where the kernel permutes the elements,
    there are no strides, and `storage` is how many elements it stores. A stride
    with a number in `limits` is not negative and at most that.
    """

    name: str
    type: str
    shape: Tuple[Optional[int], ...]
    strides: Tuple[Optional[int], ...]
    divisibility: Tuple[int, ...]
    alignment: int
    storage: Optional[Expression] = None
    limits: Tuple[Optional[int], ...] = ()

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class TensorMap:
    """The tensor map through which TMA accesses the buffer of `argument`.

    `dims` are that buffer's dimensions, the innermost first. `box` holds the
    extents of one copy, in that order; `swizzle` counts bytes. Sequences follow
    each other along the dimension `ragged` of the buffer, if there is one, and a
    copy ends at the end of its sequence. Such a map may have two of more than three
    dimensions; offsets in units of 16 bytes replace the others.
    """

    argument: int
    dims: Tuple[int, ...]
    box: Tuple[int, ...]
    swizzle: int
    ragged: Optional[int] = None


@dataclass(frozen=True)
class Requirement:
    """A condition on extent `dim` of the buffer of parameter `argument`.

    The extent must be in `relation`, one of `RELATIONS`, to the number `value`;
    `reason` names that number in messages.
    """

    argument: int
    dim: int
    relation: str
    value: Expression
    reason: str

    def check(
        self,
        shapes: Mapping[int, Tuple[int, ...]],
        scalars: Mapping[int, int],
        multiprocessors: int,
    ) -> Optional[str]:
        """Returns why these arguments fail (see `evaluate`); None if they fit."""
        extent = shapes[self.argument][self.dim]
        value = evaluate(self.value, shapes, scalars, multiprocessors)
        holds, words = _RELATIONS[self.relation]
        if holds(extent, value):
            return None
        return f"extent {self.dim} is {extent}, must be {words}{value}: {self.reason}"


@dataclass(frozen=True)
class Kernel:
    """One kernel: its launch geometry and its parameters in order.

    The tensor maps, 128 bytes each, follow the parameters. A kernel that
    `overlaps_previous` may start before the one in front of it has ended.
    """

    name: str
    grid: Tuple[Expression, Expression, Expression]
    block: Tuple[int, int, int]
    shared_bytes: int
    params: Tuple[Union[Scalar, Buffer], ...]
    tensor_maps: Tuple[TensorMap, ...] = ()
    overlaps_previous: bool = False
    requires: Tuple[Requirement, ...] = ()

    @property
    def launch_scalars(self) -> Tuple[int, ...]:
        """Returns the scalar parameters that the grid or a requirement uses."""
        found = set()
        for expression in self.grid:
            _collect_scalars(expression, found)
        for requirement in self.requires:
            _collect_scalars(requirement.value, found)
        return tuple(sorted(found))

    def evaluate(
        self,
        expression: Expression,
        shapes: Mapping[str, Tuple[int, ...]],
        scalars: Mapping[str, int],
        multiprocessors: int,
    ) -> int:
        """Evaluates an expression for arguments given by name (see `evaluate`)."""
        by_position: Tuple[Dict[int, Any], Dict[int, int]] = {}, {}
        for position, param in enumerate(self.params):
            if param.name in shapes:
                by_position[0][position] = shapes[param.name]
            elif param.name in scalars:
                by_position[1][position] = scalars[param.name]
        return evaluate(expression, *by_position, multiprocessors)


@dataclass(frozen=True)
class Manifest:
    """The facts that a launcher needs about an artifact.

    `multiprocessors` is the number of the largest part of the chip. `shapes`
    holds the names and the smallest extents of the buffers that requirements
    determine, in an order in which they can be evaluated.
    """

    chip: str
    kind: str
    multiprocessors: int
    kernels: Tuple[Kernel, ...]
    shapes: Tuple[Tuple[str, Tuple[Expression, ...]], ...] = ()


def parse(source: Union[str, bytes, Mapping[str, Any]]) -> Manifest:
    """Parses a manifest given as JSON text or as the decoded object.

    Raises ManifestError with the path of the offending field.
    """
    if isinstance(source, (str, bytes)):
        try:
            source = json.loads(source)
        except ValueError as error:
            raise ManifestError(f"manifest is not JSON: {error}") from None
    root = _mapping(source, "manifest")
    version = _field(root, "version", "manifest")
    if version != VERSION:
        raise ManifestError(
            f"manifest version is {version!r}, this package reads {VERSION}"
        )
    kernels = _list(_field(root, "kernels", "manifest"), "kernels")
    if not kernels:
        raise ManifestError("kernels: is empty")
    parsed = tuple(
        _kernel(kernel, f"kernels[{i}]") for i, kernel in enumerate(kernels)
    )
    _require_unique((kernel.name for kernel in parsed), "kernels")
    return Manifest(
        chip=_string(_field(root, "chip", "manifest"), "chip"),
        kind=_string(_field(root, "kind", "manifest"), "kind"),
        multiprocessors=_integer(
            root.get("multiprocessors", 1), "multiprocessors", minimum=1
        ),
        kernels=parsed,
        shapes=_shapes(root.get("shapes", []), parsed),
    )


def evaluate(
    expression: Expression,
    shapes: Mapping[int, Tuple[int, ...]],
    scalars: Mapping[int, int],
    multiprocessors: int,
) -> int:
    """Evaluates an expression of a parsed kernel.

    `shapes` and `scalars` are keyed as the expression gives parameters, by
    position or by name; `multiprocessors` is the number of the GPU. Raises
    ArgumentError on a division by zero, which only arguments can cause.
    """
    if isinstance(expression, int):
        return expression
    kind = expression[0]
    if kind == "dim":
        return shapes[expression[1]][expression[2]]
    if kind == "arg":
        return scalars[expression[1]]
    if kind == "multiprocessors":
        return multiprocessors
    left = evaluate(expression[1], shapes, scalars, multiprocessors)
    right = evaluate(expression[2], shapes, scalars, multiprocessors)
    if right == 0 and kind in ("floordiv", "ceildiv", "mod"):
        raise ArgumentError(f"an expression of the manifest divides {left} by zero")
    return _OPERATORS[kind](left, right)


def _kernel(value: Any, path: str) -> Kernel:
    value = _mapping(value, path)
    items = _list(_field(value, "params", path), f"{path}.params")
    first = next((i for i, item in enumerate(items) if _is_tensor_map(item)), len(items))
    items, maps = items[:first], items[first:]
    params = tuple(
        _param(param, f"{path}.params[{i}]") for i, param in enumerate(items)
    )
    # Sizes are functions of all parameters.
    params = tuple(
        replace(
            param,
            storage=_expression(
                item["storage"], params, f"{path}.params[{i}].storage"
            ),
        )
        if "storage" in item
        else param
        for i, (param, item) in enumerate(zip(params, items))
    )
    _require_unique((param.name for param in params), f"{path}.params")
    overlaps = value.get("overlaps_previous", False)
    if not isinstance(overlaps, bool):
        raise ManifestError(
            f"{path}.overlaps_previous: expected true or false, got {overlaps!r}"
        )
    grid = _list(_field(value, "grid", path), f"{path}.grid", length=3)
    block = _list(_field(value, "block", path), f"{path}.block", length=3)
    return Kernel(
        name=_string(_field(value, "name", path), f"{path}.name"),
        grid=tuple(
            _expression(expression, params, f"{path}.grid[{i}]")
            for i, expression in enumerate(grid)
        ),
        block=tuple(
            _integer(extent, f"{path}.block[{i}]", minimum=1)
            for i, extent in enumerate(block)
        ),
        shared_bytes=_integer(
            _field(value, "shared_bytes", path), f"{path}.shared_bytes"
        ),
        params=params,
        tensor_maps=tuple(
            _tensor_map(item, params, f"{path}.params[{first + i}]")
            for i, item in enumerate(maps)
        ),
        overlaps_previous=overlaps,
        requires=tuple(
            _requirement(item, params, f"{path}.requires[{i}]")
            for i, item in enumerate(
                _list(value.get("requires", []), f"{path}.requires")
            )
        ),
    )


def _shapes(value: Any, kernels: Tuple[Kernel, ...]) -> tuple:
    params = {param.name: param for kernel in kernels for param in kernel.params}
    shapes = []
    for i, item in enumerate(_list(value, "shapes")):
        path = f"shapes[{i}]"
        item = _mapping(item, path)
        name = _string(_field(item, "name", path), f"{path}.name")
        if not isinstance(params.get(name), Buffer):
            raise ManifestError(f"{path}.name: parameter '{name}' is not a buffer")
        extents = _list(
            _field(item, "extents", path), f"{path}.extents", length=params[name].rank
        )
        shapes.append(
            (
                name,
                tuple(
                    _expression(extent, params, f"{path}.extents[{dim}]")
                    for dim, extent in enumerate(extents)
                ),
            )
        )
    _require_unique((name for name, _ in shapes), "shapes")
    return tuple(shapes)


def _requirement(value: Any, params: tuple, path: str) -> Requirement:
    value = _mapping(value, path)
    subject = ["dim", _field(value, "argument", path), _field(value, "dim", path)]
    _, argument, dim = _expression(subject, params, path)
    return Requirement(
        argument,
        dim,
        relation=_choice(_field(value, "relation", path), RELATIONS, f"{path}.relation"),
        value=_expression(_field(value, "value", path), params, f"{path}.value"),
        reason=_string(_field(value, "reason", path), f"{path}.reason"),
    )


def _is_tensor_map(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("kind") == "tensor_map"


def _tensor_map(value: Any, params: tuple, path: str) -> TensorMap:
    if not _is_tensor_map(value):
        raise ManifestError(f"{path}: stands after a parameter of kind 'tensor_map'")
    argument = _integer(_field(value, "argument", path), f"{path}.argument")
    if argument >= len(params) or not isinstance(params[argument], Buffer):
        raise ManifestError(f"{path}.argument: parameter {argument} is not a buffer")
    rank = params[argument].rank
    ragged = value.get("ragged")
    dims = tuple(
        _integer(item, f"{path}.dims[{i}]")
        for i, item in enumerate(
            _list(
                _field(value, "dims", path),
                f"{path}.dims",
                length=rank if ragged is None else None,
            )
        )
    )
    has_offsets = ragged is not None and len(dims) == 2 < rank
    if (
        not params[argument].strides
        or len(set(dims)) != (2 if has_offsets else rank)
        or not all(0 <= dim < rank for dim in dims)
    ):
        raise ManifestError(f"{path}.dims: {dims} are not the dimensions of a buffer")
    box = tuple(
        _integer(item, f"{path}.box[{i}]", minimum=1)
        for i, item in enumerate(
            _list(_field(value, "box", path), f"{path}.box", length=len(dims))
        )
    )
    swizzle = _choice(_field(value, "swizzle", path), (0, 32, 64, 128), f"{path}.swizzle")
    if ragged is not None:
        ragged = _integer(ragged, f"{path}.ragged")
        if ragged not in dims[1:] or len(dims) > MAX_RAGGED_RANK:
            raise ManifestError(
                f"{path}.ragged: dimension {ragged} cannot have the ends of sequences"
            )
    return TensorMap(argument, dims, box, swizzle, ragged)


def _param(value: Any, path: str) -> Union[Scalar, Buffer]:
    value = _mapping(value, path)
    kind = _field(value, "kind", path)
    name = _string(_field(value, "name", path), f"{path}.name")
    if kind == "scalar":
        type = _choice(_field(value, "type", path), SCALAR_TYPES, f"{path}.type")
        nonnegative = value.get("nonnegative", False)
        if not isinstance(nonnegative, bool):
            raise ManifestError(
                f"{path}.nonnegative: expected true or false, got {nonnegative!r}"
            )
        return Scalar(name, type, nonnegative)
    if kind != "buffer":
        raise ManifestError(f"{path}.kind: {kind!r} is neither 'scalar' nor 'buffer'")

    rank = _integer(_field(value, "rank", path), f"{path}.rank")

    def per_dimension(field: str, read: Callable[[Any, str], Any]) -> tuple:
        items = _list(_field(value, field, path), f"{path}.{field}", length=rank)
        return tuple(
            read(item, f"{path}.{field}[{i}]") for i, item in enumerate(items)
        )

    def optional(item: Any, where: str) -> Optional[int]:
        return None if item is None else _integer(item, where)

    strided = "storage" not in value
    return Buffer(
        name=name,
        type=_choice(_field(value, "type", path), BUFFER_TYPES, f"{path}.type"),
        shape=per_dimension("shape", optional),
        strides=per_dimension("strides", optional) if strided else (),
        divisibility=per_dimension(
            "stride_divisibility", lambda item, at: _integer(item, at, minimum=1)
        )
        if strided
        else (),
        alignment=_integer(
            _field(value, "alignment", path), f"{path}.alignment", minimum=1
        ),
        limits=per_dimension("stride_limits", optional)
        if "stride_limits" in value
        else (None,) * (rank if strided else 0),
    )


def _parameter(key: Any, params: Union[tuple, dict], path: str) -> tuple:
    """Returns the key of a parameter, its words in messages, and the parameter."""
    if isinstance(params, dict):
        name = _string(key, path)
        return name, f"'{name}'", params.get(name)
    position = _integer(key, path)
    return position, position, params[position] if position < len(params) else None


def _expression(value: Any, params: Union[tuple, dict], path: str) -> Expression:
    """Checks an expression; `params` are by position or by name."""
    if _is_integer(value):
        return value
    items = _list(value, path)
    kind = items[0] if items else None
    if kind == "dim" and len(items) == 3:
        key, words, param = _parameter(items[1], params, f"{path}[1]")
        if not isinstance(param, Buffer):
            raise ManifestError(f"{path}: parameter {words} is not a buffer")
        dimension = _integer(items[2], f"{path}[2]")
        if dimension >= param.rank:
            raise ManifestError(
                f"{path}: parameter {words} has no dimension {dimension}"
            )
        return ("dim", key, dimension)
    if kind == "arg" and len(items) == 2:
        key, words, param = _parameter(items[1], params, f"{path}[1]")
        if not isinstance(param, Scalar) or param.type not in INTEGER_SCALARS:
            raise ManifestError(f"{path}: parameter {words} is not an integer scalar")
        return ("arg", key)
    if items == ["multiprocessors"]:
        return ("multiprocessors",)
    if isinstance(kind, str) and kind in _OPERATORS and len(items) == 3:
        return (
            kind,
            _expression(items[1], params, f"{path}[1]"),
            _expression(items[2], params, f"{path}[2]"),
        )
    raise ManifestError(f"{path}: {value!r} is not an expression")


def _collect_scalars(expression: Expression, found: set) -> None:
    if isinstance(expression, int) or expression[0] in ("dim", "multiprocessors"):
        return
    if expression[0] == "arg":
        found.add(expression[1])
        return
    _collect_scalars(expression[1], found)
    _collect_scalars(expression[2], found)


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ManifestError(f"{path}: expected an object, got {value!r}")
    return value


def _field(value: Mapping[str, Any], name: str, path: str) -> Any:
    if name not in value:
        raise ManifestError(f"{path}: has no field '{name}'")
    return value[name]


def _list(value: Any, path: str, length: Optional[int] = None) -> list:
    if not isinstance(value, (list, tuple)):
        raise ManifestError(f"{path}: expected a list, got {value!r}")
    if length is not None and len(value) != length:
        raise ManifestError(f"{path}: expected {length} items, got {len(value)}")
    return list(value)


def _string(value: Any, path: str) -> str:
    if not isinstance(value, str) or not value:
        raise ManifestError(f"{path}: expected a name, got {value!r}")
    return value


def _choice(value: Any, choices: tuple, path: str) -> Any:
    if value not in choices:
        names = ", ".join(str(choice) for choice in choices)
        raise ManifestError(f"{path}: {value!r} is not one of {names}")
    return value


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(value: Any, path: str, minimum: int = 0) -> int:
    if not _is_integer(value) or value < minimum:
        raise ManifestError(
            f"{path}: expected an integer of at least {minimum}, got {value!r}"
        )
    return value


def _require_unique(names: Any, path: str) -> None:
    seen: FrozenSet[str] = frozenset()
    for name in names:
        if name in seen:
            raise ManifestError(f"{path}: '{name}' appears twice")
        seen |= {name}
