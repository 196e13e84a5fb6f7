//===- ReducePatterns.cpp - Reductions and scans of tiles -----------------===//
//
// A thread combines its registers, then lanes exchange their values. Warps
// exchange theirs in tile.convert_layout.
//
//===----------------------------------------------------------------------===//

#include "../Access/ThreadAddress.h"
#include "../Lowering.h"
#include "../TileVectors.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
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

/// The elements of all scanned tiles at one place, or their combination.
using Elements = SmallVector<Value, 1>;

/// Elements of a thread, by the coordinates that lane 0 of warp 0 has in the
/// same register.
using ElementMap = std::map<Coordinates, Elements>;

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
  ElementMap elements, totals;
};

/// The combination of the elements before a run. `elements` is empty if no
/// element comes before the run in any thread. Otherwise, `exists` is true in
/// the threads where one does; null means all threads.
struct Prefix {
  Elements elements;
  Value exists;
};
using PrefixMap = std::map<Coordinates, Prefix>;

/// The prefixes that complete the scans of runs of `length` elements, by the
/// first elements of the runs.
struct Prefixes {
  int64_t length;
  PrefixMap values;
};

/// Emits the combination of elements with those that come before them.
class Combination {
public:
  Combination(Emitter &b, arith::AtomicRMWKind kind) : b(b), kind(kind) {}
  Combination(Emitter &b, Block &body) : b(b), body(&body) {}

  /// One of the operands may be empty.
  Elements emit(const Elements &before, const Elements &elements);
  /// Emits the elements whose combination with any others are the others. There
  /// are none for a region.
  Elements emitNeutral(const Elements &like);
  bool hasNeutral() const { return !body; }

private:
  Emitter &b;
  arith::AtomicRMWKind kind = {};
  Block *body = nullptr;
};

class Scanner {
public:
  Scanner(Emitter &b, Combination combination, unsigned dim, bool reverse)
      : b(b), combination(std::move(combination)), dim(dim), reverse(reverse) {}

  ScannedRuns scanRuns(ValueRange vectors, const Layout &layout,
                       int64_t length);
  ElementMap join(ValueRange vectors, const Layout &layout, ValueRange totals,
                  const Layout &totalsLayout);
  SmallVector<Value> toVectors(const ElementMap &values, const Layout &layout,
                               int64_t length = 1);

private:
  Elements select(Value condition, const Elements &x, const Elements &y);
  Elements complete(const Prefix &prefix, const Elements &elements);
  Prefix extend(const Prefix &before, const Prefix &prefix);
  Coordinates startOfRun(Coordinates coordinates, int64_t length) const;
  ElementMap toMap(ValueRange vectors, const Layout &layout);
  ElementMap scanRegisters(ElementMap &totals, const Digit &digit,
                           bool inclusive);
  PrefixMap scanLanes(ElementMap &totals, const ScannedDigit &scanned,
                      int64_t lanes);

  Emitter &b;
  Combination combination;
  unsigned dim;
  bool reverse;
};
} // namespace

Elements Combination::emit(const Elements &before, const Elements &elements) {
  if (before.empty() || elements.empty())
    return before.empty() ? elements : before;
  if (!body)
    return {arith::getReductionOp(kind, b, b.getLoc(), before.front(),
                                  elements.front())};
  IRMapping mapping;
  mapping.map(body->getArguments().take_front(before.size()), before);
  mapping.map(body->getArguments().drop_front(before.size()), elements);
  for (Operation &op : body->without_terminator())
    b.clone(op, mapping);
  return llvm::map_to_vector<1>(
      body->getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

Elements Combination::emitNeutral(const Elements &like) {
  Type type = like.front().getType();
  // Zero would turn -0 into 0.
  if (kind == arith::AtomicRMWKind::addf)
    return {arith::ConstantOp::create(b, b.getFloatAttr(type, -0.0))};
  return {arith::getIdentityValue(kind, type, b, b.getLoc())};
}

Elements Scanner::select(Value condition, const Elements &x,
                         const Elements &y) {
  Elements result;
  for (auto [first, second] : llvm::zip_equal(x, y))
    result.push_back(b.select(condition, first, second));
  return result;
}

/// Emits the combination of `elements` with the prefix where it exists.
Elements Scanner::complete(const Prefix &prefix, const Elements &elements) {
  Elements combined = combination.emit(prefix.elements, elements);
  return prefix.exists ? select(prefix.exists, combined, elements) : combined;
}

/// Emits the prefix that consists of `before` and, behind it, `prefix`.
Prefix Scanner::extend(const Prefix &before, const Prefix &prefix) {
  if (before.elements.empty() || prefix.elements.empty())
    return before.elements.empty() ? prefix : before;
  Elements elements = complete(before, prefix.elements);
  // Threads without `prefix` have only `before`, if any.
  if (prefix.exists)
    elements = select(prefix.exists, elements, before.elements);
  if (!before.exists || !prefix.exists)
    return {elements, Value()};
  return {elements, arith::OrIOp::create(b, before.exists, prefix.exists)};
}

Coordinates Scanner::startOfRun(Coordinates coordinates, int64_t length) const {
  coordinates[dim] -= coordinates[dim] % length;
  return coordinates;
}

ElementMap Scanner::toMap(ValueRange vectors, const Layout &layout) {
  ElementMap map;
  SmallVector<Coordinates> places = registerCoordinates(layout);
  for (Value vector : vectors) {
    // The first of several copies counts.
    std::set<Coordinates> seen;
    for (auto [coordinates, value] :
         llvm::zip_equal(places, extractAll(b, vector)))
      if (seen.insert(coordinates).second)
        map[coordinates].push_back(value);
  }
  return map;
}

/// Emits the vectors of tiles with `layout`, whose elements i along the
/// dimension are those of the run of `length` elements that begins at
/// i * length.
SmallVector<Value> Scanner::toVectors(const ElementMap &values,
                                      const Layout &layout, int64_t length) {
  SmallVector<SmallVector<Value>> tiles(values.begin()->second.size());
  for (Coordinates coordinates : registerCoordinates(layout)) {
    coordinates[dim] *= length;
    for (auto [tile, element] : llvm::zip_equal(tiles, values.at(coordinates)))
      tile.push_back(element);
  }
  SmallVector<Value> vectors;
  for (ArrayRef<Value> elements : tiles)
    vectors.push_back(vector::FromElementsOp::create(
        b,
        VectorType::get(int64_t(elements.size()), elements.front().getType()),
        elements));
  return vectors;
}

/// Scans the totals of the runs that differ in a digit of the registers.
/// Returns the scans, or the prefixes of the runs unless `inclusive`. The
/// totals become those of the longer runs.
ElementMap Scanner::scanRegisters(ElementMap &totals, const Digit &digit,
                                  bool inclusive) {
  ElementMap result, joined;
  for (const auto &[start, first] : totals) {
    if (start[dim] / digit.stride % digit.extent != 0)
      continue;
    Elements running;
    for (int64_t i = 0; i < digit.extent; ++i) {
      int64_t value = reverse ? digit.extent - 1 - i : i;
      Coordinates run = start;
      run[dim] += value * digit.stride;
      Elements sum = combination.emit(running, totals.at(run));
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
PrefixMap Scanner::scanLanes(ElementMap &totals, const ScannedDigit &scanned,
                             int64_t lanes) {
  PrefixMap prefixes;
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
      Elements other;
      for (Value value : total)
        other.push_back(exchangeNumber(b, value, mask, lanes));
      Prefix &prefix = prefixes[start];
      if (combination.hasNeutral()) {
        Elements before = prefix.elements.empty()
                              ? combination.emitNeutral(other)
                              : prefix.elements;
        prefix.elements =
            select(isLater, combination.emit(other, prefix.elements), before);
        total = combination.emit(total, other);
        continue;
      }
      if (prefix.elements.empty()) {
        prefix = {other, isLater};
      } else {
        Elements longer = select(
            prefix.exists, combination.emit(other, prefix.elements), other);
        prefix = {select(isLater, longer, prefix.elements),
                  arith::OrIOp::create(b, prefix.exists, isLater)};
      }
      total = combination.emit(select(isLater, other, total),
                               select(isLater, total, other));
    }
  }
  return prefixes;
}

/// Scans each run of `length` elements of tiles, which a warp holds. The
/// digits of the dimension come in the order of their strides, wherever they
/// are: each joins the runs that the digits before it have scanned.
ScannedRuns Scanner::scanRuns(ValueRange vectors, const Layout &layout,
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

  ElementMap elements = toMap(vectors, layout), totals = elements;
  SmallVector<Prefixes> levels;
  for (auto [i, scanned] : llvm::enumerate(digits)) {
    int64_t lanes = layout.axisSize(kLane), stride = scanned.digit.stride;
    if (scanned.isInLanes) {
      levels.push_back({stride, scanLanes(totals, scanned, lanes)});
    } else if (i == 0) {
      elements = scanRegisters(totals, scanned.digit, /*inclusive=*/true);
    } else {
      levels.push_back({stride, {}});
      for (auto &[start, prefix] :
           scanRegisters(totals, scanned.digit, /*inclusive=*/false))
        levels.back().values[start] = {prefix, Value()};
    }
  }

  // From the longest runs to the shortest: what precedes a run also precedes
  // the runs in it.
  const Prefixes *outer = nullptr;
  auto getOuter = [&](const Coordinates &start) -> const Prefix & {
    return outer->values.at(startOfRun(start, outer->length));
  };
  for (Prefixes &level : llvm::reverse(levels)) {
    if (outer)
      for (auto &[start, prefix] : level.values)
        prefix = extend(getOuter(start), prefix);
    outer = &level;
  }
  if (outer)
    for (auto &[start, value] : elements)
      value = complete(getOuter(start), value);
  return {std::move(elements), std::move(totals)};
}

/// Completes the scans of the runs that warps hold by the totals of all runs.
ElementMap Scanner::join(ValueRange vectors, const Layout &layout,
                         ValueRange totals, const Layout &totalsLayout) {
  int64_t length = layout.runInWarps(dim);
  Digit runs = {layout.shape()[dim] / length, dim, 1};
  ElementMap joined = toMap(totals, totalsLayout);
  ElementMap prefixes = scanRegisters(joined, runs, /*inclusive=*/false);
  ElementMap elements = toMap(vectors, layout);
  if (combination.hasNeutral())
    for (auto &[run, prefix] : prefixes)
      if (prefix.empty())
        prefix = combination.emitNeutral(elements.begin()->second);

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

  auto choose = [&](const Coordinates &run) {
    Prefix chosen;
    Value isFirst;
    for (auto [distance, isOwn] : choices) {
      Coordinates candidate = run;
      candidate[dim] += distance;
      const Elements &values = prefixes.at(candidate);
      if (values.empty())
        isFirst = isOwn;
      else
        chosen.elements = chosen.elements.empty()
                              ? values
                              : select(isOwn, values, chosen.elements);
    }
    // Nothing comes before the first run.
    if (isFirst && !chosen.elements.empty())
      chosen.exists = arith::XOrIOp::create(
          b, isFirst, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    return chosen;
  };
  PrefixMap chosen;
  for (auto &[coordinates, element] : elements) {
    Coordinates run = coordinates;
    run[dim] /= length;
    auto [prefix, isNew] = chosen.try_emplace(run);
    if (isNew)
      prefix->second = choose(run);
    element = complete(prefix->second, element);
  }
  return elements;
}

/// The error for a scan that has not been decomposed.
static constexpr StringLiteral kSpreadOverWarps =
    "scans along a dimension that is spread over warps; run "
    "tile-decompose-reductions first";

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
    return op.emitOpError(kSpreadOverWarps);
  Scanner scanner(b, Combination(b, op.getKind()), dim, op.getReverse());
  ScannedRuns runs = scanner.scanRuns(operands.getSource(), layout, length);
  SmallVector<Value> results = scanner.toVectors(runs.elements, layout);
  if constexpr (inWarps)
    llvm::append_range(
        results,
        scanner.toVectors(runs.totals, layoutOf(op.getTotals()), length));
  return b.replaceAll(op, results);
}

/// Converts AssociativeScanInWarpsOp, and AssociativeScanOp along a dimension
/// that no two warps share.
template <typename OpT>
static LogicalResult
convertAssociativeScan(OpT op, typename OpT::Adaptor operands, Lowering &b) {
  Layout layout = layoutOf(op.getSources().front());
  unsigned dim = op.getDim();
  int64_t length = layout.runInWarps(dim);
  constexpr bool inWarps = std::is_same_v<OpT, AssociativeScanInWarpsOp>;
  if (!inWarps && length != layout.shape()[dim])
    return op.emitOpError(kSpreadOverWarps);
  Scanner scanner(b, Combination(b, op.getBody().front()), dim,
                  op.getReverse());
  ScannedRuns runs = scanner.scanRuns(operands.getSources(), layout, length);
  SmallVector<Value> results = scanner.toVectors(runs.elements, layout);
  if constexpr (inWarps)
    llvm::append_range(
        results, scanner.toVectors(runs.totals,
                                   layoutOf(op.getTotals().front()), length));
  return b.replaceAll(op, results);
}

static LogicalResult
convertJoinAssociativeScans(JoinAssociativeScansOp op,
                            JoinAssociativeScansOp::Adaptor operands,
                            Lowering &b) {
  Layout layout = layoutOf(op.getSources().front());
  Scanner scanner(b, Combination(b, op.getBody().front()), op.getDim(),
                  op.getReverse());
  ElementMap elements =
      scanner.join(operands.getSources(), layout, operands.getTotals(),
                   layoutOf(op.getTotals().front()));
  return b.replaceAll(op, scanner.toVectors(elements, layout));
}

static LogicalResult
convertJoinScans(JoinScansOp op, JoinScansOp::Adaptor operands, Lowering &b) {
  Layout layout = layoutOf(op.getSource());
  Scanner scanner(b, Combination(b, op.getKind()), op.getDim(),
                  op.getReverse());
  ElementMap elements =
      scanner.join(operands.getSource(), layout, operands.getTotals(),
                   layoutOf(op.getTotals()));
  return b.replaceAll(op, scanner.toVectors(elements, layout));
}

void tile::addReduceConversions(ConversionAdder &conversions) {
  conversions.addAll(convertAssociativeScan<AssociativeScanInWarpsOp>,
                     convertAssociativeScan<AssociativeScanOp>,
                     convertJoinAssociativeScans, convertJoinScans,
                     convertReduce<ReduceInWarpsOp>,
                     convertReduce<ReduceInThreadsOp>, convertReduce<ReduceOp>,
                     convertScan<ScanInWarpsOp>, convertScan<ScanOp>);
}
