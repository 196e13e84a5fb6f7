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

/// The most elements of a tile that a thread computes or accesses. Each of them
/// takes instructions of its own, and the time of the back end grows with the
/// square of their number.
static constexpr int64_t kMostElements = 1024;

/// Returns true if `value` is used only by products, directly or through
/// elementwise operations. Its fragments are loaded and computed one by one.
static bool feedsOnlyProducts(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto dot = dyn_cast<DotOp>(user)) {
        if (&use == &dot.getAccMutable())
          return false;
      } else if (user->hasTrait<OpTrait::Elementwise>() ||
                 isa<TransposeOp>(user)) {
        values.insert_range(user->getResults());
      } else {
        return false;
      }
    }
  return true;
}

/// Returns true if the elements of `value` are in registers of their own, all
/// at once. Elements of other tiles are constants, coordinates or the registers
/// of another tile, or are loaded from shared memory fragment by fragment.
static bool takesRegisters(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast_or_null<ConvertLayoutOp>(op))
    return !isSharedTile(convert.getSource().getType()) ||
           !feedsOnlyProducts(value);
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
      if (!tile || !getLayoutAttr(tile) || isSharedTile(tile))
        return success();
      Layout layout = getCanonicalLayout(tile);
      int64_t elements = layout.axisSize(kRegister);
      // Only elements of 16 bits are packed.
      int64_t bits = tile.getElementTypeBitWidth();
      int64_t registers =
          llvm::divideCeil(elements * (bits < 16 ? 32 : bits), 32);
      int64_t copies = layout.replication(kLane) * layout.replication(kWarp);
      bool isHeld = takesRegisters(value);
      bool isTooLarge = isHeld && registers >= chip->maxRegisters;
      bool isTooLong = elements > kMostElements && !feedsOnlyProducts(value);
      if (isTooLarge || isTooLong) {
        InFlightDiagnostic diag = op->emitOpError();
        if (isTooLarge)
          diag << "needs " << registers << " registers a thread for a tile of "
               << describe(tile) << "; " << chip->name << " has "
               << chip->maxRegisters << " for tiles, operands and addresses";
        else
          diag << "gives a thread " << elements << " elements of a tile of "
               << describe(tile) << "; the limit is " << kMostElements;
        if (copies > 1)
          diag.attachNote() << copies << " of " << threads
                            << " threads hold each element; extents with more "
                               "factors of two are shared by more threads";
        else
          diag.attachNote() << "more warps or smaller tiles need fewer";
        return failure();
      }
      // Threads with a single access have no work to share.
      if (isHeld && copies > 1 && registers > 4)
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
