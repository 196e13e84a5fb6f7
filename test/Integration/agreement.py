#!/usr/bin/env python3
"""Agreement of the executor with a GPU on every kernel of the attention test.

    agreement.py --save DIR      # on the machine with the compiler; needs NumPy
    agreement.py --compare DIR   # on the machine with the GPU; needs NumPy and PyTorch

The first command compiles every kernel of the grid, runs it once on the executor,
and writes PTX, manifests and results to DIR. The second command draws the inputs
again from their seeds; the inputs of a backward pass include the executor's o and
lse. It prints a table of the differences, in absolute numbers and relative to the
error that attention.py accepts.
"""

from __future__ import annotations

import argparse
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

from cases import GRID_ROWS, ORDERS, Case, all_cases  # noqa: E402
from tile.programs import Artifacts  # noqa: E402

LENGTHS = ((77, 131),)
PACKED_LENGTHS = ((77, 131), (0, 57), (33, 0), (5, 5))
SOFTCAP = 15.0
#: The outputs of a forward and of a backward pass that are compared.
FORWARD, BACKWARD = ("o", "lse"), ("dq", "dk", "dv", "dsink")


def kernels() -> List[Tuple[int, Case]]:
    """Returns a seed and a small case for every kernel.

    Cases with equal forward variants have equal inputs.
    """
    seeds: Dict = {}
    windows: Dict = {}
    rows = []
    for case in all_cases():
        seed = seeds.setdefault(case.variant, len(seeds))
        window = windows.setdefault(case.variant, case.window)
        small = Case(
            case.variant,
            2,
            1,
            PACKED_LENGTHS if case.variant.packed else LENGTHS,
            ORDERS[seed % 2],
            window=window,
        )
        for row in (small, replace(small, backward=case.backward)):
            if (seed, row) not in rows:
                rows.append((seed, row))
    return sorted(rows, key=lambda row: (row[1].backward is not None, row[0]))


def path_of(folder: Path, case: Case) -> Path:
    return folder / f"{case.variants[-1].name}.npz"


# ---------------------------------------------------------------------------
# On the executor
# ---------------------------------------------------------------------------


def save(folder: Path, chip: str, jobs: int, rows: List[Tuple[int, Case]]) -> int:
    variants = list(dict.fromkeys(v for _, case in rows for v in case.variants))
    failures = Artifacts(folder).compile(variants, chip, jobs)
    for variant, message in failures.items():
        print(f"FAILED {variant.name}: {message}")
    with ProcessPoolExecutor(jobs) as pool:
        for backward in (False, True):
            pending = [
                pool.submit(run_on_executor, folder, chip, seed, case)
                for seed, case in rows
                if bool(case.backward) == backward
                and not any(variant in failures for variant in case.variants)
            ]
            for future in pending:
                print(f"ran {future.result()}", flush=True)
    return 1 if failures else 0


def run_on_executor(folder: Path, chip: str, seed: int, case: Case) -> str:
    from numpy_check import aligned, encode
    from tile.executor import Program

    variant, rng = case.variant, np.random.default_rng(seed)
    heads = {"q": (0, case.heads, variant.d), "v": (1, case.kv_heads, variant.dv)}
    heads["k"] = (1, case.kv_heads, variant.d)
    heads["o"] = heads["do"] = (0, case.heads, variant.dv)
    heads["dq"], heads["dk"], heads["dv"] = heads["q"], heads["k"], heads["v"]

    def blank(name: str) -> np.ndarray:
        if name == "dsink":
            return np.full(case.heads, np.nan, np.float32)
        side, count, d = heads.get(name, (0, case.heads, 0))
        lengths = [length[side] for length in case.lengths]
        batch = () if variant.packed else (case.batch,)
        rows = sum(lengths) if variant.packed else lengths[0]
        shape = (*batch, rows, count, d) if d else (*batch, count, rows)
        values = np.full(shape, np.nan, np.float32)
        if name == "lse":
            return aligned(values)
        return aligned(encode(values, variant.dtype))

    def drawn(name: str) -> np.ndarray:
        array = blank(name)
        _, count, d = heads[name]
        for part in sequences(case, array, heads[name][0]):
            values = rng.standard_normal((1, part.shape[-3], count, d), np.float32)
            part[...] = encode(values, variant.dtype).reshape(part.shape)
        return array

    arguments = {name: drawn(name) for name in ("q", "k", "v")}
    arguments.update(case.sides, scale=variant.d**-0.5)
    if variant.sink:
        sink = rng.standard_normal((case.heads,), np.float32)
        arguments["sink"] = sink if variant.sink == "f32" else encode(sink, variant.sink)
    if variant.softcap:
        arguments["softcap"] = SOFTCAP
    if variant.packed:
        for side, name in enumerate("qk"):
            starts = accumulate((n[side] for n in case.lengths), initial=0)
            arguments[f"cu_{name}"] = np.array(list(starts), np.int32)
            arguments[f"max_{name}"] = GRID_ROWS
    if case.backward:
        arguments["do"] = drawn("do")
        forward = np.load(path_of(folder, replace(case, backward=None)))
        arguments.update(o=aligned(forward["o"]), lse=aligned(forward["lse"]))
    program = Program(case.variants[-1].ir(), chip, name=case.variants[-1].name)
    names = [parameter.name for parameter in program.parameters]
    for name in names:
        if name in heads or name in ("lse", "dsink"):
            arguments.setdefault(name, blank(name))
    shapes = {n: a.shape for n, a in arguments.items() if isinstance(a, np.ndarray)}
    for name, buffer in program.scratch(shapes).items():
        arguments[name] = aligned(np.full(buffer.shape, np.nan, np.float32))
    program(jobs=1, **{name: arguments[name] for name in names})
    kept = BACKWARD if case.backward else FORWARD
    np.savez_compressed(
        path_of(folder, case), **{n: arguments[n] for n in kept if n in arguments}
    )
    return case.name


def sequences(case: Case, array, side: int) -> list:
    """Returns the sequences of a packed array, or the whole array."""
    if not case.variant.packed:
        return [array]
    starts = accumulate((n[side] for n in case.lengths), initial=0)
    return [array[b : b + n[side]] for b, n in zip(starts, case.lengths)]


# ---------------------------------------------------------------------------
# On the GPU
# ---------------------------------------------------------------------------

Difference = Tuple[float, float]


def run_on_gpu(folder: Path, seed: int, case: Case) -> Dict[str, Difference]:
    """Returns the differences from the executor's results, and the errors allowed."""
    import torch

    from check import Padded, Run
    from tile.testing import LSE_TOLERANCE

    class SameInputs(Run):
        """A run with the inputs of the executor."""

        def _draw(self, shape):
            self.rng = getattr(self, "rng", None) or np.random.default_rng(seed)
            return torch.from_numpy(self.rng.standard_normal(shape, np.float32)).cuda()

    def tensors(name: str, saved: np.ndarray, side: int) -> list:
        """Returns the executor's results in the shapes of Padded.sequences()."""
        if name == "lse":
            result = torch.from_numpy(saved)
        elif case.variant.dtype == "f16":
            result = torch.from_numpy(saved)
        else:
            result = torch.from_numpy(saved.view(np.int16)).view(torch.bfloat16)
        result = result.cuda()
        if not case.variant.packed:
            return [result]
        if name == "lse":
            result = result.transpose(0, 1)
            return [s.transpose(0, 1)[None] for s in sequences(case, result, side)]
        return [s[None] for s in sequences(case, result, side)]

    artifacts = Artifacts(folder)
    run = SameInputs(case, seed)
    forward = np.load(path_of(folder, replace(case, backward=None)))
    results: Dict[str, Padded] = {}
    if not case.backward:
        results = run.forward(artifacts.load(case.variant))
        saved = forward
    else:
        # What Run.forward would have found.
        run.empty = []
        given = {}
        for name in FORWARD:
            d = case.variant.dv if name == "o" else 0
            dtype = run.dtype if d else torch.float32
            given[name] = Padded(case, 0, case.heads, d, dtype)
            for to, value in zip(
                given[name].sequences(), tensors(name, forward[name], 0)
            ):
                to.copy_(value)
        results = run.backward(artifacts.load(case.backward), given)
        saved = np.load(path_of(folder, case))
    if run.faults:
        raise RuntimeError("; ".join(run.faults))

    differences: Dict[str, Difference] = {}
    for name in saved.files:
        if name == "dsink":
            ours = [torch.from_numpy(saved[name]).cuda()]
            theirs = [run.scalars[name]]
        else:
            side = 1 if name in ("dk", "dv") else 0
            ours, theirs = tensors(name, saved[name], side), results[name].sequences()
        worst = 0.0
        for a, b in zip(ours, theirs):
            a, b = a.double(), b.double()
            apart = (a - b).abs()
            apart[(a == b) | (a.isnan() & b.isnan())] = 0  # -inf is -inf
            apart = apart.nan_to_num(nan=float("inf"))
            worst = max(worst, apart.max().item() if apart.numel() else 0.0)
        if name == "lse":
            limit = LSE_TOLERANCE
        else:
            limit = run.comparisons["out" if name == "o" else name].tolerance
        differences[name] = (worst, limit)
    return differences


def compare(folder: Path, jobs: int, rows: List[Tuple[int, Case]]) -> int:
    import multiprocessing

    bad = 0
    # CUDA does not survive a fork.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        pending = [
            (case, pool.submit(run_on_gpu, folder, seed, case)) for seed, case in rows
        ]
        header: Optional[Tuple[str, ...]] = None
        for case, future in pending:
            names = BACKWARD if case.backward else FORWARD
            if names != header:
                header = names
                print("\n| kernel | queries x keys |" + "".join(
                    f" {name} | / limit |" for name in names))
                print("|---|---|" + "---|---|" * len(names))
            size = ", ".join("{} x {}".format(*length) for length in case.lengths)
            row = f"| `{case.variants[-1].name}` | {size} |"
            try:
                differences = future.result()
            except Exception as error:  # noqa: BLE001 - a fault of one case only
                print(f"{row} {type(error).__name__}: {error} |")
                bad += 1
                continue
            for name in names:
                if name not in differences:
                    row += " - | - |"
                    continue
                worst, limit = differences[name]
                bad += not worst <= limit
                row += f" {worst:.1e} | {worst / max(limit, 1e-30):.2f} |"
            print(row, flush=True)
    print(f"\n{len(rows)} kernels, {bad} results beyond their limits")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--save", metavar="DIR", type=Path)
    mode.add_argument("--compare", metavar="DIR", type=Path)
    parser.add_argument("--chip", default="sm_80", help="what to compile for")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help="take matching kernels only"
    )
    arguments = parser.parse_args()
    rows = [
        (seed, case)
        for seed, case in kernels()
        if re.search(arguments.filter, case.variants[-1].name)
    ]
    if arguments.save:
        arguments.save.mkdir(parents=True, exist_ok=True)
        return save(arguments.save, arguments.chip, arguments.jobs, rows)
    return compare(arguments.compare, arguments.jobs, rows)


if __name__ == "__main__":
    sys.exit(main())
