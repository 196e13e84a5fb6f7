"""Prepared calls of attention: the part that does not change from call to call.

A `Forward` belongs to one combination of shapes, strides, types, device and
options. It knows its kernels and the layouts of their arguments, so that a call
only allocates results, reads addresses and launches. Its backward pass is
prepared at the first gradient.
"""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import torch

from . import cache, native
from .choices import (
    choose_cluster,
    choose_few_packed_rows,
    choose_few_rows,
    choose_kv_sum,
    choose_packed_heads,
    choose_parts,
    choose_short_queries,
    count_blocks,
    count_key_blocks,
    count_seeing_queries,
    has_late_products,
    has_long_keys,
)
from .compiler import chip_for
from .errors import CompileError
from .programs import ALIGNMENT, STRIDE_DIVISOR, AnyVariant, BackwardVariant, Variant
from .scheduler_metadata import SchedulerMetadata
from .tensors import ELEMENT_BYTES, Layout

TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}
SINK_TYPES = {**TYPES, torch.float32: "f32"}
_ALL_TYPES = {**SINK_TYPES, torch.int32: "i32"}

#: The head dimensions of kernels, D and Dv: multiples of the step up to the largest.
HEAD_DIMENSION_STEP, MAX_HEAD_DIMENSION = 8, 256

#: More queries than a sequence has.
MAX_LENGTH = 2**30 - 1

#: Names the chip whose kernels run for tensors on the CPU.
CPU_CHIP_VARIABLE = "TILE_CPU_CHIP"
_DEFAULT_CPU_CHIP = "sm_80"

#: Processors that the choice of kernels assumes for tensors on the CPU.
_CPU_PROCESSORS = 132

#: The arguments of forward and backward kernels, in the order of a launch.
_FORWARD = (
    "q", "k", "v", "o", "lse", "sink", "cu_q", "cu_k", "max_q", "scale", "softcap",
    "left", "right", "offset",
)  # fmt: skip
_BACKWARD = (
    "q", "k", "v", "o", "do", "lse", "dlse", "dq", "dk", "dv", "sink", "dsink",
    "cu_q", "cu_k", "max_q", "max_k", "scale", "softcap", "left", "right", "offset",
)  # fmt: skip

#: Buffers of kernels whose blocks share the keys.
_PARTS = ("o_parts", "lse_parts")

#: Buffers of kernels that read a cache.
_CACHE = ("key_lengths", "page_table", "cu_pages", "tree_mask")

#: Those that bound the queries of the sequences that a launch computes.
_BOUNDS = ("least_q", "most_q")

#: Numbers that vary from call to call.
_NUMBERS = {"scale": 0, "softcap": 0, "offset": 0}

#: Alignment of buffers that share an allocation.
_SCRATCH_ALIGNMENT = 256

#: Prepared calls that are kept; with more they start over.
MAX_PREPARED = 4096

#: Called with each variant that a call needs, before it is compiled.
observers: List[Any] = []


class Signature(NamedTuple):
    """The options of a call; sides of the window are -1 where unbounded.

    `offset` says whether the call gives the offset of the mask, and `merge`
    whether it merges into o and lse. `schedule` is that of the forward kernel.
    `parts` is the number of blocks that share the keys, 0 for a choice. With
    `works`, that depends on the lengths of each sequence, and packed sequences with
    fewer than `least_q` or more than `most_q` queries are left out; those with fewer
    belong to a call that runs at the same time. With `appends`, each call comes
    directly behind the kernel that appends to its cache.
    """

    causal: bool
    left: int
    right: int
    softcap: bool
    max_q: int
    max_k: int
    deterministic: bool
    offset: bool = False
    schedule: str = ""
    merge: bool = False
    parts: int = 0
    works: bool = False
    least_q: int = 0
    most_q: int = MAX_LENGTH
    appends: bool = False


class Recipe(NamedTuple):
    """A launch, the names of its values, and those values that do not change.

    `offsets` are the offsets in bytes of buffers in an allocation like `scratch`.
    """

    launch: Any
    names: Tuple[str, ...]
    numbers: Dict[str, Union[int, float]]
    scratch: Optional[torch.Tensor]
    offsets: Dict[str, int]


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
        lse: Optional[torch.Tensor] = None,
        heads_first: bool = False,
        key_lengths: Optional[torch.Tensor] = None,
        page_table: Optional[torch.Tensor] = None,
        cu_pages: Optional[torch.Tensor] = None,
        tree_mask: Optional[torch.Tensor] = None,
    ):
        """Prepares a call; o and lse have the strides and the type of those given,
        else they are dense and o is of the type of q.

        With `heads_first`, q, k, v and o are [B, H, S, D], here and at each call.
        With `key_lengths`, k and v are caches, with `page_table` of pages; with
        `cu_pages`, that is a list, and the lengths are those of last pages.
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
            signature.offset,
            signature.merge,
            "f32" if o is not None and o.dtype == torch.float32 else "",
            signature.schedule,
            key_lengths=key_lengths is not None,
            page=0 if page_table is None else k.shape[1],
            page_list=cu_pages is not None,
            tree_words=0 if tree_mask is None else tree_mask.shape[-1],
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
        if lse is not None:
            self._lse_layout = _layout(lse)
        else:
            self._lse_layout = _dense("f32", self._lse_shape, self._index)
        inputs = {"q": q, "k": k, "v": v, "sink": sink, "cu_q": cu_q, "cu_k": cu_k}
        inputs.update(zip(_CACHE, (key_lengths, page_table, cu_pages, tree_mask)))
        self._names = _FORWARD + _BOUNDS + (_CACHE if key_lengths is not None else ())
        self._inputs = {
            name: _layout(tensor) for name, tensor in inputs.items() if tensor is not None
        }
        self._scalars = {
            "max_q": signature.max_q,
            "max_k": signature.max_k,
            "left": signature.left,
            "right": signature.right,
            "least_q": signature.least_q,
            "most_q": signature.most_q,
        }
        self._backward: Dict[tuple, _Backward] = {}
        self._is_empty = not prod(self._o_shape)
        self._launch = None
        #: The launch that finds a table of works.
        self._relaunch = None
        self._scratch = _Scratch({}, q)

    def _prepare(self) -> Any:
        layouts = {
            **self._inputs,
            **self._scalars,
            **_NUMBERS,
            "o": self._o_layout,
            "lse": self._lse_layout,
        }
        kernels, parts = self._choose_kernels()
        if self.variant.works:
            shapes = {
                name: layout.shape
                for name, layout in layouts.items()
                if isinstance(layout, Layout)
            }
            found = kernels.scratch(shapes, self._scalars)
            self._scratch = _Scratch(found, self._lse_like)
            layouts.update(self._scratch.layouts)
        elif parts > 1:
            shapes = (parts, *self._o_shape), (parts, *self._lse_shape)
            found = {name: ("f32", shape) for name, shape in zip(_PARTS, shapes)}
            self._scratch = _Scratch(found, self._lse_like)
            layouts.update(self._scratch.layouts)
        self._names += tuple(self._scratch.offsets)
        follows = self.signature.appends
        self._prepared = kernels.prepare(self._names, layouts, follows)
        self._launch = self._prepared.launch
        if self.variant.works:
            again = kernels_of(replace(self.variant, reuse_works=True), self._device)
            self._relaunch = again.prepare(self._names, layouts, follows).launch
        return self._launch

    def _choose_kernels(self) -> Tuple[Any, int]:
        """Returns the kernels of the call and the number of parts of the keys."""
        q, k = self._inputs["q"].shape, self._inputs["k"].shape
        batch, queries, keys = self._lengths()
        if self._packed and self.signature.max_q:
            queries = min(queries, self.signature.max_q)
        group = q[-2] // k[-2] if k[-2] else 1
        heads = choose_packed_heads(queries, group)
        longest = self.signature.max_q if self._packed else queries
        few = choose_few_packed_rows(longest, heads, self._packed)
        kernels = None
        if heads or self.signature.works:
            features = {"pack_heads": heads}
            if self.signature.works:
                concurrent = self.signature.least_q > 0
                features.update(parts=True, works=True, concurrent=concurrent)
            for rows, is_long in product((few, 0) if few else (0,), (True, False)):
                variant = replace(self.variant, **features, few_rows=rows)
                if kernels is None and (not is_long or has_long_keys(variant, keys)):
                    kernels = self._find_kernels(
                        **features, few_rows=rows, long_keys=is_long
                    )
            if kernels is not None and self.signature.works:
                return kernels, 0
        processors = _count_processors(self._device)
        visible = self._count_visible(queries, keys)
        if self.signature.parts <= 1:
            few = choose_few_rows(
                self.variant, batch, queries, visible, q[-2], k[-2], processors
            )
            found = self._find_kernels(few_rows=few) if few else None
            if found is not None:
                return found, 1
        if kernels is None:
            kernels = kernels_of(self.variant, self._device)
        shapes = {name: layout.shape for name, layout in self._inputs.items()}
        call = (
            count_blocks(kernels.manifest, shapes, self._scalars, processors),
            visible,
            batch * queries * q[-2],
            batch * k[-2],
            processors,
        )
        parts = self.signature.parts or choose_parts(*call)
        # Blocks of packed sequences loop over tiles. Producer warps cannot run ahead of a
        # loop in which the blocks of a cluster wait for each other.
        if not (self.signature.parts or self.variant.merge or self._packed):
            cluster = choose_cluster(parts, most_cluster_blocks(self._device), *call)
            found = self._find_kernels(cluster=cluster) if cluster else None
            if found is not None:
                return found, 1
        if parts > 1:
            found = self._find_kernels(parts=True)
            if found is not None:
                return found, parts
        if not self.variant.pack_heads and has_long_keys(self.variant, keys):
            kernels = self._find_kernels(long_keys=True) or kernels
        return kernels, 1

    def _lengths(self) -> Tuple[int, int, int]:
        """Returns the number of sequences, and their queries and keys.

        The lengths of packed sequences are on the device; their means have to do.
        """
        q, k = self._inputs["q"].shape, self._inputs["k"].shape
        if self._packed:
            sequences = max(self._inputs["cu_q"].shape[0] - 1, 1)
            queries, keys = -(-q[0] // sequences), -(-k[0] // sequences)
        else:
            (sequences, queries), keys = q[:2], k[1]
        if self.signature.least_q:
            queries = self.signature.max_q
        if "key_lengths" in self._inputs:
            # As many as fit, unless the caller knows better.
            keys = k[1]
            if "cu_pages" in self._inputs:
                keys *= -(-self._inputs["page_table"].shape[0] // max(sequences, 1))
            elif "page_table" in self._inputs:
                keys *= self._inputs["page_table"].shape[1]
            keys = min(keys, self.signature.max_k or keys)
        return sequences, queries, keys

    def _count_visible(self, queries: int, keys: int) -> int:
        """Returns how many keys a query sees, about."""
        left, right = self.signature.left, self.signature.right
        causal = self.signature.causal
        if causal:
            right = 0
            keys -= min(queries, keys) // 2
        if left >= 0 and right >= 0:
            keys = min(keys, left + right + queries)
        return keys

    def _find_kernels(self, **features: Union[bool, int]) -> Any:
        """Returns the kernels of the variant with these features, or None where the
        machine has none, and makes it that of the call."""
        variant = replace(self.variant, **features)
        try:
            kernels = kernels_of(variant, self._device)
        except CompileError:
            # A pack may lack them, and a schedule may be for other kernels. They
            # are only faster.
            if variant.schedule or cache.has_packs():
                return None
            raise
        self.variant = variant
        return kernels

    def recipe(self) -> Recipe:
        """Returns how to repeat a call that has run."""
        return Recipe(
            self._prepared,
            self._names,
            self._numbers(),
            self._scratch.like,
            self._scratch.offsets,
        )

    def backward_recipe(self, do: torch.Tensor) -> Recipe:
        """Returns how to repeat a call of `run_backward` that has run with `do` alone."""
        backward = self._backward[do.stride()]
        return Recipe(
            backward.prepared,
            _BACKWARD + tuple(backward.scratch.offsets),
            self._numbers(),
            backward.scratch.like,
            backward.scratch.offsets,
        )

    def _numbers(self) -> Dict[str, Union[int, float]]:
        return {**self._scalars, "scale": 0.0, "softcap": 0.0, "offset": 0}

    def run(
        self, q, k, v, sink, cu_q, cu_k, scale, softcap, o=None, lse=None, offset=0,
        cache=(), metadata=None, stream=None,
    ):  # fmt: skip
        """Returns the output and the logarithms of the rows' sums.

        Writes them to `o` and `lse`, which have the strides that the call was
        prepared with; allocates those that are None. `cache` are the tensors
        that _CACHE names, for calls with a cache. `metadata` keeps the scratch
        memory of calls, with a table of works, for the same lengths. `stream` is
        the handle of the stream, None for the current one.
        """
        if o is None:
            o = torch.empty_like(self._o_like)
        if lse is None:
            lse = torch.empty_like(self._lse_like)
        if not self._is_empty:
            launch = self._launch or self._prepare()
            # Kept until the launch.
            found = None if metadata is None else metadata.get(self)
            if found is None and metadata is None:
                found = self._scratch.allocate()
            elif found is None:
                found = metadata.allocate(self, self._scratch)
            elif self._relaunch is not None:
                launch = self._relaunch
            scratch, addresses = found
            launch(
                (
                    q.data_ptr(),
                    k.data_ptr(),
                    v.data_ptr(),
                    o.data_ptr(),
                    lse.data_ptr(),
                    sink.data_ptr() if self._sinks else 0,
                    cu_q.data_ptr() if self._packed else 0,
                    cu_k.data_ptr() if cu_k is not None else 0,
                    self.signature.max_q,
                    scale,
                    softcap,
                    self.signature.left,
                    self.signature.right,
                    offset,
                    self.signature.least_q,
                    self.signature.most_q,
                    *(0 if tensor is None else tensor.data_ptr() for tensor in cache),
                    *addresses,
                ),
                stream or (_stream(self._index) if self._on_cuda else 0),
            )
        return o, lse

    def run_backward(
        self, do, q, k, v, o, lse, sink, cu_q, cu_k, scale, softcap, dlse=None,
        offset=0, gradients=None, accumulate=False,
    ):  # fmt: skip
        """Returns the gradients of q, k, v and sink (None without a sink).

        `dlse` is the gradient of lse, None if it is 0. `gradients` are four tensors
        to write to (that of sink in f32), or with `accumulate` to add to.
        """
        if do.dtype != q.dtype:
            do = do.to(q.dtype)
        if dlse is not None:
            dlse = dlse.contiguous()
        if dlse is None and gradients is None:
            key = do.stride()
        else:
            key = (do.stride(), dlse is None, accumulate) + tuple(
                (gradient.dtype, gradient.stride()) for gradient in gradients or ()
                if gradient is not None
            )  # fmt: skip
        backward = self._backward.get(key)
        if backward is None or do.data_ptr() & 15:
            aligned = readable(do)
            if aligned is not do:
                return self.run_backward(
                    aligned, q, k, v, o, lse, sink, cu_q, cu_k, scale, softcap, dlse,
                    offset, gradients, accumulate,
                )  # fmt: skip
        if backward is None:
            backward = _Backward(self, do, dlse, q, k, v, cu_q, gradients, accumulate)
            self._backward[key] = backward
        return backward.run(
            do, q, k, v, o, lse, sink, cu_q, cu_k, scale, softcap, dlse, offset,
            gradients,
        )  # fmt: skip


class MixedForward:
    """Attention of packed sequences, the short ones by a kernel for few rows.

    Both kernels run at the same time: the memory limits the one for short sequences, and
    the MMAs limit the other one. It has the interface of Forward as far as calls with a
    cache need that.
    """

    def __init__(self, short: int, signature: Signature, *tensors: Any):
        """Prepares a call. Short sequences have up to `short` queries."""
        # The kernel that appends is in another stream for one of the calls.
        signature = signature._replace(appends=False)
        self._long = Forward(signature._replace(least_q=short + 1), *tensors)
        self._short = Forward(signature._replace(max_q=short, most_q=short), *tensors)

    def run(
        self, q, k, v, sink, cu_q, cu_k, scale, softcap, o=None, lse=None, **options
    ):  # fmt: skip
        """Does what Forward.run does."""
        arguments = q, k, v, sink, cu_q, cu_k, scale, softcap
        if options.get("metadata") is None:
            # It keeps the scratch memory of both until the current stream waits for them.
            options["metadata"] = SchedulerMetadata()
        if not q.is_cuda:
            o, lse = self._long.run(*arguments, o, lse, **options)
            return self._short.run(*arguments, o, lse, **options)
        current = torch.cuda.current_stream(q.device)
        side = _side_stream(q.device, current.cuda_stream)
        side.wait_stream(current)
        try:
            o, lse = self._long.run(
                *arguments, o, lse, **options, stream=side.cuda_stream
            )
            return self._short.run(*arguments, o, lse, **options)
        finally:
            current.wait_stream(side)


@functools.lru_cache(maxsize=None)
def _side_stream(device: torch.device, current: int) -> Any:
    """Returns a stream for what runs beside the stream `current`. Its kernels get free
    multiprocessors first."""
    return torch.cuda.Stream(device, priority=-1)


class _Backward:
    """The gradients of a `Forward` for one layout of all other tensors."""

    def __init__(
        self, forward: Forward, do, dlse, q, k, v, cu_q, gradients, accumulate
    ):
        self._forward = forward
        signature = forward.signature
        index = forward._index
        if gradients is None:
            gradients = map(torch.empty_like, (q, k, v))
        gradients = list(gradients)[:3]
        if forward.heads_first:
            do, q, k, v, *gradients = _exchange_heads(do, q, k, v, *gradients)
        looped = BackwardVariant(
            replace(
                forward.variant,
                merge=False,
                schedule="",
                parts=False,
                pack_heads=0,
                long_keys=False,
                few_rows=0,
                cluster=0,
            ),
            "kernel" if signature.deterministic else "atomic",
            "loop",
            dlse is not None,
            accumulate,
            "f32" if gradients[0].dtype == torch.float32 else "",
        )
        # Without queries or keys, all gradients are empty or zero.
        self._zeros = not (prod(q.shape) and prod(k.shape))
        if self._zeros:
            kv = "loop"
        else:
            kv = _choose_kv(looped, q, k, cu_q, signature, forward._device)
        self.variant = replace(looped, kv=kv)
        visible = count_seeing_queries(
            *_mean_lengths(q, k, cu_q), signature.causal, _window(signature)
        )
        if not has_late_products(self.variant, visible) and not cache.has_packs():
            self.variant = replace(self.variant, late=False)
        layouts: Dict[str, Any] = {
            **forward._inputs,
            "o": forward._o_layout,
            "lse": forward._lse_layout,
            "do": _layout(do),
            **dict(zip(("dq", "dk", "dv"), map(_layout, gradients))),
        }
        if dlse is not None:
            layouts["dlse"] = _layout(dlse)
        if forward._sinks:
            layouts["dsink"] = _dense("f32", layouts["sink"].shape, index)
        shapes = {name: layout.shape for name, layout in layouts.items()}
        self._launch = None
        self._accumulates = accumulate
        if self._zeros:
            return
        kernels = kernels_of(self.variant, forward._device)
        self.scratch = _Scratch(kernels.scratch(shapes, forward._scalars), q)
        layouts.update(self.scratch.layouts)
        layouts.update(forward._scalars, **_NUMBERS)
        self.prepared = kernels.prepare(
            _BACKWARD + tuple(self.scratch.offsets), layouts
        )
        self._launch = self.prepared.launch

    def run(
        self, do, q, k, v, o, lse, sink, cu_q, cu_k, scale, softcap, dlse, offset,
        gradients,
    ):  # fmt: skip
        forward = self._forward
        dsink = None
        if gradients is not None:
            dq, dk, dv, dsink = gradients
        else:
            empty_like = torch.empty_like
            dq, dk, dv = empty_like(q), empty_like(k), empty_like(v)
            if forward._sinks:
                dsink = sink.new_empty(sink.shape, dtype=torch.float32)
        if self._zeros:
            for gradient in (dq, dk, dv, dsink):
                if gradient is not None and not self._accumulates:
                    gradient.zero_()
            if dsink is not None and gradients is None:
                dsink = dsink.to(sink.dtype)
            return dq, dk, dv, dsink
        # Kept until the launch.
        scratch, addresses = self.scratch.allocate()
        packed = forward._packed
        self._launch(
            (
                q.data_ptr(),
                k.data_ptr(),
                v.data_ptr(),
                o.data_ptr(),
                do.data_ptr(),
                lse.data_ptr(),
                0 if dlse is None else dlse.data_ptr(),
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
                offset,
                *addresses,
            ),
            _stream(forward._index) if forward._on_cuda else 0,
        )
        if dsink is not None and gradients is None:
            dsink = dsink.to(sink.dtype)
        return dq, dk, dv, dsink


class _Scratch:
    """Scratch buffers of a call, which share an allocation."""

    def __init__(self, buffers: Mapping[str, Tuple[str, Sequence[int]]], q: torch.Tensor):
        """`buffers` holds types and shapes; q is on the device of the buffers."""
        index = q.get_device() if q.is_cuda else -1
        self.layouts: Dict[str, Layout] = {}
        #: Offsets in bytes.
        self.offsets: Dict[str, int] = {}
        size = 0
        for name, (type, shape) in buffers.items():
            self.layouts[name] = _dense(type, shape, index)
            self.offsets[name] = size
            step = _SCRATCH_ALIGNMENT
            size += -(-prod(shape) * ELEMENT_BYTES[type] // step) * step
        #: What the allocation is like, None if there are no buffers.
        self.like: Optional[torch.Tensor] = None
        if buffers:
            self.like = template(q, (size // 4,), torch.float32)

    def allocate(
        self, scratch: Optional[torch.Tensor] = None
    ) -> Tuple[Optional[torch.Tensor], Sequence[int]]:
        """Returns an allocation, which may be given, and the addresses of the buffers
        in it."""
        if self.like is None:
            return None, ()
        if scratch is None:
            scratch = torch.empty_like(self.like)
        base = scratch.data_ptr()
        return scratch, [base + offset for offset in self.offsets.values()]


#: Prepared calls by signature and layouts.
_found: Dict[tuple, Forward] = {}


def find(
    signature: Signature, q, k, v, sink, cu_q, cu_k, o=None, lse=None, heads_first=False,
    cache=(),
) -> Any:  # fmt: skip
    """Returns the prepared call of these tensors, which is made once: a Forward, or a
    MixedForward. `cache` are those that _CACHE names, for calls with a cache."""
    tensors = (q, k, v, sink, cu_q, cu_k, o, lse)
    key = (signature, heads_first, machine_of(q)) + tuple(
        None if t is None else (t.dtype, t.shape, t.stride()) for t in (*tensors, *cache)
    )
    found = _found.get(key)
    if found is None:
        short = 0
        if signature.works and cu_q is not None:
            group = q.shape[-2] // max(k.shape[-2], 1)
            sequences = cu_q.shape[0] - 1
            short = choose_short_queries(q.shape[0], sequences, signature.max_q, group)
        arguments = (signature, *tensors, heads_first, *cache)
        found = MixedForward(short, *arguments) if short else Forward(*arguments)
        if len(_found) >= MAX_PREPARED:
            _found.clear()
        _found[key] = found
    return found


def has_readable_strides(tensor: torch.Tensor) -> bool:
    """Returns whether rows are dense at distances that kernels support."""
    return tensor.numel() == 0 or (
        tensor.stride(-1) == 1
        and all(
            stride % STRIDE_DIVISOR == 0 or extent == 1
            for stride, extent in zip(tensor.stride()[:-1], tensor.shape)
        )
    )


def readable(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor, or a copy whose strides and address kernels support."""
    if has_readable_strides(tensor) and tensor.data_ptr() % ALIGNMENT == 0:
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


def machine_of(tensor: torch.Tensor) -> Any:
    """Returns what tells the kernels for a tensor from those of other machines: its
    device, and on the CPU the name of the chip that runs there."""
    if tensor.is_cuda:
        return tensor.device
    return os.environ.get(CPU_CHIP_VARIABLE) or _DEFAULT_CPU_CHIP


def kernels_of(variant: Any, device: torch.device) -> Any:
    """Returns the compiled kernels of a variant, which has `name`, `ir()` and
    `schedule`: a Module or a Program."""
    for observer in observers:
        observer(variant)
    chip = _chip_of(device)
    return _program(variant, chip) if device.type == "cpu" else _module(variant, chip)


def _chip_of(device: torch.device) -> str:
    """Returns the chip that kernels of tensors on a device are compiled for."""
    if device.type == "cpu":
        return os.environ.get(CPU_CHIP_VARIABLE) or _DEFAULT_CPU_CHIP
    return chip_for(torch.cuda.get_device_capability(device))


def most_cluster_blocks(device: torch.device) -> int:
    """Returns how many blocks a cluster of the device has at most, 1 without clusters."""
    try:
        return native.most_cluster_blocks(_chip_of(device))
    except CompileError:
        # Kernels of packs run without the compiler.
        return 1


@functools.lru_cache(maxsize=1024)
def _module(variant: AnyVariant, chip: str) -> Any:
    return cache.load_program(variant.ir(), chip, variant.schedule)


@functools.lru_cache(maxsize=256)
def _program(variant: AnyVariant, chip: str) -> Any:
    from .executor import Program

    return Program(variant.ir(), chip, name=variant.name, schedule=variant.schedule)


def _choose_kv(
    variant: BackwardVariant, q, k, cu_q, signature: Signature, device: torch.device
) -> str:
    """Returns how the gradients of heads that share keys are summed.

    `variant` is the one of the kernels that sum in a loop.
    """
    group = q.shape[-2] // max(k.shape[-2], 1)
    if group <= 1:
        return "loop"
    shapes = {"q": tuple(q.shape), "k": tuple(k.shape)}
    queries, keys = _mean_lengths(q, k, cu_q)
    if cu_q is not None:
        shapes.update(cu_q=tuple(cu_q.shape), cu_k=tuple(cu_q.shape))
    processors = _count_processors(q.device)
    blocks = count_key_blocks(
        kernels_of(variant, device).manifest,
        shapes,
        {"max_q": queries, "max_k": keys},
        processors,
    )
    return choose_kv_sum(
        blocks,
        group,
        queries,
        keys,
        signature.causal,
        _window(signature),
        processors,
        signature.deterministic,
    )


def _mean_lengths(q, k, cu_q) -> Tuple[int, int]:
    """Returns the queries and the keys of a sequence. The lengths of packed ones are
    on the device; their means have to do."""
    if cu_q is None:
        return q.shape[1], k.shape[1]
    sequences = max(cu_q.shape[0] - 1, 1)
    return q.shape[0] // sequences, k.shape[0] // sequences


def _window(signature: Signature) -> Optional[Tuple[int, int]]:
    if signature.left < 0 and signature.right < 0:
        return None
    return signature.left, 0 if signature.causal else signature.right


def _count_processors(device: torch.device) -> int:
    if device.type == "cpu":
        return _CPU_PROCESSORS
    return torch.cuda.get_device_properties(device).multi_processor_count


try:
    _stream = torch._C._cuda_getCurrentRawStream
except AttributeError:

    def _stream(index: int) -> int:
        return torch.cuda.current_stream(index).cuda_stream
