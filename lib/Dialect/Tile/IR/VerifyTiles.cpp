//===- VerifyTiles.cpp - Checks that several verifiers share --------------===//

#include "VerifyTiles.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

LogicalResult tile::verifyDimension(Operation *op, int64_t dim,
                                    RankedTensorType tile) {
  if (dim < tile.getRank())
    return success();
  return op->emitOpError() << "dimension " << dim
                           << " does not exist in a tile of rank "
                           << tile.getRank();
}

LogicalResult tile::verifyArguments(Operation *op, StringRef region,
                                    Block &block, TypeRange expected) {
  if (TypeRange(block.getArguments()) == expected)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "needs " << region
                            << " with arguments of the types ";
  llvm::interleaveComma(expected, diag);
  diag << "; got ";
  llvm::interleaveComma(block.getArgumentTypes(), diag);
  return diag;
}

LogicalResult tile::verifyBothLaidOut(Operation *op, Type first, Type second) {
  if (!getLayoutAttr(first) == !getLayoutAttr(second))
    return success();
  return op->emitOpError() << "mixes a tile with a layout and one without";
}

LogicalResult tile::verifyInRegisters(Operation *op, RankedTensorType first,
                                      RankedTensorType second) {
  for (RankedTensorType type : {first, second})
    if (!getLayoutAttr(type) || isSharedTile(type))
      return op->emitOpError()
             << "needs tiles that are laid out in registers, got " << type;
  if (first.getElementType() != second.getElementType())
    return op->emitOpError()
           << "element types differ: " << first.getElementType() << " and "
           << second.getElementType();
  return success();
}

LogicalResult tile::verifyCombination(Operation *op, arith::AtomicRMWKind kind,
                                      int64_t dim, RankedTensorType source,
                                      RankedTensorType other) {
  if (failed(verifyReductionKind(op, kind, source.getElementType())) ||
      failed(verifyDimension(op, dim, source)))
    return failure();
  return verifyInRegisters(op, source, other);
}

LogicalResult tile::verifySameLayout(Operation *op, const Layout &expected,
                                     const Layout &actual, StringRef what) {
  if (expected.equivalent(actual))
    return success();
  InFlightDiagnostic diag = op->emitOpError() << what;
  if (expected.family() != LayoutFamily::Distributed ||
      actual.family() != LayoutFamily::Distributed)
    return diag;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (expected.axisSize(axis) != actual.axisSize(axis)) {
      static constexpr StringLiteral names[] = {"registers", "lanes", "warps"};
      return diag << ": expected " << expected.axisSize(axis) << ' '
                  << names[axis] << ", got " << actual.axisSize(axis);
    }
  auto describe = [](ArrayRef<int64_t> coordinates) {
    return '(' +
           llvm::join(llvm::map_range(coordinates,
                                      [](int64_t number) {
                                        return std::to_string(number);
                                      }),
                      ", ") +
           ')';
  };
  for (int64_t warp = 0; warp < expected.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < expected.axisSize(kLane); ++lane)
      for (int64_t reg = 0; reg < expected.axisSize(kRegister); ++reg) {
        auto want = expected.element(reg, lane, warp);
        auto have = actual.element(reg, lane, warp);
        if (want != have)
          return diag << ": register " << reg << " of lane " << lane
                      << ", warp " << warp << " holds element "
                      << describe(have) << ", expected " << describe(want);
      }
  return diag;
}

LogicalResult tile::verifyReductionKind(Operation *op,
                                        arith::AtomicRMWKind kind,
                                        Type element) {
  bool isFloatKind = false;
  switch (kind) {
  case arith::AtomicRMWKind::addf:
  case arith::AtomicRMWKind::mulf:
  case arith::AtomicRMWKind::maximumf:
  case arith::AtomicRMWKind::minimumf:
  case arith::AtomicRMWKind::maxnumf:
  case arith::AtomicRMWKind::minnumf:
    isFloatKind = true;
    break;
  case arith::AtomicRMWKind::assign:
    return op->emitOpError("kind assign is not a reduction");
  default:
    break;
  }
  if (isFloatKind != isa<FloatType>(element))
    return op->emitOpError() << "kind " << stringifyEnum(kind)
                             << " does not apply to " << element;
  return success();
}
