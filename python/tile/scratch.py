"""Shapes that a manifest requires of scratch buffers.

The caller of a kernel allocates its scratch memory. The manifest says how large
it must be: its requirements relate the extents of a scratch buffer to those of
the other arguments (docs/Manifest.md).
"""

from __future__ import annotations

from math import gcd, lcm, prod
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from .errors import ManifestError
from .manifest import Buffer, Expression, Kernel, Manifest, Requirement

_Place = Tuple[str, int]

#: Steps in which a shape grows to the size that its layout needs. One or two are
#: enough unless the size grows with each of them.
_MAX_GROWTHS = 16


class Scratch(NamedTuple):
    """The element type and the smallest shape of a scratch buffer."""

    type: str
    shape: Tuple[int, ...]


def scratch_buffers(
    manifest: Manifest,
    shapes: Mapping[str, Tuple[int, ...]],
    scalars: Optional[Mapping[str, int]] = None,
) -> Dict[str, Scratch]:
    """Returns the smallest dense scratch buffers that all kernels of `manifest`
    accept.

    `shapes` holds the shape of each buffer argument that is not scratch, by
    name; every other buffer of the manifest is scratch. `scalars` holds the
    integer arguments that extents depend on, if there are any. Raises
    ManifestError if the manifest does not determine an extent.
    """
    return _Solver(manifest, shapes, scalars or {}).solve()


class _Solver:
    """Finds extents one by one, each after those that its bounds depend on."""

    def __init__(self, manifest, shapes, scalars):
        self.shapes = {name: list(shape) for name, shape in shapes.items()}
        self.scalars = scalars
        self.multiprocessors = manifest.multiprocessors
        self.buffers: Dict[str, Buffer] = {}
        self.owners: Dict[str, Kernel] = {}
        self.bounds: Dict[_Place, List[Tuple[Kernel, Requirement]]] = {}
        for kernel in manifest.kernels:
            for param in kernel.params:
                if isinstance(param, Buffer) and param.name not in shapes:
                    self.buffers.setdefault(param.name, param)
                    self.owners.setdefault(param.name, kernel)
                    self.shapes.setdefault(param.name, list(param.shape))
            for requirement in kernel.requires:
                place = (kernel.params[requirement.argument].name, requirement.dim)
                if place[0] in self.buffers:
                    self.bounds.setdefault(place, []).append((kernel, requirement))

    def solve(self) -> Dict[str, Scratch]:
        missing = [
            (name, dim)
            for name in self.buffers
            for dim, extent in enumerate(self.shapes[name])
            if extent is None
        ]
        while missing:
            waiting = [place for place in missing if not self._find(place)]
            if len(waiting) == len(missing):
                name, dim = waiting[0]
                raise ManifestError(
                    f"the manifest does not determine extent {dim} of '{name}'"
                )
            missing = waiting
        for name in self.buffers:
            self._grow(name)
        return {
            name: Scratch(buffer.type, tuple(self.shapes[name]))
            for name, buffer in self.buffers.items()
        }

    def _find(self, place: _Place) -> bool:
        """Sets an extent; returns whether all that its bounds depend on is known."""
        bounds = self.bounds.get(place, ())
        lower, multiples, determined = 0, [], False
        for kernel, requirement in bounds:
            if not self._is_known(kernel, requirement.value):
                return False
            value = self._evaluate(kernel, requirement.value)
            if requirement.relation == "multiple_of":
                multiples.append(value)
            elif requirement.relation != "at_most":
                lower, determined = max(lower, value), True
        if not determined:
            return False
        multiple = lcm(*(m for m in multiples if m > 0))
        self.shapes[place[0]][place[1]] = -(-lower // multiple) * multiple
        return True

    def _grow(self, name: str) -> None:
        """Adds rows until a dense buffer of the shape suits its kernels.

        A buffer with permuted elements must hold whole blocks, and strides must
        have the divisors that the manifest names. Only an extent that may exceed
        its bound can grow.
        """
        buffer, shape = self.buffers[name], self.shapes[name]
        if 0 in shape:
            return
        kernel = self.owners[name]
        growing = [
            dim
            for dim in range(len(shape))
            if {r.relation for _, r in self.bounds.get((name, dim), ())} == {"at_least"}
        ]
        if not growing:
            return
        dim = growing[-1]
        if buffer.storage is not None:
            rest = prod(shape) // shape[dim]
            for _ in range(_MAX_GROWTHS):
                needed = self._evaluate(kernel, buffer.storage)
                if needed <= prod(shape):
                    break
                shape[dim] = -(-needed // rest)
            else:
                raise ManifestError(
                    f"the layout of '{name}' needs more elements than its shape has,"
                    f" whatever extent {dim} is"
                )
        # Strides of the dimensions outside of `dim` are multiples of its extent.
        multiple = lcm(
            *(
                divisor // gcd(divisor, prod(shape[i + 1 :]) // shape[dim])
                for i, (stride, divisor) in enumerate(
                    zip(buffer.strides[:dim], buffer.divisibility)
                )
                if stride is None
            )
        )
        shape[dim] = -(-shape[dim] // multiple) * multiple

    def _is_known(self, kernel: Kernel, expression: Expression) -> bool:
        if isinstance(expression, int):
            return True
        if expression[0] == "arg":
            return kernel.params[expression[1]].name in self.scalars
        if expression[0] == "dim":
            shape = self.shapes[kernel.params[expression[1]].name]
            return shape[expression[2]] is not None
        return all(self._is_known(kernel, part) for part in expression[1:])

    def _evaluate(self, kernel: Kernel, expression: Expression) -> int:
        return kernel.evaluate(
            expression, self.shapes, self.scalars, self.multiprocessors
        )
