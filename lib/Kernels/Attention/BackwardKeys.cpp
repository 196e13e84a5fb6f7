//===- BackwardKeys.cpp - dK and dV, and dQ by atomics --------------------===//
//
// A block of threads owns `blockN` keys and walks over the queries that see
// them, `blockM` at a time. Everything is transposed, a row per key: S^T = K
// Q^T and dP^T = V dO^T leave P^T and dS^T in the registers where dV += P^T dO
// and dK += dS^T Q want them. Only dQ = dS K sums over the rows.
//
// If the queries are a multiple of the rows of a warpgroup's instruction and
// the keys are none, scores have a row per query: S = Q K^T, dP = dO V^T, dV^T
// += dO^T P, dK^T += Q^T dS, dQ = dS K. The keys are columns of all products
// but the last, and P and dS go through shared memory.
//
// dQ leaves in every step. If registers do not hold all of its columns beside
// the sums of dK and dV, the products of K and Q are split into slices of the
// head dimension: the sums of a slice of dQ leave before those of the next one
// are computed. Where threads copy tiles through registers, V and dO are in
// such slices, too.
//
// Queries beyond the end of the sequence need no mask: their Q, dO, lse and
// delta are zero, which makes p = 1 and ds = 0. Keys beyond the end do:
// exp(0 - lse) may overflow, and infinity times the zeros of K is no zero.
//
// A step is written in the order of the formulas. tile-split-masked-loops finds
// the queries that need no mask, and tile-schedule the order of the products.
//
//===----------------------------------------------------------------------===//

#include "AttentionBuilder.h"
#include "Backward.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

using namespace mlir;
using namespace tile;

/// The rows of an instruction of a warpgroup.
static constexpr int64_t kWarpgroupRows = 64;
/// Registers of a thread beside the sums of dK, dV and dQ and copies:
/// addresses, descriptors, numbers of rows.
static constexpr int64_t kOtherRegisters = 40;

/// Returns whether loop counters take registers of each thread. AMD's chips
/// have scalar registers, in which 64 bits save conversions.
static bool hasNoScalarRegisters(const Chip *chip) {
  return !chip || chip->vendor == Vendor::NVIDIA;
}

/// Returns whether tiles pass through the registers of threads on their way to
/// shared memory.
static bool copiesThroughRegisters(const Chip *chip) {
  return chip && !chip->asyncCopy.isDefault;
}

namespace {
class KeyBuilder : AttentionBuilder {
public:
  KeyBuilder(ImplicitLocOpBuilder &builder, AttentionBackwardOp op,
             const IRMapping &mapping, const Schedule &schedule)
      : AttentionBuilder(builder, op, mapping, schedule), mode(op.getKvMode()),
        schedule(schedule), blockM((*schedule.tile)[0]),
        blockN((*schedule.tile)[1]),
        byQuery(schedule.hasRoles() && blockN % kWarpgroupRows != 0 &&
                blockM % kWarpgroupRows == 0),
        dO(mapping.lookup(op.getDO())), stats(mapping.lookup(op.getStats())),
        dk(mapping.lookup(mode ? op.getDkAcc() : op.getDk())),
        dv(mapping.lookup(mode ? op.getDvAcc() : op.getDv())),
        dqAcc(mapping.lookupOrNull(op.getDqAcc())),
        countsInThreads(hasNoScalarRegisters(chip)),
        accumulates(op.getAccumulate() && !mode), slices(slice()),
        valueSlices(sliceValues()) {}

  void build();

private:
  SmallVector<Columns> slice() const;
  SmallVector<Columns> sliceValues() const;
  void computeQueryRange();
  SmallVector<Value> walkHead(Value head, ValueRange carried);
  SmallVector<Value> step(Value m, ValueRange carried);
  Value visible(Value m);
  void write(Value gradient, Value buffer, Value factor, int64_t column = 0);

  RankedTensorType scores(Type element) {
    return byQuery ? type({blockM, blockN}, element)
                   : type({blockN, blockM}, element);
  }
  /// One value per query, repeated for every key.
  Value spreadQueries(Value perQuery) {
    return BroadcastOp::create(b, scores(b.getF32Type()), perQuery, byQuery);
  }
  /// The sums of a gradient, a row per key or per dimension.
  Value zeroSums(int64_t columns) {
    return byQuery ? zeros(columns, blockN) : zeros(blockN, columns);
  }
  Value zeros(int64_t rows, int64_t columns) {
    return fill(type({rows, columns}, b.getF32Type()), 0.0f);
  }

  std::optional<KVAccumulation> mode;
  const Schedule schedule;
  /// Queries of a step, and keys of a block of threads.
  const int64_t blockM, blockN;
  /// Whether scores have a row per query instead of one per key.
  const bool byQuery;
  Value dO, stats, dk, dv, dqAcc;
  /// Whether loop counters take registers of each thread.
  const bool countsInThreads;
  /// Whether dk and dv are added to what their buffers hold.
  bool accumulates;
  /// The slices of the head dimension, and of that of V.
  SmallVector<Columns> slices, valueSlices;
  /// The block's first key; the slices of its K and V.
  Value row;
  SmallVector<Value> keys, values;
  /// c per score.
  Value cScores;
  /// A head of q: views of the buffers.
  Value qh, doh, lseh, deltah, dqh;
  /// First query and end of the queries that see some of the keys.
  Value begin, end;
  /// The first query that sees the first key, the end of those, and the number
  /// of keys from the first one on, as i32.
  Value lower, upper, keyEnd;
};
} // namespace

/// Divides columns into slices of `width`.
static SmallVector<Columns> divide(int64_t columns, int64_t width) {
  SmallVector<Columns> slices;
  for (int64_t first = 0; first < columns; first += width)
    slices.push_back({first, std::min(width, columns - first)});
  return slices;
}

/// Returns the fewest slices of the head dimension with which a thread holds a
/// slice of dQ beside the sums of dK and dV, and the slice of Q that it copies.
SmallVector<Columns> KeyBuilder::slice() const {
  int64_t width = headDim;
  bool holdsCopies = copiesThroughRegisters(chip);
  int64_t threads = *schedule.warps * (chip ? chip->warpSize : 32);
  std::optional<int64_t> registers;
  if (schedule.registers)
    registers = schedule.registers->front();
  else if (holdsCopies)
    registers =
        std::min(chip->maxRegisters, chip->throughput.registers / threads);
  if (dqAcc && registers) {
    int64_t left =
        *registers - kOtherRegisters - blockN * (headDim + valueDim) / threads;
    // The elements of Q have half a register.
    auto count = [&](int64_t width) {
      int64_t sums = blockM * width / threads;
      return holdsCopies ? sums + sums / 2 : sums;
    };
    while (count(width) > left && width > kWarpgroupRows)
      width = llvm::alignTo(width / 2, kWarpgroupRows);
  }
  return divide(headDim, width);
}

/// Returns the slices of V and dO: as wide as those of K and Q if threads copy
/// them. Tiles of one width have addresses in common.
SmallVector<Columns> KeyBuilder::sliceValues() const {
  bool isSliced = slices.size() > 1 && copiesThroughRegisters(chip);
  return divide(valueDim, isSliced ? slices.front().count : valueDim);
}

/// Which queries to visit. Query i sees the keys from i + shift - left to i +
/// shift + right, so key j is seen from j - shift - right to j - shift + left.
void KeyBuilder::computeQueryRange() {
  Value zero = index(0), shift = sub(sk, sq);
  Value last = index(blockN - 1);
  begin = zero;
  end = sq;
  keyEnd = i32(sub(sk, row));
  if (right) {
    Value first = sub(sub(row, shift), computeRightReach());
    begin = roundDown(max(first, zero), blockM);
    lower = i32(first);
  }
  if (left) {
    Value afterFirst = add(sub(row, shift), add(computeLeftReach(), 1));
    end = max(min(add(afterFirst, last), sq), zero);
    upper = i32(afterFirst);
  }
}

/// Which keys the queries m .. m + blockM - 1 see.
Value KeyBuilder::visible(Value m) {
  RankedTensorType tile = scores(b.getI32Type());
  Value key = IotaOp::create(b, tile, byQuery);
  Value query = IotaOp::create(b, tile, !byQuery);
  Value mask = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key,
                                     splat(tile, keyEnd));
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    mask = arith::AndIOp::create(b, mask,
                                 arith::CmpIOp::create(b, predicate, x, y));
  };
  // For each key, the query that sees it as `first` sees the first key;
  // relative to m, as the queries are.
  auto ofKey = [&](Value first) {
    Value offset = splat(tile, sub(first, i32(m)));
    // Sums of positions fit 32 bits (kFarthest). With this mark,
    // tile-join-comparisons may compare either coordinate. NVIDIA's kernels,
    // which were measured without it, have none.
    auto flags = countsInThreads ? arith::IntegerOverflowFlags::none
                                 : arith::IntegerOverflowFlags::nsw;
    return arith::AddIOp::create(b, key, offset, flags).getResult();
  };
  // One comparison for both sides: what is below comes out large.
  if (left && right) {
    require(arith::CmpIPredicate::ult, sub(query, ofKey(lower)),
            splat(tile, sub(upper, lower)));
    return mask;
  }
  if (right)
    require(arith::CmpIPredicate::sge, query, ofKey(lower));
  if (left)
    require(arith::CmpIPredicate::slt, query, ofKey(upper));
  return mask;
}

/// Adds the queries m .. m + blockM - 1 to dK and dV.
SmallVector<Value> KeyBuilder::step(Value m, ValueRange carried) {
  Type f32Type = b.getF32Type();
  RankedTensorType tile = scores(f32Type);
  RankedTensorType perQuery = type(blockM, f32Type);
  auto load = [&](Value buffer, Columns columns) -> Value {
    return LoadOp::create(b, type({blockM, columns.count}, element), buffer,
                          ValueRange{m, index(columns.first)});
  };
  auto dot = [&](Value x, Value y, Value acc) -> Value {
    return DotOp::create(b, acc.getType(), x, y, acc);
  };
  // Warps in a rectangle read less of both operands than in a column.
  auto dotOfKeys = [&](Value x, Value y, Value acc) -> Value {
    auto product = dot(x, y, acc).getDefiningOp<DotOp>();
    int64_t columns = schedule.columnWarps.value_or(1);
    if (columns != 1)
      product.setWarps(ArrayRef<int64_t>{*schedule.warps / columns, columns});
    return product;
  };
  auto dotOfScores = [&](Value perKey, Value perQuery, Value scores) {
    return byQuery ? dotOfKeys(perQuery, transpose(perKey), scores)
                   : dotOfKeys(perKey, transpose(perQuery), scores);
  };
  // Adds the products of weights and rows of queries.
  auto addProduct = [&](Value weights, Value perQuery, Value sums) {
    return byQuery ? dotOfKeys(transpose(perQuery), weights, sums)
                   : dotOfKeys(weights, perQuery, sums);
  };

  Value sums = LoadOp::create(b, perQuery, lseh, m);
  Value deltas = LoadOp::create(b, perQuery, deltah, m);
  SmallVector<Value> queries;
  Value product = fill(tile, 0.0f);
  for (auto [columns, sliceOfKeys] : llvm::zip_equal(slices, keys)) {
    queries.push_back(load(qh, columns));
    product = dotOfScores(sliceOfKeys, queries.back(), product);
  }
  Value s = score(product);
  Value offset = spreadQueries(arith::NegFOp::create(b, sums));
  Value p = math::Exp2Op::create(b, math::FmaOp::create(b, s, cScores, offset));
  p = arith::SelectOp::create(b, visible(m), p, fill(tile, 0.0f));

  SmallVector<Value> gradients{load(doh, valueSlices.front())};
  Value weights = arith::TruncFOp::create(b, scores(element), p);
  Value dp = dotOfScores(values.front(), gradients.front(), fill(tile, 0.0f));
  for (size_t i = 1; i < valueSlices.size(); ++i) {
    gradients.push_back(load(doh, valueSlices[i]));
    dp = dotOfScores(values[i], gradients[i], dp);
  }
  Value ds = arith::MulFOp::create(
      b, p, arith::SubFOp::create(b, dp, spreadQueries(deltas)));
  if (Value derivative = scoreDerivative(s))
    ds = arith::MulFOp::create(b, ds, derivative);
  Value dsLow = arith::TruncFOp::create(b, scores(element), ds);

  ValueRange valueSums = carried.drop_front(slices.size());
  SmallVector<Value> next, nextValues;
  for (auto [gradient, sum] : llvm::zip_equal(gradients, valueSums))
    nextValues.push_back(addProduct(weights, gradient, sum));
  for (auto [i, columns] : llvm::enumerate(slices)) {
    next.push_back(addProduct(dsLow, queries[i], carried[i]));
    if (!dqAcc)
      continue;
    Value dq = dot(byQuery ? dsLow : transpose(dsLow), keys[i],
                   zeros(blockM, columns.count));
    AtomicRMWOp::create(b, arith::AtomicRMWKind::addf, dq, dqh,
                        ValueRange{m, index(columns.first)});
  }
  llvm::append_range(next, nextValues);
  return next;
}

/// Adds all queries of a head.
SmallVector<Value> KeyBuilder::walkHead(Value head, ValueRange carried) {
  qh = viewHead(q, Side::Queries, head);
  doh = viewHead(dO, Side::Queries, head);
  lseh = viewStats(stats, RowNumber::LseToBase2, head);
  deltah = viewStats(stats, RowNumber::Delta, head);
  if (dqAcc)
    dqh = viewHead(dqAcc, Side::Queries, head);
  Value blockRow = row, queries = sq, allKeys = sk;
  // So that no registers hold the bounds around the loop over the queries.
  if (fewRegisters) {
    row = recompute(row);
    sq = recompute(sq);
    if (isPacked())
      sk = recompute(sk);
    computeQueryRange();
  }
  auto count = [&](Value m) { return countsInThreads ? i32(m) : m; };
  SmallVector<Value> sums =
      forEach(count(begin), count(end), count(index(blockM)), carried,
              [&](Value m, ValueRange carried) { return step(m, carried); });
  row = blockRow;
  sq = queries;
  sk = allKeys;
  return sums;
}

void KeyBuilder::write(Value gradient, Value buffer, Value factor,
                       int64_t column) {
  if (byQuery)
    gradient = transpose(gradient);
  auto f32Type = cast<RankedTensorType>(gradient.getType());
  if (factor)
    gradient = arith::MulFOp::create(b, gradient, splat(f32Type, factor));
  if (mode == KVAccumulation::Atomic) {
    AtomicRMWOp::create(b, arith::AtomicRMWKind::addf, gradient, buffer,
                        ValueRange{row, index(column)});
    return;
  }
  if (accumulates) {
    Columns columns{column, f32Type.getDimSize(1)};
    gradient = arith::AddFOp::create(b, gradient,
                                     loadRows(buffer, blockN, row, columns));
  }
  storeRows(gradient, buffer, row, column);
}

void KeyBuilder::build() {
  // Under a causal mask, the first keys have the most queries.
  bool isLongestFirst = right && !left && !isPacked();
  Value block = launch(Side::Keys, blockN, /*kvHeads=*/!mode, isLongestFirst);
  Value kh = viewHead(k, Side::Keys, kvHead);
  Value vh = viewHead(v, Side::Keys, kvHead);
  computeFactors();
  cScores = splat(scores(b.getF32Type()), c);
  if (isPacked()) // not in a loop
    WaitPrerequisitesOp::create(b);
  forEachBlock(sk, blockN, block, [&](Value first) {
    row = first;
    if (!fewRegisters)
      computeQueryRange();
    keys.clear();
    values.clear();
    for (Columns columns : slices)
      keys.push_back(LoadOp::create(b, type({blockN, columns.count}, element),
                                    kh, ValueRange{row, index(columns.first)}));
    for (Columns columns : valueSlices)
      values.push_back(LoadOp::create(b, type({blockN, columns.count}, element),
                                      vh,
                                      ValueRange{row, index(columns.first)}));
    if (!isPacked())
      WaitPrerequisitesOp::create(b);
    SmallVector<Value> sums;
    for (Columns columns : slices)
      sums.push_back(zeroSums(columns.count));
    for (Columns columns : valueSlices)
      sums.push_back(zeroSums(columns.count));
    if (head) {
      sums = walkHead(head, sums);
    } else {
      auto findFirstHead = [&]() -> Value {
        return arith::MulIOp::create(b, kvHead, group);
      };
      Value firstHead = findFirstHead();
      sums = forEach(narrow(index(0)), narrow(group), narrow(index(1)), sums,
                     [&](Value i, ValueRange carried) {
                       if (schedule.savesRegisters()) {
                         recomputePlace();
                         firstHead = findFirstHead();
                       }
                       return walkHead(add(firstHead, i), carried);
                     });
    }
    // Only here, so that the loops need not keep it in registers.
    if (fewRegisters)
      recomputePlace();
    Value owner = mode == KVAccumulation::Separate ? head : kvHead;
    for (auto [i, columns] : llvm::enumerate(slices))
      write(sums[i], viewHead(dk, Side::Keys, owner), scale, columns.first);
    for (auto [i, columns] : llvm::enumerate(valueSlices))
      write(sums[slices.size() + i], viewHead(dv, Side::Keys, owner), Value(),
            columns.first);
  });
}

void tile::buildBackwardKeys(ImplicitLocOpBuilder &builder,
                             AttentionBackwardOp op, const IRMapping &mapping,
                             const Schedule &schedule) {
  KeyBuilder(builder, op, mapping, schedule).build();
}
