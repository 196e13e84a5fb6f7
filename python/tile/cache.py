"""Compiled kernels on disk, shared by all processes of a user.

An entry is a folder named by a hash of everything that its contents depend on:
the program, the chip, the schedules of $TILE_SCHEDULES and the compiler itself. It appears complete, by a rename;
processes that want it at the same time wait for the one that compiles it. The
driver's compilation of its PTX is added at the first launch (see cubins). Nothing
else changes. When the entries take more than `$TILE_CACHE_SIZE` bytes, those that
were not used for the longest time are deleted. To empty the cache, delete its
folder.

A pack is a folder of entries for machines without the compiler, so their names do
not depend on it. `precompile` makes one; programs in it are not compiled.

A program is searched in this order: the packs of `$TILE_PACK_DIR`, the read-only
caches of `$TILE_SYSTEM_CACHE_DIR`, the cache of the user. The first two are lists
of folders, separated as in `$PATH`. The cache of another user or host serves as a
read-only cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import compiler, native
from .errors import CompileError
from .launcher import Module, load

#: Names the folder of the cache; without it, tile in the user's cache folder.
ENVIRONMENT_VARIABLE = "TILE_CACHE_DIR"

#: Names packs, which are searched first.
PACK_VARIABLE = "TILE_PACK_DIR"

#: Names caches that are only read; they are searched before the user's.
SYSTEM_VARIABLE = "TILE_SYSTEM_CACHE_DIR"

#: The number of bytes that the cache may take; 0 for no limit.
SIZE_VARIABLE = "TILE_CACHE_SIZE"

_DEFAULT_SIZE = 2 << 30

#: Changes whenever an entry's files do, and when older ones must not be used.
_FORMAT = 2

_modules: Dict[Tuple[str, str], Module] = {}
_modules_lock = threading.Lock()


def folder() -> Path:
    """Returns the folder of the cache."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tile"


class Statistics(NamedTuple):
    """What this process found where, and what the user's cache holds."""

    #: Programs that were in a pack, in a cache that is only read, in the user's
    #: cache, and those that this process compiled.
    from_pack: int
    from_system: int
    from_cache: int
    compiled: int
    #: Seconds that compiling took.
    seconds: float
    #: The user's cache.
    folder: Path
    entries: int
    bytes: int


_counts: Counter = Counter()


def statistics() -> Statistics:
    """Returns counts of this process, and the size of the user's cache."""
    with _modules_lock:
        counts = Counter(_counts)
    sizes = [size for _, size, _ in _entries(folder())]
    return Statistics(
        counts["pack"],
        counts["system"],
        counts["cache"],
        counts["compiled"],
        counts["seconds"],
        folder(),
        len(sizes),
        sum(sizes),
    )


def load_program(text: str, chip: str, schedule: str = "") -> Module:
    """Returns the module of a program, with the schedule of compiler.translate.

    It comes from a pack or a cache; a program in none of them is compiled.
    Raises CompileError with the compiler's messages. A process loads an entry
    once.
    """
    packs = _folders(PACK_VARIABLE)
    key = pack_key(text, chip, schedule)
    for pack in packs:
        if (pack / key).is_dir():
            return _load_entry("pack", pack, key)
    try:
        key = entry_key(text, chip, schedule)
    except CompileError as error:
        if not packs:
            raise
        raise CompileError(
            f"the program is not in ${PACK_VARIABLE}, {os.environ[PACK_VARIABLE]},"
            f" for {chip}; {error}"
        ) from None
    for system in _folders(SYSTEM_VARIABLE):
        if (system / key).is_dir():
            return _load_entry("system", system, key)
    where = folder()
    found = _modules.get((str(where), key))
    if found is not None:
        return found
    for _ in range(3):
        known = (where / key).is_dir()
        compile_entry(where, key, text, chip, schedule=schedule)
        try:
            return _load_entry("cache" if known else None, where, key)
        except FileNotFoundError:
            pass  # Another process has deleted it to make room.
    raise CompileError(f"other processes keep deleting entries of {where}")


def has_packs() -> bool:
    """Returns whether programs are searched in packs first."""
    return bool(_folders(PACK_VARIABLE))


def _folders(variable: str) -> List[Path]:
    return [Path(part) for part in os.environ.get(variable, "").split(os.pathsep) if part]


def _load_entry(kind: Optional[str], where: Path, key: str) -> Module:
    with _modules_lock:
        module = _modules.get((str(where), key))
    if module is None:
        entry = where / key
        module = load(entry / "kernel.ptx", entry / "kernel.json", cubins=entry)
        if kind == "cache":
            _touch(entry)
        with _modules_lock:
            if kind:
                _counts[kind] += 1
            module = _modules.setdefault((str(where), key), module)
    return module


def precompile(
    programs: Iterable[str],
    chips: Union[str, Iterable[str]],
    folder: Union[str, "os.PathLike[str]"],
    jobs: int = 2,
    *,
    schedule: str = "",
) -> Path:
    """Compiles programs for each of the chips into a pack; returns its folder.

    `programs` are texts (tile.programs makes those of attention). Programs that
    the folder has already are not compiled again. `jobs` threads compile.
    `schedule` sets fields of the schedules of all programs, as that of
    tile.compile; the pack serves calls with the same schedule. Raises CompileError
    with the compiler's messages.
    """
    chips = [chips] if isinstance(chips, str) else list(chips)
    pack = Path(folder)
    pack.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(
            lambda job: compile_entry(
                pack, pack_key(*job, schedule), *job, limit=0, schedule=schedule
            ),
            dict.fromkeys(product(programs, chips)),
        ):
            pass
    for lock in pack.glob("*.lock"):
        lock.unlink()
    return pack


def entry_key(text: str, chip: str, schedule: str = "") -> str:
    """Returns the name of the entry of a program in the cache."""
    schedules = (compiler.schedules_identity(), *filter(None, [schedule]))
    return _hash(str(_FORMAT), native.identity(), chip, text, *schedules)


def pack_key(text: str, chip: str, schedule: str = "") -> str:
    """Returns the name of the entry of a program in a pack."""
    return _hash(str(_FORMAT), "pack", chip, text, *filter(None, [schedule]))


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
    limit: Optional[int] = None,
    schedule: str = "",
) -> Path:
    """Returns the folder of an entry; compiles it if it is missing.

    Then the cache is trimmed to `limit` bytes, by default those of
    $TILE_CACHE_SIZE; 0 for no limit.
    """
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
            begin = time.perf_counter()
            artifact = compiler.translate(text, chip, schedule=schedule)
            with _modules_lock:
                _counts["compiled"] += 1
                _counts["seconds"] += time.perf_counter() - begin
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
    trim(cache, size_limit() if limit is None else limit, keep=key)
    return entry


def size_limit() -> int:
    """Returns the bytes that the cache may take; 0 for no limit."""
    named = os.environ.get(SIZE_VARIABLE, "")
    if not named:
        return _DEFAULT_SIZE
    if not named.isdecimal():
        raise CompileError(f"${SIZE_VARIABLE} is a number of bytes, not '{named}'")
    return int(named)


def trim(cache: Path, limit: int, keep: str = "") -> None:
    """Deletes entries that were not used for the longest time, until the rest
    takes at most `limit` bytes; 0 for no limit. `keep` names an entry that
    stays."""
    if limit == 0:
        return
    entries = sorted(_entries(cache))
    total = sum(size for _, size, _ in entries)
    for _, size, entry in entries:
        if total <= limit:
            return
        if entry.name != keep:
            shutil.rmtree(entry, ignore_errors=True)
            (cache / f"{entry.name}.lock").unlink(missing_ok=True)
            total -= size


def _entries(cache: Path) -> Iterator[Tuple[float, int, Path]]:
    """Time of the last use, bytes and folder of each complete entry."""
    if not cache.is_dir():
        return
    for entry in cache.iterdir():
        try:
            if entry.name.startswith(".") or not entry.is_dir():
                continue
            used = (entry / "kernel.json").stat().st_mtime
            yield used, sum(f.stat().st_size for f in entry.iterdir()), entry
        except OSError:
            pass  # Another process deletes it.


def _touch(entry: Path) -> None:
    try:
        os.utime(entry / "kernel.json")
    except OSError:
        pass


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
