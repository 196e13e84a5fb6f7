"""Measures the tiles that the compiler's cost model chooses for matrix products.

    gemm_model.py                              # the model's first six, all shapes
    gemm_model.py --first 1 --triton           # its choice beside Triton's kernel
    gemm_model.py --also schedules.txt --out results.json
    gemm_model.py --table results.json         # the table of docs/notes/cost-model.md

For each shape, the first candidates of the model for the open extents of
examples/gemm.mlir, cuBLAS and the schedules of a file run in turn on one GPU, on
matrices of normal random numbers; results are checked as in gemm.py. A line of the file
is `MxNxK: schedule`. The output gives predicted and measured times, and how far the
first choice and the best of the first candidates are behind the fastest schedule. The
exit status is 1 if a result is wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import gpu  # noqa: E402
import products  # noqa: E402
import tile  # noqa: E402
from products import Shape, mean  # noqa: E402
from tile import tune  # noqa: E402

#: The shapes of docs/notes/cost-model.md: those of DeepGEMM's tests, and squares.
SHAPES = (
    "4096x4096x4096",
    "8192x8192x8192",
    *products.weights_of((4096, 64, 128, 1024, 8192, 256, 2048)),
)

#: The words of the table for fields of a schedule.
UNITS = {
    "stages": "stages",
    "split": "parts",
    "cluster_split": "in a cluster",
    "stream_k": "blocks",
}

#: The clock in MHz by which predicted cycles become times: that of an H200.
CLOCK = 1755


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", nargs="+", default=SHAPES, metavar="MxNxK")
    parser.add_argument("--first", type=int, default=6, help="candidates of the model")
    parser.add_argument("--also", metavar="FILE", help="schedules beside the model's")
    parser.add_argument("--triton", action="store_true", help="with Triton's kernel")
    parser.add_argument("--clock", type=float, default=CLOCK, metavar="MHZ")
    parser.add_argument("--rounds", type=int, default=30, help="timed rounds")
    parser.add_argument("--warmup", type=int, default=5, help="untimed rounds before")
    parser.add_argument("--out", metavar="FILE", help="write all results as JSON")
    parser.add_argument("--table", metavar="FILE", help="print the table of results")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(json.loads(Path(arguments.table).read_text(encoding="utf-8")))
        return 0
    if gpu.is_missing():
        return 0
    import torch

    text = (ROOT / "examples/gemm.mlir").read_text(encoding="utf-8")
    dtype = products.element_type(text)
    shapes = [Shape.parse(shape) for shape in arguments.shapes]
    chip = tile.compiler.chip_for(torch.cuda.get_device_capability())
    with ThreadPoolExecutor() as pool:
        chosen = list(pool.map(lambda s: rank(text, chip, s, arguments.first), shapes))
    also = read_schedules(arguments.also) if arguments.also else {}
    for candidates, shape in zip(chosen, shapes):
        for schedule in also.get(str(shape), ()):
            candidates.setdefault(schedule, None)
    modules = products.compile_all(text, (s for candidates in chosen for s in candidates))
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {dtype}")
    print(
        f"{'M x N x K':>18} {'predicted':>9} {'measured':>8} {'cuBLAS':>7}"
        f" {'ratio':>6} {'Triton':>6} {'lost':>6} {'best':>6}  first choice; fastest"
    )
    results, wrong = [], 0
    for shape, candidates in zip(shapes, chosen):
        runs = {schedule: products.ours(modules[schedule]) for schedule in candidates}
        if arguments.triton:
            import triton_gemm

            runs["Triton"] = triton_gemm.contender()
        measured = products.measure(runs, shape, dtype, arguments.rounds, arguments.warmup)
        bad = measured.wrong(dtype)
        wrong += len(bad)
        result = {
            "shape": str(shape),
            "cublas": 1e3 * measured.library,
            "triton": 1e3 * measured.times["Triton"] if arguments.triton else None,
            "candidates": [
                {
                    "schedule": schedule,
                    "predicted": cycles and cycles / arguments.clock,
                    "measured": 1e3 * measured.times[schedule],
                }
                for schedule, cycles in candidates.items()
            ],
        }
        results.append(result)
        print(describe(result), flush=True)
        for name in bad:
            print(f"WRONG: {name}: error {measured.errors[name]:.2g}", flush=True)
    if arguments.out:
        Path(arguments.out).write_text(json.dumps(results, indent=1) + "\n")
    summarize(results)
    return 1 if wrong else 0


def rank(text: str, chip: str, shape: Shape, count: int) -> dict:
    """Returns the predicted cycles of the model's first candidates by schedule."""
    found = tune.candidates(text, chip, sizes=shape.sizes, count=count)
    return {candidate.schedule: candidate.cycles for candidate in found}


def read_schedules(path: str) -> dict:
    """Returns the schedules of a file by shape."""
    schedules = defaultdict(list)
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.strip():
            shape, _, schedule = line.partition(":")
            schedules[shape.strip()].append(schedule.strip())
    return schedules


def fastest_of(candidates: list) -> dict:
    return min(candidates, key=lambda candidate: candidate["measured"])


def losses(result: dict) -> tuple:
    """Returns how much longer the first choice, and the best candidate of the model,
    take than the fastest schedule."""
    candidates = result["candidates"]
    least = fastest_of(candidates)["measured"]
    ranked = [c for c in candidates if c["predicted"] is not None]
    return ranked[0]["measured"] / least, fastest_of(ranked)["measured"] / least


def shorten(schedule: str) -> str:
    """Returns a schedule in the words of the table."""
    fields = dict(re.findall(r"(\w+) = (\d+)", schedule))
    text = f"{fields['BM']} x {fields['BN']} x {fields['BK']}, {fields['warps']} warps"
    for field, unit in UNITS.items():
        if field in fields:
            text += f", {fields[field]} {unit}"
    return text


def describe(result: dict) -> str:
    first, best = result["candidates"][0], fastest_of(result["candidates"])
    lost, least = losses(result)
    triton = result["triton"]
    beside = f"{triton / first['measured']:6.3f}" if triton else f"{'':6}"
    return (
        f"{result['shape']:>18} {first['predicted']:9.1f} {first['measured']:8.1f}"
        f" {result['cublas']:7.1f} {result['cublas'] / first['measured']:6.3f} {beside}"
        f" {lost - 1:6.1%} {least - 1:6.1%}  {shorten(first['schedule'])};"
        f" {shorten(best['schedule'])} {best['measured']:.1f}"
    )


def summarize(results: list) -> None:
    """Prints the means over all shapes."""
    firsts = [result["candidates"][0] for result in results]
    ratios = [r["cublas"] / f["measured"] for r, f in zip(results, firsts)]
    best = [r["cublas"] / fastest_of(r["candidates"])["measured"] for r in results]
    lost, least = zip(*map(losses, results))
    errors = [max(f["predicted"] / f["measured"], f["measured"] / f["predicted"])
              for f in firsts]  # fmt: skip
    print(f"first choice against cuBLAS: {mean(ratios):.3f}, least {min(ratios):.3f}")
    print(f"fastest schedule against cuBLAS: {mean(best):.3f}, least {min(best):.3f}")
    print(f"first choice behind the fastest: {mean(lost) - 1:.1%}, most {max(lost) - 1:.1%}")
    print(f"best candidate behind the fastest: {mean(least) - 1:.1%}, most {max(least) - 1:.1%}")
    print(f"predicted times are off by {mean(errors) - 1:.1%}")
    times = [(r["triton"], f["measured"]) for r, f in zip(results, firsts) if r["triton"]]
    if times:
        ahead = [triton / ours for triton, ours in times]
        print(f"first choice against Triton: {mean(ahead):.3f}, least {min(ahead):.3f}")


def print_table(results: list) -> None:
    """Prints the table of docs/notes/cost-model.md."""
    print("| M x N x K | first choice | predicted | measured | fastest | measured"
          " | ratio to fastest | ratio to cuBLAS |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for result in results:
        first, best = result["candidates"][0], fastest_of(result["candidates"])
        cells = (
            " x ".join(result["shape"].split("x")),
            shorten(first["schedule"]),
            f"{first['predicted']:.0f}",
            f"{first['measured']:.0f}",
            shorten(best["schedule"]),
            f"{best['measured']:.0f}",
            f"{best['measured'] / first['measured']:.2f}",
            f"{result['cublas'] / first['measured']:.2f}",
        )
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    gpu.run(main)
