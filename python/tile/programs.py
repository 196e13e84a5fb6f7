"""The variants of attention: their programs and compiled artifacts."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple, Union

from . import compiler
from .errors import CompileError
from .launcher import Module, load

#: What the kernels of these programs ask of tensors like q: the bytes that divide
#: an address, and the elements that divide the distances between rows.
ALIGNMENT, STRIDE_DIVISOR = 16, 8

_PACKED_HEADS = f"#tile.strided<[?:{STRIDE_DIVISOR}, ?:{STRIDE_DIVISOR}, 1], align = {ALIGNMENT}>"
_HEADS = _PACKED_HEADS.replace("[", f"[?:{STRIDE_DIVISOR}, ")
_VECTOR = "#tile.strided<[1]>"

#: Ways to sum a gradient; the operation tile.attention_backward explains them.
DQ_SUMS = ("atomic", "kernel")
KV_SUMS = ("loop", "separate", "atomic")

#: How the name of the kernel ends that computes dK and dV.
KEYS_KERNEL = "_dkv"

#: The keys from which sequences are long for schedules/sm_90a.mlir.
LONG_KEYS = 2048


@dataclass(frozen=True, order=True)
class Variant:
    """The static properties of a compiled forward kernel of attention.

    Lengths, numbers of heads and strides stay dynamic.

    `d` is the extent of q and k, `dv` of v and o. With `window`, key j is visible
    to query i iff i + Sk - Sq - left <= j <= i + Sk - Sq + right, where `left` and
    `right` are arguments of the launch and a negative number leaves that side
    open; `causal` bounds right by 0. `sink` is the element type of the sinks, if
    there are any. With `packed` the sequences of a batch follow each other, with
    bounds in two buffers of i32. With `softcap` the scores pass through
    cap * tanh(s / cap). With `offset`, an argument of the launch replaces Sk - Sq.
    With `merge`, o and lse hold the result for other keys. `o_dtype` is the type
    of o where it is not `dtype`: "f32". `schedule` sets fields of the kernel's
    schedule, as that of compiler.translate. With `parts`, blocks of threads share
    the keys of a tile of queries: the extents of o_parts and lse_parts say how
    many; with `works` besides, a table of works gives long sequences more parts, and
    `reuse_works` says that it is filled already, and `concurrent` that kernels for the
    sequences with fewer than `least_q` queries run at the same time. With `cluster`, so many blocks of a
    cluster share them. With `pack_heads`, the rows of a
    tile are so many heads at some queries. With `long_keys`, the schedule is that for
    LONG_KEYS keys. With `few_rows`, the schedule is that for at most so many rows of
    queries for each processor, or, in packed sequences with `pack_heads`, of a
    sequence. With `key_lengths`, a
    buffer of i32 has the number of keys of each sequence; with `page` besides, k and
    v are caches of pages of so many keys, which a table gives for each sequence, or with
    `page_list` one list for all, beside bounds; the numbers of keys are then those of last
    pages. With `tree_words`, a mask has so many words for each query.
    """

    d: int
    dv: int
    dtype: str
    causal: bool = False
    window: bool = False
    lse: bool = True
    sink: str = ""
    packed: bool = False
    softcap: bool = False
    offset: bool = False
    merge: bool = False
    o_dtype: str = ""
    schedule: str = ""
    parts: bool = False
    pack_heads: int = 0
    long_keys: bool = False
    few_rows: int = 0
    key_lengths: bool = False
    page: int = 0
    works: bool = False
    reuse_works: bool = False
    concurrent: bool = False
    page_list: bool = False
    tree_words: int = 0
    cluster: int = 0

    @property
    def mask(self) -> str:
        """Returns a short name of the mask."""
        parts = ["causal"] if self.causal else []
        if self.window:
            parts.append("window")
        return "-".join(parts) or "full"

    @property
    def name(self) -> str:
        """Returns the stem of the artifact's file names."""
        head = f"d{self.d}" if self.d == self.dv else f"d{self.d}_{self.dv}"
        parts = ["attention", head, self.dtype, self.mask]
        if not self.lse:
            parts.append("nolse")
        if self.sink:
            parts.append(f"sink_{self.sink}")
        if self.packed:
            parts.append("packed")
        features = (
            "softcap", "offset", "merge", "parts", "long_keys", "key_lengths", "works",
            "reuse_works", "concurrent", "page_list",
        )  # fmt: skip
        for feature in features:
            if getattr(self, feature):
                parts.append(feature)
        for feature in ("pack_heads", "few_rows", "page", "tree_words", "cluster"):
            if getattr(self, feature):
                parts.append(f"{feature}_{getattr(self, feature)}")
        if self.o_dtype:
            parts.append(f"o_{self.o_dtype}")
        if self.schedule:
            digest = hashlib.sha256(self.schedule.encode()).hexdigest()
            parts.append(f"schedule_{digest[:8]}")
        return "-".join(parts)

    def ir(self) -> str:
        return _forward_ir(self, "attention")


@dataclass(frozen=True, order=True)
class BackwardVariant:
    """The static properties of compiled kernels of gradients.

    `forward` may not merge, and has neither parts, packed heads, lengths of keys nor a tree. With `dlse` there
    is a gradient of lse, too. With `accumulate`, gradients are added to what their
    buffers hold. `gradient_dtype` is the type of dq, dk and dv where it is not that
    of q: "f32". Without `late`, no product is one iteration late.
    """

    forward: Variant
    dq: str = "atomic"
    kv: str = "loop"
    dlse: bool = False
    accumulate: bool = False
    gradient_dtype: str = ""
    late: bool = True

    @property
    def schedule(self) -> str:
        """Returns no fields: that of `forward` is for another kernel."""
        return ""

    @property
    def name(self) -> str:
        parts = [f"{self.forward.name}-backward-dq_{self.dq}-kv_{self.kv}"]
        for feature in ("dlse", "accumulate"):
            if getattr(self, feature):
                parts.append(feature)
        if self.gradient_dtype:
            parts.append(f"gradient_{self.gradient_dtype}")
        if not self.late:
            parts.append("not_late")
        return "-".join(parts)

    def ir(self) -> str:
        return _backward_ir(self, "backward")


class _Program:
    """Writes a function with one named operation."""

    def __init__(self, variant: Variant, name: str):
        if variant.dtype not in ("f16", "bf16"):
            raise ValueError(f"dtype is {variant.dtype!r}, must be 'f16' or 'bf16'")
        if variant.sink not in ("", "f16", "bf16", "f32"):
            raise ValueError(
                f"sink is {variant.sink!r}, must be 'f16', 'bf16', 'f32' or ''"
            )
        self.variant, self.name = variant, name
        self.aliases: Dict[str, str] = {}
        self.arguments: List[str] = []
        self.types: List[str] = []
        extents, layout = ("?x?", _PACKED_HEADS) if variant.packed else (
            "?x?x?",
            _HEADS,
        )
        for alias, d in (("qk", variant.d), ("vo", variant.dv)):
            for suffix, dtype in (("", variant.dtype), ("_f32", "f32")):
                self.aliases[alias + suffix] = (
                    f"!tile.buffer<{extents}x{d}x{dtype}, {layout}, global>"
                )
            keys = f"?x{variant.page or '?'}x?x{d}x{variant.dtype}"
            self.aliases[f"keys_{alias}"] = f"!tile.buffer<{keys}, {_HEADS}, global>"
        rows = "[?, 1]" if variant.packed else "[?, ?, 1]"
        self.aliases["lse"] = f"!tile.buffer<{extents}xf32, #tile.strided<{rows}>, global>"
        for alias in ("vo_f32", "lse"):
            self.aliases[f"parts_{alias}"] = (
                self.aliases[alias]
                .replace("<", "<?x", 1)
                .replace("[", "[?, " if alias == "lse" else f"[?:{STRIDE_DIVISOR}, ")
            )
        part = f"?x?x{variant.dv}xf32, {_PACKED_HEADS}"
        self.aliases["works_o"] = f"!tile.buffer<{part}, global>"
        self.aliases["works_lse"] = "!tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>"
        self.aliases["works"] = "!tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>"
        stats = "?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>"
        if not variant.packed:
            stats = "?x" + stats.replace("[", "[?:4, ")
        self.aliases["stats"] = f"!tile.buffer<{stats}, global>"
        self.aliases["sink"] = f"!tile.buffer<?x{variant.sink}, {_VECTOR}, global>"
        self.aliases["dsink"] = f"!tile.buffer<?xf32, {_VECTOR}, global>"
        self.aliases["cu"] = f"!tile.buffer<?xi32, {_VECTOR}, global>"
        self.aliases["pages"] = "!tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>"
        words = f"{variant.tree_words}xi32, #tile.strided<[{variant.tree_words}, 1]>"
        if not variant.packed:
            words = f"?x{words.replace('[', '[?, ')}"
        self.aliases["tree"] = f"!tile.buffer<?x{words}, global>"

    def buffers(self, alias: str, *names: str) -> str:
        """Adds arguments of one type; returns them as operands."""
        for name in names:
            self.arguments.append(f'%{name}: !{alias} {{tile.name = "{name}"}}')
            self.types.append(f"!{alias}")
        return ", ".join(f"%{name}" for name in names)

    def scalar(self, type: str, name: str) -> str:
        self.arguments.append(f'%{name}: {type} {{tile.name = "{name}"}}')
        return f"%{name}"

    def seqlens(self, *most: str) -> str:
        variant, text = self.variant, ""
        if variant.packed:
            names = ("cu_q",) if variant.key_lengths else ("cu_q", "cu_k")
            bounds = self.buffers("cu", *names)
            sizes = ", ".join(self.scalar("index", name) for name in most)
            text += f" seqlens {bounds} max {sizes}"
        if variant.key_lengths:
            text += f" key_lengths {self.buffers('cu', 'key_lengths')}"
        if variant.page_list:
            text += f" pages {self.buffers('cu', 'page_table', 'cu_pages')}"
        elif variant.page:
            text += f" pages {self.buffers('pages', 'page_table')}"
        if variant.tree_words:
            text += f" tree_mask {self.buffers('tree', 'tree_mask')}"
        return text

    def scales(self) -> str:
        text = f" scale {self.scalar('f32', 'scale')}"
        if self.variant.softcap:
            text += f" softcap {self.scalar('f32', 'softcap')}"
        if self.variant.window:
            left, right = (self.scalar("i32", name) for name in ("left", "right"))
            text += f" window {left}, {right}"
        if self.variant.offset:
            text += f" offset {self.scalar('i32', 'offset')}"
        return text

    def text(self, operation: str, **flags: bool) -> str:
        given = [name for name, is_set in flags.items() if is_set]
        dictionary = f" {{{', '.join(given)}}}" if given else ""
        aliases = "".join(
            f"!{alias} = {type}\n"
            for alias, type in self.aliases.items()
            if f"!{alias}" in self.types
        )
        return (
            f"{aliases}"
            f"func.func @{self.name}({', '.join(self.arguments)}) {{\n"
            f"  {operation}{dictionary} : {', '.join(self.types)}\n"
            "  return\n"
            "}\n"
        )


def attention_ir(
    d: int,
    dv: Optional[int] = None,
    dtype: str = "bf16",
    causal: bool = False,
    window: bool = False,
    lse: bool = True,
    name: str = "attention",
    *,
    sink: str = "",
    packed: bool = False,
    softcap: bool = False,
    parts: bool = False,
    pack_heads: int = 0,
    cluster: int = 0,
) -> str:
    """Returns the program of forward attention, one named op.

    The kernel `name` takes q, k, v and o of logical shape [B, S, H, D] (packed:
    [T, H, D]), then with `lse` the logarithms of the row sums, [B, H, S]
    (packed: [H, T]) in f32, then, as the variant has them, o_parts and lse_parts
    in f32, which have the number of parts in front, sink [H], cu_q and cu_k [B + 1]
    in i32 and max_q, then the scale of the scores, softcap, and left and right.
    Query heads are a multiple of key heads; `dv` is `d` by default. The options
    are those of Variant.
    """
    variant = Variant(
        d, d if dv is None else dv, dtype, causal, window, lse, sink, packed, softcap,
        parts=parts, pack_heads=pack_heads, cluster=cluster,
    )  # fmt: skip
    return _forward_ir(variant, name)


def _forward_ir(variant: Variant, name: str) -> str:
    if variant.page and not variant.key_lengths:
        raise ValueError("pages need lengths of keys")
    if variant.page_list and not variant.page:
        raise ValueError("a list of pages needs the size of a page")
    program = _Program(variant, name)
    prefix = "keys_" if variant.key_lengths else ""
    operation = f"tile.attention {program.buffers('qk', 'q')}, "
    operation += program.buffers(f"{prefix}qk", "k") + ", "
    operation += program.buffers(f"{prefix}vo", "v") + ", "
    operation += program.buffers(_with_type("vo", variant.o_dtype), "o")
    if variant.lse:
        operation += f" lse {program.buffers('lse', 'lse')}"
    if variant.parts:
        o, lse = ("works_o", "works_lse") if variant.works else ("parts_vo_f32", "parts_lse")
        operation += f" parts {program.buffers(o, 'o_parts')}, "
        operation += program.buffers(lse, "lse_parts")
    if variant.works:
        operation += f" works {program.buffers('works', 'works')}"
        if variant.packed:
            least, most = (program.scalar("index", name) for name in ("least_q", "most_q"))
            operation += f" queries {least} to {most}"
    if variant.sink:
        operation += f" sink {program.buffers('sink', 'sink')}"
    operation += program.seqlens("max_q") + program.scales()
    attributes = {
        "causal": variant.causal,
        "merge": variant.merge,
        "reuse_works": variant.reuse_works,
        "concurrent": variant.concurrent,
    }
    fields = {"pack_heads": variant.pack_heads, "cluster_split": variant.cluster}
    schedule = ", ".join(f"{name} = {value}" for name, value in fields.items() if value)
    attributes[f"schedule = #tile.schedule<{schedule}>"] = bool(schedule)
    attributes[f"expected_keys = {LONG_KEYS} : i64"] = variant.long_keys
    attributes[f"expected_rows = {variant.few_rows} : i64"] = bool(variant.few_rows)
    return program.text(operation, **attributes)


def _with_type(alias: str, dtype: str) -> str:
    if dtype not in ("", "f32"):
        raise ValueError(f"the type of a result is {dtype!r}, must be 'f32' or ''")
    return f"{alias}_f32" if dtype else alias


def attention_backward_ir(
    variant: Variant, dq: str = "atomic", kv: str = "loop", name: str = "backward"
) -> str:
    """Returns the program of the gradients of attention, one named op.

    The kernels, which all begin with `name`, take q, k, v, o, do, lse, dq, dk,
    dv and stats; with dq "atomic" dq_acc, and unless kv is "loop" dk_acc and
    dv_acc. These and stats are scratch memory in f32, for which `Module.scratch`
    says the shapes. Then they take, as the variant has them, sink and dsink [H],
    cu_q, cu_k, max_q and max_k, then scale, softcap, and left and right. See
    tile.attention_backward for the shapes.
    """
    return _backward_ir(BackwardVariant(variant, dq, kv), name)


def _backward_ir(backward: BackwardVariant, name: str) -> str:
    variant, kv = backward.forward, backward.kv
    if backward.dq not in DQ_SUMS:
        raise ValueError(f"dq is {backward.dq!r}, must be one of {DQ_SUMS}")
    if kv not in KV_SUMS:
        raise ValueError(f"kv is {kv!r}, must be one of {KV_SUMS}")
    if variant.merge or variant.key_lengths or variant.tree_words:
        raise ValueError(
            "a result that was merged, or from a cache, or with a tree, has no gradient"
        )
    program = _Program(variant, name)
    operation = f"tile.attention_backward {program.buffers('qk', 'q', 'k')}, "
    operation += program.buffers("vo", "v") + ", "
    operation += program.buffers(_with_type("vo", variant.o_dtype), "o") + ", "
    operation += f"{program.buffers('vo', 'do')}, {program.buffers('lse', 'lse')}"
    if backward.dlse:
        operation += f" dlse {program.buffers('lse', 'dlse')}"
    qk, vo = (_with_type(alias, backward.gradient_dtype) for alias in ("qk", "vo"))
    operation += f" to {program.buffers(qk, 'dq', 'dk')}, {program.buffers(vo, 'dv')}"
    operation += f" using {program.buffers('stats', 'stats')}"
    if backward.dq == "atomic":
        operation += f" dq_acc {program.buffers('qk_f32', 'dq_acc')}"
    if kv != "loop":
        operation += f" kv_acc {kv} {program.buffers('qk_f32', 'dk_acc')}, "
        operation += program.buffers("vo_f32", "dv_acc")
    if variant.sink:
        operation += f" sink {program.buffers('sink', 'sink')}, "
        operation += program.buffers("dsink", "dsink")
    operation += program.seqlens("max_q", "max_k") + program.scales()
    attributes = {"causal": variant.causal, "accumulate": backward.accumulate}
    attributes["dkv_schedule = #tile.schedule<late_products = false>"] = not backward.late
    return program.text(operation, **attributes)


AnyVariant = Union[Variant, BackwardVariant]


class Artifacts:
    """A folder of compiled variants."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]):
        self.folder = Path(folder)
        self._modules: Dict[AnyVariant, Module] = {}

    def compile(
        self,
        variants: Iterable[AnyVariant],
        chip: str,
        jobs: int = 2,
    ) -> Dict[AnyVariant, str]:
        """Compiles each distinct variant; returns the messages of failed ones.

        Leaves the program, the PTX and the manifest of each in the folder.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        distinct = list(dict.fromkeys(variants))

        def compile_one(variant: AnyVariant) -> Optional[str]:
            source, artifact, manifest = self._paths(variant)
            source.write_text(variant.ir(), encoding="utf-8")
            # A failure must not leave an older artifact to be tested instead.
            for stale in (artifact, manifest):
                if stale.exists():
                    stale.unlink()
            try:
                compiled = compiler.translate(
                    variant.ir(), chip, name=str(source), schedule=variant.schedule
                )
            except CompileError as error:
                return str(error)
            artifact.write_bytes(compiled.data)
            manifest.write_text(compiled.manifest, encoding="utf-8")
            return None

        with ThreadPoolExecutor(jobs) as pool:
            messages = list(pool.map(compile_one, distinct))
        return {v: message for v, message in zip(distinct, messages) if message}

    def load(self, variant: AnyVariant) -> Module:
        """Returns the module of a variant; raises OSError if it is not compiled."""
        if variant not in self._modules:
            _, artifact, manifest = self._paths(variant)
            self._modules[variant] = load(artifact, manifest)
        return self._modules[variant]

    def _paths(self, variant: AnyVariant) -> Tuple[Path, Path, Path]:
        stem = self.folder / variant.name
        return tuple(Path(f"{stem}{suffix}") for suffix in (".mlir", ".ptx", ".json"))
