"""References and tolerances for tests and benchmarks of attention.

Needs PyTorch. Tensors are [B, S, H, D]; `window` and `causal` mean what
`tile.programs.attention_ir` says.
"""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional, Tuple

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
    """Returns whether query i sees key j, [Sq, Sk]; aligned at the bottom right."""
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


def _head_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    seen: torch.Tensor,
    scale: float,
    sink: Optional[torch.Tensor],
    softcap: Optional[float],
    step: Callable[[torch.Tensor], torch.Tensor],
) -> Tuple[torch.Tensor, torch.Tensor]:
    """Attention of heads [B, H, S, D], in their type; sink is [H].

    The result of each operation goes through `step`.
    """
    scores = step(q @ step(k * scale).transpose(-1, -2))
    if softcap is not None:
        scores = step(softcap * step(torch.tanh(step(scores / softcap))))
    empty = ~seen.any(dim=1)
    # Rows that see nothing get any finite scores, so that no NaN arises.
    scores = scores.masked_fill(~seen, float("-inf"))
    scores = scores.masked_fill(empty[:, None], 0)
    lse = step(torch.logsumexp(scores, dim=-1))
    weights = step(torch.softmax(scores, dim=-1)).masked_fill(empty[:, None], 0)
    if sink is not None:
        alone = lse.masked_fill(empty, float("-inf"))
        with_sink = step(torch.logaddexp(alone, sink[:, None].expand_as(lse)))
        zeros = torch.zeros_like(lse)
        share = step(torch.exp(torch.where(empty, zeros, lse - with_sink)))
        weights = step(weights * share[..., None])
        lse = with_sink
    else:
        lse = lse.masked_fill(empty, float("-inf"))
    return step(weights @ v), lse


def _arithmetic(
    dtype: torch.dtype, device: torch.device
) -> Tuple[torch.dtype, Callable[[torch.Tensor], torch.Tensor]]:
    """Returns the type to compute in, and the rounding after each operation.

    PyTorch 1.13 has no matrix product of f16 on the CPU: it is one of f32 whose
    result is rounded.
    """
    if dtype == torch.float16 and device.type == "cpu":
        return torch.float32, lambda tensor: tensor.half().float()
    return dtype, lambda tensor: tensor


def _chunks(batch: int, sq: int, sk: int, heads: int, dtype: torch.dtype):
    """Yields ranges of heads whose scores fit into a chunk."""
    scores = batch * sq * sk * torch.empty(0, dtype=dtype).element_size()
    step = max(1, _CHUNK_BYTES // max(1, scores))
    for begin in range(0, heads, step):
        yield begin, min(begin + step, heads)


def _heads(tensor: torch.Tensor, chosen: torch.Tensor, dtype: torch.dtype):
    """Returns the chosen heads of [B, S, H, D], as [B, H, S, D]."""
    return tensor[:, :, chosen].transpose(1, 2).to(dtype)


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float,
    causal: bool = False,
    window: Optional[Tuple[int, int]] = None,
    dtype: torch.dtype = torch.float64,
    sink: Optional[torch.Tensor] = None,
    softcap: Optional[float] = None,
    tree: Optional[torch.Tensor] = None,
) -> Tuple[torch.Tensor, torch.Tensor]:
    """Attention computed step by step in `dtype`.

    `tree` says which of the last Sq keys each query sees, beside the others, [Sq, Sq].
    Returns the output and the natural logarithm of each row's sum, [B, H, S].
    A row that sees no key is 0, with the logarithm -inf, or its head's sink.
    """
    batch, sq, heads, _ = q.shape
    sk, group = k.shape[1], heads // k.shape[2]
    seen = visible(sq, sk, causal, window, q.device)
    if tree is not None:
        nodes = min(sq, sk)
        seen[:, sk - nodes :] &= tree[:, sq - nodes :]
    out = torch.empty(batch, sq, heads, v.shape[3], dtype=dtype, device=q.device)
    lse = torch.empty(batch, heads, sq, dtype=dtype, device=q.device)
    dtype, step = _arithmetic(dtype, q.device)
    for begin, end in _chunks(batch, sq, sk, heads, dtype):
        chosen = torch.arange(begin, end, device=q.device)
        result, sums = _head_attention(
            _heads(q, chosen, dtype),
            _heads(k, chosen // group, dtype),
            _heads(v, chosen // group, dtype),
            seen,
            scale,
            None if sink is None else sink[chosen].to(dtype),
            softcap,
            step,
        )
        out[:, :, chosen] = result.transpose(1, 2).to(out.dtype)
        lse[:, chosen] = sums.to(lse.dtype)
    return out, lse


class Gradients(NamedTuple):
    """The gradients of q, k, v and, if there are any, the sinks."""

    dq: torch.Tensor
    dk: torch.Tensor
    dv: torch.Tensor
    dsink: Optional[torch.Tensor]


def gradients(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    do: torch.Tensor,
    scale: float,
    causal: bool = False,
    window: Optional[Tuple[int, int]] = None,
    dtype: torch.dtype = torch.float64,
    sink: Optional[torch.Tensor] = None,
    softcap: Optional[float] = None,
) -> Gradients:
    """The gradients of `attention`, whose arguments these are, for that of its
    output, by PyTorch's automatic differentiation in `dtype`."""
    batch, sq, heads, _ = q.shape
    sk, group = k.shape[1], heads // k.shape[2]
    seen = visible(sq, sk, causal, window, q.device)
    result_type = dtype
    dtype, step = _arithmetic(dtype, q.device)
    dq, dk, dv = (torch.zeros(t.shape, dtype=dtype, device=q.device) for t in (q, k, v))
    dsink = None
    if sink is not None:
        dsink = torch.zeros(heads, dtype=dtype, device=q.device)
    for begin, end in _chunks(batch, sq, sk, heads, dtype):
        chosen = torch.arange(begin, end, device=q.device)
        inputs = [
            _heads(q, chosen, dtype),
            _heads(k, chosen // group, dtype),
            _heads(v, chosen // group, dtype),
        ]
        if sink is not None:
            inputs.append(sink[chosen].to(dtype))
        inputs = [tensor.detach().requires_grad_() for tensor in inputs]
        result, _ = _head_attention(
            *inputs[:3],
            seen,
            scale,
            inputs[3] if sink is not None else None,
            softcap,
            step,
        )
        found = torch.autograd.grad(result, inputs, _heads(do, chosen, dtype))
        dq[:, :, chosen] = found[0].transpose(1, 2)
        dk.index_add_(2, chosen // group, found[1].transpose(1, 2))
        dv.index_add_(2, chosen // group, found[2].transpose(1, 2))
        if sink is not None:
            dsink[chosen] = found[3]
    found = (dq, dk, dv, dsink)
    return Gradients(*(t if t is None else t.to(result_type) for t in found))


def compare(
    out: torch.Tensor,
    reference: torch.Tensor,
    low: torch.Tensor,
    factor: float = 2,
    slack: float = 0,
) -> Comparison:
    """Judges `out` by the float64 `reference`.

    It may be `factor` times as far from it as `low`, the same maths in a low
    precision, and two rounding units of low's type around 0.3 and `slack` more.
    """
    if out.numel() == 0:
        return Comparison(0, 0)
    rounded = reference.to(low.dtype)
    units = (rounded + 0.3 - 0.3 - rounded).abs().max().item()
    error = (out.to(reference.dtype) - reference).abs().max().item()
    spread = (low.to(reference.dtype) - reference).abs().max().item()
    return Comparison(error, factor * spread + 2 * units + slack)


def compare_lse(lse: torch.Tensor, reference: torch.Tensor) -> Comparison:
    """Judges logarithms of row sums; rows that see no key must be -inf."""
    empty = reference == float("-inf")
    if not torch.equal(lse == float("-inf"), empty):
        return Comparison(float("inf"), LSE_TOLERANCE)
    if reference.numel() == 0:
        return Comparison(0, LSE_TOLERANCE)
    difference = (lse.to(reference.dtype) - reference).masked_fill(empty, 0)
    return Comparison(difference.abs().max().item(), LSE_TOLERANCE)
