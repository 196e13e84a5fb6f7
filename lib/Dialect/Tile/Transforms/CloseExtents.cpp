//===- CloseExtents.cpp - Values of open extents --------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILECLOSEEXTENTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns the tile of `type`, which has open extents, for these values of the
/// parameters.
static RankedTensorType closeType(RankedTensorType type,
                                  DictionaryAttr values) {
  SmallVector<int64_t> shape;
  for (const TileExtent &extent : getExtents(type))
    shape.push_back(extent.name
                        ? values.getAs<IntegerAttr>(extent.name).getInt()
                        : extent.number);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Verifies the sizes of the tiles of `kernel` for these values.
static LogicalResult verifySizes(KernelOp kernel, DictionaryAttr values) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (!isOpenTile(type))
        continue;
      RankedTensorType tile = closeType(cast<RankedTensorType>(type), values);
      auto emitError = [&] {
        return op->emitOpError()
               << "has the type " << type << " and, with "
               << describeNumbers(values) << ", " << tile << ": ";
      };
      if (failed(verifyTileShape(tile.getShape(), emitError)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Replaces the parameters of `kernel` by `values` in types and operations.
static void closeExtents(KernelOp kernel, DictionaryAttr values) {
  IRRewriter rewriter(kernel.getContext());
  for (ParamOp param : getParams(kernel)) {
    rewriter.setInsertionPoint(param);
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(
        param, values.getAs<IntegerAttr>(param.getParameterAttr()).getInt());
  }
  kernel.walk([&](tensor::SplatOp splat) {
    if (!isOpenTile(splat.getType()))
      return;
    rewriter.setInsertionPoint(splat);
    rewriter.replaceOpWithNewOp<tensor::SplatOp>(
        splat, closeType(splat.getType(), values), splat.getInput());
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    return isOpenTile(type) ? closeType(type, values) : type;
  });
  replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

namespace {
struct CloseExtents : tile::impl::TileCloseExtentsBase<CloseExtents> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    SmallVector<ParamOp, 4> params = getParams(kernel);
    if (params.empty())
      return markAllAnalysesPreserved();
    // The schedule may come from an option.
    if (failed(verifyOpenExtents(kernel)))
      return signalPassFailure();
    Schedule schedule = getSchedule(kernel);
    DictionaryAttr values =
        schedule.params.value_or(DictionaryAttr::get(&getContext()));
    for (ParamOp param : params)
      if (!values.contains(param.getParameterAttr())) {
        param.emitOpError() << "leaves '" << param.getParameter()
                            << "' open; give it a value, for example "
                               "--schedule='params = {"
                            << param.getParameter() << " = "
                            << param.getValues().front() << "}'";
        return signalPassFailure();
      }
    if (failed(verifySizes(kernel, values)))
      return signalPassFailure();
    closeExtents(kernel, values);
    kernel.setExtentsAttr(values);
    schedule.params.reset();
    setSchedule(kernel, schedule);
    if (failed(verify(kernel)))
      signalPassFailure();
  }
};
} // namespace
