#!/usr/bin/env python3
"""Measures tile.distributed.attention on the GPUs of one host.

Each rate is that of one GPU: the work of all of them, divided by their number and
the time of a step, forward and backward together. The reference is one process
alone with the same work, whole sequences of some of the heads. The local results
of both methods are compared with the reference's on one GPU in the same run.

    distributed.py                    # one process for each GPU
    distributed.py --tokens 65536
    distributed.py --sequences 16     # a packed batch of as many sequences
"""

import argparse
import os
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import torch
import torch.distributed as dist
import torch.multiprocessing as processes


def measure(attend, leaves, upstream, rounds):
    """Returns the median of seconds that forward and backward take on all
    processes, and the last output and gradients."""
    times = []
    for i in range(rounds + 3):
        for leaf in leaves:
            leaf.grad = None
        dist.barrier()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        o = attend(*leaves)
        o.backward(upstream)
        end.record()
        torch.cuda.synchronize()
        slowest = torch.tensor([begin.elapsed_time(end) / 1e3], device="cuda")
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        if i >= 3:
            times.append(float(slowest))
    return statistics.median(times), [o.detach()] + [leaf.grad for leaf in leaves]


def largest_error(found, right):
    return float((found.float() - right.float()).abs().max() / right.float().abs().max())


def work(rank, world, file, options):
    torch.cuda.set_device(rank)
    dist.init_process_group(
        "nccl", init_method="file://" + file, rank=rank, world_size=world,
        device_id=torch.device("cuda", rank))
    import tile
    import tile.distributed as distributed

    heads, kv_heads, dim = 32, 8, 128
    for tokens in options.tokens:
        torch.manual_seed(0)
        shape = (tokens,) if options.sequences else (1, tokens)
        q, do = (torch.randn(*shape, heads, dim, device="cuda").bfloat16() for _ in range(2))
        k, v = (torch.randn(*shape, kv_heads, dim, device="cuda").bfloat16() for _ in range(2))
        length = tokens // max(options.sequences, 1)
        flops = 7 * 2 * tokens * length / 2 * heads * dim / world
        call, packed = dict(causal=True), {}
        if options.sequences:
            bounds = torch.arange(0, tokens + 1, length, device="cuda", dtype=torch.int32)
            packed = dict(cu_seqlens=bounds)
            call.update(cu_seqlens_q=bounds, cu_seqlens_k=bounds,
                        max_seqlen_q=length, max_seqlen_k=length)

        def leaf(x):
            return x.detach().clone().requires_grad_()

        alone = [leaf(x.chunk(world, -2)[rank].contiguous()) for x in (q, k, v)]
        attend = partial(tile.attention, **call)
        seconds, _ = measure(
            attend, alone, do.chunk(world, -2)[rank].contiguous(), options.rounds)
        base = flops / seconds / 1e12
        if rank == 0:
            print("%d tokens: one GPU with 1/%d of the heads: %.0f TFLOP/s" % (
                tokens, world, base), flush=True)
        whole = [leaf(x) for x in (q, k, v)]
        o = tile.attention(*whole, **call)
        o.backward(do)
        expected = [o.detach()] + [x.grad for x in whole]
        for method in ("ring", "all_to_all"):
            # Whole sequences are cut for the ring, the batch for all-to-all.
            cut = dict(causal=True, **packed) if method == "ring" else {}
            shard = partial(distributed.shard, dim=len(shape) - 1, **cut)
            local = [leaf(shard(x)) for x in (q, k, v)]
            part = shard(do)
            attend = partial(distributed.attention, method=method, **call)
            seconds, results = measure(attend, local, part, options.rounds)
            errors = [
                largest_error(found, shard(right))
                for found, right in zip(results, expected)
            ]
            rate = flops / seconds / 1e12
            if rank == 0:
                print("%d tokens, %s: %.0f TFLOP/s a GPU, %.2f of one GPU; errors %s" % (
                    tokens, method, rate, rate / base,
                    " ".join("%.1e" % error for error in errors)), flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[65536, 131072])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--sequences", type=int, default=0, metavar="N",
                        help="a packed batch of N sequences that share the tokens")
    options = parser.parse_args()
    world = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if world < 2:
        print("SKIPPED: one GPU or none")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(work, (world, os.path.join(folder, "rendezvous"), options), nprocs=world)
    return 0


if __name__ == "__main__":
    sys.exit(main())
