"""The input tensors of a shape and the reference results. Needs PyTorch."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Sequence, Tuple

import torch
from shapes import Shape
from tile import testing

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


class Problem:
    """Input tensors [B, H, S, D] in the chosen memory layout, and reference results
    for the first and the last group of heads."""

    def __init__(self, shape: Shape, order: str):
        self.shape, self.order = shape, order
        self.dtype = DTYPES[shape.dtype]
        self.scale = shape.d**-0.5
        torch.manual_seed(0)
        self.q = self._random(shape.heads, shape.d)
        self.k = self._random(shape.kv_heads, shape.d)
        self.v = self._random(shape.kv_heads, shape.dv)
        self.do = self._random(shape.heads, shape.dv)
        self.references = list(self._references())

    def _random(self, heads: int, d: int) -> torch.Tensor:
        shape = self.shape
        sizes = (shape.batch, heads, shape.length, d)
        if self.order == "bhsd":
            return torch.randn(sizes, device="cuda", dtype=self.dtype)
        sizes = (shape.batch, shape.length, heads, d)
        memory = torch.randn(sizes, device="cuda", dtype=self.dtype)
        return memory.transpose(1, 2)

    def _samples(self) -> Iterator[Tuple[slice, slice, slice]]:
        """Yields the first and the last group of heads, each as slices of the
        batch, of the key heads, and of the query heads."""
        last = (self.shape.batch - 1, self.shape.kv_heads - 1)
        group = self.shape.heads // self.shape.kv_heads
        for entry, kv_head in dict.fromkeys(((0, 0), last)):
            heads = slice(kv_head * group, (kv_head + 1) * group)
            yield slice(entry, entry + 1), slice(kv_head, kv_head + 1), heads

    def _references(self) -> Iterator[Tuple[Any, List[Any], Any]]:
        """Yields, for each sample, its slices, the results in float64 and in the
        type of the inputs, and the log-sum-exp of the rows."""
        for entry, kv, heads in self._samples():
            q, do = (x[entry, heads].transpose(1, 2) for x in (self.q, self.do))
            k, v = (x[entry, kv].transpose(1, 2) for x in (self.k, self.v))
            rest = (self.scale, self.shape.causal)
            place = (entry, kv, heads)
            exact, sums = testing.attention(q, k, v, *rest)
            if not self.shape.backward:
                low, _ = testing.attention(q, k, v, *rest, dtype=self.dtype)
                yield place, [(exact, low)], sums
                continue
            gradients = testing.gradients(q, k, v, do, *rest)
            low = testing.gradients(q, k, v, do, *rest, dtype=self.dtype)
            yield place, list(zip(gradients[:3], low[:3])), sums

    def error(self, results: Sequence[torch.Tensor]) -> float:
        """Returns the largest error of o, or of dq, dk and dv, [B, H, S, D], divided
        by its tolerance; above 1 the result is wrong. Returns infinity if a result
        is not finite."""
        if not all(x.isfinite().all() for x in results):
            return float("inf")
        worst = 0.0
        for (entry, kv, heads), references, _ in self.references:
            places = [heads, kv, kv] if self.shape.backward else [heads]
            for found, place, pair in zip(results, places, references):
                part = found[entry, place].transpose(1, 2)
                result = testing.compare(part, *pair)
                worst = max(worst, result.error / max(result.tolerance, 1e-30))
        return worst

    def lse_fault(self, lse: torch.Tensor) -> Optional[str]:
        """Returns a description of the fault of a log-sum-exp [B, H, S], or None."""
        for (entry, _, heads), _, sums in self.references:
            result = testing.compare_lse(lse[entry, heads], sums)
            if not (lse.isfinite().all() and result.ok):
                return f"the log-sum-exp has an error of {result.error:.3g}"
        return None
