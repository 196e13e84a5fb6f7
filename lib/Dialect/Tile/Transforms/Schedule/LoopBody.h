//===- LoopBody.h - The nodes of a loop -------------------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_LOOPBODY_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_LOOPBODY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// The operations of a loop body, in three classes:
///
/// - nodes: each product and each write to global memory alone; other
///   operations that the same products of this and of the last iteration come
///   before and after, together;
/// - operations on demand: loads, views of tiles, and what is computed from the
///   induction variable and from values outside of the loop. They stand before
///   their users, in each stage that needs them;
/// - the terminator.
struct LoopBody {
  mlir::scf::ForOp loop;
  /// The operations of each node, in the order of the loop; the nodes in an
  /// order that keeps dependences.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> nodes;
  llvm::DenseMap<mlir::Operation *, unsigned> nodeOf;
  /// The writes to global memory, in the order of the loop.
  llvm::SmallVector<mlir::Operation *> writes;

  /// Returns true if `op` is in the loop and in no node.
  bool isOnDemand(mlir::Operation *op) const;
  /// Returns the values that `op` computes from, directly or through operations
  /// on demand: results of nodes and values that the loop carries. Adds the
  /// operations on demand to `used`, if that is not null.
  llvm::SetVector<mlir::Value>
  findSources(mlir::Operation *op,
              llvm::SetVector<mlir::Operation *> *used = nullptr) const;
  /// Returns the product of a node; null for other nodes.
  DotOp getProduct(unsigned node) const;
  /// Returns true if `value`, which a node computes, goes through shared memory
  /// to a product: its fragment is no operand.
  bool isExchanged(mlir::Value value) const;
  /// Returns the writes that `write` must follow.
  llvm::SmallVector<mlir::Operation *>
  findWritesBefore(mlir::Operation *write) const;
};

/// Returns true if the loop has an iteration for all arguments of the kernel.
bool hasIteration(mlir::scf::ForOp loop);

/// Divides the operations of `loop` into nodes. Refuses a loop with operations
/// that must stay in their iteration.
Refusal analyzeLoop(mlir::scf::ForOp loop, RunAhead &runAhead, LoopBody &body);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_LOOPBODY_H
