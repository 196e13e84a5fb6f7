//===- CheckRegisters.cpp - Registers that tiles take ---------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Layout/Queries.h"

namespace tile {
#define GEN_PASS_DEF_TILECHECKREGISTERS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns true if `convert` reads shared memory, also if it does so only after
/// tile-decompose-conversions.
static bool readsShared(ConvertLayoutOp convert) {
  auto from = cast<RankedTensorType>(convert.getSource().getType());
  if (isSharedTile(from) || isSharedTile(convert.getType()))
    return isSharedTile(from);
  ConversionKind kind = planConversion(getCanonicalLayout(from),
                                       getCanonicalLayout(convert.getType()))
                            .kind;
  return kind == ConversionKind::WarpShuffle ||
         kind == ConversionKind::SharedMemory;
}

/// Returns true if the elements of `value` are in registers of their own, all
/// at once. Elements of other tiles are constants, coordinates or the registers
/// of another tile, or are loaded from shared memory fragment by fragment.
static bool takesRegisters(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast_or_null<ConvertLayoutOp>(op))
    return !readsShared(convert) || !feedsOnlyProducts(value);
  return !op ||
         isa<LoadOp, DotOp, AtomicRMWOp, scf::ForOp, scf::IfOp, scf::WhileOp>(
             op);
}

static std::string describe(RankedTensorType tile) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : tile.getShape())
    os << extent << 'x';
  os << tile.getElementType();
  return text;
}

/// Returns the shapes of the live tiles at `peak`, with their registers.
static std::string describe(const RegisterPeak &peak) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(peak.live, os, [&](const LiveTile &live) {
    os << describe(live.type) << " (" << live.registers << ")";
  });
  return text;
}

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-check-registers");
}

/// Returns the location of `op`, or of a user of it: a constant that others
/// were merged with has none.
static Location findLocation(Operation *op) {
  if (isa<UnknownLoc>(op->getLoc()))
    for (Operation *user : op->getUsers())
      if (!isa<UnknownLoc>(user->getLoc()))
        return user->getLoc();
  return op->getLoc();
}

namespace {
struct CheckRegisters : tile::impl::TileCheckRegistersBase<CheckRegisters> {
  using TileCheckRegistersBase::TileCheckRegistersBase;

  void runOnOperation() override;

private:
  LogicalResult check(Value value, Operation *op);
  std::string describeLimit();
  LogicalResult checkIssue(DotOp dot);

  const Chip *chip;
  int64_t limit;
};
} // namespace

/// Says whose registers the limit counts.
std::string CheckRegisters::describeLimit() {
  if (limit == chip->maxRegisters)
    return "a thread of " + chip->name.str() + " has ";
  if (getSchedule(getOperation()).hasRoles() ||
      !getOperation().getOps<WarpRolesOp>().empty())
    return "a thread of its role has ";
  return "a thread of a block of " +
         std::to_string(countPlannedWarps(getOperation())) + " warps has ";
}

/// Checks the tile `value`, which `op` makes.
LogicalResult CheckRegisters::check(Value value, Operation *op) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile || !getLayoutAttr(tile) || isSharedTile(tile))
    return success();
  KernelOp kernel = getOperation();
  Layout layout = getCanonicalLayout(tile);
  int64_t elements = layout.axisSize(kRegister);
  int64_t registers = countRegisters(tile);
  int64_t threads = kernel.getNumWarps() * chip->warpSize;
  int64_t copies = layout.replication(kLane) * layout.replication(kWarp);
  bool isHeld = takesRegisters(value);
  bool isTooLarge = isHeld && registers >= limit;
  bool isTooLong = elements > kMostThreadElements && !feedsOnlyProducts(value);
  if (isTooLarge || isTooLong) {
    InFlightDiagnostic diag = emitError(findLocation(op));
    diag << "'" << op->getName() << "' op ";
    if (isTooLarge)
      diag << "needs " << registers << " registers a thread for a tile of "
           << describe(tile) << ", and more for operands and addresses; "
           << describeLimit() << limit;
    else
      diag << "gives a thread " << elements << " elements of a tile of "
           << describe(tile) << "; the limit is " << kMostThreadElements;
    if (copies > 1)
      diag.attachNote() << copies << " of " << threads
                        << " threads hold each element; extents with more "
                           "factors of two are shared by more threads";
    else
      diag.attachNote() << "more warps or smaller tiles need fewer";
    noteExtents(diag, kernel);
    return failure();
  }
  // Threads with a single access have no work to share.
  if (isHeld && copies > 1 && registers > 4)
    remark::missed(op->getLoc(), remarkName("tile-copies"))
        << remark::reason("the tile takes {0} registers a thread; {1} of "
                          "{2} threads hold each element",
                          registers, copies, threads);
  return success();
}

/// Checks that the block starts with the registers that an asynchronous product
/// needs.
LogicalResult CheckRegisters::checkIssue(DotOp dot) {
  KernelOp kernel = getOperation();
  Refusal refusal = checkIssueRegisters(*chip, countPlannedWarps(kernel),
                                        getIssueRegisters(dot));
  if (!refusal)
    return success();
  InFlightDiagnostic diag = dot.emitOpError() << *refusal;
  diag.attachNote() << "fewer warps start with more; fewer columns need fewer";
  noteExtents(diag, kernel);
  return diag;
}

void CheckRegisters::runOnOperation() {
  KernelOp kernel = getOperation();
  chip = getTargetChip(kernel);
  if (!chip)
    return signalPassFailure();
  limit = getRegisterLimit(kernel, *chip);
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (failed(check(value, op)))
        return WalkResult::interrupt();
    if (auto dot = dyn_cast<DotOp>(op); dot && failed(checkIssue(dot)))
      return WalkResult::interrupt();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (Value value : loop.getRegionIterArgs())
        if (failed(check(value, op)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  markAllAnalysesPreserved();
  RegisterPeak peak = estimateRegisters(kernel);
  if (!peak.op)
    return;
  bool fits = peak.total <= limit;
  auto remark = (fits ? remark::analysis : remark::missed)(
      peak.op->getLoc(), remarkName(fits ? "registers" : "registers-exceeded"));
  remark << remark::reason(
      "a thread needs about {0} registers, of {1}: {2} for "
      "addresses and scalars, the others for tiles of {3}",
      peak.total, limit, peak.total - peak.tiles, describe(peak));
}
