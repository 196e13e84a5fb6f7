"""Measures attention over a cache of keys and values on one GPU.

    kv_cache.py                                      # decode, dense and in pages
    kv_cache.py --shapes 8x1x8192:64/8x128 --pages 0 16 256
    kv_cache.py --shapes 1x1x1024:64/8x128 --calls 32 # like the layers of a model
    FA3=folder kv_cache.py                           # beside FlashAttention-3

A shape is B x queries x keys : heads of q / heads of k x D. The mask is causal, aligned
at the end. A page size of 0 is a cache of whole sequences; pages lie in random order.
Contenders are tile.attention_with_kvcache, the same with FlashInfer's form of the table,
the same with a tree mask that hides what the causal mask hides, FlashAttention-3's kernels where their
shared object lies in the folder that the environment variable FA3 names, FlashInfer's
decode over pages where the package flashinfer-python is installed, and, with whole
sequences, tile.attention and cuDNN. Each is captured in a CUDA graph; a time is the
median of CUDA events, in turn, and the second-level cache is flushed before each graph.
With --calls, a graph has so many calls, on tensors of their own, and a time is that of
all, divided by their number.
Results of all are compared with float32 in the same run, ours from outputs that held NaN.
The exit status is 1 if a result of ours is wrong.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import fa3  # noqa: E402
import few_queries  # noqa: E402
import flash_infer  # noqa: E402
import gpu  # noqa: E402
import tile  # noqa: E402
from few_queries import TOLERANCE, Shape  # noqa: E402

SHAPES = [
    f"{batch}x{queries}x{keys}:{heads}x128"
    for queries, heads, batch, keys in (
        (1, "64/8", 1, 1024), (1, "64/8", 1, 8192), (1, "64/8", 1, 131072),
        (1, "64/8", 8, 1024), (1, "64/8", 8, 8192), (1, "64/8", 8, 32768),
        (1, "64/8", 64, 1024), (1, "64/8", 64, 8192),
        (1, "32/8", 1, 8192), (1, "32/8", 8, 8192), (1, "32/8", 64, 8192),
        (4, "64/8", 1, 8192), (4, "64/8", 8, 8192), (4, "64/8", 64, 1024),
    )
]  # fmt: skip

PAGES = (0, 16, 64, 256)

#: The calls, in the order of the columns.
COLUMNS = ("tile", "list", "tree", "fa3", "flashinfer", "dense", "cudnn")


def contenders(shape: Shape, page: int, tensors: List[Any]) -> Dict[str, Callable[[], Any]]:
    """Returns the calls by name; each returns o and lse."""
    import torch

    q, k, v = tensors
    lengths = torch.full((shape.batch,), shape.keys, dtype=torch.int32, device="cuda")
    caches, table = (k, v), None
    if page:
        count = shape.batch * shape.keys // page
        order = torch.randperm(count, device="cuda")
        caches = [torch.empty_like(t).view(count, page, *t.shape[2:]) for t in (k, v)]
        for cache, t in zip(caches, (k, v)):
            cache[order] = t.reshape(count, page, *t.shape[2:])
        table = order.int().view(shape.batch, -1).contiguous()
    runs = {
        "tile": lambda: tile.attention_with_kvcache(
            q, *caches, cache_seqlens=lengths, page_table=table, causal=True,
            return_softmax_lse=True,
        )
    }  # fmt: skip
    if page:
        # FlashInfer's form of the same table.
        per = shape.keys // page
        indptr = torch.arange(shape.batch + 1, dtype=torch.int32, device="cuda") * per
        last = torch.full_like(lengths, page)
        runs["list"] = lambda: tile.attention_with_kvcache(
            q, *caches, kv_indptr=indptr, kv_indices=table.view(-1), kv_last_page_len=last,
            causal=True, return_softmax_lse=True,
        )  # fmt: skip
    if 1 < shape.queries <= 256:
        # A tree that is one chain hides what the causal mask hides.
        chain = torch.ones(shape.queries, shape.queries, dtype=torch.bool, device="cuda")
        words = tile.pack_tree_mask(chain.tril().repeat(shape.batch, 1, 1))
        runs["tree"] = lambda: tile.attention_with_kvcache(
            q, *caches, cache_seqlens=lengths, page_table=table, tree_mask=words,
            return_softmax_lse=True,
        )  # fmt: skip
    kernels = fa3.load()
    if kernels is not None:
        out = torch.empty_like(q)
        runs["fa3"] = lambda: kernels.fwd(
            q, *caches, out=out, seqused_k=lengths, page_table=table,
            softmax_scale=1 / math.sqrt(shape.d), is_causal=True, num_splits=0,
        )[:2]  # fmt: skip
    if page and flash_infer.is_installed():
        try:
            runs["flashinfer"] = flash_infer.plan(q, caches, table, shape.keys)
        except (RuntimeError, ValueError) as error:
            print(f"flashinfer is left out: {error}")
    if not page:
        dense = few_queries.contenders(shape, tensors)
        runs["dense"], runs["cudnn"] = dense["tile"], dense["cudnn"]
    return runs


def measure(shape: Shape, page: int, rounds: int, calls: int) -> bool:
    """Prints the times; returns whether our results are right."""
    import torch
    from timing import time_in_turn

    torch.manual_seed(0)
    tensors = [few_queries.make_tensors(shape) for _ in range(calls)]
    layers = [contenders(shape, page, one) for one in tensors]
    graphs, wrong = {}, []
    for name in layers[0]:

        def run() -> Any:
            for layer in layers:
                results = layer[name]()
            return results

        try:
            graphs[name], results = few_queries.capture(run)
        except RuntimeError as error:
            print(f"{name}: {str(error).splitlines()[0]}")
            continue
        if name == "cudnn":
            continue
        for result in results:
            result.fill_(float("nan"))
        graphs[name].replay()
        if name == "flashinfer":
            results = results[0], results[1] * flash_infer.LSE_UNIT
        if not few_queries.measure_error(shape, tensors[-1], *results) <= TOLERANCE:
            wrong.append(name)
    times = time_in_turn({n: g.replay for n, g in graphs.items()}, rounds, 3, flush=True)
    times = {name: time / calls for name, time in times.items()}
    size = 4 * shape.batch * shape.keys * shape.kv_heads * shape.d
    cells = "".join(
        f" {1e3 * times[n]:10.1f}" if n in times else f" {'-':>10}" for n in COLUMNS
    )
    print(f"{page:5}{cells} {size / times['tile'] / 1e9:6.2f}"
          + (f"  WRONG: {', '.join(wrong)}" if wrong else ""), flush=True)  # fmt: skip
    return not {"tile", "list", "tree"} & set(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", nargs="+", default=SHAPES, metavar="BxSQxSK:H/HKVxD")
    parser.add_argument("--pages", nargs="+", type=int, default=PAGES, metavar="KEYS")
    parser.add_argument("--rounds", type=int, default=20, help="timed rounds")
    parser.add_argument("--calls", type=int, default=1, help="calls of a graph")
    arguments = parser.parse_args()
    shapes = [Shape.parse(text) for text in arguments.shapes]
    if gpu.is_missing():
        return 0
    import torch

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds,"
          " and TB/s of K and V of ours")  # fmt: skip
    columns = "".join(f" {name:>10}" for name in COLUMNS)
    print(f"{'shape':>24} {'page':>5}{columns} {'TB/s':>6}")
    right = True
    for text, shape in zip(arguments.shapes, shapes):
        for page in arguments.pages:
            print(f"{text:>24} ", end="")
            right &= measure(shape, page, arguments.rounds, arguments.calls)
    return int(not right)


if __name__ == "__main__":
    gpu.run(main)
