//===- TileRoleOps.cpp - Verifiers of warp roles and mbarriers ------------===//

#include "BulkOps.h"
#include "mlir/IR/Builders.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

int64_t tile::getRegisterShare(int64_t threads) {
  // Each of the four parts of a multiprocessor has a quarter of the registers,
  // for a quarter of the warps, rounded up (CUDA occupancy calculator: "warp
  // allocation granularity").
  constexpr int64_t kRegisters = 65536, kGranularity = 4 * 32;
  int64_t allocated = llvm::alignTo(threads, kGranularity);
  return std::min<int64_t>(kRegisters / allocated, 255) / 8 * 8;
}

/// Verifies that only the warpgroups of the first role take turns, and that a
/// turn ends in the block in which it begins.
static LogicalResult verifyTurns(WarpRolesOp roles) {
  auto isTurn = [](Operation *op) { return isa<AwaitTurnOp, PassTurnOp>(op); };
  Operation *first = nullptr;
  for (Region &role : roles.getRoles()) {
    WalkResult result = role.walk([&](Block *block) -> WalkResult {
      Operation *open = nullptr;
      for (Operation &op : *block) {
        if (!isTurn(&op))
          continue;
        first = first ? first : &op;
        if (&role != &roles.getRoles().front())
          return op.emitOpError("must be in the first role");
        if (isa<AwaitTurnOp>(op) == (open != nullptr))
          return op.emitOpError(
              open ? "begins a turn inside another turn"
                   : "ends a turn that does not begin in its block");
        open = open ? nullptr : &op;
      }
      if (!open)
        return WalkResult::advance();
      return open->emitOpError("begins a turn that does not end in its block");
    });
    if (result.wasInterrupted())
      return failure();
  }
  if (!first)
    return success();
  int64_t warps = roles.getWarps().front(), groups = roles.getGroups();
  int64_t takers = groups > 1 ? groups : warps / kWarpgroupWarps;
  if (groups == 1 && (warps % kWarpgroupWarps != 0 || takers < 2))
    return first->emitOpError()
           << "needs two or more warpgroups of " << kWarpgroupWarps
           << " warps; the role has " << warps << " warps";
  // The hardware has 16 named barriers (PTX ISA, "bar"). Barrier 0 is that of
  // the block; each role, each of several groups of consumers, and each one
  // that takes turns has one.
  int64_t others = roles.getWarps().size() + groups - 1;
  if (takers + others > 15)
    return first->emitOpError()
           << "needs a barrier for each of " << takers << " groups and "
           << others << " roles; there are 15";
  return success();
}

int64_t WarpRolesOp::countWarps() {
  int64_t warps = 0;
  for (size_t role = 0; role < getWarps().size(); ++role)
    warps += countWarps(role);
  return warps;
}

LogicalResult ConsumerGroupOp::verify() {
  auto roles = (*this)->getParentOfType<WarpRolesOp>();
  if (!roles || !roles.isConsumer(*this))
    return emitOpError("must be in the first role");
  return success();
}

LogicalResult WarpRolesOp::verify() {
  if (getGroups() < 1 || (getGroups() > 1 && getRoles().size() < 2))
    return emitOpError() << "groups of consumers, of which there are "
                         << getGroups() << ", need another role";
  ArrayRef<int32_t> warps = getWarps();
  if (warps.size() != getRoles().size() || warps.empty())
    return emitOpError() << "has " << getRoles().size()
                         << " roles and the warps of " << warps.size();
  auto kernel = cast<KernelOp>((*this)->getParentOp());
  if (warps.front() != int32_t(kernel.getNumWarps()))
    return emitOpError() << "the first role has " << warps.front()
                         << " warps, the kernel " << kernel.getNumWarps();
  int64_t all = 0;
  for (int32_t count : warps) {
    if (count < 1)
      return emitOpError() << "a role needs a warp, got " << count;
  }
  all = countWarps();
  if (all > 32)
    return emitOpError() << "has " << all << " warps; a block has at most 32";
  if (std::optional<ArrayRef<int32_t>> registers = getRegisters()) {
    if (registers->size() != warps.size())
      return emitOpError() << "has " << warps.size()
                           << " roles and the registers of "
                           << registers->size();
    int64_t sum = 0, first = 0;
    for (auto [role, count] : llvm::enumerate(warps)) {
      int32_t each = (*registers)[role];
      if (each < 24 || each > 256 || each % 8 != 0)
        return emitOpError() << "registers are multiples of 8 in 24 .. 256, "
                                "got "
                             << each;
      if (first % kWarpgroupWarps != 0 && each != (*registers)[role - 1])
        return emitOpError()
               << "only " << kWarpgroupWarps
               << " warps at a time change their registers; roles " << role - 1
               << " and " << role << " share such a group and have "
               << (*registers)[role - 1] << " and " << each;
      first += countWarps(role);
      sum += countWarps(role) * 32 * each;
    }
    if (first % kWarpgroupWarps != 0)
      return emitOpError() << "only " << kWarpgroupWarps
                           << " warps at a time change their registers; the "
                              "block has "
                           << first << " warps";
    // setmaxnreg would wait forever if the roles need more registers than the
    // block starts with.
    int64_t share = getRegisterShare(all * 32);
    if (sum > share * all * 32)
      return emitOpError() << "gives its threads " << sum
                           << " registers in all; they start with "
                           << share * all * 32 << ", " << share << " each";
  }
  if (llvm::range_size(kernel.getBody().front().getOps<WarpRolesOp>()) != 1)
    return emitOpError("a kernel may have only one tile.warp_roles");
  for (Region &role : getRoles().drop_front()) {
    WalkResult result = role.walk([&](Operation *op) -> WalkResult {
      auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
      if (llvm::none_of(op->getOperandTypes(), isTile) &&
          llvm::none_of(op->getResultTypes(), isTile) &&
          !isa<BarrierOp, CopyOp>(op))
        return WalkResult::advance();
      return op->emitOpError("needs the warps of the first role; any other "
                             "runs in one thread");
    });
    if (result.wasInterrupted())
      return failure();
  }
  return verifyTurns(*this);
}

LogicalResult tile::verifyBarriers(Operation *op, BufferType barriers) {
  if (barriers.isShared() && barriers.getRank() == 1 &&
      barriers.getElementType().isInteger(64))
    return success();
  return op->emitOpError() << "barriers are i64 in a shared buffer of rank 1, "
                              "got "
                           << barriers;
}

LogicalResult InitBarriersOp::verify() {
  return verifyBarriers(*this, getBarriers().getType());
}

LogicalResult WaitBarrierOp::verify() {
  return verifyBarriers(*this, getBarriers().getType());
}

LogicalResult ArriveBarrierOp::verify() {
  return verifyBarriers(*this, getBarriers().getType());
}
