"""Compares what a run wrote with what is expected."""

from __future__ import annotations

import dataclasses
from typing import List, Tuple

import numpy as np

from .memory import Memory
from .values import decode, is_float


@dataclasses.dataclass
class Coverage:
    """How many elements were compared, and how sharply."""

    elements: int = 0
    exact: int = 0
    tight: int = 0
    unknown: int = 0


def judge(memories: List[Memory], coverage: Coverage) -> List[Tuple[str, str]]:
    """What is wrong after a run: pairs of a kind and a description."""
    faults: List[Tuple[str, str]] = []
    for memory in memories:
        name, dtype = memory.buffer.name, memory.buffer.dtype
        after, before = memory.storage, memory.before
        places = memory.start + memory.places
        touched = np.zeros(after.shape, bool)
        touched[places[memory.written]] = True
        outside = (after != before) & ~touched
        if outside.any():
            at = int(np.flatnonzero(outside)[0]) - memory.start
            kind = "outside" if memory.buffer.output or memory.atomic else "input"
            faults.append(
                (kind, f"{int(outside.sum())} elements outside of what '{name}' is to hold"
                       f" were written, the first at {at} from its begin")
            )
        if not memory.written.any():
            continue
        got = decode(after[places], dtype)
        if not memory.atomic:
            left = memory.written & (after[places] == before[places])
            left &= got != memory.v
            if left.any():
                faults.append(("unwritten", describe(memory, left, "are not written")))
                continue
        bound = memory.e
        with np.errstate(invalid="ignore"):
            if is_float(dtype):
                near = np.abs(got - memory.v) <= bound
                near |= got == memory.v
                unknown = np.isinf(bound)
            else:
                near = got == memory.v
                unknown = bound > 0
        wrong = memory.written & ~near & ~unknown
        coverage.elements += int(memory.written.sum())
        coverage.unknown += int((memory.written & unknown).sum())
        coverage.exact += int((memory.written & (bound == 0)).sum())
        scale = np.abs(memory.v) + 1e-3
        coverage.tight += int((memory.written & (bound <= 0.02 * scale)).sum())
        if wrong.any():
            first = tuple(int(i[0]) for i in np.nonzero(wrong))
            text = describe(memory, wrong, "are wrong")
            faults.append(
                ("wrong", f"{text}: {got[first]:.9g} at {first}, expected {memory.v[first]:.9g}"
                          f" within {bound[first]:.3g}")
            )
    return faults


def describe(memory: Memory, where: np.ndarray, what: str) -> str:
    first = tuple(int(i[0]) for i in np.nonzero(where))
    return (
        f"{int(where.sum())} of {int(memory.written.sum())} elements of"
        f" '{memory.buffer.name}' {what}, the first at {first}"
    )
