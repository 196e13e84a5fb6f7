"""Measures a step of a language model with a paged cache against PyTorch on one GPU.

    decoder.py                                  # 1, 8 and 64 sequences of 1k and 8k tokens
    decoder.py --sequences 16 --tokens 4096
    decoder.py --page 64 --ordered              # pages of a sequence lie one after another

The model is that of test/Integration/language_model.py with the layers of a small Llama:
width 2048, 32 heads of q and 8 of k with D 64. A step appends one token to each sequence and
computes the logits of the next one, with random weights in bf16, in a CUDA graph.
Contenders are tile.attention_with_kvcache over pages in random order, and
scaled_dot_product_attention of PyTorch with its back ends over a dense cache, which holds
exactly the tokens of the step. A time is the median of CUDA events, in turn. The logits
are compared with those of PyTorch's math back end in float32 in the same run: an error is
the norm of the difference divided by the norm of those. The exit status is 1 if our error
is more than 1.5 times that of the best back end.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Callable, Dict

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import few_queries  # noqa: E402
import gpu  # noqa: E402
import tile  # noqa: E402


def make_model() -> Any:
    from language_model import Decoder
    from tensor_tests import Suite

    class Model(Decoder):
        LAYERS, WIDTH, HEADS, KV_HEADS, D, WORDS = 8, 2048, 32, 8, 64, 32000

    suite = Suite()
    suite.device = "cuda"
    return Model(suite)


def contenders(
    model: Any, sequences: int, tokens: int, size: int, ordered: bool
) -> Dict[str, Callable[[], Any]]:
    """Returns the steps by name; each returns the logits. Pages have `size` tokens and
    are in random order, unless `ordered`."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    torch.manual_seed(0)
    words = torch.randint(model.WORDS, (sequences, 1), device="cuda")
    positions = torch.full((sequences, 1), tokens - 1, device="cuda")
    shape = (sequences, model.KV_HEADS, tokens, model.D)
    dense = [
        [torch.randn(shape, device="cuda").bfloat16() for _ in range(2)]
        for _ in range(model.LAYERS)
    ]
    lengths = torch.full((sequences,), tokens - 1, dtype=torch.int32, device="cuda")
    count = -(-tokens // size)
    arrange = torch.arange if ordered else torch.randperm
    order = arrange(sequences * count, device="cuda")
    table = order.view(sequences, count).int()
    pages = []
    for layer in dense:
        pages.append([])
        for x in layer:
            rows = torch.zeros(sequences, count * size, model.KV_HEADS, model.D,
                               device="cuda", dtype=torch.bfloat16)  # fmt: skip
            rows[:, :tokens] = x.transpose(1, 2)
            page = torch.empty_like(rows).view(-1, size, model.KV_HEADS, model.D)
            page[order] = rows.view(page.shape)
            pages[-1].append(page)

    def attend_pages(i: int, q: Any, k: Any, v: Any) -> Any:
        return tile.attention_with_kvcache(
            q, *pages[i], k, v, cache_seqlens=lengths, page_table=table, causal=True
        )

    def attend_dense(backend: Any, dtype: Any = None) -> Callable[..., Any]:
        def attend(i: int, q: Any, k: Any, v: Any) -> Any:
            for cache, new in zip(dense[i], (k, v)):
                cache[:, :, tokens - 1 :] = new.transpose(1, 2)
            values = [q.transpose(1, 2), *dense[i]]
            with sdpa_kernel(backend):
                o = scaled_dot_product_attention(
                    *(x.to(dtype or x.dtype) for x in values), enable_gqa=True
                )
            return o.transpose(1, 2).to(q.dtype)

        return attend

    backends = {
        "cudnn": SDPBackend.CUDNN_ATTENTION,
        "flash": SDPBackend.FLASH_ATTENTION,
        "exact": SDPBackend.MATH,
    }
    steps = {"tile": lambda: model.run(words, positions, attend_pages)}
    for name, backend in backends.items():
        attend = attend_dense(backend, torch.float32 if name == "exact" else None)
        steps[name] = lambda attend=attend: model.run(words, positions, attend)
    return steps


def measure(model: Any, sequences: int, tokens: int, arguments: Any) -> bool:
    """Prints the times; returns whether our logits are right."""
    from timing import time_in_turn

    steps = contenders(model, sequences, tokens, arguments.page, arguments.ordered)
    exact = steps.pop("exact")().double()
    graphs, errors = {}, {}
    for name, step in steps.items():
        try:
            graphs[name], logits = few_queries.capture(step)
        except RuntimeError as error:
            print(f"{name}: {str(error).splitlines()[0]}")
            continue
        logits.fill_(float("nan"))
        graphs[name].replay()
        errors[name] = ((logits.double() - exact).norm() / exact.norm()).item()
    times = time_in_turn({n: g.replay for n, g in graphs.items()}, arguments.rounds, 3, flush=False)
    others = [error for name, error in errors.items() if name != "tile"]
    right = errors["tile"] <= 1.5 * min(others)
    cells = "".join(
        f" {1e3 * times[name]:9.1f}" if name in times else f" {'-':>9}"
        for name in ("tile", "cudnn", "flash")
    )
    print(f"{sequences:9} {tokens:7}{cells} {errors['tile']:10.2e} {min(others):10.2e}"
          + ("" if right else "  WRONG"), flush=True)  # fmt: skip
    return right


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sequences", nargs="+", type=int, default=(1, 8, 64))
    parser.add_argument("--tokens", nargs="+", type=int, default=(1024, 8192))
    parser.add_argument("--page", type=int, default=16, help="tokens of a page")
    parser.add_argument("--ordered", action="store_true", help="pages in order")
    parser.add_argument("--rounds", type=int, default=20, help="timed rounds")
    arguments = parser.parse_args()
    if gpu.is_missing():
        return 0
    import torch

    model = make_model()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds a"
          " step, and the relative errors of the logits")  # fmt: skip
    print(f"{'sequences':>9} {'tokens':>7} {'tile':>9} {'cudnn':>9} {'flash':>9}"
          f" {'error':>10} {'PyTorch':>10}")  # fmt: skip
    right = True
    for sequences in arguments.sequences:
        for tokens in arguments.tokens:
            right &= measure(model, sequences, tokens, arguments)
    return int(not right)


if __name__ == "__main__":
    gpu.run(main)
