"""Measures attention of few queries over many keys against PyTorch on one GPU.

    few_queries.py                                   # decode and chunks of a prefill
    few_queries.py --shapes 8x1x8192:64/8x128 1x512x32768:16/16x64

A shape is B x queries x keys : heads of q / heads of k x D. The mask is causal, aligned
at the end. Contenders are tile.attention, its kernel that has one block of threads for a
tile of queries of one head, and cuDNN and FA2 of PyTorch. Each is captured in a CUDA
graph; a time is the median of CUDA events, in turn, and the second-level cache is
flushed before each call. Results are compared with float32 on the first and the last
head in the same run, from outputs that held NaN. The exit status is 1 if a result is
wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import tile  # noqa: E402

SHAPES = [
    f"{batch}x1x{keys}:64/8x128" for batch in (1, 8, 64) for keys in (1024, 8192, 32768)
] + [
    "1x4x8192:64/8x128", "8x4x8192:64/8x128", "1x128x32768:16/16x128",
    "1x512x32768:8/8x128", "1x512x32768:16/16x64", "1x512x32768:16/16x128",
    "1x512x32768:32/4x128",
]  # fmt: skip

#: The largest error of an element relative to the largest one.
TOLERANCE = 0.02


class Shape(NamedTuple):
    batch: int
    queries: int
    keys: int
    heads: int
    kv_heads: int
    d: int

    @classmethod
    def parse(cls, text: str) -> "Shape":
        found = re.fullmatch(r"(\d+)x(\d+)x(\d+):(\d+)/(\d+)x(\d+)", text)
        if not found:
            raise ValueError(f"'{text}' is no shape like 8x1x8192:64/8x128")
        return cls(*map(int, found.groups()))


def one_block_for_a_tile(*tensors: Any) -> Callable[[], Any]:
    """Returns a call of the kernels that neither share keys nor pack heads."""
    from tile import functional, prepared

    functional._prepared.clear()
    with mock.patch.object(prepared, "choose_packed_heads", lambda *_: 0), mock.patch.object(
        prepared, "choose_parts", lambda *_: 1
    ):
        call = prepared.Forward(
            functional._check(*tensors, True, None, None, None, None, None, None, None, False),
            *tensors, None, None, None,
        )  # fmt: skip
        scale = tensors[0].shape[-1] ** -0.5
        call.run(*tensors, None, None, None, scale, 0.0)
    return lambda: call.run(*tensors, None, None, None, scale, 0.0)


def make_tensors(shape: Shape) -> List[Any]:
    """Returns q, k and v."""
    import torch

    sizes = [(shape.queries, shape.heads)] + [(shape.keys, shape.kv_heads)] * 2
    return [
        torch.randn(shape.batch, rows, heads, shape.d, device="cuda", dtype=torch.bfloat16)
        for rows, heads in sizes
    ]


def contenders(shape: Shape, tensors: List[Any]) -> Dict[str, Callable[[], Any]]:
    """Returns the calls by name."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.attention.bias import causal_lower_right
    from torch.nn.functional import scaled_dot_product_attention

    views = [t.transpose(1, 2) for t in tensors]
    # A single query sees all keys.
    mask = None if shape.queries == 1 else causal_lower_right(shape.queries, shape.keys)

    def run(backend: Any) -> Any:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(
                *views, attn_mask=mask, enable_gqa=shape.heads != shape.kv_heads
            )

    return {
        "tile": lambda: tile.attention(*tensors, causal=True, return_lse=True),
        "before": one_block_for_a_tile(*tensors),
        "cudnn": lambda: run(SDPBackend.CUDNN_ATTENTION),
        "flash": lambda: run(SDPBackend.FLASH_ATTENTION),
    }


def capture(run: Callable[[], Any]) -> Any:
    """Returns a graph of the call and its results."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = run()
    return graph, results


def measure_error(shape: Shape, tensors: Any, o: Any, lse: Any) -> float:
    """Returns the largest error of o and of lse, relative to the largest element."""
    import torch

    position = torch.arange(shape.queries, device="cuda")[:, None] + shape.keys - shape.queries
    hidden = torch.arange(shape.keys, device="cuda")[None] > position
    errors = []
    for head in (0, shape.heads - 1):
        kv_head = head * shape.kv_heads // shape.heads
        q, k, v = (t[:, :, h].float() for t, h in zip(tensors, (head, kv_head, kv_head)))
        scores = (q @ k.transpose(1, 2) * shape.d**-0.5).masked_fill_(hidden, -torch.inf)
        exact = scores.softmax(-1) @ v
        errors.append((o[:, :, head].float() - exact).abs().max() / exact.abs().max())
        errors.append((lse[:, head] - scores.logsumexp(-1)).abs().max() / 10)
    return max(float(error) if error == error else float("inf") for error in errors)


def measure(shape: Shape, rounds: int) -> float:
    """Prints the times; returns our error."""
    import torch
    from timing import time_in_turn

    torch.manual_seed(0)
    tensors = make_tensors(shape)
    runs = contenders(shape, tensors)
    graphs = {}
    for name, run in runs.items():
        try:
            graphs[name], results = capture(run)
        except RuntimeError as error:
            print(f"{name}: {str(error).splitlines()[0]}")
            continue
        if name == "tile":
            ours, graph = results, graphs[name]
    for result in ours:
        result.fill_(float("nan"))
    graph.replay()
    error = measure_error(shape, tensors, *ours)
    times = time_in_turn({n: g.replay for n, g in graphs.items()}, rounds, 3, flush=True)
    size = 4 * shape.batch * shape.keys * shape.kv_heads * shape.d
    cells = " ".join(f"{1e3 * times[n]:9.1f}" if n in times else f"{'-':>9}" for n in runs)
    print(f"{cells} {size / times['tile'] / 1e9:6.2f}"
          + ("" if error <= TOLERANCE else f"  WRONG: error {error:.2g}"), flush=True)  # fmt: skip
    return error


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", nargs="+", default=SHAPES, metavar="BxSQxSK:H/HKVxD")
    parser.add_argument("--rounds", type=int, default=30, help="timed rounds")
    arguments = parser.parse_args()
    shapes = [Shape.parse(text) for text in arguments.shapes]
    if gpu.is_missing():
        return 0
    import torch

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds,"
          " and TB/s of K and V of ours")  # fmt: skip
    print(f"{'shape':>24} {'tile':>9} {'before':>9} {'cudnn':>9} {'flash':>9} {'TB/s':>6}")
    wrong = 0
    for text, shape in zip(arguments.shapes, shapes):
        print(f"{text:>24} ", end="")
        wrong += not measure(shape, arguments.rounds) <= TOLERANCE
    return int(wrong > 0)


if __name__ == "__main__":
    gpu.run(main)
