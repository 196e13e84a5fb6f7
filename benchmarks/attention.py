"""Measures attention and its gradients against other implementations on one GPU.

The contenders are tile, cuDNN and FlashAttention-2 of PyTorch, FlexAttention
compiled for each shape, FlashAttention-3 where the environment variable FA3 names
the folder of its shared object, FlashAttention-4 where the package flash-attn-4 is
installed, and optionally the hand-written kernels of a folder. All of them run on
the same tensors in one process. Each round calls every contender once, in random
order, so that clock and temperature affect all of them equally. A time is the median
of CUDA events.

Every result is checked against float64 in the same run, on the first and the last
group of heads. Our output tensors hold NaN before the first call.

A matrix product with inner dimension D counts 2 D operations for each pair of
query and key; a causal mask halves the pairs. Forward has two products, backward
has five. The time of backward includes all its kernels.

    attention.py                                                # compile and measure
    attention.py --pass backward --seeds                        # known hard shapes
    FA3=DIR attention.py --peers cudnn fa3                      # only these peers
    attention.py -d 96 192/128 -n 32 --kv-heads 4               # DV may differ from D
    attention.py --compile-only --artifacts DIR --chip sm_90a   # needs no GPU
    attention.py --artifacts DIR --save results.json            # needs no compiler
    attention.py --plot-from results.json --plot lengths.png    # needs neither
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import fa3  # noqa: E402
import fa4  # noqa: E402
import gpu  # noqa: E402
import plot  # noqa: E402
from results import (  # noqa: E402
    MAIN_SCOPE,
    OURS_MAIN,
    SPIKE,
    SPIKE_MAIN,
    Measurement,
    RateTable,
    Results,
    Row,
    markdown,
    summary,
)
from shapes import SEEDS, Shape  # noqa: E402
from tile import chip_for  # noqa: E402
from tile.programs import Artifacts  # noqa: E402

if TYPE_CHECKING:
    from spikes import Spikes

#: The other implementations, in the order of the table columns.
PEERS = ("cudnn", "flash", "flex", "fa3", "fa4")

#: A file beside the artifacts with the compile time of each, in seconds.
SECONDS_FILE = "compile-seconds.json"


def main() -> int:
    arguments = parse_arguments()
    if arguments.plot_from:
        return write(arguments, Results.load(Path(arguments.plot_from)))
    shapes = list(make_shapes(arguments))
    if arguments.compile_only:
        return compile_all(Path(arguments.artifacts), shapes, arguments.chip)
    if gpu.is_missing():
        return 0
    import torch

    if arguments.artifacts:
        return benchmark(arguments, shapes, Path(arguments.artifacts))
    with tempfile.TemporaryDirectory(prefix="tile-") as folder:
        chip = arguments.chip or chip_for(torch.cuda.get_device_capability())
        if compile_all(Path(folder), shapes, chip):
            return 1
        return benchmark(arguments, shapes, Path(folder))


def is_present(peer: str) -> bool:
    """Returns whether the machine has what a peer needs beside PyTorch."""
    if peer == "fa3":
        return fa3.is_given()
    return peer != "fa4" or fa4.is_installed()


def head_sizes(text: str) -> Tuple[int, int]:
    """Returns the head sizes D and DV of a text D or D/DV."""
    found = re.fullmatch(r"(\d+)(?:/(\d+))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no head size like 128 or 192/128")
    return int(found[1]), int(found[2] or found[1])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--artifacts", metavar="DIR", help="folder of compiled kernels")
    parser.add_argument(
        "--compile-only",
        action="store_true",
        help="do not measure; needs --artifacts and --chip",
    )
    parser.add_argument("--chip", help="chip to compile for; default: the local GPU")
    parser.add_argument(
        "--pass",
        dest="passes",
        nargs="+",
        default=["forward"],
        choices=["forward", "backward"],
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        default=[name for name in PEERS if is_present(name)],
        choices=PEERS,
        help="default: all; fa3 only if FA3 names its folder, fa4 only if its package"
        " is installed",
    )
    parser.add_argument(
        "--spikes",
        metavar="DIR",
        help="folder with hand-written kernels: forward128 and backward, each as .cubin"
        " or .ptx with an .ll file; backward is a main kernel and is compared with"
        " our main kernel",
    )
    shapes = parser.add_argument_group("shapes")
    shapes.add_argument(
        "--seeds",
        action="store_true",
        help="known hard shapes instead of the sizes below",
    )
    shapes.add_argument(
        "-d",
        type=head_sizes,
        nargs="+",
        default=[(64, 64), (128, 128)],
        metavar="D[/DV]",
        help="head size of Q and K, and of V if it differs",
    )
    shapes.add_argument("-s", type=int, nargs="+", default=[4096], help="length")
    shapes.add_argument("-b", type=int, default=4, help="batch size")
    shapes.add_argument("-n", type=int, default=16, help="query heads")
    shapes.add_argument("--kv-heads", type=int, help="heads of K and V; default: -n")
    shapes.add_argument(
        "--tokens", type=int, help="tokens of a batch; the batch size is this / length"
    )
    shapes.add_argument(
        "--width", type=int, help="columns of all heads; there are this / head size"
    )
    shapes.add_argument(
        "--mask", nargs="+", default=["full", "causal"], choices=["full", "causal"]
    )
    shapes.add_argument(
        "--dtype", nargs="+", default=["bf16"], choices=["bf16", "f16"]
    )
    shapes.add_argument(
        "--order",
        default="bhsd",
        choices=["bhsd", "bshd"],
        help="memory layout of all tensors",
    )
    parser.add_argument("--rounds", type=int, default=50, help="timed; at least 30")
    parser.add_argument("--warmup", type=int, default=10, help="untimed rounds before")
    parser.add_argument(
        "--no-flush",
        action="store_true",
        help="do not flush the second-level cache before each call",
    )
    files = parser.add_argument_group("files")
    files.add_argument("--save", metavar="JSON", help="all results, for --plot-from")
    files.add_argument("--table", metavar="MD", help="the results as Markdown tables")
    files.add_argument("--plot", metavar="PNG", help="a plot of the rates by length")
    files.add_argument(
        "--plot-from",
        metavar="JSON",
        help="measure nothing; write --plot and --table from saved results",
    )
    arguments = parser.parse_args()
    if arguments.compile_only and not (arguments.artifacts and arguments.chip):
        parser.error("--compile-only needs --artifacts and --chip")
    if arguments.rounds < 30:
        parser.error("--rounds must be at least 30")
    if arguments.plot_from and not (arguments.plot or arguments.table):
        parser.error("--plot-from needs --plot or --table")
    if arguments.tokens and any(arguments.tokens % s for s in arguments.s):
        parser.error("--tokens must be a multiple of every length")
    if arguments.width and any(arguments.width % d for d, _ in arguments.d):
        parser.error("--width must be a multiple of every head size")
    missing = plot.missing_requirement()
    if arguments.plot and missing:
        parser.error(missing)
    return arguments


def make_shapes(arguments: argparse.Namespace) -> Iterator[Shape]:
    for name in arguments.passes:
        backward = name == "backward"
        if arguments.seeds:
            for seed in SEEDS:
                yield Shape(*seed, backward)
            continue
        for (d, dv), s, mask, dtype in product(
            arguments.d, arguments.s, arguments.mask, arguments.dtype
        ):
            batch = arguments.tokens // s if arguments.tokens else arguments.b
            heads = arguments.width // d if arguments.width else arguments.n
            sizes = (batch, heads, arguments.kv_heads or heads, s, d, dv)
            yield Shape(*sizes, mask == "causal", dtype, backward)


def compile_all(folder: Path, shapes: List[Shape], chip: str) -> int:
    """Compiles all variants one after the other and saves the time of each."""
    artifacts = Artifacts(folder)
    seconds: Dict[str, float] = {}
    status = 0
    for variant in dict.fromkeys(v for shape in shapes for v in shape.variants):
        begin = time.perf_counter()
        failures = artifacts.compile([variant], chip)
        seconds[variant.name] = time.perf_counter() - begin
        for message in failures.values():
            print(f"FAILED {variant.name}: {message}")
            status = 1
    text = json.dumps(seconds, indent=1)
    (folder / SECONDS_FILE).write_text(text, encoding="utf-8")
    return status


def benchmark(arguments: argparse.Namespace, shapes: List[Shape], folder: Path) -> int:
    import torch
    from spikes import Spikes

    times = folder / SECONDS_FILE
    seconds = json.loads(times.read_text(encoding="utf-8")) if times.exists() else {}
    artifacts = Artifacts(folder)
    results = Results(
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__},"
        f" cuDNN {torch.backends.cudnn.version()},"
        f" {arguments.order}, median of {arguments.rounds} rounds,"
        f" {'warm' if arguments.no_flush else 'flushed'} cache"
    )
    spikes = Spikes(Path(arguments.spikes)) if arguments.spikes else None
    by_hand = []
    if spikes and "forward" in arguments.passes:
        by_hand.append(SPIKE)
    if spikes and "backward" in arguments.passes:
        by_hand += [OURS_MAIN, SPIKE_MAIN]
        print(MAIN_SCOPE)
    table = RateTable(["ours", *arguments.peers, *by_hand])
    print(results.machine)
    print(table.title)
    wrong = 0
    for shape in shapes:
        row, fault = measure(arguments, shape, artifacts, seconds, spikes)
        results.rows.append(row)
        wrong += bool(fault)
        print(f"{table.line(row)}{'  WRONG: ' + fault if fault else ''}", flush=True)
        for name in arguments.peers:
            other = row.measurements.get(name)
            if other and not other.error <= 1:
                print(f"{name} is wrong: its error is {other.error:.3g} times the tolerance")
    for text in summary(results):
        print(text)
    print("TFLOP/s; all our results are right" if not wrong else "some are WRONG")
    return write(arguments, results) or (1 if wrong else 0)


def write(arguments: argparse.Namespace, results: Results) -> int:
    """Writes the files that the options ask for."""
    if arguments.save:
        results.save(Path(arguments.save))
    if arguments.table:
        Path(arguments.table).write_text(markdown(results), encoding="utf-8")
    if arguments.plot:
        plot.save_plot(results, Path(arguments.plot))
    return 0


def measure(
    arguments: argparse.Namespace,
    shape: Shape,
    artifacts: Artifacts,
    seconds: Dict[str, float],
    spikes: "Spikes | None",
) -> Any:
    """Returns a row of results, and a description of a wrong result or None."""
    from contenders import make_contenders
    from problem import Problem
    from timing import time_in_turn

    problem = Problem(shape, arguments.order)
    contenders = make_contenders(problem, artifacts, seconds, arguments.peers, spikes)
    errors = {name: problem.error(c.check()) for name, c in contenders.items()}
    fault = contenders["ours"].fault
    for name in ("ours", OURS_MAIN, SPIKE, SPIKE_MAIN):
        if name in errors and not errors[name] <= 1:
            fault = f"the error of {name} is {errors[name]:.3g} times the tolerance"
    row = Row(shape)
    times = time_in_turn(
        {name: contender.run for name, contender in contenders.items()},
        arguments.rounds,
        arguments.warmup,
        flush=not arguments.no_flush,
    )
    for name, milliseconds in times.items():
        row.measurements[name] = Measurement(
            milliseconds,
            shape.operations / (milliseconds * 1e9),
            errors[name],
            contenders[name].compile_seconds,
            contenders[name].load_seconds,
        )
    return row, fault


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
