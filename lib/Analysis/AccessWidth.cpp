//===- AccessWidth.cpp - How wide may an access be ------------------------===//

#include "tile/Analysis/AccessWidth.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

static constexpr int64_t kMaxDivisor = 1 << 20;

/// Largest power of two that divides value, up to 2^20.
static int64_t powerOfTwo(int64_t value) {
  return value == 0 ? kMaxDivisor : std::min(value & -value, kMaxDivisor);
}

static int64_t knownDivisor(Value index, unsigned depth) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return powerOfTwo(constant.getSExtValue());
  if (depth == 0)
    return 1;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return 1;
    return std::min(knownDivisor(loop.getLowerBound(), depth - 1),
                    knownDivisor(loop.getStep(), depth - 1));
  }
  Operation *op = index.getDefiningOp();
  auto operand = [&](unsigned i) {
    return knownDivisor(op->getOperand(i), depth - 1);
  };
  if (isa<arith::MulIOp>(op))
    return std::min(operand(0) * operand(1), kMaxDivisor);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MinUIOp,
          arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::min(operand(0), operand(1));
  if (isa<arith::SelectOp>(op))
    return std::min(operand(1), operand(2));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return operand(0);
  return 1;
}

int64_t tile::knownDivisor(Value index) {
  return ::knownDivisor(index, /*depth=*/8);
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
  // Extents and block ids are below 2^31 times a tile, so sums and products of
  // a few do not wrap.
  if (isa<ProgramIdOp, DimOp, mlir::gpu::BlockIdOp>(op))
    return true;
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::DivSIOp,
          arith::MinSIOp>(op))
    return operand(0) && operand(1);
  if (isa<arith::MaxSIOp>(op))
    return operand(0) || operand(1);
  if (isa<arith::SelectOp>(op))
    return operand(1) && operand(2);
  return false;
}

bool tile::isKnownNonNegative(Value index) {
  return ::isKnownNonNegative(index, /*depth=*/8);
}

bool tile::isInBounds(BufferType buffer, Value index, unsigned dim,
                      int64_t extent) {
  if (buffer.isShared())
    return true; // verified by the operation
  APInt constant;
  return !ShapedType::isDynamic(buffer.getShape()[dim]) &&
         matchPattern(index, m_ConstantInt(&constant)) &&
         constant.getSExtValue() >= 0 &&
         constant.getSExtValue() + extent <= buffer.getShape()[dim];
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

std::string WidthLimit::str() const {
  return "width " + std::to_string(from) + " -> " + std::to_string(to) + ": " +
         (operand.empty() ? witness : operand + ": " + witness);
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
/// What is checked of one buffer, apart from the layout of the tile.
class Side {
public:
  Side(const MemoryOperand &operand, ArrayRef<int64_t> tile);

  /// Why no access has `width` elements; nothing if one may have.
  std::optional<std::pair<StringRef, std::string>> refuse(int64_t width) const;
  /// The same for the groups of registers that would be accessed.
  std::optional<std::string> refuse(const Layout &dist,
                                    const AccessGroups &groups) const;

  const MemoryOperand &operand;
  BufferType type;
  ArrayRef<int64_t> tile;
  /// At the start where that is constant; else at the origin, and the start is
  /// checked on its own.
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
    // A tile may begin before its buffer; what is there is masked.
    int64_t start = std::max<int64_t>(constantIndex(index).value_or(0), 0);
    // One that is far away is judged by its divisors.
    memory.start.push_back(start > kMostTileElements ? 0 : start);
    reach[dim] += memory.start.back();
  }
  memory.layout = type.getTileMemory(reach);
}

/// What divides the offset that a start along `dim` adds that is not constant,
/// in elements; 0 if the layout does not continue from there as it does from
/// the origin.
int64_t Side::startDivisor(unsigned dim, std::string &what) const {
  Value index = operand.indices[dim];
  if (memory.start[dim] != 0 || constantIndex(index) == 0)
    return kMaxDivisor;
  // All digits, however small the tile.
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
Side::refuse(int64_t width) const {
  using Refusal = std::pair<StringRef, std::string>;
  int64_t bytes = type.getElementBits() / 8;
  // Shared memory is placed by the compiler, aligned for every access.
  if (!type.isShared() && width * bytes > type.getAlignment())
    return Refusal("width-alignment",
                   "the base is only known to be aligned to " +
                       std::to_string(type.getAlignment()) + " bytes");
  for (unsigned dim = 0; dim < operand.indices.size(); ++dim) {
    std::string what;
    int64_t divisor = startDivisor(dim, what);
    if (divisor == 0 || divisor % width != 0)
      return Refusal("width-start", what);
  }
  return std::nullopt;
}

/// A group must be inside the bounds as a whole, or outside. Along a dimension
/// whose extent and start are multiples of n, elements of one block of n are.
std::optional<std::string> Side::refuse(const Layout &dist,
                                        const AccessGroups &groups) const {
  if (type.isShared())
    return std::nullopt;
  int64_t lanes = dist.axisSize(kLane), warps = dist.axisSize(kWarp);
  for (auto [dim, index] : llvm::enumerate(operand.indices)) {
    if (isInBounds(type, index, dim, tile[dim]))
      continue;
    int64_t extent = type.getShape()[dim];
    int64_t block = ShapedType::isDynamic(extent)
                        ? 1
                        : std::min(powerOfTwo(extent), knownDivisor(index));
    // Registers that differ along the dimension; threads add the same to all.
    SmallVector<std::pair<int64_t, int64_t>> pairs;
    for (size_t i = 0; i < groups.order.size(); i += groups.width)
      for (int64_t j = 1; j < groups.width; ++j)
        if (dist.element(groups.order[i], 0, 0)[dim] !=
            dist.element(groups.order[i + j], 0, 0)[dim])
          pairs.push_back({groups.order[i], groups.order[i + j]});
    if (pairs.empty())
      continue;
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (auto [first, second] : pairs) {
          auto a = dist.element(first, lane, warp);
          auto b = dist.element(second, lane, warp);
          if (a[dim] / block != b[dim] / block)
            return "elements " + element(a) + ", " + element(b) +
                   " may be on both sides of the end of dimension " +
                   std::to_string(dim);
        }
  }
  return std::nullopt;
}

/// Dynamic strides are represented by numbers of at least this size.
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
  // Why not `width`; nothing if that is it, and `result.groups` are set.
  auto refuse = [&](int64_t width) -> std::optional<WidthLimit> {
    auto limit = [&](StringRef id, const std::string &who,
                     const std::string &what) {
      return WidthLimit{id, width, width / 2, who, what};
    };
    if (!llvm::is_contained(request.instructions, width))
      return limit("width-instruction", "", request.unavailable(width));
    for (const Side &side : sides)
      if (auto refusal = side.refuse(width))
        return limit(refusal->first, side.operand.name, refusal->second);
    if (auto obstacle = findObstacle(dist, memories, width))
      return limit("width-layout", operands[obstacle->memory].name,
                   describe(*obstacle, operands[obstacle->memory].type, width));
    result.groups = widestAccess(dist, memories, width);
    for (const Side &side : sides)
      if (auto refusal = side.refuse(dist, result.groups))
        return limit("width-extent", side.operand.name, *refusal);
    return std::nullopt;
  };
  for (int64_t width = request.widest; width > 1; width /= 2) {
    std::optional<WidthLimit> limit = refuse(width);
    if (!limit)
      return result;
    // One operand refusing several widths for one reason is one refusal.
    if (!result.limits.empty() && result.limits.back().id == limit->id &&
        result.limits.back().operand == limit->operand)
      result.limits.back().to = limit->to;
    else
      result.limits.push_back(*limit);
  }
  result.groups = widestAccess(dist, memories, 1);
  return result;
}
