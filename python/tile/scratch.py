"""Shapes of scratch buffers.

The caller of a kernel allocates its scratch memory. The manifest gives its shapes
as expressions of the other arguments (`shapes`, docs/Manifest.md).
"""

from __future__ import annotations

from typing import Dict, Mapping, NamedTuple, Optional, Tuple

from .errors import ManifestError
from .manifest import Buffer, Manifest, evaluate


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
    known = dict(shapes)
    # Each entry may refer to buffers of entries before it.
    for name, extents in manifest.shapes:
        if name in known:
            continue
        try:
            known[name] = tuple(
                evaluate(extent, known, scalars or {}, manifest.multiprocessors)
                for extent in extents
            )
        except KeyError as missing:
            raise ManifestError(
                f"the shape of '{name}' depends on {missing}, which is not given"
            ) from None
    found: Dict[str, Scratch] = {}
    for kernel in manifest.kernels:
        for param in kernel.params:
            if not isinstance(param, Buffer) or param.name in shapes:
                continue
            if param.name not in known:
                raise ManifestError(
                    f"the manifest does not determine the shape of '{param.name}'"
                )
            found.setdefault(param.name, Scratch(param.type, known[param.name]))
    return found
