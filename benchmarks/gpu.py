"""Runs a benchmark, if there is a GPU."""

from __future__ import annotations

import importlib.util
import sys
from typing import Callable


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


def run(main: Callable[[], int]) -> None:
    """Ends the process with the status that `main` returns, or with an error message."""
    import tile

    try:
        sys.exit(main())
    except (OSError, ValueError, tile.CompileError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
