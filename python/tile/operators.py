"""Attention as custom operators, which torch.compile keeps whole.

Needs PyTorch 2.4. `tile.attention` uses these operators where torch.compile
traces it; eager calls do without them, because they cost time.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional, Tuple

import torch

from .errors import ArgumentError
from .prepared import Signature, find, readable

#: The number of fields of a signature that the operator of a call takes.
_OPTIONS = Signature._fields.index("schedule") + 1


@torch.library.custom_op("tile::attention", mutates_args=())
def _forward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    sink: Optional[torch.Tensor],
    cu_q: Optional[torch.Tensor],
    cu_k: Optional[torch.Tensor],
    scale: float,
    softcap: float,
    causal: bool,
    left: int,
    right: int,
    has_softcap: bool,
    max_q: int,
    max_k: int,
    deterministic: bool,
    has_offset: bool,
    schedule: str,
    offset: int,
) -> Tuple[torch.Tensor, torch.Tensor]:
    signature = Signature(
        causal, left, right, has_softcap, max_q, max_k, deterministic, has_offset,
        schedule,
    )  # fmt: skip
    tensors = _readable(q, k, v, sink, cu_q, cu_k)
    return find(signature, *tensors).run(*tensors, scale, softcap, offset=offset)


@_forward.register_fake
def _(q, k, v, sink, cu_q, cu_k, *options):
    o = q.new_empty((*q.shape[:-1], v.shape[-1]))
    if cu_q is not None:
        rows = (q.shape[1], q.shape[0])
    else:
        rows = (q.shape[0], q.shape[2], q.shape[1])
    return o, q.new_empty(rows, dtype=torch.float32)


@torch.library.custom_op("tile::attention_backward", mutates_args=())
def _backward(
    do: torch.Tensor,
    dlse: Optional[torch.Tensor],
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    sink: Optional[torch.Tensor],
    cu_q: Optional[torch.Tensor],
    cu_k: Optional[torch.Tensor],
    scale: float,
    softcap: float,
    causal: bool,
    left: int,
    right: int,
    has_softcap: bool,
    max_q: int,
    max_k: int,
    deterministic: bool,
    has_offset: bool,
    schedule: str,
    offset: int,
) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    signature = Signature(
        causal, left, right, has_softcap, max_q, max_k, deterministic, has_offset,
        schedule,
    )  # fmt: skip
    given = (q, k, v, sink)
    q, k, v, sink, cu_q, cu_k = _readable(q, k, v, sink, cu_q, cu_k)
    found = find(signature, q, k, v, sink, cu_q, cu_k).run_backward(
        do, q, k, v, readable(o), lse.contiguous(), sink, cu_q, cu_k, scale, softcap,
        dlse, offset,
    )  # fmt: skip
    # The strides that the fake operator promises.
    return tuple(
        _empty(given[0])
        if gradient is None
        else torch.empty_like(tensor).copy_(gradient)
        if gradient.stride() != torch.empty_like(tensor).stride()
        else gradient
        for tensor, gradient in zip(given, found)
    )


@_backward.register_fake
def _(do, dlse, q, k, v, o, lse, sink, *options):
    dsink = _empty(q) if sink is None else torch.empty_like(sink)
    return (*map(torch.empty_like, (q, k, v)), dsink)


def _empty(tensor: torch.Tensor) -> torch.Tensor:
    """Returns what stands for the gradient of the sinks where there are none."""
    return tensor.new_empty((0,), dtype=torch.float32)


def _readable(q, k, v, sink, cu_q, cu_k):
    # Parts of DTensors may have other numbers of heads than the whole.
    if q.shape[-2] % max(k.shape[-2], 1) or (q.shape[-2] and not k.shape[-2]):
        raise ArgumentError(
            f"q has {q.shape[-2]} heads, which is no multiple of the {k.shape[-2]}"
            " heads of k"
        )
    q, k, v = map(readable, (q, k, v))
    return q, k, v, None if sink is None else sink.contiguous(), cu_q, cu_k


def _setup_context(ctx, inputs, output) -> None:
    q, k, v, sink, cu_q, cu_k, *rest = inputs
    o, lse = output
    ctx.save_for_backward(q, k, v, o, lse, sink, cu_q, cu_k)
    ctx.rest = rest
    ctx.set_materialize_grads(False)


def _differentiate(ctx, do, dlse):
    q, k, v, o, lse, sink, cu_q, cu_k = ctx.saved_tensors
    if do is None:
        do = torch.zeros_like(o)
    dq, dk, dv, dsink = _backward(
        do, dlse, q, k, v, o, lse, sink, cu_q, cu_k, *ctx.rest
    )
    if sink is None:
        dsink = None
    return (dq, dk, dv, dsink) + (None,) * (2 + len(ctx.rest))


_forward.register_autograd(_differentiate, setup_context=_setup_context)


def distribute(named: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Returns the tensors of a call as DTensors, or None if they are none.

    The first call with a DTensor makes the rules known that shard the operators.
    """
    if not _has_dtensor():
        return None
    from . import sharding

    return sharding.distribute(named)


@torch.compiler.assume_constant_result
def know_shardings() -> bool:
    """Makes the rules known that shard the operators, if there may be DTensors.

    torch.compile calls this function while it traces.
    """
    if _has_dtensor():
        from . import sharding  # noqa: F401
    return True


def _has_dtensor() -> bool:
    """Returns whether the process has imported DTensor; PyTorch 2.5 has it."""
    return hasattr(sys.modules.get("torch.distributed.tensor"), "DTensor")


def forward(q, k, v, sink, cu_q, cu_k, scale: float, softcap: float, signature, offset):
    """Returns the output and the logarithms of the rows' sums."""
    know_shardings()
    return _forward(
        q, k, v, sink, cu_q, cu_k, scale, softcap, *signature[:_OPTIONS], offset
    )
