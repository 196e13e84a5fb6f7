//===- TileTypes.cpp - Types of the tile dialect --------------------------===//

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

// `<` dims x element `,` layout `,` space `>`
Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Attribute attr;
  StringRef keyword;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseComma())
    return {};
  SMLoc layoutLoc = parser.getCurrentLocation();
  if (parser.parseAttribute(attr) || parser.parseComma())
    return {};
  auto layout = dyn_cast<LayoutAttrInterface>(attr);
  if (!layout) {
    parser.emitError(layoutLoc, "expected a layout attribute");
    return {};
  }
  SMLoc spaceLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword) || parser.parseGreater())
    return {};
  std::optional<MemorySpace> space = symbolizeMemorySpace(keyword);
  if (!space) {
    parser.emitError(spaceLoc, "expected 'global' or 'shared'");
    return {};
  }
  return parser.getChecked<BufferType>(
      loc, parser.getContext(), ArrayRef(shape), element, layout, *space);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  if (!getShape().empty())
    printer << 'x';
  printer << getElementType() << ", " << getLayout() << ", "
          << stringifyMemorySpace(getSpace()) << '>';
}

/// Returns the alignment that `layout` states, in bytes; 0 if it states none.
static int64_t getStatedAlignment(LayoutAttrInterface layout) {
  if (auto strided = dyn_cast_or_null<StridedAttr>(layout))
    return strided.getAlign();
  auto map = dyn_cast_or_null<MapAttr>(layout);
  return map ? map.getAlign() : 0;
}

/// Verifies that a map gives no two elements the same place, for all values of
/// dynamic extents.
static LogicalResult
verifyInjective(const Layout &map, Attribute attr,
                llvm::function_ref<InFlightDiagnostic()> emitError) {
  Layout::Witness witness;
  if (map.isInjective(/*countReplication=*/true, &witness))
    return success();
  return emitError() << attr << " stores the elements (" << witness.first
                     << ") and (" << witness.second << ") at one place";
}

LogicalResult
BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<int64_t> shape, Type element,
                   LayoutAttrInterface layout, MemorySpace space) {
  if (!(element.isF16() || element.isBF16() || element.isF32() ||
        element.isF64() || element.isSignlessInteger(8) ||
        element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return emitError() << "buffer elements must be f16, bf16, f32, f64, i8, "
                          "i32 or i64, got "
                       << element;
  if (shape.empty())
    return emitError() << "a buffer needs at least one dimension";
  // Kernels compare bounds in 32 bits.
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) &&
        (extent < 1 || extent > std::numeric_limits<int32_t>::max()))
      return emitError() << "buffer extents must lie in 1 .. 2^31 - 1, got "
                         << extent;
  if (layout.getFamily() != LayoutFamily::Memory)
    return emitError() << layout << " is not a memory layout";
  unsigned bits = element.getIntOrFloatBitWidth();
  auto strided = dyn_cast<StridedAttr>(layout);
  auto map = dyn_cast<MapAttr>(layout);
  int64_t align = getStatedAlignment(layout);
  if (align != 0 && align < bits / 8)
    return emitError() << "the alignment " << align << " is less than the "
                       << bits / 8 << " bytes of an element";
  if (space == MemorySpace::Shared) {
    if (ShapedType::isDynamicShape(shape))
      return emitError() << "a shared buffer must have a static shape";
    if (failed(verifyTileShape(shape, emitError)))
      return failure();
  } else if (!strided && !map) {
    return emitError() << "a global buffer must have a #tile.strided or a "
                          "#tile.map layout";
  }
  FailureOr<Layout> canonical = layout.getLayout(shape, bits, emitError);
  if (failed(canonical))
    return failure();
  if (space == MemorySpace::Shared)
    return verifyStorage(*canonical, layout, emitError);
  if (map)
    return verifyInjective(*map.getMapLayout(shape, emitError), layout,
                           emitError);
  if (llvm::Error error = canonical->verify())
    return emitError() << llvm::toString(std::move(error));
  return success();
}

ShapedType BufferType::cloneWith(std::optional<ArrayRef<int64_t>> shape,
                                 Type elementType) const {
  return get(getContext(), shape.value_or(getShape()), elementType, getLayout(),
             getSpace());
}

Layout BufferType::getTileMemory(ArrayRef<int64_t> tile) const {
  if (isShared())
    return getCanonicalLayout();
  if (isa<StridedAttr>(getLayout()))
    return *getLayout().getLayout(tile, getElementBits(), nullptr);
  auto map = cast<MapAttr>(getLayout());
  SmallVector<int64_t> strides =
      getStorageStrides(*map.getMapLayout(getShape(), nullptr));
  Layout digits = *map.getMapLayout(tile, nullptr);
  SmallVector<Digits> axes;
  for (unsigned axis = 0; axis < digits.numAxes(); ++axis) {
    axes.emplace_back(digits.axis(axis));
    for (Digit &digit : axes.back()) {
      digit.stride *= strides[digit.dim];
      digit.dim = 0;
    }
  }
  return Layout::memory(axes, kDynamic);
}

int64_t BufferType::getPeriod(unsigned dim) const {
  SmallVector<int64_t> dynamic(getRank(), kDynamic);
  Layout memory = getTileMemory(dynamic);
  int64_t period = 1;
  for (const Digit &digit : memory.axis(dim).drop_back())
    period *= digit.extent;
  return period;
}

LayoutAttrInterface BufferType::dropDefaultAlignment(LayoutAttrInterface layout,
                                                     Type elementType) {
  if (!elementType || !elementType.isIntOrFloat())
    return layout;
  int64_t align = getStatedAlignment(layout);
  if (align == 0 || align != elementType.getIntOrFloatBitWidth() / 8)
    return layout;
  if (auto strided = dyn_cast<StridedAttr>(layout))
    return StridedAttr::get(layout.getContext(), strided.getStrides(),
                            strided.getDivisors(), /*align=*/0,
                            strided.getPage());
  return MapAttr::get(layout.getContext(), cast<MapAttr>(layout).getMap(),
                      /*align=*/0);
}

bool BufferType::isPaged() const {
  auto strided = dyn_cast<StridedAttr>(getLayout());
  return strided && strided.getPage() != 0;
}

int64_t BufferType::getAlignment() const {
  int64_t align = getStatedAlignment(getLayout());
  return align ? align : getElementBits() / 8;
}

Layout BufferType::getCanonicalLayout() const {
  return *getLayout().getLayout(getShape(), getElementBits(), nullptr);
}

int64_t BufferType::getStorageSize() const {
  return getCanonicalLayout().shape().front();
}
