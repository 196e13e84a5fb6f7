//===- AccessWidth.cpp - Widths of memory accesses ------------------------===//

#include "tile/Analysis/AccessWidth.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

static constexpr int64_t kMaxDivisor = 1 << 20;

/// Returns the largest power of two that divides `value`, at most 2^20.
static int64_t powerOfTwo(int64_t value) {
  return value == 0 ? kMaxDivisor : std::min(value & -value, kMaxDivisor);
}

namespace {
/// Computes known divisors. Values that have several uses are visited once.
class Divisors {
public:
  int64_t get(Value index, unsigned depth);

private:
  int64_t compute(Value index, unsigned depth);
  int64_t computeCarried(scf::ForOp loop, BlockArgument argument,
                         unsigned depth);
  llvm::SmallDenseMap<Value, int64_t> known;
};
} // namespace

int64_t Divisors::get(Value index, unsigned depth) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return powerOfTwo(constant.getSExtValue());
  if (depth == 0)
    return 1;
  auto it = known.find(index);
  if (it != known.end())
    return it->second;
  int64_t divisor = compute(index, depth - 1);
  known.insert({index, divisor});
  return divisor;
}

/// Returns a divisor of what `loop` carries as `argument`: it divides the first
/// value and, if it divides one value, the next one.
int64_t Divisors::computeCarried(scf::ForOp loop, BlockArgument argument,
                                 unsigned depth) {
  OpOperand *init = loop.getTiedLoopInit(argument);
  int64_t divisor = get(init->get(), depth);
  while (divisor > 1) {
    Divisors assumed = *this;
    assumed.known[argument] = divisor;
    int64_t next =
        assumed.get(loop.getTiedLoopYieldedValue(argument)->get(), depth);
    if (next >= divisor)
      break;
    divisor = next;
  }
  return divisor;
}

int64_t Divisors::compute(Value index, unsigned depth) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return 1;
    if (argument != loop.getInductionVar())
      return computeCarried(loop, argument, depth);
    return std::min(get(loop.getLowerBound(), depth),
                    get(loop.getStep(), depth));
  }
  Operation *op = index.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return get(loop.getTiedLoopRegionIterArg(cast<OpResult>(index)), depth);
  auto operand = [&](unsigned i) { return get(op->getOperand(i), depth); };
  if (isa<arith::MulIOp>(op))
    return std::min(operand(0) * operand(1), kMaxDivisor);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MinUIOp,
          arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::min(operand(0), operand(1));
  if (isa<arith::SelectOp>(op))
    return std::min(operand(1), operand(2));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, RecomputeOp,
          tile::gpu::RecomputeOp>(op))
    return operand(0);
  return 1;
}

int64_t tile::knownDivisor(Value index) {
  return Divisors().get(index, /*depth=*/64);
}

static bool isKnownNonNegative(Value index, unsigned depth) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (depth == 0)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           isKnownNonNegative(loop.getLowerBound(), depth - 1);
  }
  Operation *op = index.getDefiningOp();
  auto operand = [&](unsigned i) {
    return isKnownNonNegative(op->getOperand(i), depth - 1);
  };
  // Extents and block ids are below 2^31 times the size of a tile, so sums and
  // products of a few of them do not wrap around in 64 bits.
  auto isSmall = [](Operation *source) {
    return isa_and_nonnull<ProgramIdOp, NumProgramsOp, DimOp,
                           mlir::gpu::BlockIdOp, mlir::gpu::GridDimOp>(source);
  };
  if (isSmall(op))
    return true;
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::MinSIOp>(op))
    return operand(0) && operand(1);
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return operand(0);
  // Zeros are put in front of fewer bits.
  if (isa<arith::IndexCastUIOp>(op) && op->getResult(0).getType().isIndex() &&
      op->getOperand(0).getType().getIntOrFloatBitWidth() < 64)
    return true;
  // A narrowing cast may make a large number negative.
  if (isa<arith::IndexCastOp>(op))
    return op->getResult(0).getType().isIndex()
               ? operand(0)
               : isSmall(op->getOperand(0).getDefiningOp());
  if (isa<arith::MaxSIOp>(op))
    return operand(0) || operand(1);
  if (isa<arith::SelectOp>(op))
    return operand(1) && operand(2);
  return false;
}

bool tile::isKnownNonNegative(Value index) {
  return ::isKnownNonNegative(index, /*depth=*/12);
}

bool tile::isInBounds(BufferType buffer, Value index, unsigned dim,
                      int64_t extent) {
  if (buffer.isShared())
    return true; // the operation's verifier checks it
  APInt constant;
  return !ShapedType::isDynamic(buffer.getShape()[dim]) &&
         matchPattern(index, m_ConstantInt(&constant)) &&
         constant.getSExtValue() >= 0 &&
         constant.getSExtValue() + extent <= buffer.getShape()[dim];
}

/// Returns the coordinate that `value` is, in another type or computed again.
static Value getCoordinate(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, RecomputeOp,
             tile::gpu::RecomputeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns x if `value` is x rounded to a multiple of another number, down for
/// DivUIOp and up for CeilDivUIOp; null otherwise.
template <typename DivOp> static Value getRounded(Value value) {
  auto product = value.getDefiningOp<arith::MulIOp>();
  auto count = product ? product.getLhs().getDefiningOp<DivOp>() : DivOp();
  return count && count.getRhs() == product.getRhs() ? count.getLhs() : Value();
}

/// Returns true if one coordinate is known to be at most another one. Null
/// stands for 0.
static bool isAtMost(Value low, Value high, unsigned depth) {
  APInt constant;
  if (low && matchPattern(low, m_ConstantInt(&constant)) &&
      !constant.isStrictlyPositive())
    low = Value();
  low = low ? getCoordinate(low) : low;
  high = getCoordinate(high);
  if (low == high || (!low && isKnownNonNegative(high)))
    return true;
  if (depth == 0)
    return false;
  Operation *lower = low ? low.getDefiningOp() : nullptr;
  Operation *higher = high.getDefiningOp();
  auto isBelow = [&](Value value) { return isAtMost(value, high, depth - 1); };
  auto isAbove = [&](Value value) { return isAtMost(low, value, depth - 1); };
  if (isa_and_nonnull<arith::MinSIOp>(lower) &&
      llvm::any_of(lower->getOperands(), isBelow))
    return true;
  if (isa_and_nonnull<arith::MaxSIOp>(lower))
    return llvm::all_of(lower->getOperands(), isBelow);
  if (Value rounded = low ? getRounded<arith::DivUIOp>(low) : Value())
    if (isBelow(rounded))
      return true;
  if (isa_and_nonnull<arith::MaxSIOp>(higher))
    return llvm::any_of(higher->getOperands(), isAbove);
  if (!low && isa_and_nonnull<arith::AddIOp>(higher))
    return llvm::all_of(higher->getOperands(), isAbove);
  if (auto select = high.getDefiningOp<arith::SelectOp>())
    return isAbove(select.getTrueValue()) && isAbove(select.getFalseValue());
  if (Value rounded = getRounded<arith::CeilDivUIOp>(high))
    return isAbove(rounded);
  auto difference = high.getDefiningOp<arith::SubIOp>();
  return !low && difference &&
         isAtMost(difference.getRhs(), difference.getLhs(), depth - 1);
}

/// Returns x and c if `value` is x + c with a constant c.
static std::pair<Value, int64_t> getSum(Value value) {
  int64_t sum = 0;
  APInt constant;
  for (auto add = value.getDefiningOp<arith::AddIOp>();
       add && matchPattern(add.getRhs(), m_ConstantInt(&constant));
       add = value.getDefiningOp<arith::AddIOp>()) {
    sum += constant.getSExtValue();
    value = add.getLhs();
  }
  return {value, sum};
}

/// Returns true if a coordinate is known to be at most a length, of which
/// `isLength` tells whether a value is it.
static bool isAtMostLength(Value value,
                           llvm::function_ref<bool(Value)> isLength,
                           unsigned depth) {
  auto [base, sum] = getSum(getCoordinate(value));
  base = getCoordinate(base);
  APInt constant;
  if (matchPattern(base, m_ConstantInt(&constant)))
    return constant.getSExtValue() + sum <= 0;
  if (sum > 0 || depth == 0)
    return false;
  if (isLength(base))
    return true;
  auto isAtMost = [&](Value operand) {
    return isAtMostLength(operand, isLength, depth - 1);
  };
  Operation *op = base.getDefiningOp();
  if (isa_and_nonnull<arith::MinSIOp>(op))
    return llvm::any_of(op->getOperands(), isAtMost);
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return llvm::all_of(op->getOperands(), isAtMost);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return isAtMost(select.getTrueValue()) && isAtMost(select.getFalseValue());
  Value rounded = getRounded<arith::DivUIOp>(base);
  return rounded && isAtMost(rounded);
}

bool tile::isWithinLoop(Value index, int64_t extent,
                        llvm::function_ref<bool(Value)> isLength) {
  auto argument = dyn_cast<BlockArgument>(getCoordinate(index));
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && argument == loop.getInductionVar() && !loop.getUnsignedCmp() &&
         isKnownNonNegative(index) && knownDivisor(index) % extent == 0 &&
         knownDivisor(loop.getUpperBound()) % extent == 0 &&
         isAtMostLength(loop.getUpperBound(), isLength, /*depth=*/8);
}

bool tile::isWithin(Value index, int64_t extent, Value length) {
  auto argument = dyn_cast<BlockArgument>(getCoordinate(index));
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  constexpr unsigned depth = 8;
  return loop && argument == loop.getInductionVar() &&
         knownDivisor(index) % extent == 0 &&
         knownDivisor(length) % extent == 0 &&
         isAtMost(Value(), loop.getLowerBound(), depth) &&
         isAtMost(loop.getUpperBound(), length, depth);
}

//===----------------------------------------------------------------------===//
// Choice of the width
//===----------------------------------------------------------------------===//

std::string WidthLimit::str() const {
  return "width " + std::to_string(from) + " -> " + std::to_string(to) + ": " +
         (operand.empty() ? witness : operand + ": " + witness);
}

/// The bytes of a segment (CUDA C++ Best Practices Guide, "Coalesced Access to
/// Global Memory").
static constexpr int64_t kSegmentBytes = 32;

std::string UncoalescedAccess::str() const {
  return operand + ": an access of a warp touches " +
         std::to_string(segments.touched) + " segments of " +
         std::to_string(kSegmentBytes) + " bytes; its elements would fit in " +
         std::to_string(segments.least);
}

WidthRequest tile::anyWidth(BufferType buffer, int64_t maxBytes) {
  WidthRequest request;
  request.widest = std::max<int64_t>(maxBytes * 8 / buffer.getElementBits(), 1);
  for (int64_t width = request.widest; width > 0; width /= 2)
    request.instructions.push_back(width);
  return request;
}

static std::string element(ArrayRef<int64_t> coordinates) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(coordinates, os);
  os << ')';
  return text;
}

namespace {
/// The limits that one buffer sets, whatever the layout of the tile.
class Side {
public:
  Side(const MemoryOperand &operand, ArrayRef<int64_t> tile);

  /// Returns the id and the message of the reason why an access cannot have
  /// `width` elements, from the alignment of the base and the start;
  /// std::nullopt if there is none.
  std::optional<std::pair<StringRef, std::string>>
  findAlignmentLimit(int64_t width) const;
  /// Returns the reason why a group of registers may cross the bounds of the
  /// buffer; std::nullopt if there is none. Where partial accesses may cross
  /// the end, sets `partialDim`, which is null if they are not wanted.
  std::optional<std::string>
  findBoundsLimit(const Layout &dist, const AccessGroups &groups,
                  std::optional<unsigned> *partialDim) const;

  const MemoryOperand &operand;
  BufferType type;
  ArrayRef<int64_t> tile;
  /// The memory with the constant coordinates of the start. Other coordinates
  /// are zero here; findAlignmentLimit checks them.
  PlacedMemory memory;

private:
  int64_t startDivisor(unsigned dim, std::string &what) const;
};
} // namespace

static std::optional<int64_t> constantIndex(Value index) {
  APInt constant;
  if (!matchPattern(index, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

Side::Side(const MemoryOperand &operand, ArrayRef<int64_t> tile)
    : operand(operand), type(operand.type), tile(tile) {
  SmallVector<int64_t> reach(tile);
  for (auto [dim, index] : llvm::enumerate(operand.indices)) {
    // A tile may start before its buffer; those elements are masked.
    int64_t start = std::max<int64_t>(constantIndex(index).value_or(0), 0);
    // A large start is represented by its divisors.
    memory.start.push_back(start > kMostTileElements ? 0 : start);
    reach[dim] += memory.start.back();
  }
  memory.layout = type.getTileMemory(reach);
}

/// Returns the known divisor of the offset, in elements, that a start along
/// `dim` which is not constant adds. Returns 0 if the layout from the start on
/// differs from that at the origin. Sets `what` to a description of the start.
int64_t Side::startDivisor(unsigned dim, std::string &what) const {
  Value index = operand.indices[dim];
  if (memory.start[dim] != 0 || constantIndex(index) == 0)
    return kMaxDivisor;
  // kDynamic extents give all digits, even for a small tile.
  SmallVector<int64_t> dynamic(tile.size(), kDynamic);
  Layout whole = type.getTileMemory(dynamic);
  ArrayRef<Digit> digits = whole.axis(dim);
  int64_t period = type.getPeriod(dim);
  int64_t known = knownDivisor(index);
  if (known % period != 0) {
    what = "the start along dimension " + std::to_string(dim) +
           " is only known to be a multiple of " + std::to_string(known) +
           ", and the layout repeats every " + std::to_string(period);
    return 0;
  }
  int64_t step = digits.empty() ? 0 : digits.back().stride;
  int64_t divisor =
      step == 0 ? kMaxDivisor
                : std::min(powerOfTwo(step) * (known / period), kMaxDivisor);
  what = "the start along dimension " + std::to_string(dim) +
         " is only known to be a multiple of " + std::to_string(divisor) +
         (divisor == 1 ? " element" : " elements");
  return divisor;
}

std::optional<std::pair<StringRef, std::string>>
Side::findAlignmentLimit(int64_t width) const {
  using Limit = std::pair<StringRef, std::string>;
  int64_t bytes = type.getElementBits() / 8;
  // The compiler aligns shared buffers for the widest access.
  if (!type.isShared() && width * bytes > type.getAlignment())
    return Limit("width-alignment", "the base is only known to be aligned to " +
                                        std::to_string(type.getAlignment()) +
                                        " bytes");
  for (unsigned dim = 0; dim < operand.indices.size(); ++dim) {
    std::string what;
    int64_t divisor = startDivisor(dim, what);
    if (divisor == 0 || divisor % width != 0)
      return Limit("width-start", what);
  }
  return std::nullopt;
}

/// Returns true if the elements of each group are neighbours along `dim`, in
/// order.
static bool areNeighbours(const Layout &dist, const AccessGroups &groups,
                          unsigned dim) {
  for (unsigned d = 0; d < dist.rank(); ++d) {
    std::vector<int64_t> coordinates = registerCoordinates(dist, d);
    for (size_t i = 0; i < groups.order.size(); ++i) {
      int64_t distance = i % groups.width;
      if (coordinates[groups.order[i]] !=
          coordinates[groups.order[i - distance]] + (d == dim ? distance : 0))
        return false;
    }
  }
  return true;
}

/// A group must be entirely inside the bounds or entirely outside. Along a
/// dimension whose extent and start are multiples of n, this holds for elements
/// of one block of n.
std::optional<std::string>
Side::findBoundsLimit(const Layout &dist, const AccessGroups &groups,
                      std::optional<unsigned> *partialDim) const {
  if (type.isShared())
    return std::nullopt;
  int64_t lanes = dist.axisSize(kLane), warps = dist.axisSize(kWarp);
  for (auto [dim, index] : llvm::enumerate(operand.indices)) {
    if (isInBounds(type, index, dim, tile[dim]))
      continue;
    int64_t extent = type.getShape()[dim];
    int64_t divisor = !ShapedType::isDynamic(extent) ? powerOfTwo(extent)
                      : operand.extentDivisors.empty()
                          ? 1
                          : operand.extentDivisors[dim];
    int64_t block = std::min(divisor, knownDivisor(index));
    // Pairs of registers of one group whose coordinates along the dimension
    // differ. A thread adds the same coordinate to all of its registers.
    SmallVector<std::pair<int64_t, int64_t>> pairs;
    std::vector<int64_t> coordinates = registerCoordinates(dist, dim);
    for (size_t i = 0; i < groups.order.size(); i += groups.width)
      for (int64_t j = 1; j < groups.width; ++j)
        if (coordinates[groups.order[i]] != coordinates[groups.order[i + j]])
          pairs.push_back({groups.order[i], groups.order[i + j]});
    if (pairs.empty())
      continue;
    bool canBePartial = partialDim && isKnownNonNegative(index) &&
                        areNeighbours(dist, groups, dim);
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t added = dist.element(0, lane, warp)[dim];
        for (auto [first, second] : pairs) {
          if ((coordinates[first] + added) / block ==
              (coordinates[second] + added) / block)
            continue;
          if (!canBePartial)
            return "elements " + element(dist.element(first, lane, warp)) +
                   ", " + element(dist.element(second, lane, warp)) +
                   " may be on both sides of the end of dimension " +
                   std::to_string(dim);
          *partialDim = dim;
        }
      }
  }
  return std::nullopt;
}

/// Layouts represent dynamic strides by numbers of at least this size.
static constexpr int64_t kDynamicDistance = 1 << 16;

static std::string describe(const AccessObstacle &obstacle, BufferType buffer,
                            int64_t width) {
  bool isDynamic = std::abs(obstacle.distance) >= kDynamicDistance &&
                   !buffer.isShared() &&
                   buffer.getCanonicalLayout().shape().front() == kDynamic;
  switch (obstacle.kind) {
  case AccessObstacle::Count:
    return "a thread holds " + std::to_string(obstacle.distance) + " element" +
           (obstacle.distance == 1 ? "" : "s");
  case AccessObstacle::Alignment:
    return "element " + element(obstacle.first) + " is at " +
           (isDynamic
                ? "a dynamic offset, not known to be a"
                : "offset " + std::to_string(obstacle.distance) + ", no") +
           " multiple of " + std::to_string(width);
  case AccessObstacle::Distance:
    return "elements " + element(obstacle.first) + ", " +
           element(obstacle.second) + " are " +
           (isDynamic ? "a dynamic distance"
                      : std::to_string(obstacle.distance)) +
           " apart";
  }
  llvm_unreachable("not an obstacle");
}

AccessWidth tile::decideWidth(const Layout &dist,
                              ArrayRef<MemoryOperand> operands,
                              const WidthRequest &request) {
  SmallVector<Side, 2> sides;
  SmallVector<PlacedMemory, 2> memories;
  for (const MemoryOperand &operand : operands) {
    sides.emplace_back(operand, dist.shape());
    memories.push_back(sides.back().memory);
  }
  AccessWidth result;
  // Returns the reason why accesses cannot have `width` elements. If there is
  // none, sets `result.groups` and returns std::nullopt.
  auto findLimit = [&](int64_t width) -> std::optional<WidthLimit> {
    auto limit = [&](StringRef id, const std::string &who,
                     const std::string &what) {
      return WidthLimit{id, width, width / 2, who, what};
    };
    if (!llvm::is_contained(request.instructions, width))
      return limit("width-instruction", "", request.unavailable(width));
    for (const Side &side : sides)
      if (auto reason = side.findAlignmentLimit(width))
        return limit(reason->first, side.operand.name, reason->second);
    if (auto obstacle = findObstacle(dist, memories, width, &result.groups))
      return limit("width-layout", operands[obstacle->memory].name,
                   describe(*obstacle, operands[obstacle->memory].type, width));
    result.partialDim.reset();
    for (const Side &side : sides)
      if (auto reason = side.findBoundsLimit(
              dist, result.groups,
              request.canBePartial ? &result.partialDim : nullptr))
        return limit("width-extent", side.operand.name, *reason);
    return std::nullopt;
  };
  auto findUncoalesced = [&] {
    for (const Side &side : sides) {
      if (side.type.isShared())
        continue;
      SegmentCount segments =
          countSegments(dist, side.memory, result.groups,
                        kSegmentBytes * 8 / side.type.getElementBits());
      if (segments.touched > 2 * segments.least)
        result.uncoalesced.push_back({side.operand.name, segments});
    }
  };
  for (int64_t width = request.widest; width > 1; width /= 2) {
    std::optional<WidthLimit> limit = findLimit(width);
    if (!limit) {
      findUncoalesced();
      return result;
    }
    // Widths that one operand excludes for one reason are one limit.
    if (!result.limits.empty() && result.limits.back().id == limit->id &&
        result.limits.back().operand == limit->operand)
      result.limits.back().to = limit->to;
    else
      result.limits.push_back(*limit);
  }
  result.groups = widestAccess(dist, memories, 1);
  result.partialDim.reset();
  findUncoalesced();
  return result;
}
