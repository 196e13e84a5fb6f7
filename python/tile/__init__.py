"""Load and launch kernels that the tile compiler made.

    import tile

    module = tile.load("attention.ptx", "attention.json")
    module["attention"](q, k, v, o, lse, scale)

Tensors are PyTorch's, CuPy's or any with `__cuda_array_interface__`. Every
argument is checked against the manifest before anything is launched; a misfit
is a `tile.ArgumentError`. `tile.compile` runs the compiler first. `tile.run`
needs no GPU: it runs what was compiled for one on the CPU, on NumPy arrays.
The package needs nothing but the CUDA driver, or for `tile.run` NumPy.
"""

from .compiler import chip_for, compile, find_tile_translate
from .errors import (
    ArgumentError,
    CompileError,
    DriverError,
    ExecutionError,
    ManifestError,
)
from .executor import run
from .launcher import Kernel, Module, load

__all__ = [
    "ArgumentError",
    "CompileError",
    "DriverError",
    "ExecutionError",
    "Kernel",
    "ManifestError",
    "Module",
    "chip_for",
    "compile",
    "find_tile_translate",
    "load",
    "run",
]
