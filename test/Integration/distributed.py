#!/usr/bin/env python3
"""Tests of tile.distributed: several processes against one.

    distributed.py                      # Gloo, 2 and 4 processes, on the CPU
    distributed.py --device cuda        # NCCL, one process for each GPU

Each process computes the whole attention in float64, too, and compares its part
of the output and of the gradients.
"""

import argparse
import os
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

from tile import ArgumentError

#: Name, method, and options of tile.distributed.attention; heads of q and k.
CASES = (
    ("ring", dict(method="ring"), 4, 2),
    ("ring_causal", dict(method="ring", causal=True), 4, 2),
    ("ring_softcap", dict(method="ring", causal=True, softcap=5.0), 2, 2),
    ("ring_packed", dict(method="ring", packed="other keys"), 4, 2),
    ("ring_packed_causal", dict(method="ring", causal=True, packed="zigzag"), 4, 2),
    ("exchange", dict(method="all_to_all"), 8, 4),
    ("exchange_causal", dict(method="all_to_all", causal=True), 4, 4),
    ("exchange_few_keys", dict(method="all_to_all", causal=True), 4, 1),
    ("exchange_window_sink", dict(method="all_to_all", window=(20, 0), sink=True), 4, 4),
    ("exchange_packed", dict(method="all_to_all", causal=True, packed="any"), 4, 4),
    # Two parts of the heads of each of 2 and of 4 processes, which overlap.
    ("exchange_parts", dict(method="all_to_all", causal=True, sink=True), 16, 8),
)

#: Lengths of the sequences of packed batches, by the number of processes.
PACKED = {
    "any": lambda world: 2 * [[40, 96 * world - 60, 20]],
    "zigzag": lambda world: 2 * [[16 * world, 0, 48 * world, 32 * world]],
    "other keys": lambda world: (
        [15 * world, 0, 49 * world, 32 * world], [48 * world, 16 * world, 0, 32 * world]),
}


def reference(q, k, v, causal=False, softcap=None, window=None, sink=None):
    """Attention of one sequence, [S, H, D], in float64."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    s = torch.einsum("qhd,khd->hqk", q, k) / q.shape[-1] ** 0.5
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    i, j = torch.arange(q.shape[0])[:, None], torch.arange(k.shape[0])[None]
    i, j = i.to(q.device), j.to(q.device)
    if causal or window:
        s = s.masked_fill(j > i, -torch.inf)
    if window:
        s = s.masked_fill(j < i - window[0], -torch.inf)
    if sink is not None:
        column = sink[:, None, None].expand(-1, s.shape[1], 1)
        s = torch.cat([s, column], -1)
    p = s.softmax(-1)[..., : k.shape[0]]
    return torch.einsum("hqk,khd->qhd", p, v)


def run_case(options, heads, kv_heads, device, world):
    """Returns the largest error of o, dq, dk and dv, relative to the scale of
    each."""
    import tile.distributed as distributed

    options = dict(options)
    packed, has_sink = options.pop("packed", None), options.pop("sink", False)
    torch.manual_seed(1)
    if packed:
        lengths = PACKED[packed](world)
        bounds = [
            torch.tensor([0, *part], dtype=torch.int32, device=device).cumsum(0).int()
            for part in lengths
        ]
        # A causal ring compares bounds that are two tensors.
        options.update(
            cu_seqlens_q=bounds[0], cu_seqlens_k=bounds[1],
            max_seqlen_q=max(lengths[0]), max_seqlen_k=max(lengths[1]))
    else:
        lengths = [[32 * world]] * 2
    batch = 1 if packed else 2

    def draw(count, lengths):
        whole = torch.randn(batch, sum(lengths), count, 64).to(torch.bfloat16).to(device)
        return whole[0] if packed else whole

    counts = (heads, kv_heads, kv_heads, heads)
    sides = (0, 1, 1, 0)
    q, k, v, do = (draw(count, lengths[side]) for count, side in zip(counts, sides))
    sink = torch.randn(heads, device=device) if has_sink else None
    whole = [x.double().requires_grad_() for x in (q, k, v)]
    limits = {key: options[key] for key in ("causal", "softcap", "window") if key in options}
    if has_sink:
        options["sink"] = sink.clone().requires_grad_()
        whole.append(sink.double().requires_grad_())
        limits["sink"] = whole[3]
    outputs = [
        torch.cat([
            reference(*part, **limits)
            for part in zip(*(x.split(lengths[side]) for x, side in zip(batch, sides)))])
        for batch in ([whole[:3]] if packed else zip(*whole[:3]))
    ]
    right = outputs[0] if packed else torch.stack(outputs)
    right.backward(do.double())

    ring = options["method"] == "ring"
    zigzag = ring and options.get("causal", False)

    def parts(side):
        """Returns the options of shard for q (0) or for k and v (1)."""
        if packed:
            return dict(causal=zigzag, dim=0, cu_seqlens=bounds[side] if ring else None)
        return dict(causal=zigzag)

    tensors = list(zip((q, k, v, do), sides))
    local = [distributed.shard(x, **parts(side)).detach() for x, side in tensors]
    upstream = local.pop()
    local = [x.requires_grad_() for x in local]
    o = distributed.attention(*local, **options)
    o.backward(upstream)
    errors = []
    for found, expected, side in zip(
        [o.detach()] + [x.grad for x in local],
        [right.detach()] + [x.grad for x in whole[:3]],
        (0, *sides),
    ):
        part = distributed.shard(expected, **parts(side))
        errors.append(float((found.double() - part).abs().max() / part.abs().max()))
    if has_sink:
        gradient = options["sink"].grad
        dist.all_reduce(gradient)  # Each process has some of the heads.
        difference = (gradient.double() - whole[3].grad).abs().max()
        errors.append(float(difference / whole[3].grad.abs().max()))
    # The parts together are the whole.
    for x, side in tensors:
        part = distributed.shard(x, **parts(side))
        assert torch.equal(distributed.unshard(part, **parts(side)), x)
    return max(errors)


#: Name, placements of q and of k and v, heads of both, and options of tile.attention
#: for DTensors: first for a mesh of one dimension, then of two by two.
DTENSOR_CASES = (
    ("batch", "0", "0", 2, 1, dict(causal=True, sink=True)),
    ("heads", "2", "2", 8, 4, dict(causal=True, sink=True)),
    ("one_key_head", "2", "r", 8, 1, {}),
    ("two_key_heads", "2", "r", 8, 2, {}),
    ("rows", "1", "1", 4, 4, {}),
    ("replicated", "r", "r", 2, 2, {}),
    ("mixed", "r", "0", 4, 2, {}),
    ("packed_heads", "1", "1", 4, 4, dict(packed=True)),
    ("packed_rows", "0", "0", 6, 3, dict(packed=True)),
    ("batch_and_heads", "02", "02", 4, 2, {}),
    ("rows_and_heads", "12", "12", 6, 2, dict(sink=True)),
    ("uneven_heads", "22", "22", 6, 3, {}),
)

#: Cases without communication in forward and backward, but that of gradients that
#: are added later.
LOCAL_DTENSOR_CASES = ("batch", "heads", "replicated", "packed_heads", "batch_and_heads")


def dtensor_cases(world):
    """Returns the cases of DTensors that are for as many processes."""
    try:
        from torch.distributed.tensor.experimental import register_sharding  # noqa: F401
    except ImportError:
        return []
    return [case for case in DTENSOR_CASES if len(case[1]) == 1 or world == 4]


def run_dtensor_case(device, world, name, q_places, k_places, heads, kv_heads, options):
    """Returns the largest error of the output and the gradients of DTensors."""
    import tile
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.debug import CommDebugMode

    options = dict(options)
    packed, has_sink = options.pop("packed", False), options.pop("sink", False)
    mesh = init_device_mesh(device, (world,) if len(q_places) == 1 else (2, 2))
    torch.manual_seed(2)
    shape = (48,) if packed else (4, 32)
    lengths = [20, 0, 28] if packed else [32]

    def draw(count):
        return torch.randn(*shape, count, 64).to(torch.bfloat16).to(device)

    q, k, v, do = draw(heads), draw(kv_heads), draw(kv_heads), draw(heads)
    tensors = [q, k, v] + ([torch.randn(heads, device=device)] if has_sink else [])
    whole = [x.double().requires_grad_() for x in tensors]
    batches = [whole[:3]] if packed else list(zip(*whole[:3]))
    outputs = [
        torch.cat([
            reference(*part, causal=options.get("causal"), sink=(whole + [None])[3])
            for part in zip(*(x.split(lengths) for x in batch))])
        for batch in batches
    ]
    right = outputs[0] if packed else torch.stack(outputs)
    right.backward(do.double())

    def distribute(tensor, places):
        placements = [Replicate() if p == "r" else Shard(int(p)) for p in places]
        return distribute_tensor(tensor, mesh, placements)

    # Sinks that are no DTensor are replicated; here they are leaves.
    places = [q_places, k_places, k_places, "r" * mesh.ndim]
    leaves = [distribute(*pair).requires_grad_() for pair in zip(tensors, places)]
    upstream = distribute(do, q_places)
    if has_sink:
        options["sink"] = leaves[3]
    if packed:
        bounds = torch.tensor([0, 20, 20, 48], dtype=torch.int32, device=device)
        options.update(cu_seqlens_q=bounds, cu_seqlens_k=bounds)
    with CommDebugMode() as communication:
        o = tile.attention(*leaves[:3], **options)
        found = torch.autograd.grad(o, leaves, upstream)
    if name in LOCAL_DTENSOR_CASES:
        assert communication.get_total_counts() == 0, communication.get_comm_counts()
        assert o.placements == upstream.placements, o.placements
    try:
        tile.attention(leaves[0], leaves[1].full_tensor(), *leaves[2:3])
    except ArgumentError as error:
        assert "k must be a DTensor" in str(error), error
    else:
        raise AssertionError("a DTensor and a tensor are accepted")
    errors = []
    for one, expected in zip([o.detach(), *found], [right.detach()] + [x.grad for x in whole]):
        difference = (one.full_tensor().double() - expected).abs().max()
        errors.append(float(difference / expected.abs().max()))
    return max(errors)


def check_refusals(device, world):
    import tile.distributed as distributed

    def tensor(rows, heads):
        return torch.randn(1, rows, heads, 64).to(torch.bfloat16).to(device)

    def expect(message, *tensors, **options):
        try:
            distributed.attention(*tensors, **options)
        except ArgumentError as error:
            assert message in str(error), error
        else:
            raise AssertionError("not refused: " + message)

    q = tensor(32, world)
    expect("not 'star'", q, q, q, method="star")
    expect("window needs method='all_to_all'", q, q, q, window=(4, 0))
    expect("as many queries as keys", q, tensor(64, 1), tensor(64, 1), causal=True)
    expect("two chunks of one length, got 33 rows", *[tensor(33, 1)] * 3, causal=True)
    expect("torch.float32", *[q.float()] * 3)
    expect("scale is -1.0", q, q, q, scale=-1.0)
    expect("return_lse is for one process", q, q, q, return_lse=True)
    expect("dropout_p is not supported", q, q, q, dropout_p=0.5)
    bounds = torch.tensor([0, 32 * world - 1, 32 * world], dtype=torch.int32, device=device)
    try:
        distributed.shard(torch.zeros(32 * world, device=device), cu_seqlens=bounds)
    except ArgumentError as error:
        assert "sequence 0 has %d rows" % (32 * world - 1) in str(error), error
    else:
        raise AssertionError("sequences are cut in unequal parts")
    if device == "cpu":
        packed = dict(cu_seqlens_q=bounds, cu_seqlens_k=bounds)
        expect("cu_seqlens_q: sequence 0 has", *[q[0]] * 3, **packed)
    whole = bounds[::2].contiguous()
    halves = torch.tensor([0, 16, 32], dtype=torch.int32, device=device) * world
    several = torch.tensor([0, 0, 32], dtype=torch.int32, device=device) * world
    expect("or other bounds", *[q[0]] * 3, causal=True, cu_seqlens_q=halves,
           cu_seqlens_k=several)
    distributed.attention(*[q[0]] * 3, causal=True, cu_seqlens_q=whole,
                          cu_seqlens_k=whole.clone())
    odd = tensor(32, world + 1)
    expect("are no multiple of", odd, odd, odd, method="all_to_all")


def work(rank, world, device, file, results):
    torch.set_num_threads(1)
    if device == "cuda":
        torch.cuda.set_device(rank)
    dist.init_process_group(
        "nccl" if device == "cuda" else "gloo", init_method="file://" + file,
        rank=rank, world_size=world)
    status = {}
    for name, options, heads, kv_heads in CASES:
        try:
            status[name] = run_case(options, heads, kv_heads, device, world)
        except Exception:
            traceback.print_exc()
            status[name] = float("inf")
            break  # The other processes wait for this one.
    for case in dtensor_cases(world):
        try:
            status["dtensor_" + case[0]] = run_dtensor_case(device, world, *case)
        except Exception:
            traceback.print_exc()
            status["dtensor_" + case[0]] = float("inf")
            break
    try:
        check_refusals(device, world)
        status["refusals"] = 0.0
    except Exception:
        traceback.print_exc()
        status["refusals"] = float("inf")
    torch.save(status, results + "/%d" % rank)
    if device == "cuda":
        torch.cuda.synchronize()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 4],
                        help="on the CPU")
    options = parser.parse_args()
    device, worlds = options.device, options.processes
    if device == "cuda":
        worlds = [torch.cuda.device_count()] if torch.cuda.is_available() else []
    passed = failed = 0
    skipped = int(not worlds)
    if not dtensor_cases(2):
        skipped += 1
        print(f"SKIPPED dtensor: PyTorch {torch.__version__} has no register_sharding")
    for world in worlds:
        with tempfile.TemporaryDirectory() as folder:
            context = processes.spawn(
                work, (world, device, folder + "/rendezvous", folder), nprocs=world,
                join=False)
            try:
                while not context.join(timeout=300):
                    pass
            except Exception:
                traceback.print_exc()
            found = [torch.load(f"{folder}/{rank}") for rank in range(world)
                     if os.path.exists(f"{folder}/{rank}")]
        names = [case[0] for case in CASES]
        names += ["dtensor_" + case[0] for case in dtensor_cases(world)]
        for name in [*names, "refusals"]:
            error = max([one.get(name, float("inf")) for one in found] or [float("inf")])
            # bf16 has 8 bits; a part is rounded once more before it is added.
            right = len(found) == world and error < 0.02
            passed, failed = passed + right, failed + (not right)
            print("%s %s, %d processes: %.2e" % (
                "PASSED" if right else "FAILED", name, world, error), flush=True)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
