//===- VectorAccess.h - A tile's vector and its accesses ------ -*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_VECTORACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_VECTORACCESS_H

#include "BufferParts.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Target/Chips.h"

namespace tile {

/// One access, aligned to its own size.
mlir::Value loadVector(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value memory, mlir::Value offset,
                       mlir::VectorType type);
void storeVector(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value value, mlir::Value memory, mlir::Value offset);

/// The vector of a tile from its accesses, and back.
mlir::Value fromAccesses(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::VectorType type, const Layout &dist,
                         const AccessGroups &groups,
                         llvm::ArrayRef<mlir::Value> parts);
llvm::SmallVector<mlir::Value> toAccesses(mlir::OpBuilder &builder,
                                          mlir::Location loc,
                                          mlir::Value vector,
                                          const AccessGroups &groups);

/// Constant indices of a shared buffer; failure if one is not.
llvm::FailureOr<llvm::SmallVector<int64_t>>
constantIndices(mlir::ValueRange indices);

/// Shared accesses: offset of each, behind the buffer's own offset.
llvm::SmallVector<mlir::Value>
sharedOffsets(mlir::OpBuilder &builder, mlir::Location loc, const Layout &dist,
              const BufferParts &buffer, llvm::ArrayRef<int64_t> start,
              const AccessGroups &groups);

/// A buffer and where a tile starts in it. It is called by the name of its
/// parameter in the manifest.
MemoryOperand memoryOperand(const BufferParts &buffer,
                            mlir::ValueRange indices);

/// One remark for each width that was refused.
void remarkLimits(mlir::Operation *op, const AccessWidth &width);

/// What the patterns of operations on memory share.
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
