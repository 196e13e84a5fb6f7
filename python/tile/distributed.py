"""Attention over several processes that each hold a part of the sequences.

    mesh = torch.distributed.device_mesh.init_device_mesh("cuda", (world,))
    q, k, v = (tile.distributed.shard(x, mesh, causal=True) for x in (q, k, v))
    o = tile.distributed.attention(q, k, v, mesh, causal=True)

Two methods:

`ring`: K and V travel around the processes while each of them computes, and
partial results are merged by the logarithms of their rows' sums. In backward, the
gradients of K and V travel with them. Under a causal mask, `shard` gives process r
of W the chunks r and 2 W - 1 - r of 2 W (zigzag), so that all have the same work.

`all_to_all`: the processes exchange sequences for heads, compute whole sequences
for some of the heads, and exchange back. The number of heads of q must be a
multiple of the number of processes. It also takes windows, sinks and packed
batches.

Both need torch.distributed with a back end that sends and receives tensors of the
device: NCCL for CUDA, Gloo for the CPU.
"""

from __future__ import annotations

import math
from typing import Any, List, Optional

import torch
import torch.distributed as dist

from .errors import ArgumentError
from .functional import _autocast, _check
from .functional import attention as _attention
from .prepared import Signature, find, readable

METHODS = ("ring", "all_to_all")


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mesh: Any = None,
    *,
    method: str = "ring",
    causal: bool = False,
    scale: Optional[float] = None,
    softcap: Optional[float] = None,
    deterministic: bool = False,
    **options: Any,
) -> torch.Tensor:
    """Attention of sequences that are spread over the processes of `mesh`.

    Each process passes its part, q [B, Sq / W, H, D], k and v accordingly, all of
    the same shape on all processes, and receives its part of the output. `mesh`
    is a DeviceMesh of one dimension, a process group, or None for all processes.
    Differentiable in q, k and v.

    With method `ring` and `causal`, the parts are those of `shard(..., causal=
    True)`; in all other cases they are consecutive. The other options of
    tile.attention (window, sink, packed batches) need method `all_to_all`:
    `sink` has all heads, `cu_seqlens_q` and `cu_seqlens_k` count the rows of all
    processes, and q is [T / W, H, D]. Raises ArgumentError.
    """
    group = _group(mesh)
    if method not in METHODS:
        raise ArgumentError(f"method is one of {', '.join(METHODS)}, not '{method}'")
    if method == "all_to_all":
        return _all_to_all_attention(
            q, k, v, group, causal=causal, scale=scale, softcap=softcap,
            deterministic=deterministic, **options,
        )
    for name, value in options.items():
        if value is not None:
            raise ArgumentError(f"{name} needs method='all_to_all'")
    if q.dim() != 4 or k.dim() != 4 or v.dim() != 4:
        raise ArgumentError("q, k and v have 4 dimensions with method='ring'")
    if causal and q.shape[1] != k.shape[1]:
        raise ArgumentError(
            f"a causal ring needs as many queries as keys, got {q.shape[1]} and"
            f" {k.shape[1]}"
        )
    if causal and q.shape[1] % 2:
        raise ArgumentError(
            f"a causal ring has two chunks of one length, got {q.shape[1]} rows"
        )
    q, k, v = _autocast(q, k, v)
    _check(q, k, v, causal, None, None, softcap, None, None, None, None, deterministic)
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    return _Ring.apply(q, k, v, group, causal, scale, softcap, deterministic)


def shard(
    tensor: torch.Tensor, mesh: Any = None, *, causal: bool = False, dim: int = 1
) -> torch.Tensor:
    """Returns this process's part of a tensor along `dim`.

    The parts are consecutive, or with `causal` those of the ring's zigzag order.
    Raises ArgumentError if the extent is no multiple of the number of parts.
    """
    group = _group(mesh)
    rank, world = dist.get_rank(group), dist.get_world_size(group)
    count = 2 * world if causal else world
    if tensor.shape[dim] % count:
        raise ArgumentError(
            f"extent {tensor.shape[dim]} of dimension {dim} is no multiple of {count}"
        )
    chunks = tensor.chunk(count, dim)
    if not causal:
        return chunks[rank].contiguous()
    return torch.cat([chunks[rank], chunks[2 * world - 1 - rank]], dim)


def unshard(
    tensor: torch.Tensor, mesh: Any = None, *, causal: bool = False, dim: int = 1
) -> torch.Tensor:
    """Returns the whole tensor of the parts that `shard` gave; no gradient."""
    group = _group(mesh)
    world = dist.get_world_size(group)
    part = _bytes(tensor)
    parts = [torch.empty_like(part) for _ in range(world)]
    dist.all_gather(parts, part, group=group)
    parts = [p.view(tensor.dtype).view(tensor.shape) for p in parts]
    if causal:
        halves = [part.chunk(2, dim) for part in parts]
        parts = [first for first, _ in halves] + [last for _, last in reversed(halves)]
    return torch.cat(parts, dim)


def _group(mesh: Any) -> Any:
    if not dist.is_initialized():
        raise ArgumentError("torch.distributed is not initialized")
    if mesh is None:
        return dist.group.WORLD
    if hasattr(mesh, "get_group"):
        if mesh.ndim != 1:
            raise ArgumentError(f"the mesh has {mesh.ndim} dimensions, must have 1")
        return mesh.get_group()
    return mesh


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor, because Gloo lacks some types."""
    return tensor.contiguous().view(-1).view(torch.uint8)


class _Transfer:
    """Sends tensors to the next process of a ring and receives from the one
    before. `wait` returns what was received."""

    def __init__(self, tensors: List[torch.Tensor], group: Any):
        rank, world = dist.get_rank(group), dist.get_world_size(group)
        after, before = (
            _global_rank(group, (rank + step) % world) for step in (1, -1)
        )
        # Held until the end, as the work reads and writes them.
        self._sent = [tensor.contiguous() for tensor in tensors]
        self._received = [torch.empty_like(tensor) for tensor in self._sent]
        operations = []
        for sent, received in zip(self._sent, self._received):
            operations.append(dist.P2POp(dist.isend, _bytes(sent), after, group))
            operations.append(dist.P2POp(dist.irecv, _bytes(received), before, group))
        self._work = dist.batch_isend_irecv(operations)

    def wait(self) -> List[torch.Tensor]:
        for work in self._work:
            work.wait()
        return self._received


def _global_rank(group: Any, rank: int) -> int:
    if group is dist.group.WORLD:
        return rank
    if hasattr(dist, "get_global_rank"):
        return dist.get_global_rank(group, rank)
    return dist.distributed_c10d._get_global_rank(group, rank)


def _split(step: int, rank: int, world: int, causal: bool):
    """Returns which rows of q and of k meet at a step of the ring (None for all, 0
    for the first half, 1 for the last half), and whether a causal mask applies. K
    and V are those of process (rank - step) % world."""
    whole, first, last = None, 0, 1
    if not causal or step == 0:
        return whole, whole, causal
    # In zigzag order, a process before this one has an earlier first chunk and a
    # later last chunk than all of this one's, and the other way round.
    if (rank - step) % world < rank:
        return whole, first, False
    return last, whole, False


def _rows(tensor: torch.Tensor, part: Optional[int]) -> torch.Tensor:
    """Returns all rows of a tensor [B, S, ...], or the first or last half."""
    if part is None:
        return tensor
    half = tensor.shape[1] // 2
    return tensor[:, part * half : (part + 1) * half]


class _Ring(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, group, causal, scale, softcap, deterministic):
        rank, world = dist.get_rank(group), dist.get_world_size(group)
        q, k, v = map(readable, (q, k, v))
        cap = 0.0 if softcap is None else softcap
        o = lse = None
        keys, values = k, v
        for step in range(world):
            transfer = None
            if step + 1 < world:
                transfer = _Transfer([keys, values], group)
            queries, seen, masked = _split(step, rank, world, causal)
            prepared, tensors = _prepare(
                q, keys, values, queries, seen, masked, softcap, deterministic
            )
            part, part_lse = prepared.run(*tensors, None, None, None, scale, cap)
            if o is None:
                # Of f32, in which the parts are added.
                o, lse = part.float(), part_lse
            else:
                _merge(
                    _rows(o, queries), _rows(lse.transpose(1, 2), queries),
                    part, part_lse.transpose(1, 2),
                )
            if transfer:
                keys, values = transfer.wait()
        o = o.to(q.dtype)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.ring = group, causal, scale, softcap, deterministic
        return o

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, do):
        q, k, v, o, lse = ctx.saved_tensors
        group, causal, scale, softcap, deterministic = ctx.ring
        rank, world = dist.get_rank(group), dist.get_world_size(group)
        cap = 0.0 if softcap is None else softcap
        do = readable(do)
        dq = torch.zeros(q.shape, dtype=torch.float32, device=q.device)
        dk, dv = (
            torch.zeros(x.shape, dtype=torch.float32, device=x.device) for x in (k, v)
        )
        keys, values = k, v
        gradients = None
        for step in range(world):
            transfer = None
            if step + 1 < world:
                transfer = _Transfer([keys, values], group)
            queries, seen, masked = _split(step, rank, world, causal)
            prepared, tensors = _prepare(
                q, keys, values, queries, seen, masked, softcap, deterministic
            )
            rows = _rows(lse.transpose(1, 2), queries).transpose(1, 2).contiguous()
            part_dq, part_dk, part_dv, *_ = prepared.run_backward(
                readable(_rows(do, queries)), *tensors,
                _rows(o, queries).contiguous(), rows, None, None, None, scale, cap,
            )
            _rows(dq, queries).add_(part_dq)
            # The gradients of these keys, as far as the processes before know them.
            if gradients:
                dk, dv = gradients.wait()
            _rows(dk, seen).add_(part_dk)
            _rows(dv, seen).add_(part_dv)
            gradients = _Transfer([dk, dv], group) if world > 1 else None
            if transfer:
                keys, values = transfer.wait()
        if gradients:  # After as many steps as processes they are at home.
            dk, dv = gradients.wait()
        return (dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)) + (None,) * 5


def _prepare(q, k, v, queries, seen, masked, softcap, deterministic):
    """Returns the prepared kernels of a step, and the rows of q, k and v that they
    read."""
    tensors = tuple(
        map(readable, (_rows(q, queries), _rows(k, seen), _rows(v, seen)))
    )
    signature = Signature(masked, -1, -1, softcap is not None, 0, 0, deterministic)
    return find(signature, *tensors, None, None, None), tensors


def _merge(o, lse, part, part_lse) -> None:
    """Merges the result for other keys into o, [B, S, H, D], and lse, [B, S, H].

    o is the sum of p v divided by the sum of p over the keys so far, and lse the
    logarithm of the latter sum."""
    both = torch.logaddexp(lse, part_lse)
    # Rows without keys have -inf in all of them.
    safe = torch.where(torch.isinf(both), torch.zeros_like(both), both)
    o.mul_(torch.exp(lse - safe).unsqueeze(-1))
    o.add_(part * torch.exp(part_lse - safe).unsqueeze(-1))
    lse.copy_(both)


class _Exchange(torch.autograd.Function):
    """Splits dimension `split` over the processes and joins the parts of
    dimension `join`; backward does the opposite."""

    @staticmethod
    def forward(ctx, tensor, group, split, join):
        ctx.exchange = group, split, join
        return _exchange(tensor, group, split, join)

    @staticmethod
    def backward(ctx, gradient):
        group, split, join = ctx.exchange
        return _exchange(gradient, group, join, split), None, None, None


def _exchange(tensor, group, split: int, join: int) -> torch.Tensor:
    world = dist.get_world_size(group)
    sent = torch.stack(tensor.chunk(world, split))
    received = torch.empty_like(sent)
    dist.all_to_all_single(_bytes(received), _bytes(sent), group=group)
    return torch.cat(received.unbind(0), join)


def _all_to_all_attention(q, k, v, group, sink=None, **options) -> torch.Tensor:
    world, rank = dist.get_world_size(group), dist.get_rank(group)
    rows, heads = (q.dim() - 3, q.dim() - 2)
    if q.shape[heads] % world:
        raise ArgumentError(
            f"{q.shape[heads]} heads of q are no multiple of {world} processes"
        )
    kv_heads = k.shape[heads]
    if kv_heads % world:
        if world % kv_heads:
            raise ArgumentError(
                f"{kv_heads} heads of k neither divide {world} processes nor are a"
                " multiple of them"
            )
        # Each process needs a head; autograd adds the gradients of the copies.
        k, v = (x.repeat_interleave(world // kv_heads, heads) for x in (k, v))
    q, k, v = (_Exchange.apply(x, group, heads, rows) for x in (q, k, v))
    if sink is not None:
        sink = sink.chunk(world)[rank]
    if options.pop("return_lse", False):
        raise ArgumentError("return_lse is for one process")
    o = _attention(q, k, v, sink=sink, **options)
    return _Exchange.apply(o, group, rows, heads)
