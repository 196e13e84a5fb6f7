"""Attention and its gradients against PyTorch's back ends, on one GPU.

All contenders run on the same data in one process, in turn within each round
and in another order each round, so that clocks and heat treat them alike.
Times are CUDA events' medians. Our result is checked in the same run against
float64, on some of the heads, in outputs that held NaN before. Of all pairs of a
query and a key, half if causal, a product with an inner dimension D counts 2 D
operations: forward has two of them, backward five, all its kernels together.

    attention.py                                                # compile here
    attention.py --pass backward --seeds                        # known hard shapes
    attention.py --compile-only --artifacts DIR --chip sm_90a   # no GPU needed
    attention.py --artifacts DIR                                # no compiler needed
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from tile import chip_for  # noqa: E402
from tile.programs import (  # noqa: E402
    AnyVariant,
    Artifacts,
    BackwardVariant,
    Variant,
    accumulator_rows,
    choose_kv_sum,
    stats_shape,
)

PEERS = ("FLASH_ATTENTION", "CUDNN_ATTENTION")

#: More than any GPU's second-level cache has.
FLUSH_BYTES = 256 << 20


@dataclass(frozen=True)
class Shape:
    """What is computed: the sizes, and whether the gradients."""

    batch: int
    heads: int
    kv_heads: int
    length: int
    d: int
    dv: int
    causal: bool
    dtype: str
    backward: bool

    @property
    def forward_variant(self) -> Variant:
        return Variant(self.d, self.dv, self.dtype, causal=self.causal)

    @property
    def backward_variants(self) -> Dict[str, BackwardVariant]:
        """By how the gradients of keys are summed; the GPU decides between them."""
        sums = ["loop"] if self.kv_heads == self.heads else ["loop", "separate"]
        return {kv: BackwardVariant(self.forward_variant, kv=kv) for kv in sums}

    @property
    def variants(self) -> List[AnyVariant]:
        variants: List[AnyVariant] = [self.forward_variant]
        if self.backward:
            variants += self.backward_variants.values()
        return variants

    @property
    def operations(self) -> float:
        pairs = self.batch * self.heads * self.length**2 / (2 if self.causal else 1)
        inner = 3 * self.d + 2 * self.dv if self.backward else self.d + self.dv
        return 2 * pairs * inner

    @property
    def title(self) -> str:
        heads = f"{self.heads}/{self.kv_heads}"
        head = f"{self.d}" if self.d == self.dv else f"{self.d}/{self.dv}"
        return (
            f"{'backward' if self.backward else 'forward':>8} {self.batch:3} {heads:>6}"
            f" {self.length:6} {head:>7} {'causal' if self.causal else 'full':>6}"
            f" {self.dtype:>4}"
        )


#: Of the column titles; a row begins with Shape.title.
TITLE = f"{'pass':>8} {'B':>3} {'H/kv':>6} {'S':>6} {'D':>7} {'mask':>6} {'type':>4}"

#: Batch, heads, key heads, length, D, Dv, causal, type: where kernels written by
#: hand or in other tile languages are known to be slow.
SEEDS = (
    (1, 64, 8, 4096, 128, 128, True, "f16"),
    (8, 32, 2, 1024, 192, 128, False, "f16"),
    (1, 32, 32, 1024, 64, 64, False, "f16"),
)


def main() -> int:
    arguments = parse_arguments()
    shapes = list(make_shapes(arguments))
    if arguments.compile_only:
        return compile_all(Artifacts(arguments.artifacts), shapes, arguments.chip)
    if importlib.util.find_spec("torch") is None:
        print("SKIPPED: no PyTorch")
        return 0
    import torch

    if not torch.cuda.is_available():
        print("SKIPPED: no GPU")
        return 0
    if arguments.artifacts:
        return benchmark(arguments, shapes, Artifacts(arguments.artifacts))
    with tempfile.TemporaryDirectory(prefix="tile-") as folder:
        artifacts = Artifacts(folder)
        chip = arguments.chip or chip_for(torch.cuda.get_device_capability())
        if compile_all(artifacts, shapes, chip):
            return 1
        return benchmark(arguments, shapes, artifacts)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--artifacts", metavar="DIR", help="folder of artifacts")
    parser.add_argument("--compile-only", action="store_true", help="run nothing")
    parser.add_argument("--chip", help="what to compile for; default: the GPU's")
    parser.add_argument(
        "--pass",
        dest="passes",
        nargs="+",
        default=["forward"],
        choices=["forward", "backward"],
    )
    parser.add_argument(
        "--seeds", action="store_true", help="known hard shapes, not those below"
    )
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


def make_shapes(arguments: argparse.Namespace):
    for name in arguments.passes:
        backward = name == "backward"
        if arguments.seeds:
            for seed in SEEDS:
                yield Shape(*seed, backward)
            continue
        for d, s, mask, dtype in product(
            arguments.d, arguments.s, arguments.mask, arguments.dtype
        ):
            kv_heads = arguments.kv_heads or arguments.n
            heads = (arguments.b, arguments.n, kv_heads)
            yield Shape(*heads, s, d, d, mask == "causal", dtype, backward)


def compile_all(artifacts: Artifacts, shapes: List[Shape], chip: str) -> int:
    variants = [variant for shape in shapes for variant in shape.variants]
    failures = artifacts.compile(variants, chip)
    for variant, message in failures.items():
        print(f"FAILED {variant.name}: {message}")
    return 1 if failures else 0


def benchmark(
    arguments: argparse.Namespace, shapes: List[Shape], artifacts: Artifacts
) -> int:
    import torch

    print(
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__},"
        f" {arguments.order}, median of {arguments.rounds} rounds,"
        f" {'warm' if arguments.no_flush else 'flushed'} cache"
    )
    peers = [name.split("_")[0].lower() for name in PEERS]
    titles = [f"{peer:>8} {'ours/' + peer:>11}" for peer in peers]
    print(f"{TITLE} {'ours':>8} {' '.join(titles)}")
    wrong = []
    for shape in shapes:
        rates, fault = measure(arguments, shape, artifacts)
        cells = []
        for name in PEERS:
            rate = rates.get(name)
            ratio = rates["ours"] / rate if rate else None
            cells.append(f"{cell(rate, '.1f'):>8} {cell(ratio, '.3f'):>11}")
        print(
            f"{shape.title} {rates['ours']:8.1f} {' '.join(cells)}"
            f"{'  WRONG: ' + fault if fault else ''}",
            flush=True,
        )
        wrong += [fault] if fault else []
    print("TFLOP/s; all our results are right" if not wrong else "some are WRONG")
    return 1 if wrong else 0


def measure(
    arguments: argparse.Namespace, shape: Shape, artifacts: Artifacts
) -> Tuple[Dict[str, float], Optional[str]]:
    """TFLOP/s by contender, and what is wrong with our result, if anything."""
    problem = Problem(shape, arguments.order)
    fault = problem.prepare(artifacts)
    contenders: Dict[str, Callable[[], Any]] = {"ours": problem.run}
    for name in PEERS:
        peer = problem.make_peer(name)
        if peer is not None:
            contenders[name] = peer
    milliseconds = time_in_turn(contenders, arguments)
    rates = {name: shape.operations / (t * 1e9) for name, t in milliseconds.items()}
    return rates, fault


class Problem:
    """The tensors of a shape, [B, H, S, D], and who computes on them."""

    def __init__(self, shape: Shape, order: str):
        import torch

        self.shape, self.order = shape, order
        self.dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[shape.dtype]
        self.scale = shape.d**-0.5
        torch.manual_seed(0)
        self.q = self.random(shape.heads, shape.d)
        self.k = self.random(shape.kv_heads, shape.d)
        self.v = self.random(shape.kv_heads, shape.dv)
        self.do = self.random(shape.heads, shape.dv)
        self.out = self.poisoned(self.do)
        self.lse = torch.full(
            (shape.batch, shape.heads, shape.length), float("nan"), device="cuda"
        )

    def random(self, heads: int, d: int) -> Any:
        """In the chosen order in memory."""
        import torch

        shape = self.shape
        if self.order == "bhsd":
            return torch.randn(
                shape.batch, heads, shape.length, d, device="cuda", dtype=self.dtype
            )
        memory = torch.randn(
            shape.batch, shape.length, heads, d, device="cuda", dtype=self.dtype
        )
        return memory.transpose(1, 2)

    @staticmethod
    def poisoned(like: Any, dtype: Any = None) -> Any:
        import torch

        return torch.full_like(like, float("nan"), dtype=dtype)

    def prepare(self, artifacts: Artifacts) -> Optional[str]:
        """Runs ours once; says what is wrong with its results, if anything."""
        import torch

        # Our buffers are [B, S, H, D], whatever the strides.
        views = [x.transpose(1, 2) for x in (self.q, self.k, self.v, self.out)]
        forward = artifacts.load(self.shape.forward_variant)
        self.run = lambda: forward.launch(*views, self.lse, self.scale)
        self.run()
        torch.cuda.synchronize()
        fault = self.check_forward()
        if fault or not self.shape.backward:
            return fault
        self.gradients = [self.poisoned(x) for x in (self.q, self.k, self.v)]
        variants = self.shape.backward_variants
        if len(variants) > 1:
            keys = self.k.shape[0] * self.k.shape[1] * self.k.shape[2]
            properties = torch.cuda.get_device_properties("cuda")
            chosen = choose_kv_sum(keys, properties.multi_processor_count)
            variants = {chosen: variants[chosen]}
        ((kv, variant),) = variants.items()
        backward = artifacts.load(variant)
        tensors = [self.q, self.k, self.v, self.out, self.do, *self.gradients]
        tensors = [x.transpose(1, 2) for x in tensors]
        inputs, gradients = tensors[:5], tensors[5:]
        rows = accumulator_rows(self.shape.length)
        dq_acc = torch.full(
            (self.shape.batch, rows, self.shape.heads, self.shape.d),
            float("nan"),
            device="cuda",
        )
        stats = torch.full(
            stats_shape(self.lse.shape), float("nan"), device="cuda"
        )
        scratch = [stats, dq_acc]
        if kv == "separate":
            sizes = (self.shape.batch, self.shape.length, self.shape.heads)
            for d in (self.shape.d, self.shape.dv):
                scratch.append(torch.full((*sizes, d), float("nan"), device="cuda"))
        self.run = lambda: backward.launch(
            *inputs, self.lse, *gradients, *scratch, self.scale
        )
        self.run()
        torch.cuda.synchronize()
        return self.check_gradients()

    def samples(self) -> Any:
        """The first and the last group of heads: its entry, a range of key heads
        and the heads of them."""
        last = (self.shape.batch - 1, self.shape.kv_heads - 1)
        group = self.shape.heads // self.shape.kv_heads
        for entry, kv_head in dict.fromkeys(((0, 0), last)):
            heads = slice(kv_head * group, (kv_head + 1) * group)
            yield slice(entry, entry + 1), slice(kv_head, kv_head + 1), heads

    def check_forward(self) -> Optional[str]:
        from tile import testing

        if not (self.out.isfinite().all() and self.lse.isfinite().all()):
            return "not everything was written"
        for entry, kv, heads in self.samples():
            q, out = (x[entry, heads].transpose(1, 2) for x in (self.q, self.out))
            k, v = (x[entry, kv].transpose(1, 2) for x in (self.k, self.v))
            inputs = (q, k, v, self.scale, self.shape.causal)
            reference, sums = testing.attention(*inputs)
            low, _ = testing.attention(*inputs, dtype=out.dtype)
            result = testing.compare(out, reference, low)
            if not result.ok:
                return f"off by {result.error:.3g}, allowed {result.tolerance:.3g}"
            result = testing.compare_lse(self.lse[entry, heads], sums)
            if not result.ok:
                return f"LSE off by {result.error:.3g}"
        return None

    def check_gradients(self) -> Optional[str]:
        from tile import testing

        if not all(x.isfinite().all() for x in self.gradients):
            return "not everything was written"
        for entry, kv, heads in self.samples():
            q, do, dq = (
                x[entry, heads].transpose(1, 2)
                for x in (self.q, self.do, self.gradients[0])
            )
            k, v, dk, dv = (
                x[entry, kv].transpose(1, 2)
                for x in (self.k, self.v, *self.gradients[1:])
            )
            inputs = (q, k, v, do, self.scale, self.shape.causal)
            reference = testing.gradients(*inputs)
            low = testing.gradients(*inputs, dtype=dq.dtype)
            ours = {"dq": dq, "dk": dk, "dv": dv}
            for (name, found), exact, rough in zip(ours.items(), reference, low):
                result = testing.compare(found, exact, rough)
                if not result.ok:
                    return (
                        f"{name} off by {result.error:.3g},"
                        f" allowed {result.tolerance:.3g}"
                    )
        return None

    def make_peer(self, name: str) -> Optional[Callable[[], Any]]:
        """A call of one of PyTorch's back ends, None where it refuses the input."""
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention

        backend = getattr(SDPBackend, name, None)
        if backend is None:
            return None
        options = {"is_causal": self.shape.causal, "scale": self.scale}
        if self.shape.kv_heads != self.shape.heads:
            options["enable_gqa"] = True

        def forward(*inputs: Any) -> Any:
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(*inputs, **options)

        inputs = [self.q, self.k, self.v]
        try:
            if not self.shape.backward:
                forward(*inputs)
                return lambda: forward(*inputs)
            inputs = [x.detach().requires_grad_() for x in inputs]
            out = forward(*inputs)

            def backward() -> Any:
                return torch.autograd.grad(out, inputs, self.do, retain_graph=True)

            backward()
            return backward
        except RuntimeError as error:
            print(f"{name} is left out: {str(error).splitlines()[0]}")
            return None


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
