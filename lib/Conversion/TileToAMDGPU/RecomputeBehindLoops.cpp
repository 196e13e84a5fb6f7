//===- RecomputeBehindLoops.cpp - Addresses behind loops ------------------===//
//
// LLVM computes what accesses in front of a loop and behind it have in common
// once, so that each part of the addresses is in a register throughout the
// loop. Behind the last loop of a block, these parts are computed again from
// the number of the lane, which an instruction gives, and from that of the
// wave, which is in a scalar register. Between loops they are not: LLVM would
// compute what both loops need twice, and then keep more.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tile;

namespace {
/// The inputs of an integer: numbers that are equal in all threads of a block;
/// these and the number of the thread; or anything else.
enum class Source { Uniform, Thread, Other };

class Recomputer {
public:
  Recomputer(mlir::gpu::GPUFuncOp func, const Chip &chip)
      : func(func), chip(chip) {}

  void run();

private:
  Source sourceOf(Value value);
  Operation *findLoopBetween(Value value, Operation *user) const;
  Value emitThread(ImplicitLocOpBuilder &b);
  Value recompute(Value value, Operation *loop);

  mlir::gpu::GPUFuncOp func;
  const Chip &chip;
  llvm::DenseMap<Value, Source> sources;
  /// The last loop of each block.
  llvm::DenseMap<Block *, Operation *> loops;
  /// The values behind each loop, and the last of them.
  llvm::DenseMap<std::pair<Operation *, Value>, Value> copies;
  llvm::DenseMap<Operation *, Operation *> lastCopies;
  /// The number of the first thread of the wave, i32.
  Value wave;
};
} // namespace

/// Returns true for integer arithmetic without a trap or a memory access.
static bool isArithmetic(Operation *op) {
  return isa<arith::ArithDialect>(op->getDialect()) && isPure(op) &&
         op->getNumResults() == 1 &&
         op->getResult(0).getType().isIntOrIndex() &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return type.isIntOrIndex(); });
}

Source Recomputer::sourceOf(Value value) {
  if (auto known = sources.find(value); known != sources.end())
    return known->second;
  Source source = Source::Other;
  Operation *op = value.getDefiningOp();
  if (!op) {
    if (value.getParentBlock() == &func.getBody().front())
      source = Source::Uniform;
  } else if (auto thread = dyn_cast<mlir::gpu::ThreadIdOp>(op)) {
    if (thread.getDimension() == mlir::gpu::Dimension::x)
      source = Source::Thread;
  } else if (isa<mlir::gpu::BlockIdOp>(op)) {
    source = Source::Uniform;
  } else if (isArithmetic(op)) {
    source = Source::Uniform;
    for (Value operand : op->getOperands())
      source = std::max(source, sourceOf(operand));
  }
  return sources[value] = source;
}

/// Returns a loop behind the definition of `value` and in front of `user` that
/// is the last one of its block; null without one.
Operation *Recomputer::findLoopBetween(Value value, Operation *user) const {
  Operation *definition = value.getDefiningOp();
  for (;; user = user->getParentOp()) {
    bool isLast = user->getBlock() == definition->getBlock();
    Operation *loop = loops.lookup(user->getBlock());
    if (loop && loop->isBeforeInBlock(user) &&
        (!isLast || definition->isBeforeInBlock(loop)))
      return loop;
    if (isLast)
      return nullptr;
  }
}

Value Recomputer::emitThread(ImplicitLocOpBuilder &b) {
  Type i32 = b.getI32Type();
  if (!wave) {
    ImplicitLocOpBuilder start(func.getLoc(), func.getContext());
    start.setInsertionPointToStart(&func.getBody().front());
    Value thread = arith::IndexCastUIOp::create(
        start, i32,
        mlir::gpu::ThreadIdOp::create(start, mlir::gpu::Dimension::x));
    wave = ROCDL::ReadfirstlaneOp::create(start, i32, thread);
  }
  // Adds the number of the lane.
  Value all = arith::ConstantIntOp::create(b, i32, -1);
  Value thread = ROCDL::MbcntLoOp::create(b, i32, all, wave, {}, {});
  if (chip.warpSize == 64)
    thread = ROCDL::MbcntHiOp::create(b, i32, all, thread, {}, {});
  return thread;
}

/// Returns `value` computed again behind `loop`.
Value Recomputer::recompute(Value value, Operation *loop) {
  if (sourceOf(value) == Source::Uniform)
    return value;
  if (Value known = copies.lookup({loop, value}))
    return known;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, recompute(operand, loop));
  // Behind the copies of its operands.
  ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
  Operation *&last = lastCopies.try_emplace(loop, loop).first->second;
  b.setInsertionPointAfter(last);
  Value copy = isa<mlir::gpu::ThreadIdOp>(op)
                   ? Value(arith::IndexCastUIOp::create(b, b.getIndexType(),
                                                        emitThread(b)))
                   : b.clone(*op, mapping)->getResult(0);
  last = copy.getDefiningOp();
  return copies[{loop, value}] = copy;
}

/// Returns true if the threads of a wave are known to be neighbours along x.
static bool hasRowOfThreads(mlir::gpu::GPUFuncOp func) {
  DenseI32ArrayAttr size = func.getKnownBlockSizeAttr();
  return size && size[1] == 1 && size[2] == 1;
}

void Recomputer::run() {
  if (!hasRowOfThreads(func))
    return;
  func.walk<WalkOrder::PreOrder>(
      [&](LoopLikeOpInterface loop) { loops[loop->getBlock()] = loop; });
  if (loops.empty())
    return;
  SmallVector<std::pair<OpOperand *, Operation *>> uses;
  func.walk([&](Operation *user) {
    for (OpOperand &use : user->getOpOperands()) {
      Value value = use.get();
      if (!value.getDefiningOp() || sourceOf(value) != Source::Thread)
        continue;
      Operation *loop = findLoopBetween(value, user);
      // A value that the loop uses is in a register anyway.
      if (loop && llvm::none_of(value.getUsers(), [&](Operation *other) {
            return loop->isProperAncestor(other);
          }))
        uses.push_back({&use, loop});
    }
  });
  for (auto [use, loop] : uses)
    use->set(recompute(use->get(), loop));
}

void tile::recomputeBehindLoops(Operation *root, const Chip &chip) {
  root->walk([&](mlir::gpu::GPUFuncOp func) { Recomputer(func, chip).run(); });
}
