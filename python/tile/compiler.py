"""Compiling programs."""

from __future__ import annotations

import ctypes
import hashlib
import os
from pathlib import Path
from typing import List, NamedTuple, Optional, Tuple, Union

from . import driver as _driver
from . import native
from .errors import CompileError
from .launcher import Module

#: Chips whose code runs on one compute capability only or is tuned for it.
_CHIPS = {
    (8, 0): "sm_80",
    (8, 6): "sm_80",
    (8, 9): "sm_89",
    (9, 0): "sm_90a",
    (10, 0): "sm_100a",
    (10, 3): "sm_103a",
    (12, 0): "sm_120a",
}

#: Names a folder of schedules that replace the compiler's.
SCHEDULES_VARIABLE = "TILE_SCHEDULES"

#: TileOutputKind of tile-c/Compile.h.
_KINDS = {"llvmir": 0, "ptx": 1, "hsaco": 2}


class Artifact(NamedTuple):
    """A compiled program."""

    #: PTX or LLVM IR as text, or a code object.
    data: bytes
    #: JSON text (docs/Manifest.md).
    manifest: str
    #: Warnings and remarks, as the tools print them.
    messages: str


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
    source: str,
    chip: str,
    kind: str = "ptx",
    *,
    opt_level: int = 3,
    remarks: bool = False,
    name: str = "source",
    schedule: Optional[str] = None,
    sizes: Optional[str] = None,
    candidates: int = 0,
    assertions: bool = True,
) -> Artifact:
    """Compiles the text of a program.

    `kind` is `ptx`, `hsaco` (AMD code objects) or `llvmir`. Messages name the
    program `name`; `remarks` adds the compiler's optimization remarks to them.
    `schedule` sets fields of the kernels' schedules, for example
    `"tile = [128, 64], stages = 3"` (docs/Schedules.md).
    Open extents are chosen for the problem `sizes`, for example
    `"a = 4096x7168, n = 3"`, else for a large one; the remarks show the first
    `candidates` (0: six). Without `assertions`, those of the program (tile.assert) are
    removed.
    Raises CompileError with the messages. Needs no GPU. Safe in several threads.
    """
    if kind not in _KINDS:
        raise CompileError(f"kind is one of {', '.join(_KINDS)}, not '{kind}'")
    library = native.library()
    messages: List[str] = []

    def receive(diagnostic, _):
        messages.append(diagnostic.contents.text.decode(errors="replace"))

    handler = native.DiagnosticHandler(receive)
    options = native.compile_options(
        chip, schedule, sizes, assertions,
        opt_level=opt_level, remarks=remarks, candidates=candidates,
    )
    data = source.encode()
    context = library.tileContextCreate()
    module = artifact = None
    try:
        library.tileContextSetDiagnosticHandler(context, handler, None)
        module = library.tileModuleParse(context, data, len(data), name.encode())
        if module:
            artifact = library.tileModuleCompile(
                module, _KINDS[kind], ctypes.byref(options)
            )
        text = "".join(messages).strip()
        if not artifact:
            raise CompileError(text or f"cannot compile for {chip}")
        size = ctypes.c_size_t()
        address = library.tileArtifactData(artifact, ctypes.byref(size))
        manifest = library.tileArtifactManifest(artifact).decode()
        return Artifact(ctypes.string_at(address, size.value), manifest, text)
    finally:
        if artifact:
            library.tileArtifactDestroy(artifact)
        if module:
            library.tileModuleDestroy(module)
        library.tileContextDestroy(context)


def schedules_identity() -> str:
    """Returns a hash of the schedules in the folder $TILE_SCHEDULES, which
    replace the compiler's; empty if it is not set."""
    folder = os.environ.get(SCHEDULES_VARIABLE)
    if not folder:
        return ""
    digest = hashlib.sha256()
    for path in sorted(Path(folder).glob("*.mlir")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def read_program(source: Union[str, "os.PathLike[str]"]) -> Tuple[str, str]:
    """Returns the text of a program and its name in messages. `source` is the
    text, or a path: a path object or a string that ends with .mlir."""
    if isinstance(source, str) and not source.endswith(".mlir"):
        return source, "source"
    return Path(source).read_text(encoding="utf-8"), os.fspath(source)


def compile(
    source: Union[str, "os.PathLike[str]"],
    chip: Optional[str] = None,
    *,
    device: Optional[int] = None,
    opt_level: int = 3,
    schedule: Optional[str] = None,
    sizes: Optional[str] = None,
    assertions: bool = True,
    driver: Optional[_driver.Driver] = None,
) -> Module:
    """Compiles a program and returns its module, leaving no files behind.

    `source` is a program's text, or a path: a path object or a string that
    ends with .mlir. `chip` defaults to the chip of `device`, which defaults to
    the device of the current context, else to device 0. `schedule`, `sizes` and
    `assertions` are those of `translate`.
    """
    if chip is None:
        driver = driver or _driver.shared()
        if device is None:
            device = driver.current_device() if driver.current_context() else 0
        chip = chip_for(driver.compute_capability(device))
    text, name = read_program(source)
    artifact = translate(
        text, chip, opt_level=opt_level, name=name, schedule=schedule, sizes=sizes,
        assertions=assertions,
    )
    return Module(artifact.data, artifact.manifest, driver)
