//===- ProjectTile.cpp - Tiles that vary along one dimension --------------===//

#include "ProjectTile.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

static bool isScalar(Value value) {
  return !isa<RankedTensorType>(value.getType());
}

static TileDims without(const TileDims &dims, unsigned position) {
  TileDims result = dims;
  result.erase(result.begin() + position);
  return result;
}

/// Returns true for an operation that computes each element of its result from
/// the elements at the same place.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 && isPure(op);
}

RankedTensorType TileProjection::getRowType(unsigned dim, Type element) {
  return RankedTensorType::get(
      {parent.getDimSize(dim)}, element,
      SliceAttr::get(parent.getContext(), 1 - dim, getLayoutAttr(parent)));
}

unsigned TileProjection::getVariance(Value value, const TileDims &dims,
                                     unsigned depth) {
  Operation *op = value.getDefiningOp();
  SplatElementsAttr elements;
  if (isScalar(value) || isa_and_present<tensor::SplatOp>(op) ||
      matchPattern(value, m_Constant(&elements)))
    return 0;
  unsigned all = 0;
  for (unsigned dim : dims)
    all |= 1u << dim;
  if (!op || depth == 0)
    return all;
  if (auto iota = dyn_cast<IotaOp>(op))
    return 1u << dims[iota.getDim()];
  auto [it, isNew] = variances.try_emplace({value, all}, all);
  if (!isNew)
    return it->second;
  unsigned result = all;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    result = getVariance(broadcast.getSource(),
                         without(dims, broadcast.getDim()), depth - 1);
  } else if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    result = getVariance(convert.getSource(), dims, depth - 1);
  } else if (isElementwise(op)) {
    result = 0;
    for (Value operand : op->getOperands())
      result |= getVariance(operand, dims, depth - 1);
  }
  variances[{value, all}] = result;
  return result;
}

bool TileProjection::canProject(Value value, const TileDims &dims,
                                std::optional<unsigned> dim, unsigned depth) {
  if (isScalar(value))
    return true;
  unsigned variance = getVariance(value, dims);
  if (variance & ~(dim ? 1u << *dim : 0u))
    return false;
  auto type = cast<RankedTensorType>(value.getType());
  if (dim && type == getRowType(*dim, type.getElementType()) && dims[0] == *dim)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<tensor::SplatOp, IotaOp, arith::ConstantOp>(op))
    return true;
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return canProject(broadcast.getSource(), without(dims, broadcast.getDim()),
                      dim, depth - 1);
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return canProject(convert.getSource(), dims, dim, depth - 1);
  return isElementwise(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return canProject(operand, dims, dim, depth - 1);
         });
}

Value TileProjection::project(OpBuilder &builder, Value value,
                              const TileDims &dims,
                              std::optional<unsigned> dim) {
  if (isScalar(value))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  if (dim && type == getRowType(*dim, element) && dims[0] == *dim)
    return value;
  Location loc = value.getLoc();
  if (dim && getVariance(value, dims) == 0)
    return tensor::SplatOp::create(builder, loc, getRowType(*dim, element),
                                   project(builder, value, dims, std::nullopt));
  Operation *op = value.getDefiningOp();
  if (SplatElementsAttr elements; matchPattern(value, m_Constant(&elements)))
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return splat.getInput();
  if (isa<IotaOp>(op))
    return IotaOp::create(builder, loc, getRowType(*dim, element), 0);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return project(builder, broadcast.getSource(),
                   without(dims, broadcast.getDim()), dim);
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return project(builder, convert.getSource(), dims, dim);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(project(builder, operand, dims, dim));
  Type result = dim ? Type(getRowType(*dim, element)) : element;
  OperationState state(loc, op->getName(), operands, result, op->getAttrs());
  return builder.create(state)->getResult(0);
}
