//===- TileKernelOps.td - Kernels, their grids and requirements *- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEKERNELOPS_TD
#define TILE_DIALECT_TILE_IR_TILEKERNELOPS_TD

// Included by TileOps.td.

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

#endif // TILE_DIALECT_TILE_IR_TILEKERNELOPS_TD
