//===- MmaChoice.cpp - The matrix instruction of a product ----------------===//

#include "MmaChoice.h"

using namespace mlir;
using namespace tile;

bool tile::canReadShared(DotOp dot, unsigned index) {
  Value operand = dot->getOperand(index);
  while (auto transpose = operand.getDefiningOp<TransposeOp>())
    operand = transpose.getSource();
  LayoutAttrInterface layout = getLayoutAttr(operand.getType());
  if (auto buffer = dyn_cast<BufferType>(operand.getType()))
    layout = buffer.getLayout();
  if (layout && layout.getFamily() == LayoutFamily::Memory)
    return isa<SwizzleAttr>(layout);
  return cast<ShapedType>(operand.getType()).getDimSize(1) * 2 % 32 == 0;
}

FailureOr<MmaAttr> tile::chooseMma(DotOp dot, int64_t numWarps,
                                   const Chip &chip) {
  auto acc = cast<RankedTensorType>(dot.getType());
  auto a = cast<ShapedType>(dot.getA().getType());
  if (auto pinned = dyn_cast_or_null<MmaAttr>(acc.getEncoding()))
    return pinned;
  MmaElement operand =
      a.getElementType().isF16() ? MmaElement::F16 : MmaElement::BF16;
  for (StringLiteral name : chip.mma) {
    const Mma *mma = findMma(name);
    if (mma->operand != operand ||
        (dot.getInstruction() && *dot.getInstruction() != name))
      continue;
    if (a.getDimSize(1) % mma->k != 0)
      continue;
    // Warps along rows as far as they go: reductions along a row then stay
    // within a warp.
    int64_t rows = numWarps;
    while (rows > 1 &&
           (acc.getDimSize(0) % (mma->m * rows) != 0 || numWarps % rows != 0))
      --rows;
    int64_t columns = numWarps / rows;
    if (acc.getDimSize(0) % (mma->m * rows) != 0 ||
        acc.getDimSize(1) % (mma->n * columns) != 0)
      continue;
    if (mma->warps > 1 &&
        (rows % mma->warps != 0 || columns != 1 || !canReadShared(dot, 1)))
      continue;
    return MmaAttr::get(dot.getContext(),
                        StringAttr::get(dot.getContext(), mma->name),
                        {rows, columns}, mma->preferTransposed);
  }
  InFlightDiagnostic diag = dot.emitOpError()
                            << "no matrix instruction of " << chip.name
                            << " divides the product " << acc.getDimSize(0)
                            << "x" << acc.getDimSize(1) << "x"
                            << a.getDimSize(1) << " of " << a.getElementType()
                            << " among " << numWarps << " warps";
  if (dot.getInstruction())
    diag << " with the instruction \"" << *dot.getInstruction() << '"';
  for (StringLiteral name : chip.mma)
    if (const Mma *mma = findMma(name); mma->operand == operand)
      diag.attachNote() << name << " computes " << mma->m << "x" << mma->n
                        << "x" << mma->k;
  return diag;
}
