//===- TileBulkOps.td - Tiles that the copy engine moves ---*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEBULKOPS_TD
#define TILE_DIALECT_TILE_IR_TILEBULKOPS_TD

include "tile/Dialect/Tile/IR/TileInterfaces.td"

def Tile_BulkCopyOp : Tile_Op<"bulk_copy", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<Tile_BulkOpInterface, ["getArgument", "getTileType"]>]> {
  let summary = "copies a tile of a kernel argument by the copy engine (TMA)";
  let description = [{
    Fills `dest` with the tile of `source`, a kernel argument, that starts at
    `indices`; elements outside the extents become zero. The tile extends along
    the dimensions `dims` of the source, one or two, in the order of those of
    `dest`. `cache` says whether the second-level cache keeps what was read
    longer than other data (`evict_last`) or gives it up sooner (`evict_first`).

    The thread that issues the copy arrives at the barrier and announces the
    bytes; the barrier's phase ends when they have come.

    ```mlir
    tile.bulk_copy %k[%b, %n, %h, %c0] dims [1, 3], %tile, %full[%slot]
        : !k, !tile, !barriers
    ```

    With `within`, the rows of the tile are those of a part of the source, as of
    `tile.narrow`: `length` of them from `start` on, all rows of the source. Their
    index counts from `start`, is not negative, and what is past the end becomes
    zero. That takes a source of at most three dimensions.

    ```mlir
    tile.bulk_copy %k[%n, %h, %c0] dims [0, 2] within %start, %length, %tile, %full[%slot]
        : !k, !tile, !barriers
    ```

    The last index is a multiple of 16 bytes: the copy engine begins nowhere else.

    The layouts must be such that a TMA descriptor exists, see
    Target/TensorMap.h; launchers build it from the manifest.
  }];
  let arguments = (ins Tile_BufferType:$source, Variadic<Index>:$indices,
                       DenseI64ArrayAttr:$dims, Optional<Index>:$start,
                       Optional<Index>:$length, Tile_BufferType:$dest,
                       Tile_BufferType:$barriers, Index:$index,
                       OptionalAttr<Tile_CachePriority>:$cache);
  let assemblyFormat = [{
    $source `[` $indices `]` `dims` $dims (`within` $start^ `,` $length)? `,`
    $dest `,` $barriers `[` $index `]`
    (`cache` `(` $cache^ `)`)? attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest)) `,` qualified(type($barriers))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source,
    "::mlir::ValueRange":$indices, "::llvm::ArrayRef<int64_t>":$dims,
    "::mlir::Value":$start, "::mlir::Value":$length, "::mlir::Value":$dest,
    "::mlir::Value":$barriers, "::mlir::Value":$index), [{
      build($_builder, $_state, source, indices, dims, start, length, dest,
            barriers, index, CachePriorityAttr());
    }]>];
  let hasVerifier = 1;
}

class Tile_BulkOutOp<string mnemonic> : Tile_Op<mnemonic, [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<Tile_BulkOpInterface,
                              ["getArgument", "getTileType", "getPartCounts"]>]> {
  let arguments = (ins Tile_BufferType:$source, Tile_BufferType:$dest,
                       Variadic<Index>:$indices, DenseI64ArrayAttr:$dims,
                       Optional<Index>:$start, Optional<Index>:$length,
                       OptionalAttr<DenseI64ArrayAttr>:$parts,
                       OptionalAttr<Tile_CachePriority>:$cache);
  let hasVerifier = 1;
}

def Tile_BulkStoreOp : Tile_BulkOutOp<"bulk_store"> {
  let summary = "stores a tile to a kernel argument by the copy engine (TMA)";
  let description = [{
    Writes `source`, a tile in shared memory, to the tile of `dest`, a kernel
    argument, that starts at `indices`; what is outside the extents is not
    written. `dims`, `cache`, `within` and the layouts are as for tile.bulk_copy.

    One thread of the role, or of a kernel without roles, starts all of it. With
    `parts`, the warps of the first role divide the tile: `parts = [m, n]` cuts
    it into m times n boxes, of which warp number w stores number w mod m along
    the rows and w div m along the columns, when all of its lanes have come
    here. So the warps of a product can store their own rows without a barrier.

    The copy engine sees what was written before a `tile.fence_async` of who
    wrote it and, where that was another thread than the one that stores, a
    `tile.barrier`; within a warp and its part, the fence is enough.
    `tile.bulk_wait` says when the tile may be written again.

    ```mlir
    tile.bulk_wait 0 read
    tile.store %out, %staging[%c0, %c0] : tensor<128x64xf16, #mma>, !tile
    tile.fence_async
    tile.bulk_store %staging, %o[%b, %row, %h, %c0] dims [1, 3] parts [8, 1]
        : !tile, !o
    ```
  }];
  let assemblyFormat = [{
    $source `,` $dest `[` $indices `]` `dims` $dims
    (`within` $start^ `,` $length)? (`parts` $parts^)?
    (`cache` `(` $cache^ `)`)? attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest))
  }];
}

def Tile_BulkReduceOp : Tile_BulkOutOp<"bulk_reduce"> {
  let summary = "adds a tile to a kernel argument by the copy engine (TMA)";
  let description = [{
    As tile.bulk_store, but every element of the tile is added to that of
    `dest`, atomically each (relaxed, among the threads of the device). The
    elements are f16, bf16 or f32.

    ```mlir
    tile.bulk_reduce add %dq, %sums[%b, %row, %h, %c0] dims [1, 3] : !tile, !sums
    ```
  }];
  let assemblyFormat = [{
    `add` $source `,` $dest `[` $indices `]` `dims` $dims
    (`within` $start^ `,` $length)? (`parts` $parts^)?
    (`cache` `(` $cache^ `)`)? attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest))
  }];
}

def Tile_BulkAddOp : Tile_Op<"bulk_add", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "adds a tile in shared memory to memory of any layout";
  let description = [{
    dest[indices + i] += source[i] for every element of the shared buffer
    `source`, atomically each (relaxed, among the threads of the device), for
    elements of f16, bf16, f32 or f64. It is for one thread, of a role but the
    first (tile.warp_roles), which goes on at once: a tile.bulk_wait says that
    `source` has been read, or that all is done. What other threads wrote to
    `source` must have been fenced (tile.fence_async) before the barrier at
    which they meet this thread.

    ```mlir
    tile.wait_barrier %full[%c0] phase %phase : !barriers
    tile.bulk_add %sums, %dqh[%row, %c0] : !sums, !dqh
    tile.bulk_wait 0 read
    tile.arrive_barrier %empty[%c0] : !barriers
    ```

    Unlike tile.bulk_reduce it needs no tensor map: one instruction adds what is
    neighbours in both buffers, which must be whole multiples of 16 bytes at
    multiples of 16 bytes (Analysis/BulkRuns.h). It is left out where its first
    element is outside the extents; where a #tile.map stores more than the
    extents, the elements up to the end of such a block are unspecified.
  }];
  let arguments = (ins Tile_BufferType:$source, Tile_BufferType:$dest,
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    $source `,` $dest `[` $indices `]` attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest))
  }];
  let hasVerifier = 1;
}

def Tile_BulkWaitOp : Tile_Op<"bulk_wait"> {
  let summary = "waits for what the copy engine takes out of shared memory";
  let description = [{
    Waits until at most `pending` of the newest tile.bulk_store,
    tile.bulk_reduce and tile.bulk_add of each thread are unfinished: with
    `read`, until the others have read their tiles, which may then be written
    again; else until what they write is visible to the thread. Other lanes of
    the warp know it, too; other warps after a `tile.barrier`. Who stores waits,
    with `read` at least, before it ends.

    ```mlir
    tile.bulk_wait 0 read
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending,
                       UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

def Tile_BulkPrefetchOp : Tile_Op<"bulk_prefetch", [
    DeclareOpInterfaceMethods<Tile_BulkOpInterface, ["getArgument", "getTileType"]>]> {
  let summary = "fetches a tile of a kernel argument to the second-level cache";
  let description = [{
    A hint that a tile.bulk_copy of the same tile to a buffer of type `tile` will
    come. One thread of the role gives it.

    ```mlir
    tile.bulk_prefetch %q[%b, %row, %h, %c0] dims [1, 3] as !tile : !q
    ```
  }];
  let arguments = (ins Tile_BufferType:$source, Variadic<Index>:$indices,
                       DenseI64ArrayAttr:$dims, TypeAttrOf<Tile_BufferType>:$tile);
  let assemblyFormat = [{
    $source `[` $indices `]` `dims` $dims `as` $tile attr-dict
    `:` qualified(type($source))
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILEBULKOPS_TD
