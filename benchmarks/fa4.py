"""The kernels of FlashAttention-4. Needs PyTorch and the package flash-attn-4."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def is_installed() -> bool:
    """Returns whether the package can be imported."""
    try:
        return importlib.util.find_spec("flash_attn.cute") is not None
    except ImportError:
        return False


def load() -> Any:
    """Returns the functions, or None if the package is not installed. Removes the
    arguments of the process, which the package would parse as its own."""
    if not is_installed():
        return None
    del sys.argv[1:]
    from flash_attn.cute import interface

    return interface
