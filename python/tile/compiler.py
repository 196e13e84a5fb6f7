"""Running tile-translate on a program."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Optional, Sequence, Tuple, Union

from . import driver as _driver
from .errors import CompileError
from .launcher import Module, load

#: Names the tile-translate to run; it comes before PATH and the build tree.
ENVIRONMENT_VARIABLE = "TILE_TRANSLATE"

_EXECUTABLE = "tile-translate"

#: Chips whose code runs on one compute capability only or is tuned for it.
_CHIPS = {(8, 0): "sm_80", (8, 6): "sm_80", (8, 9): "sm_89", (9, 0): "sm_90a"}


def find_tile_translate() -> str:
    """Returns the path of tile-translate.

    It is $TILE_TRANSLATE, else the one on PATH, else the one in build/bin
    beside the source tree of this package. Raises CompileError if there is none.
    """
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        found = shutil.which(named)
        if not found:
            raise CompileError(
                f"${ENVIRONMENT_VARIABLE} is '{named}', which cannot be run"
            )
        return found
    built = Path(__file__).resolve().parents[2] / "build" / "bin"
    found = shutil.which(_EXECUTABLE) or shutil.which(_EXECUTABLE, path=str(built))
    if not found:
        raise CompileError(
            f"{_EXECUTABLE} is neither named by ${ENVIRONMENT_VARIABLE} nor on PATH"
            f" nor in {built}"
        )
    return found


def chip_for(capability: Tuple[int, int]) -> str:
    """Returns the chip to compile for on a device of this compute capability.

    Devices without an entry in the table get sm_80 PTX, which the driver
    compiles for any later device. Raises CompileError for older devices.
    """
    if tuple(capability) < (8, 0):
        raise CompileError(
            "no chip for a device of compute capability"
            f" {capability[0]}.{capability[1]}, 8.0 is the oldest"
        )
    return _CHIPS.get(tuple(capability), "sm_80")


def translate(
    source: Union[str, "os.PathLike[str]"],
    chip: str,
    output: Union[str, "os.PathLike[str]"],
    manifest: Union[str, "os.PathLike[str]"],
    options: Sequence[str] = (),
) -> None:
    """Compiles the program in the file `source` to PTX and a manifest.

    Raises CompileError with the compiler's messages.
    """
    command = [
        find_tile_translate(),
        "--tile-to-ptx",
        f"--chip={chip}",
        os.fspath(source),
        "-o",
        os.fspath(output),
        f"--manifest={os.fspath(manifest)}",
        *options,
    ]
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode:
        raise CompileError(
            f"{_EXECUTABLE} --chip={chip} failed with status"
            f" {result.returncode}:\n{result.stdout.strip()}"
        )


def compile(
    source: Union[str, "os.PathLike[str]"],
    chip: Optional[str] = None,
    *,
    device: Optional[int] = None,
    options: Sequence[str] = (),
    driver: Optional[_driver.Driver] = None,
) -> Module:
    """Compiles a program and returns its module, leaving no files behind.

    `source` is a program's text, or a path: a path object or a string that
    ends with .mlir. `chip` defaults to the chip of `device`, which defaults to
    the device of the current context, else to device 0.
    """
    if chip is None:
        driver = driver or _driver.shared()
        if device is None:
            device = driver.current_device() if driver.current_context() else 0
        chip = chip_for(driver.compute_capability(device))
    with tempfile.TemporaryDirectory(prefix="tile-") as folder:
        artifact = Path(folder, "kernel.ptx")
        manifest = Path(folder, "kernel.json")
        if isinstance(source, str) and not source.endswith(".mlir"):
            text, source = source, Path(folder, "source.mlir")
            source.write_text(text, encoding="utf-8")
        translate(source, chip, artifact, manifest, options)
        return load(artifact, manifest, driver)
