//===- MmaChoice.cpp - The matrix instruction of a product ----------------===//

#include "MmaChoice.h"

using namespace mlir;
using namespace tile;

FailureOr<MmaAttr> tile::chooseMma(DotOp dot, int64_t numWarps,
                                   const Chip &chip) {
  auto acc = cast<RankedTensorType>(dot.getType());
  auto a = cast<RankedTensorType>(dot.getA().getType());
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
