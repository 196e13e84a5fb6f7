//===- VectorAccess.h - Vectors of tiles and their accesses -----*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_VECTORACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_VECTORACCESS_H

#include "BufferParts.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Emits one load that is aligned to its own size.
mlir::Value loadVector(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value memory, mlir::Value offset,
                       mlir::VectorType type);
void storeVector(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value value, mlir::Value memory, mlir::Value offset);

/// Emits the conversion of the accesses of a tile to its vector (fromAccesses)
/// or back (toAccesses).
mlir::Value fromAccesses(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::VectorType type, const Layout &dist,
                         const AccessGroups &groups,
                         llvm::ArrayRef<mlir::Value> parts);
llvm::SmallVector<mlir::Value> toAccesses(mlir::OpBuilder &builder,
                                          mlir::Location loc,
                                          mlir::Value vector,
                                          const AccessGroups &groups);

/// Returns the indices of a shared buffer as numbers; fails if one is not
/// constant.
llvm::FailureOr<llvm::SmallVector<int64_t>>
constantIndices(mlir::ValueRange indices);

/// Emits the offset of each access to a shared buffer, in elements, including
/// that of the buffer.
llvm::SmallVector<mlir::Value>
sharedOffsets(mlir::OpBuilder &builder, mlir::Location loc, const Layout &dist,
              const BufferParts &buffer, llvm::ArrayRef<int64_t> start,
              const AccessGroups &groups);

/// Returns the operand of an access to `buffer` at `indices`. Its name is that
/// of the parameter in the manifest.
MemoryOperand memoryOperand(const BufferParts &buffer,
                            mlir::ValueRange indices);

/// Emits one remark for each limit of the width.
void remarkLimits(mlir::Operation *op, const AccessWidth &width);

/// The base class of patterns for operations on memory.
template <typename OpT> struct MemoryPattern : mlir::OpConversionPattern<OpT> {
  MemoryPattern(const mlir::TypeConverter &converter,
                mlir::MLIRContext *context, const Chip &chip)
      : mlir::OpConversionPattern<OpT>(converter, context), chip(chip) {}

  static llvm::SmallVector<mlir::Value>
  single(llvm::ArrayRef<mlir::ValueRange> values) {
    return llvm::map_to_vector(
        values, [](mlir::ValueRange range) { return range.front(); });
  }
  static llvm::LogicalResult rejectDynamicStart(mlir::Operation *op) {
    return op->emitOpError("accesses a shared buffer at indices that are not "
                           "constant; slice the buffer instead");
  }

  const Chip &chip;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_VECTORACCESS_H
