//===- TileDialect.td - The tile dialect -------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEDIALECT_TD
#define TILE_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile";
  let summary = "GPU kernels on tiles with explicit layouts";
  let description = [{
    A tile program describes the work of one block of threads. It computes on
    tiles: small arrays of static shape. A tile is a builtin ranked tensor, so
    the operations of `arith` and `math` apply to it. The encoding of the tensor
    is the layout of the tile:

    - no encoding: no layout assigned yet (stage S1);
    - a *distributed* layout: the tile is in the registers of the threads;
    - a *memory* layout: the tile is in shared memory.

    Global and shared memory are `!tile.buffer`s, whose layout maps element
    coordinates to offsets. `tile.slice` makes views of buffers. `tile.load`,
    `tile.store`, `tile.copy` and `tile.atomic_rmw` move tiles.

    Accesses to global memory are bounded by the extents of their buffer:
    elements outside are read as zero and are not written.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Module attribute: the chip (a row of Chips/Chips.h) that the module is
    /// compiled for.
    static constexpr llvm::StringLiteral kTargetAttr = "tile.target";
    /// Attribute of a kernel argument: its name in the manifest.
    static constexpr llvm::StringLiteral kNameAttr = "tile.name";
    /// Unit attribute of a scalar kernel argument: launchers check that the
    /// value is finite and not negative.
    static constexpr llvm::StringLiteral kNonNegativeAttr = "tile.nonnegative";
    /// Attribute of an scf.for, and of a function that a kernel became: a
    /// #tile.schedule. Kernels have the inherent attribute `schedule`.
    static constexpr llvm::StringLiteral kScheduleAttr = "tile.schedule";
    /// Attribute of a kernel argument: a buffer whose layout the compiler may
    /// choose (see tile-choose-accumulators).
    static constexpr llvm::StringLiteral kAccumulatorAttr = "tile.accumulator";
  }];
}

#endif // TILE_DIALECT_TILE_IR_TILEDIALECT_TD
