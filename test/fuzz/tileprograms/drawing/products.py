"""Random products."""

from __future__ import annotations

from ..program import FLOATS
from .values import Values

#: The elements of operands of products, and their precision.
PRODUCT_TYPES = [("f16", None), ("f16", None), ("bf16", None), ("bf16", None), ("i8", None),
                 ("f32", "tf32"), ("f32", "bf16x3")]


class Products(Values):
    """Draws products, and inverses by products."""

    def dot(self) -> None:
        """A product, of what is there or of new tiles."""
        draw = self.draw
        dtype, precision = draw.choice(PRODUCT_TYPES)
        extents = [16, 16, 32, 32, 64, 64, 128, 48, 80, 96, 112]
        if draw.random() < 0.15:
            extents = [4, 8, 20, 24, 60, 68, 100, 7, 13]
        usual = [
            v
            for v in self.values(True)
            if dtype in FLOATS
            and len(self.program.types[v].dims) == 2
            and all(self.program.extents[d] in extents for d in self.program.types[v].dims)
        ]
        if usual and draw.random() < 0.6:
            a = self.cast(self.tame(draw.choice(usual), 50.0), dtype)
            m, k = self.program.types[a].dims
        else:
            m, k = self.dim(draw.choice(extents)), self.dim(draw.choice(extents))
            if self.size((m, k)) > self.most():
                return
            a = self.load((m, k), dtype)
        room = self.most() // max(self.program.extents[m], self.program.extents[k])
        fits = [n for n in extents if n <= room]
        if not fits:
            return
        n = self.dim(draw.choice(fits))
        if draw.random() < 0.4:
            b = self.load((n, k), dtype)
            b = self.emit(
                "transpose", ((k, n), dtype, None), [b], self.limit[b], order=(1, 0)
            )
        else:
            b = self.load((k, n), dtype)
        sums = "f32" if dtype in FLOATS else "i32"
        type = ((m, n), sums, None)
        if draw.random() < 0.7:
            c = self.constant(type, 0.0 if dtype in FLOATS else 0)
        else:
            c = self.load((m, n), sums)
        limit = self.limit[a] * self.limit[b] * self.program.extents[k] + self.limit[c]
        self.emit("dot", type, [a, b, c], limit, precision=precision)
        # Only products use tiles of bytes.
        self.visible = [v for v in self.visible if self.dtype(v) != "i8"]

    def triangular_inverse(self) -> None:
        """The inverse of a unit triangular matrix, whose elements are below 2 because
        those of the source are small."""
        dim = self.dim(self.draw.choice([16, 16, 32, 48, 64, 7, 24]))
        x = self.tame(self.load((dim, dim), "f32"), 0.5 / self.program.extents[dim])
        self.emit("inverse", self.like(x), [x], 2.0)
