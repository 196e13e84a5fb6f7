"""The attention test on the executor: groups of cases in several processes."""

from __future__ import annotations

import importlib.util
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from typing import Dict, List, Optional, Sequence, Tuple

from cases import Case
from tile import ArgumentError, CompileError, ExecutionError
from tile.programs import Variant


def missing_requirement() -> Optional[str]:
    """Returns why cases cannot run here, None if they can."""
    if importlib.util.find_spec("numpy") is None:
        return "no NumPy"
    return None


def run_group(
    chip: str, variant: Variant, cases: Sequence[Tuple[int, Case]]
) -> List[Tuple[int, str, str, Dict[str, Tuple[float, float]]]]:
    """Compiles a variant and runs its cases; returns one result for each."""
    from numpy_check import run_case
    from tile.executor import Program

    try:
        program = Program(variant.ir(), chip, name=variant.name)
    except CompileError as error:
        return [(index, "failed", str(error), {}) for index, _ in cases]
    results = []
    for index, case in cases:
        try:
            outcome = run_case(case, program, index)
        except (ArgumentError, ExecutionError) as error:
            results.append((index, "failed", str(error), {}))
            continue
        status = "failed" if outcome.faults else "passed"
        results.append((index, status, "; ".join(outcome.faults), outcome.errors))
    return results


def run_chips(chips: Dict[str, Sequence[Tuple[int, Case]]], jobs: int):
    """Yields each chip and an iterator over the results of its cases, in any order."""
    # Each process computes on one core.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("TILE_CPU_THREADS", "1")
    with ProcessPoolExecutor(jobs) as pool:
        pending: Dict[str, list] = {}
        for chip, cases in chips.items():
            groups: Dict[Variant, List[Tuple[int, Case]]] = {}
            for index, case in cases:
                groups.setdefault(case.variant, []).append((index, case))
            pending[chip] = [
                pool.submit(run_group, chip, variant, group)
                for variant, group in groups.items()
            ]
        for chip, futures in pending.items():
            yield chip, chain.from_iterable(future.result() for future in futures)
