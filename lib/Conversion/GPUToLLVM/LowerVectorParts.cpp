//===- LowerVectorParts.cpp - Lowers vectors that consist of parts --------===//

#include "LowerVectorParts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using vector::InsertStridedSliceOp;

static int64_t sizeOf(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

static bool isInsertion(InsertStridedSliceOp op) {
  return op && op.getDestVectorType().getRank() == 1;
}

/// Returns the insertion whose result `op` inserts into; null if there is none.
static InsertStridedSliceOp previous(InsertStridedSliceOp op) {
  auto source = op.getDest().getDefiningOp<InsertStridedSliceOp>();
  return isInsertion(source) ? source : InsertStridedSliceOp();
}

/// Returns true if only the next insertions of chains use `op`.
static bool isInsideChain(InsertStridedSliceOp op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto next = dyn_cast<InsertStridedSliceOp>(user);
    return isInsertion(next) && previous(next) == op &&
           next.getValueToStore() != op.getResult();
  });
}

namespace {
/// The elements [begin, begin + size) of `vector`.
struct Part {
  Value vector;
  int64_t begin, size;
};
} // namespace

/// Returns the parts that the result of `end`, the last insertion of a chain,
/// consists of.
static SmallVector<Part> partsOf(InsertStridedSliceOp end) {
  SmallVector<Part> elements(sizeOf(end), Part());
  Value start;
  for (InsertStridedSliceOp op = end; op; op = previous(op)) {
    start = op.getDest();
    int64_t offset = cast<IntegerAttr>(op.getOffsets()[0]).getInt();
    for (int64_t i = 0; i < sizeOf(op.getValueToStore()); ++i)
      if (!elements[offset + i].vector)
        elements[offset + i] = {op.getValueToStore(), i, 1};
  }
  SmallVector<Part> parts;
  for (auto [i, element] : llvm::enumerate(elements)) {
    if (!element.vector)
      element = {start, int64_t(i), 1};
    if (!parts.empty() && parts.back().vector == element.vector &&
        parts.back().begin + parts.back().size == element.begin)
      ++parts.back().size;
    else
      parts.push_back(element);
  }
  return parts;
}

/// Returns `size` elements of `vector` from `begin` on; the elements behind its
/// end are poison.
static Value slice(OpBuilder &builder, Location loc, Value vector,
                   int64_t begin, int64_t size) {
  if (begin == 0 && size == sizeOf(vector))
    return vector;
  auto mask = llvm::map_to_vector(llvm::seq(begin, begin + size), [&](auto i) {
    return i < sizeOf(vector) ? i : vector::ShuffleOp::kPoisonIndex;
  });
  return vector::ShuffleOp::create(builder, loc, vector, vector, mask);
}

/// Returns the concatenation of `parts`. Shuffles need operands of one type, so
/// that the smaller half of the parts is extended.
static Value concatenate(OpBuilder &builder, Location loc,
                         ArrayRef<Part> parts) {
  if (parts.size() == 1)
    return slice(builder, loc, parts[0].vector, parts[0].begin, parts[0].size);
  size_t half = llvm::divideCeil(parts.size(), 2);
  Value low = concatenate(builder, loc, parts.take_front(half));
  Value high = concatenate(builder, loc, parts.drop_front(half));
  int64_t lowSize = sizeOf(low), highSize = sizeOf(high);
  int64_t size = std::max(lowSize, highSize);
  SmallVector<int64_t> mask = llvm::to_vector(llvm::seq<int64_t>(0, lowSize));
  llvm::append_range(mask, llvm::seq(size, size + highSize));
  return vector::ShuffleOp::create(builder, loc,
                                   slice(builder, loc, low, 0, size),
                                   slice(builder, loc, high, 0, size), mask);
}

static Value lowerChain(InsertStridedSliceOp end) {
  OpBuilder builder(end);
  Location loc = end.getLoc();
  SmallVector<Part> parts = partsOf(end);
  if (llvm::any_of(parts, [](const Part &part) { return part.size != 1; }))
    return concatenate(builder, loc, parts);
  auto elements = llvm::map_to_vector(parts, [&](const Part &part) -> Value {
    return vector::ExtractOp::create(builder, loc, part.vector, part.begin);
  });
  return vector::FromElementsOp::create(builder, loc, end.getDestVectorType(),
                                        elements);
}

/// Replaces `op` by element `index` of `vector`.
static void replaceByElement(Operation *op, Value vector, int64_t index) {
  OpBuilder builder(op);
  Value element =
      vector::ExtractOp::create(builder, op->getLoc(), vector, index);
  op->replaceAllUsesWith(vector::FromElementsOp::create(
      builder, op->getLoc(), cast<VectorType>(op->getResult(0).getType()),
      element));
  op->erase();
}

void tile::lowerVectorParts(mlir::gpu::GPUModuleOp module) {
  SmallVector<InsertStridedSliceOp> chain, ends;
  module.walk([&](InsertStridedSliceOp op) {
    if (!isInsertion(op))
      return;
    chain.push_back(op);
    if (!isInsideChain(op))
      ends.push_back(op);
  });
  for (InsertStridedSliceOp end : ends)
    end->replaceAllUsesWith(ValueRange(lowerChain(end)));
  for (InsertStridedSliceOp op : chain)
    op->dropAllReferences();
  for (InsertStridedSliceOp op : chain)
    op.erase();

  module.walk([](Operation *op) {
    if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
      if (slice.getSourceVectorType().getRank() == 1 &&
          slice.getType().getNumElements() == 1)
        replaceByElement(op, slice.getSource(),
                         cast<IntegerAttr>(slice.getOffsets()[0]).getInt());
    } else if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
      if (shuffle.getV1VectorType().getRank() != 1 ||
          shuffle.getMask().size() != 1 ||
          shuffle.getMask()[0] == vector::ShuffleOp::kPoisonIndex)
        return;
      int64_t index = shuffle.getMask()[0], size = sizeOf(shuffle.getV1());
      bool first = index < size;
      replaceByElement(op, first ? shuffle.getV1() : shuffle.getV2(),
                       first ? index : index - size);
    }
  });
}
