"""Runs one case of the attention test on the executor. Needs NumPy.

check.py runs such a case on a GPU and judges it by the same rule.
"""

from __future__ import annotations

from typing import Iterator, List, Tuple

import numpy as np

from cases import GRID_ROWS, Case
from outcome import LSE_TOLERANCE, PAD_COLUMNS, PAD_ROWS, Outcome
from tile.executor import Program


def round_to(values: np.ndarray, dtype: str) -> np.ndarray:
    """Returns `values` rounded to the type, to nearest even, as float32."""
    single = values.astype(np.float32)
    if dtype == "f16":
        return single.astype(np.float16).astype(np.float32)
    return decode(encode(single, dtype), dtype).astype(np.float32)


def encode(values: np.ndarray, dtype: str) -> np.ndarray:
    """Returns `values` in the type: float16, or the bits of bf16."""
    if dtype == "f16":
        return values.astype(np.float16)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def decode(array: np.ndarray, dtype: str) -> np.ndarray:
    """Returns the float64 values of an array that encode() returned."""
    if dtype == "f16":
        return array.astype(np.float64)
    return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


class Padded:
    """An array inside a larger one of NaN.

    `view` is the array, [B, S, H, D] or, without `d`, [B, H, S]; of a packed
    batch B is 1 and S all tokens, and `argument` lacks B.
    """

    def __init__(self, case: Case, rows: int, heads: int, d: int, dtype: str):
        self.rows, self.d, self.order, self.dtype = rows, d, case.order, dtype
        padded, batch = rows + PAD_ROWS, 1 if case.variant.packed else case.batch
        if not d:
            shape = (batch, heads, padded)
        elif case.order == "bshd":
            shape = (batch, padded, heads, d)
        else:
            shape = (batch, heads, padded, d + PAD_COLUMNS)
        blank = np.full(shape, np.nan, np.float32)
        self.storage = aligned(blank if dtype == "f32" else encode(blank, dtype))
        self.view = self._view(self.storage)
        self.argument = self.view[0] if case.variant.packed else self.view

    def is_intact(self) -> bool:
        """Returns whether all elements around the array are still NaN."""
        copy = self.storage.copy()
        self._view(copy)[...] = self.storage.flat[-1]
        values = copy if self.dtype == "f32" else decode(copy, self.dtype)
        return bool(np.isnan(values).all())

    def values(self) -> np.ndarray:
        if self.dtype == "f32":
            return self.view.astype(np.float64)
        return decode(np.ascontiguousarray(self.view), self.dtype)

    def _view(self, storage: np.ndarray) -> np.ndarray:
        if not self.d:
            return storage[:, :, : self.rows]
        if self.order == "bshd":
            return storage[:, : self.rows]
        return storage[:, :, : self.rows, : self.d].transpose(0, 2, 1, 3)


def aligned(array: np.ndarray) -> np.ndarray:
    """Returns a copy that begins at a multiple of 256 bytes."""
    memory = np.empty(array.nbytes + 256, np.uint8)
    start = -memory.ctypes.data % 256
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, seen: np.ndarray, dtype=None
) -> Tuple[np.ndarray, np.ndarray]:
    """Computes attention in float64, or rounded to `dtype` after every step.

    Returns the output and the logarithm of each row's sum; a row that sees no
    key is 0, with the logarithm -inf.
    """

    def step(values: np.ndarray) -> np.ndarray:
        return values if dtype is None else round_to(values, dtype)

    group = q.shape[2] // k.shape[2]
    queries = q.transpose(0, 2, 1, 3)
    keys, rows = (np.repeat(x, group, axis=2).transpose(0, 2, 1, 3) for x in (k, v))
    scores = step(queries @ step(keys * scale).swapaxes(-1, -2))
    scores = np.where(seen, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    weights = np.exp(scores - largest)
    sums = weights.sum(axis=-1, keepdims=True)
    weights = step(weights / np.where(sums == 0, 1, sums))
    with np.errstate(divide="ignore"):
        lse = np.log(sums) + largest
    return step(weights @ rows).transpose(0, 2, 1, 3), lse[..., 0]


def visible(case: Case, sq: int, sk: int) -> np.ndarray:
    """Returns whether query i sees key j, [sq, sk]; aligned at the bottom right."""
    left, right = case.window or (-1, -1)
    if case.variant.causal:
        right = 0 if right < 0 else min(right, 0)
    distance = np.arange(sk)[None] - np.arange(sq)[:, None] - (sk - sq)
    seen = np.ones(distance.shape, bool)
    if left >= 0:
        seen &= distance >= -left
    if right >= 0:
        seen &= distance <= right
    return seen


def sequences(case: Case) -> Iterator[Tuple[slice, slice]]:
    """Yields the rows of the queries and of the keys of each sequence."""
    if not case.variant.packed:
        yield slice(0, case.sq), slice(0, case.sk)
        return
    sq = sk = 0
    for queries, keys in case.lengths:
        yield slice(sq, sq + queries), slice(sk, sk + keys)
        sq, sk = sq + queries, sk + keys


def attention_of_all(
    case: Case, q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, dtype=None
) -> Tuple[np.ndarray, np.ndarray]:
    """Returns the results of attention() for all sequences, concatenated."""
    results = []
    for rows, keys in sequences(case):
        sq, sk = rows.stop - rows.start, keys.stop - keys.start
        # Without keys, one key that no query sees keeps the shapes valid.
        inputs = [x[:, keys] if sk else np.zeros_like(x[:, :1]) for x in (k, v)]
        seen = visible(case, sq, sk) if sk else np.zeros((sq, 1), bool)
        results.append(attention(q[:, rows], *inputs, scale, seen, dtype))
    outs, sums = zip(*results)
    return np.concatenate(outs, axis=1), np.concatenate(sums, axis=2)


def run_case(case: Case, program: Program, seed: int) -> Outcome:
    """Runs a case and judges its outputs."""
    variant, dtype = case.variant, case.variant.dtype
    generator = np.random.default_rng(seed)
    scale = variant.d**-0.5
    *_, (rows, keys) = sequences(case)
    sq, sk = rows.stop, keys.stop
    sizes = (
        (sq, case.heads, variant.d),
        (sk, case.kv_heads, variant.d),
        (sk, case.kv_heads, variant.dv),
    )
    inputs = [Padded(case, *size, dtype) for size in sizes]
    for tensor in inputs:
        tensor.view[...] = encode(
            generator.standard_normal(tensor.view.shape, np.float32), dtype
        )
    before = [tensor.storage.copy() for tensor in inputs]
    outputs = {"out": Padded(case, sq, case.heads, variant.dv, dtype)}
    if variant.lse:
        outputs["lse"] = Padded(case, sq, case.heads, 0, "f32")
    arguments = [t.argument for t in (*inputs, *outputs.values())]
    if variant.parts:
        arguments += [
            aligned(np.full((case.parts, *t.argument.shape), np.nan, np.float32))
            for t in outputs.values()
        ]
    if variant.packed:
        ends = np.cumsum([(0, 0), *case.lengths], axis=0, dtype=np.int32)
        arguments += [np.ascontiguousarray(side) for side in ends.T] + [GRID_ROWS]
    program(*arguments, scale, **case.sides)

    faults: List[str] = []
    for name, tensor in outputs.items():
        if not tensor.is_intact():
            faults.append(f"wrote outside {name}")
    for name, tensor, old in zip("qkv", inputs, before):
        if tensor.storage.tobytes() != old.tobytes():
            faults.append(f"changed {name}")

    q, k, v = (tensor.values() for tensor in inputs)
    reference, sums = attention_of_all(case, q, k, v, scale)
    low, _ = attention_of_all(case, q, k, v, scale, dtype)
    out = outputs["out"].values()
    rounded = round_to(reference, dtype)
    slack = round_to(round_to(rounded + np.float32(0.3), dtype) - np.float32(0.3), dtype)
    errors = {
        "out": (
            largest(out - reference),
            2 * largest(low - reference) + 2 * largest(slack - rounded),
        )
    }
    empty = np.isneginf(sums)
    if variant.lse:
        lse = outputs["lse"].values()
        if not np.array_equal(np.isneginf(lse), empty):
            faults.append("lse is not -inf where a row sees no key, or elsewhere")
        difference = np.where(empty, 0, np.where(empty, 0, lse) - np.where(empty, 0, sums))
        errors["lse"] = (largest(difference), LSE_TOLERANCE)
    for name, (error, tolerance) in errors.items():
        # Also false for NaN.
        if not error <= tolerance:
            faults.append(f"{name} is off by {error:.3g}, allowed {tolerance:.3g}")
    if not (out.transpose(0, 2, 1, 3)[empty] == 0).all():
        faults.append("rows that see no key are not 0")
    return Outcome(faults, errors)


def largest(values: np.ndarray) -> float:
    return float(np.abs(values).max())
