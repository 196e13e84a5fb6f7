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

/// Returns a shared memory layout with contiguous rows along `fastDim`. One
/// column of neighbouring rows is in different banks. If ldmatrix reads the
/// rows, they are swizzled, which needs no additional memory; otherwise 16
/// bytes of padding follow each row.
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
  SmallVector<int64_t> dims{fastDim};
  for (int64_t dim = type.getRank(); dim-- > 0;)
    if (dim != fastDim)
      dims.push_back(dim);
  // Padding follows the first dimension, which must not be a single element.
  SmallVector<int64_t> order;
  for (bool isSingle : {false, true})
    llvm::copy_if(dims, std::back_inserter(order), [&](int64_t dim) {
      return (type.getDimSize(dim) == 1) == isSingle;
    });
  return PaddedAttr::get(context, 128 / bits, order);
}

/// Returns the shared memory layout for a conversion between two distributed
/// layouts that needs the fewest accesses; prefers row major among equals.
static LayoutAttrInterface
chooseScratch(RankedTensorType from, RankedTensorType to, const Chip &chip) {
  int64_t bits = to.getElementTypeBitWidth();
  // ldmatrix can read fragments from rows and, transposed, from columns.
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

/// Emits the write of `source` to a tile in shared memory with `layout` and
/// returns that tile. If `source` is a transposed tile, writes the tile before
/// the transposition, so that readers of both forms can share it.
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
  // Buffers cannot have i1 elements, so masks are stored as i32.
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
  // The tile is written right after it is computed, so that its registers are
  // free again, and read at its use.
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
