"""Weights of 4 bits."""

from __future__ import annotations

import torch

from .errors import ArgumentError


def pack_int4(weights: torch.Tensor) -> torch.Tensor:
    """Packs weights of 4 bits for `examples/int4_gemm.mlir`.

    weights is a tensor of integers from 0 to 15, [..., K, N], where 32 divides K. Returns
    i32 [..., K / 8, N]. Of 32 rows, bits 4j to 4j + 3 of word i have row 2i + 8j, and bits
    4j + 16 to 4j + 19 have row 2i + 8j + 1, for i and j from 0 to 3. The check of the
    range waits for the GPU.
    """
    if not isinstance(weights, torch.Tensor) or weights.dim() < 2:
        raise ArgumentError("weights must be a tensor of two or more dimensions")
    if weights.dtype not in (torch.uint8, torch.int8, torch.int32, torch.int64):
        raise ArgumentError(
            f"weights must have a type of integers, such as torch.uint8, got {weights.dtype}"
        )
    if weights.shape[-2] % 32:
        raise ArgumentError(
            f"the rows of weights must be a multiple of 32, got {weights.shape[-2]}"
        )
    if weights.numel() and not 0 <= weights.min() <= weights.max() <= 15:
        raise ArgumentError("weights must be from 0 to 15")
    # Row 8j + 2i + h of 32 is element (j, i, h).
    rows = weights.int().unflatten(-2, (-1, 4, 4, 2))
    j = torch.arange(4, device=weights.device).view(4, 1, 1, 1)
    h = torch.arange(2, device=weights.device).view(2, 1)
    words = (rows << (4 * j + 16 * h).int()).sum((-4, -2), dtype=torch.int32)
    return words.flatten(-3, -2)
