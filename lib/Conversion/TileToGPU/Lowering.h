//===- Lowering.h - Conversions of operations on tiles ----------*- C++ -*-===//
//
// A conversion is a function convert(op, operands, lowering) for one operation.
// `operands` is op's adaptor; Parts<OpT> is the one that gives each operand as
// a list of values, which buffers need.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_LOWERING_H
#define TILE_LIB_CONVERSION_TILETOGPU_LOWERING_H

#include "Emitter.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Chips/Chips.h"

namespace tile {
class PendingProducts;
struct RoleContext;

template <typename OpT>
using Parts =
    typename OpT::template GenericAdaptor<llvm::ArrayRef<mlir::ValueRange>>;

/// The chip and the analyses that all conversions use.
struct LoweringContext {
  const Chip &chip;
  const PendingProducts &products;
  const RoleContext &roles;
  /// Loads of rows that tile-copy-ahead copies (findRowsAhead).
  const llvm::DenseSet<mlir::Operation *> &rowsAhead;
};

/// Emits the operations that replace one operation on tiles.
class Lowering : public Emitter, public LoweringContext {
public:
  Lowering(mlir::Operation *op, mlir::ConversionPatternRewriter &rewriter,
           const mlir::TypeConverter &types, const LoweringContext &context)
      : Emitter(op->getLoc(), rewriter), LoweringContext(context),
        rewriter(rewriter), types(types) {}

  llvm::LogicalResult replace(mlir::Operation *op, mlir::Value value) {
    return replaceAll(op, value);
  }
  llvm::LogicalResult replaceAll(mlir::Operation *op, mlir::ValueRange values) {
    rewriter.replaceOp(op, values);
    return mlir::success();
  }
  /// Replaces the only result of `op` by several values.
  llvm::LogicalResult replaceByParts(mlir::Operation *op,
                                     mlir::ValueRange parts) {
    rewriter.replaceOpWithMultiple(op, llvm::ArrayRef(parts));
    return mlir::success();
  }
  llvm::LogicalResult erase(mlir::Operation *op) {
    rewriter.eraseOp(op);
    return mlir::success();
  }
  /// Returns the type of the vector that represents a tile in registers.
  mlir::VectorType vectorOf(mlir::Type tile) const {
    return types.convertType<mlir::VectorType>(tile);
  }

  mlir::ConversionPatternRewriter &rewriter;
  const mlir::TypeConverter &types;
};

/// Adds conversions to a set of patterns.
class ConversionAdder {
public:
  ConversionAdder(mlir::RewritePatternSet &patterns,
                  const mlir::TypeConverter &types,
                  const LoweringContext &context)
      : patterns(patterns), types(types), context(context) {}

  template <typename OpT, typename AdaptorT>
  void add(llvm::LogicalResult (*convert)(OpT, AdaptorT, Lowering &)) {
    struct FunctionPattern : mlir::OpConversionPattern<OpT> {
      FunctionPattern(const ConversionAdder &adder, decltype(convert) convert)
          : mlir::OpConversionPattern<OpT>(adder.types,
                                           adder.patterns.getContext()),
            convert(convert), context(adder.context) {}
      llvm::LogicalResult matchAndRewrite(
          OpT op, AdaptorT operands,
          mlir::ConversionPatternRewriter &rewriter) const override {
        Lowering lowering(op, rewriter, *this->getTypeConverter(), context);
        return convert(op, operands, lowering);
      }
      decltype(convert) convert;
      const LoweringContext &context;
    };
    patterns.add<FunctionPattern>(*this, convert);
  }
  template <typename... FunctionTs> void addAll(FunctionTs... conversions) {
    (add(conversions), ...);
  }

private:
  mlir::RewritePatternSet &patterns;
  const mlir::TypeConverter &types;
  const LoweringContext &context;
};

// Each adds the conversions of a group of operations.

/// Load, store and copy.
void addMemoryConversions(ConversionAdder &conversions);
/// Atomic operations.
void addAtomicConversions(ConversionAdder &conversions);
/// Allocations, views, barriers and groups of asynchronous copies.
void addBufferConversions(ConversionAdder &conversions);
/// Operations on tiles in registers, except for elementwise ones, reductions
/// and scans.
void addComputeConversions(ConversionAdder &conversions);
/// Reductions and scans.
void addReduceConversions(ConversionAdder &conversions);
/// TMA operations with tensor maps.
void addTensorMapConversions(ConversionAdder &conversions);
/// TMA reductions without tensor maps.
void addBulkAddConversions(ConversionAdder &conversions);
/// Warp roles, mbarriers, and waits for MMAs.
void addRoleConversions(ConversionAdder &conversions);
/// Assertions and prints.
void addDebugConversions(ConversionAdder &conversions);
/// Blocks of a cluster.
void addClusterConversions(ConversionAdder &conversions);
/// Dependent kernel launches.
void addLaunchConversions(ConversionAdder &conversions);
/// MMAs that read shared memory, and their fences.
void addWgmmaConversions(ConversionAdder &conversions);

/// Returns the loads in `root` of rows that begin at any element, whose results
/// a loop carries to later iterations.
llvm::DenseSet<mlir::Operation *> findRowsAhead(mlir::Operation *root,
                                                const Chip &chip);

/// Adds the pattern for elementwise operations of other dialects.
void populateElementwisePattern(const mlir::TypeConverter &types,
                                mlir::RewritePatternSet &patterns);

/// The operand of a comparison that is the coordinate `dim` of a tile.
struct CoordinateOperand {
  unsigned position, dim;
  mlir::RankedTensorType tile;
};
using CoordinateComparisons =
    llvm::DenseMap<mlir::Operation *, CoordinateOperand>;
/// Returns the comparisons in `root` of a coordinate with numbers that are the
/// same along it, for which a thread computes less if it compares constants and
/// has no registers to keep coordinates in.
CoordinateComparisons findCoordinateComparisons(mlir::Operation *root);
/// Adds the pattern for these comparisons. It comes before that for elementwise
/// operations.
void populateComparePattern(const mlir::TypeConverter &types,
                            const CoordinateComparisons &comparisons,
                            mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_LOWERING_H
