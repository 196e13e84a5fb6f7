"""What tests and benchmarks of attention share: references and tolerances.

Needs PyTorch. Tensors are [B, S, H, D]; `window` and `causal` mean what
`tile.attention.attention_ir` says.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

import torch

#: Largest difference allowed of the logarithm of a row's sum.
LSE_TOLERANCE = 1e-3

#: Bytes that one chunk's matrix of scores may take.
_CHUNK_BYTES = 1 << 30


class Comparison(NamedTuple):
    """The largest error of an output, and the largest that is acceptable."""

    error: float
    tolerance: float

    @property
    def ok(self) -> bool:
        # False for NaN.
        return self.error <= self.tolerance


def visible(
    sq: int,
    sk: int,
    causal: bool,
    window: Optional[Tuple[int, int]],
    device: torch.device,
) -> torch.Tensor:
    """Which keys each query sees, [Sq, Sk]; aligned at the bottom right."""
    left, right = window if window is not None else (-1, -1)
    if causal:
        right = 0 if right < 0 else min(right, 0)
    query = torch.arange(sq, device=device)[:, None]
    key = torch.arange(sk, device=device)[None, :]
    distance = key - query - (sk - sq)
    seen = torch.ones(sq, sk, dtype=torch.bool, device=device)
    if left >= 0:
        seen &= distance >= -left
    if right >= 0:
        seen &= distance <= right
    return seen


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float,
    causal: bool = False,
    window: Optional[Tuple[int, int]] = None,
    dtype: torch.dtype = torch.float64,
) -> Tuple[torch.Tensor, torch.Tensor]:
    """Attention computed step by step in `dtype`.

    Returns the output and the natural logarithm of each row's sum, [B, H, S].
    A row that sees no key is 0, with the logarithm -inf.
    """
    batch, sq, heads, _ = q.shape
    sk, group = k.shape[1], heads // k.shape[2]
    seen = visible(sq, sk, causal, window, q.device)
    empty = ~seen.any(dim=1)
    out = torch.empty(batch, sq, heads, v.shape[3], dtype=dtype, device=q.device)
    lse = torch.empty(batch, heads, sq, dtype=dtype, device=q.device)
    step = max(1, _CHUNK_BYTES // max(1, batch * sq * sk * out.element_size()))
    for begin in range(0, heads, step):
        chosen = torch.arange(begin, min(begin + step, heads), device=q.device)

        def rows(tensor: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
            return tensor[:, :, head].transpose(1, 2).to(dtype)

        keys = rows(k, chosen // group) * scale
        scores = rows(q, chosen) @ keys.transpose(-1, -2)
        scores.masked_fill_(~seen, float("-inf"))
        lse[:, chosen] = torch.logsumexp(scores, dim=-1)
        weights = torch.softmax(scores, dim=-1)
        weights.masked_fill_(empty[:, None], 0)
        result = weights @ rows(v, chosen // group)
        out[:, :, chosen] = result.transpose(1, 2)
    return out, lse


def compare(
    out: torch.Tensor, reference: torch.Tensor, low: torch.Tensor
) -> Comparison:
    """Judges `out` by the float64 `reference`.

    It may be twice as far from it as `low`, the same maths in out's type, and
    two rounding units around 0.3 more.
    """
    rounded = reference.to(out.dtype)
    slack = (rounded + 0.3 - 0.3 - rounded).abs().max().item()
    error = (out.to(reference.dtype) - reference).abs().max().item()
    spread = (low.to(reference.dtype) - reference).abs().max().item()
    return Comparison(error, 2 * spread + 2 * slack)


def compare_lse(lse: torch.Tensor, reference: torch.Tensor) -> Comparison:
    """Judges logarithms of row sums; rows that see no key must be -inf."""
    empty = reference == float("-inf")
    if not torch.equal(lse == float("-inf"), empty):
        return Comparison(float("inf"), LSE_TOLERANCE)
    difference = (lse.to(reference.dtype) - reference).masked_fill(empty, 0)
    return Comparison(difference.abs().max().item(), LSE_TOLERANCE)
