//===- RunAhead.h - Operations that may leave their place -------*- C++ -*-===//
//
// Copies are issued iterations before their use, or by another warp role;
// stores and additions are left to TMA, which performs them later. This
// analysis decides which operations may do so. All passes that move, repeat or
// delay an operation ask it.
//
// The scope of a question is the operation whose start is the earliest place: a
// loop if the operation runs ahead by iterations, the kernel if another role
// runs the loops of the kernel again.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_RUNAHEAD_H
#define TILE_ANALYSIS_RUNAHEAD_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Support/Refusal.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// On an scf.if in a loop: the iterations for which the loop carries what it
/// loads in registers. Its numbers are the same in all threads
/// (tile-load-ahead).
inline constexpr llvm::StringLiteral kNumbersAheadAttr = "tile.numbers_ahead";

/// A copy to a shared buffer, and the operations that read the buffer.
struct BufferCopy {
  CopyOp copy;
  AllocOp buffer;
  /// The first and the last operation of the block of the copy that read the
  /// buffer, themselves or in their regions. An asynchronous MMA reads until
  /// the tile.await.
  mlir::Operation *first = nullptr, *last = nullptr;
  /// The operations in the scope that the source and the indices depend on.
  llvm::SetVector<mlir::Operation *> slice;
};

/// Finds the readers of the buffer that `copy.copy` fills and sets `copy.first`
/// and `copy.last`. Refuses a buffer that has another writer, a reader that is
/// not after the copy in its block or that reads beyond it, or no reader.
Refusal findReaders(BufferCopy &copy);

/// Returns true if two writes to global memory may not be exchanged: they may
/// write the same element, and are no additions of one kind.
bool mustKeepOrder(mlir::Operation *write, mlir::Operation *other);

class RunAhead {
public:
  /// Analyses `kernel`. The answers hold until the writes of the kernel to
  /// global memory change.
  explicit RunAhead(KernelOp kernel) : kernel(kernel) {}

  /// Returns true if `op` has the same results wherever its operands are known:
  /// it has no memory effect, or loads a scalar of an argument that the kernel
  /// never writes.
  bool isRepeatable(mlir::Operation *op);

  /// Returns the operations at the top level of the kernel that each role can
  /// repeat at its start: scalars that depend on arguments and on the block
  /// only, and the grid. Loads after tile.wait_prerequisites are not included.
  llvm::DenseSet<mlir::Operation *> findBlockScalars();

  /// Refuses a value that is not a function of values from outside `scope`, of
  /// arguments of the kernel and of induction variables. If the scope is the
  /// kernel, loops may carry scalars that are such functions. Adds the
  /// operations in the scope that compute the value to `slice`, if that is not
  /// null.
  Refusal checkValue(mlir::Value value, mlir::Operation *scope,
                     llvm::SetVector<mlir::Operation *> *slice = nullptr);

  /// Refuses an operation if something other than an scf.for with known bounds
  /// is between `scope` and the operation.
  Refusal checkLoops(mlir::Operation *op, mlir::Operation *scope);

  /// Refuses a load that cannot be issued ahead, in `scope`.
  Refusal checkLoad(LoadOp load, mlir::Operation *scope);

  /// Refuses a copy that cannot be issued ahead, in `scope`. Sets `result` if
  /// it can be.
  Refusal checkCopy(CopyOp copy, mlir::Operation *scope, BufferCopy &result);

  /// Refuses a copy that cannot be waited for as late as the first read of its
  /// buffer. Sets `result`, without its slice, if it can be.
  Refusal checkLateWait(CopyOp copy, BufferCopy &result);

  /// Refuses a load from shared memory that cannot be delayed until the first
  /// use of its result.
  Refusal checkLateLoad(LoadOp load);

  /// Refuses a store to `argument` that must not be performed later than its
  /// place.
  Refusal checkLateStore(StoreOp store, mlir::BlockArgument argument);

  /// Refuses an atomic addition that must not be performed later than its
  /// place.
  Refusal checkLateAddition(AtomicRMWOp sum);

  /// Refuses a write to global memory whose place among the operations of
  /// `scope` matters, other writes excepted (see mustKeepOrder).
  Refusal checkWrite(mlir::Operation *write, mlir::Operation *scope);

private:
  Refusal checkSource(mlir::Value source, mlir::Operation *scope);

  KernelOp kernel;
  /// Whether the kernel writes an argument; null stands for an argument that is
  /// chosen at run time.
  llvm::DenseMap<mlir::BlockArgument, bool> isWritten;
};

} // namespace tile

#endif // TILE_ANALYSIS_RUNAHEAD_H
