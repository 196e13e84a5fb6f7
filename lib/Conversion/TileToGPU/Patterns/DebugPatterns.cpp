//===- DebugPatterns.cpp - Assertions and prints --------------------------===//
//
// Each element is one call with constant text, the place of the thread and the
// coordinates of the element.
//
//===----------------------------------------------------------------------===//

#include "../Access/ThreadAddress.h"
#include "../Lowering.h"
#include "../Roles.h"
#include "../TileVectors.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include <set>

using namespace mlir;
using namespace tile;

/// Returns `text` in the syntax of a format.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped.append(c == '%' ? 2 : 1, c);
  return escaped;
}

namespace {
/// A format and its arguments.
struct Text {
  std::string format;
  SmallVector<Value> arguments;

  void add(const Twine &text) { format += text.str(); }
  void add(StringRef conversion, Value argument) {
    format += conversion;
    arguments.push_back(argument);
  }
};

/// The elements of a tile in the registers of the calling thread, without
/// further copies of an element.
class Elements {
public:
  Elements(Lowering &b, const Layout &layout, Value vector)
      : b(b), vector(vector), coordinates(emitThreadCoordinates(b, layout)) {
    std::set<Coordinates> seen;
    for (auto [r, distance] : llvm::enumerate(registerCoordinates(layout)))
      if (seen.insert(distance).second)
        elements.push_back({int64_t(r), distance});
  }

  size_t size() const { return elements.size(); }
  Value emitValue(size_t i) {
    return vector::ExtractOp::create(b, vector, elements[i].number);
  }
  Value emitCoordinate(size_t i, unsigned dim) {
    return b.add(coordinates[dim], elements[i].distance[dim]);
  }
  /// Adds `[0, 8]`, the index of an element.
  void addIndex(Text &text, size_t i) {
    text.add("[");
    for (unsigned dim = 0; dim < coordinates.size(); ++dim)
      text.add(dim == 0 ? "%d" : ", %d", emitCoordinate(i, dim));
    text.add("]");
  }

private:
  struct Element {
    int64_t number;
    Coordinates distance;
  };
  Lowering &b;
  Value vector;
  SmallVector<Value> coordinates;
  SmallVector<Element> elements;
};
} // namespace

/// Emits the block and the thread for a text.
static SmallVector<Value> emitPlace(Lowering &b) {
  SmallVector<Value> place;
  for (auto dim : {mlir::gpu::Dimension::x, mlir::gpu::Dimension::y,
                   mlir::gpu::Dimension::z})
    place.push_back(b.toI32(mlir::gpu::BlockIdOp::create(b, dim)));
  // Not the number in a group of consumers (numberThreadsInGroups).
  place.push_back(b.chip.vendor == Vendor::NVIDIA
                      ? NVVM::ThreadIdXOp::create(b, b.getI32Type())
                      : b.threadNumber());
  return place;
}

static Text placeText(ArrayRef<Value> place) {
  return {"block (%u, %u, %u), thread %u: ", SmallVector<Value>(place)};
}

/// Adds a number with enough digits to tell it from its neighbours.
static void addNumber(Lowering &b, Text &text, Value value) {
  Type type = value.getType();
  if (isa<FloatType>(type)) {
    StringRef conversion = type.isBF16()  ? "%.4g"
                           : type.isF16() ? "%.5g"
                           : type.isF32() ? "%.9g"
                                          : "%.17g";
    if (type.getIntOrFloatBitWidth() == 16)
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    if (value.getType().isF32())
      value = arith::ExtFOp::create(b, b.getF64Type(), value);
    return text.add(conversion, value);
  }
  if (type.isIndex())
    value = arith::IndexCastOp::create(b, b.getI64Type(), value);
  else if (type.isInteger(1))
    value = arith::ExtUIOp::create(b, b.getI32Type(), value);
  text.add(value.getType().isInteger(64) ? "%lld" : "%d", value);
}

static void emitPrint(Lowering &b, Text text) {
  text.add("\n");
  mlir::gpu::PrintfOp::create(b, b.getStringAttr(text.format), text.arguments);
}

static LogicalResult convertAssert(AssertOp op, AssertOp::Adaptor operands,
                                   Lowering &b) {
  auto tile = dyn_cast<RankedTensorType>(op.getCondition().getType());
  StringRef kernel = op->getParentOfType<mlir::gpu::GPUFuncOp>().getName();
  Value condition = operands.getCondition();
  Value always = arith::ConstantOp::create(b, b.getBoolAttr(true));
  auto enterUnless = [&](Value holds) {
    b.enterIf(arith::XOrIOp::create(b, holds, always));
  };
  auto fail = [&](ArrayRef<Value> place,
                  llvm::function_ref<void(Text &)> where) {
    Text text = placeText(place);
    text.format = "kernel '" + escape(kernel) + "', " + text.format;
    text.add("assertion failed");
    where(text);
    text.add(": " + escape(op.getMessage()) + "\n");
    tile::gpu::FailOp::create(b, text.format, text.arguments);
  };
  if (!tile) {
    enterUnless(condition);
    fail(emitPlace(b), [](Text &) {});
    return b.erase(op);
  }
  // One branch for all elements, which is not taken in general.
  enterUnless(
      vector::ReductionOp::create(b, vector::CombiningKind::AND, condition));
  SmallVector<Value> place = emitPlace(b);
  Elements elements(b, getCanonicalLayout(tile), condition);
  for (size_t i = 0; i < elements.size(); ++i) {
    OpBuilder::InsertionGuard guard(b);
    enterUnless(elements.emitValue(i));
    fail(place, [&](Text &text) {
      text.add(" at ");
      elements.addIndex(text, i);
    });
  }
  return b.erase(op);
}

/// Emits whether an element lies within extents; returns null if there are
/// none that exclude an element.
static Value emitWithin(Lowering &b, Elements &elements, size_t i,
                        ArrayRef<int64_t> shape,
                        std::optional<ArrayRef<int64_t>> within) {
  Value inside;
  if (!within)
    return inside;
  for (auto [dim, extent] : llvm::enumerate(*within))
    if (extent < shape[dim])
      inside =
          b.both(inside, arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                               elements.emitCoordinate(i, dim),
                                               b.i32(extent)));
  return inside;
}

static LogicalResult convertPrint(PrintOp op, PrintOp::Adaptor operands,
                                  Lowering &b) {
  auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
  std::string label = escape(op.getLabel()) + ": ";
  auto start = [&](ArrayRef<Value> place) {
    Text text = placeText(place);
    text.format = label + text.format;
    return text;
  };
  if (!tile) {
    // All threads of the block, or of a group of consumers, have the number.
    if (!b.roles.oneThread.contains(op))
      b.enterIf(b.equal(b.threadNumber(), b.i32(0)));
    Text text = start(emitPlace(b));
    addNumber(b, text, operands.getValue());
    emitPrint(b, std::move(text));
    return b.erase(op);
  }
  Layout layout = getCanonicalLayout(tile);
  if (Value owner = emitIsOwner(b, layout))
    b.enterIf(owner);
  SmallVector<Value> place = emitPlace(b);
  Elements elements(b, layout, operands.getValue());
  for (size_t i = 0; i < elements.size(); ++i) {
    OpBuilder::InsertionGuard guard(b);
    if (Value inside =
            emitWithin(b, elements, i, tile.getShape(), op.getWithin()))
      b.enterIf(inside);
    Text text = start(place);
    elements.addIndex(text, i);
    text.add(" = ");
    addNumber(b, text, elements.emitValue(i));
    emitPrint(b, std::move(text));
  }
  return b.erase(op);
}

void tile::addDebugConversions(ConversionAdder &conversions) {
  conversions.addAll(convertAssert, convertPrint);
}
