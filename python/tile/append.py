"""Kernels that write new keys and values to a cache: behind the others, or to slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import torch

from .prepared import TYPES, kernels_of, readable
from .programs import ALIGNMENT, STRIDE_DIVISOR

_PROGRAM = """\
!new_k = !tile.buffer<?x?x?x{d}x{dtype}, {heads}, global>
!new_v = !tile.buffer<?x?x?x{dv}x{dtype}, {heads}, global>
!k = !tile.buffer<?x{page}x?x{d}x{dtype}, {heads}, global>
!v = !tile.buffer<?x{page}x?x{dv}x{dtype}, {heads}, global>
!lengths = !tile.buffer<?x{index}, #tile.strided<[1]>, global>
!table = {table}
!row_k = !tile.buffer<?x{d}x{dtype}, {row}, global>
!row_v = !tile.buffer<?x{dv}x{dtype}, {row}, global>

// A block of threads writes one new row of a sequence, all heads of it.
tile.kernel @append(
    %new_k: !new_k {{tile.name = "new_k"}}, %new_v: !new_v {{tile.name = "new_v"}},
    %k: !k {{tile.name = "k"}}, %v: !v {{tile.name = "v"}},
    %lengths: !lengths {{tile.name = "lengths"}}{arguments}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %batch = tile.dim %new_k[0] : !new_k
  %count = tile.dim %new_k[1] : !new_k
  %heads = tile.dim %new_k[2] : !new_k
  %pages = tile.dim %k[0] : !k
  %size = tile.dim %k[1] : !k
  tile.require %new_v[0] equal %batch, "the sequences of new_k" : !new_v
  tile.require %new_v[1] equal %count, "the rows of new_k" : !new_v
  tile.require %new_v[2] equal %heads, "the heads of new_k" : !new_v
  tile.require %k[2] equal %heads, "the heads of new_k" : !k
  tile.require %v[0] equal %pages, "the extent of k" : !v
  tile.require %v[1] equal %size, "the extent of k" : !v
  tile.require %v[2] equal %heads, "the heads of new_k" : !v
  tile.require %lengths[0] equal %batch, "the sequences of new_k" : !lengths
  {requirements}
  %blocks = arith.muli %batch, %count : index
  tile.grid %blocks, %c1, %c1
  tile.launch_dependents
  %block = tile.program_id x
  %b = arith.divui %block, %count : index
  %i = arith.remui %block, %count : index

  %length = tile.load_scalar %lengths[%b] : !lengths -> {index}
  %given = arith.index_cast %length : {index} to index
  {before}
  %row = arith.addi %before, %i : index
  {place}
  scf.if %exists {{
    %from_k = tile.slice %new_k[%b, %i, *, *] : !new_k to !row_k
    %from_v = tile.slice %new_v[%b, %i, *, *] : !new_v to !row_v
    %to_k = tile.slice %k[%page, %slot, *, *] : !k to !row_k
    %to_v = tile.slice %v[%page, %slot, *, *] : !v to !row_v
    scf.for %h = %c0 to %heads step %c8 {{
      %tile_k = tile.load %from_k[%h, %c0] : !row_k -> tensor<8x{columns}x{dtype}>
      %tile_v = tile.load %from_v[%h, %c0] : !row_v -> tensor<8x{value_columns}x{dtype}>
      tile.store %tile_k, %to_k[%h, %c0] : tensor<8x{columns}x{dtype}>, !row_k
      tile.store %tile_v, %to_v[%h, %c0] : tensor<8x{value_columns}x{dtype}>, !row_v
    }}
  }}
}}
"""

# The lengths are those before; the kernel writes the new ones.
_LENGTHS_BEFORE = """\
%before = arith.addi %given, %c0 : index
  %is_first = arith.cmpi eq, %i, %c0 : index
  scf.if %is_first {
    %sum = arith.addi %before, %count : index
    %sum32 = arith.index_cast %sum : index to i32
    %one = tensor.splat %sum32 : tensor<1xi32>
    tile.store %one, %sums[%b] : tensor<1xi32>, !lengths
  }"""

# The lengths are those of last pages, and count the new rows.
_LENGTHS_IN_LAST_PAGES = """\
%next = arith.addi %b, %c1 : index
  %listed = tile.dim %table[0] : !table
  %begin32 = tile.load_scalar %bounds[%b] : !lengths -> i32
  %end32 = tile.load_scalar %bounds[%next] : !lengths -> i32
  %begin_given = arith.index_cast %begin32 : i32 to index
  %end_given = arith.index_cast %end32 : i32 to index
  %begin_least = arith.maxsi %begin_given, %c0 : index
  %begin = arith.minsi %begin_least, %listed : index
  %end_most = arith.minsi %end_given, %listed : index
  %end = arith.maxsi %end_most, %begin : index
  %entries = arith.subi %end, %begin : index
  %others = arith.subi %entries, %c1 : index
  %keys = arith.muli %others, %size : index
  %total = arith.addi %keys, %given : index
  %before = arith.subi %total, %count : index"""

# The lengths are the slots of rows in all pages.
_SLOTS = """\
%before = arith.addi %given, %c0 : index"""

_PLACE_IN_SLOT = """\
%page = arith.divui %row, %size : index
  %slot = arith.remui %row, %size : index
  %exists = arith.cmpi ult, %page, %pages : index"""

# Rows without a place in the cache are not written.
_PLACE = """\
%page = arith.addi %b, %c0 : index
  %slot = arith.addi %row, %c0 : index
  %exists = arith.cmpi ult, %row, %size : index"""

_PLACE_IN_PAGE = """\
%entries = tile.dim %table[1] : !table
  %entry = arith.divui %row, %size : index
  %slot = arith.remui %row, %size : index
  %last = arith.subi %entries, %c1 : index
  %is_entry = arith.cmpi ult, %entry, %entries : index
  %read = arith.minui %entry, %last : index
  %found = tile.load_scalar %table[%b, %read] : !table -> i32
  %page = arith.index_cast %found : i32 to index
  %is_page = arith.cmpi ult, %page, %pages : index
  %exists = arith.andi %is_entry, %is_page : i1"""

_PLACE_IN_LIST = """\
%entry = arith.divui %row, %size : index
  %slot = arith.remui %row, %size : index
  %last = arith.subi %listed, %c1 : index
  %is_entry = arith.cmpi ult, %entry, %entries : index
  %wanted = arith.addi %begin, %entry : index
  %read = arith.minui %wanted, %last : index
  %found = tile.load_scalar %table[%read] : !table -> i32
  %page = arith.index_cast %found : i32 to index
  %is_page = arith.cmpi ult, %page, %pages : index
  %exists = arith.andi %is_entry, %is_page : i1"""


@dataclass(frozen=True, order=True)
class AppendVariant:
    """The static properties of the kernel.

    `d` and `dv` are the extents of keys and values. `page` is the number of rows of a
    page, 0 for caches of whole sequences. With `page_list`, one list has the pages of
    all sequences. With `slots`, each row has a place of its own in the pages. Lengths,
    numbers of heads and strides stay dynamic.
    """

    d: int
    dv: int
    dtype: str
    page: int = 0
    page_list: bool = False
    slots: bool = False

    @property
    def schedule(self) -> str:
        """Returns no fields: the compiler chooses."""
        return ""

    @property
    def name(self) -> str:
        """Returns the stem of the artifact's file names."""
        page = f"-page_{self.page}" if self.page else ""
        form = "-page_list" if self.page_list else "-slots" if self.slots else ""
        return f"append-d{self.d}_{self.dv}-{self.dtype}{page}{form}"

    def ir(self) -> str:
        def strided(rank: int) -> str:
            strides = f"?:{STRIDE_DIVISOR}, " * (rank - 1)
            return f"#tile.strided<[{strides}1], align = {ALIGNMENT}>"

        sums = 'tile.require %sums[0] equal %batch, "the sequences of new_k" : !lengths'
        of_table = 'tile.require %table[0] equal %batch, "the sequences of new_k" : !table'
        one_page = "tile.require %table[{}] at_least %c1, \"one page\" : !table"
        arguments, before, place = ["sums"], _LENGTHS_BEFORE, _PLACE
        requirements = [sums]
        table = "!tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>"
        if self.slots:
            arguments, requirements = [], []
            before, place = _SLOTS, _PLACE_IN_SLOT
        elif self.page_list:
            table = "!tile.buffer<?xi32, #tile.strided<[1]>, global>"
            arguments = ["table", "bounds"]
            before, place = _LENGTHS_IN_LAST_PAGES, _PLACE_IN_LIST
            requirements = [
                "%sequences = arith.addi %batch, %c1 : index",
                "tile.require %bounds[0] equal %sequences,"
                ' "one more than the sequences of new_k" : !lengths',
                one_page.format(0),
            ]
        elif self.page:
            arguments, place = ["table", "sums"], _PLACE_IN_PAGE
            requirements += [of_table, one_page.format(1)]
        else:
            requirements.append(
                'tile.require %k[0] equal %batch, "the sequences of new_k" : !k'
            )
        types = {"table": "table", "bounds": "lengths", "sums": "lengths"}
        return _PROGRAM.format(
            d=self.d,
            dv=self.dv,
            dtype=self.dtype,
            page=self.page or "?",
            heads=strided(4),
            row=strided(2),
            columns=-(-self.d // 32) * 32,
            value_columns=-(-self.dv // 32) * 32,
            table=table,
            index="i64" if self.slots else "i32",
            arguments="".join(
                f',\n    %{name}: !{types[name]} {{tile.name = "{name}"}}'
                for name in arguments
            ),
            requirements="\n  ".join(requirements),
            before=before,
            place=place,
        )


def append(
    new_k: torch.Tensor,
    new_v: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: torch.Tensor,
    table: Optional[torch.Tensor],
    bounds: Optional[torch.Tensor] = None,
) -> torch.Tensor:
    """Writes new rows [B, S, Hkv, D] of keys and values behind the others in a cache,
    where it has room and pages; returns the new lengths. With `bounds` of sequences in
    a list of pages, the lengths are those of last pages, and count the new rows."""
    arguments = {"new_k": new_k, "new_v": new_v, "k": k, "v": v, "lengths": lengths}
    sums = lengths
    if bounds is not None:
        arguments["bounds"] = bounds
    else:
        sums = arguments["sums"] = torch.empty_like(lengths)
    if table is not None:
        arguments["table"] = table
    if not new_k.numel():
        return lengths if bounds is not None else lengths + new_k.shape[1]
    variant = AppendVariant(
        k.shape[-1],
        v.shape[-1],
        TYPES[k.dtype],
        0 if table is None else k.shape[1],
        bounds is not None,
    )
    kernels: Any = kernels_of(variant, k.device)
    kernels(**arguments)
    return sums


def store(
    new_k: torch.Tensor,
    new_v: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slots: torch.Tensor,
) -> None:
    """Writes rows [T, Hkv, D] of keys and values to slots of pages [P, R, Hkv, D].

    `slots`, i64 [N], has the place of each of the first N rows: slot i is in row i % R
    of page i // R. Rows whose slot is negative or behind all pages are not written.
    """
    rows = min(slots.shape[0], new_k.shape[0])
    if not rows:
        return
    variant = AppendVariant(
        k.shape[-1], v.shape[-1], TYPES[k.dtype], k.shape[1], slots=True
    )
    kernels: Any = kernels_of(variant, k.device)
    kernels(
        new_k=readable(new_k[:rows, None]),
        new_v=readable(new_v[:rows, None]),
        k=k,
        v=v,
        lengths=slots[:rows],
    )
