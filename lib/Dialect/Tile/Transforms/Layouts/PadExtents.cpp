//===- PadExtents.cpp - Extents that threads and instructions divide ------===//
//
// An extent of 60 or 100 has few factors of two: few threads share the tile
// and the others hold copies, and no matrix instruction divides it. This pass
// grows such extents. One extent grows alike in all tiles of a kernel, so that
// the shapes of operations that relate tiles still agree. The elements that
// are added hold any value. Loads read zero there, stores and atomics skip
// them. Reductions, products, and scans that begin with them replace them by a
// neutral element.
//
//===----------------------------------------------------------------------===//

#include "MmaChoice.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Dialect/Tile/IR/DefinedValues.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tile {
#define GEN_PASS_DEF_TILEPADEXTENTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static RankedTensorType tileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>();
}

/// Integer division and remainder, which must not see a divisor of zero in the
/// elements that are added.
static bool isIntegerDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
             arith::RemUIOp>(op);
}

namespace {
class ExtentPadder {
public:
  ExtentPadder(KernelOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip), builder(kernel.getContext()) {}

  void run() {
    collect();
    divideProducts();
    shareAmongThreads();
    if (llvm::any_of(padded,
                     [](auto &entry) { return entry.first != entry.second; }))
      rewrite();
  }

private:
  void collect();
  void divideProducts();
  void grow(ArrayRef<int64_t> extents,
            const llvm::SmallDenseMap<int64_t, int64_t> &units);
  bool hasRoom(ArrayRef<int64_t> extents,
               const llvm::SmallDenseMap<int64_t, int64_t> &units);
  void shareAmongThreads();
  void rewrite();

  /// The extent that tiles get in place of `extent`.
  int64_t getPadded(int64_t extent) const {
    auto entry = padded.find(extent);
    return entry == padded.end() ? extent : entry->second;
  }
  SmallVector<int64_t> getPadded(ArrayRef<int64_t> shape) const {
    return llvm::map_to_vector(
        shape, [&](int64_t extent) { return getPadded(extent); });
  }
  bool isPadded(int64_t extent) const { return getPadded(extent) != extent; }

  int64_t countRegisters();
  bool holdsZeros(Value value, int64_t dim) const;
  Value replacePadding(Operation *user, Value value,
                       ArrayRef<std::pair<int64_t, int64_t>> extents,
                       TypedAttr replacement);
  Value narrowToTile(Operation *op, Value buffer, ValueRange indices,
                     ArrayRef<int64_t> shape);

  KernelOp kernel;
  const Chip &chip;
  OpBuilder builder;
  /// Extents that may grow, and what they grow to.
  llvm::MapVector<int64_t, int64_t> padded;
  /// The unit that the padded extent must be a multiple of, if there is one.
  llvm::SmallDenseMap<int64_t, int64_t> units;
  /// Shapes of tiles with an extent that no tile of a higher rank has, with
  /// the bits of their widest element. The others are slices of these.
  llvm::MapVector<ArrayRef<int64_t>, int64_t> shapes;
  /// Types before the rewrite.
  llvm::MapVector<Value, RankedTensorType> tiles;
};
} // namespace

/// Whether the pass can grow all tiles that `op` uses and defines.
static bool canPad(Operation *op) {
  if (isa<LoadOp, StoreOp, AtomicRMWOp>(op))
    return llvm::all_of(op->getOperandTypes(), [](Type type) {
      auto buffer = dyn_cast<BufferType>(type);
      return !buffer ||
             (!buffer.isShared() && isa<StridedAttr>(buffer.getLayout()));
    });
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto dot = dyn_cast<DotOp>(op))
    return tileType(dot.getA()) && tileType(dot.getB());
  return isElementwise(op) ||
         isa<AssertOp, BroadcastOp, GatherOp, IotaOp, PrintOp, ReduceOp, ScanOp,
             TransposeOp, tensor::SplatOp, scf::ConditionOp, scf::ForOp,
             scf::IfOp, scf::WhileOp, scf::YieldOp>(op);
}

/// Whether the pass can grow dimension `dim` of a tile that `op` uses or
/// defines.
static bool canPad(Operation *op, size_t dim) {
  if (auto concatenate = dyn_cast<ConcatenateOp>(op))
    return dim != concatenate.getDim();
  if (!isa<ExtractOp, ReshapeOp>(op))
    return canPad(op);
  // Dimensions that the operation leaves alone.
  ArrayRef<int64_t> from = tileType(op->getOperand(0)).getShape();
  ArrayRef<int64_t> to = tileType(op->getResult(0)).getShape();
  if (isa<ExtractOp>(op))
    return from[dim] == to[dim];
  return dim < std::min(from.size(), to.size()) &&
         from.take_front(dim + 1) == to.take_front(dim + 1);
}

/// Finds the tiles, the extents that may grow, and those that may not: extents
/// of laid-out tiles and of operations that the pass does not know.
void ExtentPadder::collect() {
  llvm::SmallDenseSet<int64_t> fixed;
  auto visit = [&](Operation *op, Value value) {
    RankedTensorType type = tileType(value);
    if (!type)
      return;
    tiles.insert({value, type});
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      padded.insert({extent, extent});
      if (type.getEncoding() || !canPad(op, dim))
        fixed.insert(extent);
    }
  };
  kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      visit(op, operand);
    for (Value value : getDefinedValues(op))
      visit(op, value);
  });
  padded.remove_if([&](auto &entry) { return fixed.contains(entry.first); });

  llvm::SmallDenseMap<int64_t, int64_t> ranks;
  for (auto &[value, type] : tiles)
    for (int64_t extent : type.getShape())
      ranks[extent] = std::max(ranks[extent], type.getRank());
  for (auto &entry : tiles) {
    RankedTensorType type = entry.second;
    if (llvm::none_of(type.getShape(), [&](int64_t extent) {
          return ranks[extent] == type.getRank();
        }))
      continue;
    int64_t &bits = shapes[type.getShape()];
    bits = std::max<int64_t>(bits, type.getElementTypeBitWidth());
  }
}

/// Grows the extents of products that no instruction divides, by as little as
/// possible.
void ExtentPadder::divideProducts() {
  kernel.walk([&](DotOp dot) {
    if (!tileType(dot.getA()) || !tileType(dot.getB()))
      return;
    int64_t extents[3] = {tileType(dot.getA()).getDimSize(0),
                          tileType(dot.getB()).getDimSize(1),
                          tileType(dot.getA()).getDimSize(1)};
    SmallVector<std::array<int64_t, 3>> divisors =
        listMmaDivisors(dot, kernel.getNumWarps(), chip);
    auto suits = [&](const std::array<int64_t, 3> &divisor) {
      return llvm::all_of(llvm::seq(3), [&](int i) {
        return getPadded(extents[i]) % divisor[i] == 0;
      });
    };
    if (llvm::any_of(divisors, suits))
      return;
    llvm::SmallDenseMap<int64_t, int64_t> best;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const std::array<int64_t, 3> &divisor : divisors) {
      llvm::SmallDenseMap<int64_t, int64_t> units = this->units;
      for (auto [extent, unit] : llvm::zip_equal(extents, divisor))
        units[extent] = std::lcm(std::max<int64_t>(units[extent], 1), unit);
      int64_t volume = 1;
      bool possible = true;
      for (int64_t extent : extents) {
        possible &= padded.contains(extent) || extent % units[extent] == 0;
        volume *= llvm::divideCeil(extent, units[extent]) * units[extent];
      }
      if (possible && volume < least && hasRoom(extents, units)) {
        least = volume;
        best = units;
      }
    }
    if (best.empty())
      return; // tile-assign-layouts reports the product
    units = best;
    grow(extents, units);
  });
}

void ExtentPadder::grow(ArrayRef<int64_t> extents,
                        const llvm::SmallDenseMap<int64_t, int64_t> &units) {
  for (int64_t extent : extents)
    if (padded.contains(extent))
      padded[extent] = llvm::alignTo(extent, units.lookup(extent));
}

/// Returns true if no tile gets too many elements where `extents` grow to
/// multiples of `units`.
bool ExtentPadder::hasRoom(ArrayRef<int64_t> extents,
                           const llvm::SmallDenseMap<int64_t, int64_t> &units) {
  auto before = padded;
  grow(extents, units);
  bool isLegal = llvm::all_of(shapes, [&](auto &entry) {
    return succeeded(verifyTileShape(getPadded(entry.first), nullptr));
  });
  padded = before;
  return isLegal;
}

/// Elements of all shapes that a thread holds, as the default layout would
/// place them.
int64_t ExtentPadder::countRegisters() {
  int64_t registers = 0;
  for (auto &[shape, bits] : shapes) {
    SmallVector<int64_t> grown = getPadded(shape);
    if (failed(verifyTileShape(grown, nullptr)))
      return std::numeric_limits<int64_t>::max();
    LayoutAttrInterface layout = getDefaultLayout(
        kernel.getContext(), grown, bits, chip.warpSize, kernel.getNumWarps());
    registers += layout.getLayout(grown, bits, nullptr)->axisSize(kRegister);
  }
  return registers;
}

/// Grows extents that leave threads with copies, where that saves at least an
/// eighth of the registers.
void ExtentPadder::shareAmongThreads() {
  int64_t registers = countRegisters();
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[extent, grown] : padded) {
      int64_t before = grown, best = grown;
      int64_t unit = units.lookup_or(extent, 1);
      for (int64_t power = 2; power < 2 * extent; power *= 2) {
        grown = llvm::alignTo(extent, std::lcm(unit, power));
        if (int64_t count = countRegisters(); count + count / 8 < registers) {
          registers = count;
          best = grown;
        }
      }
      grown = best;
      changed |= best != before;
    }
  }
}

/// Whether the elements that are added along `dim` are known to be zero.
bool ExtentPadder::holdsZeros(Value value, int64_t dim) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<LoadOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return matchPattern(value, m_AnyZeroFloat()) ||
           matchPattern(value, m_Zero());
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return holdsZeros(transpose.getSource(), transpose.getOrder()[dim]);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
          arith::TruncIOp, arith::SIToFPOp>(op))
    return holdsZeros(op->getOperand(0), dim);
  if (isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp>(op))
    return holdsZeros(op->getOperand(0), dim) &&
           holdsZeros(op->getOperand(1), dim);
  return false;
}

/// `value`, which is laid out as its grown type says, with `replacement` where
/// the coordinate of a dimension is at least the extent given with it.
Value ExtentPadder::replacePadding(
    Operation *user, Value value, ArrayRef<std::pair<int64_t, int64_t>> extents,
    TypedAttr replacement) {
  builder.setInsertionPoint(user);
  Location loc = user->getLoc();
  RankedTensorType type = tileType(value);
  auto splat = [&](RankedTensorType tile, TypedAttr element) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(tile, ArrayRef(Attribute(element))));
  };
  auto indexType = type.clone(builder.getI32Type());
  Value inside;
  for (auto [dim, extent] : extents) {
    Value coordinate = IotaOp::create(builder, loc, indexType, dim);
    Value below = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, coordinate,
        splat(indexType, builder.getI32IntegerAttr(extent)));
    inside = inside ? Value(arith::AndIOp::create(builder, loc, inside, below))
                    : below;
  }
  return arith::SelectOp::create(builder, loc, inside, value,
                                 splat(type, replacement));
}

/// A view of `buffer` that ends where a tile of `shape` at `indices` ends, so
/// that the elements that are added to the tile lie outside.
Value ExtentPadder::narrowToTile(Operation *op, Value buffer,
                                 ValueRange indices, ArrayRef<int64_t> shape) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  for (auto [dim, index, extent] : llvm::enumerate(indices, shape)) {
    if (!isPadded(extent))
      continue;
    int64_t end = cast<BufferType>(buffer.getType()).getShape()[dim];
    APInt start;
    if (end != ShapedType::kDynamic &&
        matchPattern(index, m_ConstantInt(&start)) &&
        start.getSExtValue() + extent >= end)
      continue;
    Value length = arith::MinSIOp::create(
        builder, loc, DimOp::create(builder, loc, buffer, dim),
        arith::AddIOp::create(builder, loc, index, constant(extent)));
    if (!isKnownNonNegative(index))
      length = arith::MaxSIOp::create(builder, loc, length, constant(0));
    buffer = NarrowOp::create(builder, loc, buffer, dim, constant(0), length);
  }
  return buffer;
}

void ExtentPadder::rewrite() {
  for (auto &[extent, grown] : padded)
    if (extent != grown)
      remark::passed(kernel.getLoc(), remark::RemarkOpts::name("extent-padded")
                                          .category("tile-pad-extents"))
          << remark::reason("tiles of extent {0} are padded to {1}, which "
                            "threads and matrix instructions divide",
                            extent, grown);
  SmallVector<Operation *> operations;
  kernel.walk([&](Operation *op) { operations.push_back(op); });
  for (auto &[value, type] : tiles) {
    auto grown = type.clone(getPadded(type.getShape()));
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      if (grown != type)
        constant.setValueAttr(
            cast<SplatElementsAttr>(constant.getValue()).resizeSplat(grown));
    value.setType(grown);
  }
  auto shapeOf = [&](Value value) { return tiles[value].getShape(); };
  auto narrow = [&](auto op, Value tile) {
    op.getBufferMutable().assign(
        narrowToTile(op, op.getBuffer(), op.getIndices(), shapeOf(tile)));
  };
  // The verifier of tile.dot needs zeros along the contracted dimension only.
  auto padOperand = [&](DotOp dot, unsigned index) {
    OpOperand &operand = dot->getOpOperand(index);
    int64_t dim = 1 - index, extent = shapeOf(operand.get())[dim];
    if (isPadded(extent) && !holdsZeros(operand.get(), dim))
      operand.set(replacePadding(
          dot, operand.get(), {{dim, extent}},
          builder.getZeroAttr(tileType(operand.get()).getElementType())));
  };
  // The elements that are added do not change what `op` combines.
  auto neutralize = [&](auto op) {
    int64_t dim = op.getDim();
    int64_t extent = shapeOf(op.getSource())[dim];
    if (!isPadded(extent))
      return;
    Type element = tileType(op.getSource()).getElementType();
    TypedAttr neutral = arith::getIdentityValueAttr(op.getKind(), element,
                                                    builder, op.getLoc());
    bool isZero = neutral == builder.getZeroAttr(element);
    if (!isZero || !holdsZeros(op.getSource(), dim))
      op.getSourceMutable().assign(
          replacePadding(op, op.getSource(), {{dim, extent}}, neutral));
  };
  // The elements that are added are those of `replacement`.
  auto replaceAll = [&](Operation *op, unsigned index, TypedAttr replacement) {
    SmallVector<std::pair<int64_t, int64_t>> extents;
    for (auto [dim, extent] : llvm::enumerate(shapeOf(op->getOperand(index))))
      if (isPadded(extent))
        extents.push_back({dim, extent});
    if (!extents.empty())
      op->setOperand(index, replacePadding(op, op->getOperand(index), extents,
                                           replacement));
  };
  for (Operation *op : operations) {
    if (auto load = dyn_cast<LoadOp>(op); load && tiles.count(load)) {
      narrow(load, load.getResult());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      narrow(store, store.getValue());
    } else if (auto atomic = dyn_cast<AtomicRMWOp>(op)) {
      narrow(atomic, atomic.getValue());
    } else if (auto dot = dyn_cast<DotOp>(op);
               dot && tileType(dot.getA()) && tileType(dot.getB())) {
      padOperand(dot, 0);
      padOperand(dot, 1);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      neutralize(reduce);
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      // Other scans end with the elements that are added.
      if (scan.getReverse())
        neutralize(scan);
    } else if (isIntegerDivision(op) && tileType(op->getResult(0))) {
      replaceAll(
          op, 1,
          builder.getOneAttr(tileType(op->getOperand(1)).getElementType()));
    } else if (isa<AssertOp>(op) && tileType(op->getOperand(0))) {
      replaceAll(op, 0, builder.getBoolAttr(true));
    } else if (auto print = dyn_cast<PrintOp>(op);
               print && tileType(print.getValue()) && !print.getWithin()) {
      ArrayRef<int64_t> shape = shapeOf(print.getValue());
      if (llvm::any_of(shape, [&](int64_t x) { return isPadded(x); }))
        print.setWithin(shape);
    }
  }
}

namespace {
struct PadExtents : tile::impl::TilePadExtentsBase<PadExtents> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return signalPassFailure();
    ExtentPadder(kernel, *chip).run();
  }
};
} // namespace
