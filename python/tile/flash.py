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

Where PyTorch's C interface allows it, only the first call of each kind runs in
Python (`fast.py`). An error in that call is a RuntimeError with the text of the
error.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional, Tuple

import torch

from . import fast, functional
from .errors import ArgumentError
from .prepared import (
    MAX_PREPARED,
    Forward,
    find,
    has_readable_strides,
    readable,
    template,
)

#: The name of the implementation in PyTorch's list.
NAME = "tile"

#: The oldest GPUs that there are kernels for.
_MIN_CAPABILITY = (8, 0)

_STATE_DTYPE = getattr(torch, "uint64", torch.int64)

class _Plan:
    """What does not change between calls of an operator with the same layouts."""

    def __init__(self, prepared: Forward, q: torch.Tensor, k: torch.Tensor):
        self.prepared = prepared
        self.scale = q.shape[-1] ** -0.5
        # The state of dropout's generator, which nobody reads without dropout.
        self.seed_like = template(q, (2,), _STATE_DTYPE)
        self.offset_like = template(q, (), _STATE_DTYPE)
        self.empty = template(q, (0,))
        rows = 2 if prepared.heads_first else 1
        self.lengths = (q.shape[rows], k.shape[rows])

    @property
    def unused(self) -> Dict[str, torch.Tensor]:
        """Tensors like those that nobody reads, by names of their buffers."""
        return {"seed": self.seed_like, "offset": self.offset_like, "mask": self.empty}


#: Plans of forward and backward calls, by what distinguishes them; None if the
#: kernels cannot do it.
_plans: Dict[tuple, Optional[_Plan]] = {}


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


def install(dispatch_key: str = "CUDA") -> Any:
    """Registers the kernels with PyTorch's dispatcher; `remove()` of the result
    undoes it."""
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
    installed = fast.install(kernels, dispatch_key)
    if installed is not None:
        return installed
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
    if dropout_p or return_debug_mask or (others and _any_given(others)):
        return NotImplemented
    found = _forward(
        False, query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, is_causal,
        window_size_left, window_size_right, scale,
    )  # fmt: skip
    if found is None:
        return NotImplemented
    plan, out, logsumexp = found
    return (out, logsumexp, *_unused(plan))


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
    if dropout_p or (others and _any_given(others)):
        return NotImplemented
    return _backward(
        False, grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k,
        max_q, max_k, is_causal, window_size_left, window_size_right, scale,
    )  # fmt: skip


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
    if dropout_p or return_debug_mask or (others and _any_given(others)):
        return NotImplemented
    found = _forward(
        True, query, key, value, None, None, 0, 0, is_causal, None, None, scale
    )
    if found is None:
        return NotImplemented
    plan, out, logsumexp = found
    return (out, logsumexp, None, None, *plan.lengths, *_unused(plan))


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
    if dropout_p or cum_seq_q is not None or (others and _any_given(others)):
        return NotImplemented
    return _backward(
        True, grad_out, query, key, value, out, logsumexp, None, None, 0, 0,
        is_causal, None, None, scale,
    )  # fmt: skip


#: The operators of PyTorch that these functions implement.
OPERATORS = {
    "_flash_attention_forward": flash_attention_forward,
    "_flash_attention_backward": flash_attention_backward,
    "_scaled_dot_product_flash_attention": sdpa_forward,
    "_scaled_dot_product_flash_attention_backward": sdpa_backward,
}


def _any_given(options: Dict[str, Any]) -> bool:
    return any(option is not None for option in options.values())


def _unused(plan: _Plan) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the state of dropout's generator and the mask for debugging.

    They are new tensors, because compiled graphs reuse the memory of results.
    """
    empty_like = torch.empty_like
    return (
        empty_like(plan.seed_like),
        empty_like(plan.offset_like),
        empty_like(plan.empty),
    )


def _forward(
    heads_first, q, k, v, cu_q, cu_k, max_q, max_k, causal, left, right, scale
) -> Optional[Tuple[_Plan, torch.Tensor, torch.Tensor]]:
    """Returns the plan, the output and the logarithms of the rows' sums, or None.

    Tensors are [B, H, S, D] if `heads_first`.
    """
    call = (
        heads_first, causal, left, right, torch.are_deterministic_algorithms_enabled(),
        q.shape, q.stride(), q.dtype, q.device, k.shape, k.stride(), k.dtype, k.device,
        v.shape, v.stride(), v.dtype, v.device,
    )  # fmt: skip
    if cu_q is not None or cu_k is not None:
        call += (max_q, max_k, _describe(cu_q), _describe(cu_k))
    try:
        plan = _plans[call]
    except KeyError:
        plan = _make_plan(
            heads_first, q, k, v, torch.empty_like(q), cu_q, cu_k, max_q, max_k,
            causal, left, right,
        )  # fmt: skip
        _remember(call, plan)
    if plan is None or (q.data_ptr() | k.data_ptr() | v.data_ptr()) & 15:
        return None
    if scale is None:
        scale = plan.scale
    elif not 0 <= scale < math.inf:
        return None
    out, lse = plan.prepared.run(
        q, k, v, None, cu_q, cu_k, scale, 0.0, torch.empty_like(q)
    )
    operators = fast.installed()
    if operators is not None:
        operators.store(_fast_forward(plan, out, lse, cu_q is not None))
    return plan, out, lse


def _fast_forward(plan: _Plan, out, lse, packed: bool) -> fast.Plan:
    """Returns how to repeat a call of `_forward`."""
    recipe = plan.prepared.recipe()
    inputs = {"q": 0, "k": 1, "v": 2}
    if packed:
        inputs.update(cu_q=3, cu_k=4)
    buffers = {"o": out, "lse": lse, **plan.unused}
    if recipe.scratch is not None:
        buffers["scratch"] = recipe.scratch
    middle = (None, None, *plan.lengths) if plan.prepared.heads_first else ()
    return fast.Plan(
        recipe.launch,
        recipe.names,
        inputs,
        buffers,
        recipe.offsets,
        recipe.numbers,
        ("o", "lse", *middle, *plan.unused),
        ("q", "k", "v"),
        plan.scale,
    )


def _backward(
    heads_first, do, q, k, v, o, lse, cu_q, cu_k, max_q, max_k, causal, left, right,
    scale,
) -> Any:  # fmt: skip
    """Returns the gradients of q, k and v, or NotImplemented."""
    call = (
        heads_first, causal, left, right, torch.are_deterministic_algorithms_enabled(),
        q.shape, q.stride(), q.dtype, q.device, k.shape, k.stride(), k.dtype, k.device,
        v.shape, v.stride(), v.dtype, v.device, o.shape, o.stride(), o.dtype, o.device,
        lse.shape, lse.dtype, lse.device, do.shape, do.device,
    )  # fmt: skip
    if cu_q is not None or cu_k is not None:
        call += (max_q, max_k, _describe(cu_q), _describe(cu_k))
    try:
        plan = _plans[call]
    except KeyError:
        plan = _make_plan(
            heads_first, q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right
        )
        if plan is not None and not _have_rows_of(q, do, lse, heads_first):
            plan = None
        _remember(call, plan)
    addresses = q.data_ptr() | k.data_ptr() | v.data_ptr() | o.data_ptr()
    if plan is None or addresses & 15:
        return NotImplemented
    if scale is None:
        scale = plan.scale
    elif not 0 <= scale < math.inf:
        return NotImplemented
    gradients = plan.prepared.run_backward(
        do, q, k, v, o, lse.contiguous(), None, cu_q, cu_k, scale, 0.0
    )[:3]
    operators = fast.installed()
    # Other calls copy tensors.
    if operators is not None and lse.is_contiguous() and readable(do) is do:
        if do.dtype == q.dtype:
            operators.store(_fast_backward(plan, do, gradients, cu_q is not None))
    return gradients


def _fast_backward(plan: _Plan, do, gradients, packed: bool) -> fast.Plan:
    """Returns how to repeat a call of `_backward`."""
    recipe = plan.prepared.backward_recipe(do)
    inputs = {"do": 0, "q": 1, "k": 2, "v": 3, "o": 4, "lse": 5}
    if packed:
        inputs.update(cu_q=6, cu_k=7)
    names = ("dq", "dk", "dv")
    return fast.Plan(
        recipe.launch,
        recipe.names,
        inputs,
        {**dict(zip(names, gradients)), "scratch": recipe.scratch},
        recipe.offsets,
        recipe.numbers,
        names,
        ("do", "q", "k", "v", "o"),
        plan.scale,
    )


def _describe(tensor: Optional[torch.Tensor]) -> Optional[tuple]:
    """Returns what a plan depends on of a tensor."""
    if tensor is None:
        return None
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device


def _remember(call: tuple, plan: Optional[_Plan]) -> None:
    if len(_plans) >= MAX_PREPARED:
        _plans.clear()
    _plans[call] = plan


def _have_rows_of(
    q: torch.Tensor, do: torch.Tensor, lse: torch.Tensor, heads_first: bool
) -> bool:
    """Returns whether `do` and `lse` have the shapes and the device that q asks for."""
    rows = q.shape[:-1] if heads_first else (*q.shape[:-3], q.shape[-2], q.shape[-3])
    return (
        lse.shape == rows
        and lse.dtype == torch.float32
        and do.shape == q.shape
        and lse.device == do.device == q.device
    )


def _make_plan(
    heads_first, q, k, v, o, cu_q, cu_k, max_q, max_k, causal, left, right
) -> Optional[_Plan]:
    """Returns the plan of a call, None if there are no kernels for it."""
    if q.is_cuda and torch.cuda.get_device_capability(q.device) < _MIN_CAPABILITY:
        return None
    left, right = (-1 if side is None else side for side in (left, right))
    views = q, k, v
    if heads_first:
        if q.dim() != 4 or k.dim() != 4 or v.dim() != 4:
            return None
        # Such masks have two conventions; scaled_dot_product_attention asks for none.
        if causal and q.shape[2] != k.shape[2]:
            return None
        views = tuple(tensor.transpose(1, 2) for tensor in views)
    try:
        signature = functional._check(
            *views, causal, (left, right), None, None, cu_q, cu_k,
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
    found = find(signature, q, k, v, None, cu_q, cu_k, o, heads_first=heads_first)
    return _Plan(found, q, k)
