"""Loads and launches kernels that the tile compiler makes.

    import tile

    module = tile.load("attention.ptx", "attention.json")
    module["attention"](q, k, v, o, lse, scale)

Tensors are PyTorch's, CuPy's or any with `__cuda_array_interface__`. Every
argument is checked against the manifest before anything is launched; an argument
that does not fit is a `tile.ArgumentError`. `tile.compile` runs the compiler
first. `tile.run` needs no GPU: it runs compiled kernels on the CPU. The package
needs only the CUDA driver, or NumPy or PyTorch for `tile.run`;
`tile.attention`, a differentiable function of tensors, needs PyTorch.
"""

from __future__ import annotations

import importlib
from typing import Any

from .cache import precompile
from .compiler import Artifact, chip_for, compile, translate
from .errors import (
    ArgumentError,
    CompileError,
    DriverError,
    ExecutionError,
    ManifestError,
)
from .executor import run
from .launcher import Kernel, Module, load
from .native import chips
from .version import __version__

__all__ = [
    "__version__",
    "ArgumentError",
    "Artifact",
    "CompileError",
    "DriverError",
    "ExecutionError",
    "Kernel",
    "ManifestError",
    "Module",
    "SchedulerMetadata",
    "attention",
    "attention_backward",
    "attention_with_kvcache",
    "chip_for",
    "chips",
    "compile",
    "load",
    "pack_int4",
    "pack_tree_mask",
    "precompile",
    "register_with_torch",
    "register_with_transformers",
    "run",
    "translate",
]


#: Attributes that need PyTorch, which the rest of the package does without: the module
#: of each, and its name there, or None for the module itself.
_WITH_TORCH = {
    "attention": ("functional", "attention"),
    "attention_backward": ("functional", "attention_backward"),
    "SchedulerMetadata": ("scheduler_metadata", "SchedulerMetadata"),
    "attention_with_kvcache": ("kv_cache", "attention_with_kvcache"),
    "pack_int4": ("int4", "pack_int4"),
    "pack_tree_mask": ("kv_cache", "pack_tree_mask"),
    "distributed": ("distributed", None),
    "flash": ("flash", None),
    "register_with_torch": ("flash", "register"),
    "register_with_transformers": ("hugging_face", "register"),
}


def __getattr__(name: str) -> Any:
    if name not in _WITH_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _WITH_TORCH[name]
    value = importlib.import_module(f"{__name__}.{module}")
    if attribute is not None:
        value = getattr(value, attribute)
    # The next use of the name does not come here.
    globals()[name] = value
    return value
