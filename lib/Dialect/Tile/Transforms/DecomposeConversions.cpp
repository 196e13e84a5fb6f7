//===- DecomposeConversions.cpp - Conversions through shared memory -------===//

#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Layout/Queries.h"

namespace tile {
#define GEN_PASS_DEF_TILEDECOMPOSECONVERSIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Row major, each row followed by 16 bytes, so that columns start in different
/// banks.
static PaddedAttr scratchLayout(RankedTensorType type) {
  SmallVector<int64_t> order;
  for (int64_t dim = type.getRank(); dim-- > 0;)
    order.push_back(dim);
  return PaddedAttr::get(type.getContext(), 128 / type.getElementTypeBitWidth(),
                         order);
}

static void decompose(ConvertLayoutOp convert, ConversionKind kind) {
  OpBuilder builder(convert);
  Location loc = convert.getLoc();
  Value source = convert.getSource();
  RankedTensorType resultType = convert.getType();
  // Buffers have no i1 elements.
  bool isMask = resultType.getElementType().isInteger(1);
  Type stored = isMask ? builder.getI32Type() : resultType.getElementType();
  auto retyped = [&](Type type) {
    return cast<RankedTensorType>(cast<RankedTensorType>(type).clone(stored));
  };
  if (isMask)
    source =
        arith::ExtUIOp::create(builder, loc, retyped(source.getType()), source);
  RankedTensorType wide = retyped(resultType);
  RankedTensorType scratch = withLayout(wide, scratchLayout(wide));
  remark::missed(loc,
                 remark::RemarkOpts::name("conversion-through-shared-memory")
                     .category("tile-decompose-conversions"))
      << remark::reason("conversion through shared memory: elements cross {0}",
                        kind == ConversionKind::WarpShuffle ? "lanes" : "warps")
      << remark::metric("bytes", getCanonicalLayout(scratch).shape().front() *
                                     scratch.getElementTypeBitWidth() / 8);
  Value shared = ConvertLayoutOp::create(builder, loc, scratch, source);
  Value result = ConvertLayoutOp::create(builder, loc, wide, shared);
  if (isMask)
    result = arith::TruncIOp::create(builder, loc, resultType, result);
  convert.getResult().replaceAllUsesWith(result);
  convert.erase();
}

namespace {
struct DecomposeConversions
    : tile::impl::TileDecomposeConversionsBase<DecomposeConversions> {
  using TileDecomposeConversionsBase::TileDecomposeConversionsBase;

  void runOnOperation() override {
    SmallVector<std::pair<ConvertLayoutOp, ConversionKind>> crossing;
    getOperation().walk([&](ConvertLayoutOp convert) {
      auto from = cast<RankedTensorType>(convert.getSource().getType());
      RankedTensorType to = convert.getType();
      if (isSharedTile(from) || isSharedTile(to))
        return;
      ConversionKind kind =
          planConversion(getCanonicalLayout(from), getCanonicalLayout(to)).kind;
      if (kind == ConversionKind::WarpShuffle ||
          kind == ConversionKind::SharedMemory)
        crossing.push_back({convert, kind});
    });
    for (auto [convert, kind] : crossing)
      decompose(convert, kind);
  }
};
} // namespace
