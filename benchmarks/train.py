"""Trains a small GPT with PyTorch's attention and with ours, from equal weights.

All models see the same batches under bf16 autocast, a few in turn: with
FlashAttention-2 through scaled_dot_product_attention, with tile.attention, and, in
PyTorch 2.11, with scaled_dot_product_attention on our kernels. The script prints
the loss and the median time of a step for each; the losses must agree, and a step
with our attention must not take longer. With the default batch the host bounds the
time of a step, with 64 sequences the GPU does.

    train.py                               # compile and train; needs a GPU
    train.py --pack DIR --chip sm_90a      # compile to DIR; needs no GPU
    TILE_PACK_DIR=DIR train.py             # train; needs no compiler
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from pathlib import Path
from typing import List

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from tile import cache  # noqa: E402
from tile.programs import KV_SUMS, BackwardVariant, Variant  # noqa: E402

LAYERS, WIDTH, HEADS, KV_HEADS = 6, 512, 8, 2
LENGTH, TOKENS = 512, 256
HEAD = WIDTH // HEADS

#: Largest difference of the mean losses of the last steps.
LOSS_TOLERANCE = 0.02

#: Steps that a model takes before it is another one's turn.
TURN = 5


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pack", metavar="DIR", help="compile to DIR, do not train")
    parser.add_argument("--chip", default="sm_90a", help="chip to compile for")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=16, help="sequences in a batch")
    arguments = parser.parse_args()
    if arguments.pack:
        forward = Variant(HEAD, HEAD, "bf16", causal=True)
        backward = [BackwardVariant(forward, kv=kv) for kv in KV_SUMS[:2]]
        programs = [variant.ir() for variant in (forward, *backward)]
        cache.precompile(programs, arguments.chip, arguments.pack)
        print(f"{len(programs)} programs in {arguments.pack}")
        return 0

    import tile
    import torch
    from tile import flash
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    def peer(q, k, v):
        views = (x.transpose(1, 2) for x in (q, k, v))
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return sdpa(*views, is_causal=True, enable_gqa=True).transpose(1, 2)

    def ours(q, k, v):
        return tile.attention(q, k, v, causal=True)

    attentions = {"SDPA": peer, "tile": ours}
    if hasattr(torch.nn.attention, "register_flash_attention_impl"):
        attentions["SDPA on tile"] = peer
    trainings = {
        name: Training(attention, arguments.batch)
        for name, attention in attentions.items()
    }
    # The place in the order alone changes a time by up to 5 %.
    order, shuffle = list(trainings.items()), random.Random(0).shuffle
    for _ in range(0, arguments.steps, TURN):
        shuffle(order)
        for name, training in order:
            handle = flash.activate() if name == "SDPA on tile" else None
            for _ in range(TURN):
                training.step()
            if handle:
                handle.remove()
    peers = trainings["SDPA"]
    failed = False
    for name, training in trainings.items():
        difference = abs(training.final - peers.final)
        ratio = training.milliseconds / peers.milliseconds
        print(
            f"{name}: loss {training.losses[0]:.4f} to {training.final:.4f},"
            f" {difference:.4f} from SDPA's; {training.milliseconds:.2f} ms a step,"
            f" {ratio:.3f} of SDPA's",
            flush=True,
        )
        failed |= difference > LOSS_TOLERANCE or ratio > 1.02
    return int(failed)


def make_model(attention):
    """Returns a GPT whose layers compute `attention`."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before = nn.LayerNorm(WIDTH)
            self.project = nn.Linear(WIDTH, (HEADS + 2 * KV_HEADS) * HEAD)
            self.out = nn.Linear(WIDTH, WIDTH)
            self.between = nn.LayerNorm(WIDTH)
            self.mlp = nn.Sequential(
                nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
            )

        def forward(self, x):
            heads = self.project(self.before(x)).unflatten(-1, (-1, HEAD))
            q, k, v = heads.split((HEADS, KV_HEADS, KV_HEADS), dim=2)
            x = x + self.out(attention(q, k, v).flatten(2))
            return x + self.mlp(self.between(x))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(TOKENS, WIDTH)
            self.places = nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, TOKENS)

        def forward(self, x):
            x = self.tokens(x) + self.places.weight
            return self.head(self.norm(self.blocks(x)))

    torch.manual_seed(0)
    return Model().cuda()


class Training:
    """A model, its losses and the milliseconds of its steps so far."""

    def __init__(self, attention, batch: int):
        import torch

        self.batch = batch
        self.model = make_model(attention)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, fused=True)
        self.generator = torch.Generator("cuda").manual_seed(1)
        self.losses: List[float] = []
        self.times: List[float] = []

    @property
    def final(self) -> float:
        """The mean loss of the last steps."""
        return statistics.mean(self.losses[-20:])

    @property
    def milliseconds(self) -> float:
        """The median time of a step."""
        return statistics.median(self.times)

    def step(self) -> None:
        import torch
        from torch.nn.functional import cross_entropy

        # Each sequence repeats a random part, which attention can find again.
        part = torch.randint(
            TOKENS, (self.batch, LENGTH // 4), generator=self.generator, device="cuda"
        )
        tokens = part.repeat(1, 5)[:, : LENGTH + 1]
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            scores = self.model(tokens[:, :-1])
            loss = cross_entropy(scores.flatten(0, 1).float(), tokens[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        torch.cuda.synchronize()
        self.times.append((time.perf_counter() - begin) * 1e3)
        self.losses.append(loss.item())


if __name__ == "__main__":
    sys.exit(main())
