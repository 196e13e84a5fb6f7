//===- TileAttrs.cpp - Layout attributes and their canonical layouts ------===//

#include "AttrFormats.h"
#include "OptionalError.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Building distributed layouts
//===----------------------------------------------------------------------===//

/// Returns the layout with these digits. Parts of digits that exceed the tile
/// become replication: a pattern larger than the tile wraps around. Registers
/// keep such copies only if `copyRegisters`.
static FailureOr<Layout>
clippedLayout(EmitError emitError, Attribute attr, ArrayRef<Digit> registers,
              ArrayRef<Digit> lanes, ArrayRef<Digit> warps,
              ArrayRef<int64_t> shape, bool copyRegisters) {
  ArrayRef<Digit> axes[3] = {registers, lanes, warps};
  Digits clipped[3];
  for (unsigned axis : {kRegister, kLane, kWarp})
    for (const Digit &digit : axes[axis]) {
      int64_t inside = digit.extent;
      if (digit.stride != 0)
        inside = std::clamp<int64_t>(shape[digit.dim] / digit.stride, 1,
                                     digit.extent);
      if (digit.extent % inside != 0)
        return OptionalError(emitError)
               << attr << " cannot wrap its " << digit.extent
               << " values along dimension " << digit.dim << " after "
               << inside;
      if (inside > 1)
        clipped[axis].push_back({inside, digit.dim, digit.stride});
      if (digit.extent > inside && (axis != kRegister || copyRegisters))
        clipped[axis].push_back({digit.extent / inside, 0, 0});
    }
  return Layout::distributed(clipped[kRegister], clipped[kLane], clipped[kWarp],
                             shape);
}

/// Checks that in every dimension the extent of the tile is a multiple of that
/// of the pattern, or divides it.
static LogicalResult checkCover(EmitError emitError, ArrayRef<int64_t> shape,
                                ArrayRef<int64_t> pattern, Attribute attr) {
  if (shape.size() != pattern.size())
    return OptionalError(emitError)
           << attr << " is a layout of rank " << pattern.size()
           << ", but the tile has rank " << shape.size();
  for (auto [dim, extent, covered] : llvm::enumerate(shape, pattern))
    if (extent % covered != 0 && covered % extent != 0)
      return OptionalError(emitError)
             << attr << " covers " << covered << " elements along dimension "
             << dim << ", which neither divides nor is divided by the tile's "
             << extent;
  return success();
}

/// Appends a digit unless its extent is 1.
static void add(Digits &digits, int64_t extent, unsigned dim, int64_t stride) {
  if (extent > 1)
    digits.push_back({extent, dim, stride});
}

static Digits swapDims(ArrayRef<Digit> digits, bool swap) {
  Digits result(digits);
  if (swap)
    for (Digit &digit : result)
      digit.dim = 1 - digit.dim;
  return result;
}

/// Returns the layout that repeats a matrix fragment of the instruction of
/// `mma` over a tile. Warps are placed along the dimensions with spread[dim].
/// Along the columns, the warps that execute an instruction together hold a
/// contiguous range, so that one matrix descriptor covers it.
static FailureOr<Layout> repeatFragment(EmitError emitError, Attribute attr,
                                        ArrayRef<int64_t> shape,
                                        const Layout &fragment, MmaAttr mma,
                                        ArrayRef<bool> spread) {
  bool transposed = mma.getTransposed();
  ArrayRef<int64_t> warps = mma.getWarps();
  int64_t size[2] = {fragment.shape()[transposed ? 1 : 0],
                     fragment.shape()[transposed ? 0 : 1]};
  Digits registers = swapDims(fragment.axis(kRegister), transposed);
  Digits lanes = swapDims(fragment.axis(kLane), transposed);
  Digits warpDigits;
  int64_t pattern[2] = {size[0], size[1]};
  for (unsigned dim : {0u, 1u})
    if (spread[dim])
      pattern[dim] *= warps[dim];
  if (failed(checkCover(emitError, shape, pattern, attr)))
    return failure();
  bool together = mma.getMma().warps > 1;
  auto repeats = [&](unsigned dim) {
    return std::max<int64_t>(shape[dim] / pattern[dim], 1);
  };
  for (unsigned dim : {0u, 1u}) {
    int64_t stride = size[dim];
    if (dim == 1 && together)
      stride *= repeats(dim);
    if (spread[dim])
      add(warpDigits, warps[dim], dim, stride);
    else
      add(warpDigits, warps[dim], 0, 0);
  }
  for (unsigned dim : {1u, 0u})
    add(registers, repeats(dim), dim,
        dim == 1 && together ? size[dim] : pattern[dim]);
  return clippedLayout(emitError, attr, registers, lanes, warpDigits, shape,
                       /*copyRegisters=*/true);
}

LogicalResult tile::verifyStorage(const Layout &layout, Attribute attr,
                                  EmitError emitError) {
  if (llvm::Error error = layout.verify())
    return OptionalError(emitError) << llvm::toString(std::move(error));
  if (layout.shape().front() == kDynamic)
    return OptionalError(emitError)
           << attr << " has a dynamic stride; shared memory needs static ones";
  Layout::Witness witness;
  if (layout.isInjective(/*countReplication=*/true, &witness))
    return success();
  return OptionalError(emitError)
         << attr << " stores the elements (" << witness.first << ") and ("
         << witness.second << ") at one offset";
}

LogicalResult tile::verifyTileLayout(LayoutAttrInterface attr,
                                     ArrayRef<int64_t> shape, Type element,
                                     EmitError emitError) {
  // MLIR's parser calls this even if it has just rejected the element type.
  if (!element)
    return failure();
  bool isMemory = attr.getFamily() == LayoutFamily::Memory;
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (!(bits == 8 || bits == 16 || bits == 32 || bits == 64 ||
        (bits == 1 && !isMemory)))
    return OptionalError(emitError)
           << "a tile with the layout " << Attribute(attr)
           << " needs integer or float elements of 8, 16, 32 or 64 "
           << (isMemory ? "bits" : "bits, or i1") << ", got " << element;
  if (failed(verifyTileShape(shape, emitError)))
    return failure();
  FailureOr<Layout> layout = attr.getLayout(shape, bits, emitError);
  if (failed(layout))
    return failure();
  if (isMemory)
    return verifyStorage(*layout, attr, emitError);
  if (llvm::Error error = layout->verify())
    return OptionalError(emitError) << llvm::toString(std::move(error));
  if (!layout->isSurjective())
    return OptionalError(emitError)
           << Attribute(attr) << " leaves elements of the tile "
           << "without an owner";
  Layout::Witness witness;
  if (layout->isInjective(/*countReplication=*/false, &witness))
    return success();
  auto place = [](ArrayRef<int64_t> index) {
    return "register " + std::to_string(index[kRegister]) + " of lane " +
           std::to_string(index[kLane]) + ", warp " +
           std::to_string(index[kWarp]);
  };
  return OptionalError(emitError)
         << Attribute(attr) << " gives one element to both "
         << place(witness.first) << " and " << place(witness.second)
         << "; copies are written as digits '-> 0'";
}

#define TILE_LAYOUT_ATTR(NAME, FAMILY)                                         \
  LayoutFamily NAME::getFamily() const { return FAMILY; }                      \
  LogicalResult NAME::verifyEncoding(ArrayRef<int64_t> shape, Type element,    \
                                     EmitError emitError) const {              \
    return verifyTileLayout(*this, shape, element, emitError);                 \
  }

TILE_LAYOUT_ATTR(DistributedAttr, LayoutFamily::Distributed)
TILE_LAYOUT_ATTR(BlockedAttr, LayoutFamily::Distributed)
TILE_LAYOUT_ATTR(MmaAttr, LayoutFamily::Distributed)
TILE_LAYOUT_ATTR(DotOperandAttr, LayoutFamily::Distributed)
TILE_LAYOUT_ATTR(SliceAttr, LayoutFamily::Distributed)
TILE_LAYOUT_ATTR(PermuteAttr, getParent().getFamily())
TILE_LAYOUT_ATTR(SwizzleAttr, LayoutFamily::Memory)
TILE_LAYOUT_ATTR(PaddedAttr, LayoutFamily::Memory)
TILE_LAYOUT_ATTR(StridedAttr, LayoutFamily::Memory)
TILE_LAYOUT_ATTR(MapAttr, LayoutFamily::Memory)

//===----------------------------------------------------------------------===//
// DistributedAttr
//===----------------------------------------------------------------------===//

DistributedAttr DistributedAttr::get(MLIRContext *context,
                                     const Layout &layout) {
  return get(context, layout.axis(kRegister), layout.axis(kLane),
             layout.axis(kWarp));
}

LogicalResult DistributedAttr::verify(EmitError emitError,
                                      ArrayRef<Digit> registers,
                                      ArrayRef<Digit> lanes,
                                      ArrayRef<Digit> warps) {
  for (auto [extent, dim, stride] :
       llvm::concat<const Digit>(registers, lanes, warps))
    if (extent < 1 || extent > kMostTileElements || dim > 15 || stride < 0 ||
        stride > kMostTileElements)
      return emitError() << "digit " << extent << " -> d" << dim << " * "
                         << stride
                         << " is out of range: extents lie in 1 .. 2^20, "
                            "dimensions in 0 .. 15, strides in 0 .. 2^20";
  return success();
}

FailureOr<Layout> DistributedAttr::getLayout(ArrayRef<int64_t> shape,
                                             unsigned elementBits,
                                             EmitError emitError) const {
  Layout layout = Layout::distributed(
      Digits(getRegisters()), Digits(getLanes()), Digits(getWarps()), shape);
  if (llvm::Error error = layout.verify())
    return OptionalError(emitError) << llvm::toString(std::move(error));
  return layout;
}

ParseResult tile::parseDigits(AsmParser &parser, SmallVector<Digit> &digits) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        Digit &digit = digits.emplace_back(Digit{0, 0, 0});
        if (parser.parseInteger(digit.extent) || parser.parseArrow())
          return failure();
        int64_t zero;
        OptionalParseResult replicated = parser.parseOptionalInteger(zero);
        if (replicated.has_value()) {
          if (failed(*replicated))
            return failure();
          if (zero != 0)
            return parser.emitError(parser.getCurrentLocation(),
                                    "expected '0' or a dimension such as 'd1'");
          return success();
        }
        StringRef name;
        SMLoc loc = parser.getCurrentLocation();
        if (parser.parseKeyword(&name))
          return failure();
        if (!name.consume_front("d") || name.getAsInteger(10, digit.dim))
          return parser.emitError(loc, "expected a dimension such as 'd1'");
        digit.stride = 1;
        if (succeeded(parser.parseOptionalStar()) &&
            parser.parseInteger(digit.stride))
          return failure();
        // Replication has one form, so that equal layouts are one attribute.
        if (digit.stride == 0)
          digit.dim = 0;
        return success();
      });
}

void tile::printDigits(AsmPrinter &printer, ArrayRef<Digit> digits) {
  printDigits(printer.getStream(), digits);
}

//===----------------------------------------------------------------------===//
// BlockedAttr
//===----------------------------------------------------------------------===//

/// Checks that `order` is a permutation of 0 to size - 1.
static LogicalResult checkOrder(EmitError emitError, ArrayRef<int64_t> order) {
  if (isPermutationVector(order))
    return success();
  return emitError() << "order [" << order
                     << "] is not a permutation of its dimensions";
}

LogicalResult BlockedAttr::verify(EmitError emitError, ArrayRef<int64_t> thread,
                                  ArrayRef<int64_t> lane,
                                  ArrayRef<int64_t> warp,
                                  ArrayRef<int64_t> order) {
  if (thread.size() != order.size() || lane.size() != order.size() ||
      warp.size() != order.size() || order.empty())
    return emitError() << "thread, lane, warp and order must have the same "
                          "number of entries, one per dimension";
  for (ArrayRef<int64_t> counts : {thread, lane, warp})
    for (int64_t count : counts)
      if (count < 1 || count > 4096)
        return emitError() << "counts must lie in 1 .. 4096, got " << count;
  return checkOrder(emitError, order);
}

FailureOr<Layout> BlockedAttr::getLayout(ArrayRef<int64_t> shape,
                                         unsigned elementBits,
                                         EmitError emitError) const {
  SmallVector<int64_t> pattern;
  for (auto [thread, lane, warp] :
       llvm::zip_equal(getThread(), getLane(), getWarp()))
    pattern.push_back(thread * lane * warp);
  if (failed(checkCover(emitError, shape, pattern, *this)))
    return failure();
  Digits registers, lanes, warps;
  for (int64_t dim : getOrder()) {
    add(registers, getThread()[dim], dim, 1);
    add(lanes, getLane()[dim], dim, getThread()[dim]);
    add(warps, getWarp()[dim], dim, getThread()[dim] * getLane()[dim]);
  }
  for (int64_t dim : getOrder())
    add(registers, shape[dim] / pattern[dim], dim, pattern[dim]);
  return clippedLayout(emitError, *this, registers, lanes, warps, shape,
                       /*copyRegisters=*/false);
}

LayoutAttrInterface BlockedAttr::getCoalesced(MLIRContext *context,
                                              ArrayRef<int64_t> shape,
                                              ArrayRef<int64_t> thread,
                                              ArrayRef<int64_t> order,
                                              int64_t lanes, int64_t warps) {
  // Along each dimension, use the largest count that divides the remaining
  // extent.
  SmallVector<int64_t> left(shape);
  for (auto [extent, count] : llvm::zip_equal(left, thread))
    extent /= count;
  auto spread = [&](int64_t &available) {
    SmallVector<int64_t> counts(shape.size(), 1);
    for (int64_t dim : order) {
      counts[dim] = std::gcd(available, left[dim]);
      available /= counts[dim];
      left[dim] /= counts[dim];
    }
    return counts;
  };
  SmallVector<int64_t> lane = spread(lanes), warp = spread(warps);
  BlockedAttr blocked = get(context, thread, lane, warp, order);
  if (lanes == 1 && warps == 1)
    return blocked;
  Layout layout = *blocked.getLayout(shape, 32, nullptr);
  Digits laneDigits(layout.axis(kLane)), warpDigits(layout.axis(kWarp));
  add(laneDigits, lanes, 0, 0);
  add(warpDigits, warps, 0, 0);
  return DistributedAttr::get(
      context, Layout::distributed(Digits(layout.axis(kRegister)), laneDigits,
                                   warpDigits, shape));
}

//===----------------------------------------------------------------------===//
// MmaAttr, DotOperandAttr
//===----------------------------------------------------------------------===//

LogicalResult MmaAttr::verify(EmitError emitError, StringAttr instruction,
                              ArrayRef<int64_t> warps, bool transposed) {
  const Mma *mma = findMma(instruction.getValue());
  if (!mma)
    return emitError() << "unknown matrix instruction " << instruction;
  if (warps.size() != 2 || warps[0] < 1 || warps[1] < 1 || warps[0] > 64 ||
      warps[1] > 64)
    return emitError() << "warps must be two counts in 1 .. 64";
  if (warps[0] % mma->warps != 0)
    return emitError() << instruction << " is performed by " << mma->warps
                       << " warps along the rows, which " << warps[0] << "x"
                       << warps[1] << " warps do not make up";
  if (transposed && mma->m != mma->n)
    return emitError() << instruction << " is not square (" << mma->m << "x"
                       << mma->n << "), so it cannot be transposed";
  return success();
}

std::optional<MmaElement> tile::getMmaElement(Type type) {
  if (type.isF16())
    return MmaElement::F16;
  if (type.isBF16())
    return MmaElement::BF16;
  if (type.isF32())
    return MmaElement::F32;
  if (type.isInteger(8))
    return MmaElement::I8;
  if (type.isInteger(32))
    return MmaElement::I32;
  return std::nullopt;
}

const Mma &MmaAttr::getMma() const {
  return *findMma(getInstruction().getValue());
}

SmallVector<int64_t, 2> MmaAttr::getInstructionShape() const {
  return {getMma().m, getMma().n};
}

FailureOr<Layout> MmaAttr::getLayout(ArrayRef<int64_t> shape,
                                     unsigned elementBits,
                                     EmitError emitError) const {
  return repeatFragment(emitError, *this, shape, getMma().acc, *this,
                        {true, true});
}

ParseResult tile::parseTransposed(AsmParser &parser, bool &transposed) {
  transposed = true;
  return parser.parseKeyword("transposed");
}

void tile::printTransposed(AsmPrinter &printer, bool) {
  printer << "transposed";
}

LogicalResult DotOperandAttr::verify(EmitError emitError, unsigned index,
                                     MmaAttr parent) {
  if (index > 1)
    return emitError() << "dot operand index must be 0 or 1, got " << index;
  return success();
}

FailureOr<Layout> DotOperandAttr::getLayout(ArrayRef<int64_t> shape,
                                            unsigned elementBits,
                                            EmitError emitError) const {
  const Mma &mma = getParent().getMma();
  bool transposed = getParent().getTransposed();
  // A transposed instruction uses the transposed A of the tile as its B.
  const Layout &fragment = (getIndex() == 0) != transposed ? mma.a : mma.b;
  bool isA = getIndex() == 0;
  return repeatFragment(emitError, *this, shape, fragment, getParent(),
                        {isA, !isA});
}

//===----------------------------------------------------------------------===//
// SliceAttr, PermuteAttr
//===----------------------------------------------------------------------===//

LogicalResult SliceAttr::verify(EmitError emitError, unsigned dim,
                                LayoutAttrInterface parent) {
  if (parent.getFamily() != LayoutFamily::Distributed)
    return emitError() << "only distributed layouts can be sliced";
  return success();
}

/// Returns the extent along `dim` that a generic layout inside `layout` spans.
/// Returns 1 if there is no generic layout, since other layouts have no fixed
/// extent.
static int64_t spannedExtent(LayoutAttrInterface layout, unsigned dim) {
  if (auto slice = dyn_cast<SliceAttr>(layout))
    return spannedExtent(slice.getParent(),
                         dim < slice.getDim() ? dim : dim + 1);
  if (auto permute = dyn_cast<PermuteAttr>(layout))
    return dim < permute.getOrder().size()
               ? spannedExtent(permute.getParent(), permute.getOrder()[dim])
               : 1;
  auto generic = dyn_cast<DistributedAttr>(layout);
  if (!generic)
    return 1;
  int64_t extent = 1;
  for (const Digit &digit : llvm::concat<const Digit>(
           generic.getRegisters(), generic.getLanes(), generic.getWarps()))
    if (digit.stride != 0 && digit.dim == dim)
      extent += (digit.extent - 1) * digit.stride;
  return extent;
}

FailureOr<Layout> SliceAttr::getLayout(ArrayRef<int64_t> shape,
                                       unsigned elementBits,
                                       EmitError emitError) const {
  if (getDim() > shape.size())
    return OptionalError(emitError) << "slice dimension " << getDim()
                                    << " exceeds the rank of the tile plus one";
  SmallVector<int64_t> full(shape);
  full.insert(full.begin() + getDim(), spannedExtent(getParent(), getDim()));
  FailureOr<Layout> parent =
      getParent().getLayout(full, elementBits, emitError);
  if (failed(parent))
    return failure();
  return parent->dropDim(getDim());
}

LogicalResult PermuteAttr::verify(EmitError emitError, ArrayRef<int64_t> order,
                                  LayoutAttrInterface parent) {
  return checkOrder(emitError, order);
}

FailureOr<Layout> PermuteAttr::getLayout(ArrayRef<int64_t> shape,
                                         unsigned elementBits,
                                         EmitError emitError) const {
  if (getOrder().size() != shape.size())
    return OptionalError(emitError)
           << Attribute(*this) << " is a layout of rank " << getOrder().size()
           << ", but the tile has rank " << shape.size();
  SmallVector<int64_t> original(shape.size());
  for (auto [i, dim] : llvm::enumerate(getOrder()))
    original[dim] = shape[i];
  FailureOr<Layout> parent =
      getParent().getLayout(original, elementBits, emitError);
  if (failed(parent))
    return failure();
  SmallVector<unsigned> order(getOrder().begin(), getOrder().end());
  return parent->family() == LayoutFamily::Memory ? parent->permuteAxes(order)
                                                  : parent->permuteDims(order);
}

//===----------------------------------------------------------------------===//
// SwizzleAttr, PaddedAttr
//===----------------------------------------------------------------------===//

LogicalResult SwizzleAttr::verify(EmitError emitError, unsigned bytes,
                                  unsigned banks, unsigned chunk) {
  if (banks != 32 && banks != 64)
    return emitError() << "the swizzle is for 32 or 64 banks, got " << banks;
  if (!llvm::isPowerOf2_32(bytes) || bytes < 32 || bytes > 4 * banks)
    return emitError() << "the swizzle must be "
                       << (banks == 32 ? "32, 64 or 128" : "32, 64, 128 or 256")
                       << " bytes, got " << bytes;
  if (chunk != 8 && chunk != 16)
    return emitError() << "the swizzle moves chunks of 8 or 16 bytes, got "
                       << chunk;
  return success();
}

/// Appends one axis per leading dimension, the outermost first, that stacks
/// tiles of `size` elements. Returns the size of the whole stack.
static int64_t stack(SmallVectorImpl<Digits> &axes, ArrayRef<int64_t> leading,
                     int64_t size) {
  SmallVector<Digits> outer(leading.size());
  for (size_t i = leading.size(); i-- > 0;) {
    outer[i] = {{leading[i], 0, size}};
    size *= leading[i];
  }
  axes.insert(axes.begin(), outer.begin(), outer.end());
  return size;
}

FailureOr<Layout> SwizzleAttr::getLayout(ArrayRef<int64_t> shape,
                                         unsigned elementBits,
                                         EmitError emitError) const {
  if (shape.size() < 2 || elementBits % 8 != 0 || elementBits > getChunk() * 8)
    return OptionalError(emitError) << "a swizzled layout needs rank 2 or more "
                                       "and elements of 1 to "
                                    << getChunk() << " bytes";
  int64_t width = getBytes() * 8 / elementBits;
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  bool isNarrow = getChunk() == 8 && columns < width;
  if (columns % width != 0 && !isNarrow)
    return OptionalError(emitError)
           << "rows of " << columns * elementBits / 8
           << " bytes are no multiple of the " << getBytes() << "-byte swizzle";
  int64_t count = llvm::divideCeil(columns, width);
  Digits row{{rows, 0, width}}, column{{std::min(columns, width), 0, 1}};
  add(column, count, 0, rows * width);
  SmallVector<Digits> axes{row, column};
  int64_t size = stack(axes, shape.drop_back(2), count * rows * width);
  Swizzle swizzle;
  swizzle.bits = llvm::Log2_32(getBytes() / getChunk());
  swizzle.base = llvm::Log2_32(getChunk() * 8 / elementBits);
  swizzle.shift = llvm::Log2_32(4 * getBanks() / getChunk());
  return Layout::memory(axes, size, swizzle);
}

LogicalResult PaddedAttr::verify(EmitError emitError, int64_t pad,
                                 ArrayRef<int64_t> order, int64_t group,
                                 int64_t groupPad) {
  if (pad < 0 || pad > 4096)
    return emitError() << "the padding must lie in 0 .. 4096, got " << pad;
  if (order.empty())
    return emitError() << "the order must name at least one dimension";
  if (group < 0 || (group != 0) != (groupPad != 0))
    return emitError() << "groups of 1 or more rows with padding are expected, "
                          "got groups of "
                       << group << " rows with " << groupPad << " elements";
  if (groupPad < 0 || groupPad > 4096)
    return emitError() << "the padding of a group must lie in 0 .. 4096, got "
                       << groupPad;
  if (group != 0 && order.size() < 2)
    return emitError() << "groups of rows need an order of two dimensions or "
                          "more, got 1";
  return checkOrder(emitError, order);
}

FailureOr<Layout> PaddedAttr::getLayout(ArrayRef<int64_t> shape,
                                        unsigned elementBits,
                                        EmitError emitError) const {
  if (shape.size() < getOrder().size())
    return OptionalError(emitError)
           << "a padded layout of " << getOrder().size()
           << " dimensions needs a tile of at least that rank";
  ArrayRef<int64_t> inner = shape.take_back(getOrder().size());
  SmallVector<Digits> axes(inner.size());
  int64_t stride = 1;
  for (auto [i, dim] : llvm::enumerate(getOrder())) {
    if (i == 1 && getGroup() != 0) {
      if (inner[dim] % getGroup() != 0)
        return OptionalError(emitError)
               << inner[dim] << " rows are no multiple of the group of "
               << getGroup();
      int64_t groups = inner[dim] / getGroup();
      int64_t groupStride = getGroup() * stride + getGroupPad();
      axes[dim] = {{getGroup(), 0, stride}, {groups, 0, groupStride}};
      stride = groups * groupStride;
      continue;
    }
    axes[dim] = {{inner[dim], 0, stride}};
    stride *= inner[dim];
    if (i == 0)
      stride += getPad();
  }
  int64_t size = stack(axes, shape.drop_back(inner.size()), stride);
  return Layout::memory(axes, size);
}

//===----------------------------------------------------------------------===//
// StridedAttr
//===----------------------------------------------------------------------===//

LogicalResult StridedAttr::verify(EmitError emitError,
                                  ArrayRef<int64_t> strides,
                                  ArrayRef<int64_t> divisors, int64_t align,
                                  int64_t page) {
  if (strides.size() != divisors.size())
    return emitError() << "one divisor is needed per stride";
  for (auto [stride, divisor] : llvm::zip_equal(strides, divisors))
    if ((stride != kDynamic && (stride < 0 || stride > (int64_t(1) << 40))) ||
        divisor < 1 || divisor > (1 << 20))
      return emitError() << "strides must lie in 0 .. 2^40 and their divisors "
                            "in 1 .. 2^20";
  if (align < 0 || align > 4096 || (align != 0 && !llvm::isPowerOf2_64(align)))
    return emitError() << "the alignment must be a power of two up to 4096 "
                          "bytes, got "
                       << align;
  if (page < 0 || page > std::numeric_limits<int32_t>::max())
    return emitError() << "a page has at most 2^31 - 1 elements, got " << page;
  if (page != 0 && (strides.empty() || strides.front() != kDynamic))
    return emitError() << "the first dimension consists of pages, so that its "
                          "stride must be '?'";
  return success();
}

FailureOr<Layout> StridedAttr::getLayout(ArrayRef<int64_t> shape,
                                         unsigned elementBits,
                                         EmitError emitError) const {
  if (getStrides().size() != shape.size())
    return OptionalError(emitError)
           << Attribute(*this) << " has " << getStrides().size()
           << " strides for " << shape.size() << " dimensions";
  SmallVector<Digits> axes;
  int64_t size = 1;
  bool isDynamic = false;
  for (auto [extent, stride, divisor] :
       llvm::zip_equal(shape, getStrides(), getDivisors())) {
    // A dynamic stride is represented by a number with the same divisor,
    // without a further factor of two, and larger than any tile: results for
    // this number hold for every stride with that divisor.
    int64_t step =
        stride == kDynamic ? divisor * ((int64_t(1) << 33) + 1) : stride;
    axes.push_back({Digit{extent, 0, step}});
    isDynamic |= stride == kDynamic || extent == kDynamic;
    int64_t span = 0;
    if (extent != kDynamic && (llvm::MulOverflow(extent - 1, step, span) ||
                               llvm::AddOverflow(size, span, size)))
      return OptionalError(emitError)
             << "the offsets of the elements exceed 64 bits";
  }
  return Layout::memory(axes, isDynamic ? kDynamic : size);
}

ParseResult tile::parseStrides(AsmParser &parser, SmallVector<int64_t> &strides,
                               SmallVector<int64_t> &divisors, int64_t &align,
                               int64_t &page) {
  auto parseStride = [&]() -> ParseResult {
    int64_t &stride = strides.emplace_back(kDynamic);
    int64_t &divisor = divisors.emplace_back(1);
    if (failed(parser.parseOptionalQuestion()))
      return parser.parseInteger(stride);
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(divisor)
                                                  : success();
  };
  align = page = 0;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("align"))) {
    if (parser.parseEqual() || parser.parseInteger(align))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  SMLoc loc;
  if (parser.parseKeyword("page") || parser.parseEqual() ||
      parser.getCurrentLocation(&loc) || parser.parseInteger(page))
    return failure();
  if (page == 0)
    return parser.emitError(loc, "a page has at least one element");
  return success();
}

void tile::printStrides(AsmPrinter &printer, ArrayRef<int64_t> strides,
                        ArrayRef<int64_t> divisors, int64_t align,
                        int64_t page) {
  printer << '[';
  llvm::interleaveComma(llvm::zip_equal(strides, divisors), printer,
                        [&](auto entry) {
                          auto [stride, divisor] = entry;
                          if (stride != kDynamic)
                            printer << stride;
                          else if (divisor == 1)
                            printer << '?';
                          else
                            printer << "?:" << divisor;
                        });
  printer << ']';
  if (align != 0)
    printer << ", align = " << align;
  if (page != 0)
    printer << ", page = " << page;
}
