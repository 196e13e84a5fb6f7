//===- RolePatterns.cpp - Warp roles and mbarriers ------------------------===//

#include "../BufferParts.h"
#include "../Patterns.h"
#include "../Roles.h"
#include "../SharedAddress.h"
#include "../VectorAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/PendingProducts.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

/// The warps of a warpgroup, which execute wgmma and setmaxnreg together.
static constexpr int64_t kGroupWarps = 4;

//===----------------------------------------------------------------------===//
// Before the conversion
//===----------------------------------------------------------------------===//

int64_t tile::countWarps(KernelOp kernel) {
  int64_t warps = kernel.getNumWarps();
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>())
    for (int32_t more : roles.getWarps().drop_front())
      warps += more;
  return warps;
}

bool tile::setsRegisters(KernelOp kernel) {
  return llvm::any_of(
      kernel.getBody().front().getOps<WarpRolesOp>(),
      [](WarpRolesOp roles) { return bool(roles.getRegisters()); });
}

namespace {

Value constantI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

Value threadNumber(OpBuilder &builder, Location loc) {
  Value thread =
      mlir::gpu::ThreadIdOp::create(builder, loc, mlir::gpu::Dimension::x);
  return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                      thread);
}

/// The warpgroups that take turns. Each waits for its turn at a named barrier
/// of its own; these barriers follow those of the roles.
class Turns {
public:
  explicit Turns(WarpRolesOp roles)
      : groups(roles.getWarps().front() / kGroupWarps),
        firstBarrier(roles.getRoles().size() + 1) {}

  /// Emits the wait of this thread's warpgroup for the end of the previous
  /// warpgroup's turn.
  void await(OpBuilder &builder, Location loc) {
    NVVM::BarrierOp::create(builder, loc, TypeRange(),
                            barrierOf(builder, loc, emitGroup(builder, loc)),
                            constantI32(builder, loc, kThreads),
                            NVVM::BarrierReductionAttr(), Value());
  }
  /// Emits the end of the turn: the next warpgroup may start.
  void pass(OpBuilder &builder, Location loc) {
    Value group = emitGroup(builder, loc);
    Value next = arith::AddIOp::create(builder, loc, group,
                                       constantI32(builder, loc, 1));
    next = arith::SelectOp::create(builder, loc, isLast(builder, loc, group),
                                   constantI32(builder, loc, 0), next);
    NVVM::BarrierArriveOp::create(builder, loc, barrierOf(builder, loc, next),
                                  constantI32(builder, loc, kThreads));
  }
  /// Emits the start of the first turn: the last warpgroup lets the first one
  /// start.
  void begin(OpBuilder &builder, Location loc) {
    auto branch = scf::IfOp::create(
        builder, loc, isLast(builder, loc, emitGroup(builder, loc)),
        /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    NVVM::BarrierArriveOp::create(builder, loc,
                                  constantI32(builder, loc, firstBarrier),
                                  constantI32(builder, loc, kThreads));
  }

private:
  static constexpr int64_t kGroupThreads = 128;
  /// The threads of a barrier: a warpgroup that waits and one that arrives.
  static constexpr int64_t kThreads = 2 * kGroupThreads;

  /// Emits the number of this thread's warpgroup. The shuffle tells the back
  /// end that it is uniform in the warp.
  static Value emitGroup(OpBuilder &builder, Location loc) {
    Value group = arith::ShRUIOp::create(
        builder, loc, threadNumber(builder, loc),
        constantI32(builder, loc, llvm::Log2_64(kGroupThreads)));
    return mlir::gpu::ShuffleOp::create(
               builder, loc, group, constantI32(builder, loc, 0),
               constantI32(builder, loc, 32), mlir::gpu::ShuffleMode::IDX)
        .getShuffleResult();
  }
  /// Emits the number of the named barrier of warpgroup `group`.
  Value barrierOf(OpBuilder &builder, Location loc, Value group) {
    return arith::AddIOp::create(
        builder, loc, constantI32(builder, loc, firstBarrier), group);
  }
  Value isLast(OpBuilder &builder, Location loc, Value group) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, group,
                                 constantI32(builder, loc, groups - 1));
  }

  int64_t groups, firstBarrier;
};

} // namespace

/// Returns true if `op` has side effects, no results and no regions.
static bool hasEffect(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 0 &&
         !op->hasTrait<OpTrait::IsTerminator>() && !isa<WaitBarrierOp>(op) &&
         !isMemoryEffectFree(op);
}

/// Puts each operation with effects of a role into a branch for one elected
/// thread. The whole warp runs the other operations.
static void electForEffects(Region &role) {
  SmallVector<Operation *> effects;
  role.walk([&](Operation *op) {
    if (hasEffect(op))
      effects.push_back(op);
  });
  for (Operation *op : effects) {
    OpBuilder builder(op);
    Value elected = NVVM::ElectSyncOp::create(builder, op->getLoc(),
                                              builder.getI1Type(), Value());
    auto branch = scf::IfOp::create(builder, op->getLoc(), elected,
                                    /*withElseRegion=*/false);
    op->moveBefore(branch.thenBlock()->getTerminator());
  }
}

void tile::prepareRoles(KernelOp kernel, int64_t warpSize,
                        RoleContext &context) {
  bool savesRegisters = getSchedule(kernel).savesRegisters();
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>())
    for (auto [i, role] : llvm::enumerate(roles.getRoles())) {
      // Named barrier 0 is that of the block; role i has barrier i + 1.
      int64_t threads = roles.getWarps()[i] * warpSize;
      Turns turns(roles);
      bool takesTurns = false;
      role.walk([&, i = i](Operation *op) {
        OpBuilder builder(op);
        if (isa<BarrierOp>(op)) {
          NVVM::BarrierOp::create(builder, op->getLoc(), TypeRange(),
                                  constantI32(builder, op->getLoc(), i + 1),
                                  constantI32(builder, op->getLoc(), threads),
                                  NVVM::BarrierReductionAttr(), Value());
          op->erase();
        } else if (isa<ArriveBarrierOp, BulkOpInterface, BulkWaitOp>(op) &&
                   i != 0) {
          context.oneThread.insert(op);
        } else if (isa<AwaitTurnOp>(op)) {
          takesTurns = true;
          turns.await(builder, op->getLoc());
          op->erase();
        } else if (isa<PassTurnOp>(op)) {
          turns.pass(builder, op->getLoc());
          op->erase();
        }
      });
      if (takesTurns) {
        OpBuilder builder = OpBuilder::atBlockBegin(&role.front());
        turns.begin(builder, roles.getLoc());
      }
      if (savesRegisters && i != 0)
        electForEffects(role);
    }
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

namespace {

struct WarpRolesPattern : MemoryPattern<WarpRolesOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(WarpRolesOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t threads = 0;
    for (int32_t warps : op.getWarps())
      threads += warps * chip.warpSize;
    Value thread = threadNumber(rewriter, loc);
    // The shuffle tells the back end that the number is uniform in the warp.
    Value warp = arith::ShRUIOp::create(
        rewriter, loc, thread,
        constantI32(rewriter, loc, llvm::Log2_64(chip.warpSize)));
    warp = mlir::gpu::ShuffleOp::create(
               rewriter, loc, warp, constantI32(rewriter, loc, 0),
               constantI32(rewriter, loc, chip.warpSize),
               mlir::gpu::ShuffleMode::IDX)
               .getShuffleResult();
    bool savesRegisters = getSchedule(op->getParentOp()).savesRegisters();
    SmallVector<Role> roles;
    int64_t first = 0;
    for (auto [region, warps] : llvm::zip_equal(op.getRoles(), op.getWarps())) {
      roles.push_back({&region, roles.size(), first, first + warps});
      first += warps;
    }
    auto below = [&](int64_t end) -> Value {
      return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                   warp, constantI32(rewriter, loc, end));
    };
    // Roles that share a warpgroup change its registers together.
    ArrayRef<Role> rest = roles;
    while (!rest.empty()) {
      size_t count = 1;
      while (op.getRegisters() && count < rest.size() &&
             rest[count].begin % kGroupWarps != 0)
        ++count;
      ArrayRef<Role> together = rest.take_front(count);
      rest = rest.drop_front(count);
      scf::IfOp branch;
      if (!rest.empty()) {
        branch = scf::IfOp::create(rewriter, loc, below(together.back().end),
                                   /*withElseRegion=*/true);
        rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
      }
      setRegisters(op, together.front().number, threads, rewriter);
      for (const Role &role : together) {
        scf::IfOp own;
        if (&role != &together.back()) {
          own = scf::IfOp::create(rewriter, loc, below(role.end),
                                  /*withElseRegion=*/true);
          rewriter.setInsertionPoint(own.thenBlock()->getTerminator());
        }
        emitRole(role, warp, savesRegisters, rewriter);
        if (own)
          rewriter.setInsertionPoint(own.elseBlock()->getTerminator());
      }
      if (branch)
        rewriter.setInsertionPoint(branch.elseBlock()->getTerminator());
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  struct Role {
    Region *region;
    size_t number;
    /// The warps of the role: [begin, end).
    int64_t begin, end;
  };

  void setRegisters(WarpRolesOp op, size_t role, int64_t threads,
                    ConversionPatternRewriter &rewriter) const {
    std::optional<ArrayRef<int32_t>> registers = op.getRegisters();
    if (!registers)
      return;
    // The registers that a thread starts with (PTX ISA, "setmaxnreg").
    int64_t share = getRegisterShare(threads), count = (*registers)[role];
    if (count != share)
      NVVM::SetMaxRegisterOp::create(
          rewriter, op.getLoc(), count,
          count > share ? NVVM::SetMaxRegisterAction::increase
                        : NVVM::SetMaxRegisterAction::decrease);
  }

  /// Moves the body of a role to the insertion point. All threads run the first
  /// role. One elected thread runs each other role: the back end knows that
  /// only one lane is active, so TMA operands in uniform registers need no loop
  /// over lanes. If `savesRegisters`, one warp runs each other role instead,
  /// and a thread is elected for each operation with effects (electForEffects).
  void emitRole(const Role &role, Value warp, bool savesRegisters,
                ConversionPatternRewriter &rewriter) const {
    OpBuilder::InsertionGuard guard(rewriter);
    Location loc = warp.getLoc();
    auto enter = [&](Value condition) {
      auto branch = scf::IfOp::create(rewriter, loc, condition,
                                      /*withElseRegion=*/false);
      rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
    };
    if (role.number != 0) {
      if (role.end - role.begin > 1)
        enter(arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                    warp,
                                    constantI32(rewriter, loc, role.begin)));
      if (!savesRegisters)
        enter(NVVM::ElectSyncOp::create(rewriter, loc, rewriter.getI1Type(),
                                        Value()));
    }
    rewriter.inlineBlockBefore(&role.region->front(),
                               rewriter.getInsertionBlock(),
                               rewriter.getInsertionPoint());
  }
};

/// Emits the address of mbarrier number `index`, a pointer to shared memory.
Value barrierAt(OpBuilder &builder, Location loc, const BufferParts &barriers,
                Value index) {
  return sharedPointer(
      builder, loc, barriers.memory,
      arith::AddIOp::create(builder, loc, barriers.offset, index));
}

struct InitBarriersPattern : MemoryPattern<InitBarriersOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(InitBarriersOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts barriers(op.getBarriers().getType(), adaptor.getBarriers());
    Value isFirst = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, threadNumber(rewriter, loc),
        constantI32(rewriter, loc, 0));
    auto branch = scf::IfOp::create(rewriter, loc, isFirst,
                                    /*withElseRegion=*/false);
    rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
    for (int64_t i = 0; i < op.getBarriers().getType().getShape()[0]; ++i) {
      Value barrier =
          barrierAt(rewriter, loc, barriers,
                    arith::ConstantIndexOp::create(rewriter, loc, i));
      NVVM::MBarrierInitOp::create(rewriter, loc, barrier,
                                   constantI32(rewriter, loc, op.getArrivals()),
                                   /*predicate=*/Value());
    }
    NVVM::FenceMbarrierInitOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitBarrierPattern : MemoryPattern<WaitBarrierOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(WaitBarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts barriers(op.getBarriers().getType(), adaptor.getBarriers());
    Value phase = arith::IndexCastUIOp::create(
        rewriter, loc, rewriter.getI32Type(), adaptor.getPhase().front());
    // No time limit.
    NVVM::MBarrierTryWaitParityOp::create(
        rewriter, loc,
        barrierAt(rewriter, loc, barriers, adaptor.getIndex().front()), phase,
        constantI32(rewriter, loc, 0));
    rewriter.eraseOp(op);
    return success();
  }
};

struct ArriveBarrierPattern : MemoryPattern<ArriveBarrierOp> {
  ArriveBarrierPattern(const TypeConverter &converter, MLIRContext *context,
                       const Chip &chip, const RoleContext &roles)
      : MemoryPattern(converter, context, chip), roles(roles) {}

  LogicalResult
  matchAndRewrite(ArriveBarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts barriers(op.getBarriers().getType(), adaptor.getBarriers());
    if (roles.oneThread.contains(op)) {
      NVVM::MBarrierArriveOp::create(
          rewriter, loc, TypeRange(),
          barrierAt(rewriter, loc, barriers, adaptor.getIndex().front()),
          /*count=*/Value());
      rewriter.eraseOp(op);
      return success();
    }
    NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    Value lane =
        arith::AndIOp::create(rewriter, loc, threadNumber(rewriter, loc),
                              constantI32(rewriter, loc, chip.warpSize - 1));
    Value index = arith::AddIOp::create(rewriter, loc, barriers.offset,
                                        adaptor.getIndex().front());
    // One predicated instruction: nvvm.mbarrier.arrive in a branch would be
    // control flow between MMAs in flight.
    emitAssembly(rewriter, loc,
                 "{\n.reg .pred arrives;\nsetp.eq.u32 arrives, $1, 0;\n"
                 "@arrives mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
                 "r,r",
                 {sharedAddress(rewriter, loc, barriers.memory, index), lane});
    rewriter.eraseOp(op);
    return success();
  }

private:
  const RoleContext &roles;
};

struct AwaitPattern : MemoryPattern<AwaitOp> {
  AwaitPattern(const TypeConverter &converter, MLIRContext *context,
               const Chip &chip, const PendingProducts &products)
      : MemoryPattern(converter, context, chip), products(products) {}

  LogicalResult
  matchAndRewrite(AwaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values = single(adaptor.getProducts());
    llvm::append_range(values, single(adaptor.getValues()));
    // The registers of a product that goes on changing must not be touched.
    const PendingProducts::Wait &wait = products.getWait(op);
    SmallVector<Value> finished;
    for (auto [i, value] : llvm::enumerate(values))
      if (!wait.isContinued(i))
        finished.push_back(value);
    auto lowered = tile::gpu::WgmmaWaitOp::create(
        rewriter, op.getLoc(), TypeRange(ValueRange(finished)),
        rewriter.getI32IntegerAttr(wait.younger), finished);
    auto result = lowered.getResults().begin();
    for (auto [i, value] : llvm::enumerate(values))
      if (!wait.isContinued(i))
        value = *result++;
    rewriter.replaceOp(op, values);
    return success();
  }

private:
  const PendingProducts &products;
};

} // namespace

void tile::populateRolePatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns, const Chip &chip,
                                const PendingProducts &products,
                                const RoleContext &roles) {
  patterns.add<WarpRolesPattern, InitBarriersPattern, WaitBarrierPattern>(
      converter, patterns.getContext(), chip);
  patterns.add<ArriveBarrierPattern>(converter, patterns.getContext(), chip,
                                     roles);
  patterns.add<AwaitPattern>(converter, patterns.getContext(), chip, products);
}
