"""Prepared calls of attention: the part that does not change from call to call.

A `Forward` belongs to one combination of shapes, strides, types, device and
options. It knows its kernels and the layouts of their arguments, so that a call
only allocates results, reads addresses and launches. Its backward pass is
prepared at the first gradient.
"""

from __future__ import annotations

import functools
import os
from math import prod
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import torch

from . import cache
from .compiler import chip_for
from .programs import AnyVariant, BackwardVariant, Variant, choose_kv_sum
from .tensors import Layout

TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}
SINK_TYPES = {**TYPES, torch.float32: "f32"}
_ALL_TYPES = {**SINK_TYPES, torch.int32: "i32"}

#: Extents (D, Dv) that kernels are written for.
HEAD_DIMENSIONS = ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256))

#: Names the chip whose kernels run for tensors on the CPU.
CPU_CHIP_VARIABLE = "TILE_CPU_CHIP"
_DEFAULT_CPU_CHIP = "sm_80"

#: Processors that the choice of kernels assumes for tensors on the CPU.
_CPU_PROCESSORS = 132

#: The arguments of forward and backward kernels, in the order of a launch.
_FORWARD = (
    "q", "k", "v", "o", "lse", "sink", "cu_q", "cu_k", "max_q", "scale", "softcap",
    "left", "right",
)  # fmt: skip
_BACKWARD = (
    "q", "k", "v", "o", "do", "lse", "dq", "dk", "dv", "sink", "dsink", "cu_q",
    "cu_k", "max_q", "max_k", "scale", "softcap", "left", "right",
)  # fmt: skip

#: Alignment of buffers that share an allocation.
_SCRATCH_ALIGNMENT = 256

#: Prepared calls that are kept; with more they start over.
MAX_PREPARED = 4096

#: Called with each variant that a call needs, before it is compiled.
observers: List[Any] = []


class Signature(NamedTuple):
    """The options of a call; sides of the window are -1 where unbounded."""

    causal: bool
    left: int
    right: int
    softcap: bool
    max_q: int
    max_k: int
    deterministic: bool


class Forward:
    """Attention for one combination of layouts and options."""

    def __init__(
        self,
        signature: Signature,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        sink: Optional[torch.Tensor],
        cu_q: Optional[torch.Tensor],
        cu_k: Optional[torch.Tensor],
        o: Optional[torch.Tensor] = None,
        heads_first: bool = False,
    ):
        """Prepares a call; the output has the strides of `o`, else it is dense.

        With `heads_first`, q, k, v and o are [B, H, S, D], here and at each call.
        """
        self.signature = signature
        self.heads_first = heads_first
        if heads_first:
            q, k, v, o = _exchange_heads(q, k, v, o)
        #: Whether kernels need copies of some tensors, with other strides.
        self.copies = not all(map(has_readable_strides, (q, k, v))) or (
            sink is not None and not sink.is_contiguous()
        )
        if self.copies:
            return
        packed = cu_q is not None
        self.variant = Variant(
            q.shape[-1],
            v.shape[-1],
            TYPES[q.dtype],
            signature.causal,
            signature.left >= 0 or signature.right >= 0,
            True,
            "" if sink is None else SINK_TYPES[sink.dtype],
            packed,
            signature.softcap,
        )
        self._device = q.device
        self._on_cuda = q.is_cuda
        self._index = q.get_device() if q.is_cuda else -1
        self._sinks = sink is not None
        self._packed = packed
        self._o_shape = (*q.shape[:-1], v.shape[-1])
        if packed:
            self._lse_shape = (q.shape[1], q.shape[0])
        else:
            self._lse_shape = (q.shape[0], q.shape[2], q.shape[1])
        self._o_like = template(q, self._o_shape)
        self._lse_like = template(q, self._lse_shape, torch.float32)
        if o is not None:
            self._o_layout = _layout(o)
        else:
            self._o_layout = _dense(TYPES[q.dtype], self._o_shape, self._index)
        inputs = {"q": q, "k": k, "v": v, "sink": sink, "cu_q": cu_q, "cu_k": cu_k}
        self._inputs = {
            name: _layout(tensor) for name, tensor in inputs.items() if tensor is not None
        }
        self._scalars = {"max_q": signature.max_q, "max_k": signature.max_k}
        self._backward: Dict[tuple, _Backward] = {}
        self._launch = None
        if prod(self._o_shape):
            layouts = {
                **self._inputs,
                **self._scalars,
                "o": self._o_layout,
                "lse": _dense("f32", self._lse_shape, self._index),
                "scale": 0,
                "softcap": 0,
                "left": 0,
                "right": 0,
            }
            self._launch = _kernels(self.variant, self._device).prepare(
                _FORWARD, layouts
            ).launch

    def run(self, q, k, v, sink, cu_q, cu_k, scale, softcap, o=None):
        """Returns the output and the logarithms of the rows' sums.

        Writes the output to `o`, which has the strides that the call was prepared
        with; allocates it if it is None.
        """
        if o is None:
            o = torch.empty_like(self._o_like)
        lse = torch.empty_like(self._lse_like)
        if self._launch is not None:
            self._launch(
                (
                    q.data_ptr(),
                    k.data_ptr(),
                    v.data_ptr(),
                    o.data_ptr(),
                    lse.data_ptr(),
                    sink.data_ptr() if self._sinks else 0,
                    cu_q.data_ptr() if self._packed else 0,
                    cu_k.data_ptr() if self._packed else 0,
                    self.signature.max_q,
                    scale,
                    softcap,
                    self.signature.left,
                    self.signature.right,
                ),
                _stream(self._index) if self._on_cuda else 0,
            )
        return o, lse

    def run_backward(self, do, q, k, v, o, lse, sink, cu_q, cu_k, scale, softcap):
        """Returns the gradients of q, k, v and sink (None without a sink)."""
        if do.dtype != q.dtype:
            do = do.to(q.dtype)
        backward = self._backward.get(do.stride())
        if backward is None or do.data_ptr() & 15:
            do = readable(do)
            backward = self._backward.get(do.stride())
        if backward is None:
            backward = _Backward(self, do, q, k, v, cu_q)
            self._backward[do.stride()] = backward
        return backward.run(do, q, k, v, o, lse, sink, cu_q, cu_k, scale, softcap)


class _Backward:
    """The gradients of a `Forward` for gradients of its output with one layout."""

    def __init__(self, forward: Forward, do, q, k, v, cu_q):
        self._forward = forward
        signature = forward.signature
        index = forward._index
        gradients = [torch.empty_like(t) for t in (q, k, v)]
        if forward.heads_first:
            do, q, k, v, *gradients = _exchange_heads(do, q, k, v, *gradients)
        self.variant = BackwardVariant(
            forward.variant,
            "kernel" if signature.deterministic else "atomic",
            _choose_kv(q, k, cu_q, signature),
        )
        layouts: Dict[str, Any] = {
            **forward._inputs,
            "o": forward._o_layout,
            "lse": _dense("f32", forward._lse_shape, index),
            "do": _layout(do),
            **dict(zip(("dq", "dk", "dv"), map(_layout, gradients))),
        }
        if forward._sinks:
            layouts["dsink"] = _dense("f32", layouts["sink"].shape, index)
        shapes = {name: layout.shape for name, layout in layouts.items()}
        self._launch = None
        # Without queries or keys, all gradients are empty or zero.
        self._zeros = not (prod(q.shape) and prod(k.shape))
        if self._zeros:
            return
        kernels = _kernels(self.variant, forward._device)
        scratch = kernels.scratch(shapes, forward._scalars)
        self._offsets: List[int] = []
        size = 0
        for name, buffer in scratch.items():
            layouts[name] = _dense(buffer.type, buffer.shape, index)
            self._offsets.append(size)
            step = _SCRATCH_ALIGNMENT
            size += -(-prod(buffer.shape) * 4 // step) * step
        self._scratch_like = template(q, (size // 4,), torch.float32)
        layouts.update(forward._scalars, scale=0, softcap=0, left=0, right=0)
        self._launch = kernels.prepare(_BACKWARD + tuple(scratch), layouts).launch

    def run(self, do, q, k, v, o, lse, sink, cu_q, cu_k, scale, softcap):
        forward = self._forward
        if self._zeros:
            dsink = None if sink is None else torch.zeros_like(sink)
            return (*map(torch.zeros_like, (q, k, v)), dsink)
        empty_like = torch.empty_like
        dq, dk, dv = empty_like(q), empty_like(k), empty_like(v)
        scratch = empty_like(self._scratch_like)
        base = scratch.data_ptr()
        dsink = None
        if forward._sinks:
            dsink = sink.new_empty(sink.shape, dtype=torch.float32)
        packed = forward._packed
        self._launch(
            (
                q.data_ptr(),
                k.data_ptr(),
                v.data_ptr(),
                o.data_ptr(),
                do.data_ptr(),
                lse.data_ptr(),
                dq.data_ptr(),
                dk.data_ptr(),
                dv.data_ptr(),
                sink.data_ptr() if dsink is not None else 0,
                dsink.data_ptr() if dsink is not None else 0,
                cu_q.data_ptr() if packed else 0,
                cu_k.data_ptr() if packed else 0,
                forward.signature.max_q,
                forward.signature.max_k,
                scale,
                softcap,
                forward.signature.left,
                forward.signature.right,
                *[base + offset for offset in self._offsets],
            ),
            _stream(forward._index) if forward._on_cuda else 0,
        )
        if dsink is not None:
            dsink = dsink.to(sink.dtype)
        return dq, dk, dv, dsink


#: Prepared calls by signature and layouts.
_found: Dict[tuple, Forward] = {}


def find(
    signature: Signature, q, k, v, sink, cu_q, cu_k, o=None, heads_first=False
) -> Forward:
    """Returns the prepared call of these tensors, which is made once."""
    key = (signature, heads_first, q.device) + tuple(
        None if t is None else (t.dtype, t.shape, t.stride())
        for t in (q, k, v, sink, cu_q, cu_k, o)
    )
    found = _found.get(key)
    if found is None:
        found = Forward(signature, q, k, v, sink, cu_q, cu_k, o, heads_first)
        if len(_found) >= MAX_PREPARED:
            _found.clear()
        _found[key] = found
    return found


def has_readable_strides(tensor: torch.Tensor) -> bool:
    """Returns whether rows are dense and 16 bytes divide their distances."""
    return tensor.numel() == 0 or (
        tensor.stride(-1) == 1
        and all(
            stride % 8 == 0 or extent == 1
            for stride, extent in zip(tensor.stride()[:-1], tensor.shape)
        )
    )


def readable(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor, or a copy whose rows can be read 16 bytes at a time."""
    if has_readable_strides(tensor) and tensor.data_ptr() % 16 == 0:
        return tensor
    # A contiguous tensor at such an address is its own `contiguous()`.
    return tensor.clone(memory_format=torch.contiguous_format)


def template(
    tensor: torch.Tensor, shape: Sequence[int], dtype: Optional[torch.dtype] = None
) -> torch.Tensor:
    """Returns a tensor on the device of `tensor` to be passed to empty_like.

    It has no memory. empty_like of it takes half the time of new_empty.
    """
    made = tensor.new_empty(shape, dtype=dtype or tensor.dtype)
    storage = getattr(made, "untyped_storage", made.storage)()
    storage.resize_(0)
    return made


def _exchange_heads(*tensors: Optional[torch.Tensor]) -> List[Any]:
    """Returns views [B, S, H, D] of tensors [B, H, S, D]; None stays."""
    return [None if t is None else t.transpose(1, 2) for t in tensors]


def _layout(tensor: torch.Tensor) -> Layout:
    device = tensor.get_device() if tensor.is_cuda else -1
    return Layout(
        _ALL_TYPES[tensor.dtype], tuple(tensor.shape), tuple(tensor.stride()), device
    )


def _dense(type: str, shape: Sequence[int], device: int) -> Layout:
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    return Layout(type, tuple(shape), tuple(strides), device)


def _kernels(variant: AnyVariant, device: torch.device) -> Any:
    """Returns the compiled kernels of a variant: a Module or a Program."""
    for observer in observers:
        observer(variant)
    if device.type == "cpu":
        chip = os.environ.get(CPU_CHIP_VARIABLE) or _DEFAULT_CPU_CHIP
        return _program(variant, chip)
    return _module(variant, chip_for(torch.cuda.get_device_capability(device)))


@functools.lru_cache(maxsize=1024)
def _module(variant: AnyVariant, chip: str) -> Any:
    return cache.load_program(variant.ir(), chip)


@functools.lru_cache(maxsize=256)
def _program(variant: AnyVariant, chip: str) -> Any:
    from .executor import Program

    return Program(variant.ir(), chip, name=variant.name)


def _choose_kv(q, k, cu_q, signature: Signature) -> str:
    """Returns how the gradients of heads that share keys are summed."""
    if cu_q is None:
        sequences, queries, keys = q.shape[0], q.shape[1], k.shape[1]
    else:
        # The lengths are on the device; their means have to do.
        sequences = max(cu_q.shape[0] - 1, 1)
        queries, keys = q.shape[0] // sequences, k.shape[0] // sequences
    if q.is_cuda:
        properties = torch.cuda.get_device_properties(q.device)
        processors = properties.multi_processor_count
    else:
        processors = _CPU_PROCESSORS
    sides = (signature.left, 0 if signature.causal else signature.right)
    bounded = signature.left >= 0 or signature.right >= 0
    return choose_kv_sum(
        sequences,
        q.shape[-2],
        k.shape[-2],
        queries,
        keys,
        signature.causal,
        sides if bounded else None,
        processors,
    )


try:
    _stream = torch._C._cuda_getCurrentRawStream
except AttributeError:

    def _stream(index: int) -> int:
        return torch.cuda.current_stream(index).cuda_stream
