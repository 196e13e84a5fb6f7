"""The kernels of FlashAttention-3. Needs PyTorch, and a folder with their shared object.

The environment variable FA3 names the folder. It holds the shared object that the wheel
of xformers has in flash_attn_3, and libcudart.so.12 where the machine has no CUDA 12.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def is_given() -> bool:
    """Returns whether the environment names a folder."""
    return bool(os.environ.get("FA3"))


def load() -> Any:
    """Returns the operators, or None if no folder is given."""
    if not is_given():
        return None
    import torch

    files = Path(os.environ["FA3"]).glob("*.so*")
    # The runtime comes first: the kernels need it.
    for library in sorted(files, key=lambda path: "cudart" not in path.name):
        torch.ops.load_library(str(library))
    return torch.ops.flash_attn_3
