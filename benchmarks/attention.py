#!/usr/bin/env python3
"""Forward attention against PyTorch's back ends, on one GPU.

All contenders run on the same data in one process, in turn within each round
and in another order each round, so that clocks and heat treat them alike.
Times are CUDA events' medians. Our result is checked in the same run against
float64, on some of the heads, in outputs that held NaN before. TFLOP/s count
4 B H Sq Sk D operations, half of that if causal.

    attention.py                                                # compile here
    attention.py --compile-only --artifacts DIR --chip sm_90a   # no GPU needed
    attention.py --artifacts DIR                                # no compiler needed
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from tile import chip_for  # noqa: E402
from tile.programs import Artifacts, Variant  # noqa: E402

PEERS = ("FLASH_ATTENTION", "CUDNN_ATTENTION")

#: More than any GPU's second-level cache has.
FLUSH_BYTES = 256 << 20


def main() -> int:
    arguments = parse_arguments()
    shapes = list(product(arguments.d, arguments.s, arguments.mask, arguments.dtype))
    variants = [
        Variant(d, d, dtype, causal=mask == "causal") for d, _, mask, dtype in shapes
    ]
    if arguments.compile_only:
        return compile_all(Artifacts(arguments.artifacts), variants, arguments.chip)
    if importlib.util.find_spec("torch") is None:
        print("SKIPPED: no PyTorch")
        return 0
    import torch

    if not torch.cuda.is_available():
        print("SKIPPED: no GPU")
        return 0
    if arguments.artifacts:
        return benchmark(arguments, shapes, variants, Artifacts(arguments.artifacts))
    with tempfile.TemporaryDirectory(prefix="tile-") as folder:
        artifacts = Artifacts(folder)
        chip = arguments.chip or chip_for(torch.cuda.get_device_capability())
        if compile_all(artifacts, variants, chip):
            return 1
        return benchmark(arguments, shapes, variants, artifacts)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--artifacts", metavar="DIR", help="folder of artifacts")
    parser.add_argument("--compile-only", action="store_true", help="run nothing")
    parser.add_argument("--chip", help="what to compile for; default: the GPU's")
    parser.add_argument("-d", type=int, nargs="+", default=[64, 128], help="head size")
    parser.add_argument("-s", type=int, nargs="+", default=[4096], help="length")
    parser.add_argument("-b", type=int, default=4, help="batch")
    parser.add_argument("-n", type=int, default=16, help="heads")
    parser.add_argument("--kv-heads", type=int, help="key heads; default: as -n")
    parser.add_argument(
        "--mask", nargs="+", default=["full", "causal"], choices=["full", "causal"]
    )
    parser.add_argument(
        "--dtype", nargs="+", default=["bf16"], choices=["bf16", "f16"]
    )
    parser.add_argument(
        "--order",
        default="bhsd",
        choices=["bhsd", "bshd"],
        help="order in memory of what all contenders read and write",
    )
    parser.add_argument("--rounds", type=int, default=50, help="timed, at least 30")
    parser.add_argument("--warmup", type=int, default=10, help="rounds before those")
    parser.add_argument(
        "--no-flush",
        action="store_true",
        help="leave the cache as the previous contender left it",
    )
    arguments = parser.parse_args()
    if arguments.compile_only and not (arguments.artifacts and arguments.chip):
        parser.error("--compile-only needs --artifacts and --chip")
    if arguments.rounds < 30:
        parser.error("--rounds must be at least 30")
    return arguments


def compile_all(artifacts: Artifacts, variants: List[Variant], chip: str) -> int:
    failures = artifacts.compile(variants, chip)
    for variant, message in failures.items():
        print(f"FAILED {variant.name}: {message}")
    return 1 if failures else 0


def benchmark(
    arguments: argparse.Namespace,
    shapes: List[Tuple[int, int, str, str]],
    variants: List[Variant],
    artifacts: Artifacts,
) -> int:
    import torch

    heads = f"B {arguments.b}, H {arguments.n}/{arguments.kv_heads or arguments.n}"
    print(
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {heads},"
        f" {arguments.order}, median of {arguments.rounds} rounds,"
        f" {'warm' if arguments.no_flush else 'flushed'} cache"
    )
    peers = [name.split("_")[0].lower() for name in PEERS]
    titles = [f"{peer:>8} {'ours/' + peer:>11}" for peer in peers]
    print(f"{'D':>4} {'S':>6} {'mask':>7} {'type':>5} {'ours':>8} {' '.join(titles)}")
    wrong = []
    for (d, s, mask, dtype), variant in zip(shapes, variants):
        rates, fault = measure(arguments, s, variant, artifacts)
        cells = []
        for name in PEERS:
            rate = rates.get(name)
            ratio = rates["ours"] / rate if rate else None
            cells.append(f"{cell(rate, '.1f'):>8} {cell(ratio, '.3f'):>11}")
        print(
            f"{d:4} {s:6} {mask:>7} {dtype:>5} {rates['ours']:8.1f}"
            f" {' '.join(cells)}{'  WRONG: ' + fault if fault else ''}",
            flush=True,
        )
        wrong += [fault] if fault else []
    print("TFLOP/s; all our results are right" if not wrong else "some are WRONG")
    return 1 if wrong else 0


def measure(
    arguments: argparse.Namespace, s: int, variant: Variant, artifacts: Artifacts
) -> Tuple[Dict[str, float], Optional[str]]:
    """TFLOP/s by contender, and what is wrong with our result, if anything."""
    import torch

    dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[variant.dtype]
    batch, heads, d = arguments.b, arguments.n, variant.d
    kv_heads = arguments.kv_heads or heads
    scale = d**-0.5
    torch.manual_seed(0)

    def tensor(count: int) -> torch.Tensor:
        """Random [B, H, S, D], in the chosen order in memory."""
        if arguments.order == "bhsd":
            return torch.randn(batch, count, s, d, device="cuda", dtype=dtype)
        memory = torch.randn(batch, s, count, d, device="cuda", dtype=dtype)
        return memory.transpose(1, 2)

    q, k, v = tensor(heads), tensor(kv_heads), tensor(kv_heads)
    out = torch.empty_like(q)
    lse = torch.empty(batch, heads, s, device="cuda", dtype=torch.float32)
    # Our buffers are [B, S, H, D], whatever the strides.
    views = [x.transpose(1, 2) for x in (q, k, v, out)]
    module = artifacts.load(variant)

    def ours() -> None:
        module.launch(*views, lse, scale)

    out.fill_(float("nan"))
    lse.fill_(float("nan"))
    ours()
    fault = check(views, lse, scale, variant)

    contenders: Dict[str, Callable[[], Any]] = {"ours": ours}
    for name in PEERS:
        peer = make_peer(name, q, k, v, scale, variant.causal)
        if peer is not None:
            contenders[name] = peer
    milliseconds = time_in_turn(contenders, arguments)
    operations = 4 * batch * heads * s * s * d / (2 if variant.causal else 1)
    rates = {name: operations / (t * 1e9) for name, t in milliseconds.items()}
    return rates, fault


def check(views: List[Any], lse: Any, scale: float, variant: Variant) -> Optional[str]:
    """What is wrong with our output, None if nothing is."""
    import torch

    from tile import testing

    q, k, v, out = views
    torch.cuda.synchronize()
    if not (bool(out.isfinite().all()) and bool(lse.isfinite().all())):
        return "not everything was written"
    group = q.shape[2] // k.shape[2]
    for entry, head in ((0, 0), (q.shape[0] - 1, q.shape[2] - 1)):
        rows, columns = slice(entry, entry + 1), slice(head, head + 1)
        kv = slice(head // group, head // group + 1)
        inputs = (q[rows, :, columns], k[rows, :, kv], v[rows, :, kv], scale)
        reference, sums = testing.attention(*inputs, variant.causal)
        low, _ = testing.attention(*inputs, variant.causal, dtype=out.dtype)
        result = testing.compare(out[rows, :, columns], reference, low)
        if not result.ok:
            return f"off by {result.error:.3g}, allowed {result.tolerance:.3g}"
        result = testing.compare_lse(lse[rows, columns], sums)
        if not result.ok:
            return f"LSE off by {result.error:.3g}"
    return None


def make_peer(
    name: str, q: Any, k: Any, v: Any, scale: float, causal: bool
) -> Optional[Callable[[], Any]]:
    """A call of one of PyTorch's back ends, None where it refuses the input."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    backend = getattr(SDPBackend, name, None)
    if backend is None:
        return None
    options = {"is_causal": causal, "scale": scale}
    if k.shape[1] != q.shape[1]:
        options["enable_gqa"] = True

    def run() -> Any:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, **options)

    try:
        run()
    except RuntimeError as error:
        print(f"{name} is left out: {str(error).splitlines()[0]}")
        return None
    return run


def time_in_turn(
    contenders: Dict[str, Callable[[], Any]], arguments: argparse.Namespace
) -> Dict[str, float]:
    """The median milliseconds of each contender's call."""
    import torch

    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    events: Dict[str, list] = {name: [] for name in contenders}
    names = list(contenders)
    for turn in range(arguments.warmup + arguments.rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            begin = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            # Also keeps the GPU busy until the call has been enqueued, so that
            # the host's time is not in the measurement.
            if not arguments.no_flush:
                flush.zero_()
            begin.record()
            contenders[name]()
            end.record()
            if turn >= arguments.warmup:
                events[name].append((begin, end))
    torch.cuda.synchronize()
    return {
        name: statistics.median(begin.elapsed_time(end) for begin, end in pairs)
        for name, pairs in events.items()
    }


def cell(value: Optional[float], form: str) -> str:
    return "n/a" if value is None else format(value, form)


if __name__ == "__main__":
    sys.exit(main())
