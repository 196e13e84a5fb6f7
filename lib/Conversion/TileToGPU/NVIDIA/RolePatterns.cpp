//===- RolePatterns.cpp - Warp roles and mbarriers ------------------------===//

#include "../Access/BufferParts.h"
#include "../Access/VectorAccess.h"
#include "../Lowering.h"
#include "../Roles.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/PendingProducts.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Before the conversion
//===----------------------------------------------------------------------===//

int64_t tile::countWarps(KernelOp kernel) {
  int64_t warps = kernel.getNumWarps();
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>())
    warps = roles.countWarps();
  return warps;
}

bool tile::setsRegisters(KernelOp kernel) {
  return llvm::any_of(
      kernel.getBody().front().getOps<WarpRolesOp>(),
      [](WarpRolesOp roles) { return bool(roles.getRegisters()); });
}

/// Emits the wait of `threads` threads for each other at a named barrier.
static void emitNamedBarrier(Emitter &b, Value barrier, int64_t threads) {
  NVVM::BarrierOp::create(b, TypeRange(), barrier, b.i32(threads),
                          NVVM::BarrierReductionAttr(), Value());
}

/// Emits the number of this thread's group of consumers, each of `threads`
/// threads, an i32.
static Value emitConsumerGroup(Emitter &b, int64_t threads, int64_t warpSize) {
  // Threads are numbered within a group (numberThreadsInGroups), but not in
  // this register.
  Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  return b.uniform(b.combine<arith::DivUIOp>(thread, threads, 1), warpSize);
}

namespace {
/// The groups of consumers, or the warpgroups, that take turns. Each waits for
/// its turn at a named barrier of its own; these barriers follow those of the
/// roles.
class Turns {
public:
  Turns(WarpRolesOp roles, int64_t warpSize)
      : isAlternating(roles.getGroups() > 1), warpSize(warpSize) {
    int64_t warps = roles.getWarps().front();
    groupWarps = isAlternating ? warps : kWarpgroupWarps;
    groups = isAlternating ? roles.getGroups() : warps / kWarpgroupWarps;
    firstBarrier = roles.getGroups() + roles.getRoles().size();
  }

  /// Emits the wait of this thread's warpgroup for the end of the previous
  /// warpgroup's turn.
  void await(Emitter &b) {
    Value group = emitGroup(b);
    emitNamedBarrier(b, b.add(b.i32(firstBarrier), group), countThreads());
  }
  /// Emits the end of the turn: the next warpgroup may start.
  void pass(Emitter &b) {
    Value group = emitGroup(b);
    Value next = b.add(group, 1);
    next = b.select(isLast(b, group), b.i32(0), next);
    NVVM::BarrierArriveOp::create(b, b.add(b.i32(firstBarrier), next),
                                  b.i32(countThreads()));
  }
  /// Emits the start of the first turn: the last warpgroup lets the first one
  /// start.
  void begin(Emitter &b) {
    OpBuilder::InsertionGuard guard(b);
    b.enterIf(isLast(b, emitGroup(b)));
    NVVM::BarrierArriveOp::create(b, b.i32(firstBarrier),
                                  b.i32(countThreads()));
  }

private:
  /// Emits the number of this thread's group.
  Value emitGroup(Emitter &b) const {
    if (isAlternating)
      return emitConsumerGroup(b, groupWarps * warpSize, warpSize);
    return b.groupOf(b.threadNumber(), kWarpgroupWarps * warpSize, warpSize);
  }
  Value isLast(Emitter &b, Value group) const {
    return b.equal(group, b.i32(groups - 1));
  }
  /// Returns the number of threads at a barrier: a warpgroup that waits and one
  /// that arrives.
  int64_t countThreads() const { return 2 * groupWarps * warpSize; }

  /// True for groups of consumers.
  bool isAlternating;
  int64_t groups, groupWarps, firstBarrier, warpSize;
};
} // namespace

/// Returns true if `op` has side effects, no results and no regions, and is no
/// wait. All lanes wait, because all lanes may load what others have written.
static bool hasEffect(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 0 &&
         !op->hasTrait<OpTrait::IsTerminator>() &&
         !isa<WaitBarrierOp, WaitPrerequisitesOp>(op) &&
         !isMemoryEffectFree(op);
}

/// Returns true if each lane of the warp executes a part of `op`.
static bool isOfAllLanes(Operation *op) {
  auto copy = dyn_cast<BulkCopyOp>(op);
  return copy && copiesByLanes(copy);
}

/// Puts each operation with effects of a role that one thread executes into a
/// branch for an elected thread. The whole warp runs the other operations.
static void electForEffects(Region &role) {
  SmallVector<Operation *> effects;
  role.walk([&](Operation *op) {
    if (hasEffect(op) && !isOfAllLanes(op))
      effects.push_back(op);
  });
  for (Operation *op : effects) {
    Emitter b(op->getLoc(), op);
    b.enterIf(b.elect());
    op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }
}

/// Returns true if all lanes of a warp have to run the role.
static bool hasOpOfAllLanes(Region &role) {
  return role
      .walk([](Operation *op) {
        return isOfAllLanes(op) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

void tile::prepareRoles(KernelOp kernel, int64_t warpSize,
                        RoleContext &context) {
  bool savesRegisters = getSchedule(kernel).savesRegisters();
  int64_t groupThreads = kernel.getNumWarps() * warpSize;
  kernel.walk([&](Operation *op) {
    auto alloc = dyn_cast<AllocOp>(op);
    std::optional<int64_t> bytes = alloc ? getGroupBytes(alloc) : std::nullopt;
    if (isa<ConsumerGroupOp>(op) || bytes)
      context.groups[op] = {groupThreads, bytes.value_or(0)};
  });
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>())
    for (auto [i, role] : llvm::enumerate(roles.getRoles())) {
      Turns turns(roles, warpSize);
      bool takesTurns = false;
      role.walk([&, i = i](Operation *op) {
        Emitter b(op->getLoc(), op);
        if (isa<ArriveBarrierOp, AssertOp, BulkOpInterface, BulkWaitOp,
                PrintOp>(op) &&
            i != 0)
          context.oneThread.insert(op);
        if (isa<AwaitTurnOp>(op)) {
          takesTurns = true;
          turns.await(b);
        } else if (isa<PassTurnOp>(op)) {
          turns.pass(b);
        } else if (isa<BarrierOp>(op)) {
          // Named barrier 0 is that of the block. Those of the groups of
          // consumers and of the other roles follow.
          int64_t threads = roles.getWarps()[i] * warpSize;
          Value barrier = b.i32(i == 0 ? 1 : roles.getGroups() + i);
          if (i == 0 && roles.getGroups() > 1)
            barrier = b.add(barrier, emitConsumerGroup(b, threads, warpSize));
          emitNamedBarrier(b, barrier, threads);
        } else {
          return;
        }
        op->erase();
      });
      if (takesTurns) {
        Emitter b(roles.getLoc(), &role.front(), role.front().begin());
        turns.begin(b);
      }
      if (i != 0 && (savesRegisters || hasOpOfAllLanes(role))) {
        electForEffects(role);
        context.wholeWarps.insert(&role);
      }
    }
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

/// The threads of a group of consumers, on the branch of their role.
static constexpr StringLiteral kGroupThreadsAttr = "tile.group_threads";

void tile::numberThreadsInGroups(Operation *root) {
  root->walk([](scf::IfOp branch) {
    auto threads = branch->getAttrOfType<IntegerAttr>(kGroupThreadsAttr);
    if (!threads)
      return;
    branch->removeAttr(kGroupThreadsAttr);
    branch.getThenRegion().walk([&](Operation *op) {
      auto id = dyn_cast<mlir::gpu::ThreadIdOp>(op);
      if (!isa<tile::gpu::ThreadOp>(op) &&
          !(id && id.getDimension() == mlir::gpu::Dimension::x))
        return;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      Value thread = op->getResult(0);
      Value count = arith::ConstantOp::create(
          builder, op->getLoc(),
          builder.getIntegerAttr(thread.getType(), threads.getInt()));
      auto inGroup =
          arith::RemUIOp::create(builder, op->getLoc(), thread, count);
      thread.replaceAllUsesExcept(inGroup, inGroup);
    });
  });
}

Value tile::emitGroupOffset(Operation *op, Lowering &b) {
  auto group = b.roles.groups.find(op);
  if (group == b.roles.groups.end())
    return {};
  auto [threads, bytes] = group->second;
  Value number = b.toIndex(emitConsumerGroup(b, threads, b.chip.warpSize));
  return isa<AllocOp>(op) ? b.mul(number, bytes) : number;
}

static LogicalResult convertConsumerGroup(ConsumerGroupOp op,
                                          Parts<ConsumerGroupOp>, Lowering &b) {
  return b.replace(op, emitGroupOffset(op, b));
}

namespace {
struct Role {
  Region *region;
  size_t number;
  /// The warps of the role: [begin, end).
  int64_t begin, end;
};
} // namespace

static void setRegisters(WarpRolesOp op, size_t role, int64_t threads,
                         Emitter &b) {
  std::optional<ArrayRef<int32_t>> registers = op.getRegisters();
  if (!registers)
    return;
  // The registers that a thread starts with (PTX ISA, "setmaxnreg").
  int64_t share = getRegisterShare(threads), count = (*registers)[role];
  if (count != share)
    NVVM::SetMaxRegisterOp::create(b, count,
                                   count > share
                                       ? NVVM::SetMaxRegisterAction::increase
                                       : NVVM::SetMaxRegisterAction::decrease);
}

/// Moves the body of a role to the insertion point. All threads run the first
/// role. One elected thread runs each other role: the back end knows that only
/// one lane is active, so TMA operands in uniform registers need no loop over
/// lanes. A whole warp runs the roles of RoleContext::wholeWarps.
static void emitRole(const Role &role, Value warp, Lowering &b) {
  OpBuilder::InsertionGuard guard(b);
  if (role.number != 0) {
    if (role.end - role.begin > 1)
      b.enterIf(b.equal(warp, b.i32(role.begin)));
    if (!b.roles.wholeWarps.contains(role.region))
      b.enterIf(b.elect());
  }
  b.rewriter.inlineBlockBefore(&role.region->front(), b.getInsertionBlock(),
                               b.getInsertionPoint());
}

static LogicalResult convertWarpRoles(WarpRolesOp op, Parts<WarpRolesOp>,
                                      Lowering &b) {
  int64_t warpSize = b.chip.warpSize;
  Value warp = b.groupOf(b.threadNumber(), warpSize, warpSize);
  SmallVector<Role> roles;
  int64_t all = 0;
  for (Region &region : op.getRoles()) {
    int64_t warps = op.countWarps(roles.size());
    roles.push_back({&region, roles.size(), all, all + warps});
    all += warps;
  }
  // Emits a branch for the warps below `end` and enters it.
  auto enterBelow = [&](int64_t end) {
    Value below =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp, b.i32(end));
    auto branch = scf::IfOp::create(b, below, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    return branch;
  };
  // Roles that share a warpgroup change its registers together.
  ArrayRef<Role> rest = roles;
  while (!rest.empty()) {
    size_t count = 1;
    while (op.getRegisters() && count < rest.size() &&
           rest[count].begin % kWarpgroupWarps != 0)
      ++count;
    ArrayRef<Role> together = rest.take_front(count);
    rest = rest.drop_front(count);
    scf::IfOp branch;
    if (!rest.empty())
      branch = enterBelow(together.back().end);
    // Groups have a further role, so that they are in a branch of their own.
    auto markGroups = [&](const Role &role, scf::IfOp branch) {
      if (role.number == 0 && op.getGroups() > 1)
        branch->setAttr(kGroupThreadsAttr,
                        b.getI64IntegerAttr(op.getWarps().front() * warpSize));
    };
    if (together.size() == 1)
      markGroups(together.front(), branch);
    setRegisters(op, together.front().number, all * warpSize, b);
    for (const Role &role : together.drop_back()) {
      scf::IfOp own = enterBelow(role.end);
      markGroups(role, own);
      emitRole(role, warp, b);
      b.setInsertionPointToStart(own.elseBlock());
    }
    emitRole(together.back(), warp, b);
    if (branch)
      b.setInsertionPointToStart(branch.elseBlock());
  }
  return b.erase(op);
}

/// Emits the address of mbarrier number `index`, a pointer to shared memory.
static Value barrierAt(Emitter &b, const BufferParts &barriers, Value index) {
  return b.sharedPointer(barriers.memory, b.add(barriers.offset, index));
}

static LogicalResult convertInitBarriers(InitBarriersOp op,
                                         Parts<InitBarriersOp> operands,
                                         Lowering &b) {
  BufferParts barriers(op.getBarriers().getType(), operands.getBarriers());
  b.enterIf(b.equal(b.threadNumber(), b.i32(0)));
  for (int64_t i = 0; i < op.getBarriers().getType().getShape()[0]; ++i)
    NVVM::MBarrierInitOp::create(b, barrierAt(b, barriers, b.index(i)),
                                 b.i32(op.getArrivals()),
                                 /*predicate=*/Value());
  NVVM::FenceMbarrierInitOp::create(b);
  return b.erase(op);
}

static LogicalResult convertWaitBarrier(WaitBarrierOp op,
                                        Parts<WaitBarrierOp> operands,
                                        Lowering &b) {
  BufferParts barriers(op.getBarriers().getType(), operands.getBarriers());
  Value phase = b.toI32(operands.getPhase().front());
  // No time limit.
  NVVM::MBarrierTryWaitParityOp::create(
      b, barrierAt(b, barriers, operands.getIndex().front()), phase, b.i32(0));
  return b.erase(op);
}

static LogicalResult convertArriveBarrier(ArriveBarrierOp op,
                                          Parts<ArriveBarrierOp> operands,
                                          Lowering &b) {
  if (op.getFenced())
    return op.emitOpError("has no fence; run tile-insert-barriers first");
  BufferParts barriers(op.getBarriers().getType(), operands.getBarriers());
  Value number = operands.getIndex().front();
  if (b.roles.oneThread.contains(op)) {
    NVVM::MBarrierArriveOp::create(
        b, TypeRange(), barrierAt(b, barriers, number), /*count=*/Value());
    return b.erase(op);
  }
  NVVM::SyncWarpOp::create(b, b.i32(-1));
  Value lane =
      arith::AndIOp::create(b, b.threadNumber(), b.i32(b.chip.warpSize - 1));
  Value address =
      b.sharedAddress(barriers.memory, b.add(barriers.offset, number));
  // One predicated instruction: nvvm.mbarrier.arrive in a branch would be
  // control flow between MMAs in flight.
  emitAssembly(b,
               "{\n.reg .pred arrives;\nsetp.eq.u32 arrives, $1, 0;\n"
               "@arrives mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
               "r,r", {address, lane});
  return b.erase(op);
}

static LogicalResult convertAwait(AwaitOp op, Parts<AwaitOp> operands,
                                  Lowering &b) {
  SmallVector<Value> values = single(operands.getProducts());
  llvm::append_range(values, single(operands.getValues()));
  // The registers of a product that goes on changing must not be touched.
  const PendingProducts::Wait &wait = b.products.getWait(op);
  SmallVector<Value> finished;
  for (auto [i, value] : llvm::enumerate(values))
    if (!wait.isContinued(i))
      finished.push_back(value);
  auto lowered = tile::gpu::WgmmaWaitOp::create(
      b, TypeRange(ValueRange(finished)), b.getI32IntegerAttr(wait.younger),
      finished);
  auto result = lowered.getResults().begin();
  for (auto [i, value] : llvm::enumerate(values))
    if (!wait.isContinued(i))
      value = *result++;
  return b.replaceAll(op, values);
}

void tile::addRoleConversions(ConversionAdder &conversions) {
  conversions.addAll(convertArriveBarrier, convertAwait, convertConsumerGroup,
                     convertInitBarriers, convertWaitBarrier, convertWarpRoles);
}
