//===- ExpandAttention.cpp - tile.attention as a tile program -------------===//
//
// Flash attention 2, forward (Dao, 2023): one block of threads computes
// `blockM` rows of the output. It walks over the keys `blockN` at a time and
// keeps, per row, the largest score so far, the sum of the exponentials
// relative to it, and the accordingly scaled output. Exponentials are powers
// of two: exp(scale * s) = exp2(c * s) with c = scale * log2(e).
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDATTENTION
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Tile sizes
//===----------------------------------------------------------------------===//

namespace {
/// Rows of scores, keys per step and warps of one block of threads.
struct TileSizes {
  int64_t blockM, blockN, warps;
};

/// One row of the table of defaults: it applies to chips of the vendor with at
/// least this much shared memory, and to head dimensions up to `maxHeadDim`.
struct TileSizesRow {
  Vendor vendor;
  int64_t warpSize, minSharedBytes, maxHeadDim;
  TileSizes sizes;
};
} // namespace

// The first row that applies counts. In registers, a thread holds
// blockM * (blockN + head dimension) / threads accumulators; in shared memory
// lie Q, K and V (two of each where copies are asynchronous) and, on AMD, P.
// clang-format off
static constexpr TileSizesRow kTileSizes[] = {
    // vendor         warp  shared   head  M    N   warps
    {Vendor::NVIDIA,  32,        0,   64, {128, 128, 4}},
    {Vendor::NVIDIA,  32,        0,   96, {128, 64, 4}},
    {Vendor::NVIDIA,  32,   163840,  128, {64,  96, 4}},
    {Vendor::NVIDIA,  32,        0,  128, {64,  64, 4}},
    {Vendor::NVIDIA,  32,   163840,  256, {64,  64, 4}},
    {Vendor::NVIDIA,  32,        0,  256, {64,  32, 4}},
    {Vendor::AMD,     64,   131072,  256, {64,  64, 4}},
    {Vendor::AMD,     64,        0,  128, {64,  64, 4}},
    {Vendor::AMD,     64,        0,  192, {64,  32, 4}},
    {Vendor::AMD,     64,        0,  256, {64,  16, 4}},
    {Vendor::AMD,     32,        0,  128, {64,  32, 4}},
    {Vendor::AMD,     32,        0,  256, {64,  16, 4}},
};
// clang-format on

static const TileSizesRow *findTileSizes(const Chip &chip, int64_t headDim) {
  const auto *row = llvm::find_if(kTileSizes, [&](const TileSizesRow &row) {
    return row.vendor == chip.vendor && row.warpSize == chip.warpSize &&
           row.minSharedBytes <= chip.sharedBytes && headDim <= row.maxHeadDim;
  });
  return row == std::end(kTileSizes) ? nullptr : row;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// What a block knows of its rows after some of the keys.
struct Partial {
  /// Output relative to `max`, and not divided by `sum`: [blockM, Dv].
  Value acc;
  /// Largest score, -inf before the first visible key: [blockM].
  Value max;
  /// Sum of exp2(c * (score - max)): [blockM].
  Value sum;
};

/// Writes the body of the kernel of one tile.attention at the insertion point.
class ForwardBuilder {
public:
  /// The operands of `op` are mapped by `mapping` to values of the kernel.
  ForwardBuilder(ImplicitLocOpBuilder &builder, AttentionOp op,
                 const IRMapping &mapping, TileSizes sizes)
      : b(builder), op(op), sizes(sizes), q(mapping.lookup(op.getQ())),
        k(mapping.lookup(op.getK())), v(mapping.lookup(op.getV())),
        o(mapping.lookup(op.getO())),
        lse(op.getLse() ? mapping.lookup(op.getLse()) : Value()),
        scale(mapping.lookup(op.getScale())),
        headDim(op.getQ().getType().getShape()[3]),
        valueDim(op.getV().getType().getShape()[3]),
        element(op.getQ().getType().getElementType()) {
    auto sides = op.getWindow().value_or(ArrayRef<int64_t>{-1, -1});
    if (sides[0] >= 0)
      left = sides[0];
    if (sides[1] >= 0)
      right = sides[1];
    if (op.getCausal())
      right = 0;
  }

  void build();

private:
  void computePosition();
  void computeKeyRanges();
  Partial loop(Value begin, Value end, bool maskLeft, bool maskRight,
               Partial partial);
  Partial step(Value n, bool maskLeft, bool maskRight, Partial partial);
  Value visible(Value n, bool maskLeft);
  void finish(Partial partial);

  // Scalars.
  Value index(int64_t value) {
    Value &constant = indices[value];
    if (!constant) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(entry);
      if (lastIndex)
        b.setInsertionPointAfterValue(lastIndex);
      constant = lastIndex = arith::ConstantIndexOp::create(b, value);
    }
    return constant;
  }
  Value f32(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value i32(Value index) {
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value roundDown(Value x, int64_t multiple) {
    Value count = arith::DivUIOp::create(b, x, index(multiple));
    return arith::MulIOp::create(b, count, index(multiple));
  }
  Value roundUp(Value x, int64_t multiple) {
    Value count = arith::CeilDivUIOp::create(b, x, index(multiple));
    return arith::MulIOp::create(b, count, index(multiple));
  }
  Value max(Value x, Value y) { return arith::MaxSIOp::create(b, x, y); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }

  // Tiles.
  RankedTensorType type(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  RankedTensorType rows(Type element) { return type(sizes.blockM, element); }
  RankedTensorType scores(Type element) {
    return type({sizes.blockM, sizes.blockN}, element);
  }
  Value fill(RankedTensorType type, float value) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, APFloat(value)));
  }
  Value splat(RankedTensorType type, Value scalar) {
    return tensor::SplatOp::create(b, type, scalar);
  }
  /// One value per row, repeated over `columns` columns.
  Value spread(Value perRow, int64_t columns) {
    Type element = cast<RankedTensorType>(perRow.getType()).getElementType();
    return BroadcastOp::create(b, type({sizes.blockM, columns}, element),
                               perRow, 1);
  }

  ImplicitLocOpBuilder &b;
  AttentionOp op;
  TileSizes sizes;
  Value q, k, v, o, lse, scale;
  int64_t headDim, valueDim;
  Type element;
  /// How far a query sees to both sides of the diagonal; none: no limit.
  std::optional<int64_t> left, right;

  Block *entry = nullptr;
  llvm::SmallMapVector<int64_t, Value, 8> indices;
  Value lastIndex;
  /// This block's first row, and its views of the buffers.
  Value row, qh, kh, vh, oh, lseh;
  /// Length of the keys.
  Value sk;
  /// The key on the diagonal of `row`.
  Value diagonal;
  /// First key and end of the keys that some row sees; those of the blocks
  /// that all rows see.
  Value begin, end, fullBegin, fullEnd;
  /// Q, and c as a scalar, per row and per score.
  Value qTile, c, cRows, cScores;
  /// Per row, the first visible key and the end of the visible keys, as i32.
  Value lower, upper;
};
} // namespace

/// The grid, and which rows of which head this block computes.
void ForwardBuilder::computePosition() {
  Value batch = DimOp::create(b, q, 0);
  Value sq = DimOp::create(b, q, 1);
  Value heads = DimOp::create(b, q, 2);
  Value kvHeads = DimOp::create(b, k, 2);
  sk = DimOp::create(b, k, 1);
  Value blocks = arith::CeilDivUIOp::create(b, sq, index(sizes.blockM));
  GridOp::create(b, blocks, heads, batch);

  Value block = ProgramIdOp::create(b, Dimension::x);
  Value head = ProgramIdOp::create(b, Dimension::y);
  Value batchIndex = ProgramIdOp::create(b, Dimension::z);
  // Under a causal mask the last rows see the most keys: start with them, so
  // that the blocks that run last are the short ones.
  if (op.getCausal())
    block = sub(sub(blocks, index(1)), block);
  row = arith::MulIOp::create(b, block, index(sizes.blockM));
  Value group = arith::DivUIOp::create(b, heads, kvHeads);
  Value kvHead = arith::DivUIOp::create(b, head, group);
  if (left || right)
    diagonal = add(row, sub(sk, sq));

  auto slice = [&](Value buffer, Value head) -> Value {
    return SliceOp::create(b, buffer, {batchIndex, Value(), head, Value()});
  };
  qh = slice(q, head);
  kh = slice(k, kvHead);
  vh = slice(v, kvHead);
  oh = slice(o, head);
  if (lse)
    lseh = SliceOp::create(b, lse, {batchIndex, head, Value()});
}

/// Which blocks of keys to visit, and which of them need no mask. Row r of
/// this block sees the keys from diagonal + r - left to diagonal + r + right.
void ForwardBuilder::computeKeyRanges() {
  Value zero = index(0);
  begin = fullBegin = zero;
  end = sk;
  Value endForAll = sk;
  RankedTensorType perRow = rows(b.getI32Type());
  Value r = left || right ? Value(IotaOp::create(b, perRow, 0)) : Value();
  if (right) {
    Value endOfFirstRow = add(diagonal, index(*right + 1));
    end = min(add(endOfFirstRow, index(sizes.blockM - 1)), sk);
    endForAll = max(min(endOfFirstRow, sk), zero);
    Value ends = arith::AddIOp::create(b, r, splat(perRow, i32(endOfFirstRow)));
    upper = arith::MinSIOp::create(b, ends, splat(perRow, i32(sk)));
  }
  fullEnd = roundDown(endForAll, sizes.blockN);
  if (left) {
    Value beginOfFirstRow = sub(diagonal, index(*left));
    Value beginOfLastRow = add(beginOfFirstRow, index(sizes.blockM - 1));
    begin = roundDown(max(beginOfFirstRow, zero), sizes.blockN);
    fullBegin = roundUp(max(beginOfLastRow, zero), sizes.blockN);
    lower = arith::AddIOp::create(b, r, splat(perRow, i32(beginOfFirstRow)));
  }
}

/// Which of the keys n .. n + blockN - 1 each row sees.
Value ForwardBuilder::visible(Value n, bool maskLeft) {
  RankedTensorType tile = scores(b.getI32Type());
  Value column = IotaOp::create(b, tile, 1);
  // The keys relative to n, so that the columns are compared as they are.
  auto relative = [&](Value keys) {
    Value offset = splat(rows(b.getI32Type()), i32(n));
    return spread(arith::SubIOp::create(b, keys, offset), sizes.blockN);
  };
  Value bound = upper ? relative(upper) : splat(tile, i32(sub(sk, n)));
  Value mask =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, bound);
  if (maskLeft) {
    Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, column,
                                           relative(lower));
    mask = arith::AndIOp::create(b, mask, isInside);
  }
  return mask;
}

/// Adds the keys n .. n + blockN - 1.
Partial ForwardBuilder::step(Value n, bool maskLeft, bool maskRight,
                             Partial partial) {
  Type f32Type = b.getF32Type();
  RankedTensorType tile = scores(f32Type), perRow = rows(f32Type);
  Value zero = index(0);
  Value keys = LoadOp::create(b, type({sizes.blockN, headDim}, element), kh,
                              ValueRange{n, zero});
  Value keysT = TransposeOp::create(b, type({headDim, sizes.blockN}, element),
                                    keys, ArrayRef<int64_t>{1, 0});
  Value s =
      DotOp::create(b, tile, qTile, keysT, fill(tile, 0.0f), StringAttr());
  bool isMasked = maskLeft || maskRight;
  if (isMasked)
    s = arith::SelectOp::create(b, visible(n, maskLeft), s,
                                fill(tile, -INFINITY));

  Value newMax = arith::MaxNumFOp::create(
      b, partial.max,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::maxnumf, s, 1));
  // A row that has seen no key yet: any finite pivot gives exp2(-inf) = 0,
  // where -inf itself would give exp2(-inf + inf).
  Value pivot = newMax;
  if (isMasked) {
    Value sawNothing = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                             newMax, fill(perRow, -INFINITY));
    pivot = arith::SelectOp::create(b, sawNothing, fill(perRow, 0.0f), newMax);
  }
  Value offset =
      arith::NegFOp::create(b, arith::MulFOp::create(b, pivot, cRows));
  Value exponent =
      math::FmaOp::create(b, s, cScores, spread(offset, sizes.blockN));
  Value p = math::Exp2Op::create(b, exponent);

  // What came before was relative to the old maximum.
  Value change = arith::SubFOp::create(b, partial.max, pivot);
  Value alpha =
      math::Exp2Op::create(b, arith::MulFOp::create(b, change, cRows));
  Value newSum = math::FmaOp::create(
      b, partial.sum, alpha,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::addf, p, 1));
  Value scaled = arith::MulFOp::create(b, partial.acc, spread(alpha, valueDim));
  Value weights = arith::TruncFOp::create(b, scores(element), p);
  Value values = LoadOp::create(b, type({sizes.blockN, valueDim}, element), vh,
                                ValueRange{n, zero});
  Value newAcc =
      DotOp::create(b, scaled.getType(), weights, values, scaled, StringAttr());
  return {newAcc, newMax, newSum};
}

/// Adds the keys of [begin, end); begin is a multiple of blockN.
Partial ForwardBuilder::loop(Value begin, Value end, bool maskLeft,
                             bool maskRight, Partial partial) {
  auto loop = scf::ForOp::create(
      b, begin, end, index(sizes.blockN),
      ValueRange{partial.acc, partial.max, partial.sum},
      [&](OpBuilder &nested, Location loc, Value n, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Partial next =
            step(n, maskLeft, maskRight, {carried[0], carried[1], carried[2]});
        scf::YieldOp::create(b, ValueRange{next.acc, next.max, next.sum});
      });
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

/// Writes the rows. Those that see no key have max = -inf, sum = 0, acc = 0.
void ForwardBuilder::finish(Partial partial) {
  RankedTensorType perRow = rows(b.getF32Type());
  Value one = fill(perRow, 1.0f);
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                        partial.sum, fill(perRow, 0.0f));
  Value divisor = arith::SelectOp::create(b, isEmpty, one, partial.sum);
  Value inverse = arith::DivFOp::create(b, one, divisor);
  Value out = arith::MulFOp::create(b, partial.acc, spread(inverse, valueDim));
  Value outLow =
      arith::TruncFOp::create(b, type({sizes.blockM, valueDim}, element), out);
  StoreOp::create(b, outLow, oh, ValueRange{row, index(0)});
  if (!lse)
    return;
  // ln(2) * (c * max + log2(sum)): -inf for empty rows, since c > 0.
  Value log = math::Log2Op::create(b, partial.sum);
  Value base2 = math::FmaOp::create(b, partial.max, cRows, log);
  Value natural =
      arith::MulFOp::create(b, base2, splat(perRow, f32(0.69314718055994531)));
  StoreOp::create(b, natural, lseh, ValueRange{row});
}

void ForwardBuilder::build() {
  entry = b.getInsertionBlock();
  computePosition();
  computeKeyRanges();
  qTile = LoadOp::create(b, type({sizes.blockM, headDim}, element), qh,
                         ValueRange{row, index(0)});
  // Masked scores are -inf, which a factor of zero would make NaN; the
  // smallest normal number is as good as zero.
  Value product = arith::MulFOp::create(b, scale, f32(1.4426950408889634));
  c = arith::MaximumFOp::create(b, product,
                                f32(std::numeric_limits<float>::min()));

  RankedTensorType perRow = rows(b.getF32Type());
  cRows = splat(perRow, c);
  cScores = splat(scores(b.getF32Type()), c);
  Partial partial = {fill(type({sizes.blockM, valueDim}, b.getF32Type()), 0.0f),
                     fill(perRow, -INFINITY), fill(perRow, 0.0f)};
  // Up to three loops: blocks of which some rows see only the right part,
  // those that all rows see whole, and the rest. A narrow window may have no
  // block of the second kind; then the first loop ends, or the third begins,
  // where the other does.
  Value restBegin = fullEnd;
  if (left) {
    partial = loop(begin, min(fullBegin, end), /*maskLeft=*/true,
                   /*maskRight=*/true, partial);
    restBegin = max(fullBegin, fullEnd);
  }
  partial = loop(fullBegin, fullEnd, /*maskLeft=*/false, /*maskRight=*/false,
                 partial);
  partial =
      loop(restBegin, end, /*maskLeft=*/false, /*maskRight=*/true, partial);
  finish(partial);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ExpandAttention : tile::impl::TileExpandAttentionBase<ExpandAttention> {
  using TileExpandAttentionBase::TileExpandAttentionBase;

  void runOnOperation() override;

private:
  LogicalResult checkFunction(func::FuncOp func);
  FailureOr<TileSizes> chooseSizes(AttentionOp op);
  LogicalResult expand(func::FuncOp func, SymbolTable &symbols);
};
} // namespace

/// The function must be one whose whole effect is that of kernels.
LogicalResult ExpandAttention::checkFunction(func::FuncOp func) {
  if (func.getNumResults() != 0)
    return func.emitError() << "function @" << func.getSymName()
                            << " of named tile operations becomes kernels, "
                               "which return no values";
  for (Block &block : func.getBody())
    for (Operation &op : block)
      if (!isa<AttentionOp, func::ReturnOp>(op) &&
          !isa<arith::ArithDialect>(op.getDialect()))
        return op.emitOpError() << "cannot stand beside named tile "
                                << "operations; only arith operations can";
  if (failed(KernelOp::verifyArguments(func.getArgumentTypes(),
                                       [&] { return func.emitError(); })))
    return failure();
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(func, getOperation());
  if (uses && !uses->empty()) {
    InFlightDiagnostic diag = uses->begin()->getUser()->emitOpError()
                              << "uses function @" << func.getSymName()
                              << ", which becomes a kernel";
    diag.attachNote(func.getLoc()) << "function defined here";
    return diag;
  }
  return success();
}

FailureOr<TileSizes> ExpandAttention::chooseSizes(AttentionOp op) {
  TileSizes sizes{blockM, blockN, numWarps};
  if (sizes.blockM == 0 || sizes.blockN == 0 || sizes.warps == 0) {
    const Chip *chip = getTargetChip(op);
    if (!chip)
      return failure();
    int64_t headDim = std::max(op.getQ().getType().getShape()[3],
                               op.getV().getType().getShape()[3]);
    const TileSizesRow *row = findTileSizes(*chip, headDim);
    if (!row)
      return op.emitOpError()
             << "no tile sizes are known for head dimension " << headDim
             << " on " << chip->name << "; set block-m, block-n and num-warps";
    if (sizes.blockM == 0)
      sizes.blockM = row->sizes.blockM;
    if (sizes.blockN == 0)
      sizes.blockN = row->sizes.blockN;
    if (sizes.warps == 0)
      sizes.warps = row->sizes.warps;
  }
  // What every matrix instruction divides.
  if (sizes.warps < 1 || sizes.warps > 32 || sizes.blockM < 1 ||
      sizes.blockM > 1024 || sizes.blockM % (16 * sizes.warps) != 0 ||
      sizes.blockN < 1 || sizes.blockN > 1024 || sizes.blockN % 16 != 0)
    return op.emitOpError()
           << "block-m = " << sizes.blockM << ", block-n = " << sizes.blockN
           << ", num-warps = " << sizes.warps
           << ": block-m must be a multiple of 16 * num-warps, "
              "block-n one of 16, both at most 1024, and "
              "num-warps at most 32";
  return sizes;
}

LogicalResult ExpandAttention::expand(func::FuncOp func, SymbolTable &symbols) {
  if (failed(checkFunction(func)))
    return failure();
  auto attentions = llvm::to_vector(func.getOps<AttentionOp>());
  SmallVector<KernelOp> kernels;
  ImplicitLocOpBuilder b(func.getLoc(), func);
  for (auto [i, op] : llvm::enumerate(attentions)) {
    FailureOr<TileSizes> sizes = chooseSizes(op);
    if (failed(sizes))
      return failure();
    std::string name = func.getSymName().str();
    if (attentions.size() > 1)
      name += "_" + std::to_string(i);
    if (Operation *other = symbols.lookup(name); other && other != func) {
      InFlightDiagnostic diag = op.emitOpError() << "becomes kernel @" << name
                                                 << ", which exists";
      diag.attachNote(other->getLoc()) << "defined here";
      return diag;
    }

    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(func);
    b.setLoc(op.getLoc());
    auto kernel = KernelOp::create(
        b, b.getStringAttr(name), TypeAttr::get(func.getFunctionType()),
        b.getI32IntegerAttr(sizes->warps), func.getArgAttrsAttr(), ArrayAttr());
    kernels.push_back(kernel);
    Block &entry = kernel.getBody().emplaceBlock();
    IRMapping mapping;
    for (BlockArgument argument : func.getArguments())
      mapping.map(argument,
                  entry.addArgument(argument.getType(), argument.getLoc()));
    b.setInsertionPointToEnd(&entry);
    for (Operation &scalar : func.front())
      if (isa<arith::ArithDialect>(scalar.getDialect()))
        b.clone(scalar, mapping);
    ForwardBuilder(b, op, mapping, *sizes).build();
    ReturnOp::create(b);
    // Scalars that only the function's other operations use.
    for (Operation &scalar : llvm::make_early_inc_range(llvm::reverse(entry)))
      if (isOpTriviallyDead(&scalar))
        scalar.erase();
  }
  symbols.erase(func);
  for (KernelOp kernel : kernels)
    symbols.insert(kernel);
  return success();
}

void ExpandAttention::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::SmallSetVector<func::FuncOp, 4> functions;
  WalkResult walk = module.walk([&](AttentionOp op) {
    // Nested modules are walked with this one; their symbols are their own.
    auto func = dyn_cast<func::FuncOp>(op->getParentOp());
    if (!func || func->getParentOp() != module ||
        !llvm::hasSingleElement(func.getBody())) {
      op.emitOpError() << "must be at the top level of a func.func of the "
                          "module, with one block";
      return WalkResult::interrupt();
    }
    functions.insert(func);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return signalPassFailure();
  SymbolTable symbols(module);
  for (func::FuncOp func : functions)
    if (failed(expand(func, symbols)))
      return signalPassFailure();
}
