"""Attention as a differentiable function of PyTorch tensors. Needs PyTorch.

Forward and backward are custom operators, tile::attention and
tile::attention_backward, so that torch.compile keeps them whole. Kernels are
compiled at the first use of a variant and kept in the cache on disk.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import torch

from . import cache
from .compiler import chip_for
from .errors import ArgumentError
from .launcher import Module
from .programs import (
    BackwardVariant,
    Variant,
    accumulator_rows,
    choose_kv_sum,
    stats_shape,
)

_TYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}

def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    window: Optional[Tuple[int, int]] = None,
    scale: Optional[float] = None,
    sink: Optional[torch.Tensor] = None,
    softcap: Optional[float] = None,
    cu_seqlens_q: Optional[torch.Tensor] = None,
    cu_seqlens_k: Optional[torch.Tensor] = None,
    max_seqlen_q: Optional[int] = None,
    max_seqlen_k: Optional[int] = None,
    deterministic: bool = False,
    return_lse: bool = False,
):
    """Softmax attention; differentiable in q, k, v and sink.

    q is [B, Sq, H, D], k [B, Sk, Hkv, D] and v [B, Sk, Hkv, Dv], of f16 or bf16
    and with any strides; H is a multiple of Hkv. D is 64, 96, 128, 192 or 256,
    Dv is D, or 128 where D is 192. Returns o, [B, Sq, H, Dv], and with
    `return_lse` the logarithms of the rows' sums, [B, H, Sq] in f32, which have
    no gradient.

    Key j is visible to query i iff i + Sk - Sq - left <= j <= i + Sk - Sq +
    right, with `window` (left, right), -1 for no bound; `causal` bounds right by
    0. A query that sees no key gets 0. Scores are multiplied by `scale`, by
    default 1 / sqrt(D), and pass through softcap * tanh(s / softcap) if it is
    given. `sink`, [H] in f16, bf16 or f32, is one more score of each head that
    has no value.

    With `cu_seqlens_q` and `cu_seqlens_k`, i32 [B + 1], the sequences of a batch
    are packed: q is [Tq, H, D], k [Tk, Hkv, D], v [Tk, Hkv, Dv] and lse [H, Tq];
    sequence b has the rows from cu_seqlens[b] to before cu_seqlens[b + 1].
    Rows of no sequence are not written. The longest lengths size the grid only.

    With `deterministic` every run gives the same bits of all gradients, at the
    price of two more matrix products; otherwise those of q vary.

    Raises ArgumentError for tensors that do not fit, CompileError where the
    compiler fails.
    """
    packed = cu_seqlens_q is not None
    if packed != (cu_seqlens_k is not None):
        raise ArgumentError("cu_seqlens_q and cu_seqlens_k must be given together")
    _check(q, k, v, sink, packed)
    if scale is None:
        scale = q.shape[-1] ** -0.5
    if softcap is not None and not softcap > 0:
        raise ArgumentError(f"softcap is {softcap}, must be positive")
    left, right = (-1, -1) if window is None else window
    if packed:
        max_q = q.shape[0] if max_seqlen_q is None else max_seqlen_q
        max_k = k.shape[0] if max_seqlen_k is None else max_seqlen_k
    else:
        max_q = max_k = 0
    o, lse = _forward(
        q,
        k,
        v,
        sink,
        cu_seqlens_q,
        cu_seqlens_k,
        max_q,
        max_k,
        float(scale),
        0.0 if softcap is None else float(softcap),
        causal,
        left,
        right,
        deterministic,
    )
    return (o, lse) if return_lse else o


def _check(q, k, v, sink, packed: bool) -> None:
    rank = 3 if packed else 4
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != rank:
            raise ArgumentError(
                f"{name} has {tensor.dim()} dimensions, must have {rank}"
                + (" (sequences are packed)" if packed else "")
            )
        if tensor.dtype != q.dtype or tensor.dtype not in (
            torch.float16,
            torch.bfloat16,
        ):
            raise ArgumentError(
                f"{name} is {tensor.dtype}, must be torch.float16 or torch.bfloat16"
                " like the others"
            )
        if tensor.device != q.device:
            raise ArgumentError(f"{name} is on {tensor.device}, q on {q.device}")
    if k.shape[:-1] != v.shape[:-1]:
        raise ArgumentError(
            f"shapes of k and v differ: {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ArgumentError(
            f"head dimensions of q and k differ: {q.shape[-1]} and {k.shape[-1]}"
        )
    if not packed and q.shape[0] != k.shape[0]:
        raise ArgumentError(
            f"batches of q and k differ: {q.shape[0]} and {k.shape[0]}"
        )
    if k.shape[-2] == 0 or q.shape[-2] % k.shape[-2]:
        raise ArgumentError(
            f"heads of q ({q.shape[-2]}) are no multiple of heads of k"
            f" ({k.shape[-2]})"
        )
    if sink is not None:
        if tuple(sink.shape) != (q.shape[-2],) or sink.dtype not in _TYPES:
            raise ArgumentError(
                f"sink must have one f16, bf16 or f32 element per head of q, got"
                f" {tuple(sink.shape)} of {sink.dtype}"
            )


def _variant(q, v, sink, packed, softcap, causal, left, right) -> Variant:
    window = None if left < 0 and right < 0 else (max(left, -1), max(right, -1))
    return Variant(
        q.shape[-1],
        v.shape[-1],
        _TYPES[q.dtype],
        causal,
        window,
        True,
        "" if sink is None else _TYPES[sink.dtype],
        packed,
        softcap > 0,
    )


def _module(program, device: torch.device) -> Module:
    chip = chip_for(torch.cuda.get_device_capability(device))
    return cache.load_program(program.ir(), chip)


def _readable(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or a copy whose rows can be read 16 bytes at a time."""
    multiples = all(
        stride % 8 == 0 or extent <= 1
        for stride, extent in zip(tensor.stride()[:-1], tensor.shape)
    )
    if tensor.stride(-1) == 1 and multiples and tensor.data_ptr() % 16 == 0:
        return tensor
    return tensor.contiguous()


def _launch(module: Module, arguments: dict) -> None:
    module.launch(**{name: arguments[name] for name in module.parameters})


def _scalars(sink, cu_q, cu_k, max_q, max_k, scale, softcap) -> dict:
    return {
        "sink": None if sink is None else sink.contiguous(),
        "cu_q": cu_q,
        "cu_k": cu_k,
        "max_q": max_q,
        "max_k": max_k,
        "scale": scale,
        "softcap": softcap,
    }


def _empty_results(q, v, packed: bool):
    o = torch.empty((*q.shape[:-1], v.shape[-1]), dtype=q.dtype, device=q.device)
    rows = (q.shape[1], q.shape[0]) if packed else (q.shape[0], q.shape[2], q.shape[1])
    return o, torch.empty(rows, dtype=torch.float32, device=q.device)


@torch.library.custom_op("tile::attention", mutates_args=())
def _forward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    sink: Optional[torch.Tensor],
    cu_q: Optional[torch.Tensor],
    cu_k: Optional[torch.Tensor],
    max_q: int,
    max_k: int,
    scale: float,
    softcap: float,
    causal: bool,
    left: int,
    right: int,
    deterministic: bool,
) -> Tuple[torch.Tensor, torch.Tensor]:
    packed = cu_q is not None
    variant = _variant(q, v, sink, packed, softcap, causal, left, right)
    q, k, v = map(_readable, (q, k, v))
    o, lse = _empty_results(q, v, packed)
    if packed:
        # Rows of no sequence stay as they are: finite.
        o.zero_(), lse.zero_()
    arguments = _scalars(sink, cu_q, cu_k, max_q, max_k, scale, softcap)
    arguments.update(q=q, k=k, v=v, o=o, lse=lse)
    _launch(_module(variant, q.device), arguments)
    return o, lse


@_forward.register_fake
def _(q, k, v, sink, cu_q, cu_k, max_q, max_k, scale, softcap, causal, left, right,
      deterministic):
    return _empty_results(q, v, cu_q is not None)


@torch.library.custom_op("tile::attention_backward", mutates_args=())
def _backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    do: torch.Tensor,
    lse: torch.Tensor,
    sink: Optional[torch.Tensor],
    cu_q: Optional[torch.Tensor],
    cu_k: Optional[torch.Tensor],
    max_q: int,
    max_k: int,
    scale: float,
    softcap: float,
    causal: bool,
    left: int,
    right: int,
    deterministic: bool,
) -> List[torch.Tensor]:
    packed = cu_q is not None
    forward = _variant(q, v, sink, packed, softcap, causal, left, right)
    variant = BackwardVariant(
        forward, "kernel" if deterministic else "atomic", _choose_kv(q, k, packed)
    )
    q, k, v, o, do = map(_readable, (q, k, v, o, do))
    make = torch.zeros if packed else torch.empty
    gradients = [make(t.shape, dtype=t.dtype, device=t.device) for t in (q, k, v)]

    def scratch(tensor: torch.Tensor, heads: int) -> torch.Tensor:
        shape = list(tensor.shape)
        shape[-2] = heads
        if not packed:
            shape[1] = accumulator_rows(shape[1])
        return torch.empty(shape, dtype=torch.float32, device=q.device)

    arguments = _scalars(sink, cu_q, cu_k, max_q, max_k, scale, softcap)
    arguments.update(q=q, k=k, v=v, o=o, do=do, lse=lse)
    arguments.update(zip(("dq", "dk", "dv"), gradients))
    arguments["stats"] = lse.new_empty(
        stats_shape(lse.shape, len(cu_q) - 1 if packed else 0)
    )
    if variant.dq == "atomic":
        arguments["dq_acc"] = scratch(q, q.shape[-2])
    if variant.kv != "loop":
        heads = q.shape[-2] if variant.kv == "separate" else k.shape[-2]
        arguments["dk_acc"] = scratch(k, heads)
        arguments["dv_acc"] = scratch(v, heads)
    if sink is not None:
        arguments["dsink"] = torch.empty(
            sink.shape, dtype=torch.float32, device=q.device
        )
        gradients.append(arguments["dsink"])
    _launch(_module(variant, q.device), arguments)
    return gradients


@_backward.register_fake
def _(q, k, v, o, do, lse, sink, cu_q, cu_k, max_q, max_k, scale, softcap, causal,
      left, right, deterministic):
    gradients = [
        torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in (q, k, v)
    ]
    if sink is not None:
        gradients.append(torch.empty(sink.shape, dtype=torch.float32, device=q.device))
    return gradients


def _choose_kv(q: torch.Tensor, k: torch.Tensor, packed: bool) -> str:
    """How the heads of a group add up: in one block where there are enough."""
    if q.shape[-2] == k.shape[-2]:
        return "loop"
    rows = k.shape[0] if packed else k.shape[0] * k.shape[1]
    processors = torch.cuda.get_device_properties(q.device).multi_processor_count
    return choose_kv_sum(rows * k.shape[-2], processors)


def _setup_context(ctx, inputs, output) -> None:
    q, k, v, sink, cu_q, cu_k, *rest = inputs
    o, lse = output
    ctx.save_for_backward(q, k, v, o, lse, sink, cu_q, cu_k)
    ctx.rest = rest
    ctx.mark_non_differentiable(lse)


def _differentiate(ctx, do, _):
    q, k, v, o, lse, sink, cu_q, cu_k = ctx.saved_tensors
    dq, dk, dv, *dsink = _backward(q, k, v, o, do, lse, sink, cu_q, cu_k, *ctx.rest)
    dsink = dsink[0].to(sink.dtype) if dsink else None
    return (dq, dk, dv, dsink) + (None,) * (2 + len(ctx.rest))


_forward.register_autograd(_differentiate, setup_context=_setup_context)
