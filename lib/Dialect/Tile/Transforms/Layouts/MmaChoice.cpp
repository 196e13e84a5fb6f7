//===- MmaChoice.cpp - Choice of matrix instructions ----------------------===//

#include "MmaChoice.h"
#include "tile/Analysis/ProductUse.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// The narrowest swizzle in bytes. The rows of an operand in shared memory are
/// a multiple of it.
static constexpr int64_t kSmallestSwizzle = 32;

Value tile::skipConversions(Value value) {
  auto convert = value.getDefiningOp<ConvertLayoutOp>();
  while (convert && !isSharedTile(convert.getType())) {
    value = convert.getSource();
    convert = value.getDefiningOp<ConvertLayoutOp>();
  }
  return value;
}

/// Returns the tile that operand `index` of `dot` is, before transpositions.
/// Sets `swapped` if its dimensions are swapped.
static Value skipTransposes(DotOp dot, unsigned index, bool &swapped) {
  swapped = false;
  Value operand = skipConversions(dot->getOperand(index));
  while (auto transpose = operand.getDefiningOp<TransposeOp>()) {
    swapped ^= transpose.getOrder()[0] == 1;
    operand = skipConversions(transpose.getSource());
  }
  return operand;
}

bool tile::isKMajor(DotOp dot, unsigned index) {
  bool swapped;
  skipTransposes(dot, index, swapped);
  // The last dimension of a tile is contiguous in shared memory.
  return (index == 0) != swapped;
}

bool tile::canReadShared(DotOp dot, unsigned index, const Mma &mma) {
  bool swapped;
  Value operand = skipTransposes(dot, index, swapped);
  if (mma.needsKMajor && !isKMajor(dot, index))
    return false;
  LayoutAttrInterface layout = getLayoutAttr(operand.getType());
  if (auto buffer = dyn_cast<BufferType>(operand.getType()))
    layout = buffer.getLayout();
  if (layout && layout.getFamily() == LayoutFamily::Memory) {
    auto swizzle = dyn_cast<SwizzleAttr>(layout);
    return swizzle && swizzle.getBanks() == 32 && swizzle.getChunk() == 16;
  }
  auto type = cast<ShapedType>(operand.getType());
  return type.getDimSize(1) * type.getElementTypeBitWidth() / 8 %
             kSmallestSwizzle ==
         0;
}

/// Returns the size in bytes of `columns` columns of b if these are contiguous
/// in shared memory, else 0. A transposed b is stored in its form before the
/// transposition.
static int64_t columnBytes(DotOp dot, int64_t columns) {
  bool swapped;
  skipTransposes(dot, 1, swapped);
  int64_t bits =
      cast<ShapedType>(dot.getB().getType()).getElementTypeBitWidth();
  return swapped ? 0 : columns * bits / 8;
}

int64_t tile::descriptorBytes(DotOp dot, MmaAttr mma) {
  RankedTensorType type = dot.getTile();
  return columnBytes(dot, type.getDimSize(1) / mma.getWarps()[1]);
}

namespace {
/// A product from which a value is computed.
struct SourceProduct {
  DotOp dot;
  /// Whether the value is its transpose.
  bool swapped;
};
} // namespace

/// Returns the products from which `value` is computed elementwise, and with
/// `transposed` also by transpositions. The carried values of loops do not
/// count.
static SmallVector<SourceProduct> findProducts(Value value, bool transposed) {
  SmallVector<SourceProduct> products;
  SetVector<std::pair<Value, unsigned>> values;
  values.insert({value, 0});
  for (size_t i = 0; i < values.size(); ++i) {
    auto [tile, swaps] = values[i];
    Operation *op = tile.getDefiningOp();
    auto transpose = dyn_cast_or_null<TransposeOp>(op);
    if (auto dot = dyn_cast_or_null<DotOp>(op))
      products.push_back({dot, swaps != 0});
    else if (op && (op->hasTrait<OpTrait::Elementwise>() ||
                    (transposed && isa<TransposeOp, ConvertLayoutOp>(op))))
      for (Value operand : op->getOperands())
        values.insert(
            {operand, swaps ^ (transpose && transpose.getOrder()[0] == 1)});
  }
  return products;
}

/// Returns true if the sums of `dot` are scaled by row in a loop, as those of
/// attention are.
static bool hasScaledSums(DotOp dot) {
  Operation *op = skipConversions(dot.getAcc()).getDefiningOp();
  return op && op->hasTrait<OpTrait::Elementwise>();
}

/// Returns true if the columns of b can be divided among `parts` warpgroups,
/// each of which reads its own columns by one matrix descriptor.
static bool canDivideColumns(DotOp dot, int64_t parts) {
  RankedTensorType type = dot.getTile();
  return columnBytes(dot, type.getDimSize(1) / parts) % kSmallestSwizzle == 0;
}

/// Returns the numbers of warps along the rows and the columns of a product;
/// std::nullopt if the instruction does not divide the product.
static std::optional<std::pair<int64_t, int64_t>>
divideAmongWarps(DotOp dot, const Mma &mma, int64_t numWarps) {
  RankedTensorType acc = dot.getTile();
  // The registers of another product can be operand a, whose rows then stay
  // with their warps.
  bool isSquare = mma.warps == 1 && isOnlyStored(dot.getResult()) &&
                  !hasScaledSums(dot) &&
                  findProducts(dot.getA(), /*transposed=*/false).empty();
  std::optional<std::pair<int64_t, int64_t>> best;
  int64_t fewest = 0;
  for (int64_t rows = numWarps; rows >= 1; --rows) {
    int64_t columns = numWarps / rows;
    if (numWarps % rows != 0 ||
        !divides(mma, {rows, columns}, acc.getDimSize(0), acc.getDimSize(1)) ||
        (!mma.spaces[1].registers && columns > 1 &&
         !canDivideColumns(dot, columns)))
      continue;
    if (std::optional<ArrayRef<int64_t>> pinned = dot.getWarps()) {
      if (ArrayRef<int64_t>({rows, columns}) == *pinned)
        return std::pair(rows, columns);
      continue;
    }
    // Place as many warps as possible along the rows: reductions along a row
    // stay within a warp then, and results can be operand a of other products
    // without a conversion.
    if (!isSquare)
      return std::pair(rows, columns);
    // Otherwise choose the grid for which a warp reads the fewest elements of
    // both operands.
    int64_t read = acc.getDimSize(0) / rows + acc.getDimSize(1) / columns;
    if (!best || read < fewest) {
      best = {rows, columns};
      fewest = read;
    }
  }
  return best;
}

/// Returns the instructions of `chip` for the elements of `dot`, only the one
/// that `dot` names if it names one.
static SmallVector<const Mma *> getCandidates(DotOp dot, const Chip &chip) {
  SmallVector<const Mma *> candidates;
  for (StringLiteral name : chip.mma)
    if (const Mma *mma = findMma(name);
        dot.isComputedBy(*mma) &&
        (!dot.getInstruction() || *dot.getInstruction() == name))
      candidates.push_back(mma);
  return candidates;
}

bool tile::lacksInstruction(DotOp dot, const Chip &chip) {
  return llvm::none_of(chip.mma, [&](StringRef name) {
    return dot.isComputedBy(*findMma(name));
  });
}

SmallVector<std::array<int64_t, 3>>
tile::listMmaDivisors(DotOp dot, int64_t numWarps, const Chip &chip) {
  SmallVector<std::array<int64_t, 3>> divisors;
  if (getLayoutAttr(dot.getTile()))
    return divisors;
  for (const Mma *mma : getCandidates(dot, chip))
    for (int64_t rows = numWarps; rows >= 1; --rows) {
      int64_t columns = numWarps / rows;
      if (numWarps % rows != 0 || rows % mma->warps != 0 ||
          (dot.getWarps() && *dot.getWarps() != ArrayRef({rows, columns})))
        continue;
      divisors.push_back({mma->m * rows, mma->n * columns, mma->k});
    }
  return divisors;
}

/// Returns true if rows of `dot`, or of a product that continues it, are
/// reduced, directly or after elementwise operations.
static bool hasReducedRows(DotOp dot) {
  SetVector<Value> values;
  values.insert(dot.getResult());
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto reduce = dyn_cast<ReduceOp>(user);
          reduce && reduce.getDim() == 1)
        return true;
      auto next = dyn_cast<DotOp>(user);
      if (user->hasTrait<OpTrait::Elementwise>() ||
          isa<ConvertLayoutOp>(user) || (next && &use == &next.getAccMutable()))
        values.insert_range(user->getResults());
    }
  return false;
}

/// Returns true if the lanes of an accumulator with this layout, or of its
/// transpose if it is `swapped`, have elements of A of `mma`.
static bool isOperand(MmaAttr accumulator, bool swapped, const Mma &mma) {
  Layout acc = accumulator.getMma().acc;
  if (accumulator.getTransposed() != swapped)
    acc = acc.permuteDims({1, 0});
  return acc.axis(kLane) == mma.a.axis(kLane);
}

/// Returns the lanes that share a row (0) or a column (1) of an accumulator.
static int64_t countLanes(const Mma &mma, unsigned dim) {
  int64_t lanes = 1;
  for (const Digit &digit : mma.acc.axis(kLane))
    if (digit.dim != dim && digit.stride != 0)
      lanes *= digit.extent;
  return lanes;
}

/// Returns whether the operands of the instruction are swapped. The transposed
/// accumulator may be closer to an operand; or rows are reduced or scaled, and
/// fewer lanes share one.
static bool isTransposed(DotOp dot, const Mma &mma) {
  if (mma.preferTransposed || mma.m != mma.n || mma.isAsync)
    return mma.preferTransposed;
  return (hasReducedRows(dot) || hasScaledSums(dot)) &&
         countLanes(mma, 1) < countLanes(mma, 0);
}

namespace {
/// Chooses instructions, each once.
class Chooser {
public:
  Chooser(int64_t numWarps, const Chip &chip)
      : numWarps(numWarps), chip(chip) {}

  MmaAttr choose(DotOp dot);

private:
  MmaAttr divide(DotOp dot, const Mma &mma) const;
  MmaAttr continueProduct(DotOp dot);
  ProductCost costOf(DotOp dot, MmaAttr mma);

  int64_t numWarps;
  const Chip &chip;
  DenseMap<Operation *, MmaAttr> chosen;
};
} // namespace

/// Returns how `mma` divides the product, null if it does not.
MmaAttr Chooser::divide(DotOp dot, const Mma &mma) const {
  auto a = cast<ShapedType>(dot.getA().getType());
  if (a.getDimSize(1) % mma.k != 0)
    return {};
  std::optional<std::pair<int64_t, int64_t>> warps =
      divideAmongWarps(dot, mma, numWarps);
  if (!warps || (!mma.spaces[1].registers && !canReadShared(dot, 1, mma)))
    return {};
  return MmaAttr::get(dot.getContext(),
                      StringAttr::get(dot.getContext(), mma.name),
                      {warps->first, warps->second}, isTransposed(dot, mma));
}

/// Returns the choice for the product that `dot` adds to, so that the sums stay
/// in their registers; null if there is none or it does not suit `dot`.
MmaAttr Chooser::continueProduct(DotOp dot) {
  auto first = skipConversions(dot.getAcc()).getDefiningOp<DotOp>();
  if (!first || dot.getInstruction() || dot.getWarps())
    return {};
  MmaAttr mma = choose(first);
  if (!mma || !dot.isComputedBy(mma.getMma()) || !divide(dot, mma.getMma()) ||
      (!mma.getMma().spaces[1].registers && mma.getWarps()[1] > 1 &&
       !canDivideColumns(dot, mma.getWarps()[1])))
    return {};
  return mma;
}

ProductCost Chooser::costOf(DotOp dot, MmaAttr mma) {
  const Mma &row = mma.getMma();
  int64_t rows = mma.getWarps()[0], columns = mma.getWarps()[1];
  RankedTensorType acc = dot.getTile();
  int64_t m = acc.getDimSize(0), n = acc.getDimSize(1);
  int64_t k = cast<ShapedType>(dot.getA().getType()).getDimSize(1);
  // The registers of another product are operand a if both have the same rows;
  // otherwise they are stored first.
  int64_t readA = m * columns;
  SmallVector<SourceProduct> products =
      findProducts(dot.getA(), /*transposed=*/true);
  if (!products.empty()) {
    bool isReady = llvm::all_of(products, [&](SourceProduct product) {
      MmaAttr other = choose(product.dot);
      return other && other.getWarps()[0] == rows &&
             isOperand(other, product.swapped, row);
    });
    readA = isReady && columns == 1 ? 0 : readA + m;
  }
  bool keepsRows = !isOnlyStored(dot.getResult()) || hasScaledSums(dot);
  return {keepsRows ? columns : 1, k * (readA + n * rows),
          row.m * row.n * row.k};
}

MmaAttr Chooser::choose(DotOp dot) {
  if (auto pinned = dyn_cast_or_null<MmaAttr>(dot.getTile().getEncoding()))
    return pinned;
  if (auto known = chosen.find(dot); known != chosen.end())
    return known->second;
  MmaAttr best = continueProduct(dot);
  if (best)
    return chosen[dot] = best;
  std::optional<ProductCost> least;
  for (const Mma *mma : getCandidates(dot, chip)) {
    if (best && !isAlternative(*mma, best.getMma()))
      continue;
    MmaAttr divided = divide(dot, *mma);
    if (!divided)
      continue;
    ProductCost cost = costOf(dot, divided);
    if (!least || cost < *least) {
      best = divided;
      least = cost;
    }
  }
  chosen[dot] = best;
  return best;
}

MmaAttr tile::findMma(DotOp dot, int64_t numWarps, const Chip &chip) {
  return Chooser(numWarps, chip).choose(dot);
}

FailureOr<MmaAttr> tile::chooseMma(DotOp dot, int64_t numWarps,
                                   const Chip &chip) {
  if (MmaAttr mma = findMma(dot, numWarps, chip))
    return mma;
  if (dot.getPrecision() && lacksInstruction(dot, chip))
    return dot.emitOpError()
           << "of precision " << stringifyProductPrecision(*dot.getPrecision())
           << " has no instruction on " << chip.name
           << "; run tile-expand-products first";
  RankedTensorType acc = dot.getTile();
  auto a = cast<ShapedType>(dot.getA().getType());
  InFlightDiagnostic diag = dot.emitOpError()
                            << "no matrix instruction of " << chip.name
                            << " divides the product " << acc.getDimSize(0)
                            << "x" << acc.getDimSize(1) << "x"
                            << a.getDimSize(1) << " of " << a.getElementType()
                            << " among " << numWarps << " warps";
  if (std::optional<ArrayRef<int64_t>> warps = dot.getWarps())
    diag << ", " << (*warps)[0] << " x " << (*warps)[1];
  if (dot.getInstruction())
    diag << " with the instruction \"" << *dot.getInstruction() << '"';
  for (StringLiteral name : chip.mma)
    if (const Mma *mma = findMma(name); dot.isComputedBy(*mma))
      diag.attachNote() << name << " computes " << mma->m << "x" << mma->n
                        << "x" << mma->k;
  return diag;
}
