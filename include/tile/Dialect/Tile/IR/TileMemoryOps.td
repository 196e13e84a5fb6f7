//===- TileMemoryOps.td - Views of buffers and accesses to memory *- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEMEMORYOPS_TD
#define TILE_DIALECT_TILE_IR_TILEMEMORYOPS_TD

// Included by TileOps.td.

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "a view of a buffer at fixed indices of some dimensions";
  let description = [{
    Fixes the dimensions with an index and keeps those with a `*`. The result is
    a buffer of the kept dimensions.

    ```mlir
    // Rows of one batch and head: [B, S, H, D] -> [S, D].
    %qh = tile.slice %q[%b, *, %h, *] : !q to !qh
    // One stage of a ring of tiles. The type of the result may be left out.
    %kv = tile.slice %ring[%stage, *, *] : !ring
    ```

    Each index must be in bounds. SliceOp::inferType gives the type of the
    result: the strides and divisors of the kept dimensions, and the alignment
    that is guaranteed for every index.
  }];
  let arguments = (ins Tile_BufferType:$source, Variadic<Index>:$indices,
                       DenseBoolArrayAttr:$kept);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = [{
    $source `` custom<SliceIndices>($indices, $kept) attr-dict
    `:` custom<ViewTypes>(type($source), type($result), ref($kept))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source,
    // A null value keeps the dimension.
    "::llvm::ArrayRef<::mlir::Value>":$indices)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the type of a slice of `source` that keeps the dimensions with
    /// kept[i]. Reports an error and fails if there is none.
    static ::llvm::FailureOr<::tile::BufferType>
    inferType(::tile::BufferType source, ::llvm::ArrayRef<bool> kept,
              ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
}

def Tile_NarrowOp : Tile_Op<"narrow", [Pure]> {
  let summary = "a view of a range of a buffer along one dimension";
  let description = [{
    Elements `start` to `start + length - 1` along dimension `dim`, and all
    elements along the other dimensions. Elements outside the range are outside
    the bounds of the result, so that a tile at the end of one sequence does not
    access the next sequence:

    ```mlir
    // One sequence of a packed batch: [T, D] -> [length, D].
    %qs = tile.narrow %qh[0] from %start length %length : !qh to !qs
    ```

    The range must be in bounds. The type of the result may be left out;
    NarrowOp::inferType gives it: the extent of `dim` is dynamic, and the
    alignment is the one that is guaranteed for every `start`. Where `start` is
    the constant 0, the result may keep the alignment of `source`. The buffer
    must be in global memory.
  }];
  let arguments = (ins Tile_BufferType:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       Index:$start, Index:$length);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = [{
    $source `[` $dim `]` `from` $start `length` $length attr-dict
    `:` custom<ViewTypes>(type($source), type($result), ref($dim))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "int64_t":$dim,
                                 "::mlir::Value":$start, "::mlir::Value":$length)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the type of such a view of `source`. `fromFirst` says that the
    /// range starts at element 0, which keeps the alignment. Reports an error
    /// and fails if there is none.
    static ::llvm::FailureOr<::tile::BufferType>
    inferType(::tile::BufferType source, int64_t dim, bool fromFirst,
              ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
}

def Tile_PagedOp : Tile_Op<"paged", [Pure]> {
  let summary = "a view of pages in the order of a table";
  let description = [{
    A cache has its rows in pages of R rows each, [pages, R, ...]. A table of i32
    gives the pages of one sequence in order. The view has the rows of the
    sequence:

    ```
    result[row, ...] = source[table[row / R], row mod R, ...]
    ```

    ```mlir
    // The keys of one sequence: pages of 64 rows with 128 columns.
    !pages = !tile.buffer<?x64x128xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
    !table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
    %keys = tile.paged %cache by %table length %n : !pages, !table
        to !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16, page = 64>, global>
    ```

    The view has `length` rows, or fewer if the table has fewer pages; others are
    out of bounds. Entries of the table for rows out of bounds are not read. Rows of
    a page that does not exist are zero.

    `tile.load` and `tile.masked_load` read the view. The type of the result may be
    left out; PagedOp::inferType gives it. R is static.
  }];
  let arguments = (ins Tile_BufferType:$source, Tile_BufferType:$table,
                       Index:$length);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = [{
    $source `by` $table `length` $length attr-dict
    `:` custom<PagedTypes>(type($source), type($table), type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$table,
                                 "::mlir::Value":$length)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the type of a view of `source`. Reports an error and fails if there
    /// is none.
    static ::llvm::FailureOr<::tile::BufferType>
    inferType(::tile::BufferType source,
              ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
    /// Verifies the type of a table of `op`.
    static ::llvm::LogicalResult verifyTable(::mlir::Operation *op,
                                             ::tile::BufferType table);
  }];
}

def Tile_AllocOp : Tile_Op<"alloc"> {
  let summary = "allocates shared memory";
  let description = [{
    An uninitialised buffer in the shared memory of the block. It is live until
    its last use. `tile-plan-shared-memory` sets its `offset`, in bytes.

    ```mlir
    %k = tile.alloc : !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
    ```
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$offset);
  let results = (outs Res<Tile_BufferType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load"> {
  let summary = "reads a tile";
  let description = [{
    Reads the tile whose first element is at `indices`. Elements outside the
    extents of the buffer are zero.

    ```mlir
    %q = tile.load %qh[%row, %c0] : !qh -> tensor<128x64xf16>
    ```

    A result with a memory layout is a tile in shared memory.
  }];
  let arguments = (ins Tile_ReadBuffer:$buffer, Variadic<Index>:$indices);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` attr-dict `:` qualified(type($buffer)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_MaskedLoadOp : Tile_Op<"masked_load", [AttrSizedOperandSegments]> {
  let summary = "reads the elements of a tile that a mask keeps";
  let description = [{
    Like `tile.load`, but elements of the result where `mask` is false, and those
    outside the extents of the buffer, are `other`. Without `mask`, all elements
    are kept; without `other`, the others are zero.

    ```mlir
    %x = tile.masked_load %xh[%row, %c0] mask %m other %inf
        : !xh -> tensor<16x256xf32>
    ```

    The types of the mask and of `other` follow from that of the result. The
    tile must lie where a `tile.load` may read: the buffer is in global memory, and
    what the mask leaves out may be read all the same.
    `tile-expand-operations` replaces the operation by `tile.load` and
    `arith.select`.
  }];
  let arguments = (ins Tile_ReadBuffer:$buffer, Variadic<Index>:$indices,
                       Optional<Tile_TileOf<[I1], "i1">>:$mask,
                       Optional<AnyTypeOf<[AnyFloat, AnySignlessInteger]>>:$other);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` (`mask` $mask^)? (`other` $other^)? attr-dict `:`
    custom<MaskedLoadTypes>(ref($mask), ref($other), type($buffer), type($mask),
                            type($other), type($result))
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "reads a tile from places that an index tile gives";
  let description = [{
    Like `tile.load`, but the coordinate along `dim` comes from a tile of
    indices. `rows` is either a tile of one dimension, with an index for each
    coordinate of the result along `dim`, or a tile of the shape of the result,
    with an index for each element:

    ```mlir
    // result[i, j] = table[rows[i], column + j]
    %x = tile.gather %table[%c0, %column] along 0 by %rows
        : !table, tensor<64xi32> -> tensor<64x128xf16>
    // result[i, j] = logits[row + i, labels[i, j]]
    %y = tile.gather %logits[%row, %c0] along 1 by %labels
        : !logits, tensor<64x1xi32> -> tensor<64x1xf32>
    ```

    Indices count from `indices`, and elements outside of the extents of the
    buffer are zero, as in `tile.load`; so are those with a negative coordinate.
    The buffer is in global memory with strides. Neighbouring elements along
    other dimensions are read together where the layouts allow it.
  }];
  let arguments = (ins Tile_ReadBuffer:$buffer, Variadic<Index>:$indices,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       Tile_IndexTile:$rows);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` `along` $dim `by` $rows attr-dict
    `:` qualified(type($buffer)) `,` qualified(type($rows)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the layout of the indices if the result has the layout `result`.
    ::tile::Layout getRowsLayout(::tile::Layout result);
  }];
}

def Tile_LoadScalarOp : Tile_Op<"load_scalar"> {
  let summary = "reads one element";
  let description = [{
    Reads the element at `indices` of a buffer in global memory. The indices must
    be in bounds. All threads of the block get the same value, so loop bounds and
    branches may depend on it.

    ```mlir
    %start = tile.load_scalar %cu_seqlens[%b] : !cu -> i32
    ```
  }];
  let arguments = (ins Tile_ReadBuffer:$buffer, Variadic<Index>:$indices);
  let results = (outs AnyTypeOf<[F16, BF16, F32, F64, I8, I32, I64]>:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` attr-dict `:` qualified(type($buffer)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "writes a tile";
  let description = [{
    Writes a tile to the buffer, with its first element at `indices`. Elements
    outside the extents of the buffer are not written.

    ```mlir
    tile.store %o, %oh[%row, %c0] : tensor<128x64xf16>, !oh
    ```
  }];
  let arguments = (ins Tile_Tile:$value, Tile_WrittenBuffer:$buffer, Variadic<Index>:$indices);
  let assemblyFormat = [{
    $value `,` $buffer `[` $indices `]` attr-dict `:` qualified(type($value)) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def Tile_AtomicRMWOp : Tile_Op<"atomic_rmw", [
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "atomically combines a tile with memory, element by element";
  let description = [{
    Computes buffer[i] = kind(buffer[i], value[i]) for each element, atomically
    for each. Kinds: addf (f16, bf16, f32, f64); addi, maxs, mins, maxu, minu,
    ori, andi (i32, i64). Elements outside the extents of the buffer are skipped.
    If several elements of the tile have one place in the buffer (a stride of 0),
    all of them are combined with it. An element that several registers or
    threads hold copies of is combined once.

    ```mlir
    tile.atomic_rmw addf %dq, %dqh[%row, %c0] : tensor<64x64xf32>, !dqh
    %old = tile.atomic_rmw addi %n, %counters[%c0] order(acq_rel) scope(system)
        : tensor<128xi32>, !counters -> tensor<128xi32>
    ```

    The optional result is the previous content of the buffer, zero outside its
    extents. It has the layout of the value, of which no two warps may hold copies
    then; `tile-assign-layouts` chooses such a layout. `scope` is the set of threads
    for which the operation is atomic, `order` the memory order; the defaults are
    device and relaxed. Of a kernel's
    threads, one combines an element, but the order is that of the block: a
    release covers what all threads of the block have done before, an acquire what
    all of them do behind (tile-insert-barriers).

    tile-vectorize chooses the number of elements that one instruction combines
    (see Analysis/AccessWidth.h). Each element is atomic on its own.
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$value,
    Tile_UpdatedBuffer:$buffer, Variadic<Index>:$indices,
    DefaultValuedAttr<Tile_MemoryOrder, "::tile::MemoryOrder::Relaxed">:$order,
    DefaultValuedAttr<Tile_MemoryScope, "::tile::MemoryScope::Device">:$scope);
  let results = (outs Optional<Tile_Tile>:$result);
  let assemblyFormat = [{
    $kind $value `,` $buffer `[` $indices `]` (`order` `(` $order^ `)`)?
    (`scope` `(` $scope^ `)`)? attr-dict `:` qualified(type($value)) `,` qualified(type($buffer))
    (`->` qualified(type($result))^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::arith::AtomicRMWKind":$kind,
    "::mlir::Value":$value, "::mlir::Value":$buffer, "::mlir::ValueRange":$indices)>];
  let hasVerifier = 1;
}

def Tile_CopyOp : Tile_Op<"copy"> {
  let summary = "copies a tile from global to shared memory";
  let description = [{
    Fills `dest` with the tile of `source` that starts at `indices`. Elements
    outside the extents of the source become zero. With `async`, the copy is
    complete after a `tile.wait_group` that covers its `tile.commit_group`. On
    chips without asynchronous copies it is an ordinary copy.

    ```mlir
    tile.copy async %kh[%row, %c0], %stage : !kh, !stage
    ```
  }];
  let arguments = (ins Tile_ReadBuffer:$source, Variadic<Index>:$indices,
                       Tile_WrittenBuffer:$dest, UnitAttr:$async);
  let assemblyFormat = [{
    (`async` $async^)? $source `[` $indices `]` `,` $dest attr-dict
    `:` qualified(type($source)) `,` qualified(type($dest))
  }];
  let hasVerifier = 1;
}

def Tile_CommitGroupOp : Tile_Op<"commit_group"> {
  let summary = "closes a group of asynchronous copies";
  let description = [{
    Puts the asynchronous copies of this thread since its last
    `tile.commit_group` into a group.

    ```mlir
    tile.commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WaitGroupOp : Tile_Op<"wait_group"> {
  let summary = "waits for asynchronous copies";
  let description = [{
    Waits until at most the `pending` newest groups of this thread are
    unfinished. Other threads see the data after a `tile.barrier`.

    ```mlir
    tile.wait_group 1
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_FenceAsyncOp : Tile_Op<"fence_async"> {
  let summary = "makes writes to shared memory visible to the async proxy";
  let description = [{
    wgmma and TMA access shared memory through the async proxy, ordinary loads
    and stores through the generic proxy (PTX ISA, "Async proxy"). Writes to
    shared memory that this thread has made, or waited for, before the fence are
    visible to the async proxy after the next `tile.barrier`.
    `tile-insert-barriers` inserts the fence before barriers.

    ```mlir
    tile.fence_async
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier"> {
  let summary = "synchronises the threads of the block";
  let description = [{
    Waits until all threads of the block, or of the warp role, have reached the
    barrier. Their earlier accesses to shared memory and, with `global`, to
    global memory come before their later ones.

    ```mlir
    tile.barrier
    tile.barrier global
    ```
  }];
  let arguments = (ins UnitAttr:$global);
  let assemblyFormat = "(`global` $global^)? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, false); }]>];
}

def Tile_ScheduleBarrierOp : Tile_Op<"schedule_barrier"> {
  let summary = "keeps matrix products and memory accesses in their order";
  let description = [{
    The back end moves no matrix product and no access to memory across the
    barrier. `tile-lower-rings` puts it after loads that run ahead and before the
    stores of what they have loaded, so that the products between hide the
    latency of the loads: back ends move a load towards its use, or the use
    towards the load, to save registers. AMD chips: `amdgpu.sched_barrier`.
    NVIDIA's assembler has no such instruction, so there it does nothing.

    ```mlir
    tile.schedule_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_DIALECT_TILE_IR_TILEMEMORYOPS_TD
