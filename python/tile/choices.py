"""The choices among the kernels of attention, by a model of their times.

A choice changes the time of a call, not its result.
"""

from __future__ import annotations

from math import ceil, prod
from typing import Mapping, Optional, Tuple

from .manifest import Manifest
from .programs import KEYS_KERNEL, LONG_KEYS, BackwardVariant, Variant

#: Rows of the smaller tiles in schedules/sm_90a.mlir; the larger one only at head
#: dimensions up to 64.
FEW_ROWS = (64, 128)

#: The queries that see a key from which the kernel of dK and dV gains by products
#: that are one iteration late. Fitted to an H100.
LATE_QUERIES = 1400

#: Constants of choose_kv_sum: the time that a GPU is partly idle at the end of a
#: kernel whose blocks differ, in units of an average block, and the cost of
#: writing and summing gradients of each head, in visible queries. Fitted to an H200
#: ("separate") and an H100 ("atomic").
_TAIL = 0.6
_SUM_COST = {"separate": 240, "atomic": 150}

#: Constants of choose_parts, in keys that a block visits in the same time: the
#: beginning and the end of a block; the kernel that combines parts, each step of it,
#: which reads _PARTS_AT_ONCE parts of a row, and each part of a row; a key of each
#: processor if all read from memory at once. A block visits _STEP_KEYS keys at a time;
#: more parts take at most _LEAST_GAIN of the time of fewer. Fitted to an H100, but for
#: the first two of the combining kernel and _READ_COST, which are fitted to an H200.
_BLOCK_COST = 192
_COMBINE_COST = 224
_COMBINE_STEP_COST = 160
_PARTS_AT_ONCE = 8
_PART_COST = 2.0
_READ_COST = 1.0
_STEP_KEYS = 128
_MOST_PARTS = 256
_LEAST_GAIN = 0.95

#: The blocks of a cluster that share keys, and the cost of the exchange of their
#: results, in the same unit. Larger clusters exchange more, and an H200 runs fewer of
#: their blocks at a time: 132 in pairs, but 120 in clusters of 8. Fitted to an H200.
_CLUSTER_BLOCKS = 2
_CLUSTER_COST = 390

#: The time that a tile of so many rows takes for a key, relative to a tile of _ROWS.
#: Fitted to an H100.
_SMALL_TILE_COST = {64: 0.7, 128: 1.0}

#: Rows of a tile of queries and of one of packed heads, in most schedules; the fewest
#: rows of a tile of packed heads, and the most with which it is faster than the usual
#: one (docs/notes/hopper-decode.md).
_ROWS, _PACKED_ROWS = 128, 64
_FEWEST_ROWS, _FEW_PACKED_ROWS = 8, 16


def count_key_blocks(
    manifest: Manifest,
    shapes: Mapping[str, Tuple[int, ...]],
    scalars: Mapping[str, int],
    multiprocessors: int,
) -> int:
    """Returns the blocks of threads of the kernel that computes dK and dV.

    `manifest` is that of a BackwardVariant. `shapes` and `scalars` are the
    arguments that its grid depends on, by name.
    """
    (kernel,) = (spec for spec in manifest.kernels if spec.name.endswith(KEYS_KERNEL))
    return prod(
        kernel.evaluate(extent, shapes, scalars, multiprocessors)
        for extent in kernel.grid
    )


def count_seeing_queries(
    queries: int, keys: int, causal: bool, window: Optional[Tuple[int, int]]
) -> float:
    """Returns how many queries see a key, about.

    `queries` and `keys` are the lengths of one sequence. `window` is the pair of
    sides that the mask has, negative where a side is open; None without a window.
    """
    visible = float(queries)
    if causal and keys:
        short = min(queries, keys)
        visible = short * (1 - short / (2 * keys))
    if window is not None and min(window) >= 0:
        visible = min(visible, window[0] + window[1] + 1)
    return visible


def has_late_products(variant: BackwardVariant, visible: float) -> bool:
    """Returns whether the kernel of dK and dV gains by products that are one
    iteration late, where so many queries see a key. Other head dimensions and sums of
    dQ have no such products.
    """
    forward = variant.forward
    return (
        visible >= LATE_QUERIES
        or variant.dq != "atomic"
        or max(forward.d, forward.dv) > 128
    )


def choose_kv_sum(
    blocks: int,
    group: int,
    queries: int,
    keys: int,
    causal: bool,
    window: Optional[Tuple[int, int]],
    processors: int,
    deterministic: bool = False,
) -> str:
    """Returns the faster way to sum dK and dV over the heads that share keys.

    "loop": one block of threads visits all heads of its group. There are few
    blocks, each with the work of a whole group, so that processors idle at the
    end. "atomic": one block for each head adds its results to those of the group
    in memory, which takes longer the fewer queries see a key; "separate", if
    `deterministic`: another kernel sums the results of all heads. Where all blocks
    have equal work, they run in whole waves. `blocks` is the number for "loop" (see
    `count_key_blocks`), `group` that of heads that share keys. The other arguments
    are those of `count_seeing_queries`.
    """
    if group <= 1:
        return "loop"
    visible = count_seeing_queries(queries, keys, causal, window)

    def waves(blocks: float) -> float:
        if causal or window is not None:
            return blocks / processors + _TAIL
        return float(ceil(blocks / processors))

    loop = group * waves(blocks)
    by_head = "separate" if deterministic else "atomic"
    summing = group * blocks / processors * _SUM_COST[by_head] / max(visible, 1)
    return "loop" if loop <= waves(group * blocks) + summing else by_head


def has_long_keys(variant: Variant, keys: int) -> bool:
    """Returns whether another kernel is faster for sequences of so many keys.

    The schedules of other head dimensions and masks are the same for all lengths. Of
    caches, only kernels with the heads of a group as rows have one for long sequences;
    with few rows, whatever the mask.
    """
    if keys < LONG_KEYS or variant.packed or variant.schedule:
        return False
    head = max(variant.d, variant.dv)
    if variant.pack_heads and 0 < variant.few_rows <= _FEW_PACKED_ROWS:
        return head <= 128
    return (
        head <= 64
        and (variant.pack_heads > 0 or not variant.key_lengths)
        and not (variant.window or variant.softcap or variant.tree_words)
    )


def choose_few_rows(
    variant: Variant,
    sequences: int,
    queries: int,
    keys: int,
    heads: int,
    kv_heads: int,
    processors: int,
) -> int:
    """Returns the rows of a smaller tile with which each processor has a tile at most,
    0 if the usual ones are faster: with many keys, blocks that share them.

    `keys` is the number of keys that a query sees. The schedules of packed sequences,
    caches and packed heads have no smaller tiles.
    """
    if (
        variant.packed
        or variant.key_lengths
        or variant.tree_words
        or variant.pack_heads
        or variant.schedule
    ):
        return 0

    def count_tiles(rows: int) -> int:
        return sequences * heads * -(-queries // rows)

    rows = next((rows for rows in FEW_ROWS if count_tiles(rows) <= processors), 0)
    if rows == 0 or (rows > FEW_ROWS[0] and max(variant.d, variant.dv) > 64):
        return 0
    call = (
        count_tiles(_ROWS),
        keys,
        sequences * heads * queries,
        sequences * kv_heads,
        processors,
    )
    time = _SMALL_TILE_COST[rows] * (keys + _BLOCK_COST)
    return rows if time <= _cost_of_parts(choose_parts(*call), *call) else 0


def _count_packed_heads(group: int) -> int:
    """Returns how many heads of a group the rows of a tile hold at each query."""
    return min(1 << max(group - 1, 0).bit_length(), _PACKED_ROWS)


def choose_packed_heads(queries: int, group: int) -> int:
    """Returns how many heads the rows of a tile are at each query, 0 for queries of one
    head.

    A tile has either up to _ROWS queries of one head, or heads of q that share a head of
    k at some queries, _PACKED_ROWS rows together. The way with fewer tiles visits the
    keys less often; where each query has a tile, heads leave fewer rows without use.
    `queries` is the length of one sequence.
    """
    heads = _count_packed_heads(group)
    packed = ceil(queries * heads / _PACKED_ROWS) * ceil(group / heads)
    alone = group * ceil(queries / _ROWS)
    return heads if packed < alone or queries <= group else 0


def choose_few_packed_rows(queries: int, heads: int, packed: bool) -> int:
    """Returns the rows of a smaller tile for sequences with at most `queries` queries, of
    each of which `heads` heads are rows; 0 for the usual tile.

    Tiles of packed sequences have twice the usual rows unless the rows are few.
    """
    rows = heads * queries
    if 0 < rows <= _FEW_PACKED_ROWS:
        return max(1 << (rows - 1).bit_length(), _FEWEST_ROWS)
    return _PACKED_ROWS if packed and 0 < rows <= _PACKED_ROWS else 0


def round_longest(queries: int) -> int:
    """Returns the most queries of a sequence, rounded up: to a power of two, or to whole
    tiles where there are more than one.

    A call is prepared for each number, and the choices by it are the same or nearly so.
    """
    if queries > _ROWS:
        return ceil(queries / _ROWS) * _ROWS
    return 1 << max(queries - 1, 0).bit_length()


def count_short_queries(group: int, rows: int = _PACKED_ROWS) -> int:
    """Returns the most queries that, with heads of a group as rows, fit a tile of `rows`
    rows."""
    return rows // _count_packed_heads(group)


def choose_short_queries(total: int, sequences: int, longest: int, group: int) -> int:
    """Returns the most queries of those packed sequences that have a kernel of their own,
    0 if one kernel computes all.

    `total` is the number of queries and `longest` that of the longest sequence. A tile of
    the other kernel has few rows, and heads of a group are rows. Two kernels take some
    microseconds more than one. One takes several times longer for steps of decoding
    beside a chunk of a prompt: so there are two where more than half of the sequences may
    be short. The smallest tile is for sequences that have as few queries as it holds, on
    average without the longest.
    """
    short = count_short_queries(group)
    if not 0 < short < longest or sequences <= 2 * ceil(total / longest):
        return 0
    fewest = count_short_queries(group, _FEW_PACKED_ROWS)
    are_few = fewest > 0 and total - longest <= fewest * (sequences - 1)
    return fewest if are_few else short


def count_blocks(
    manifest: Manifest,
    shapes: Mapping[str, Tuple[int, ...]],
    scalars: Mapping[str, int],
    multiprocessors: int,
) -> int:
    """Returns the blocks of threads of the first kernel of `manifest`."""
    kernel = manifest.kernels[0]
    return prod(
        kernel.evaluate(extent, shapes, scalars, multiprocessors)
        for extent in kernel.grid
    )


def choose_parts(blocks: int, keys: int, rows: int, streams: int, processors: int) -> int:
    """Returns how many blocks of threads share the keys of a tile of queries.

    `blocks` is the number of blocks of the kernel without parts, `keys` the number
    of keys that a tile of queries sees, `rows` that of rows of the result, and
    `streams` that of heads of k in all sequences. Parts fill the processors, until
    these read as fast as the memory; each part adds the beginning and the end of a
    block, and its result is written and read once more.
    """

    call = (blocks, keys, rows, streams, processors)
    most = max(1, min(ceil(keys / _STEP_KEYS), _MOST_PARTS))
    least = min(_cost_of_parts(n, *call) for n in range(1, most + 1))
    return next(
        n
        for n in range(1, most + 1)
        if _LEAST_GAIN * _cost_of_parts(n, *call) <= least
    )


def _cost_of_parts(
    parts: int, blocks: int, keys: int, rows: int, streams: int, processors: int
) -> float:
    """Returns the time of a call with so many parts, see choose_parts, in keys that a
    block visits."""
    walk = _cost_of_walk(parts, blocks, keys, streams, processors)
    if parts == 1:
        return walk
    combine = _COMBINE_COST + _COMBINE_STEP_COST * ceil(parts / _PARTS_AT_ONCE)
    return walk + combine + _PART_COST * parts * rows / processors


def _cost_of_walk(
    parts: int, blocks: int, keys: int, streams: int, processors: int
) -> float:
    """Returns the time of the blocks that visit the keys, as _cost_of_parts."""
    waves = ceil(blocks * parts / processors)
    read = _READ_COST * streams * keys / processors
    visited = min(ceil(ceil(keys / _STEP_KEYS) / parts) * _STEP_KEYS, keys)
    return max(waves * visited, read) + waves * _BLOCK_COST


def choose_cluster(
    parts: int,
    most: int,
    blocks: int,
    keys: int,
    rows: int,
    streams: int,
    processors: int,
) -> int:
    """Returns how many blocks of a cluster share the keys of a tile of queries, 0 where
    `parts` blocks of the grid are faster.

    A cluster has at most `most` blocks. They combine their results through their shared
    memory, without a second kernel. The other arguments are those of choose_parts.
    """
    if most < _CLUSTER_BLOCKS or keys < _CLUSTER_BLOCKS * _STEP_KEYS:
        return 0
    walk = _cost_of_walk(_CLUSTER_BLOCKS, blocks, keys, streams, processors)
    others = _cost_of_parts(parts, blocks, keys, rows, streams, processors)
    return _CLUSTER_BLOCKS if walk + _CLUSTER_COST < others else 0
