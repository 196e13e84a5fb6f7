"""The driver's compilation of PTX, kept on disk.

A cubin fits one compute capability and one version of the driver, so both are
in its file name.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Optional, Tuple, Union

from .driver import Driver
from .errors import DriverError

#: The linker of the driver drops the register counts of warp roles, which makes
#: kernels several times slower. It reports that in its log, but not when the result
#: comes from the driver's own cache. Such PTX is loaded as it is.
_ROLES = b"setmaxnreg"


def load(
    driver: Driver,
    image: bytes,
    device: int,
    folder: Union[str, "os.PathLike[str]", None] = None,
) -> Tuple[int, str]:
    """Loads PTX or a cubin into the current context, a context of `device`.

    Returns the module and the report of the JIT compiler. With `folder`,
    `image` is PTX; its cubin is read from there, or written there.
    """
    if folder is None or _ROLES in image:
        return driver.load_module(image)
    major, minor = driver.compute_capability(device)
    path = Path(folder, f"kernel-{major}{minor}-{driver.version()}.cubin")
    kept = _read(path)
    if kept:
        try:
            return driver.load_module(kept)[0], ""
        except DriverError:
            pass  # A damaged file; it is written again.
    try:
        cubin, log = driver.compile_ptx(image)
    except DriverError:
        # If the PTX is wrong, this says why.
        return driver.load_module(image)
    _write(path, cubin)
    return driver.load_module(cubin)[0], log


def _read(path: Path) -> Optional[bytes]:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _write(path: Path, data: bytes) -> None:
    """Writes a file that appears complete; gives up where it may not write."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        try:
            os.unlink(name)
        except OSError:
            pass
