//===- CheckRegisters.cpp - Registers that tiles take ---------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILECHECKREGISTERS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns true if the elements of `value` are in registers of their own, all
/// at once. Elements of other tiles are constants, coordinates or the registers
/// of another tile, or are loaded from shared memory fragment by fragment.
static bool takesRegisters(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast_or_null<ConvertLayoutOp>(op))
    return !isSharedTile(convert.getSource().getType());
  return !op || isa<LoadOp, DotOp, AtomicRMWOp, scf::ForOp, scf::IfOp>(op);
}

static std::string describe(RankedTensorType tile) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : tile.getShape())
    os << extent << 'x';
  os << tile.getElementType();
  return text;
}

namespace {
struct CheckRegisters : tile::impl::TileCheckRegistersBase<CheckRegisters> {
  using TileCheckRegistersBase::TileCheckRegistersBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return signalPassFailure();
    int64_t threads = kernel.getNumWarps() * chip->warpSize;
    auto check = [&](Value value, Operation *op) -> LogicalResult {
      auto tile = dyn_cast<RankedTensorType>(value.getType());
      if (!tile || !getLayoutAttr(tile) || isSharedTile(tile) ||
          !takesRegisters(value))
        return success();
      Layout layout = getCanonicalLayout(tile);
      int64_t elements = layout.axisSize(kRegister);
      int64_t registers =
          llvm::divideCeil(elements * tile.getElementTypeBitWidth(), 32);
      int64_t copies = layout.replication(kLane) * layout.replication(kWarp);
      if (registers >= chip->maxRegisters) {
        InFlightDiagnostic diag =
            op->emitOpError()
            << "needs " << registers << " registers a thread for a tile of "
            << describe(tile) << "; " << chip->name << " has "
            << chip->maxRegisters << " for tiles, operands and addresses";
        if (copies > 1)
          diag.attachNote() << copies << " of " << threads
                            << " threads hold each element; extents with more "
                               "factors of two are shared by more threads";
        else
          diag.attachNote() << "more warps or smaller tiles need fewer";
        return failure();
      }
      // Threads with a single access have no work to share.
      if (copies > 1 && registers > 4)
        remark::missed(op->getLoc(), remark::RemarkOpts::name("tile-copies")
                                         .category("tile-check-registers"))
            << remark::reason("the tile takes {0} registers a thread; {1} of "
                              "{2} threads hold each element",
                              registers, copies, threads);
      return success();
    };
    WalkResult result = kernel.walk([&](Operation *op) {
      for (Value value : op->getResults())
        if (failed(check(value, op)))
          return WalkResult::interrupt();
      if (auto loop = dyn_cast<scf::ForOp>(op))
        for (Value value : loop.getRegionIterArgs())
          if (failed(check(value, op)))
            return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
