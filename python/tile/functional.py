"""Attention as a differentiable function of PyTorch tensors. Needs PyTorch.

Tensors are on a CUDA device, or on the CPU, where the kernels of
`$TILE_CPU_CHIP` run in the executor. Kernels are compiled at the first use of a
variant and kept in the cache on disk.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Sequence, Tuple

import torch

from .errors import ArgumentError
from .prepared import (
    HEAD_DIMENSION_STEP,
    MAX_HEAD_DIMENSION,
    MAX_PREPARED,
    SINK_TYPES,
    TYPES,
    Forward,
    Signature,
    find,
    has_readable_strides,
    machine_of,
    readable,
)
from .programs import ALIGNMENT, STRIDE_DIVISOR

#: Says whether torch.compile traces the call; older PyTorch never does.
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)

_operators: Any = None
if hasattr(torch.library, "custom_op"):
    from . import operators as _operators

def _distribute(**named: Any) -> Optional[Dict[str, Any]]:
    """Returns the tensors of a call as DTensors, or None if they are none."""
    return _operators.distribute(named) if _operators is not None else None


_HAS_AUTOCAST_TYPE = hasattr(torch, "get_autocast_dtype")

#: Prepared calls, by what distinguishes them.
_prepared: dict = {}

#: Names that other attention functions have for arguments of `attention`.
_OTHER_NAMES = {
    "is_causal": "causal",
    "sm_scale": "scale",
    "softmax_scale": "scale",
    "scaling": "scale",
    "window_size": "window",
    "sliding_window": "window",
    "s_aux": "sink",
    "sinks": "sink",
    "learnable_sink": "sink",
    "return_softmax_lse": "return_lse",
    "cu_seq_q": "cu_seqlens_q",
    "cu_seq_k": "cu_seqlens_k",
    "max_q": "max_seqlen_q",
    "max_k": "max_seqlen_k",
}

#: Arguments of other attention functions that the kernels have nothing for.
_MISSING = frozenset((
    "dropout", "dropout_p", "attn_mask", "attention_mask", "attn_bias", "bias",
    "position_bias", "alibi_slopes", "score_mod", "mask_mod", "block_mask",
    "seqused_q", "seqused_k", "cache_seqlens", "cache_batch_idx", "cache_leftpad",
    "k_cache", "v_cache", "block_table", "page_table", "qv", "q_descale",
    "k_descale", "v_descale", "rotary_cos", "rotary_sin", "attention_chunk",
    "return_attn_probs", "return_debug_mask", "output_attentions", "head_mask",
))  # fmt: skip


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
    q_offset: Optional[int] = None,
    k_offset: Optional[int] = None,
    merge: Optional[Tuple[torch.Tensor, torch.Tensor]] = None,
    schedule: Optional[str] = None,
    **others: Any,
):
    """Softmax attention; differentiable in q, k, v and sink.

    q is [B, Sq, H, D], k [B, Sk, Hkv, D] and v [B, Sk, Hkv, Dv], all f16 or all
    bf16 and with any strides; H is a multiple of Hkv. D and Dv are multiples of
    8 up to 256, which the kernels pad to multiples of 32. Returns o, [B, Sq, H,
    Dv], and with `return_lse` the logarithms of the rows' sums, [B, H, Sq] in f32,
    which are differentiable, too.

    Key j is visible to query i iff i + Sk - Sq - left <= j <= i + Sk - Sq +
    right, with `window` (left, right), -1 for no bound; `causal` bounds right by
    0. With `q_offset` or `k_offset`, the positions of the first query and of the
    first key in longer sequences (0 if only the other is given), query i is at
    q_offset + i and key j at k_offset + j, and the mask compares positions: q_offset
    - k_offset replaces Sk - Sq above. They are arguments of the kernels: other
    offsets need no other kernel.

    A query that sees no key gets 0, and -inf as its logarithm. Scores are
    multiplied by `scale`, by default 1 / sqrt(D), and pass through softcap *
    tanh(s / softcap) if it is given. `sink`, [H] in f16, bf16 or f32, is one
    more score of each head that has no value.

    With `cu_seqlens_q` and `cu_seqlens_k`, i32 [B + 1], the sequences of a batch
    are packed: q is [Tq, H, D], k [Tk, Hkv, D], v [Tk, Hkv, Dv] and lse [H, Tq];
    sequence b has the rows from cu_seqlens[b] to before cu_seqlens[b + 1].
    `max_seqlen_q` and `max_seqlen_k`, the longest lengths, size the grid only.
    Kernels do not write rows that belong to no sequence: these rows of o, lse
    and of the gradients are undefined.

    With `deterministic` every run gives the same bits of all gradients, at the
    price of two more matrix products; otherwise those of q vary.

    `merge` is (o, lse), the result for other keys of the same queries, which
    receives the result for both, without a gradient. Its o is f32 or of the type
    of q. tile.attention_backward computes gradients for some of the keys.

    `schedule` sets fields of the schedule of the kernel that computes o, for
    example "tile = [64, 64], stages = 2" (docs/Schedules.md). The compiler chooses
    the others, and the schedules of the kernels of gradients.

    Under autocast, q, k and v are cast to its type. Tensors on the CPU run in
    the executor, which is slow and checks every access to memory; the
    environment variable TILE_CPU_CHIP names the chip to compile for, by default
    sm_80.

    There is no dropout, bias, mask tensor or cache: such arguments of other
    functions may be given as None, False or 0.

    Raises ArgumentError for arguments that do not fit, CompileError if the
    compiler fails.
    """
    if others:
        _refuse(others)
    if _autocasts():
        q, k, v = _autocast(q, k, v)
    if isinstance(window, list):
        window = tuple(window)
    offset = None
    if q_offset is not None or k_offset is not None:
        offset = _offset(q_offset, k_offset)
    if merge is not None:
        return _merge(
            merge, q, k, v, causal, window, scale, sink, softcap, cu_seqlens_q,
            cu_seqlens_k, max_seqlen_q, max_seqlen_k, offset, return_lse, schedule,
        )  # fmt: skip
    prepared = key = None
    by_operators = _is_compiling()
    if not by_operators and not type(q) is type(k) is type(v) is torch.Tensor:
        named = _distribute(
            q=q, k=k, v=v, sink=sink, cu_q=cu_seqlens_q, cu_k=cu_seqlens_k
        )
        if named is not None:
            by_operators = True
            q, k, v, sink, cu_seqlens_q, cu_seqlens_k = named.values()
    if not by_operators:
        try:
            key = _key(
                q, k, v, causal, window, softcap, deterministic, offset is None, sink,
                cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, schedule,
            )  # fmt: skip
            prepared = _prepared.get(key)
        except (AttributeError, TypeError):
            pass  # The checks below say which argument is wrong.
    if prepared is None:
        signature = _check(
            q, k, v, causal, window, sink, softcap, cu_seqlens_q, cu_seqlens_k,
            max_seqlen_q, max_seqlen_k, deterministic, offset, schedule,
        )  # fmt: skip
    scale, softcap = _numbers(q, scale, softcap)
    if offset is None:
        offset = 0
    if prepared is None:
        if by_operators:
            o, lse = _operators.forward(
                q, k, v, sink, cu_seqlens_q, cu_seqlens_k, float(scale),
                float(softcap), signature, offset,
            )  # fmt: skip
            return (o, lse) if return_lse else o
        prepared = Forward(signature, q, k, v, sink, cu_seqlens_q, cu_seqlens_k)
        if len(_prepared) >= MAX_PREPARED:
            _prepared.clear()
        _prepared[key] = prepared

    if prepared.copies or (q.data_ptr() | k.data_ptr() | v.data_ptr()) & 15:
        q, k, v = readable(q), readable(k), readable(v)
        if sink is not None:
            sink = sink.contiguous()
        prepared = find(
            prepared.signature, q, k, v, sink, cu_seqlens_q, cu_seqlens_k
        )
    if torch.is_grad_enabled() and (
        q.requires_grad
        or k.requires_grad
        or v.requires_grad
        or (sink is not None and sink.requires_grad)
    ):
        return _Attention.apply(
            q, k, v, sink, cu_seqlens_q, cu_seqlens_k, prepared, scale, softcap,
            offset, return_lse,
        )  # fmt: skip
    o, lse = prepared.run(
        q, k, v, sink, cu_seqlens_q, cu_seqlens_k, scale, softcap, offset=offset
    )
    return (o, lse) if return_lse else o


def attention_backward(
    do: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
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
    q_offset: Optional[int] = None,
    k_offset: Optional[int] = None,
    dlse: Optional[torch.Tensor] = None,
    gradients: Optional[Sequence[torch.Tensor]] = None,
    accumulate: bool = False,
) -> Tuple[torch.Tensor, ...]:
    """Returns the gradients (dq, dk, dv), and dsink in f32 if there is a sink.

    `o` and `lse` are results of tile.attention with the same options, `do` and
    `dlse` their gradients (`dlse` is 0 if it is None). o is f32 or of the type of
    q. If k and v are some of the keys of a longer sequence, o and lse are those of
    all keys, dk and dv are final, and dq is a summand of the whole.

    `gradients` are the tensors to write to, in the order of the result: all f32
    or all of the type of q, dsink always f32. With `accumulate`, the gradients are
    added to their contents. No gradient flows through this function itself.

    Raises ArgumentError for arguments that do not fit, CompileError if the
    compiler fails.
    """
    offset = None
    if q_offset is not None or k_offset is not None:
        offset = _offset(q_offset, k_offset)
    signature = _check(
        q, k, v, causal, window, sink, softcap, cu_seqlens_q, cu_seqlens_k,
        max_seqlen_q, max_seqlen_k, deterministic, offset,
    )  # fmt: skip
    scale, softcap = _numbers(q, scale, softcap)
    packed = cu_seqlens_q is not None
    _check_result("o", o, (*q.shape[:-1], v.shape[-1]), q)
    _check_result("lse", lse, _rows_shape(q, packed), q, rows=True)
    if not isinstance(do, torch.Tensor) or do.shape != o.shape or do.device != q.device:
        raise ArgumentError("do must be a tensor of the shape and on the device of o")
    if dlse is not None and not (isinstance(dlse, torch.Tensor) and dlse.shape == lse.shape
                                 and dlse.device == q.device):
        raise ArgumentError("dlse must be a tensor of the shape and on the device of lse")
    if accumulate and gradients is None:
        raise ArgumentError("accumulate needs gradients, the tensors to add to")
    if gradients is not None:
        gradients = _check_gradients(gradients, q, k, v, sink)
    with torch.no_grad():
        q, k, v, o = map(readable, (q, k, v, o))
        if sink is not None:
            sink = sink.contiguous()
        if lse.stride(-1) != 1:
            lse = lse.contiguous()
        found = find(
            signature, q, k, v, sink, cu_seqlens_q, cu_seqlens_k, o, lse
        ).run_backward(
            do, q, k, v, o, lse, sink, cu_seqlens_q, cu_seqlens_k, scale, softcap,
            None if dlse is None else dlse.float(), offset or 0, gradients, accumulate,
        )  # fmt: skip
    if sink is None:
        return found[:3]
    return (*found[:3], found[3].float())


def _merge(
    merge, q, k, v, causal, window, scale, sink, softcap, cu_q, cu_k, max_q, max_k,
    offset, return_lse, schedule,
):  # fmt: skip
    """Attention that is merged into the result for other keys."""
    signature = _check(
        q, k, v, causal, window, sink, softcap, cu_q, cu_k, max_q, max_k, False, offset,
        schedule,
    )  # fmt: skip
    scale, softcap = _numbers(q, scale, softcap)
    if not isinstance(merge, (tuple, list)) or len(merge) != 2:
        raise ArgumentError(f"merge must be a pair of tensors (o, lse), got {merge!r}")
    o, lse = merge
    _check_result("o of merge", o, (*q.shape[:-1], v.shape[-1]), q)
    _check_result("lse of merge", lse, _rows_shape(q, cu_q is not None), q, rows=True)
    _check_written("o of merge", o)
    if lse.numel() and lse.stride(-1) != 1:
        raise ArgumentError("lse of merge must have dense rows")
    given = (q, k, v, o, lse) if sink is None else (q, k, v, o, lse, sink)
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given):
        raise ArgumentError("merge has no gradient; call it under torch.no_grad()")
    q, k, v = map(readable, (q, k, v))
    if sink is not None:
        sink = sink.contiguous()
    signature = signature._replace(merge=True)
    find(signature, q, k, v, sink, cu_q, cu_k, o, lse).run(
        q, k, v, sink, cu_q, cu_k, scale, softcap, o, lse, offset or 0
    )
    return (o, lse) if return_lse else o


def _numbers(
    q: torch.Tensor, scale: Optional[float], softcap: Optional[float]
) -> Tuple[float, float]:
    """Returns the scale, and the cap or 0 without one; raises ArgumentError."""
    if scale is None:
        scale = q.shape[-1] ** -0.5
    elif not 0 <= scale < math.inf:
        raise ArgumentError(f"scale is {scale}, must be finite and not negative")
    if softcap is None:
        softcap = 0.0
    elif not 0 < softcap < math.inf:
        raise ArgumentError(f"softcap is {softcap}, must be finite and positive")
    return scale, softcap


def _offset(q_offset: Any, k_offset: Any) -> int:
    """Returns the position of query 0 less that of key 0."""
    for name, value in (("q_offset", q_offset), ("k_offset", k_offset)):
        if value is not None and (
            not isinstance(value, int) or not -(2**30) <= value < 2**30
        ):
            raise ArgumentError(
                f"{name} must be an int from -2^30 to 2^30 - 1, got {value!r}"
            )
    return (q_offset or 0) - (k_offset or 0)


def _rows_shape(q: torch.Tensor, packed: bool) -> Tuple[int, ...]:
    """Returns the shape of lse."""
    if packed:
        return (q.shape[1], q.shape[0])
    return (q.shape[0], q.shape[2], q.shape[1])


def _check_result(name: str, tensor: Any, shape, q, rows: bool = False) -> None:
    """Checks a tensor like o or, if `rows`, like lse."""
    if not isinstance(tensor, torch.Tensor) or hasattr(tensor, "device_mesh"):
        raise ArgumentError(
            f"{name} must be a torch.Tensor, got {type(tensor).__name__}"
        )
    types = (torch.float32,) if rows else (torch.float32, q.dtype)
    if tensor.shape != shape or tensor.dtype not in types or tensor.device != q.device:
        names = " or ".join(map(str, types))
        raise ArgumentError(
            f"{name} must be a tensor {tuple(shape)} of {names} on {q.device}, got"
            f" {tuple(tensor.shape)} of {tensor.dtype} on {tensor.device}"
        )


def _check_written(name: str, tensor: torch.Tensor) -> None:
    """Checks that kernels can write to a tensor where it is."""
    if not has_readable_strides(tensor) or tensor.data_ptr() % ALIGNMENT:
        raise ArgumentError(
            f"{name} must have dense rows whose distances are multiples of"
            f" {STRIDE_DIVISOR} elements, and begin at a multiple of {ALIGNMENT} bytes;"
            f" its strides are {tensor.stride()}"
        )


def _check_gradients(gradients: Any, q, k, v, sink) -> Tuple[Any, ...]:
    """Checks the tensors to write to; returns one for each input, or None."""
    count = 3 if sink is None else 4
    if not isinstance(gradients, (tuple, list)) or len(gradients) != count:
        raise ArgumentError(f"gradients must be {count} tensors")
    for name, tensor, like in zip(("dq", "dk", "dv"), gradients, (q, k, v)):
        _check_result(name, tensor, like.shape, q)
        _check_written(name, tensor)
        if tensor.dtype != gradients[0].dtype:
            raise ArgumentError("dq, dk and dv must have one type")
    if sink is None:
        return (*gradients, None)
    dsink = gradients[3]
    _check_result("dsink", dsink, sink.shape, q, rows=True)
    if not dsink.is_contiguous():
        raise ArgumentError("dsink must be contiguous")
    return tuple(gradients)


def _refuse(others: Dict[str, Any]) -> None:
    """Raises an error that names an argument unless all are switched off."""
    for name, value in others.items():
        if name in _OTHER_NAMES:
            raise ArgumentError(
                f"{name} is not an argument of tile.attention, which calls it"
                f" {_OTHER_NAMES[name]}"
            )
        if name not in _MISSING:
            raise TypeError(f"attention() got an unexpected keyword argument '{name}'")
        if isinstance(value, torch.Tensor) or value:
            raise ArgumentError(f"{name} is not supported by tile.attention")


def _key(
    q, k, v, causal, window, softcap, deterministic, aligned, sink, cu_q, cu_k, max_q,
    max_k, schedule,
) -> tuple:  # fmt: skip
    """Returns all that the kernels and their parameters depend on.

    Only scalars that are passed to kernels and addresses are not in it. Raises
    AttributeError or TypeError for some arguments of wrong types.
    """
    key = (
        q.shape,
        k.shape,
        v.shape,
        q.stride(),
        k.stride(),
        v.stride(),
        q.dtype,
        k.dtype,
        v.dtype,
        machine_of(q),
        k.device,
        v.device,
        causal,
        window,
        softcap is None,
        deterministic,
        aligned,
        schedule,
    )
    if sink is not None:
        key += (sink.shape, sink.stride(), sink.dtype, sink.device)
    if cu_q is not None or cu_k is not None:
        key += (
            cu_q.shape,
            cu_k.shape,
            cu_q.stride(),
            cu_k.stride(),
            cu_q.dtype,
            cu_k.dtype,
            cu_q.device,
            cu_k.device,
            max_q,
            max_k,
        )
    return key


class _Attention(torch.autograd.Function):
    """Attention of tensors that kernels can read as they are."""

    @staticmethod
    def forward(
        ctx, q, k, v, sink, cu_q, cu_k, prepared, scale, softcap, offset, return_lse
    ):
        o, lse = prepared.run(
            q, k, v, sink, cu_q, cu_k, scale, softcap, offset=offset
        )
        ctx.save_for_backward(q, k, v, o, lse, sink, cu_q, cu_k)
        ctx.set_materialize_grads(False)
        ctx.call = prepared, scale, softcap, offset
        return (o, lse) if return_lse else o

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, do, dlse=None):
        prepared, scale, softcap, offset = ctx.call
        saved = ctx.saved_tensors
        if do is None:
            if dlse is None:
                return (None,) * 11
            do = torch.zeros_like(saved[3])
        gradients = prepared.run_backward(do, *saved, scale, softcap, dlse, offset)
        return (*gradients, None, None, None, None, None, None, None)


if _HAS_AUTOCAST_TYPE:

    def _autocasts() -> bool:
        return torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu")

else:

    def _autocasts() -> bool:
        return torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()


def _autocast_type(tensor: torch.Tensor) -> Optional[torch.dtype]:
    """Returns the type that autocast gives to tensors on this device."""
    kind = tensor.device.type
    if _HAS_AUTOCAST_TYPE:
        if torch.is_autocast_enabled(kind):
            return torch.get_autocast_dtype(kind)
    elif kind == "cuda" and torch.is_autocast_enabled():
        return torch.get_autocast_gpu_dtype()
    elif kind == "cpu" and torch.is_autocast_cpu_enabled():
        return torch.get_autocast_cpu_dtype()
    return None


def _autocast(*tensors: Any) -> Tuple[Any, ...]:
    """Casts tensors as autocast casts those of scaled_dot_product_attention."""
    first = tensors[0]
    dtype = _autocast_type(first) if isinstance(first, torch.Tensor) else None
    if dtype is None:
        return tensors
    return tuple(
        tensor.to(dtype)
        if isinstance(tensor, torch.Tensor)
        and tensor.is_floating_point()
        and tensor.dtype != torch.float64
        and tensor.device == first.device
        else tensor
        for tensor in tensors
    )


def _check(
    q, k, v, causal, window, sink, softcap, cu_q, cu_k, max_q, max_k, deterministic,
    offset=None, schedule=None,
) -> Signature:  # fmt: skip
    """Checks all arguments but numbers; raises ArgumentError."""
    packed = cu_q is not None or cu_k is not None
    given = {"q": q, "k": k, "v": v}
    if sink is not None:
        given["sink"] = sink
    if packed:
        if cu_q is None or cu_k is None:
            raise ArgumentError("cu_seqlens_q and cu_seqlens_k must be given together")
        given.update(cu_seqlens_q=cu_q, cu_seqlens_k=cu_k)
    for name, tensor in given.items():
        if not isinstance(tensor, torch.Tensor):
            raise ArgumentError(
                f"{name} must be a torch.Tensor, got {type(tensor).__name__}"
            )
        if tensor.device != q.device:
            raise ArgumentError(
                f"{name} is on {tensor.device}, but q is on {q.device}; all tensors"
                " must be on one device"
            )
    if q.device.type not in ("cuda", "cpu"):
        raise ArgumentError(f"q is on {q.device}, must be on a CUDA device or the CPU")
    rank = 3 if packed else 4
    axes = "[T, H, D]" if packed else "[B, S, H, D]"
    for name in "qkv":
        tensor = given[name]
        if tensor.dim() != rank:
            raise ArgumentError(
                f"{name} has {tensor.dim()} dimensions, must have {rank}: {axes}"
                + (", because sequences are packed" if packed else "")
            )
        if tensor.dtype not in TYPES:
            raise ArgumentError(
                f"{name} is {tensor.dtype}, must be torch.float16 or torch.bfloat16"
            )
        if tensor.dtype != q.dtype:
            raise ArgumentError(
                f"{name} is {tensor.dtype}, but q is {q.dtype}; q, k and v must have"
                " one type"
            )
    if k.shape[:-1] != v.shape[:-1]:
        raise ArgumentError(
            f"shapes of k and v differ: {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ArgumentError(
            f"head dimensions of q and k differ: {q.shape[-1]} and {k.shape[-1]}"
        )
    for dimension in (q.shape[-1], v.shape[-1]):
        if not 0 < dimension <= MAX_HEAD_DIMENSION or dimension % HEAD_DIMENSION_STEP:
            raise ArgumentError(
                f"head dimensions of q and v are {(q.shape[-1], v.shape[-1])}; supported"
                f" are multiples of {HEAD_DIMENSION_STEP} up to {MAX_HEAD_DIMENSION}"
            )
    if not packed and q.shape[0] != k.shape[0]:
        raise ArgumentError(f"batches of q and k differ: {q.shape[0]} and {k.shape[0]}")
    _check_heads(q, k, "k")
    if sink is not None:
        _check_sink("sink", sink, q.shape[-2])
    if packed:
        _check_bounds(cu_q, cu_k)
        max_q = _length("max_seqlen_q", max_q, q.shape[0])
        max_k = _length("max_seqlen_k", max_k, k.shape[0])
    else:
        max_q = max_k = 0
    causal, left, right = _mask(causal, window)
    if not (schedule is None or isinstance(schedule, str)):
        raise ArgumentError(f"schedule must be a str, got {type(schedule).__name__}")
    return Signature(
        causal,
        left,
        right,
        softcap is not None,
        max_q,
        max_k,
        bool(deterministic),
        # Without a mask there is nothing to align.
        offset is not None and (causal or left >= 0 or right >= 0),
        schedule or "",
    )


def _check_heads(q: torch.Tensor, k: torch.Tensor, name: str) -> None:
    """Checks that the heads of `k`, which errors call `name`, divide those of q."""
    heads, kv_heads = q.shape[-2], k.shape[-2]
    if heads % kv_heads if kv_heads else heads:
        raise ArgumentError(
            f"q has {heads} heads, which is no multiple of the {kv_heads} heads of {name}"
        )


def _check_sink(name: str, sink: torch.Tensor, heads: int) -> None:
    if tuple(sink.shape) != (heads,) or sink.dtype not in SINK_TYPES:
        raise ArgumentError(
            f"{name} must have shape ({heads},), one element for each head of q, and"
            " be torch.float16, torch.bfloat16 or torch.float32; got"
            f" {tuple(sink.shape)} of {sink.dtype}"
        )


def _check_bounds(cu_q: torch.Tensor, cu_k: torch.Tensor) -> None:
    for name, tensor in (("cu_seqlens_q", cu_q), ("cu_seqlens_k", cu_k)):
        if (
            tensor.dim() != 1
            or tensor.dtype != torch.int32
            or tensor.shape[0] == 0
            or (tensor.shape[0] > 1 and tensor.stride(0) != 1)
        ):
            raise ArgumentError(
                f"{name} must be a contiguous torch.int32 tensor of shape (B + 1,),"
                f" got {tuple(tensor.shape)} of {tensor.dtype}"
            )
    if cu_q.shape != cu_k.shape:
        raise ArgumentError(
            f"cu_seqlens_q and cu_seqlens_k have {cu_q.shape[0]} and {cu_k.shape[0]}"
            " elements, must have as many"
        )


def _length(name: str, value: Any, default: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int) or not 0 <= value < 2**31:
        raise ArgumentError(f"{name} must be an int from 0 to 2^31 - 1, got {value!r}")
    return value


def _mask(causal: Any, window: Any) -> Tuple[bool, int, int]:
    """Returns whether the mask is causal, and the sides of a window, -1 for none.

    A causal mask bounds the right side by 0, as a window may do, too.
    """
    if not isinstance(causal, (bool, int)):
        raise ArgumentError(f"causal must be a bool, got {type(causal).__name__}")
    if window is None:
        return bool(causal), -1, -1
    if (
        not isinstance(window, (tuple, list))
        or len(window) != 2
        or not all(isinstance(side, int) and side < 2**31 for side in window)
    ):
        raise ArgumentError(
            f"window must be a pair of ints (left, right), -1 for no bound; got"
            f" {window!r}"
        )
    left, right = (max(side, -1) for side in window)
    if causal or right == 0:
        return True, left, -1
    return False, left, right
