//===- RowCopies.h - Copies of rows that begin anywhere ---------*- C++ -*-===//
//
// A row that begins at any element lies in aligned words of 16 bytes. The
// threads of a block copy these words to a slot in shared memory, one after the
// other. The place of an element there is shifted by the elements of the first
// word that lie before the row. The end of the last word is filled with zeros,
// and so are the words behind it.
//
// The elements before the row belong to the same allocation, because the first
// word begins at or behind the start of the buffer. If it begins before it, one
// thread copies the elements of that word alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_ROWCOPIES_H
#define TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_ROWCOPIES_H

#include "../Access/VectorAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// The load of a row in a branch, whose other side has zeros.
struct BranchedRow {
  mlir::scf::IfOp branch;
  unsigned result;
  mlir::vector::GatherOp gather;
  RowLoad row;
};

/// Returns the load of `value`, a result of a branch, if the place of the row
/// can be computed in front of the branch.
std::optional<BranchedRow> matchBranchedRow(mlir::Value value);

/// Returns true if two values are computed in the same way from the same
/// values.
bool isSameComputation(mlir::Value a, mlir::Value b);

/// Slots for rows in shared memory.
struct RowSlots {
  mlir::Value memory;
  mlir::Type element;
  /// Aligned words of a slot, and the threads of a block.
  int64_t words, threads;

  int64_t wordElements() const {
    return 16 * 8 / element.getIntOrFloatBitWidth();
  }
  int64_t slotElements() const { return words * wordElements(); }
};

/// Returns the words of a slot for rows of at most `elements`.
int64_t countRowWords(int64_t elements, mlir::Type element);

/// Emits the shift of a row's elements in front of its branch, an index.
mlir::Value emitRowShift(Emitter &b, BranchedRow &load, const RowSlots &slots);

/// Replaces the load by copies to a slot, and by zeros in the slot on the other
/// side of the branch, whose result becomes zeros.
void emitRowCopies(Emitter &b, BranchedRow &load, const RowSlots &slots,
                   mlir::Value slot, mlir::Value shift);

/// Emits the load of a thread's elements from a slot.
mlir::Value readRow(Emitter &b, const RowSlots &slots, mlir::Value slot,
                    mlir::Value shift, mlir::Value place,
                    llvm::ArrayRef<int64_t> distances);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_ROWCOPIES_H
