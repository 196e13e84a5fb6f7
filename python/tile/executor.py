"""Running compiled kernels on the CPU, on NumPy arrays or PyTorch tensors.

Tensors may have any strides. NumPy lacks bf16: arrays of bf16 are `uint16` or of a type of that
name (`ml_dtypes.bfloat16`).
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import sys
import threading
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import manifest as _manifest
from . import native, tensors
from .arguments import read_scalar
from .compiler import read_program, schedules_identity
from .errors import ArgumentError, CompileError, ExecutionError
from .manifest import Scalar
from .scratch import Scratch, scratch_buffers
from .tensors import Layout

#: Names the number of threads of this machine that run a kernel.
THREADS_VARIABLE = "TILE_CPU_THREADS"

_TYPES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int8": "i8",
    "int32": "i32",
    "int64": "i64",
}


def _read_threads() -> int:
    """The value of TILE_CPU_THREADS; 0, one thread for each core, if it is not set."""
    value = os.environ.get(THREADS_VARIABLE, "0")
    if not value.isdecimal():
        raise ArgumentError(f"{THREADS_VARIABLE} is '{value}', not a number of threads")
    return int(value)


@native.Print
def _print(text: bytes, _: Any) -> None:
    """Writes what kernels print; Python may have another output than C."""
    if sys.stdout is not None:
        sys.stdout.write(text.decode(errors="replace"))


class Parameter(NamedTuple):
    """A parameter of a program's kernels."""

    name: str
    type: str
    buffer: bool
    #: Whether a kernel may write to the buffer.
    written: bool


class Statistics(NamedTuple):
    """Sums over the blocks of a kernel.

    `instructions` counts those of warps, by their kind. The next four are
    bytes. `shared_sweeps` is how often the banks of shared memory were swept,
    `bank_conflicts` how many of these sweeps would not have been needed without
    conflicts. docs/Executor.md says how they are counted.
    """

    kernel: str
    blocks: int
    instructions: Dict[str, int]
    global_read: int
    global_written: int
    shared_read: int
    shared_written: int
    shared_sweeps: int
    bank_conflicts: int


class Program:
    """The kernels of a program, compiled for `chip` and run on the CPU.

    Raises CompileError with the compiler's messages. With `checks`, every
    access to memory is checked, as docs/Executor.md says. With `statistics`,
    calls count what the kernels do and return it. `schedule`, `sizes` and
    `assertions` are those of `translate`. Safe to use from several threads,
    which run the program in turn.
    """

    def __init__(
        self,
        source: str,
        chip: str,
        checks: bool = True,
        name: str = "source",
        statistics: bool = False,
        schedule: Optional[str] = None,
        sizes: Optional[str] = None,
        assertions: bool = True,
    ):
        self._handle = None
        self._lock = threading.Lock()
        # Bound here because modules may be gone when the process ends.
        self._destroy = native.library().tileExecutorDestroy
        message = ctypes.c_void_p()
        self._handle = native.library().tileExecutorCompile(
            source.encode(), name.encode(),
            native.compile_options(chip, schedule, sizes, assertions),
            checks, statistics, message,
        )
        text = native.take_text(message.value)
        if not self._handle:
            raise CompileError(text.strip() or f"cannot compile for {chip}")
        native.library().tileExecutorSetPrint(self._handle, _print, None)
        parameters = native.take_text(native.library().tileExecutorParameters(self._handle))
        self.parameters: List[Parameter] = [
            Parameter(**entry) for entry in json.loads(parameters)
        ]
        self.manifest = _manifest.parse(
            native.take_text(native.library().tileExecutorManifest(self._handle))
        )

    def __del__(self):
        if self._handle:
            self._destroy(self._handle)
            self._handle = None

    def __call__(
        self,
        *args: Any,
        grid: Optional[Sequence[int]] = None,
        jobs: int = 0,
        **named: Any,
    ) -> List[Statistics]:
        """Runs all kernels to their end; arguments in order or by name.

        Returns what each kernel did, nothing if the program does not count.
        Arrays are written in place. `grid` replaces that of the manifest,
        `jobs` is the number of threads of this machine, 0 for the value of
        TILE_CPU_THREADS, by default one for each core. Raises ArgumentError
        if an argument does not fit, ExecutionError if a thread did what no
        kernel may.
        """
        values = self._bind(args, named)
        alive: List[Any] = []
        packed = (native.Argument * len(values))()
        for slot, parameter, value in zip(packed, self.parameters, values):
            try:
                _pack(slot, parameter, value, alive)
            except ArgumentError as error:
                raise ArgumentError(f"argument '{parameter.name}': {error}") from None
        return self._run(packed, grid, jobs)

    def prepare(
        self,
        names: Sequence[str],
        arguments: Dict[str, Union[Layout, float]],
        follows: bool = False,
    ) -> "_Prepared":
        """Returns a launch for tensors of these layouts, as `Module.prepare`."""
        return _Prepared(self, names, arguments)

    def scratch(
        self,
        shapes: Mapping[str, Tuple[int, ...]],
        scalars: Optional[Mapping[str, int]] = None,
    ) -> Dict[str, Scratch]:
        """Returns type and smallest shape of each buffer that `shapes` lacks."""
        return scratch_buffers(self.manifest, shapes, scalars)

    def _run(
        self, packed: Any, grid: Optional[Sequence[int]] = None, jobs: int = 0
    ) -> List[Statistics]:
        extents = (ctypes.c_int64 * 3)(*grid) if grid is not None else None
        message = ctypes.c_void_p()
        jobs = jobs or _read_threads()
        with self._lock:
            status = native.library().tileExecutorRun(
                self._handle, packed, len(packed), extents, jobs, message
            )
            text = native.take_text(message.value).strip()
            if status == 0:
                counted = native.take_text(native.library().tileExecutorStatistics(self._handle))
                return [Statistics(**entry) for entry in json.loads(counted)]
        if "error: argument " in text:
            raise ArgumentError(text.split("error: ", 1)[1])
        raise ExecutionError(text)

    def _bind(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> List[Any]:
        names = [parameter.name for parameter in self.parameters]
        bound = dict(zip(names, args))
        if len(args) > len(names):
            raise ArgumentError(f"{len(args)} arguments, there are {len(names)}")
        for name, value in named.items():
            if name not in names or name in bound:
                raise ArgumentError(f"no argument '{name}', or it is given twice")
            bound[name] = value
        missing = [name for name in names if name not in bound]
        if missing:
            raise ArgumentError(f"no value for: {', '.join(missing)}")
        return [bound[name] for name in names]


class _Prepared:
    """A launch of a program for tensors of certain layouts."""

    def __init__(self, program: Program, names: Sequence[str], arguments):
        self._program = program
        self._inputs = [
            (parameter, names.index(parameter.name), arguments[parameter.name])
            for parameter in program.parameters
        ]

    def launch(self, values: Sequence[Any], stream: int = 0) -> None:
        """Runs the kernels to their end on addresses and numbers, in the order
        of the names that the launch was prepared with."""
        alive: List[Any] = []
        packed = (native.Argument * len(self._inputs))()
        for slot, (parameter, place, layout) in zip(packed, self._inputs):
            if parameter.buffer:
                _pack_tensor(slot, values[place], layout, alive)
            else:
                _pack_number(slot, parameter, values[place])
        self._program._run(packed)


def _pack(slot: native.Argument, parameter: Parameter, value: Any, alive: List[Any]) -> None:
    alive.append(value)
    if hasattr(value, "data_ptr") and value.dim() > 0:
        _pack_tensor(slot, *tensors.describe_cpu(value), alive)
        return
    if not hasattr(value, "__array_interface__") or getattr(value, "shape", ()) == ():
        _pack_number(slot, parameter, value)
        return
    type = _TYPES.get(value.dtype.name, value.dtype.name)
    if type == "uint16" and parameter.type == "bf16":
        type = "bf16"
    item = value.dtype.itemsize
    if value.size and any(stride % item for stride in value.strides):
        raise ArgumentError(f"strides {value.strides} are no multiples of {item} bytes")
    if parameter.written and not value.flags.writeable:
        raise ArgumentError("is written to, but the array is read-only")
    strides = tuple(stride // item for stride in value.strides)
    layout = Layout(type, value.shape, strides, None)
    _pack_tensor(slot, value.ctypes.data, layout, alive)


def _pack_number(slot: native.Argument, parameter: Parameter, value: Any) -> None:
    if parameter.buffer:
        is_number = isinstance(value, (int, float))
        raise ArgumentError(
            "must be a tensor, not a number" if is_number else "expected an array"
        )
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    number = read_scalar(Scalar(parameter.name, parameter.type), value)
    slot.is_real = parameter.type in _manifest.FLOAT_SCALARS
    if slot.is_real:
        slot.real = number
    else:
        slot.integer = number


def _pack_tensor(
    slot: native.Argument, address: int, layout: Layout, alive: List[Any]
) -> None:
    extents = ctypes.c_int64 * max(len(layout.shape), 1)
    shape, strides = extents(*layout.shape), extents(*layout.strides)
    name = layout.type.encode()
    alive += [shape, strides, name]
    slot.data = address
    slot.type = name
    slot.rank = len(layout.shape)
    slot.shape = shape
    slot.strides = strides


@functools.lru_cache(maxsize=64)
def _compiled(
    source: str,
    chip: str,
    checks: bool,
    name: str,
    statistics: bool,
    schedule: Optional[str],
    sizes: Optional[str],
    assertions: bool,
    schedules: str,
) -> Program:
    return Program(source, chip, checks, name, statistics, schedule, sizes, assertions)


def run(
    source: Union[str, "os.PathLike[str]"],
    *args: Any,
    chip: str,
    grid: Optional[Sequence[int]] = None,
    checks: bool = True,
    jobs: int = 0,
    statistics: bool = False,
    schedule: Optional[str] = None,
    sizes: Optional[str] = None,
    assertions: bool = True,
    **named: Any,
) -> List[Statistics]:
    """Compiles a program for `chip` and runs it on the CPU.

    Arguments are NumPy arrays, PyTorch tensors and numbers. `source` is a
    program's text, or a path: a path object or a string that ends with .mlir.
    The other arguments are those of `Program` and of calling one. The programs
    of the last 64 different calls are kept.
    """
    text, name = read_program(source)
    program = _compiled(
        text, chip, checks, name, statistics, schedule, sizes, assertions,
        schedules_identity(),
    )
    return program(*args, grid=grid, jobs=jobs, **named)
