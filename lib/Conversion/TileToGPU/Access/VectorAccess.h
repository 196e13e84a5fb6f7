//===- VectorAccess.h - Vectors of tiles and their accesses -----*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ACCESS_VECTORACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_ACCESS_VECTORACCESS_H

#include "BufferParts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Emits one load that is aligned to its own size.
mlir::Value loadVector(Emitter &b, mlir::Value memory, mlir::Value offset,
                       mlir::VectorType type);
void storeVector(Emitter &b, mlir::Value value, mlir::Value memory,
                 mlir::Value offset);

/// Emits a load of the first `count` elements of a vector; the others are zero.
/// tile-expand-masked-loads makes branches of it.
mlir::Value loadFirstElements(Emitter &b, mlir::Value memory,
                              mlir::Value offset, mlir::VectorType type,
                              mlir::Value count);
/// Returns the number of the elements that `load` loads, the first ones, if the
/// others are zero; null otherwise.
mlir::Value getLoadedCount(mlir::vector::MaskedLoadOp load);

/// A load of elements of one row, of which those from `count` on are zero.
/// Element i is `place` + distances[i] after the start of the row, which is at
/// `offset`; `count` and `offset` are the same in all threads of a block.
struct RowLoad {
  mlir::Value memory, offset, place, count;
  llvm::SmallVector<int64_t> distances;
};
/// Emits such a load. tile-expand-masked-loads makes branches of it.
mlir::Value loadRow(Emitter &b, const RowLoad &row, mlir::Type element);
/// Returns what `gather` loads if it is such a load.
std::optional<RowLoad> matchRowLoad(mlir::vector::GatherOp gather);

/// Emits an access to the first `count` of `width` elements: one by `emitAll`
/// if these are all, or one to each by `emitElement`. They return a value of
/// `type`, or one element of it; none if `type` is null.
llvm::SmallVector<mlir::Value> emitFirstElements(
    Emitter &b, mlir::VectorType type, int64_t width, mlir::Value count,
    llvm::function_ref<llvm::SmallVector<mlir::Value>()> emitAll,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(int64_t)> emitElement);

/// Emits the conversion of the accesses of a tile to its vector (fromAccesses)
/// or back (toAccesses).
mlir::Value fromAccesses(Emitter &b, mlir::VectorType type, const Layout &dist,
                         const AccessGroups &groups,
                         llvm::ArrayRef<mlir::Value> parts);
llvm::SmallVector<mlir::Value> toAccesses(Emitter &b, mlir::Value vector,
                                          const AccessGroups &groups);

/// Returns the indices of a shared buffer as numbers. Reports an error at `op`
/// if one is not constant.
llvm::FailureOr<llvm::SmallVector<int64_t>>
constantStart(mlir::Operation *op, mlir::ValueRange indices);

/// Emits the offset of each access to a shared buffer, in elements, including
/// that of the buffer.
llvm::SmallVector<mlir::Value> sharedOffsets(Emitter &b, const Layout &dist,
                                             const BufferParts &buffer,
                                             llvm::ArrayRef<int64_t> start,
                                             const AccessGroups &groups);

/// Returns the operand of an access to `buffer` at `indices`. Its name is that
/// of the parameter in the manifest.
MemoryOperand memoryOperand(const BufferParts &buffer,
                            mlir::ValueRange indices);

/// Emits one remark for each limit of the width and each buffer whose accesses
/// are not coalesced.
void remarkLimits(mlir::Operation *op, const AccessWidth &width);

/// Returns the only value of each operand; buffers have several.
inline llvm::SmallVector<mlir::Value>
single(llvm::ArrayRef<mlir::ValueRange> operands) {
  return llvm::map_to_vector(
      operands, [](mlir::ValueRange values) { return values.front(); });
}

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ACCESS_VECTORACCESS_H
