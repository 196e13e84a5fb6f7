"""Kernels of this package for PyTorch's own operators of flash attention.

    tile.register_with_torch()
    torch.nn.attention.activate_flash_attention_impl("tile")

From then on `F.scaled_dot_product_attention` on the flash back end, `varlen_attn`
and `context_parallel` run on these kernels. Nothing is active before: importing
this module changes nothing.

PyTorch dispatches to four operators: `_flash_attention_forward` and `_backward`
on [B, S, H, D] or packed [T, H, D], `_scaled_dot_product_flash_attention` and
`_backward` on [B, H, S, D]. Tensors are read and written where they are, with
their strides. A call that these kernels cannot do runs on the kernel that was
registered before.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional, Tuple

import torch

from . import functional
from .errors import ArgumentError
from .prepared import MAX_PREPARED, Forward, find, has_readable_strides

#: The name of the implementation in PyTorch's list.
NAME = "tile"

#: The oldest GPUs that there are kernels for.
_MIN_CAPABILITY = (8, 0)

_ROWS_DTYPE = getattr(torch, "uint64", torch.int64)

#: Prepared calls, by what distinguishes them; None if the kernels cannot do it.
_plans: Dict[tuple, Optional[Forward]] = {}


class Handle:
    """Keeps the kernels registered until `remove()`."""

    def __init__(self, library: Any):
        self._library: Optional[Any] = library

    def remove(self) -> None:
        """Gives the operators back to the kernels below; may be called again."""
        library, self._library = self._library, None
        if library is not None:
            library._destroy()


class _ActiveHandle:
    """Handle of an activation that PyTorch's list knows about."""

    def remove(self) -> None:
        attention = torch.nn.attention
        if attention.current_flash_attention_impl() == NAME:
            attention.restore_flash_attention_impl()


def register() -> None:
    """Adds "tile" to the implementations of flash attention that PyTorch lists.

    Does not activate it: `torch.nn.attention.activate_flash_attention_impl("tile")`
    does. Raises RuntimeError if this PyTorch has no such list.
    """
    if not _has_list():
        raise RuntimeError(
            f"PyTorch {torch.__version__} has no"
            " torch.nn.attention.register_flash_attention_impl; PyTorch 2.11 has it"
        )
    torch.nn.attention.register_flash_attention_impl(NAME, register_fn=install)


def activate() -> Any:
    """Makes PyTorch's operators use these kernels; `remove()` of the result ends it.

    Uses PyTorch's list of implementations if there is one, else registers with
    the dispatcher alone.
    """
    if not _has_list():
        return install()
    register()
    torch.nn.attention.activate_flash_attention_impl(NAME)
    return _ActiveHandle()


def install(dispatch_key: str = "CUDA") -> Handle:
    """Registers the kernels with PyTorch's dispatcher; the result undoes it."""
    if torch.version.hip is not None:
        raise RuntimeError("tile launches kernels on CUDA devices only, not with ROCm")
    get_kernel = getattr(torch.library, "get_kernel", None)
    if get_kernel is None:
        raise RuntimeError(
            f"PyTorch {torch.__version__} has no torch.library.get_kernel, which finds"
            " the kernels for calls that tile cannot do; PyTorch 2.11 has it"
        )
    kernels = {
        name: _or_below(function, get_kernel(f"aten::{name}", dispatch_key))
        for name, function in OPERATORS.items()
    }
    library = torch.library.Library("aten", "IMPL")
    try:
        for name, kernel in kernels.items():
            library.impl(name, kernel, dispatch_key, with_keyset=True)
    except Exception:
        library._destroy()
        raise
    return Handle(library)


def _has_list() -> bool:
    attention = getattr(torch.nn, "attention", None)
    return hasattr(attention, "register_flash_attention_impl")


def _or_below(function: Callable, below: Any) -> Callable:
    """Returns a kernel that calls `function`, or `below` where it is refused."""

    def kernel(keyset, *args, **kwargs):
        results = function(*args, **kwargs)
        if results is NotImplemented:
            return below.call_boxed(keyset, *args, **kwargs)
        return results

    return kernel


def flash_attention_forward(
    query,
    key,
    value,
    cum_seq_q,
    cum_seq_k,
    max_q,
    max_k,
    dropout_p,
    is_causal,
    return_debug_mask,
    *,
    scale=None,
    window_size_left=None,
    window_size_right=None,
    **others,
):
    """`aten::_flash_attention_forward`; returns NotImplemented if it cannot do it.

    `others` are alibi slopes, lengths in use, caches and pages, where given.
    """
    if dropout_p or return_debug_mask or _any_given(others):
        return NotImplemented
    found = _forward(
        query, key, value, torch.empty_like(query), cum_seq_q, cum_seq_k, max_q,
        max_k, is_causal, window_size_left, window_size_right, scale,
    )  # fmt: skip
    if found is None:
        return NotImplemented
    return (*found, *_random_state(query), query.new_empty(0))


def flash_attention_backward(
    grad_out,
    query,
    key,
    value,
    out,
    logsumexp,
    cum_seq_q,
    cum_seq_k,
    max_q,
    max_k,
    dropout_p,
    is_causal,
    rng_state,
    unused,
    *,
    scale=None,
    window_size_left=None,
    window_size_right=None,
    **others,
):
    """`aten::_flash_attention_backward`; returns NotImplemented if it cannot do it."""
    if dropout_p or _any_given(others):
        return NotImplemented
    found = _backward(
        grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q,
        max_k, is_causal, window_size_left, window_size_right, scale,
    )  # fmt: skip
    return NotImplemented if found is None else found


def sdpa_forward(
    query,
    key,
    value,
    dropout_p=0.0,
    is_causal=False,
    return_debug_mask=False,
    *,
    scale=None,
    **others,
):
    """`aten::_scaled_dot_product_flash_attention`, or NotImplemented."""
    if dropout_p or return_debug_mask or _any_given(others):
        return NotImplemented
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        return NotImplemented
    # Such masks have two conventions; scaled_dot_product_attention asks for none.
    if is_causal and query.shape[2] != key.shape[2]:
        return NotImplemented
    out = torch.empty_like(query)
    found = _forward(
        query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2),
        out.transpose(1, 2), None, None, 0, 0, is_causal, None, None, scale,
    )  # fmt: skip
    if found is None:
        return NotImplemented
    sizes = (query.shape[2], key.shape[2])
    state = _random_state(query)
    return (out, found[1], None, None, *sizes, *state, query.new_empty(0))


def sdpa_backward(
    grad_out,
    query,
    key,
    value,
    out,
    logsumexp,
    cum_seq_q,
    cum_seq_k,
    max_q,
    max_k,
    dropout_p,
    is_causal,
    philox_seed,
    philox_offset,
    *,
    scale=None,
    **others,
):
    """`aten::_scaled_dot_product_flash_attention_backward`, or NotImplemented."""
    if dropout_p or _any_given(others):
        return NotImplemented
    tensors = (grad_out, query, key, value, out)
    if cum_seq_q is not None or any(tensor.dim() != 4 for tensor in tensors):
        return NotImplemented
    if is_causal and query.shape[2] != key.shape[2]:
        return NotImplemented
    found = _backward(
        *(tensor.transpose(1, 2) for tensor in tensors), logsumexp, None, None, 0, 0,
        is_causal, None, None, scale,
    )  # fmt: skip
    if found is None:
        return NotImplemented
    return tuple(gradient.transpose(1, 2) for gradient in found)


#: The operators of PyTorch that these functions implement.
OPERATORS = {
    "_flash_attention_forward": flash_attention_forward,
    "_flash_attention_backward": flash_attention_backward,
    "_scaled_dot_product_flash_attention": sdpa_forward,
    "_scaled_dot_product_flash_attention_backward": sdpa_backward,
}


def _any_given(options: Dict[str, Any]) -> bool:
    return any(option is not None for option in options.values())


def _random_state(query: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """Returns the state of dropout's generator: without dropout nobody reads it."""
    return (
        query.new_empty((2,), dtype=_ROWS_DTYPE),
        query.new_empty((), dtype=_ROWS_DTYPE),
    )


def _forward(
    q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right, scale
) -> Optional[Tuple[torch.Tensor, torch.Tensor]]:
    """Writes `o`; returns it and the logarithms of the rows' sums, or None."""
    scale = _scale(scale, q)
    plan = _plan(q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right)
    if plan is None or scale is None:
        return None
    if (q.data_ptr() | k.data_ptr() | v.data_ptr()) & 15:
        return None
    return plan.run(q, k, v, None, cu_q, cu_k, scale, 0.0, o)


def _backward(
    do, q, k, v, o, lse, cu_q, cu_k, max_q, max_k, causal, left, right, scale
) -> Optional[Tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Returns the gradients of q, k and v, or None."""
    scale = _scale(scale, q)
    plan = _plan(q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right)
    if plan is None or scale is None:
        return None
    if (q.data_ptr() | k.data_ptr() | v.data_ptr() | o.data_ptr()) & 15:
        return None
    rows = (q.shape[1], q.shape[0]) if cu_q is not None else (
        q.shape[0],
        q.shape[2],
        q.shape[1],
    )
    if lse.shape != rows or lse.dtype != torch.float32 or do.shape != q.shape:
        return None
    if lse.device != q.device or do.device != q.device:
        return None
    return plan.run_backward(
        do, q, k, v, o, lse.contiguous(), None, cu_q, cu_k, scale, 0.0
    )[:3]


def _scale(scale: Optional[float], q: torch.Tensor) -> Optional[float]:
    """Returns the scale of the scores, None if the kernels cannot use it."""
    if scale is None:
        return q.shape[-1] ** -0.5 if q.shape[-1] else None
    return scale if 0 <= scale < math.inf else None


def _plan(
    q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right
) -> Optional[Forward]:
    """Returns the prepared call of these tensors, None if there are no kernels."""
    key = (
        q.shape, k.shape, v.shape, o.shape, q.stride(), k.stride(), v.stride(),
        o.stride(), q.dtype, k.dtype, v.dtype, o.dtype, q.device, k.device, v.device,
        o.device, causal, left, right, torch.are_deterministic_algorithms_enabled(),
    )  # fmt: skip
    if cu_q is not None or cu_k is not None:
        key += (max_q, max_k) + tuple(
            None if cu is None else (cu.shape, cu.stride(), cu.dtype, cu.device)
            for cu in (cu_q, cu_k)
        )
    try:
        return _plans[key]
    except KeyError:
        pass
    plan = _make_plan(q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right)
    if len(_plans) >= MAX_PREPARED:
        _plans.clear()
    _plans[key] = plan
    return plan


def _make_plan(
    q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right
) -> Optional[Forward]:
    if q.is_cuda and torch.cuda.get_device_capability(q.device) < _MIN_CAPABILITY:
        return None
    left, right = (-1 if side is None else side for side in (left, right))
    try:
        signature = functional._check(
            q, k, v, causal, (left, right), None, None, cu_q, cu_k,
            max_q if cu_q is not None else None, max_k if cu_q is not None else None,
            torch.are_deterministic_algorithms_enabled(),
        )  # fmt: skip
    except ArgumentError:
        return None
    if o.shape != q.shape or v.shape != k.shape:
        return None
    if o.dtype != q.dtype or o.device != q.device:
        return None
    for tensor in (q, k, v, o):
        # Elements that share memory have no gradients of their own.
        overlaps = any(
            stride == 0 and extent > 1
            for stride, extent in zip(tensor.stride(), tensor.shape)
        )
        if overlaps or not tensor.numel() or not has_readable_strides(tensor):
            return None
    return find(signature, q, k, v, None, cu_q, cu_k, o)
