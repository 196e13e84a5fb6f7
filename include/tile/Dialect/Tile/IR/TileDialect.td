//===- TileDialect.td - The tile dialect -------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEDIALECT_TD
#define TILE_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile";
  let summary = "GPU kernels over tiles whose layouts the compiler knows";
  let description = [{
    A tile program describes what one block of threads does with tiles: small
    blocks of elements of static shape. A tile is a builtin ranked tensor, so
    the operations of `arith` and `math` apply to it; its encoding, once
    assigned, is a layout (see the attributes below):

    - no encoding: not laid out yet (stage S1);
    - a *distributed* layout: the tile lives in the registers of the threads;
    - a *memory* layout: the tile lives in shared memory.

    Global and shared memory are `!tile.buffer`s, whose layout maps element
    coordinates to offsets. `tile.slice` makes views; `tile.load`,
    `tile.store`, `tile.copy` and `tile.atomic_rmw` move tiles.

    Accesses to global memory are bounded by the extents of their buffer:
    elements outside read as zero and are not written.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Module attribute: the chip (a row of Target/Chips.h) that the module is
    /// compiled for.
    static constexpr llvm::StringLiteral kTargetAttr = "tile.target";
    /// Attributes of a kernel's arguments: the name in the manifest, and that a
    /// scalar must be finite and not negative.
    static constexpr llvm::StringLiteral kNameAttr = "tile.name";
    static constexpr llvm::StringLiteral kNonNegativeAttr = "tile.nonnegative";
    /// Attribute of an scf.for: the number of stages that it is pipelined with.
    static constexpr llvm::StringLiteral kStagesAttr = "tile.stages";
    /// Attributes of a kernel, see tile-specialize-warps: the warps that copy
    /// for those that compute, those that store for them, and the registers of a
    /// thread that computes or does not.
    static constexpr llvm::StringLiteral kProducerWarpsAttr = "tile.producer_warps";
    static constexpr llvm::StringLiteral kStoringWarpsAttr = "tile.storing_warps";
    static constexpr llvm::StringLiteral kRegistersAttr = "tile.registers";
    /// Unit attribute of a kernel, see tile-overlap-dots.
    static constexpr llvm::StringLiteral kTurnsAttr = "tile.turns";
    /// Unit attribute of a kernel with roles that trades time for registers:
    /// descriptors that loops do not change are computed beside the products
    /// that read them (tile-to-nvgpu), and a whole warp counts and waits for a
    /// role of one thread (tile-vectorize), which leaves numbers in uniform
    /// registers.
    static constexpr llvm::StringLiteral kSavesRegistersAttr = "tile.saves_registers";
    /// Attribute of a kernel argument: a buffer whose layout the compiler may
    /// choose, see tile-choose-accumulators.
    static constexpr llvm::StringLiteral kAccumulatorAttr = "tile.accumulator";
    /// Kernel attributes from S5 on; see docs/Manifest.md for their content.
    static constexpr llvm::StringLiteral kGridAttr = "tile.grid";
    static constexpr llvm::StringLiteral kBlockAttr = "tile.block";
    static constexpr llvm::StringLiteral kSharedBytesAttr = "tile.shared_bytes";
    static constexpr llvm::StringLiteral kParamsAttr = "tile.params";
    static constexpr llvm::StringLiteral kOverlapsPreviousAttr = "tile.overlaps_previous";
    static constexpr llvm::StringLiteral kRequiresAttr = "tile.requires";
  }];
}

#endif // TILE_DIALECT_TILE_IR_TILEDIALECT_TD
