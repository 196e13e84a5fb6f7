"""The measured shapes and the kernels that are compiled for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, List

from tile.choices import (
    choose_few_rows,
    count_seeing_queries,
    has_late_products,
    has_long_keys,
)
from tile.programs import AnyVariant, BackwardVariant, Variant

#: Multiprocessors of an H100 or H200 in SXM form, for which kernels are compiled.
PROCESSORS = 132


@dataclass(frozen=True)
class Shape:
    """A problem: the sizes, the mask, the element type, and forward or backward."""

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
        variant = Variant(self.d, self.dv, self.dtype, causal=self.causal)
        few = choose_few_rows(
            variant,
            self.batch,
            self.length,
            self.length,
            self.heads,
            self.kv_heads,
            PROCESSORS,
        )
        if few:
            return replace(variant, few_rows=few)
        return replace(variant, long_keys=has_long_keys(variant, self.length))

    @property
    def backward_variants(self) -> Dict[str, BackwardVariant]:
        """Returns the backward kernels by the way in which they sum dK and dV; the
        size of the GPU decides between them."""
        sums = ["loop"] if self.kv_heads == self.heads else ["loop", "atomic"]
        forward = replace(self.forward_variant, long_keys=False, few_rows=0)
        visible = count_seeing_queries(self.length, self.length, self.causal, None)
        variants = {kv: BackwardVariant(forward, kv=kv) for kv in sums}
        return {
            kv: replace(variant, late=has_late_products(variant, visible))
            for kv, variant in variants.items()
        }

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
    def cells(self) -> List[str]:
        """Returns the cells of a table row; COLUMNS holds their titles."""
        return [
            "backward" if self.backward else "forward",
            str(self.batch),
            f"{self.heads}/{self.kv_heads}",
            str(self.length),
            f"{self.d}" if self.d == self.dv else f"{self.d}/{self.dv}",
            "causal" if self.causal else "full",
            self.dtype,
        ]


COLUMNS = ["pass", "B", "H/kv", "S", "D", "mask", "type"]

#: Shapes at which hand-written kernels, or kernels in other tile languages, are
#: known to be slow: batch, heads, key heads, length, D, Dv, causal, type.
SEEDS = (
    (1, 64, 8, 4096, 128, 128, True, "f16"),
    (8, 32, 2, 1024, 192, 128, False, "f16"),
    (1, 32, 32, 1024, 64, 64, False, "f16"),
)
