"""Compiled kernels on disk, shared by all processes of a user.

An entry is a folder named by a hash of everything that its contents depend on:
the program, the chip, the options and the compiler itself. It appears complete,
by a rename; processes that want it at the same time wait for the one that
compiles it. Nothing is ever changed: to empty the cache, delete its folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, Optional, Sequence, Tuple, Union

from . import compiler
from .errors import CompileError
from .launcher import Module, load

#: Names the folder of the cache; without it, tile in the user's cache folder.
ENVIRONMENT_VARIABLE = "TILE_CACHE_DIR"

#: Changes whenever an entry's files do.
_FORMAT = 1

_modules: Dict[Tuple[str, str], Module] = {}
_modules_lock = threading.Lock()


def folder() -> Path:
    """The folder of the cache."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tile"


def load_program(text: str, chip: str, options: Sequence[str] = ()) -> Module:
    """The module of a program, compiled unless this user has compiled it before.

    Raises CompileError with the compiler's messages. A process loads an entry
    once.
    """
    key = entry_key(text, chip, options)
    where = str(folder())
    with _modules_lock:
        module = _modules.get((where, key))
    if module is None:
        entry = compile_entry(Path(where), key, text, chip, options)
        module = load(entry / "kernel.ptx", entry / "kernel.json")
        with _modules_lock:
            module = _modules.setdefault((where, key), module)
    return module


def entry_key(text: str, chip: str, options: Sequence[str] = ()) -> str:
    """The name of the entry of a program."""
    parts = (str(_FORMAT), compiler_identity(), chip, *options, "", text)
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:40]


_identities: Dict[Tuple[str, int, int], str] = {}


def compiler_identity() -> str:
    """What tells this compiler from all others: its bytes, and what it says of
    its version and the LLVM that it runs with."""
    path = compiler.find_tile_translate()
    status = os.stat(path)
    found = (os.path.realpath(path), status.st_size, status.st_mtime_ns)
    identity = _identities.get(found)
    if identity is None:
        version = subprocess.run(
            [path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ).stdout
        with open(path, "rb") as file:
            identity = hashlib.sha256(file.read() + version).hexdigest()
        _identities[found] = identity
    return identity


def compile_entry(
    cache: Union[str, "os.PathLike[str]"],
    key: str,
    text: str,
    chip: str,
    options: Sequence[str] = (),
) -> Path:
    """Returns the folder of an entry, which it makes if it is missing."""
    cache = Path(cache)
    entry = cache / key
    if entry.is_dir():
        return entry
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CompileError(
            f"the cache folder {cache} cannot be made ({error});"
            f" set ${ENVIRONMENT_VARIABLE} to another"
        ) from None
    with _locked(cache / f"{key}.lock"):
        if entry.is_dir():
            return entry
        building = Path(tempfile.mkdtemp(prefix=f".{key}-", dir=cache))
        try:
            source = building / "kernel.mlir"
            source.write_text(text, encoding="utf-8")
            compiler.translate(
                source, chip, building / "kernel.ptx", building / "kernel.json", options
            )
            try:
                os.rename(building, entry)
            except OSError:
                # Where locks do not work another process may have been first.
                if not entry.is_dir():
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return entry


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keeps other processes and threads out, where the system has locks."""
    descriptor: Optional[int] = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        try:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass  # Work may be done twice; the rename keeps it right.
        yield
    finally:
        os.close(descriptor)
