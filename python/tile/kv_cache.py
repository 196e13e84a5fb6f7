"""Attention over a cache of keys and values, as inference needs it. Needs PyTorch.

The argument names are those of FlashAttention-3's function of this name.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, Union

import torch

from .append import append
from .errors import ArgumentError
from .functional import _check_heads, _check_sink, _length, _mask, _numbers
from .prepared import (
    HEAD_DIMENSION_STEP,
    MAX_HEAD_DIMENSION,
    TYPES,
    Signature,
    find,
    has_readable_strides,
    readable,
)
from .programs import ALIGNMENT, STRIDE_DIVISOR

#: Arguments of FlashAttention-3 that the kernels have nothing for.
_MISSING = frozenset((
    "qv", "rotary_cos", "rotary_sin", "cache_leftpad", "rotary_seqlens", "q_descale",
    "k_descale", "v_descale", "attention_chunk", "cu_seqlens_k_new", "alibi_slopes",
))  # fmt: skip

#: Those that only choose among its kernels.
_IGNORED = frozenset((
    "rotary_interleaved", "pack_gqa", "sm_margin", "cp_world_size",
))  # fmt: skip


class SchedulerMetadata:
    """Which block of threads does what, for the lengths of one batch.

    The calls for all layers of a model that get the same object share it: the first
    one computes it on the GPU. It is for calls on one stream. A call with other shapes
    or options, with another tensor of lengths, or after PyTorch has changed the tensor,
    computes it again. Changes that PyTorch does not count are not seen, by other
    libraries or in inference mode: make another object for each step. A CUDA graph that
    records the first call computes the table at each replay.
    """

    def __init__(self) -> None:
        #: Scratch memory by prepared call, for the lengths of the last call, and
        #: what tells them from others.
        self._scratch: Dict[Any, Any] = {}
        self._lengths: Tuple[Any, ...] = ()
        self._states: Tuple[Any, ...] = ()

    def _find(self, *lengths: Any) -> Dict[Any, Any]:
        """Returns the scratch memory by prepared call, none for new lengths."""
        states = tuple(map(_state, lengths))
        if states != self._states:
            self._scratch = {}
            # Kept, so that no other tensor gets their addresses.
            self._lengths, self._states = lengths, states
        return self._scratch


def _state(lengths: Any) -> Any:
    """Returns what changes if a tensor of lengths, or a number, does."""
    if not isinstance(lengths, torch.Tensor):
        return lengths
    version = None if lengths.is_inference() else lengths._version
    return lengths.data_ptr(), tuple(lengths.shape), version


def attention_with_kvcache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k: Optional[torch.Tensor] = None,
    v: Optional[torch.Tensor] = None,
    *,
    cache_seqlens: Optional[Union[int, torch.Tensor]] = None,
    cache_batch_idx: Optional[torch.Tensor] = None,
    page_table: Optional[torch.Tensor] = None,
    cu_seqlens_q: Optional[torch.Tensor] = None,
    max_seqlen_q: Optional[int] = None,
    max_seqlen_k: Optional[int] = None,
    softmax_scale: Optional[float] = None,
    causal: bool = False,
    window_size: Tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    learnable_sink: Optional[torch.Tensor] = None,
    num_splits: int = 0,
    scheduler_metadata: Optional[SchedulerMetadata] = None,
    return_softmax_lse: bool = False,
    out: Optional[torch.Tensor] = None,
    **others: Any,
):
    """Attention of queries to the keys in a cache, without gradients.

    q is [B, Sq, H, D], or packed [Tq, H, D] with `cu_seqlens_q`, i32 [B + 1]. The
    caches are [B, S, Hkv, D] and [B, S, Hkv, Dv], or with `page_table`, i32 [B, N],
    pages [P, R, Hkv, D] and [P, R, Hkv, Dv]: key i of sequence b is in page
    page_table[b, i // R]. Their strides may be any multiples of 8 elements.
    `cache_seqlens`, i32 [B] or one int, counts the keys of each sequence, by default
    all that fit; what is behind them is not read, in the table neither.
    With `cache_batch_idx`, i32 [B], sequence b is in row cache_batch_idx[b] of a
    cache without pages.

    `k` and `v`, [B, Snew, Hkv, D] and [B, Snew, Hkv, Dv], are written to the cache
    behind the `cache_seqlens` keys first, and attended to as well. The cache must have
    room for them, and the table pages: lengths are on the GPU, where nothing checks it.

    Queries and keys are aligned at their ends: with `causal`, query i sees key j iff
    j <= i + length - Sq. `window_size` is (left, right), -1 for no bound. `softcap` 0
    means none. `learnable_sink` is `sink` of tile.attention. `num_splits` blocks share
    the keys of a tile of queries, 0 for a choice; `max_seqlen_k`, about the longest
    length, helps the choice. With packed queries or `scheduler_metadata`, the choice is
    made on the GPU for each sequence. Nothing waits for the GPU, so that a CUDA graph can record
    the call.

    Returns o like q, in `out` if that is given, and with `return_softmax_lse` the
    logarithms of the rows' sums, [B, H, Sq] or [H, Tq], in f32.

    Raises ArgumentError for arguments that do not fit.
    """
    for name, value in others.items():
        if name not in _MISSING and name not in _IGNORED:
            raise TypeError(
                f"attention_with_kvcache() got an unexpected keyword argument '{name}'"
            )
        if name in _MISSING and (isinstance(value, torch.Tensor) or value):
            raise ArgumentError(f"{name} is not supported by attention_with_kvcache")
    if cache_batch_idx is not None:
        if page_table is not None:
            raise ArgumentError("cache_batch_idx is for caches without pages")
        # Each row of the cache is one page.
        _check_vector("cache_batch_idx", cache_batch_idx, q)
        page_table = cache_batch_idx[:, None]
    _check_tensors(q, k_cache, v_cache, page_table, cu_seqlens_q, learnable_sink)
    packed = cu_seqlens_q is not None
    batch = cu_seqlens_q.shape[0] - 1 if packed else q.shape[0]
    room = k_cache.shape[1] * (1 if page_table is None else page_table.shape[1])
    if page_table is None and k_cache.shape[0] != batch:
        raise ArgumentError(f"the caches have {k_cache.shape[0]} sequences, q has {batch}")
    if page_table is not None and page_table.shape[0] != batch:
        raise ArgumentError(f"page_table has {page_table.shape[0]} rows, q has {batch}")
    given_lengths = cache_seqlens
    if cache_seqlens is None:
        cache_seqlens = room if k is None else 0
    if isinstance(cache_seqlens, int):
        cache_seqlens = torch.full(
            (batch,), cache_seqlens, dtype=torch.int32, device=q.device
        )
    _check_vector("cache_seqlens", cache_seqlens, q)
    if cache_seqlens.shape[0] != batch:
        raise ArgumentError(
            f"cache_seqlens has {cache_seqlens.shape[0]} lengths, q has {batch} sequences"
        )
    if (k is None) != (v is None):
        raise ArgumentError("k and v must be given together")
    if k is not None:
        cache_seqlens = _append(k, v, k_cache, v_cache, cache_seqlens, page_table)
    causal, left, right = _mask(causal, window_size)
    scale, softcap = _numbers(q, softmax_scale, softcap or None)
    if not isinstance(num_splits, int) or num_splits < 0:
        raise ArgumentError(f"num_splits must be an int from 0 on, got {num_splits!r}")
    if scheduler_metadata is not None and not isinstance(
        scheduler_metadata, SchedulerMetadata
    ):
        raise ArgumentError("scheduler_metadata must be a tile.SchedulerMetadata")
    signature = Signature(
        causal,
        left,
        right,
        bool(softcap),
        _length("max_seqlen_q", max_seqlen_q, q.shape[0] if packed else 0),
        _length("max_seqlen_k", max_seqlen_k, 0),
        False,
        parts=num_splits,
        works=not num_splits and (packed or scheduler_metadata is not None),
    )
    q = readable(q)
    if learnable_sink is not None:
        learnable_sink = learnable_sink.contiguous()
    if out is not None:
        _check_out(out, q, v_cache)
    metadata = None
    if scheduler_metadata is not None:
        metadata = scheduler_metadata._find(
            given_lengths, cu_seqlens_q, 0 if k is None else k.shape[1]
        )
    prepared = find(
        signature, q, k_cache, v_cache, learnable_sink, cu_seqlens_q, None, out,
        key_lengths=cache_seqlens, page_table=page_table,
    )  # fmt: skip
    o, lse = prepared.run(
        q, k_cache, v_cache, learnable_sink, cu_seqlens_q, None, scale, softcap, out,
        cache=(cache_seqlens, page_table),
        metadata=metadata,
    )  # fmt: skip
    return (o, lse) if return_softmax_lse else o


def _append(k, v, k_cache, v_cache, lengths, page_table) -> torch.Tensor:
    """Writes new keys and values behind the others; returns the new lengths."""
    batch, new = lengths.shape[0], k.shape[1]
    for name, tensor, cache in (("k", k, k_cache), ("v", v, v_cache)):
        if (
            tensor.dim() != 4
            or tensor.shape[0] != batch
            or tensor.shape[1] != new
            or tensor.shape[2:] != cache.shape[2:]
            or tensor.dtype != cache.dtype
        ):
            raise ArgumentError(
                f"{name} must have the shape {(batch, new, *cache.shape[2:])} and the"
                f" type {cache.dtype}, got {tuple(tensor.shape)} of {tensor.dtype}"
            )
    return append(readable(k), readable(v), k_cache, v_cache, lengths, page_table)


def _check_vector(name: str, tensor: Any, q: torch.Tensor) -> None:
    """Checks a contiguous tensor of one i32 for each sequence."""
    if (
        not isinstance(tensor, torch.Tensor)
        or tensor.dim() != 1
        or tensor.dtype != torch.int32
        or tensor.device != q.device
        or (tensor.shape[0] > 1 and tensor.stride(0) != 1)
    ):
        raise ArgumentError(
            f"{name} must be a contiguous torch.int32 tensor of shape (B,) on {q.device}"
        )


def _check_tensors(q, k_cache, v_cache, page_table, cu_q, sink) -> None:
    packed = cu_q is not None
    rank = 3 if packed else 4
    if not isinstance(q, torch.Tensor) or q.dim() != rank or q.dtype not in TYPES:
        raise ArgumentError(
            f"q must be a tensor of {rank} dimensions, torch.float16 or torch.bfloat16"
        )
    if packed:
        _check_vector("cu_seqlens_q", cu_q, q)
        if cu_q.shape[0] == 0:
            raise ArgumentError("cu_seqlens_q must have B + 1 elements")
    for name, cache in (("k_cache", k_cache), ("v_cache", v_cache)):
        if (
            not isinstance(cache, torch.Tensor)
            or cache.dim() != 4
            or cache.dtype != q.dtype
            or cache.device != q.device
        ):
            raise ArgumentError(
                f"{name} must be a tensor of 4 dimensions, {q.dtype} on {q.device}"
            )
        if not has_readable_strides(cache) or cache.data_ptr() % ALIGNMENT:
            raise ArgumentError(
                f"{name} must have dense rows whose distances are multiples of"
                f" {STRIDE_DIVISOR} elements, and begin at a multiple of {ALIGNMENT}"
                f" bytes; its strides are {cache.stride()}"
            )
    if k_cache.shape[:3] != v_cache.shape[:3]:
        raise ArgumentError(
            f"shapes of the caches differ: {tuple(k_cache.shape)} and"
            f" {tuple(v_cache.shape)}"
        )
    _check_heads(q, k_cache, "the caches")
    if q.shape[-1] != k_cache.shape[-1]:
        raise ArgumentError(
            f"head dimensions of q and k_cache differ: {q.shape[-1]} and"
            f" {k_cache.shape[-1]}"
        )
    for dimension in (q.shape[-1], v_cache.shape[-1]):
        if not 0 < dimension <= MAX_HEAD_DIMENSION or dimension % HEAD_DIMENSION_STEP:
            raise ArgumentError(
                f"head dimensions are {(q.shape[-1], v_cache.shape[-1])}; supported are"
                f" multiples of {HEAD_DIMENSION_STEP} up to {MAX_HEAD_DIMENSION}"
            )
    if page_table is not None and (
        not isinstance(page_table, torch.Tensor)
        or page_table.dim() != 2
        or page_table.dtype != torch.int32
        or page_table.device != q.device
        or (page_table.shape[1] > 1 and page_table.stride(1) != 1)
    ):
        raise ArgumentError(
            f"page_table must be a torch.int32 tensor of shape (B, N) on {q.device} with"
            " dense rows"
        )
    if sink is not None:
        if not isinstance(sink, torch.Tensor) or sink.device != q.device:
            raise ArgumentError(f"learnable_sink must be a torch.Tensor on {q.device}")
        _check_sink("learnable_sink", sink, q.shape[-2])


def _check_out(out: Any, q: torch.Tensor, v_cache: torch.Tensor) -> None:
    shape = (*q.shape[:-1], v_cache.shape[-1])
    if (
        not isinstance(out, torch.Tensor)
        or tuple(out.shape) != shape
        or out.dtype not in (q.dtype, torch.float32)
        or out.device != q.device
        or not has_readable_strides(out)
        or out.data_ptr() % ALIGNMENT
    ):
        raise ArgumentError(
            f"out must be a tensor {shape} of {q.dtype} or torch.float32 on {q.device}"
            " with dense rows"
        )
