"""The library with the compiler and the executor, and its C functions.

A wheel has it as `_lib/libtile.so`. A source tree has it in the build folder.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
from pathlib import Path
from typing import List, Optional

from .errors import CompileError

#: Names the library; it comes before that of the wheel and the build folder.
ENVIRONMENT_VARIABLE = "TILE_LIBRARY"

_PACKAGE = Path(__file__).resolve().parent


class Argument(ctypes.Structure):
    """TileExecutorArgument of tile-c/Executor.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_char_p),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("is_real", ctypes.c_int),
        ("real", ctypes.c_double),
        ("integer", ctypes.c_int64),
    ]


class Diagnostic(ctypes.Structure):
    """TileDiagnostic of tile-c/Compile.h."""

    _fields_ = [
        ("severity", ctypes.c_int),
        ("message", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_uint),
        ("column", ctypes.c_uint),
        ("text", ctypes.c_char_p),
    ]


DiagnosticHandler = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Diagnostic), ctypes.c_void_p
)


class CompileOptions(ctypes.Structure):
    """TileCompileOptions of tile-c/Compile.h."""

    _fields_ = [
        ("chip", ctypes.c_char_p),
        ("opt_level", ctypes.c_int),
        ("require_manifest", ctypes.c_int),
        ("source_locations", ctypes.c_int),
        ("remarks", ctypes.c_int),
        ("schedule", ctypes.c_char_p),
        ("schedules", ctypes.c_char_p),
        ("sizes", ctypes.c_char_p),
        ("candidates", ctypes.c_uint),
        ("no_assertions", ctypes.c_int),
    ]


def compile_options(
    chip: str,
    schedule: Optional[str] = None,
    sizes: Optional[str] = None,
    assertions: bool = True,
    opt_level: int = 3,
    remarks: bool = False,
    candidates: int = 0,
) -> CompileOptions:
    """Returns the options of a compilation that needs a manifest."""
    options = CompileOptions(chip.encode(), opt_level, require_manifest=1, remarks=remarks)
    options.schedule = schedule.encode() if schedule else None
    options.sizes = sizes.encode() if sizes else None
    options.candidates = candidates
    options.no_assertions = not assertions
    return options


#: The callback of tileExecutorSetPrint.
Print = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)

_TEXT = ctypes.POINTER(ctypes.c_void_p)
_OPAQUE = ctypes.c_void_p

#: Result and parameters of each function, as in include/tile-c.
_FUNCTIONS = {
    "tileVersion": (ctypes.c_char_p, []),
    "tileChipCount": (ctypes.c_size_t, []),
    "tileChipName": (ctypes.c_char_p, [ctypes.c_size_t]),
    "tileChipClusterBlocks": (ctypes.c_size_t, [ctypes.c_size_t]),
    "tileContextCreate": (_OPAQUE, []),
    "tileContextSetDiagnosticHandler": (None, [_OPAQUE, DiagnosticHandler, _OPAQUE]),
    "tileContextDestroy": (None, [_OPAQUE]),
    "tileModuleParse": (
        _OPAQUE, [_OPAQUE, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p],
    ),
    "tileModuleDestroy": (None, [_OPAQUE]),
    "tileModuleCompile": (
        _OPAQUE, [_OPAQUE, ctypes.c_int, ctypes.POINTER(CompileOptions)],
    ),
    "tileArtifactData": (
        _OPAQUE, [_OPAQUE, ctypes.POINTER(ctypes.c_size_t)],
    ),
    "tileArtifactManifest": (ctypes.c_char_p, [_OPAQUE]),
    "tileArtifactDestroy": (None, [_OPAQUE]),
    "tileExecutorCompile": (
        _OPAQUE,
        [ctypes.c_char_p] * 2
        + [ctypes.POINTER(CompileOptions)]
        + [ctypes.c_int] * 2
        + [_TEXT],
    ),
    "tileExecutorStatistics": (_OPAQUE, [_OPAQUE]),
    "tileExecutorParameters": (_OPAQUE, [_OPAQUE]),
    "tileExecutorManifest": (_OPAQUE, [_OPAQUE]),
    "tileExecutorSetPrint": (None, [_OPAQUE, Print, _OPAQUE]),
    "tileExecutorRun": (
        ctypes.c_int,
        [
            _OPAQUE,
            ctypes.POINTER(Argument),
            ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_uint,
            _TEXT,
        ],
    ),
    "tilePreparedLaunchCreate": (
        _OPAQUE, [_OPAQUE, _OPAQUE, _OPAQUE, ctypes.c_size_t],
    ),
    "tilePreparedLaunchRun": (ctypes.c_int, [_OPAQUE, _OPAQUE, _OPAQUE]),
    "tilePreparedLaunchDestroy": (None, [_OPAQUE]),
    "tileTorchInstall": (
        ctypes.c_int, [_OPAQUE, _OPAQUE, ctypes.c_char_p, _OPAQUE, ctypes.c_size_t],
    ),
    "tileTorchRemove": (None, []),
    "tileTorchForget": (None, []),
    "tileTorchStore": (ctypes.c_int, [_OPAQUE]),
    "tileTorchAnswer": (
        ctypes.c_int,
        [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t],
    ),
    "tileTorchPlannedCalls": (ctypes.c_uint64, []),
    "tileExecutorDestroy": (None, [_OPAQUE]),
    "tileExecutorFree": (None, [_OPAQUE]),
}


def find() -> Path:
    """Returns the path of the library.

    It is $TILE_LIBRARY, else the one of the wheel, else the one in build/lib
    beside the source tree of this package. Raises CompileError if there is none.
    """
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    candidates = (
        [Path(named)]
        if named
        else [
            _PACKAGE / "_lib" / "libtile.so",
            _PACKAGE.parents[1] / "build" / "lib" / "libTileExecutorC.so",
        ]
    )
    for path in candidates:
        if path.is_file():
            return path
    places = " and ".join(map(str, candidates))
    raise CompileError(
        f"there is no compiler: no file {places}; ${ENVIRONMENT_VARIABLE} can name"
        " the library"
    )


def library() -> ctypes.CDLL:
    """Loads the library once. Raises CompileError if that is not possible."""
    return _load(find())


@functools.lru_cache(maxsize=None)
def _load(path: Path) -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, parameters) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, parameters
    except (OSError, AttributeError) as error:
        raise CompileError(f"cannot load {path}: {error}") from None
    return loaded


def chips() -> List[str]:
    """Returns the names of the chips that programs are compiled for."""
    loaded = library()
    return [
        loaded.tileChipName(i).decode() for i in range(loaded.tileChipCount())
    ]


def most_cluster_blocks(chip: str) -> int:
    """Returns how many blocks a cluster of a chip has at most, 1 without clusters."""
    return library().tileChipClusterBlocks(chips().index(chip))


def identity() -> str:
    """Returns a hash of the compiler: its bytes, and the versions of itself and
    of LLVM."""
    path = find()
    status = path.stat()
    return _identity(path.resolve(), status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=None)
def _identity(path: Path, size: int, changed: int) -> str:
    known = path.parent / "identity"  # of a wheel
    if known.is_file():
        return known.read_text(encoding="ascii").strip()
    digest = hashlib.sha256(path.read_bytes())
    digest.update(library().tileVersion())
    return digest.hexdigest()


def take_text(address: Optional[int]) -> str:
    """Returns a text that the executor allocated, and frees it."""
    if not address:
        return ""
    text = ctypes.string_at(address).decode(errors="replace")
    library().tileExecutorFree(address)
    return text
