//===- ReducePatterns.cpp - Reductions and scans of tiles -----------------===//
//
// A thread combines its registers, then lanes exchange their values. Warps
// exchange theirs in tile.convert_layout.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "ThreadAddress.h"
#include "TileVectors.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <map>
#include <set>

using namespace mlir;
using namespace tile;

/// Emits the exchange of a number with lane ^ mask.
static Value exchangeNumber(Emitter &b, Value value, int64_t mask,
                            int64_t lanes) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  // Shuffles exchange 32 bits at a time.
  if (bits < 32) {
    if (isa<FloatType>(type))
      value = arith::BitcastOp::create(b, integer, value);
    value = arith::ExtUIOp::create(b, b.getI32Type(), value);
  }
  value = mlir::gpu::ShuffleOp::create(b, value, mask, lanes,
                                       mlir::gpu::ShuffleMode::XOR)
              .getShuffleResult();
  if (bits < 32) {
    value = arith::TruncIOp::create(b, integer, value);
    if (isa<FloatType>(type))
      value = arith::BitcastOp::create(b, type, value);
  }
  return value;
}

static SmallVector<Value> extractAll(Emitter &b, Value vector) {
  SmallVector<Value> elements;
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(vector::ExtractOp::create(b, vector, i));
  return elements;
}

/// Emits the exchange of every element with lane ^ mask.
static Value exchange(Emitter &b, Value vector, int64_t mask, int64_t lanes) {
  SmallVector<Value> parts;
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(exchangeNumber(b, vector::ExtractOp::create(b, vector, i),
                                   mask, lanes));
  return vector::FromElementsOp::create(b, vector.getType(), parts);
}

/// Converts ReduceInWarpsOp and ReduceInThreadsOp, and ReduceOp along a
/// dimension that no two warps share.
template <typename OpT>
static LogicalResult convertReduce(OpT op, typename OpT::Adaptor operands,
                                   Lowering &b) {
  Layout from = layoutOf(op.getSource());
  unsigned dim = op.getDim();
  constexpr bool keepsDim = !std::is_same_v<OpT, ReduceOp>;
  constexpr bool inThreads = std::is_same_v<OpT, ReduceInThreadsOp>;
  if (!keepsDim && from.reduceInWarps(dim).shape()[dim] != 1)
    return op.emitOpError("reduces along a dimension that is spread over "
                          "warps; run tile-decompose-reductions first");

  // Groups the registers of the source by their register of the result. A tile
  // smaller than the pattern of its layout has copies in registers, of which
  // one is used.
  std::map<Coordinates, SmallVector<int64_t>> members;
  std::set<Coordinates> counted;
  for (auto [r, coordinates] : llvm::enumerate(registerCoordinates(from))) {
    if (!counted.insert(coordinates).second)
      continue;
    Coordinates rest = coordinates;
    if (keepsDim)
      rest[dim] = 0;
    else
      rest.erase(rest.begin() + dim);
    members[rest].push_back(r);
  }
  SmallVector<SmallVector<int64_t>> groups;
  for (const Coordinates &coordinates :
       registerCoordinates(layoutOf(op.getResult())))
    groups.push_back(members.at(coordinates));
  auto combine = [&](Value x, Value y) {
    return arith::getReductionOp(op.getKind(), b, b.getLoc(), x, y);
  };
  // Where an instruction adds two numbers to two others, neighbours along `dim`
  // have sums of their own.
  int64_t count = groups.front().size();
  int64_t packed = b.chip.throughput.pairs == F32Pairs::None ? 1 : 2;
  bool isPacked =
      op.getKind() == arith::AtomicRMWKind::addf &&
      getElementTypeOrSelf(operands.getSource().getType()).isF32() &&
      count % packed == 0;
  int64_t sums = isPacked ? packed : 1;
  Value result;
  for (int64_t i = 0; i < count; i += sums) {
    SmallVector<int64_t> indices;
    for (const SmallVector<int64_t> &group : groups)
      indices.append(group.begin() + i, group.begin() + i + sums);
    Value part = shuffle(b, operands.getSource(), indices);
    result = result ? combine(result, part) : part;
  }
  if (sums > 1) {
    Value whole;
    for (int64_t i = 0; i < sums; ++i) {
      SmallVector<int64_t> indices;
      for (size_t group = 0; group < groups.size(); ++group)
        indices.push_back(group * sums + i);
      Value part = shuffle(b, result, indices);
      whole = whole ? combine(whole, part) : part;
    }
    result = whole;
  }
  if (inThreads)
    return b.replace(op, result);

  // Lanes that differ along `dim` exchange values. The extent of every digit
  // of the lane axis is a power of two.
  int64_t position = 1, lanes = from.axisSize(kLane);
  for (const Digit &digit : from.axis(kLane)) {
    if (digit.stride != 0 && digit.dim == dim)
      for (int64_t mask = position; mask < position * digit.extent; mask *= 2)
        result = combine(result, exchange(b, result, mask, lanes));
    position *= digit.extent;
  }
  return b.replace(op, result);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Values of a thread, by the coordinates that lane 0 of warp 0 has in the same
/// register.
using ValueMap = std::map<Coordinates, Value>;

namespace {
/// A digit of the scanned dimension in a thread or a warp.
struct ScannedDigit {
  Digit digit;
  bool isInLanes;
  /// The lane with the value 1 of a digit of the lanes.
  int64_t place;
};

/// The elements of a thread after a scan of each run along a dimension, and the
/// combination of all elements of each run.
struct ScannedRuns {
  ValueMap elements, totals;
};

/// The prefixes that complete the scans of runs of `length` elements, by the
/// first elements of the runs. A run without a value needs no prefix.
struct Prefixes {
  int64_t length;
  ValueMap values;
};

class Scanner {
public:
  Scanner(Emitter &b, arith::AtomicRMWKind kind, unsigned dim, bool reverse)
      : b(b), kind(kind), dim(dim), reverse(reverse) {}

  ScannedRuns scanRuns(Value vector, const Layout &layout, int64_t length);
  ValueMap join(Value vector, const Layout &layout, Value totals,
                const Layout &totalsLayout);
  Value toVector(const ValueMap &values, const Layout &layout,
                 int64_t length = 1);

private:
  Value combine(Value x, Value y);
  Value neutral(Type type);
  Coordinates startOfRun(Coordinates coordinates, int64_t length) const;
  ValueMap toMap(Value vector, const Layout &layout);
  ValueMap scanRegisters(ValueMap &totals, const Digit &digit, bool inclusive);
  ValueMap scanLanes(ValueMap &totals, const ScannedDigit &scanned,
                     int64_t lanes);

  Emitter &b;
  arith::AtomicRMWKind kind;
  unsigned dim;
  bool reverse;
};
} // namespace

/// Emits the combination of `x` and `y`, of which one may be null.
Value Scanner::combine(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::getReductionOp(kind, b, b.getLoc(), x, y);
}

/// Emits the number whose combination with any other is the other.
Value Scanner::neutral(Type type) {
  // Zero would turn -0 into 0.
  if (kind == arith::AtomicRMWKind::addf)
    return arith::ConstantOp::create(b, b.getFloatAttr(type, -0.0));
  return arith::getIdentityValue(kind, type, b, b.getLoc());
}

Coordinates Scanner::startOfRun(Coordinates coordinates, int64_t length) const {
  coordinates[dim] -= coordinates[dim] % length;
  return coordinates;
}

ValueMap Scanner::toMap(Value vector, const Layout &layout) {
  ValueMap map;
  // The first of several copies counts.
  for (auto [coordinates, value] :
       llvm::zip_equal(registerCoordinates(layout), extractAll(b, vector)))
    map.try_emplace(coordinates, value);
  return map;
}

/// Emits the vector of a tile with `layout`, whose element i along the
/// dimension is the value of the run of `length` elements that begins at
/// i * length.
Value Scanner::toVector(const ValueMap &values, const Layout &layout,
                        int64_t length) {
  SmallVector<Value> elements;
  for (Coordinates coordinates : registerCoordinates(layout)) {
    coordinates[dim] *= length;
    elements.push_back(values.at(coordinates));
  }
  auto type =
      VectorType::get(int64_t(elements.size()), elements.front().getType());
  return vector::FromElementsOp::create(b, type, elements);
}

/// Scans the totals of the runs that differ in a digit of the registers.
/// Returns the scans, or the prefixes of the runs unless `inclusive`. The
/// totals become those of the longer runs.
ValueMap Scanner::scanRegisters(ValueMap &totals, const Digit &digit,
                                bool inclusive) {
  ValueMap result, joined;
  for (const auto &[start, first] : totals) {
    if (start[dim] / digit.stride % digit.extent != 0)
      continue;
    Value running;
    for (int64_t i = 0; i < digit.extent; ++i) {
      int64_t value = reverse ? digit.extent - 1 - i : i;
      Coordinates run = start;
      run[dim] += value * digit.stride;
      Value sum = combine(running, totals.at(run));
      result[run] = inclusive ? sum : running;
      running = sum;
    }
    joined[start] = running;
  }
  totals = std::move(joined);
  return result;
}

/// Scans the totals of the runs that differ in a digit of the lanes. Returns
/// the prefixes of the runs; the totals become those of the longer runs.
ValueMap Scanner::scanLanes(ValueMap &totals, const ScannedDigit &scanned,
                            int64_t lanes) {
  ValueMap prefixes;
  Value thread = emitThread(b);
  // The extent of every digit of the lane axis is a power of two. Two halves
  // exchange their totals, and the later one puts that of the other in front.
  for (int64_t mask = scanned.place;
       mask < scanned.place * scanned.digit.extent; mask *= 2) {
    Value bit = b.combine<arith::AndIOp>(thread, mask, -1);
    Value isLater = arith::CmpIOp::create(
        b, reverse ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne, bit,
        b.i32(0));
    for (auto &[start, total] : totals) {
      Value other = exchangeNumber(b, total, mask, lanes);
      Value &prefix = prefixes[start];
      prefix = b.select(isLater, combine(other, prefix),
                        prefix ? prefix : neutral(other.getType()));
      total = combine(total, other);
    }
  }
  return prefixes;
}

/// Scans each run of `length` elements of a tile, which a warp holds. The
/// digits of the dimension come in the order of their strides, wherever they
/// are: each joins the runs that the digits before it have scanned.
ScannedRuns Scanner::scanRuns(Value vector, const Layout &layout,
                              int64_t length) {
  SmallVector<ScannedDigit> all, digits;
  for (unsigned axis : {kRegister, kLane}) {
    int64_t place = 1;
    for (const Digit &digit : layout.axis(axis)) {
      if (digit.extent != 1 && digit.dim == dim && digit.stride != 0 &&
          digit.stride < length)
        all.push_back({digit, axis == kLane, place});
      place *= digit.extent;
    }
  }
  llvm::sort(all, [](const ScannedDigit &a, const ScannedDigit &b) {
    return a.digit.stride < b.digit.stride;
  });
  // Digits of registers that follow each other are one.
  for (const ScannedDigit &scanned : all) {
    if (!scanned.isInLanes && !digits.empty() && !digits.back().isInLanes)
      digits.back().digit.extent *= scanned.digit.extent;
    else
      digits.push_back(scanned);
  }

  ValueMap elements = toMap(vector, layout), totals = elements;
  SmallVector<Prefixes> levels;
  for (auto [i, scanned] : llvm::enumerate(digits)) {
    int64_t lanes = layout.axisSize(kLane);
    if (scanned.isInLanes)
      levels.push_back(
          {scanned.digit.stride, scanLanes(totals, scanned, lanes)});
    else if (i == 0)
      elements = scanRegisters(totals, scanned.digit, /*inclusive=*/true);
    else
      levels.push_back(
          {scanned.digit.stride,
           scanRegisters(totals, scanned.digit, /*inclusive=*/false)});
  }

  // From the longest runs to the shortest: what precedes a run also precedes
  // the runs in it.
  const Prefixes *outer = nullptr;
  auto complete = [&](ValueMap &values) {
    if (outer)
      for (auto &[start, value] : values)
        value =
            combine(outer->values.at(startOfRun(start, outer->length)), value);
  };
  for (Prefixes &level : llvm::reverse(levels)) {
    complete(level.values);
    outer = &level;
  }
  complete(elements);
  return {std::move(elements), std::move(totals)};
}

/// Completes the scans of the runs that warps hold by the totals of all runs.
ValueMap Scanner::join(Value vector, const Layout &layout, Value totals,
                       const Layout &totalsLayout) {
  int64_t length = layout.runInWarps(dim);
  Digit runs = {layout.shape()[dim] / length, dim, 1};
  ValueMap joined = toMap(totals, totalsLayout);
  ValueMap prefixes = scanRegisters(joined, runs, /*inclusive=*/false);
  for (auto &[run, prefix] : prefixes)
    if (!prefix)
      prefix = neutral(cast<VectorType>(vector.getType()).getElementType());

  // The thread holds the runs at these distances from those of its registers.
  Layout places = layout.reduceRuns(dim, length);
  std::set<int64_t> distances;
  for (int64_t warp = 0; warp < places.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < places.axisSize(kLane); ++lane)
      distances.insert(places.element(0, lane, warp)[dim]);
  Value own = emitThreadCoordinates(b, places)[dim];
  SmallVector<std::pair<int64_t, Value>> choices;
  for (int64_t distance : distances)
    choices.push_back({distance, b.equal(own, b.i32(distance))});

  ValueMap elements = toMap(vector, layout), chosen;
  for (auto &[coordinates, element] : elements) {
    Coordinates run = coordinates;
    run[dim] /= length;
    Value &prefix = chosen[run];
    if (!prefix)
      for (auto [distance, isOwn] : choices) {
        Coordinates candidate = run;
        candidate[dim] += distance;
        Value value = prefixes.at(candidate);
        prefix = prefix ? b.select(isOwn, value, prefix) : value;
      }
    element = combine(prefix, element);
  }
  return elements;
}

/// Converts ScanInWarpsOp, and ScanOp along a dimension that no two warps
/// share.
template <typename OpT>
static LogicalResult convertScan(OpT op, typename OpT::Adaptor operands,
                                 Lowering &b) {
  Layout layout = layoutOf(op.getSource());
  unsigned dim = op.getDim();
  int64_t length = layout.runInWarps(dim);
  constexpr bool inWarps = std::is_same_v<OpT, ScanInWarpsOp>;
  if (!inWarps && length != layout.shape()[dim])
    return op.emitOpError("scans along a dimension that is spread over warps; "
                          "run tile-decompose-reductions first");
  Scanner scanner(b, op.getKind(), dim, op.getReverse());
  ScannedRuns runs = scanner.scanRuns(operands.getSource(), layout, length);
  SmallVector<Value> results = {scanner.toVector(runs.elements, layout)};
  if constexpr (inWarps)
    results.push_back(
        scanner.toVector(runs.totals, layoutOf(op.getTotals()), length));
  return b.replaceAll(op, results);
}

static LogicalResult
convertJoinScans(JoinScansOp op, JoinScansOp::Adaptor operands, Lowering &b) {
  Layout layout = layoutOf(op.getSource());
  Scanner scanner(b, op.getKind(), op.getDim(), op.getReverse());
  ValueMap elements =
      scanner.join(operands.getSource(), layout, operands.getTotals(),
                   layoutOf(op.getTotals()));
  return b.replace(op, scanner.toVector(elements, layout));
}

void tile::addReduceConversions(ConversionAdder &conversions) {
  conversions.addAll(convertJoinScans, convertReduce<ReduceInWarpsOp>,
                     convertReduce<ReduceInThreadsOp>, convertReduce<ReduceOp>,
                     convertScan<ScanInWarpsOp>, convertScan<ScanOp>);
}
