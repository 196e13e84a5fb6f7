//===- TileOps.td - Operations of the tile dialect ---------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEOPS_TD
#define TILE_DIALECT_TILE_IR_TILEOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/Tile/IR/TileSchedule.td"
include "tile/Dialect/Tile/IR/TileTypes.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

// Buffers that an operation reads, writes or both. Their types tell the memory.
def Tile_ReadBuffer : Arg<Tile_BufferType, "", [MemRead]>;
def Tile_WrittenBuffer : Arg<Tile_BufferType, "", [MemWrite]>;
def Tile_UpdatedBuffer : Arg<Tile_BufferType, "", [MemRead, MemWrite]>;

class Tile_TileOf<list<Type> elements, string elementNames>
    : Type<And<[CPred<"::tile::isTile($_self) || ::tile::isOpenTile($_self)">,
                SubstLeaves<"$_self",
                  "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                  AnyTypeOf<elements>.predicate>]>,
           "tile of " # elementNames # " (a tensor of positive extents, static or "
           "named by #tile.open, rank 1 or more, at most 2^20 elements, no other "
           "encoding but a layout)",
           "::mlir::RankedTensorType">;
def Tile_Tile : Tile_TileOf<[F16, BF16, F32, F64, I1, I8, I32, I64],
                            "f16, bf16, f32, f64, i1, i8, i32 or i64">;
def Tile_FactorTile : Tile_TileOf<[F16, BF16, F32, I8], "f16, bf16, f32 or i8">;
def Tile_SumTile : Tile_TileOf<[F32, I32], "f32 or i32">;
def Tile_IndexTile : Tile_TileOf<[I32, I64], "i32 or i64">;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, Symbol,
    SingleBlockImplicitTerminator<"::tile::ReturnOp">]> {
  let summary = "a kernel that computes on tiles";
  let description = [{
    The program of one block of `num_warps` warps, or of a cluster of blocks with
    so many if they are more than 32 (`tile-form-clusters`). The arguments are buffers in
    global memory and scalars (f16, bf16, f32, f64, i1, i32, i64, index).
    `tile.grid` in the body gives the number of blocks. `schedule`
    (`#tile.schedule`) gives the kernel producer warps, among others.
    With `cluster_blocks`, so many blocks run the program at each place of the grid,
    as a cluster: they differ in their `tile.cluster_rank`.
    `tile-plan-shared-memory` sets `shared_bytes`.

    The program may leave extents of tiles open (`tile.param`).
    `tile-close-extents` gives them values and records these in `extents`, and in
    `grid_blocks` how many blocks the grid has for each multiprocessor, rounded up,
    where it chose the values for a problem.

    An argument may have a name in the manifest (`tile.name`, a string). A scalar
    may be `tile.nonnegative`: launchers check that it is finite and not negative.
    The compiler may choose the layout of a `tile.accumulator`; kernels share it
    by its string, or without one by `tile.name` (`tile-choose-accumulators`).

    Different arguments are different memory. Reads and writes of one argument by
    one block take effect in the order of the program, whichever threads hold the
    elements. The order of accesses by different blocks is not defined, and
    neither is that of two writes to one element or of atomic operations.

    ```mlir
    tile.kernel @copy(%src: !b, %dst: !b) attributes {num_warps = 4 : i32} {
      %c64 = arith.constant 64 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %rows = tile.dim %src[0] : !b
      %blocks = arith.ceildivui %rows, %c64 : index
      tile.grid %blocks, %c1, %c1
      %block = tile.program_id x
      %row = arith.muli %block, %c64 : index
      %t = tile.load %src[%row, %c0] : !b -> tensor<64x128xf16>
      tile.store %t, %dst[%row, %c0] : tensor<64x128xf16>, !b
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    DefaultValuedOptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>, "4">:$num_warps,
    DefaultValuedOptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>, "1">:$cluster_blocks,
    OptionalAttr<Tile_ScheduleAttr>:$schedule,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$shared_bytes,
    OptionalAttr<DictionaryAttr>:$extents,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$grid_blocks,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return {}; }
    /// Verifies that a kernel may have arguments of these types. The error names
    /// the first type that is not allowed.
    static ::llvm::LogicalResult verifyArguments(
        ::mlir::TypeRange types,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
    /// Returns the fields that a schedule of a kernel may have.
    static ::llvm::ArrayRef<::llvm::StringRef> getScheduleFields();
    /// Returns the tile.grid of the body.
    ::tile::GridOp getGrid();
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, ReturnLike, Terminator,
                                       HasParent<"::tile::KernelOp">]> {
  let summary = "ends a kernel";
  let description = [{
    The terminator of a kernel. It may be omitted.

    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_GridOp : Tile_Op<"grid", [HasParent<"::tile::KernelOp">]> {
  let summary = "the number of blocks of a launch";
  let description = [{
    The number of blocks in each dimension of the grid, as a function of the
    kernel's arguments. The operands must be computed from constants, integer
    arguments, `tile.dim` of buffer arguments and `tile.multiprocessors` by
    arith.addi, subi, muli, ceildivui, divui, remui, minui, maxui (or the signed
    forms; values are non-negative). The compiler writes the function to the
    manifest, and the launcher evaluates it.

    ```mlir
    tile.grid %blocks, %heads, %batch
    ```
  }];
  let arguments = (ins Index:$x, Index:$y, Index:$z);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict";
  let hasVerifier = 1;
}

def Tile_RequireOp : Tile_Op<"require", [HasParent<"::tile::KernelOp">]> {
  let summary = "a requirement on an extent of an argument";
  let description = [{
    Requires that the extent `dim` of `buffer`, an argument of the kernel, is
    `equal` to `value`, `at_least` or `at_most` that, or a `multiple_of` it (the
    only multiple of 0 is 0). The kernel is incorrect for other arguments. The
    value is computed by the operations that `tile.grid` allows. The compiler
    writes the requirement to the manifest, and launchers check it. Their error
    message ends with `reason`, which describes the value. If the extent and the
    value are constants, the compiler checks the requirement. Nothing is computed
    on the device.

    ```mlir
    tile.require %stats[2] at_least %rows, "the rows of q" : !stats
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, I64Attr:$dim,
    Tile_Relation:$relation, Index:$value, StrAttr:$reason);
  let assemblyFormat = [{
    $buffer `[` $dim `]` $relation $value `,` $reason attr-dict `:`
    qualified(type($buffer))
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// Returns whether the requirement is met; std::nullopt unless the extent
    /// and the value are constants.
    ::std::optional<bool> decide();
    /// Returns the words for `relation` between the extent and the value in a
    /// message.
    static ::llvm::StringRef describe(::tile::Relation relation);
  }];
}

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "index of this block in the grid";
  let description = [{
    The index of the block along dimension `axis` of the grid.

    ```mlir
    %block = tile.program_id x
    ```
  }];
  let arguments = (ins Tile_Dimension:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "extent of the grid";
  let description = [{
    The number of blocks of the launch along one axis. A persistent kernel that
    strides by it is right for a grid of any size.

    ```mlir
    %workers = tile.num_programs x
    ```
  }];
  let arguments = (ins Tile_Dimension:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_MultiprocessorsOp : Tile_Op<"multiprocessors", [Pure]> {
  let summary = "multiprocessors of the GPU that runs the kernel";
  let description = [{
    The number of multiprocessors (NVIDIA) or compute units (AMD) of the GPU, for
    the grid of a persistent kernel. It is known at launch only: `tile.grid` and
    `tile.require` may depend on it, the code of the kernel may not.

    ```mlir
    %processors = tile.multiprocessors
    %blocks = arith.minui %work, %processors : index
    tile.grid %blocks, %c1, %c1
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_RecomputeOp : Tile_Op<"recompute", [NoMemoryEffect]> {
  let summary = "a copy of a number that hides its origin";
  let description = [{
    The result is `value`, but no pass replaces it by `value`. Values that
    are computed from it are recomputed after each such operation instead of
    being kept in registers in between. This lowers register pressure in loops
    that need all registers.

    ```mlir
    %row1 = tile.recompute %row
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def Tile_DimOp : Tile_Op<"dim", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "extent of a buffer";
  let description = [{
    The number of elements of `buffer` along dimension `dim`.

    ```mlir
    %rows = tile.dim %q[1] : !q
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$buffer `[` $dim `]` attr-dict `:` qualified(type($buffer))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

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

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["requireLayouts"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "matrix product";
  let description = [{
    Computes a * b + acc for a: MxK, b: KxN, acc: MxN. a and b have one element
    type. `instruction` pins a row of the instruction table (Chips/Mma.h). `warps`
    pins the numbers of warps along the rows and the columns of the result.

    | a and b | acc | sums |
    |---|---|---|
    | f16, bf16 | f32 | rounded to f32 |
    | i8, signed | i32 | exact modulo 2^32 |
    | f32, with `precision` | f32 | rounded to f32 |

    ```mlir
    %s = tile.dot %q, %kt, %zero
        : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %n = tile.dot %x, %y, %none
        : tensor<128x64xi8>, tensor<64x64xi8> -> tensor<128x64xi32>
    %d = tile.dot %e, %f, %zero precision(tf32)
        : tensor<128x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
    ```

    f32 operands need `precision`, since no chip multiplies them at full precision
    and at the rate of a matrix product:

    * `tf32` keeps the 11 leading bits of each operand. They are rounded to
      nearest, except that wgmma cuts off the others of an operand in shared
      memory. So an element of the result differs from the exact one by at most
      2^-9 times the sum of |a||b|, plus the rounding of the sums. Chips without
      tf32 compute a closer result: CDNA multiplies f32, and on RDNA the product
      becomes one of `bf16x3`.
    * `bf16x3` divides each operand into two bf16 numbers, x = hi + lo, and adds
      lo * hi, hi * lo and hi * hi, on every chip. The error is at most 3 * 2^-16
      times the sum of |a||b|, plus the rounding of the sums.
      `tile-expand-products` writes it as three products of bf16.

    Under both, an infinite operand, or one beyond 3.39e38, may give a NaN. An
    operand below 2^-118 may lose more of its bits: it may be off by 2^-134.

    After tile-assign-layouts, the layouts of a and b are `#tile.dot_operand` of
    the layout of acc. wgmma reads b, and optionally a, from shared memory; these
    operands are tiles with a swizzled memory layout, and buffers after
    tile-bufferize.

    ```mlir
    %s = tile.dot %qs, %ks, %zero
        : !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>,
          !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
          -> tensor<128x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>
    ```

    With `async`, which requires wgmma, the operation only starts the MMA and
    yields a `!tile.pending`. `tile.await` makes it a tile. Until then the
    buffers that the dot reads must not be overwritten. The accumulator may be a
    product in flight, too; its type is written then. `tile-overlap-dots` makes
    dots asynchronous.

    ```mlir
    !operand = tensor<64x64xf16, #tile.swizzle<128>>
    !result = tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>
    %p = tile.dot async %q, %k, %zero : !operand, !operand -> !tile.pending<!result>
    %r = tile.dot async %q, %k, %p
        : !operand, !operand, !tile.pending<!result> -> !tile.pending<!result>
    %s = tile.await %r : !tile.pending<!result>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_FactorTile, Tile_BufferType]>:$a,
                       AnyTypeOf<[Tile_FactorTile, Tile_BufferType]>:$b,
                       AnyTypeOf<[Tile_SumTile, Tile_PendingType]>:$acc,
                       OptionalAttr<StrAttr>:$instruction,
                       OptionalAttr<DenseI64ArrayAttr>:$warps,
                       OptionalAttr<Tile_ProductPrecision>:$precision,
                       UnitAttr:$async);
  let results = (outs AnyTypeOf<[Tile_SumTile, Tile_PendingType]>:$result);
  let assemblyFormat = [{
    (`async` $async^)? $a `,` $b `,` $acc (`precision` `(` $precision^ `)`)?
    attr-dict `:` custom<DotTypes>(type($a), type($b), type($acc), type($result))
  }];
  // A product of which nothing is pinned.
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$a,
                                 "::mlir::Value":$b, "::mlir::Value":$acc), [{
    build($_builder, $_state, type, a, b, acc, ::mlir::StringAttr(),
          ::mlir::DenseI64ArrayAttr(), ::tile::ProductPrecisionAttr(),
          /*async=*/false);
  }]>];
  let extraClassDeclaration = [{
    /// Returns the type of the product: that of the result, or of the tile that
    /// tile.await makes of it.
    ::mlir::RankedTensorType getTile();
    /// Returns true if an instruction of this row computes the product: its
    /// elements are those of the operands, or as precise as `precision` asks.
    bool isComputedBy(const ::tile::Mma &row);
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "reduces a tile along one dimension";
  let description = [{
    Combines the elements along `dim` with `kind`: addf, mulf, maximumf,
    minimumf, maxnumf, minnumf, addi, muli, maxs, mins, maxu, minu, andi, ori,
    xori.
    The order of the combinations is not specified.

    ```mlir
    %max = tile.reduce maxnumf %s along 1 : tensor<128x64xf32> -> tensor<128xf32>
    ```

    A tile of one dimension becomes a tile of one element, which tensor.extract
    makes a scalar. `tile-expand-operations` makes such a tile the only row of
    another one, so layouts are for tiles of two or more dimensions.

    ```mlir
    %sum_tile = tile.reduce addf %row along 0 : tensor<128xf32> -> tensor<1xf32>
    %sum = tensor.extract %sum_tile[%c0] : tensor<1xf32>
    ```
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

/// A reduction without exchange between some threads. `layoutMethod` is the
/// method of Layout that gives the layout of the result.
class Tile_PartialReductionOp<string mnemonic, string layoutMethod>
    : Tile_Op<mnemonic, [Pure]> {
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::arith::AtomicRMWKind":$kind,
                                 "::mlir::Value":$source, "int64_t":$dim)>];
  let assemblyFormat = [{
    $kind $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the layout of a result along `dim` of a tile with the layout
    /// `source`.
    static Layout reduceLayout(const Layout &source, unsigned dim) {
      return source.}] # layoutMethod # [{(dim);
    }
  }];
}

def Tile_ReduceInWarpsOp
    : Tile_PartialReductionOp<"reduce_in_warps", "reduceInWarps"> {
  let summary = "reduces a tile along one dimension within each warp";
  let description = [{
    Like `tile.reduce`, but without exchange between warps. Along `dim`, the
    result has one element for each warp that shares that dimension of the
    source, and each warp holds its own element. `tile-decompose-reductions`
    creates this operation for reductions over several warps.

    ```mlir
    // 4 warps side by side, 8 of 32 columns each.
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    %part = tile.reduce_in_warps addf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16x4xf32, #partial>
    ```

    Both tiles have layouts; that of the result follows from that of the source
    (Layout::reduceInWarps). The kinds are those of `tile.reduce`.
  }];
}

def Tile_ReduceInThreadsOp
    : Tile_PartialReductionOp<"reduce_in_threads", "reduceInThreads"> {
  let summary = "reduces a tile along one dimension within each thread";
  let description = [{
    Like `tile.reduce`, but without exchange between threads. Along `dim`, the
    result has one element for each lane of each warp that shares that dimension
    of the source, and each thread holds its own element.
    `tile-defer-reductions` creates this operation for reductions whose results
    a loop adds up.

    ```mlir
    // 4 lanes share the columns of a row.
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> d1, 8 -> d0], warp = [4 -> d0 * 16]>
    %part = tile.reduce_in_threads addf %s along 1
        : tensor<64x32xf32, #mma> -> tensor<64x4xf32, #partial>
    ```

    Both tiles have layouts; that of the result follows from that of the source
    (Layout::reduceInThreads). The kinds are those of `tile.reduce`.
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, ReturnLike, Terminator,
    ParentOneOf<["::tile::AssociativeScanOp", "::tile::AssociativeScanInWarpsOp",
                 "::tile::JoinAssociativeScansOp", "::tile::MatmulOp"]>]> {
  let summary = "ends the region of an operation on tiles";
  let description = [{
    Gives the tiles that the epilogue of a matrix product stores, one to each c, or
    the numbers that the region of a scan combines elements to.

    ```mlir
    tile.matmul %x, %w to %y : !x, !w, !y epilogue {
    ^bb0(%sum: !sum, %row: index, %column: index):
      %rounded = arith.truncf %sum : !sum to tensor<?x?xbf16, #tile.open<BM, BN>>
      tile.yield %rounded : tensor<?x?xbf16, #tile.open<BM, BN>>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Tile_Tile, AnyFloat, AnySignlessInteger]>>:$values);
  let assemblyFormat = "($values^ `:` qualified(type($values)))? attr-dict";
}

def Tile_UnitTriangularInverseOp : Tile_Op<"unit_triangular_inverse", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "inverse of a lower triangular matrix with ones on its diagonal";
  let description = [{
    Computes the inverse of I + L, where L has the elements of `source` below the
    diagonal and zeros elsewhere. The other elements of `source` are not used. The
    result has ones on the diagonal and zeros above it.

    ```mlir
    %t = tile.unit_triangular_inverse %a : tensor<64x64xf32>
    ```

    The delta rule needs it: a chunk of n steps, each of which uses the results of
    all steps before it, becomes a product with this matrix.

    The tile is square, its elements are f32, and it has no layout.
    `tile-expand-operations` replaces the operation by 2 * (ceil(log2(n)) - 1)
    steps with a product of n x n x n each, which doubles the size of the inverted
    diagonal blocks (Higham, "Accuracy and Stability of Numerical Algorithms",
    14.2.2). Each product is the sum of three products of bf16 tiles, with
    a relative error of about 2^-16 of the sums of absolute values. Elements that
    are infinite give NaN.
  }];
  let arguments = (ins Tile_TileOf<[F32], "f32">:$source);
  let results = (outs Tile_TileOf<[F32], "f32">:$result);
  let assemblyFormat = [{ $source attr-dict `:` qualified(type($source)) }];
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "repeats a tile along a new dimension";
  let description = [{
    Computes result[.., i, ..] = source[..] for all i of the new dimension `dim`.
    Use `tensor.splat` to make a tile of a scalar.

    ```mlir
    %m = tile.broadcast %max along 1 : tensor<128xf32> -> tensor<128x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_BroadcastInWarpsOp : Tile_Op<"broadcast_in_warps", [Pure]> {
  let summary = "repeats a tile along one dimension within each warp";
  let description = [{
    The reverse of `tile.reduce_in_warps`: each warp repeats its own element along
    `dim` for all elements that it has of the result. No element moves between
    threads. `tile-join-reductions` creates this operation.

    ```mlir
    // 4 warps side by side, 8 of 32 columns each.
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    %t = tile.broadcast_in_warps %part along 1
        : tensor<16x4xf32, #partial> -> tensor<16x32xf32, #mma>
    ```

    Both tiles have layouts; that of the source follows from that of the result
    (Layout::reduceInWarps).
  }];
  let arguments = (ins Tile_Tile:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["isRematerializable"]>]> {
  let summary = "the coordinate of each element";
  let description = [{
    Computes result[.., i, ..] = i, the coordinate along `dim`.

    ```mlir
    %col = tile.iota along 1 : tensor<128x64xi32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_IndexTile:$result);
  let assemblyFormat = "`along` $dim attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "a tile with its dimensions reordered";
  let description = [{
    Dimension i of the result is dimension `order[i]` of the source. The
    elements stay where they are and only the layout changes, so the operation
    costs nothing.

    ```mlir
    %kt = tile.transpose %k [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Tile, Tile_BufferType]>:$source,
                       DenseI64ArrayAttr:$order);
  let results = (outs AnyTypeOf<[Tile_Tile, Tile_BufferType]>:$result);
  let assemblyFormat = [{
    $source $order attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "converts a tile to another layout";
  let description = [{
    The result has the elements of the source. A conversion between two
    distributed layouts is lowered to register moves, warp shuffles or an
    exchange through shared memory, as the layouts require, or to nothing if they
    agree. A conversion from a memory layout is a read of shared memory (by
    ldmatrix where it fits); one to a memory layout is a write.

    ```mlir
    %a = tile.convert_layout %p : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

include "tile/Dialect/Tile/IR/TileClusterOps.td"
include "tile/Dialect/Tile/IR/TileLaunchOps.td"
include "tile/Dialect/Tile/IR/TileDebugOps.td"
include "tile/Dialect/Tile/IR/TileScanOps.td"
include "tile/Dialect/Tile/IR/TileShapeOps.td"
include "tile/Dialect/Tile/IR/TileParamOps.td"
include "tile/Dialect/Tile/IR/TileRoleOps.td"
include "tile/Dialect/Tile/IR/TileAttentionOps.td"
include "tile/Dialect/Tile/IR/TileMatmulOps.td"
include "tile/Dialect/Tile/IR/TileScheduleOps.td"

#endif // TILE_DIALECT_TILE_IR_TILEOPS_TD
