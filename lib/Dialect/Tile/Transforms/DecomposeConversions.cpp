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

/// Rows along `fastDim`, so that the same columns of neighbouring rows are in
/// different banks. Where ldmatrix reads them, swizzled rows need no more
/// memory than the tile; else 16 bytes follow each row.
static LayoutAttrInterface scratchLayout(RankedTensorType type, int64_t fastDim,
                                         bool isForLdmatrix) {
  MLIRContext *context = type.getContext();
  int64_t bits = type.getElementTypeBitWidth();
  if (isForLdmatrix && type.getDimSize(fastDim) * bits % (128 * 8) == 0) {
    LayoutAttrInterface swizzle = SwizzleAttr::get(context, 128);
    return fastDim == 1 ? swizzle
                        : LayoutAttrInterface(
                              PermuteAttr::get(context, {1, 0}, swizzle));
  }
  SmallVector<int64_t> order{fastDim};
  for (int64_t dim = type.getRank(); dim-- > 0;)
    if (dim != fastDim)
      order.push_back(dim);
  return PaddedAttr::get(context, 128 / bits, order);
}

/// Of the layouts in shared memory through which a tile can go from one layout
/// to the other, that with the fewest accesses; row major if several are.
static LayoutAttrInterface
chooseScratch(RankedTensorType from, RankedTensorType to, const Chip &chip) {
  int64_t bits = to.getElementTypeBitWidth();
  // ldmatrix reads fragments from rows as well as from columns.
  bool isForLdmatrix =
      chip.ldmatrix && bits == 16 && isa<DotOperandAttr>(to.getEncoding());
  LayoutAttrInterface best;
  int64_t fewest = 0;
  for (int64_t dim = to.getRank(); dim-- > 0;) {
    LayoutAttrInterface layout = scratchLayout(to, dim, isForLdmatrix);
    Layout memory = getCanonicalLayout(withLayout(to, layout));
    auto countAccesses = [&](RankedTensorType type) {
      AccessGroups groups = widestAccess(getCanonicalLayout(type), memory,
                                         chip.maxSharedAccess * 8 / bits);
      return int64_t(groups.order.size()) / groups.width;
    };
    int64_t accesses = countAccesses(from);
    if (!isForLdmatrix)
      accesses += countAccesses(to);
    if (best && accesses >= fewest)
      continue;
    best = layout;
    fewest = accesses;
  }
  return best;
}

/// `source` in shared memory, with `layout`. A transposed tile is written as it
/// was before, so that all readers can share what was written.
static Value writeScratch(Value source, LayoutAttrInterface layout) {
  OpBuilder builder(source.getContext());
  builder.setInsertionPointAfterValue(source);
  auto type = cast<RankedTensorType>(source.getType());
  auto permute = dyn_cast<PermuteAttr>(layout);
  auto transpose = source.getDefiningOp<TransposeOp>();
  if (permute && transpose && permute.getOrder() == transpose.getOrder()) {
    Value shared = writeScratch(transpose.getSource(), permute.getParent());
    return TransposeOp::create(builder, transpose.getLoc(),
                               withLayout(type, layout), shared,
                               transpose.getOrder());
  }
  return ConvertLayoutOp::create(builder, source.getLoc(),
                                 withLayout(type, layout), source);
}

static void decompose(ConvertLayoutOp convert, ConversionKind kind,
                      const Chip &chip) {
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
  LayoutAttrInterface layout =
      chooseScratch(cast<RankedTensorType>(source.getType()), wide, chip);
  remark::missed(loc,
                 remark::RemarkOpts::name("conversion-through-shared-memory")
                     .category("tile-decompose-conversions"))
      << remark::reason("conversion through shared memory: elements cross {0}",
                        kind == ConversionKind::WarpShuffle ? "lanes" : "warps")
      << remark::metric(
             "bytes",
             getCanonicalLayout(withLayout(wide, layout)).shape().front() *
                 wide.getElementTypeBitWidth() / 8);
  // Written as soon as it is there, which ends the life of its registers; read
  // where it is needed.
  Value shared = writeScratch(source, layout);
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
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
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
      decompose(convert, kind, *chip);
  }
};
} // namespace
