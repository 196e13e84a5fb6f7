"""The attention kernel's variants: their programs and compiled artifacts."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterable, Optional, Sequence, Tuple, Union

from . import compiler
from .errors import CompileError
from .launcher import Module, load


def attention_ir(
    d: int,
    dv: Optional[int] = None,
    dtype: str = "bf16",
    causal: bool = False,
    window: Optional[Tuple[int, int]] = None,
    lse: bool = True,
    name: str = "attention",
) -> str:
    """The program of forward attention, one named op.

    The kernel `name` takes q, k, v and o of logical shape [B, S, H, D], then
    with `lse` the logarithms of the row sums, [B, H, S] in f32, then the scale
    of the scores. Query heads are a multiple of key heads. `d` is the extent
    of q and k, `dv` of v and o (default `d`). Key j is visible to query i iff
    i + Sk - Sq - left <= j <= i + Sk - Sq + right, with `window` (left, right),
    -1 for no bound; `causal` bounds right by 0.
    """
    dv = d if dv is None else dv
    if dtype not in ("f16", "bf16"):
        raise ValueError(f"dtype is {dtype!r}, must be 'f16' or 'bf16'")
    strided = "#tile.strided<[?:8, ?:8, ?:8, 1], align = 16>"
    key = f"!tile.buffer<?x?x?x{d}x{dtype}, {strided}, global>"
    value = f"!tile.buffer<?x?x?x{dv}x{dtype}, {strided}, global>"
    sums = "!tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>"

    attributes = []
    if causal:
        attributes.append("causal")
    if window is not None:
        attributes.append(f"window = array<i64: {window[0]}, {window[1]}>")
    dictionary = f" {{{', '.join(attributes)}}}" if attributes else ""

    lse_argument = ", %lse: !lse" if lse else ""
    lse_operand = " lse %lse" if lse else ""
    lse_type = ", !lse" if lse else ""
    lse_alias = f"!lse = {sums}\n" if lse else ""
    return (
        f"!qk = {key}\n"
        f"!vo = {value}\n"
        f"{lse_alias}"
        f"func.func @{name}(%q: !qk, %k: !qk, %v: !vo, %o: !vo{lse_argument},"
        " %scale: f32) {\n"
        f"  tile.attention %q, %k, %v, %o{lse_operand} scale %scale{dictionary}"
        f" : !qk, !qk, !vo, !vo{lse_type}\n"
        "  return\n"
        "}\n"
    )


@dataclass(frozen=True, order=True)
class Variant:
    """What attention is compiled for; sizes, heads and strides stay dynamic."""

    d: int
    dv: int
    dtype: str
    causal: bool = False
    window: Optional[Tuple[int, int]] = None
    lse: bool = True

    @property
    def mask(self) -> str:
        """A short name of the mask."""
        parts = ["causal"] if self.causal else []
        if self.window is not None:
            parts.append("w{}_{}".format(*self.window))
        return "-".join(parts) or "full"

    @property
    def name(self) -> str:
        """The stem of the artifact's file names."""
        head = f"d{self.d}" if self.d == self.dv else f"d{self.d}_{self.dv}"
        tail = "" if self.lse else "-nolse"
        return f"attention-{head}-{self.dtype}-{self.mask}{tail}"

    def ir(self) -> str:
        return attention_ir(
            self.d, self.dv, self.dtype, self.causal, self.window, self.lse
        )


class Artifacts:
    """A folder of compiled variants."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]):
        self.folder = Path(folder)
        self._modules: Dict[Variant, Module] = {}

    def compile(
        self,
        variants: Iterable[Variant],
        chip: str,
        jobs: int = 2,
        options: Sequence[str] = (),
    ) -> Dict[Variant, str]:
        """Compiles each distinct variant; returns the messages of failed ones.

        Leaves the program, the PTX and the manifest of each in the folder.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        distinct = list(dict.fromkeys(variants))

        def compile_one(variant: Variant) -> Optional[str]:
            source, artifact, manifest = self._paths(variant)
            source.write_text(variant.ir(), encoding="utf-8")
            # A failure must not leave an older artifact to be tested instead.
            for stale in (artifact, manifest):
                if stale.exists():
                    stale.unlink()
            try:
                compiler.translate(source, chip, artifact, manifest, options)
            except CompileError as error:
                return str(error)
            return None

        with ThreadPoolExecutor(jobs) as pool:
            messages = list(pool.map(compile_one, distinct))
        return {v: message for v, message in zip(distinct, messages) if message}

    def load(self, variant: Variant) -> Module:
        """The module of a compiled variant; raises OSError where it is missing."""
        if variant not in self._modules:
            _, artifact, manifest = self._paths(variant)
            self._modules[variant] = load(artifact, manifest)
        return self._modules[variant]

    def _paths(self, variant: Variant) -> Tuple[Path, Path, Path]:
        stem = self.folder / variant.name
        return tuple(Path(f"{stem}{suffix}") for suffix in (".mlir", ".ptx", ".json"))
