//===- TileBulkOps.td - Bulk copies, stores and reductions -*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEBULKOPS_TD
#define TILE_DIALECT_TILE_IR_TILEBULKOPS_TD

include "tile/Dialect/Tile/IR/TileInterfaces.td"

def Tile_BulkCopyOp : Tile_Op<"bulk_copy", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Tile_BulkOpInterface, ["getArgument", "getTileType"]>]> {
  let summary = "copies a tile of a kernel argument to shared memory by TMA";
  let description = [{
    Fills `dest` with the tile of `source`, a kernel argument, that starts at
    `indices`. Elements outside the extents become zero. The tile extends along
    one or two dimensions `dims` of the source, in the order of the dimensions of
    `dest`. `cache` is the eviction priority in the L2 cache: `evict_last` keeps
    the data longer than other data, `evict_first` evicts it sooner.

    A copy that `fills` a slot of a ring writes the buffer of the
    `tile.ring.acquire` that yields the slot:

    ```mlir
    %storage = tile.alloc : !tile
    %full = tile.alloc : !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
    %ring = tile.ring.create %storage, %full : !tile.ring<!tile, 1>
    %tile, %slot = tile.ring.acquire %ring : !tile.ring<!tile, 1>
    tile.bulk_copy %k[%b, %n, %h, %c0] dims [1, 3], %tile fills %slot : !k, !tile
    ```

    Any other copy, and each one after `tile-lower-rings`, has an mbarrier. The
    thread that issues the copy arrives at the mbarrier and expects the bytes of
    the copy. The phase of the mbarrier ends when they have been written.

    ```mlir
    tile.bulk_copy %k[%b, %n, %h, %c0] dims [1, 3], %tile, %full[%slot]
        : !k, !tile, !barriers
    ```

    With `within`, the tile is in a range of rows of the source, as of
    `tile.narrow`: the rows `start` to `start + length - 1`, all of which exist.
    The row index is relative to `start` and not negative. Rows past the end of
    the range become zero.

    ```mlir
    tile.bulk_copy %k[%n, %h, %c0] dims [0, 2] within %start, %length, %tile, %full[%slot]
        : !packed, !tile, !barriers
    ```

    With `pages`, too, the rows are those of pages along another dimension, in the
    order of a table of i32, as of `tile.paged`: row r of the range is row r mod R of
    page table[r / R], for the extent R of the rows. The index along the pages is
    not used. A box has as many rows as the largest power of two that divides both R
    and the rows of the tile, at least 8; the row index is a multiple of that.

    ```mlir
    tile.bulk_copy %k[%c0, %n, %h, %c0] dims [1, 3] within %c0, %length
        pages along 0 by %table, %tile, %full[%slot]
        : !pages, !tile by !entries, !barriers
    ```

    The offset of the last index must be a multiple of 16 bytes, as TMA requires.

    A tensor map must exist for the layouts (see Chips/NVIDIA/TensorMap.h). Launchers
    encode it as the manifest describes. Source: PTX ISA,
    "cp.async.bulk.tensor".
  }];
  let arguments = (ins Tile_ReadBuffer:$source,
                       Variadic<Index>:$indices, DenseI64ArrayAttr:$dims,
                       Optional<Index>:$start, Optional<Index>:$length,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$pageDim,
                       Arg<Optional<Tile_BufferType>, "", [MemRead]>:$table,
                       Tile_WrittenBuffer:$dest,
                       Optional<Tile_SlotType>:$slot,
                       Optional<Tile_BufferType>:$barriers,
                       Optional<Index>:$index,
                       OptionalAttr<Tile_CachePriority>:$cache);
  let assemblyFormat = [{
    $source `[` $indices `]` `dims` $dims (`within` $start^ `,` $length)?
    (`pages` `along` $pageDim^ `by` $table)? `,`
    $dest (`fills` $slot^)? (`,` $barriers^ `[` $index `]`)?
    (`cache` `(` $cache^ `)`)? attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest)) (`by` qualified(type($table))^)?
    (`,` qualified(type($barriers))^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source,
    "::mlir::ValueRange":$indices, "::llvm::ArrayRef<int64_t>":$dims,
    "::mlir::Value":$start, "::mlir::Value":$length,
    "::mlir::IntegerAttr":$pageDim, "::mlir::Value":$table,
    "::mlir::Value":$dest, "::mlir::Value":$slot), [{
      build($_builder, $_state, source, indices,
            $_builder.getDenseI64ArrayAttr(dims), start, length, pageDim, table,
            dest, slot, /*barriers=*/::mlir::Value(),
            /*index=*/::mlir::Value(), CachePriorityAttr());
    }]>];
  let hasVerifier = 1;
}

class Tile_BulkOutOp<string mnemonic> : Tile_Op<mnemonic, [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Tile_BulkOpInterface,
                              ["getArgument", "getTileType", "getPartCounts"]>]> {
  let arguments = (ins Tile_ReadBuffer:$source,
                       Tile_WrittenBuffer:$dest,
                       Variadic<Index>:$indices, DenseI64ArrayAttr:$dims,
                       Optional<Index>:$start, Optional<Index>:$length,
                       OptionalAttr<DenseI64ArrayAttr>:$parts,
                       OptionalAttr<Tile_CachePriority>:$cache);
  let hasVerifier = 1;
}

def Tile_BulkStoreOp : Tile_BulkOutOp<"bulk_store"> {
  let summary = "stores a tile in shared memory to a kernel argument by TMA";
  let description = [{
    Writes `source`, a tile in shared memory, to the tile of `dest`, a kernel
    argument, that starts at `indices`. Elements outside the extents are not
    written. `dims`, `cache`, `within` and the layouts are as for tile.bulk_copy.

    Without `parts`, one thread of the role, or of a kernel without roles, starts
    the whole store. With `parts = [m, n]`, the tile is a grid of m x n boxes, and
    the warps of the first role store one box each: warp w stores the box at row
    w mod m and column w div m, after all of its lanes have reached this
    operation. So the warps of an MMA can store their own rows without a barrier.

    TMA sees a write to shared memory if the writing thread has executed a
    `tile.fence_async` after it. If another thread starts the store, a
    `tile.barrier` must follow the fence; between the lanes of a warp that stores
    its own part, the fence is enough. After a `tile.bulk_wait ... read` the tile
    may be overwritten.

    ```mlir
    tile.bulk_wait 0 read
    tile.store %out, %staging[%c0, %c0] : tensor<128x64xf16, #mma>, !tile
    tile.fence_async
    tile.bulk_store %staging, %o[%b, %row, %h, %c0] dims [1, 3] parts [4, 1]
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
  let summary = "adds a tile in shared memory to a kernel argument by TMA";
  let description = [{
    Like tile.bulk_store, but adds each element of the tile to that of `dest`.
    Each addition is atomic, with relaxed order and device scope. The elements
    are f16, bf16 or f32. Source: PTX ISA, "cp.reduce.async.bulk.tensor".

    ```mlir
    tile.bulk_reduce add %dq, %dq_acc[%b, %row, %h, %c0] dims [1, 3] : !tile, !o
    ```
  }];
  let assemblyFormat = [{
    `add` $source `,` $dest `[` $indices `]` `dims` $dims
    (`within` $start^ `,` $length)? (`parts` $parts^)?
    (`cache` `(` $cache^ `)`)? attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest))
  }];
}

def Tile_BulkAddOp : Tile_Op<"bulk_add"> {
  let summary = "adds a tile in shared memory to global memory of any layout";
  let description = [{
    Computes dest[indices + i] += source[i] for every element of the shared
    buffer `source`. Each addition is atomic, with relaxed order and device
    scope. The elements are f16, bf16, f32 or f64. The operation is asynchronous
    and executed by the one thread of a role other than the first
    (tile.warp_roles). A `tile.bulk_wait` waits until `source` has been read, or
    until the additions are done. Other threads that write `source` must execute
    a `tile.fence_async` before the barrier at which they synchronise with this
    thread.

    ```mlir
    tile.wait_barrier %full[%c0] phase %phase : !barriers
    tile.bulk_add %sums, %dqh[%row, %c0] : !sums, !dqh
    tile.bulk_wait 0 read
    tile.arrive_barrier %empty[%c0] : !barriers
    ```

    Unlike tile.bulk_reduce it needs no tensor map. One instruction
    (cp.reduce.async.bulk; PTX ISA) adds a run of elements that is contiguous in
    both buffers. The size and both addresses of a run must be multiples of 16
    bytes (Analysis/BulkRuns.h). A run is skipped if its first element is outside
    the extents. A #tile.map may have storage beyond the extents; elements there
    have unspecified values after the operation.
  }];
  let arguments = (ins Tile_ReadBuffer:$source,
                       Tile_UpdatedBuffer:$dest,
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    $source `,` $dest `[` $indices `]` attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest))
  }];
  let hasVerifier = 1;
}

def Tile_BulkWaitOp : Tile_Op<"bulk_wait"> {
  let summary = "waits for bulk stores and reductions";
  let description = [{
    Waits until at most the `pending` newest tile.bulk_store, tile.bulk_reduce
    and tile.bulk_add of each thread are unfinished. With `read`, an operation
    counts as finished when it has read its tile, which may then be overwritten;
    without, when its writes are visible to the thread that issued it. The wait
    holds for all lanes of the warp; it holds for other warps after a
    `tile.barrier`. A thread that issues such operations must wait for them, at
    least with `read`, before it ends.

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
  let summary = "prefetches a tile of a kernel argument to the L2 cache by TMA";
  let description = [{
    Prefetches the tile that a later tile.bulk_copy to a buffer of type `tile`
    reads. One thread of the role issues it. The operation is a hint.

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
