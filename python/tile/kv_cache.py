"""Attention over a cache of keys and values, as inference needs it. Needs PyTorch.

The argument names are those of FlashAttention-3's function of this name, and those of
FlashInfer for lists of pages.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple, Union

import torch

from .append import append
from .choices import round_longest
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
from .scheduler_metadata import SchedulerMetadata

#: Arguments of FlashAttention-3 that the kernels have nothing for.
_MISSING = frozenset((
    "qv", "rotary_cos", "rotary_sin", "cache_leftpad", "rotary_seqlens", "q_descale",
    "k_descale", "v_descale", "attention_chunk", "cu_seqlens_k_new", "alibi_slopes",
))  # fmt: skip

#: The layouts of caches, by FlashInfer's names: whether heads stand before keys.
_LAYOUTS = {"NHD": False, "HND": True}

#: The bits of a word of a tree mask, and the most words of a query.
_WORD_BITS, _MOST_WORDS = 32, 8

#: Those that only choose among its kernels.
_IGNORED = frozenset((
    "rotary_interleaved", "pack_gqa", "sm_margin", "cp_world_size",
))  # fmt: skip


def attention_with_kvcache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: Optional[torch.Tensor] = None,
    k: Optional[torch.Tensor] = None,
    v: Optional[torch.Tensor] = None,
    *,
    cache_seqlens: Optional[Union[int, torch.Tensor]] = None,
    cache_batch_idx: Optional[torch.Tensor] = None,
    page_table: Optional[torch.Tensor] = None,
    kv_indptr: Optional[torch.Tensor] = None,
    kv_indices: Optional[torch.Tensor] = None,
    kv_last_page_len: Optional[torch.Tensor] = None,
    kv_layout: str = "NHD",
    tree_mask: Optional[torch.Tensor] = None,
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

    `kv_indptr`, `kv_indices` and `kv_last_page_len` are FlashInfer's page tables, in
    place of `page_table` and `cache_seqlens`: i32 [B + 1], [N] and [B]. Sequence b has
    the pages kv_indices[kv_indptr[b]] to before kv_indices[kv_indptr[b + 1]], of which
    the last one has kv_last_page_len[b] keys. One tensor may hold both caches, keys at
    0 and values at 1 of dimension 1: [P, 2, R, Hkv, D] as `k_cache`, without `v_cache`.
    With `kv_layout` "HND", heads stand before keys, [P, Hkv, R, D] or [P, 2, Hkv, R, D].

    `k` and `v`, [B, Snew, Hkv, D] and [B, Snew, Hkv, Dv], are written to the cache
    behind the `cache_seqlens` keys first, and attended to as well. The cache must have
    room for them, and the table pages: lengths are on the GPU, where nothing checks it.
    Lists of pages and kv_last_page_len count them already, as FlashInfer's function for
    this wants it.

    Queries and keys are aligned at their ends: with `causal`, query i sees key j iff
    j <= i + length - Sq. `tree_mask` is that of tile.attention, i32 [B, Sq, W] or
    [Tq, W]: queries are nodes of a tree of drafts, whose keys are the last Sq ones, and
    query i sees node n among them iff bit n of its row is set (`pack_tree_mask`), and
    all keys before. The other masks hold besides. `window_size` is (left, right), -1
    for no bound. `softcap` 0 means none. `learnable_sink` is `sink` of tile.attention.
    `num_splits` blocks share the keys of a tile of queries, 0 for a choice;
    `max_seqlen_k`, about the longest length, helps the choice; so does `max_seqlen_q`,
    by which packed steps of decoding have small tiles. With packed queries or
    `scheduler_metadata`, the choice is made on the GPU for each sequence. With packed
    queries and `num_splits`, `max_seqlen_q` sizes the grid: no sequence may have more.
    Nothing waits for the GPU, so that a CUDA graph can record the call.

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
    k_cache, v_cache = _split_cache(k_cache, v_cache, kv_layout)
    if kv_indptr is not None or kv_indices is not None or kv_last_page_len is not None:
        for name, value in (
            ("cache_seqlens", cache_seqlens), ("page_table", page_table),
            ("cache_batch_idx", cache_batch_idx),
        ):  # fmt: skip
            if value is not None:
                raise ArgumentError(f"{name} cannot be given beside kv_indptr")
        _check_vector("kv_indptr", kv_indptr, q, "(B + 1,)")
        _check_vector("kv_indices", kv_indices, q, "(N,)")
        _check_vector("kv_last_page_len", kv_last_page_len, q)
        page_table, cache_seqlens = kv_indices, kv_last_page_len
    if cache_batch_idx is not None:
        if page_table is not None:
            raise ArgumentError("cache_batch_idx is for caches without pages")
        # Each row of the cache is one page.
        _check_vector("cache_batch_idx", cache_batch_idx, q)
        page_table = cache_batch_idx[:, None]
    _check_tensors(q, k_cache, v_cache, cu_seqlens_q, learnable_sink)
    packed = cu_seqlens_q is not None
    batch = cu_seqlens_q.shape[0] - 1 if packed else q.shape[0]
    if page_table is None and k_cache.shape[0] != batch:
        raise ArgumentError(f"the caches have {k_cache.shape[0]} sequences, q has {batch}")
    if kv_indptr is not None:
        if kv_indptr.shape[0] != batch + 1:
            raise ArgumentError(
                f"kv_indptr has {kv_indptr.shape[0]} elements, q has {batch} sequences"
            )
    elif page_table is not None:
        _check_table(page_table, q, batch)
    given_lengths = cache_seqlens
    if cache_seqlens is None:
        room = k_cache.shape[1] * (1 if page_table is None else page_table.shape[1])
        cache_seqlens = room if k is None else 0
    if isinstance(cache_seqlens, int):
        cache_seqlens = torch.full(
            (batch,), cache_seqlens, dtype=torch.int32, device=q.device
        )
    lengths = "cache_seqlens" if kv_indptr is None else "kv_last_page_len"
    _check_vector(lengths, cache_seqlens, q)
    if cache_seqlens.shape[0] != batch:
        raise ArgumentError(
            f"{lengths} has {cache_seqlens.shape[0]} lengths, q has {batch} sequences"
        )
    if tree_mask is not None:
        _check_tree(tree_mask, q, max_seqlen_q if packed else q.shape[1])
    if (k is None) != (v is None):
        raise ArgumentError("k and v must be given together")
    if k is not None:
        cache_seqlens = _append(
            k, v, k_cache, v_cache, cache_seqlens, page_table, kv_indptr
        )
    causal, left, right = _mask(causal, window_size)
    scale, softcap = _numbers(q, softmax_scale, softcap or None)
    if not isinstance(num_splits, int) or num_splits < 0:
        raise ArgumentError(f"num_splits must be an int from 0 on, got {num_splits!r}")
    if scheduler_metadata is not None and not isinstance(
        scheduler_metadata, SchedulerMetadata
    ):
        raise ArgumentError("scheduler_metadata must be a tile.SchedulerMetadata")
    works = not num_splits and (packed or scheduler_metadata is not None)
    longest = _length("max_seqlen_q", max_seqlen_q, q.shape[0] if packed else 0)
    if works and packed:
        longest = min(round_longest(longest), q.shape[0])
    signature = Signature(
        causal,
        left,
        right,
        bool(softcap),
        longest,
        _length("max_seqlen_k", max_seqlen_k, 0),
        False,
        parts=num_splits,
        works=works,
        appends=k is not None,
    )
    q = readable(q)
    if learnable_sink is not None:
        learnable_sink = learnable_sink.contiguous()
    if out is not None:
        _check_out(out, q, v_cache)
    metadata = None
    if scheduler_metadata is not None:
        metadata = scheduler_metadata._find(
            given_lengths, kv_indptr, cu_seqlens_q, 0 if k is None else k.shape[1]
        )
    tensors = cache_seqlens, page_table, kv_indptr, tree_mask
    prepared = find(
        signature, q, k_cache, v_cache, learnable_sink, cu_seqlens_q, None, out,
        cache=tensors,
    )  # fmt: skip
    o, lse = prepared.run(
        q, k_cache, v_cache, learnable_sink, cu_seqlens_q, None, scale, softcap, out,
        cache=tensors,
        metadata=metadata,
    )  # fmt: skip
    return (o, lse) if return_softmax_lse else o


def pack_tree_mask(mask: torch.Tensor) -> torch.Tensor:
    """Packs a mask of a tree of drafts for `attention_with_kvcache`.

    mask is a tensor of booleans [..., N] for N nodes: whether a query sees each node.
    Returns i32 [..., ceil(N / 32)]: bit n % 32 of word n / 32 belongs to node n. Nothing
    waits for the GPU.
    """
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or not mask.dim():
        raise ArgumentError("mask must be a tensor of torch.bool")
    mask = torch.nn.functional.pad(mask, (0, -mask.shape[-1] % _WORD_BITS))
    bits = torch.arange(_WORD_BITS, device=mask.device)
    words = mask.unflatten(-1, (mask.shape[-1] // _WORD_BITS, _WORD_BITS)).long() << bits
    words = words.sum(-1)
    # The highest bit is the sign.
    return (words - ((words >> (_WORD_BITS - 1)) << _WORD_BITS)).int()


def _split_cache(k_cache: Any, v_cache: Any, layout: str) -> Tuple[Any, Any]:
    """Returns the caches of keys and values, with keys before heads."""
    if layout not in _LAYOUTS:
        raise ArgumentError(f"kv_layout must be 'NHD' or 'HND', got {layout!r}")
    if v_cache is None:
        if (
            not isinstance(k_cache, torch.Tensor)
            or k_cache.dim() != 5
            or k_cache.shape[1] != 2
        ):
            raise ArgumentError(
                "k_cache must be a tensor of 5 dimensions, the second of extent 2,"
                " without v_cache"
            )
        k_cache, v_cache = k_cache.unbind(1)
    if _LAYOUTS[layout]:
        k_cache, v_cache = (
            t.transpose(1, 2) if isinstance(t, torch.Tensor) and t.dim() == 4 else t
            for t in (k_cache, v_cache)
        )
    return k_cache, v_cache


def _append(k, v, k_cache, v_cache, lengths, page_table, bounds) -> torch.Tensor:
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
    return append(
        readable(k), readable(v), k_cache, v_cache, lengths, page_table, bounds
    )


def _has_numbers(tensor: Any, q: torch.Tensor, rank: int) -> bool:
    """Returns true for a tensor of i32 whose last dimension is dense, beside q."""
    return (
        isinstance(tensor, torch.Tensor)
        and tensor.dim() == rank
        and tensor.dtype == torch.int32
        and tensor.device == q.device
        and (tensor.shape[-1] <= 1 or tensor.stride(-1) == 1)
    )


def _check_vector(name: str, tensor: Any, q: torch.Tensor, shape: str = "(B,)") -> None:
    """Checks a contiguous tensor of i32, by default one for each sequence."""
    if not _has_numbers(tensor, q, 1):
        raise ArgumentError(
            f"{name} must be a contiguous torch.int32 tensor of shape {shape} on {q.device}"
        )


def _check_table(table: Any, q: torch.Tensor, batch: int) -> None:
    """Checks a table with a row for each sequence."""
    if not _has_numbers(table, q, 2):
        raise ArgumentError(
            f"page_table must be a torch.int32 tensor of shape (B, N) on {q.device} with"
            " dense rows"
        )
    if table.shape[0] != batch:
        raise ArgumentError(f"page_table has {table.shape[0]} rows, q has {batch}")


def _check_tree(mask: Any, q: torch.Tensor, queries: Optional[int]) -> None:
    """Checks the mask of a tree with `queries` nodes, if that is known."""
    shape = tuple(q.shape[:-2])
    if (
        not isinstance(mask, torch.Tensor)
        or mask.dtype != torch.int32
        or mask.device != q.device
        or tuple(mask.shape[:-1]) != shape
        or not 1 <= mask.shape[-1] <= _MOST_WORDS
        or not mask.is_contiguous()
    ):
        raise ArgumentError(
            f"tree_mask must be a contiguous torch.int32 tensor {shape} with 1 to"
            f" {_MOST_WORDS} words for each query on {q.device}"
        )
    if queries is not None and queries > _WORD_BITS * mask.shape[-1]:
        raise ArgumentError(
            f"tree_mask has {_WORD_BITS * mask.shape[-1]} bits for each query, fewer"
            f" than the {queries} queries of a sequence"
        )


def _check_tensors(q, k_cache, v_cache, cu_q, sink) -> None:
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
