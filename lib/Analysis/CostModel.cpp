//===- CostModel.cpp - Predicted time of a tile program -------------------===//

#include "tile/Analysis/CostModel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/SharedMemory.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <functional>
#include <tuple>
#include <vector>

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The exponent of the p-norm that adds the cycles of units. It is fitted, with
/// the constants below, to forward kernels of attention and to matrix products
/// on an H200 (docs/notes/cost-model.md).
static constexpr double kOverlap = 7;

/// Cycles from the end of an asynchronous MMA to the start of the next one of
/// the same warpgroup, with the barriers of the iteration, and cycles between
/// dependent products of synchronous instructions.
static constexpr double kAsyncGap = 200, kSyncGap = 60;

/// Cycles from the issue of a copy from global memory to its arrival.
static constexpr double kCopyLatency = 700;

/// Bytes of the widest request of TMA: rows of a tile with a narrower swizzle
/// arrive in several requests, each of which costs more than its share of the
/// bytes. A request of 64 bytes costs 0.9 times as much as one of 128.
static constexpr int64_t kRequestBytes = 128;
static constexpr double kNarrowPower = 0.85;

/// The share of the cycles of other writes that TMA takes of shared memory.
static constexpr double kBulkWriteShare = 0.5;

/// Bytes a clock that one multiprocessor can receive from the second-level
/// cache if others leave the cache idle.
static constexpr double kPortBytes = 64;

/// The share of the rate of global memory that kernels reach, and the exponent
/// of the p-norm of its cycles and those of the blocks.
static constexpr double kMemoryShare = 0.65, kMemoryOverlap = 4;

/// Cycles in which a block with roles writes an element of a tile to global
/// memory if the tile does not leave through shared memory.
static constexpr double kElementStoreCycles = 0.5;

/// Registers of addresses, counters and masks in a loop that is rotated.
static constexpr int64_t kRotationRegisters = 32;

/// The most stages of a candidate, which are worth their shared memory where
/// one block runs on a multiprocessor, and the least gain by them.
static constexpr int64_t kDeepestStages = 8;
static constexpr double kLeastGain = 0.01;

/// Cycles of the start and the end of a block, and of the launch.
static constexpr double kBlockCycles = 1000, kLaunchCycles = 8500;

/// Cycles in which warps exchange a tile through shared memory, with barriers.
static constexpr double kExchangeCycles = 500;

/// The rate of synchronous MMAs on chips that have asynchronous ones: 62 % of
/// the peak (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
/// Architecture via Microbenchmarking", 2024).
static constexpr double kSyncShare = 0.62;

/// Warps that use all units of a multiprocessor: one for each of its four
/// parts.
static constexpr double kPartWarps = 4;

/// Values of extents and scalars that nothing is known of: large ones.
static constexpr double kUnknown = 4096;

/// The fewest registers that a back end takes beyond those of tiles.
static constexpr int64_t kFewestOthers = 28;

/// The narrowest swizzle in bytes, of which the rows of operands in shared
/// memory are multiples.
static constexpr int64_t kNarrowestSwizzle = 32;

/// Bytes of the mbarriers of a kernel.
static constexpr int64_t kBarrierBytes = 256;

/// Elements by which rows of tiles in shared memory are padded if there is no
/// ldmatrix, which reads swizzled rows.
static constexpr int64_t kPadding = 8;

StringRef tile::stringify(CostUnit unit) {
  static constexpr StringRef names[] = {
      "matrix",        "exponentials",       "arithmetic",
      "shared memory", "second-level cache", "serial path"};
  return names[unsigned(unit)];
}

std::string tile::getArgumentName(KernelOp kernel, unsigned argument) {
  auto name =
      kernel.getArgAttrOfType<StringAttr>(argument, TileDialect::kNameAttr);
  return name ? name.str() : "arg" + std::to_string(argument);
}

CostUnit Cost::getBound() const {
  return CostUnit(std::distance(units.begin(), llvm::max_element(units)));
}

//===----------------------------------------------------------------------===//
// Numbers of the program
//===----------------------------------------------------------------------===//

namespace {
/// Cycles of the units, for all threads of a block; those of `Serial` for one
/// warpgroup.
using Units = std::array<double, kCostUnits>;

double &at(Units &units, CostUnit unit) { return units[unsigned(unit)]; }

/// How a product is divided among the warps.
struct ProductGrid {
  const Mma *mma;
  int64_t rows, columns;
  /// The extents, padded to what the warps divide.
  int64_t m, n, k;
};

class Predictor {
public:
  Predictor(KernelOp kernel, const Chip &chip, const ProblemSizes &sizes,
            const Candidate &candidate)
      : kernel(kernel), chip(chip), rates(chip.throughput), sizes(sizes),
        candidate(candidate),
        groups(std::max<double>(candidate.warps, 1) / kPartWarps) {}

  Refusal run(Cost &cost);

private:
  /// The work of a region: that of one iteration if it is a loop, and inner
  /// loops.
  struct Work {
    Units units{};
    double iterations = 1;
    /// Bytes that are copied to shared memory ahead, and elements that are
    /// stored to global memory.
    double copiedBytes = 0, storedElements = 0;
    /// The cycles of products in those of `Serial`.
    double serialProducts = 0;
    /// Registers of the tiles that products read and that the iteration
    /// computes from other products; 0 if there are none.
    int64_t chainedRegisters = 0;
    std::vector<Work> loops;
  };

  double evaluate(Value value);
  double compute(Value value);
  double evaluateExtent(Value buffer, int64_t dim);
  SmallVector<int64_t> getShape(Type tile) const;
  double countElements(Type tile) const;
  double countBytes(Value tile, Value buffer);

  SmallVector<const Mma *> listInstructions(DotOp dot) const;
  bool suits(DotOp dot, const Mma &mma, int64_t rows) const;
  std::optional<ProductGrid> select(DotOp dot, int64_t m, int64_t n,
                                    int64_t k) const;
  std::optional<ProductGrid> divide(DotOp dot) const;
  std::optional<double> getRequestCost(LoadOp load) const;
  void visit(Block &block, Work &work);
  void visit(Operation *op, Work &work);
  void visitProduct(DotOp dot, Work &work);
  void visitCompute(Operation *op, Work &work);
  void addMoved(Value buffer, double bytes, double requests, Work &work);
  double countMemoryBytes();

  int64_t estimateTiles();
  int64_t countRegisters(Value value) const;
  Refusal chooseRoles(Schedule given, int64_t tiles, Cost &cost,
                      bool &isSlower);
  Refusal chooseMemory(Cost &cost);
  double getTime(const Work &work, int64_t blocks, const Cost &cost) const;
  void addTotals(const Work &work, double times, Cost &cost) const;

  KernelOp kernel;
  const Chip &chip;
  const Throughput &rates;
  const ProblemSizes &sizes;
  Candidate candidate;
  /// Groups of warps that use all units of a multiprocessor.
  double groups;
  std::array<double, 3> grid{};
  DenseMap<Value, double> numbers;
  /// Bytes that a block moves of each buffer.
  llvm::MapVector<Value, double> moved;
  /// Iterations of the loops that are being visited.
  double times = 1;
  /// The rate of the second-level cache relative to that with all
  /// multiprocessors.
  double cacheGain = 1;
  bool isAsync = false, isPadded = false;
  /// Whether rows of tiles may end beyond those of their buffers, so that
  /// threads would copy them element by element.
  bool copiesElements = false;
  /// Registers of a thread for the fragments of a product whose instructions
  /// read registers, and those that an asynchronous product needs.
  int64_t fragments = 0, issueRegisters = 0;
  /// Bytes of shared memory for each stage, and beside the rings.
  int64_t stageBytes = 0, fixedBytes = 0, storedBytes = 0;
};
} // namespace

/// Returns the extent of a buffer: static, given, or kUnknown.
double Predictor::evaluateExtent(Value buffer, int64_t dim) {
  int64_t extent = cast<BufferType>(buffer.getType()).getShape()[dim];
  if (!ShapedType::isDynamic(extent))
    return extent;
  if (auto slice = buffer.getDefiningOp<SliceOp>()) {
    for (auto [i, kept] : llvm::enumerate(slice.getKept()))
      if (kept && dim-- == 0)
        return evaluateExtent(slice.getSource(), i);
  } else if (auto narrow = buffer.getDefiningOp<NarrowOp>()) {
    return int64_t(narrow.getDim()) == dim
               ? evaluate(narrow.getLength())
               : evaluateExtent(narrow.getSource(), dim);
  } else if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    auto given = sizes.find(getArgumentName(kernel, argument.getArgNumber()));
    if (given != sizes.end() && dim < int64_t(given->second.size()) &&
        !ShapedType::isDynamic(given->second[dim]))
      return given->second[dim];
  }
  return kUnknown;
}

double Predictor::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    // The mean iteration.
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && argument == loop.getInductionVar())
      return (evaluate(loop.getLowerBound()) + evaluate(loop.getUpperBound())) /
             2;
    if (parent != kernel)
      return kUnknown;
    auto given = sizes.find(getArgumentName(kernel, argument.getArgNumber()));
    return given != sizes.end() && given->second.size() == 1 &&
                   !ShapedType::isDynamic(given->second[0])
               ? given->second[0]
               : kUnknown;
  }
  Operation *op = value.getDefiningOp();
  auto a = [&] { return evaluate(op->getOperand(0)); };
  auto b = [&] { return evaluate(op->getOperand(1)); };
  auto divide = [&] { return b() == 0 ? 0 : a() / b(); };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](arith::ConstantOp constant) {
        auto number = dyn_cast<IntegerAttr>(constant.getValue());
        return number ? double(number.getValue().getSExtValue()) : kUnknown;
      })
      .Case([&](ParamOp param) {
        return candidate.params.getAs<IntegerAttr>(param.getParameterAttr())
            .getInt();
      })
      .Case([&](DimOp dim) {
        return evaluateExtent(dim.getBuffer(), dim.getDim());
      })
      // The mean block.
      .Case([&](ProgramIdOp id) {
        return std::floor(grid[unsigned(id.getAxis())] / 2);
      })
      .Case(
          [&](NumProgramsOp count) { return grid[unsigned(count.getAxis())]; })
      .Case([&](MultiprocessorsOp) { return double(chip.processors); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>([&](auto) { return a(); })
      .Case([&](arith::AddIOp) { return a() + b(); })
      .Case([&](arith::SubIOp) { return a() - b(); })
      .Case([&](arith::MulIOp) { return a() * b(); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return std::floor(divide()); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [&](auto) { return std::ceil(divide()); })
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [&](auto) { return b() == 0 ? 0 : std::fmod(a(), b()); })
      .Case<arith::MinUIOp, arith::MinSIOp>(
          [&](auto) { return std::min(a(), b()); })
      .Case<arith::MaxUIOp, arith::MaxSIOp>(
          [&](auto) { return std::max(a(), b()); })
      .Default([](auto) { return kUnknown; });
}

/// Returns the number that an index or an integer has in the mean block.
double Predictor::evaluate(Value value) {
  auto known = numbers.find(value);
  if (known != numbers.end())
    return known->second;
  double number = compute(value);
  numbers[value] = number;
  return number;
}

SmallVector<int64_t> Predictor::getShape(Type type) const {
  SmallVector<int64_t> shape;
  for (const TileExtent &extent : getExtents(cast<ShapedType>(type)))
    shape.push_back(
        extent.name ? candidate.params.getAs<IntegerAttr>(extent.name).getInt()
        : ShapedType::isDynamic(extent.number) ? 1
                                               : extent.number);
  return shape;
}

double Predictor::countElements(Type tile) const {
  double elements = 1;
  for (int64_t extent : getShape(tile))
    elements *= extent;
  return elements;
}

/// Returns the bytes of a tile that lie within the extents of its buffer.
double Predictor::countBytes(Value tile, Value buffer) {
  double bytes = cast<BufferType>(buffer.getType()).getElementBits() / 8.0;
  for (auto [dim, extent] : llvm::enumerate(getShape(tile.getType())))
    bytes *=
        std::min<double>(extent, std::max(evaluateExtent(buffer, dim), 1.0));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Returns true if `value` is only added up in a loop, computed elementwise and
/// stored.
static bool isOnlyStored(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      auto dot = dyn_cast<DotOp>(user);
      auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
      if (user->hasTrait<OpTrait::Elementwise>()) {
        values.insert_range(user->getResults());
      } else if (dot && &use == &dot.getAccMutable()) {
        values.insert(dot.getResult());
      } else if (loop && isa<scf::YieldOp>(user)) {
        values.insert(loop.getResult(use.getOperandNumber()));
        values.insert(loop.getRegionIterArg(use.getOperandNumber()));
      } else if (!isa<StoreOp, AtomicRMWOp>(user)) {
        return false;
      }
    }
  return true;
}

/// Returns true if neighbouring columns of operand b of `dot` are neighbours in
/// shared memory too. A transposed b is stored in its form before the
/// transposition.
static bool hasColumnsSideBySide(DotOp dot) {
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
  auto element =
      getMmaElement(cast<ShapedType>(dot.getA().getType()).getElementType());
  for (llvm::StringLiteral name : chip.mma)
    if (const Mma *mma = findMma(name);
        mma->operand == element &&
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

/// Returns how tile-assign-layouts divides a product of these extents: by the
/// first instruction that divides them.
std::optional<ProductGrid> Predictor::select(DotOp dot, int64_t m, int64_t n,
                                             int64_t k) const {
  bool sideBySide = hasColumnsSideBySide(dot);
  bool isWritten = isOnlyStored(dot.getResult());
  for (const Mma *mma : listInstructions(dot)) {
    bool readsShared = !mma->spaces[1].registers;
    auto isNarrow = [&](int64_t elements) {
      return elements * getBits(mma->operand) / 8 % kNarrowestSwizzle != 0;
    };
    if (k % mma->k != 0 || (readsShared && isNarrow(sideBySide ? n : k)))
      continue;
    std::optional<ProductGrid> best;
    int64_t fewest = 0;
    for (int64_t rows = candidate.warps; rows >= 1; --rows) {
      int64_t columns = candidate.warps / rows;
      if (!suits(dot, *mma, rows) || m % (mma->m * rows) != 0 ||
          n % (mma->n * columns) != 0 ||
          (readsShared && columns > 1 && sideBySide && isNarrow(n / columns)))
        continue;
      ProductGrid grid{mma, rows, columns, m, n, k};
      // Warps that multiply alone share fragments best in a square.
      if (!isWritten || mma->warps != 1)
        return grid;
      int64_t read = m / rows + n / columns;
      if (!best || read < fewest) {
        best = grid;
        fewest = read;
      }
    }
    if (best)
      return best;
  }
  return std::nullopt;
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

void Predictor::visitProduct(DotOp dot, Work &work) {
  std::optional<ProductGrid> grid = divide(dot);
  if (!grid)
    return;
  const Mma &mma = *grid->mma;
  isAsync |= mma.isAsync;
  const Mma *fastest = findMma(chip.mma.front());
  double rate = rates.matrix;
  if (fastest->isAsync && !mma.isAsync)
    rate *= kSyncShare;
  double cycles = 2.0 * grid->m * grid->n * grid->k / rate;
  at(work.units, CostUnit::Matrix) += cycles;
  double serial = cycles / groups + (mma.isAsync ? kAsyncGap : kSyncGap);
  at(work.units, CostUnit::Serial) += serial;
  work.serialProducts += serial;
  if (mma.isAsync && isMadeFromProduct(dot.getA()))
    work.chainedRegisters += countRegisters(dot.getA());
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
    at(work.units, CostUnit::Serial) += kExchangeCycles;
  }
  if (!mma.isAsync)
    fragments = std::max(fragments,
                         (grid->m / grid->rows + grid->n / grid->columns) *
                             mma.k * getBits(mma.operand) / 32 / chip.warpSize);
  // Warps read the fragments of both operands; those of an accumulator that
  // becomes operand a are in registers.
  double bytes = getBits(mma.operand) / 8.0;
  auto isComputed = [](Value operand) {
    Operation *op = operand.getDefiningOp();
    while (isa_and_nonnull<TransposeOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return op && !isa<LoadOp>(op);
  };
  double a = isComputed(dot.getA()) && mma.spaces[0].registers
                 ? 0
                 : double(grid->m) * grid->k * grid->columns;
  // One instruction of several warps reads b once for all of them.
  double b = double(grid->n) * grid->k * grid->rows / mma.warps;
  if (mma.isAsync)
    b = double(grid->n) * grid->k * grid->m / (mma.m * mma.warps);
  at(work.units, CostUnit::Shared) += (a + b) * bytes / rates.sharedBytes;
}

/// Adds bytes of `buffer` that go through the second-level cache in requests of
/// this relative cost.
void Predictor::addMoved(Value buffer, double bytes, double requests,
                         Work &work) {
  at(work.units, CostUnit::Cache) += bytes * requests / rates.cacheBytes;
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<SliceOp, NarrowOp>(op))
      break;
    buffer = op->getOperand(0);
  }
  moved[buffer] += bytes * times;
}

/// Returns the bytes that all blocks read from and write to global memory:
/// those of each buffer once.
double Predictor::countMemoryBytes() {
  double sum = 0;
  double blocks = grid[0] * grid[1] * grid[2];
  for (auto [buffer, access] : moved) {
    auto type = cast<BufferType>(buffer.getType());
    double bytes = type.getElementBits() / 8.0;
    for (unsigned dim = 0; dim < type.getShape().size(); ++dim)
      bytes *= std::max(evaluateExtent(buffer, dim), 1.0);
    sum += std::min(bytes, access * blocks);
  }
  return sum;
}

/// Adds the instructions of an operation that computes tiles.
void Predictor::visitCompute(Operation *op, Work &work) {
  Type type = isa<ReduceOp>(op) ? op->getOperand(0).getType()
                                : op->getResult(0).getType();
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return;
  double elements = countElements(tile);
  double instructions = 0, exponentials = 0;
  if (isa<math::Exp2Op, math::ExpOp, math::LogOp, math::Log2Op, math::RsqrtOp,
          math::TanhOp, math::SqrtOp, math::ErfOp>(op)) {
    exponentials = 1;
    instructions = isa<math::Exp2Op>(op) ? 1 : 3;
  } else if (isa<arith::DivFOp>(op)) {
    exponentials = 1;
    instructions = 8;
  } else if (isa<arith::TruncFOp, arith::ExtFOp>(op)) {
    // Two elements are converted at once.
    instructions = 0.5;
  } else if (isa<ReduceOp>(op) || op->hasTrait<OpTrait::Elementwise>()) {
    instructions = 1;
  }
  double issue = elements * instructions / rates.arithmetic;
  double special = elements * exponentials / rates.exponentials;
  at(work.units, CostUnit::Arithmetic) += issue;
  at(work.units, CostUnit::Exponential) += special;
  at(work.units, CostUnit::Serial) += (issue + special) / groups;
}

/// Returns true if neighbouring elements of `buffer` lie along a dimension of
/// unknown extent.
static bool hasOpenRows(BufferType buffer) {
  auto strided = dyn_cast<StridedAttr>(buffer.getLayout());
  if (!strided)
    return false;
  for (auto [extent, stride] :
       llvm::zip_equal(buffer.getShape(), strided.getStrides()))
    if (stride == 1)
      return ShapedType::isDynamic(extent);
  return false;
}

/// Returns the cost of the requests by which TMA fetches a tile, relative to
/// that of as many bytes in the widest requests; nothing if TMA does not fetch
/// it.
std::optional<double> Predictor::getRequestCost(LoadOp load) const {
  auto strided = dyn_cast<StridedAttr>(load.getBuffer().getType().getLayout());
  if (!chip.bulkCopy || !strided)
    return std::nullopt;
  SmallVector<int64_t> shape = getShape(load.getType());
  const auto *unit = llvm::find(strided.getStrides(), 1);
  size_t contiguous = unit - strided.getStrides().begin();
  if (contiguous >= shape.size())
    return std::nullopt;
  int64_t elements = shape[contiguous];
  std::optional<double> cost;
  SmallVector<Value> values = {load.getResult()};
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isa<TransposeOp>(user))
        values.push_back(user->getResult(0));
      auto dot = dyn_cast<DotOp>(user);
      std::optional<ProductGrid> grid =
          dot ? divide(dot) : std::optional<ProductGrid>();
      if (!grid || !grid->mma->isAsync)
        continue;
      // Each warpgroup reads its columns of b by one matrix descriptor, so that
      // they are a multiple of the swizzle.
      int64_t row = elements * load.getType().getElementTypeBitWidth() / 8;
      if (values[i] == dot.getB() && hasColumnsSideBySide(dot))
        row /= grid->columns;
      int64_t request = kRequestBytes;
      while (request > 16 && row % request != 0)
        request /= 2;
      cost = std::max(cost.value_or(1),
                      std::pow(double(kRequestBytes) / request, kNarrowPower));
    }
  return cost;
}

void Predictor::visit(Operation *op, Work &work) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Work &inner = work.loops.emplace_back();
    double step = std::max(evaluate(loop.getStep()), 1.0);
    double length =
        evaluate(loop.getUpperBound()) - evaluate(loop.getLowerBound());
    inner.iterations = std::max(std::ceil(length / step), 0.0);
    double outside = times;
    times *= inner.iterations;
    visit(*loop.getBody(), inner);
    times = outside;
    return;
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visit(block, work);
  if (auto dot = dyn_cast<DotOp>(op))
    return visitProduct(dot, work);
  if (auto load = dyn_cast<LoadOp>(op)) {
    double bytes = countBytes(load.getResult(), load.getBuffer());
    std::optional<double> requests = getRequestCost(load);
    addMoved(load.getBuffer(), bytes, requests.value_or(1), work);
    if (!feedsOnlyProducts(load.getResult()))
      return;
    copiesElements |= hasOpenRows(load.getBuffer().getType());
    // The tile is written to shared memory, with padding, ahead of its use.
    at(work.units, CostUnit::Shared) +=
        bytes * (requests ? kBulkWriteShare : 1) / rates.sharedBytes;
    work.copiedBytes += bytes;
    int64_t size = countElements(load.getType());
    // Rows or columns may be the ones that are padded.
    if (!chip.ldmatrix)
      size += size / *llvm::min_element(getShape(load.getType())) * kPadding;
    size = size * load.getType().getElementTypeBitWidth() / 8;
    (isa<scf::ForOp>(op->getParentOp()) ? stageBytes : fixedBytes) += size;
    return;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    double bytes = countBytes(store.getValue(), store.getBuffer());
    addMoved(store.getBuffer(), bytes, 1, work);
    // The tile goes through shared memory, and the block ends when it has
    // arrived.
    at(work.units, CostUnit::Serial) +=
        2 * bytes / rates.sharedBytes + bytes / rates.cacheBytes;
    work.storedElements += countElements(store.getValue().getType());
    storedBytes = std::max<int64_t>(
        storedBytes, countElements(store.getValue().getType()) *
                         store.getBuffer().getType().getElementBits() / 8);
    return;
  }
  // An atomic operation reads and writes.
  if (auto atomic = dyn_cast<AtomicRMWOp>(op))
    return addMoved(atomic.getBuffer(),
                    2 * countBytes(atomic.getValue(), atomic.getBuffer()), 1,
                    work);
  if (op->getNumResults() == 1)
    visitCompute(op, work);
}

void Predictor::visit(Block &block, Work &work) {
  for (Operation &op : block)
    visit(&op, work);
}

//===----------------------------------------------------------------------===//
// Registers and shared memory
//===----------------------------------------------------------------------===//

/// Returns the registers of a thread for a tile; 0 if the tile is in shared
/// memory, or computed where it is used.
int64_t Predictor::countRegisters(Value value) const {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile)
    return 0;
  Operation *op = value.getDefiningOp();
  if (op && (isa<BroadcastOp, TransposeOp, IotaOp>(op) ||
             op->getName().getStringRef() == "tensor.splat" ||
             op->hasTrait<OpTrait::ConstantLike>() ||
             tile.getElementType().isInteger(1)))
    return 0;
  if (op && isa<LoadOp>(op) && feedsOnlyProducts(value))
    return 0;
  int64_t bits = tile.getElementTypeBitWidth();
  // Rows and columns are shared by the lanes of an MMA, four in a row.
  double threads = candidate.warps * chip.warpSize;
  if (tile.getRank() < 2)
    threads /= 4;
  return llvm::divideCeil(int64_t(std::ceil(countElements(tile) / threads)) *
                              std::max<int64_t>(bits, 16),
                          32);
}

/// Returns the most registers of live tiles.
int64_t Predictor::estimateTiles() {
  int64_t peak = 0;
  // Values that are live after an operation, in one pass from the end of each
  // block. Values from outside of a loop are live in all of it.
  std::function<void(Block &, llvm::SetVector<Value>)> walk =
      [&](Block &block, llvm::SetVector<Value> live) {
        for (Operation &op : llvm::reverse(block)) {
          for (Value result : op.getResults())
            live.remove(result);
          // Elementwise operations overwrite operands that are not needed any
          // more.
          for (Value operand : op.getOperands())
            live.insert(operand);
          for (Region &region : op.getRegions()) {
            region.walk([&](Operation *inner) {
              for (Value operand : inner->getOperands())
                if (!region.isAncestor(operand.getParentRegion()))
                  live.insert(operand);
            });
            for (Block &inner : region)
              walk(inner, live);
          }
          int64_t registers = 0;
          for (Value value : live)
            registers += countRegisters(value);
          peak = std::max(peak, registers);
        }
      };
  walk(kernel.getBody().front(), {});
  return peak;
}

/// Plans the warp roles as tile-choose-roles does.
Refusal Predictor::chooseRoles(Schedule given, int64_t tiles, Cost &cost,
                               bool &isSlower) {
  RolePlan plan;
  auto count = [&](int64_t stages, bool stagesStores) {
    int64_t fixed =
        stagesStores ? std::max(fixedBytes, storedBytes) : fixedBytes;
    return fixed + stages * stageBytes + kBarrierBytes;
  };
  auto check = [&](const Schedule &schedule, bool stagesStores,
                   int64_t limit) -> Refusal {
    int64_t bytes = count(*schedule.stages, stagesStores);
    if (bytes > limit)
      return "it takes " + std::to_string(bytes) +
             " bytes of shared memory, of " + std::to_string(limit);
    cost.sharedBytes = bytes;
    cost.stagesStores = stagesStores;
    return std::nullopt;
  };
  auto isCopiedByElements = [&] { return copiesElements; };
  // The prediction knows no persistent kernels yet.
  RoleRequest request{chip,
                      given,
                      candidate.warps,
                      tiles + kRegisterAllowance,
                      issueRegisters,
                      /*mostWorkStages=*/0,
                      check,
                      isCopiedByElements};
  if (Refusal refusal = planRoles(request, plan)) {
    isSlower = plan.isSlower;
    return refusal;
  }
  if (tiles + kFewestOthers > plan.registers)
    return "a thread needs about " + std::to_string(tiles + kFewestOthers) +
           " registers, of " + std::to_string(plan.registers);
  cost.hasRoles = true;
  cost.tileRegisters = tiles;
  cost.registerLimit = plan.registers;
  cost.stages = *plan.schedule.stages;
  cost.registers = std::min(tiles + kRegisterMargin, plan.registers);
  int64_t warps = candidate.warps + *plan.schedule.producers +
                  plan.schedule.storers.value_or(0);
  int64_t each = plan.schedule.registers
                     ? getRegisterShare(chip.warpSize * warps)
                     : llvm::alignTo(cost.registers, 8);
  cost.residentBlocks = countResidentBlocks(chip, warps, each);
  while (cost.residentBlocks > 1 &&
         cost.sharedBytes > getSharedLimit(chip, cost.residentBlocks))
    --cost.residentBlocks;
  return std::nullopt;
}

/// Chooses the stages, and finds out how many blocks run on a multiprocessor.
Refusal Predictor::chooseMemory(Cost &cost) {
  int64_t tiles = estimateTiles() + fragments;
  Schedule given = getSchedule(kernel);
  if (candidate.stages)
    given.stages = candidate.stages;
  if (chip.bulkCopy && isAsync && given.producers != 0) {
    bool isSlower = false;
    Refusal refusal = chooseRoles(given, tiles, cost, isSlower);
    if (!refusal || !isSlower)
      return refusal;
  }
  int64_t threads = candidate.warps * chip.warpSize;
  if (threads > kMostThreads)
    return "it has " + std::to_string(threads) + " threads";
  int64_t limit = std::min(chip.maxRegisters, rates.registers / threads);
  if (tiles + kFewestOthers > limit)
    return "a thread needs about " + std::to_string(tiles + kFewestOthers) +
           " registers, of " + std::to_string(limit);
  if (Refusal refusal =
          checkIssueRegisters(chip, candidate.warps, issueRegisters))
    return refusal;
  cost.registers = std::min(tiles + kRegisterMargin, limit);
  int64_t byRegisters = countResidentBlocks(chip, candidate.warps,
                                            llvm::alignTo(cost.registers, 8));
  bool runsAhead = stageBytes > 0 && chip.asyncCopy.isDefault;
  int64_t stages = given.stages.value_or(runsAhead ? kFewestStages : 1);
  cost.stages = stages;
  cost.sharedBytes = fixedBytes + stages * stageBytes;
  if (cost.sharedBytes > chip.sharedBytes)
    return "it takes " + std::to_string(cost.sharedBytes) +
           " bytes of shared memory, of " + std::to_string(chip.sharedBytes);
  cost.residentBlocks = std::min<int64_t>(
      byRegisters, chip.sharedBytes / std::max<int64_t>(cost.sharedBytes, 1));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Returns the cycles of `work` if `blocks` blocks run on a multiprocessor.
double Predictor::getTime(const Work &work, int64_t blocks,
                          const Cost &cost) const {
  double sum = 0;
  auto add = [&](double cycles) { sum += std::pow(cycles, kOverlap); };
  double cache = work.units[unsigned(CostUnit::Cache)] / cacheGain;
  add(cache * blocks);
  for (unsigned unit = 0; unit < kCostUnits; ++unit)
    if (CostUnit(unit) != CostUnit::Serial && CostUnit(unit) != CostUnit::Cache)
      add(work.units[unit] * blocks);
  double serial = work.units[unsigned(CostUnit::Serial)];
  if (work.copiedBytes > 0) {
    double copy = kCopyLatency + cache;
    // Without stages, the threads wait for each copy.
    if (cost.stages > 1)
      add(copy / (cost.stages - 1));
    else
      serial += copy;
  }
  if (cost.hasRoles && !cost.stagesStores)
    serial += work.storedElements * kElementStoreCycles;
  // tile-schedule starts the products of the next iteration before it computes
  // on those of this one, if there are registers for the tile in between.
  bool isRotated =
      cost.hasRoles && groups >= 2 && work.chainedRegisters > 0 &&
      cost.tileRegisters + work.chainedRegisters + kRotationRegisters <=
          cost.registerLimit;
  if (isRotated) {
    add(work.serialProducts);
    serial -= work.serialProducts;
  }
  add(serial);
  double time = std::pow(sum, 1 / kOverlap);
  for (const Work &loop : work.loops)
    time += getTime(loop, blocks, cost);
  return time * work.iterations;
}

void Predictor::addTotals(const Work &work, double times, Cost &cost) const {
  times *= work.iterations;
  for (unsigned unit = 0; unit < kCostUnits; ++unit)
    cost.units[unit] += times * work.units[unit];
  for (const Work &loop : work.loops)
    addTotals(loop, times, cost);
}

Refusal Predictor::run(Cost &cost) {
  GridOp launch = kernel.getGrid();
  for (auto [axis, extent] : llvm::enumerate(launch->getOperands()))
    grid[axis] = std::max(evaluate(extent), 1.0);
  // Other numbers depend on the grid.
  cost.blocks = grid[0] * grid[1] * grid[2];
  double active = std::min<double>(cost.blocks, chip.processors);
  cacheGain = std::max(
      std::min(kPortBytes / rates.cacheBytes, chip.processors / active), 1.0);
  Work work;
  visit(kernel.getBody().front(), work);
  cost.isPadded = isPadded;
  if (Refusal refusal = chooseMemory(cost))
    return refusal;
  addTotals(work, 1, cost);
  cost.cacheBytes =
      cost.units[unsigned(CostUnit::Cache)] * rates.cacheBytes * cost.blocks;
  double places = double(chip.processors) * cost.residentBlocks;
  double full = std::floor(cost.blocks / places);
  double left = cost.blocks - full * places;
  auto timeOf = [&](double blocks) {
    return blocks == 0 ? 0
                       : kBlockCycles + getTime(work, int64_t(blocks), cost);
  };
  double compute = full * timeOf(cost.residentBlocks) +
                   timeOf(std::ceil(left / chip.processors));
  double memory = countMemoryBytes() /
                  (double(chip.processors) * rates.memoryBytes * kMemoryShare);
  cost.cycles = kLaunchCycles + std::pow(std::pow(compute, kMemoryOverlap) +
                                             std::pow(memory, kMemoryOverlap),
                                         1 / kMemoryOverlap);
  double waves = std::ceil(cost.blocks / places);
  cost.waveEfficiency = cost.blocks / (waves * places);
  return std::nullopt;
}

Refusal tile::predictCost(KernelOp kernel, const Chip &chip,
                          const ProblemSizes &sizes, const Candidate &candidate,
                          Cost &cost) {
  cost = {};
  return Predictor(kernel, chip, sizes, candidate).run(cost);
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The numbers of warps of a kernel that leaves them open.
static constexpr int64_t kWarps[] = {4, 8, 12, 16, 2, 1};

/// The most candidates that are compared. Others are not looked at.
static constexpr size_t kMostCandidates = 1 << 14;

/// Refuses a number of warps with which the schedule of `kernel` is invalid.
static Refusal checkWarps(KernelOp kernel, int64_t warps) {
  // A handler of diagnostics would take those of other threads, too.
  auto quiet = [&] {
    InFlightDiagnostic diag = mlir::emitError(kernel.getLoc());
    diag.abandon();
    return diag;
  };
  if (succeeded(verifyWarps(tile::getSchedule(kernel), warps, quiet)))
    return std::nullopt;
  return "its schedule does not suit " + std::to_string(warps) + " warps";
}

/// Refuses a candidate with a tile of too many elements.
static Refusal checkTiles(KernelOp kernel, DictionaryAttr params) {
  Refusal refusal;
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (!isOpenTile(type))
        continue;
      int64_t elements = 1;
      for (const TileExtent &extent : getExtents(cast<ShapedType>(type))) {
        int64_t number = extent.name
                             ? params.getAs<IntegerAttr>(extent.name).getInt()
                             : extent.number;
        elements = number > kMostTileElements / elements ? kMostTileElements + 1
                                                         : elements * number;
        if (elements > kMostTileElements) {
          refusal = "a tile has at most " + std::to_string(kMostTileElements) +
                    " elements";
          return WalkResult::interrupt();
        }
      }
    }
    return WalkResult::advance();
  });
  return refusal;
}

SmallVector<RankedCandidate, 0> tile::rankCandidates(KernelOp kernel,
                                                     const Chip &chip,
                                                     const ProblemSizes &sizes,
                                                     Refusal &refusal) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  std::optional<DictionaryAttr> given = tile::getSchedule(kernel).params;
  SmallVector<Candidate, 0> candidates;
  if (kernel.getNumWarpsAttr())
    candidates.push_back({builder.getDictionaryAttr({}), kernel.getNumWarps()});
  else
    for (int64_t warps : kWarps)
      candidates.push_back({builder.getDictionaryAttr({}), warps});
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    Refusal wrong = checkWarps(kernel, candidate.warps);
    if (wrong)
      refusal = wrong;
    return wrong.has_value();
  });
  for (ParamOp param : getParams(kernel)) {
    SmallVector<int64_t> values(param.getValues());
    if (given && given->contains(param.getParameterAttr()))
      values = {given->getAs<IntegerAttr>(param.getParameterAttr()).getInt()};
    SmallVector<Candidate, 0> longer;
    for (const Candidate &candidate : candidates)
      for (int64_t value : values) {
        if (longer.size() == kMostCandidates)
          break;
        NamedAttrList params(candidate.params);
        params.append(param.getParameterAttr(),
                      builder.getI64IntegerAttr(value));
        longer.push_back({params.getDictionary(context), candidate.warps});
      }
    candidates = std::move(longer);
  }
  SmallVector<RankedCandidate, 0> ranked;
  for (const Candidate &candidate : candidates) {
    Cost cost;
    Refusal wrong = checkTiles(kernel, candidate.params);
    if (!wrong)
      wrong = predictCost(kernel, chip, sizes, candidate, cost);
    if (wrong) {
      refusal = describe(candidate) + ": " + *wrong;
      continue;
    }
    ranked.push_back({candidate, cost, ranked.size()});
    // One block with more stages may be faster than several with fewer.
    if (!cost.hasRoles || tile::getSchedule(kernel).stages)
      continue;
    SmallVector<RankedCandidate, 0> deeper;
    double least = cost.cycles * (1 - kLeastGain);
    for (int64_t stages = cost.stages + 1; stages <= kDeepestStages; ++stages) {
      Candidate deep = candidate;
      deep.stages = stages;
      Cost other;
      if (predictCost(kernel, chip, sizes, deep, other) ||
          other.stagesStores != cost.stagesStores)
        break;
      deeper.push_back({deep, other, ranked.size()});
    }
    // The fewest stages that are nearly as fast as the most.
    for (const RankedCandidate &deep : deeper)
      if (deep.cost.cycles < least &&
          deep.cost.cycles * (1 - kLeastGain) < deeper.back().cost.cycles) {
        ranked.push_back(deep);
        break;
      }
  }
  llvm::sort(ranked, [](const RankedCandidate &a, const RankedCandidate &b) {
    return std::tuple(a.cost.isPadded, a.cost.cycles, a.number) <
           std::tuple(b.cost.isPadded, b.cost.cycles, b.number);
  });
  return ranked;
}

std::string tile::describe(const Candidate &candidate) {
  return "params = {" + describeNumbers(candidate.params) +
         "}, warps = " + std::to_string(candidate.warps) +
         (candidate.stages ? ", stages = " + std::to_string(*candidate.stages)
                           : "");
}
