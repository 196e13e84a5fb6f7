//===- TileMatmulOps.cpp - The named matrix product -----------------------===//

#include "NamedExtents.h"
#include "VerifyTiles.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;

int64_t MatmulOp::getBatchRank() {
  int64_t rank = 0;
  auto raise = [&](ValueRange buffers) {
    for (Value buffer : buffers)
      rank = std::max(rank, cast<BufferType>(buffer.getType()).getRank() - 2);
  };
  raise(getA());
  raise(getB());
  raise(getC());
  return rank;
}

Type MatmulOp::getSumType() {
  Builder builder(getContext());
  return getA().getType().getElementType().isInteger()
             ? Type(builder.getI32Type())
             : builder.getF32Type();
}

RankedTensorType MatmulOp::getTile(Type element) {
  Builder builder(getContext());
  auto open = OpenAttr::get(
      getContext(), {builder.getStringAttr("BM"), builder.getStringAttr("BN")});
  return RankedTensorType::get({kDynamic, kDynamic}, element, open);
}

/// Returns the names of the operands `values` in messages.
static SmallVector<std::string> nameOperands(StringRef name,
                                             ValueRange values) {
  SmallVector<std::string> names;
  for (size_t i = 0; i < values.size(); ++i)
    names.push_back(values.size() == 1 ? name.str()
                                       : (name + "[" + Twine(i) + "]").str());
  return names;
}

SmallVector<NamedExtent> MatmulOp::getNamedExtents() {
  SmallVector<NamedExtent> extents;
  auto add = [&](StringRef name, Value buffer, int64_t dim, MatmulExtent kind,
                 StringRef kindName) {
    extents.push_back({name.str(), buffer, dim, unsigned(kind), kindName});
  };
  auto addMatrix = [&](StringRef name, Value buffer, bool isTransposed,
                       std::pair<MatmulExtent, StringRef> rows,
                       std::pair<MatmulExtent, StringRef> columns) {
    int64_t batches = cast<BufferType>(buffer.getType()).getRank() - 2;
    for (int64_t i = 0; i < batches; ++i)
      add(name, buffer, i, MatmulExtent(unsigned(MatmulExtent::Batch) + i),
          getEnds() || getCounts() ? "number of groups" : "batch");
    add(name, buffer, batches + isTransposed, rows.first, rows.second);
    add(name, buffer, batches + !isTransposed, columns.first, columns.second);
  };
  std::pair<MatmulExtent, StringRef> m{MatmulExtent::Rows, "M"},
      n{MatmulExtent::Columns, "N"}, k{MatmulExtent::Depth, "K"};
  addMatrix("a", getA(), getTransposeA(), m, k);
  for (auto [name, buffer] : llvm::zip(nameOperands("b", getB()), getB()))
    addMatrix(name, buffer, getTransposeB(), k, n);
  for (auto [name, buffer] : llvm::zip(nameOperands("c", getC()), getC()))
    addMatrix(name, buffer, /*isTransposed=*/false, m, n);
  for (auto [name, buffer] :
       llvm::zip(nameOperands("sums", getSums()), getSums())) {
    addMatrix(name, buffer, /*isTransposed=*/false, m, n);
    extents.end()[-2].mayExceed = extents.back().mayExceed = true;
  }
  if (getEnds())
    add("ends", getEnds(), 0, MatmulExtent::Batch, "number of groups");
  if (getCounts())
    add("counts", getCounts(), 0, MatmulExtent::Batch, "number of groups");
  return extents;
}

/// Verifies the ranks of the buffers.
static LogicalResult verifyRanks(MatmulOp op) {
  int64_t batchRank = op.getBatchRank();
  auto verify = [&](const Twine &name, Value buffer,
                    ArrayRef<int64_t> ranks) -> LogicalResult {
    auto type = cast<BufferType>(buffer.getType());
    if (!type.isShared() && llvm::is_contained(ranks, type.getRank()))
      return success();
    InFlightDiagnostic diag = op.emitOpError()
                              << name << " must be a global buffer of rank ";
    llvm::interleave(ranks, diag, " or ");
    return diag << ", got " << type;
  };
  SmallVector<int64_t> operand{2}, result{batchRank + 2};
  if (batchRank != 0)
    operand.push_back(batchRank + 2);
  SmallVector<int64_t> left = operand, right = operand;
  if (op.getEnds() || op.getCounts()) {
    right = {3};
    left = result = {op.getEnds() ? 2 : 3};
  }
  if (failed(verify("a", op.getA(), left)))
    return failure();
  for (Value buffer : op.getB())
    if (failed(verify("b", buffer, right)))
      return failure();
  for (Value buffer : op.getC())
    if (failed(verify("c", buffer, result)))
      return failure();
  for (Value buffer : op.getSums())
    if (failed(verify("a buffer of sums", buffer, result)))
      return failure();
  return success();
}

/// Verifies the types of the elements.
static LogicalResult verifyElements(MatmulOp op) {
  Type element = op.getA().getType().getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isInteger(8))
    return op.emitOpError()
           << "a must have f16, bf16, f32 or i8 elements, got " << element;
  for (Value buffer : op.getB())
    if (Type other = cast<BufferType>(buffer.getType()).getElementType();
        other != element)
      return op.emitOpError() << "b must have the elements of a, " << element
                              << ", got " << other;
  if (element.isF32() && !op.getPrecision())
    return op.emitOpError(
        "multiplies f32, which needs precision(tf32) or precision(bf16x3)");
  if (!element.isF32() && op.getPrecision())
    return op.emitOpError()
           << "has a precision, which is for f32, not for " << element;
  for (Value buffer : op.getSums())
    if (Type other = cast<BufferType>(buffer.getType()).getElementType();
        other != op.getSumType())
      return op.emitOpError() << "buffers of sums must have " << op.getSumType()
                              << " elements, got " << other;
  if (!op.getEpilogue().empty())
    return success();
  for (Value buffer : op.getC()) {
    Type stored = cast<BufferType>(buffer.getType()).getElementType();
    if (element.isInteger()
            ? !stored.isInteger(32)
            : !stored.isF16() && !stored.isBF16() && !stored.isF32())
      return op.emitOpError()
             << "without an epilogue, c must have "
             << (element.isInteger() ? "i32" : "f16, bf16 or f32")
             << " elements, got " << stored;
  }
  return success();
}

LogicalResult MatmulOp::verify() {
  if (getB().empty())
    return emitOpError("needs a b");
  if (getEnds() && getCounts())
    return emitOpError("has groups with both ends and counts");
  for (auto [name, buffer] : {std::pair<StringRef, Value>("ends", getEnds()),
                              {"counts", getCounts()}}) {
    if (!buffer)
      continue;
    auto type = cast<BufferType>(buffer.getType());
    if (type.isShared() || type.getRank() != 1 ||
        !type.getElementType().isInteger(32))
      return emitOpError() << name << " must be a global i32 buffer of rank 1, "
                           << "got " << type;
  }
  if (getEnds() && getTransposeA())
    return emitOpError("cannot have ends with transpose_a: groups are ranges "
                       "of the rows of a");
  if (failed(verifyRanks(*this)) || failed(verifyElements(*this)))
    return failure();
  if (getEpilogue().empty() && (getB().size() != 1 || getC().size() != 1))
    return emitOpError() << "without an epilogue, needs one b and one c, got "
                         << getB().size() << " and " << getC().size();
  if (!getSums().empty()) {
    if (getSums().size() != getB().size())
      return emitOpError() << "needs a buffer of sums for each b, "
                           << getB().size() << ", got " << getSums().size();
    if (getEnds() || getCounts())
      return emitOpError("cannot add sums of groups atomically");
  }
  for (NamedAttribute attribute : (*this)->getDiscardableAttrs())
    if (!attribute.getNameDialect())
      return emitOpError() << "has no attribute '"
                           << attribute.getName().getValue() << "'";
  if (ScheduleAttr schedule = getScheduleAttr()) {
    SmallVector<StringRef> fields(KernelOp::getScheduleFields());
    fields.push_back("warps");
    if (failed(verifyFields("a product", fields, schedule.getFields(),
                            [&] { return emitOpError(); })))
      return failure();
  }
  return verifyNamedExtents(*this, getNamedExtents());
}

LogicalResult MatmulOp::verifyRegions() {
  if (getEpilogue().empty())
    return success();
  Block &block = getEpilogue().front();
  SmallVector<Type> expected(getB().size(), getTile(getSumType()));
  int64_t indices = (getEnds() ? 1 : getBatchRank()) + 2;
  expected.append(indices, IndexType::get(getContext()));
  if (failed(verifyArguments(*this, "an epilogue", block, expected)))
    return failure();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError("needs an epilogue that ends with tile.yield");
  if (yield.getValues().size() != getC().size())
    return yield.emitOpError() << "gives " << yield.getValues().size()
                               << " tiles for " << getC().size() << " results";
  for (auto [tile, buffer] : llvm::zip_equal(yield.getValues(), getC())) {
    Type type = getTile(cast<BufferType>(buffer.getType()).getElementType());
    if (tile.getType() != type)
      return yield.emitOpError() << "gives a tile of type " << tile.getType()
                                 << "; expected " << type;
  }
  return success();
}
