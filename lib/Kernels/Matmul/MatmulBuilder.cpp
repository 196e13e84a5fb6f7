//===- MatmulBuilder.cpp - tile.matmul as tile programs -------------------===//

#include "MatmulBuilder.h"
#include "../ProgramBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// The rows and columns of buffers of sums are multiples of this, for the
/// layouts that tile-choose-accumulators may choose.
static constexpr int64_t kSumsMultiple = 16;

/// Bytes of a row of a tile along K. A row of the swizzle of shared memory has
/// 128 bytes.
static constexpr int64_t kDepthBytes[] = {64, 128, 256};
static constexpr int64_t kRows[] = {16, 32, 64, 128, 192, 256};
static constexpr int64_t kColumns[] = {32, 64, 96, 128, 192, 256};
/// Those of kernels without a product, which have no use for large tiles.
static constexpr int64_t kElementwiseRows[] = {16, 32, 64};
static constexpr int64_t kElementwiseColumns[] = {32, 64, 128};

namespace {
class MatmulBuilder : ProgramBuilder {
public:
  MatmulBuilder(ImplicitLocOpBuilder &builder, MatmulOp op,
                const IRMapping &mapping, MatmulKernel kernel)
      : ProgramBuilder(builder), op(op), mapping(mapping), kernel(kernel),
        element(op.getA().getType().getElementType()),
        sumType(op.getTile(op.getSumType())), extents(op.getNamedExtents()) {}

  void build();

private:
  bool computesProduct() const {
    return kernel == MatmulKernel::Whole || kernel == MatmulKernel::Product;
  }
  bool hasEpilogue() const {
    return kernel == MatmulKernel::Whole || kernel == MatmulKernel::Epilogue;
  }

  void buildParams();
  void buildRequirements();
  void launch();
  void findGroup(Value block);
  Value countBits(Value number);
  Value view(Value buffer, bool hasRows);
  Value loadFactor(Value buffer, bool isTransposed, ArrayRef<StringRef> names,
                   Value row, Value column);
  SmallVector<Value> multiply();
  void store(Value tile, Value buffer);
  void finish(ArrayRef<Value> sums);

  /// Returns an extent of the operation's buffers, constant if it is known.
  Value extentOf(MatmulExtent kind, unsigned number = 0) {
    const NamedExtent *dynamic = nullptr;
    for (const NamedExtent &extent : extents) {
      if (extent.kind != unsigned(kind) + number || extent.mayExceed)
        continue;
      if (!ShapedType::isDynamic(extent.get()))
        return index(extent.get());
      if (!dynamic)
        dynamic = &extent;
    }
    return DimOp::create(b, mapping.lookup(dynamic->buffer), dynamic->dim);
  }
  Value ceilDiv(Value x, Value y) {
    return arith::CeilDivUIOp::create(b, x, y);
  }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value zeros() {
    Type type = sumType.getElementType();
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    return tensor::SplatOp::create(b, sumType, zero, ValueRange{bm, bn});
  }

  MatmulOp op;
  IRMapping mapping;
  MatmulKernel kernel;
  Type element;
  RankedTensorType sumType;
  SmallVector<NamedExtent> extents;
  /// The parameters, and the extents of the problem.
  Value bm, bn, bk, m, n, k;
  /// The indices of the batch, or of the group, and the first row and column of
  /// the tile.
  SmallVector<Value> batch;
  Value row, column;
  /// The first row and the number of rows of the group, if there are any.
  Value start, length;
};
} // namespace

/// The parameters that the epilogue gives, and those that it does not give.
void MatmulBuilder::buildParams() {
  llvm::StringMap<Value> given;
  if (hasEpilogue())
    for (ParamOp param : op.getEpilogue().getOps<ParamOp>()) {
      Operation *copy = b.clone(*param, mapping);
      given[param.getParameter()] = copy->getResult(0);
    }
  auto param = [&](StringRef name, ArrayRef<int64_t> values) -> Value {
    if (Value value = given.lookup(name))
      return value;
    return ParamOp::create(b, b.getIndexType(), name, values);
  };
  if (!computesProduct()) {
    bm = param("BM", kElementwiseRows);
    bn = param("BN", kElementwiseColumns);
    return;
  }
  bm = param("BM", kRows);
  bn = param("BN", kColumns);
  SmallVector<int64_t> depths;
  for (int64_t bytes : kDepthBytes)
    depths.push_back(bytes * 8 / element.getIntOrFloatBitWidth());
  bk = param("BK", depths);
}

void MatmulBuilder::buildRequirements() {
  requireNamedExtents(b, extents, mapping);
  if (op.getEnds())
    requireExtent(b, mapping.lookup(op.getEnds()), 0, Relation::AtLeast,
                  index(1), "one group");
  for (Value sum : op.getSums()) {
    int64_t rank = cast<BufferType>(sum.getType()).getRank();
    for (auto [dim, extent, name] :
         {std::tuple<int64_t, Value, StringRef>(rank - 2, m, "M"),
          {rank - 1, n, "N"}})
      requireExtent(b, mapping.lookup(sum), dim, Relation::Equal,
                    roundUp(extent, kSumsMultiple),
                    name + " rounded up to a multiple of " +
                        Twine(kSumsMultiple));
  }
}

/// Returns the number of binary digits of `number`.
Value MatmulBuilder::countBits(Value number) {
  Value zeros = math::CountLeadingZerosOp::create(b, i32(number));
  Value bits = arith::ConstantOp::create(b, b.getI32IntegerAttr(32));
  return wide(arith::SubIOp::create(b, bits, zeros));
}

/// Finds the group of rows that row block `block` of the grid belongs to, and
/// its first row. Block begin / BM + g of the grid is the first one of group g,
/// rounded down, so that each group has as many blocks as its rows need, at
/// most one more.
void MatmulBuilder::findGroup(Value block) {
  Value ends = mapping.lookup(op.getEnds());
  Value groups = extentOf(MatmulExtent::Batch);
  // Ends out of order, or beyond the rows, must not lead out of the buffers.
  auto endOf = [&](Value group) {
    Value end = wide(LoadScalarOp::create(b, b.getI32Type(), ends, group));
    return min(max(end, index(0)), m);
  };
  auto firstBlock = [&](Value begin, Value group) {
    return add(arith::DivUIOp::create(b, begin, bm), group);
  };
  // The last group whose first block is not behind this one. A binary search
  // sets the bits of its number from the highest one on.
  Value bits = countBits(groups);
  Value half = arith::ShRUIOp::create(
      b, arith::ShLIOp::create(b, index(1), bits), index(1));
  Value group = forEach(
      index(0), bits, index(1), index(0), [&](Value i, ValueRange carried) {
        Value bit = arith::ShRUIOp::create(b, half, i);
        Value next = add(carried[0], bit);
        Value before = sub(min(next, groups), index(1));
        Value exists =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ult, next, groups);
        Value starts =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                  firstBlock(endOf(before), next), block);
        Value isFound = arith::AndIOp::create(b, exists, starts);
        return SmallVector<Value>{
            arith::SelectOp::create(b, isFound, next, carried[0])};
      })[0];
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, group, index(0));
  Value before = max(sub(group, index(1)), index(0));
  start = arith::SelectOp::create(b, isFirst, index(0), endOf(before));
  length = sub(max(endOf(group), start), start);
  batch.push_back(group);
  row = mul(sub(block, firstBlock(start, group)), bm);
}

/// Sizes the grid, and finds the place of the block.
void MatmulBuilder::launch() {
  m = extentOf(MatmulExtent::Rows);
  n = extentOf(MatmulExtent::Columns);
  if (computesProduct())
    k = extentOf(MatmulExtent::Depth);
  Value rowBlocks = ceilDiv(m, bm), batches = index(1);
  SmallVector<Value> counts;
  if (op.getEnds()) {
    rowBlocks =
        add(arith::DivUIOp::create(b, m, bm), extentOf(MatmulExtent::Batch));
  } else {
    for (int64_t i = 0; i < op.getBatchRank(); ++i) {
      counts.push_back(extentOf(MatmulExtent::Batch, i));
      batches = i == 0 ? counts.back() : mul(batches, counts.back());
    }
  }
  GridOp::create(b, rowBlocks, ceilDiv(n, bn), batches);
  Value block = ProgramIdOp::create(b, Dimension::x);
  column = mul(ProgramIdOp::create(b, Dimension::y), bn);
  if (op.getEnds())
    return findGroup(block);
  row = mul(block, bm);
  if (counts.empty())
    return;
  Value rest = ProgramIdOp::create(b, Dimension::z);
  for (Value count : llvm::reverse(ArrayRef(counts).drop_front())) {
    batch.push_back(arith::RemUIOp::create(b, rest, count));
    rest = arith::DivUIOp::create(b, rest, count);
  }
  batch.push_back(rest);
  std::reverse(batch.begin(), batch.end());
  if (op.getCounts()) {
    Value count = wide(LoadScalarOp::create(
        b, b.getI32Type(), mapping.lookup(op.getCounts()), batch[0]));
    start = index(0);
    length = min(max(count, index(0)), m);
  }
}

/// Returns the matrix of this batch or group; `hasRows` says that its rows are
/// those of the group.
Value MatmulBuilder::view(Value buffer, bool hasRows) {
  Value matrix = mapping.lookup(buffer);
  int64_t rank = cast<BufferType>(buffer.getType()).getRank();
  bool isTransposed = buffer == op.getA() && op.getTransposeA();
  if (rank != 2) {
    SmallVector<Value> indices(batch);
    indices.append(2, Value());
    matrix = SliceOp::create(b, matrix, indices);
  }
  return hasRows && length
             ? NarrowOp::create(b, matrix, isTransposed, start, length)
             : matrix;
}

/// Loads a tile of an operand, whose buffer has its dimensions in the reverse
/// order if `isTransposed`. `names` are the names of its extents.
Value MatmulBuilder::loadFactor(Value buffer, bool isTransposed,
                                ArrayRef<StringRef> names, Value row,
                                Value column) {
  auto tile = [&](StringRef first, StringRef second) {
    auto open = OpenAttr::get(
        b.getContext(), {b.getStringAttr(first), b.getStringAttr(second)});
    return RankedTensorType::get({kDynamic, kDynamic}, element, open);
  };
  if (!isTransposed)
    return LoadOp::create(b, tile(names[0], names[1]), buffer,
                          ValueRange{row, column});
  Value loaded = LoadOp::create(b, tile(names[1], names[0]), buffer,
                                ValueRange{column, row});
  return TransposeOp::create(b, tile(names[0], names[1]), loaded,
                             ArrayRef<int64_t>{1, 0});
}

/// Returns the products of a and each b.
SmallVector<Value> MatmulBuilder::multiply() {
  Value a = view(op.getA(), /*hasRows=*/true), depth = k;
  SmallVector<Value> bs;
  for (Value buffer : op.getB())
    bs.push_back(view(buffer, /*hasRows=*/false));
  // A block behind the last row of its group adds up nothing.
  if (length) {
    Value hasRows =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, length);
    depth = arith::SelectOp::create(b, hasRows, k, index(0));
  }
  SmallVector<Value> zero(bs.size(), zeros());
  return forEach(index(0), depth, bk, zero, [&](Value i, ValueRange sums) {
    Value at = loadFactor(a, op.getTransposeA(), {"BM", "BK"}, row, i);
    SmallVector<Value> next;
    for (auto [bufferB, sum] : llvm::zip_equal(bs, sums)) {
      Value bt =
          loadFactor(bufferB, op.getTransposeB(), {"BK", "BN"}, i, column);
      next.push_back(DotOp::create(b, sumType, at, bt, sum, StringAttr(),
                                   DenseI64ArrayAttr(), op.getPrecisionAttr(),
                                   /*async=*/false));
    }
    return next;
  });
}

void MatmulBuilder::store(Value tile, Value buffer) {
  StoreOp::create(b, tile, view(buffer, /*hasRows=*/true),
                  ValueRange{row, column});
}

/// Writes the results: what the epilogue makes of the sums, or the sums.
void MatmulBuilder::finish(ArrayRef<Value> sums) {
  if (op.getEpilogue().empty()) {
    Value result = sums[0];
    Type stored = cast<BufferType>(op.getC()[0].getType()).getElementType();
    if (stored != sumType.getElementType())
      result = arith::TruncFOp::create(b, op.getTile(stored), result);
    return store(result, op.getC()[0]);
  }
  Block &epilogue = op.getEpilogue().front();
  SmallVector<Value> values(sums);
  values.append(batch);
  values.append({row, column});
  mapping.map(epilogue.getArguments(), values);
  for (Operation &inner : epilogue.without_terminator())
    if (!isa<ParamOp>(inner))
      b.clone(inner, mapping);
  for (auto [tile, buffer] : llvm::zip_equal(
           cast<YieldOp>(epilogue.getTerminator()).getValues(), op.getC()))
    store(mapping.lookup(tile), buffer);
}

void MatmulBuilder::build() {
  buildParams();
  launch();
  buildRequirements();
  if (kernel == MatmulKernel::Zero) {
    for (Value buffer : op.getSums())
      store(zeros(), buffer);
    return;
  }
  SmallVector<Value> sums;
  if (computesProduct())
    sums = multiply();
  if (kernel == MatmulKernel::Product) {
    for (auto [sum, buffer] : llvm::zip_equal(sums, op.getSums()))
      AtomicRMWOp::create(
          b,
          sumType.getElementType().isF32() ? arith::AtomicRMWKind::addf
                                           : arith::AtomicRMWKind::addi,
          sum, view(buffer, /*hasRows=*/true), ValueRange{row, column});
    return;
  }
  if (kernel == MatmulKernel::Epilogue)
    for (Value buffer : op.getSums())
      sums.push_back(LoadOp::create(b, sumType, view(buffer, /*hasRows=*/true),
                                    ValueRange{row, column}));
  finish(sums);
}

void tile::buildMatmul(ImplicitLocOpBuilder &builder, MatmulOp op,
                       const IRMapping &mapping, MatmulKernel kernel) {
  MatmulBuilder(builder, op, mapping, kernel).build();
}
