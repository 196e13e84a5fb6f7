//===- TileDialect.cpp - The tile dialect ---------------------------------===//

#include "AttrFormats.h"
#include "OptionalError.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "tile/Dialect/Tile/IR/DefinedValues.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

#include "tile/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "tile/Dialect/Tile/IR/TileEnums.cpp.inc"
#include "tile/Dialect/Tile/IR/TileInterfaces.cpp.inc"

namespace {
/// Prints layouts as aliases: `#mma = #tile.mma<...>` at the top of the file.
struct TileAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    StringRef name = llvm::TypeSwitch<Attribute, StringRef>(attr)
                         .Case<MmaAttr>([](auto) { return "mma"; })
                         .Case<DotOperandAttr>([](auto operand) {
                           return operand.getIndex() == 0 ? "dot_a" : "dot_b";
                         })
                         .Case<BlockedAttr>([](auto) { return "blocked"; })
                         .Case<DistributedAttr>([](auto) { return "layout"; })
                         .Case<MapAttr>([](auto) { return "map"; })
                         .Case<StridedAttr>([](auto) { return "strided"; })
                         .Default([](Attribute) { return ""; });
    if (name.empty())
      return AliasResult::NoAlias;
    os << name;
    return AliasResult::FinalAlias;
  }
};

/// Operations on tiles can be in any function that a kernel calls.
struct TileInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tile/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tile/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  addInterfaces<TileAsmInterface, TileInlinerInterface>();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

// The generated parsers and printers of the dialect need the definitions of all
// attributes and types, so these are included here.
#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/Tile/IR/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/Tile/IR/TileTypes.cpp.inc"

LogicalResult
tile::verifyTileShape(ArrayRef<int64_t> shape,
                      llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (shape.empty())
    return OptionalError(emitError) << "a tile needs at least one dimension";
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent))
      return OptionalError(emitError) << "a tile needs a static shape";
    if (extent < 1)
      return OptionalError(emitError)
             << "extents must be positive, got " << extent;
    // Divides instead of multiplying, so that nothing overflows.
    if (extent > kMostTileElements / elements)
      return OptionalError(emitError)
             << "a tile has at most " << kMostTileElements << " elements";
    elements *= extent;
  }
  return success();
}

bool tile::isTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && succeeded(verifyTileShape(tensor.getShape(), nullptr)) &&
         (!tensor.getEncoding() || getLayoutAttr(tensor));
}

LayoutAttrInterface tile::getLayoutAttr(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttrInterface>(tensor.getEncoding())
                : LayoutAttrInterface();
}

bool tile::isSharedTile(Type type) {
  LayoutAttrInterface layout = getLayoutAttr(type);
  return layout && layout.getFamily() == LayoutFamily::Memory;
}

Layout tile::getCanonicalLayout(RankedTensorType type) {
  return *getLayoutAttr(type).getLayout(
      type.getShape(), type.getElementType().getIntOrFloatBitWidth(), nullptr);
}

SmallVector<Value> tile::getDefinedValues(Operation *op) {
  SmallVector<Value> values(op->getResults());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(values, block.getArguments());
  return values;
}

RankedTensorType tile::withLayout(RankedTensorType type, Attribute layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

RankedTensorType tile::withLayout(RankedTensorType tile, const Layout &layout) {
  return RankedTensorType::get(layout.shape(), tile.getElementType(),
                               DistributedAttr::get(tile.getContext(), layout));
}
