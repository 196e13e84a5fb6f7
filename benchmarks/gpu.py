"""Whether a benchmark can run here."""

from __future__ import annotations

import importlib.util


def is_missing() -> bool:
    """Returns true and prints the reason if there is no PyTorch with a GPU."""
    if importlib.util.find_spec("torch") is None:
        print("SKIPPED: no PyTorch")
        return True
    import torch

    if not torch.cuda.is_available():
        print("SKIPPED: no GPU")
        return True
    return False
