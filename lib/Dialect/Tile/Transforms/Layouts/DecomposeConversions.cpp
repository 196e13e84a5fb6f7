//===- DecomposeConversions.cpp - Conversions through shared memory -------===//

#include "mlir/IR/Remarks.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Analysis/TransposingReads.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEDECOMPOSECONVERSIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns a shared memory layout with contiguous rows along `fastDim`. One
/// column of neighbouring rows is in different banks if the rows are swizzled
/// or padded. Rows that ldmatrix reads are swizzled, which needs no additional
/// memory; `padding` bytes follow other rows.
static LayoutAttrInterface scratchLayout(RankedTensorType type, int64_t fastDim,
                                         bool isForLdmatrix, int64_t padding) {
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
  return PaddedAttr::get(context, padding * 8 / bits, order);
}

/// Returns the size of a tile in shared memory.
static int64_t countBytes(RankedTensorType tile) {
  return getCanonicalLayout(tile).shape().front() *
         tile.getElementTypeBitWidth() / 8;
}

namespace {
/// A conversion between threads, and the layouts of all such conversions of its
/// source, which read one tile in shared memory if they choose the same layout.
struct Crossing {
  ConvertLayoutOp convert;
  ConversionKind kind;
  SmallVector<Attribute> readers;
};
} // namespace

/// Returns `layout`, a padded one, with the padding that gives the write of
/// `from` and the reads by `readers` the fewest bank conflicts.
static LayoutAttrInterface spreadOverBanks(PaddedAttr layout, int64_t padding,
                                           RankedTensorType from,
                                           ArrayRef<Attribute> readers,
                                           const Chip &chip) {
  std::vector<AccessOfLayout> accesses;
  auto write = [&](LayoutAttrInterface) -> FailureOr<Layout> {
    return getCanonicalLayout(from);
  };
  accesses.emplace_back(write, /*isStore=*/true);
  for (Attribute reader : readers)
    accesses.push_back([&, reader](LayoutAttrInterface layout) {
      return getReadAddresses(getCanonicalLayout(withLayout(from, reader)),
                              getCanonicalLayout(withLayout(from, layout)),
                              from.getElementTypeBitWidth(), chip);
    });
  LayoutAttrInterface best = choosePadding(
      from.getContext(), from.getShape(), from.getElementTypeBitWidth(),
      layout.getOrder(), padding, accesses, chip);
  return countBytes(withLayout(from, best)) <= chip.sharedBytes
             ? best
             : LayoutAttrInterface(layout);
}

/// Returns the shared memory layout for a conversion of a distributed tile that
/// needs the fewest accesses; prefers row major among equals. Rows have padding
/// if the tile fits the shared memory of the chip with it. Returns null if the
/// tile does not fit without padding either.
static LayoutAttrInterface chooseScratch(RankedTensorType from,
                                         RankedTensorType to,
                                         ArrayRef<Attribute> readers,
                                         const Chip &chip) {
  int64_t bits = to.getElementTypeBitWidth();
  // ldmatrix can read fragments from rows and, transposed, from columns.
  bool isForLdmatrix =
      chip.ldmatrix && bits == 16 && isa<DotOperandAttr>(to.getEncoding());
  for (int64_t padding : {16, 0}) {
    LayoutAttrInterface best;
    int64_t fewest = 0;
    for (int64_t dim = to.getRank(); dim-- > 0;) {
      LayoutAttrInterface layout =
          scratchLayout(to, dim, isForLdmatrix, padding);
      if (countBytes(withLayout(to, layout)) > chip.sharedBytes)
        continue;
      Layout memory = getCanonicalLayout(withLayout(to, layout));
      auto countAccesses = [&](RankedTensorType type) {
        AccessGroups groups = widestAccess(getCanonicalLayout(type), memory,
                                           chip.maxSharedAccess * 8 / bits);
        return int64_t(groups.order.size()) / groups.width;
      };
      int64_t accesses = countAccesses(from);
      if (!isForLdmatrix)
        accesses +=
            countSharedReads(getCanonicalLayout(to), memory, bits, chip);
      if (best && accesses >= fewest)
        continue;
      best = layout;
      fewest = accesses;
    }
    auto padded = dyn_cast_or_null<PaddedAttr>(best);
    if (padded && padding != 0 && !chip.ldmatrix)
      return spreadOverBanks(padded, padding, from, readers, chip);
    if (best)
      return best;
  }
  return {};
}

/// Returns true if `scratch`, written right after `source` is computed, fits
/// the shared memory of the chip beside the tiles that are used from there to
/// `convert`.
static bool fitsFromSource(Value source, ConvertLayoutOp convert,
                           RankedTensorType scratch, const Chip &chip) {
  while (auto transpose = source.getDefiningOp<TransposeOp>())
    source = transpose.getSource();
  Operation *first = source.getDefiningOp();
  if (!first || first->getBlock() != convert->getBlock())
    return true;
  DenseSet<Value> tiles;
  for (Operation *op = first->getNextNode(); op != convert;
       op = op->getNextNode())
    op->walk([&](Operation *nested) {
      for (Value value :
           llvm::concat<Value>(llvm::to_vector(nested->getOperands()),
                               llvm::to_vector(nested->getResults()))) {
        while (auto transpose = value.getDefiningOp<TransposeOp>())
          value = transpose.getSource();
        if (isSharedTile(value.getType()))
          tiles.insert(value);
      }
    });
  int64_t bytes = countBytes(scratch);
  for (Value tile : tiles)
    bytes += countBytes(cast<RankedTensorType>(tile.getType()));
  return bytes <= chip.sharedBytes;
}

/// Emits the write of `source` to a tile in shared memory with `layout` and
/// returns that tile. If `isEarly`, the tile is written right after it is
/// computed, so that its registers are free again; otherwise before `convert`.
/// If `source` is a transposed tile, writes the tile before the transposition,
/// so that readers of both forms can share it.
static Value writeScratch(Value source, LayoutAttrInterface layout,
                          ConvertLayoutOp convert, bool isEarly) {
  auto type = cast<RankedTensorType>(source.getType());
  RankedTensorType scratch = withLayout(type, layout);
  OpBuilder builder(convert);
  if (isEarly)
    builder.setInsertionPointAfterValue(source);
  auto permute = dyn_cast<PermuteAttr>(layout);
  auto transpose = source.getDefiningOp<TransposeOp>();
  if (permute && transpose && permute.getOrder() == transpose.getOrder()) {
    Value shared = writeScratch(transpose.getSource(), permute.getParent(),
                                convert, isEarly);
    return TransposeOp::create(builder, transpose.getLoc(), scratch, shared,
                               transpose.getOrder());
  }
  return ConvertLayoutOp::create(builder, source.getLoc(), scratch, source);
}

static RankedTensorType retyped(Type tile, Type element) {
  return cast<RankedTensorType>(cast<RankedTensorType>(tile).clone(element));
}

/// Emits the cast OpT of the elements of `tile`.
template <typename OpT>
static Value castElements(ImplicitLocOpBuilder &b, Value tile, Type element) {
  return OpT::create(b, retyped(tile.getType(), element), tile);
}

namespace {
/// The layouts by chooseScratch. Conversions of a program are often alike.
class ScratchLayouts {
public:
  explicit ScratchLayouts(const Chip &chip) : chip(chip) {}

  const Chip &getChip() const { return chip; }
  LayoutAttrInterface choose(RankedTensorType from, RankedTensorType to,
                             ArrayRef<Attribute> readers) {
    auto key = std::tuple(from, to, ArrayAttr::get(from.getContext(), readers));
    auto [known, isNew] = chosen.try_emplace(key);
    if (isNew)
      known->second = chooseScratch(from, to, readers, chip);
    return known->second;
  }

private:
  const Chip &chip;
  llvm::DenseMap<std::tuple<RankedTensorType, RankedTensorType, ArrayAttr>,
                 LayoutAttrInterface>
      chosen;
};
} // namespace

static Value exchange(const Crossing &crossing, Value source,
                      ScratchLayouts &layouts);

/// Emits the conversion of `source` in two halves of its bits, one after the
/// other, so that both use the same memory.
static Value exchangeHalves(const Crossing &crossing, Value source,
                            ScratchLayouts &layouts) {
  ConvertLayoutOp convert = crossing.convert;
  ImplicitLocOpBuilder b(convert.getLoc(), convert);
  auto type = cast<RankedTensorType>(source.getType());
  Type element = type.getElementType();
  unsigned bits = type.getElementTypeBitWidth();
  Type integer = b.getIntegerType(bits);
  Type half = b.getIntegerType(bits / 2);
  auto distance = [&](Attribute layout) -> Value {
    RankedTensorType shifted = withLayout(retyped(type, integer), layout);
    return arith::ConstantOp::create(
        b,
        DenseElementsAttr::get(shifted, b.getIntegerAttr(integer, bits / 2)));
  };
  if (isa<FloatType>(element))
    source = castElements<arith::BitcastOp>(b, source, integer);
  Value low = exchange(crossing, castElements<arith::TruncIOp>(b, source, half),
                       layouts);
  Value shifted =
      arith::ShRUIOp::create(b, source, distance(type.getEncoding()));
  Value high = exchange(
      crossing, castElements<arith::TruncIOp>(b, shifted, half), layouts);
  low = castElements<arith::ExtUIOp>(b, low, integer);
  high = castElements<arith::ExtUIOp>(b, high, integer);
  high =
      arith::ShLIOp::create(b, high, distance(convert.getType().getEncoding()));
  Value result = arith::OrIOp::create(b, low, high);
  if (isa<FloatType>(element))
    result = castElements<arith::BitcastOp>(b, result, element);
  return result;
}

/// Emits the conversion of `source`, in place of that of `crossing`, through
/// shared memory.
static Value exchange(const Crossing &crossing, Value source,
                      ScratchLayouts &layouts) {
  ConvertLayoutOp convert = crossing.convert;
  ImplicitLocOpBuilder b(convert.getLoc(), convert);
  auto from = cast<RankedTensorType>(source.getType());
  Attribute resultLayout = convert.getType().getEncoding();
  RankedTensorType to = withLayout(from, resultLayout);
  Type element = from.getElementType();
  unsigned bits = from.getElementTypeBitWidth();
  // Buffers have neither i1 nor i16.
  if (element.isInteger(1)) {
    Type wide = b.getI32Type();
    if (!layouts.choose(retyped(from, wide), retyped(to, wide),
                        crossing.readers))
      wide = b.getI16Type();
    source = castElements<arith::ExtUIOp>(b, source, wide);
    return castElements<arith::TruncIOp>(b, exchange(crossing, source, layouts),
                                         element);
  }
  if (element.isInteger(16)) {
    source = castElements<arith::BitcastOp>(b, source, b.getF16Type());
    return castElements<arith::BitcastOp>(
        b, exchange(crossing, source, layouts), element);
  }
  LayoutAttrInterface layout = layouts.choose(from, to, crossing.readers);
  if (!layout && bits > 16)
    return exchangeHalves(crossing, source, layouts);
  if (!layout) // tile-plan-shared-memory reports the size
    layout = scratchLayout(to, to.getRank() - 1, /*isForLdmatrix=*/false,
                           /*padding=*/0);
  remark::missed(convert.getLoc(),
                 remark::RemarkOpts::name("conversion-through-shared-memory")
                     .category("tile-decompose-conversions"))
      << remark::reason("conversion through shared memory: elements cross {0}",
                        crossing.kind == ConversionKind::WarpShuffle ? "lanes"
                                                                     : "warps")
      << remark::metric("bytes", countBytes(withLayout(to, layout)));
  bool isEarly = fitsFromSource(source, convert, withLayout(to, layout),
                                layouts.getChip());
  Value shared = writeScratch(source, layout, convert, isEarly);
  return ConvertLayoutOp::create(b, to, shared);
}

/// Bytes of a row of an MMA's result that four lanes hold. With as much
/// padding, neighbouring rows are in different banks.
static constexpr int64_t kFragmentRowBytes = 32;

/// Lets `reduce` read a tile in shared memory.
static void writeForCluster(ClusterReduceOp reduce, const Chip &chip) {
  auto source = dyn_cast<RankedTensorType>(reduce.getSource().getType());
  if (!source || isSharedTile(source))
    return;
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, source.getRank())));
  MLIRContext *context = source.getContext();
  auto plain = PaddedAttr::get(context, 0, order);
  LayoutAttrInterface layout =
      spreadOverBanks(plain, /*padding=*/0, source, /*readers=*/{}, chip);
  // The rows of all blocks lie alike.
  auto padded = dyn_cast<PaddedAttr>(layout);
  int64_t rows = cast<RankedTensorType>(reduce.getType()).getDimSize(0);
  if (!padded || (padded.getGroup() != 0 && rows % padded.getGroup() != 0)) {
    int64_t bits = source.getElementTypeBitWidth();
    layout = PaddedAttr::get(context, kFragmentRowBytes * 8 / bits, order);
    if (countBytes(withLayout(source, layout)) > chip.sharedBytes)
      layout = plain;
  }
  OpBuilder builder(reduce);
  reduce.getSourceMutable().assign(
      ConvertLayoutOp::create(builder, reduce.getLoc(),
                              withLayout(source, layout), reduce.getSource()));
}

namespace {
struct DecomposeConversions
    : tile::impl::TileDecomposeConversionsBase<DecomposeConversions> {
  using TileDecomposeConversionsBase::TileDecomposeConversionsBase;

  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    SmallVector<Crossing> crossings;
    llvm::MapVector<Value, SetVector<Attribute>> readers;
    getOperation().walk([&](ConvertLayoutOp convert) {
      auto from = cast<RankedTensorType>(convert.getSource().getType());
      RankedTensorType to = convert.getType();
      if (isSharedTile(from) || isSharedTile(to))
        return;
      ConversionKind kind =
          planConversion(getCanonicalLayout(from), getCanonicalLayout(to)).kind;
      if (kind != ConversionKind::WarpShuffle &&
          kind != ConversionKind::SharedMemory)
        return;
      crossings.push_back({convert, kind, {}});
      readers[convert.getSource()].insert(to.getEncoding());
    });
    for (Crossing &crossing : crossings)
      crossing.readers = llvm::to_vector(readers[crossing.convert.getSource()]);
    ScratchLayouts layouts(*chip);
    for (const Crossing &crossing : crossings) {
      ConvertLayoutOp convert = crossing.convert;
      Value result = exchange(crossing, convert.getSource(), layouts);
      convert.getResult().replaceAllUsesWith(result);
      convert.erase();
    }
    getOperation().walk(
        [&](ClusterReduceOp reduce) { writeForCluster(reduce, *chip); });
  }
};
} // namespace
