//===- TileDebugOps.cpp - Assertions and prints ---------------------------===//

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

/// Verifies a text that becomes one line of output.
static LogicalResult verifyText(Operation *op, StringRef noun, StringRef text) {
  if (text.empty())
    return op->emitOpError() << "needs a " << noun << " that is not empty";
  for (auto [i, c] : llvm::enumerate(text))
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return op->emitOpError()
             << "has a control character in its " << noun << ": byte " << i
             << " is " << unsigned(static_cast<unsigned char>(c));
  return success();
}

LogicalResult AssertOp::verify() {
  return verifyText(*this, "message", getMessage());
}

LogicalResult AssertOp::canonicalize(AssertOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

LogicalResult PrintOp::verify() {
  std::optional<ArrayRef<int64_t>> within = getWithin();
  auto tile = dyn_cast<RankedTensorType>(getValue().getType());
  int64_t rank = tile ? tile.getRank() : 0;
  if (within && int64_t(within->size()) != rank)
    return emitOpError() << "has " << within->size()
                         << " extents 'within', but its value has rank "
                         << rank;
  if (within && llvm::any_of(*within, [](int64_t x) { return x < 0; }))
    return emitOpError("has a negative extent 'within'");
  return verifyText(*this, "label", getLabel());
}
