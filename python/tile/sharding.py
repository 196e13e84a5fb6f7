"""Rules for attention of DTensors: how the operators of attention are sharded.

The batch and the heads of a tensor may be sharded without communication. Anything
else is redistributed first. Needs PyTorch 2.5, and is imported at the first call
with a DTensor, because the import of DTensor takes about a second.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from .errors import ArgumentError

#: Arguments and results of the operators that have rows of heads, [B, S, H, D], one
#: number for each row, [B, H, S], and one for each head. All others are replicated.
_ROWS_OF_HEADS = frozenset(("q", "k", "v", "o", "do"))
_NUMBERS_OF_ROWS = frozenset(("lse", "dlse"))
_NUMBERS_OF_HEADS = frozenset(("sink",))

_FORWARD, _BACKWARD = (
    torch.ops.tile.attention.default,
    torch.ops.tile.attention_backward.default,
)


def distribute(named: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Returns the arguments of a call with all tensors as DTensors, or None if q, k
    and v are none.

    Replicates the other arguments. Raises ArgumentError if some of q, k and v are
    DTensors and others are not.
    """
    given = {name: isinstance(named[name], DTensor) for name in "qkv"}
    if not any(given.values()):
        return None
    for name, distributed in given.items():
        if not distributed:
            raise ArgumentError(
                f"{name} must be a DTensor, because another of q, k and v is one"
            )
    mesh = named["q"].device_mesh
    for name in "kv":
        if named[name].device_mesh != mesh:
            raise ArgumentError(f"{name} is on another mesh than q")
    return {
        name: DTensor.from_local(value, mesh, [Replicate()] * mesh.ndim, run_check=False)
        if isinstance(value, torch.Tensor) and not isinstance(value, DTensor)
        else value
        for name, value in named.items()
    }


def _head_shards(specs: Dict[str, Any], packed: bool) -> int:
    """Returns the most parts that the heads may be cut in by a rule that shards
    them.

    A dimension of the mesh along which all tensors are replicated, or sharded by
    the batch, stays so, because that costs nothing.
    """
    q = specs["q"]
    mesh = q.mesh
    kept = {Replicate()} if packed else {Replicate(), Shard(0)}
    parts = batch = 1
    for dim in range(mesh.ndim):
        found = {spec.placements[dim] for spec in specs.values()}
        if not found <= kept:
            parts *= mesh.size(dim)
        elif Shard(0) in found:
            batch *= mesh.size(dim)
    # A batch of fewer elements than parts is not sharded.
    return parts * batch if batch > q.shape[0] else parts


def _rules(operator: Any, arguments: Tuple[Any, ...]) -> List[Tuple[list, list]]:
    """Returns placements of results and arguments along one dimension of a mesh.

    The first rule replicates all; it wins where nothing is sharded.
    """
    names = [argument.name for argument in operator._schema.arguments]
    given = dict(zip(names, arguments))
    packed = given["cu_q"] is not None
    specs = {
        name: given[name]
        for name in names
        if name in _ROWS_OF_HEADS | _NUMBERS_OF_ROWS and given[name] is not None
    }
    heads, kv_heads = given["q"].shape[-2], given["k"].shape[-2]

    def rule(rows: Any, numbers: Any, vector: Any, shared: Any, sums: Tuple[Any, Any]):
        """`shared` places k and v; `sums` are the placements of the gradients of k
        and v, and of the sinks."""
        placements = {
            **dict.fromkeys(_ROWS_OF_HEADS, rows),
            **dict.fromkeys(_NUMBERS_OF_ROWS, numbers),
            **dict.fromkeys(_NUMBERS_OF_HEADS, vector),
            "k": shared,
            "v": shared,
        }
        inputs = [
            placements.get(name, Replicate()) if hasattr(given[name], "placements") else None
            for name in given
        ]
        if operator is _FORWARD:
            return [rows, numbers], inputs
        dsink = sums[1] if given["sink"] is not None else Replicate()
        return [rows, sums[0], sums[0], dsink], inputs

    every = Replicate()
    rules = [rule(every, every, every, every, (every, every))]
    if not packed:
        batch = Shard(0)
        rules.append(rule(batch, batch, every, batch, (batch, Partial())))
    shards = _head_shards(specs, packed)
    rows, numbers = (Shard(1), Shard(0)) if packed else (Shard(2), Shard(1))
    if kv_heads and kv_heads % shards == 0:
        rules.append(rule(rows, numbers, Shard(0), rows, (rows, Shard(0))))
    elif kv_heads == 1 and heads % shards == 0:
        # All heads of q share the one of k; each part has a term of its gradient.
        rules.append(rule(rows, numbers, Shard(0), every, (Partial(), Shard(0))))
    return rules


@register_sharding(_FORWARD)
def _(*arguments):
    return _rules(_FORWARD, arguments)


@register_sharding(_BACKWARD)
def _(*arguments):
    return _rules(_BACKWARD, arguments)
