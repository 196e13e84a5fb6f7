//===- FragmentParts.cpp - Fragments of only their own loads --------------===//
//
// MLIR folds a slice of a chain of insertions only if one insertion contains
// the whole slice, and it does not look through shuffles. These patterns do
// both.
//
//===----------------------------------------------------------------------===//

#include "FragmentParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

static int64_t onlyElement(ArrayAttr array) {
  return cast<IntegerAttr>(array[0]).getInt();
}

namespace {
/// The elements [begin, begin + size) of `part`.
struct Run {
  Value part;
  int64_t begin, size;
};
} // namespace

/// Returns the inserted vector that element `index` of `value` comes from, and
/// the position of the element in it.
static std::optional<Run> insertedAt(Value value, int64_t index) {
  bool inserted = false;
  while (Operation *op = value.getDefiningOp()) {
    if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op)) {
      if (insert.getDestVectorType().getRank() != 1)
        break;
      int64_t place = index - onlyElement(insert.getOffsets());
      bool here =
          place >= 0 && place < insert.getSourceVectorType().getNumElements();
      value = here ? insert.getValueToStore() : insert.getDest();
      index = here ? place : index;
      inserted |= here;
    } else if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
      if (slice.getSourceVectorType().getRank() != 1)
        break;
      index += onlyElement(slice.getOffsets());
      value = slice.getSource();
    } else if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
      if (shuffle.getV1VectorType().getRank() != 1)
        break;
      index = shuffle.getMask()[index];
      if (index == vector::ShuffleOp::kPoisonIndex)
        return std::nullopt;
      int64_t size = shuffle.getV1VectorType().getNumElements();
      value = index < size ? shuffle.getV1() : shuffle.getV2();
      index -= index < size ? 0 : size;
    } else {
      break;
    }
  }
  return inserted ? std::optional(Run{value, index, 1}) : std::nullopt;
}

static Value slice(OpBuilder &builder, Location loc, const Run &run) {
  if (run.size == cast<VectorType>(run.part.getType()).getNumElements())
    return run.part;
  return vector::ExtractStridedSliceOp::create(
      builder, loc, run.part, ArrayRef<int64_t>{run.begin},
      ArrayRef<int64_t>{run.size}, ArrayRef<int64_t>{1});
}

/// Returns the vector of the elements of all runs.
static Value join(OpBuilder &builder, Location loc, VectorType type,
                  ArrayRef<Run> runs) {
  if (runs.size() == 1)
    return slice(builder, loc, runs[0]);
  if (llvm::all_of(runs, [](const Run &run) { return run.size == 1; })) {
    SmallVector<Value> elements;
    for (const Run &run : runs)
      elements.push_back(
          vector::ExtractOp::create(builder, loc, run.part, run.begin));
    return vector::FromElementsOp::create(builder, loc, type, elements);
  }
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  int64_t place = 0;
  for (const Run &run : runs) {
    result = vector::InsertStridedSliceOp::create(
        builder, loc, slice(builder, loc, run), result,
        ArrayRef<int64_t>{place}, ArrayRef<int64_t>{1});
    place += run.size;
  }
  return result;
}

/// Returns runs that hold, in order, the elements at(0) to at(count - 1) of
/// `value`; std::nullopt if one of them is not inserted.
static std::optional<SmallVector<Run>>
insertedRuns(Value value, int64_t count,
             llvm::function_ref<int64_t(int64_t)> at) {
  SmallVector<Run> runs;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<Run> element = insertedAt(value, at(i));
    if (!element)
      return std::nullopt;
    if (!runs.empty() && runs.back().part == element->part &&
        runs.back().begin + runs.back().size == element->begin)
      ++runs.back().size;
    else
      runs.push_back(*element);
  }
  return runs;
}

namespace {
struct SliceOfParts : OpRewritePattern<vector::ExtractStridedSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ExtractStridedSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSourceVectorType().getRank() != 1 || op.getType().isScalable())
      return failure();
    int64_t first = onlyElement(op.getOffsets());
    auto runs = insertedRuns(op.getSource(), op.getType().getNumElements(),
                             [&](int64_t i) { return first + i; });
    if (!runs)
      return failure();
    rewriter.replaceOp(op, join(rewriter, op.getLoc(), op.getType(), *runs));
    return success();
  }
};

/// Shuffles select the elements of one store from a tile. If they are one slice
/// of one part, or whole parts of one element, the tile is not needed. Other
/// shuffles stay one operation.
struct ShuffleOfParts : OpRewritePattern<vector::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getResultVectorType();
    if (op.getV1VectorType().getRank() != 1 || op.getV1() != op.getV2() ||
        type.getNumElements() >= op.getV1VectorType().getNumElements() ||
        llvm::is_contained(op.getMask(), vector::ShuffleOp::kPoisonIndex))
      return failure();
    int64_t size = op.getV1VectorType().getNumElements();
    auto runs = insertedRuns(op.getV1(), type.getNumElements(),
                             [&](int64_t i) { return op.getMask()[i] % size; });
    auto isScalar = [](const Run &run) {
      return cast<VectorType>(run.part.getType()).getNumElements() == 1;
    };
    if (!runs || (runs->size() > 1 && !llvm::all_of(*runs, isScalar)))
      return failure();
    rewriter.replaceOp(op, join(rewriter, op.getLoc(), type, *runs));
    return success();
  }
};
} // namespace

void tile::populateFragmentPartsPatterns(RewritePatternSet &patterns) {
  patterns.add<ShuffleOfParts, SliceOfParts>(patterns.getContext());
}
