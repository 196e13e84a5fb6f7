"""Measures attention of mixed batches over a paged cache on one GPU.

    mixed_batch.py                                   # a chunk of a prompt and 63 steps
    FA3=folder mixed_batch.py                        # beside FlashAttention-3
    mixed_batch.py --batches 2048x16384,63x1x1024-65536:64/8x128 --pages 16

A batch is a list of sequences, N x queries x keys (N may be left out), then heads of q /
heads of k x D. Keys may be a range, from which the lengths are drawn. The mask is causal,
aligned at the end. Queries are packed, pages lie in random order. Contenders are
tile.attention_with_kvcache, the same with the table of works of another layer
(scheduler_metadata), and FlashAttention-3's kernel where its shared object lies in the
folder that the environment variable FA3 names. Each is captured in a CUDA graph; a time
is the median of CUDA events, in turn, and the second-level cache is flushed before each
call. Results of all are compared with float32 on two heads in the same run, ours from
outputs that held NaN. The exit status is 1 if a result of ours is wrong.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import fa3  # noqa: E402
import few_queries  # noqa: E402
import gpu  # noqa: E402
import tile  # noqa: E402

BATCHES = [
    "2048x2048,63x1x1024-65536:64/8x128",
    "2048x16384,63x1x1024-65536:64/8x128",
    "2048x16384,63x1x1024-65536:32/8x128",
    "512x8192,31x1x1024-16384:64/8x128",
    "64x1x1024-65536:64/8x128",
    "8x1x1024-65536:32/8x128",
    "2048x16384,63x1x1024-65536:64/8x64",
]


class Batch(NamedTuple):
    #: Queries and keys of each sequence.
    counts: List[int]
    lengths: List[int]
    heads: int
    kv_heads: int
    d: int

    @classmethod
    def parse(cls, text: str) -> "Batch":
        found = re.fullmatch(r"([\dx,-]+):(\d+)/(\d+)x(\d+)", text)
        if not found:
            raise ValueError(f"'{text}' is no batch like 2048x4096,63x1x1024-8192:64/8x128")
        import torch

        generator = torch.Generator().manual_seed(0)
        counts, lengths = [], []
        for group in found[1].split(","):
            *number, queries, keys = group.split("x")
            least, most = (keys.split("-") * 2)[:2]
            for _ in range(int(number[0]) if number else 1):
                counts.append(int(queries))
                drawn = torch.randint(int(least), int(most) + 1, (1,), generator=generator)
                lengths.append(int(drawn))
        return cls(counts, lengths, *map(int, found.groups()[1:]))


class Tensors:
    """Queries, a cache in pages, and what says where sequences are."""

    def __init__(self, batch: Batch, page: int):
        import torch

        torch.manual_seed(0)
        device = "cuda"
        entries = -(-max(batch.lengths) // page)
        used = [-(-n // page) for n in batch.lengths]
        order = torch.randperm(sum(used), device=device).int()
        self.table = torch.full((len(used), entries), 2**30, dtype=torch.int32, device=device)
        for row, pages in zip(self.table, order.split(used)):
            row[: len(pages)] = pages
        self.k, self.v = (
            torch.randn(sum(used), page, batch.kv_heads, batch.d, device=device,
                        dtype=torch.bfloat16)
            for _ in range(2)
        )  # fmt: skip
        self.q = torch.randn(sum(batch.counts), batch.heads, batch.d, device=device,
                             dtype=torch.bfloat16)  # fmt: skip
        self.lengths = torch.tensor(batch.lengths, dtype=torch.int32, device=device)
        bounds = torch.tensor([0] + batch.counts).cumsum(0)
        self.bounds = bounds.tolist()
        self.cu_q = bounds.int().to(device)


def contenders(batch: Batch, tensors: Tensors) -> Dict[str, Callable[[], Any]]:
    """Returns the calls by name; each returns o and lse."""
    import torch

    t, most = tensors, max(batch.counts)
    metadata = tile.SchedulerMetadata()

    def run(metadata: Any = None) -> Any:
        return tile.attention_with_kvcache(
            t.q, t.k, t.v, cache_seqlens=t.lengths, page_table=t.table, cu_seqlens_q=t.cu_q,
            max_seqlen_q=most, causal=True, return_softmax_lse=True,
            scheduler_metadata=metadata,
        )  # fmt: skip

    run(metadata)
    runs = {"tile": run, "layer": lambda: run(metadata)}
    kernels = fa3.load()
    if kernels is not None:
        out = torch.empty_like(t.q)
        runs["fa3"] = lambda: kernels.fwd(
            t.q, t.k, t.v, out=out, cu_seqlens_q=t.cu_q, seqused_k=t.lengths,
            page_table=t.table, max_seqlen_q=most, max_seqlen_k=max(batch.lengths),
            softmax_scale=1 / math.sqrt(batch.d), is_causal=True, num_splits=0,
        )[:2]  # fmt: skip
    return runs


def measure_error(batch: Batch, tensors: Tensors, o: Any, lse: Any) -> float:
    """Returns the largest error of o and of lse, relative to the largest element."""
    import torch

    errors = []
    t = tensors
    for b, (sq, sk) in enumerate(zip(batch.counts, batch.lengths)):
        rows = slice(t.bounds[b], t.bounds[b + 1])
        pages = t.table[b, : -(-sk // t.k.shape[1])].long()
        position = torch.arange(sq, device="cuda")[:, None] + sk - sq
        hidden = torch.arange(sk, device="cuda")[None] > position
        for head in (0, batch.heads - 1):
            kv_head = head * batch.kv_heads // batch.heads
            k, v = (x[pages, :, kv_head].flatten(0, 1)[:sk].float() for x in (t.k, t.v))
            scores = t.q[rows, head].float() @ k.T * batch.d**-0.5
            scores.masked_fill_(hidden, -torch.inf)
            exact = scores.softmax(-1) @ v
            errors.append((o[rows, head].float() - exact).abs().max() / exact.abs().max())
            errors.append((lse[head, rows] - scores.logsumexp(-1)).abs().max() / 10)
    return max(float(error) if error == error else float("inf") for error in errors)


def measure(batch: Batch, page: int, rounds: int) -> Tuple[Dict[str, float], List[str]]:
    """Returns the times in milliseconds, and the names of those with wrong results."""
    from timing import time_in_turn

    tensors = Tensors(batch, page)
    graphs, wrong = {}, []
    # A graph uses the memory of the tables of works, which the calls keep.
    runs = contenders(batch, tensors)
    for name, run in runs.items():
        graphs[name], results = few_queries.capture(run)
        for result in results:
            result.fill_(float("nan"))
        graphs[name].replay()
        if not measure_error(batch, tensors, *results) <= few_queries.TOLERANCE:
            wrong.append(name)
    times = time_in_turn({n: g.replay for n, g in graphs.items()}, rounds, 3, flush=True)
    return times, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batches", nargs="+", default=BATCHES, metavar="BATCH")
    parser.add_argument("--pages", nargs="+", type=int, default=(16,), metavar="KEYS")
    parser.add_argument("--rounds", type=int, default=20, help="timed rounds")
    arguments = parser.parse_args()
    if gpu.is_missing():
        return 0
    import torch

    batches = [Batch.parse(text) for text in arguments.batches]

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds")
    print(f"{'batch':>40} {'page':>5} {'tile':>9} {'layer':>9} {'fa3':>9}")
    right = True
    for text, batch in zip(arguments.batches, batches):
        for page in arguments.pages:
            times, wrong = measure(batch, page, arguments.rounds)
            cells = "".join(
                f" {1e3 * times[name]:9.1f}" if name in times else f" {'-':>9}"
                for name in ("tile", "layer", "fa3")
            )
            print(f"{text:>40} {page:5}{cells}"
                  + (f"  WRONG: {', '.join(wrong)}" if wrong else ""), flush=True)  # fmt: skip
            right &= not {"tile", "layer"} & set(wrong)
    return int(not right)


if __name__ == "__main__":
    gpu.run(main)
