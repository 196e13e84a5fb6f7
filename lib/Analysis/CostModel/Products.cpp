//===- Products.cpp - The cost of matrix products -------------------------===//

#include "Predictor.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/ProductUse.h"
#include "tile/Analysis/RolePlan.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// Cycles from the end of an asynchronous MMA to the start of the next one of
/// the same warpgroup, with the barriers of the iteration, and cycles between
/// dependent products of synchronous instructions.
static constexpr double kAsyncGap = 190, kSyncGap = 60;

/// The share of the rate of shared memory that operands of a product reach
/// beside copies (products with 64 columns of attention, H200).
static constexpr double kOperandShare = 0.8;

/// Cycles in which warps exchange a tile through shared memory, with barriers:
/// those of one warp, and what each warp adds. Fitted to the gated delta rule
/// on an H100 (docs/notes/cost-model.md).
static constexpr double kExchangeCycles = 150, kExchangeWarpCycles = 32;

/// The inverse of a triangular matrix is a chain of products, each of three
/// MMAs of halves (tile-expand-operations). Instructions for an element that
/// divide it into halves and mask it.
static constexpr double kInverseMmas = 3, kInverseInstructions = 12;

/// The rate of synchronous MMAs on chips that have asynchronous ones: 62 % of
/// the peak (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
/// Architecture via Microbenchmarking", 2024).
static constexpr double kSyncShare = 0.62;

/// The narrowest swizzle in bytes, of which the rows of operands in shared
/// memory are multiples.
static constexpr int64_t kNarrowestSwizzle = 32;

bool tile::hasColumnsSideBySide(DotOp dot) {
  bool sideBySide = true;
  Value operand = dot.getB();
  while (auto transpose = operand.getDefiningOp<TransposeOp>()) {
    sideBySide ^= transpose.getOrder()[0] == 1;
    operand = transpose.getSource();
  }
  return sideBySide;
}

/// Returns the rows of product instructions that `dot` may use, the preferred
/// one first.
SmallVector<const Mma *> Predictor::listInstructions(DotOp dot) const {
  SmallVector<const Mma *> found;
  for (llvm::StringLiteral name : chip.mma)
    if (const Mma *mma = findMma(name);
        dot.isComputedBy(*mma) &&
        (!dot.getInstruction() || *dot.getInstruction() == name))
      found.push_back(mma);
  return found;
}

/// Returns true if `dot` may have `rows` times `columns` warps.
bool Predictor::suits(DotOp dot, const Mma &mma, int64_t rows) const {
  int64_t columns = candidate.warps / rows;
  return candidate.warps % rows == 0 && rows % mma.warps == 0 &&
         (!dot.getWarps() || *dot.getWarps() == ArrayRef({rows, columns}));
}

/// Returns how `mma` divides a product of these extents among warps.
std::optional<ProductGrid> Predictor::divideBy(const Mma &mma, DotOp dot,
                                               int64_t m, int64_t n,
                                               int64_t k) const {
  bool sideBySide = hasColumnsSideBySide(dot);
  bool isWritten = isOnlyStored(dot.getResult());
  bool readsShared = !mma.spaces[1].registers;
  auto isNarrow = [&](int64_t elements) {
    return elements * getBits(mma.operand) / 8 % kNarrowestSwizzle != 0;
  };
  if (k % mma.k != 0 || (readsShared && isNarrow(sideBySide ? n : k)) ||
      (readsShared && mma.needsKMajor && sideBySide))
    return std::nullopt;
  std::optional<ProductGrid> best;
  int64_t fewest = 0;
  for (int64_t rows = candidate.warps; rows >= 1; --rows) {
    int64_t columns = candidate.warps / rows;
    if (!suits(dot, mma, rows) || m % (mma.m * rows) != 0 ||
        n % (mma.n * columns) != 0 ||
        (readsShared && columns > 1 && sideBySide && isNarrow(n / columns)))
      continue;
    ProductGrid grid{&mma, rows, columns, m, n, k};
    // Warps that multiply alone share fragments best in a square.
    if (!isWritten || mma.warps != 1)
      return grid;
    int64_t read = m / rows + n / columns;
    if (!best || read < fewest) {
      best = grid;
      fewest = read;
    }
  }
  return best;
}

/// Returns how tile-assign-layouts divides a product of these extents.
std::optional<ProductGrid> Predictor::select(DotOp dot, int64_t m, int64_t n,
                                             int64_t k) const {
  bool isWritten = isOnlyStored(dot.getResult());
  std::optional<ProductGrid> best;
  std::optional<ProductCost> least;
  for (const Mma *mma : listInstructions(dot)) {
    if (best && !isAlternative(*mma, *best->mma))
      continue;
    std::optional<ProductGrid> grid = divideBy(*mma, dot, m, n, k);
    if (!grid)
      continue;
    ProductCost cost{isWritten ? 1 : grid->columns,
                     k * (m * grid->columns + n * grid->rows),
                     mma->m * mma->n * mma->k};
    if (!least || cost < *least) {
      best = grid;
      least = cost;
    }
  }
  return best;
}

/// Returns how tile-pad-extents and tile-assign-layouts divide a product:
/// extents that no instruction divides grow by as little as possible.
std::optional<ProductGrid> Predictor::divide(DotOp dot) const {
  SmallVector<int64_t> acc = getShape(dot.getTile());
  int64_t depth = getShape(dot.getA().getType())[1];
  std::array<int64_t, 3> least{};
  double volume = 0;
  for (const Mma *mma : listInstructions(dot))
    for (int64_t rows = candidate.warps; rows >= 1; --rows) {
      if (!suits(dot, *mma, rows))
        continue;
      int64_t columns = candidate.warps / rows;
      std::array<int64_t, 3> grown = {
          int64_t(llvm::alignTo(acc[0], mma->m * rows)),
          int64_t(llvm::alignTo(acc[1], mma->n * columns)),
          int64_t(llvm::alignTo(depth, mma->k))};
      double size = double(grown[0]) * grown[1] * grown[2];
      if (volume == 0 || size < volume) {
        volume = size;
        least = grown;
      }
    }
  if (volume == 0)
    return std::nullopt;
  return select(dot, least[0], least[1], least[2]);
}

/// Returns true if `value` is computed from a product of the same block.
static bool isMadeFromProduct(Value value) {
  SetVector<Value> values;
  values.insert(value);
  Block *block = value.getParentBlock();
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || op->getBlock() != block || isa<LoadOp>(op))
      continue;
    if (isa<DotOp>(op))
      return true;
    values.insert_range(op->getOperands());
  }
  return false;
}

/// Returns true if `operand` of `dot` is computed from a product whose
/// fragments are no operands as they lie: it is operand b, or transposed.
static bool isExchanged(DotOp dot, Value operand) {
  bool isTransposed = operand.getDefiningOp<TransposeOp>() != nullptr;
  return (isTransposed || operand == dot.getB()) && isMadeFromProduct(operand);
}

/// Returns the cycles in which warps exchange a tile.
double Predictor::getTileExchangeCycles() const {
  return kExchangeCycles + kExchangeWarpCycles * candidate.warps;
}

/// Adds the products that tile-expand-operations makes of `inverse`.
void Predictor::visitInverse(UnitTriangularInverseOp inverse, Work &work) {
  int64_t extent = getShape(inverse.getType())[0];
  const Mma &mma = *findMma(chip.mma.front());
  bool isAsync = mma.isAsync && candidate.warps % mma.warps == 0 &&
                 extent % (mma.m * mma.warps) == 0;
  double rate =
      getPeakRate(chip, mma) * (mma.isAsync && !isAsync ? kSyncShare : 1);
  // Two products for each step from blocks of 2 elements on.
  double count = 2 * std::max(std::log2(extent) - 1, 0.0);
  double elements = double(extent) * extent;
  double cycles = count * kInverseMmas * 2 * elements * extent / rate;
  double issue = count * kInverseInstructions * elements / rates.arithmetic;
  double latency = count * (kInverseMmas * (isAsync ? kAsyncGap : kSyncGap) +
                            getTileExchangeCycles());
  // Both halves of operand b, and of operand a where warps share its rows.
  if (candidate.warps > 1) {
    int64_t operands = extent / mma.m < candidate.warps ? 2 : 1;
    inverseBytes +=
        int64_t(2 * operands * count * elements) * getBits(mma.operand) / 8;
  }
  at(work.units, CostUnit::Matrix) += cycles;
  at(work.units, CostUnit::Arithmetic) += issue;
  at(work.units, CostUnit::Serial) += (cycles + issue) / groups + latency;
  work.products += cycles / groups;
  work.others += issue / groups;
  work.latency += latency;
}

void Predictor::visitProduct(DotOp dot, Work &work) {
  std::optional<ProductGrid> grid = divide(dot);
  if (!grid)
    return;
  const Mma &mma = *grid->mma;
  isAsync |= mma.isAsync;
  sharesRows |= grid->columns > 1;
  const Mma *fastest = findMma(chip.mma.front());
  double rate = getPeakRate(chip, mma);
  if (fastest->isAsync && !mma.isAsync)
    rate *= kSyncShare;
  double cycles = 2.0 * grid->m * grid->n * grid->k / rate;
  at(work.units, CostUnit::Matrix) += cycles;
  at(work.units, CostUnit::Serial) +=
      cycles / groups + (mma.isAsync ? kAsyncGap : kSyncGap);
  // The network of queues is measured on chips with asynchronous products.
  if (fastest->isAsync && isMadeFromProduct(dot.getA()))
    if (std::optional<RegisterTile> tile = getRegisterTile(dot.getA()))
      work.chainedRegisters += countRegisters(*tile);
  issueRegisters =
      std::max(issueRegisters, getIssueRegisters(mma, grid->n / grid->columns));
  SmallVector<int64_t> shape = getShape(dot.getTile());
  isPadded |= grid->m != shape[0] || grid->n != shape[1] ||
              grid->k != getShape(dot.getA().getType())[1];
  // Rows that several warps share are reduced, and become operands of other
  // products, through shared memory.
  if (grid->columns > 1 && !isOnlyStored(dot.getResult())) {
    at(work.units, CostUnit::Shared) +=
        2.0 * grid->m * grid->n * getBits(mma.operand) / 8 / rates.sharedBytes;
    at(work.units, CostUnit::Serial) += getTileExchangeCycles();
    work.others += getTileExchangeCycles();
  }
  auto isComputed = [](Value operand) {
    Operation *op = operand.getDefiningOp();
    while (isa_and_nonnull<TransposeOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return op && !isa<LoadOp>(op);
  };
  for (auto [operand, rows] :
       {std::pair(dot.getA(), grid->m), std::pair(dot.getB(), grid->n)}) {
    if (isComputed(operand) && (operand == dot.getB() || grid->columns > 1))
      exchanged[operand] = rows * grid->k * getBits(mma.operand) / 8;
    if (isExchanged(dot, operand)) {
      at(work.units, CostUnit::Shared) +=
          double(rows) * grid->k * getBits(mma.operand) / 8 / rates.sharedBytes;
      at(work.units, CostUnit::Serial) += getTileExchangeCycles();
    }
  }
  if (!mma.isAsync) {
    // The fragments of a whole tile that threads compute are there at a time.
    auto count = [&](Value operand, const Layout &fragment, int64_t number) {
      int64_t steps = exchanged.contains(operand) ? grid->k / mma.k : 1;
      return number * steps * fragment.axisSize(kRegister);
    };
    fragments = std::max(
        fragments, (count(dot.getA(), mma.a, grid->m / grid->rows / mma.m) +
                    count(dot.getB(), mma.b, grid->n / grid->columns / mma.n)) *
                       getBits(mma.operand) / 32);
    // Lanes have copies of the elements of a fragment on some chips.
    for (auto [operand, fragment] :
         {std::pair(dot.getA(), &mma.a), std::pair(dot.getB(), &mma.b)})
      if (isComputed(operand) && !exchanged.contains(operand)) {
        int64_t &known = copies[operand.getType()];
        known = std::max(known, fragment->replication(kLane));
      }
  }
  // Warps read the fragments of both operands; those of an accumulator that
  // becomes operand a are in registers.
  double bytes = getBits(mma.operand) / 8.0;
  double a = isComputed(dot.getA()) && mma.spaces[0].registers
                 ? 0
                 : double(grid->m) * grid->k * grid->columns;
  // One instruction of several warps reads b once for all of them.
  double b = double(grid->n) * grid->k * grid->rows / mma.warps;
  if (mma.isAsync)
    b = double(grid->n) * grid->k * grid->m / (mma.m * mma.warps);
  double shared = (a + b) * bytes / rates.sharedBytes;
  at(work.units, CostUnit::Shared) += shared;
  work.products +=
      std::max(cycles, shared / kOperandShare) / groups + mma.gapCycles;
}
