"""Compiled kernels on disk, shared by all processes of a user.

An entry is a folder named by a hash of everything that its contents depend on:
the program, the chip and the compiler itself. It appears complete,
by a rename; processes that want it at the same time wait for the one that
compiles it. The driver's compilation of its PTX is added at the first launch
(see cubins). Nothing else changes: to empty the cache, delete its folder.

A pack is a folder of entries for machines without the compiler, so their names
do not depend on it. `pack` makes one; programs in it are not compiled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterable, Iterator, Optional, Sequence, Tuple, Union

from . import compiler, native
from .errors import CompileError
from .launcher import Module, load

#: Names the folder of the cache; without it, tile in the user's cache folder.
ENVIRONMENT_VARIABLE = "TILE_CACHE_DIR"

#: Names a pack, which is searched first.
PACK_VARIABLE = "TILE_PACK_DIR"

#: Changes whenever an entry's files do.
_FORMAT = 1

_modules: Dict[Tuple[str, str], Module] = {}
_modules_lock = threading.Lock()


def folder() -> Path:
    """Returns the folder of the cache."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tile"


def load_program(text: str, chip: str) -> Module:
    """Returns the module of a program.

    It comes from $TILE_PACK_DIR, else from the cache; a program in neither is
    compiled. Raises CompileError with the compiler's messages. A process loads
    an entry once.
    """
    packed = os.environ.get(PACK_VARIABLE)
    if packed:
        key = pack_key(text, chip)
        entry = Path(packed, key)
        if entry.is_dir():
            return _load_entry(packed, key, entry)
    try:
        key = entry_key(text, chip)
    except CompileError as error:
        if not packed:
            raise
        raise CompileError(
            f"the program is not in ${PACK_VARIABLE}, {packed}, for {chip}; {error}"
        ) from None
    where = str(folder())
    with _modules_lock:
        module = _modules.get((where, key))
    if module is not None:
        return module
    return _load_entry(
        where, key, compile_entry(Path(where), key, text, chip)
    )


def _load_entry(where: str, key: str, entry: Path) -> Module:
    with _modules_lock:
        module = _modules.get((where, key))
    if module is None:
        module = load(entry / "kernel.ptx", entry / "kernel.json", cubins=entry)
        with _modules_lock:
            module = _modules.setdefault((where, key), module)
    return module


def pack(
    folder: Union[str, "os.PathLike[str]"],
    programs: Iterable[str],
    chip: str,
    jobs: int = 2,
) -> None:
    """Compiles programs into a folder that $TILE_PACK_DIR may name elsewhere.

    Raises CompileError with the compiler's messages.
    """
    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(
            lambda text: compile_entry(folder, pack_key(text, chip), text, chip),
            dict.fromkeys(programs),
        ):
            pass
    for lock in Path(folder).glob("*.lock"):
        lock.unlink()


def entry_key(text: str, chip: str) -> str:
    """Returns the name of the entry of a program in the cache."""
    return _hash(str(_FORMAT), native.identity(), chip, text)


def pack_key(text: str, chip: str) -> str:
    """Returns the name of the entry of a program in a pack."""
    return _hash(str(_FORMAT), "pack", chip, text)


def _hash(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:40]


def compile_entry(
    cache: Union[str, "os.PathLike[str]"],
    key: str,
    text: str,
    chip: str,
) -> Path:
    """Returns the folder of an entry; compiles it if it is missing."""
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
            artifact = compiler.translate(text, chip)
            (building / "kernel.mlir").write_text(text, encoding="utf-8")
            (building / "kernel.ptx").write_bytes(artifact.data)
            (building / "kernel.json").write_text(artifact.manifest, encoding="utf-8")
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
    """Keeps other processes and threads out if the system has locks."""
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
