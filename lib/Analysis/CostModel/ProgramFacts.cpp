//===- ProgramFacts.cpp - What candidates have in common ------------------===//

#include "ProgramFacts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tile/Analysis/CostModel.h"
#include "tile/Analysis/Registers.h"
#include "tile/Dialect/Tile/IR/Contains.h"

using namespace mlir;
using namespace tile;

/// Returns true if `value` is loaded, gathered or stored by single elements.
static bool isAccessedByElements(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<LoadOp>(op))
    return hasSingleAccesses(load.getBuffer().getType());
  if (auto gather = dyn_cast_or_null<GatherOp>(op))
    return hasSingleAccesses(gather.getBuffer().getType());
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto store = dyn_cast<StoreOp>(user);
    return store && hasSingleAccesses(store.getBuffer().getType());
  });
}

std::optional<RegisterTile> tile::getRegisterTile(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (op &&
      (isa<BroadcastOp, TransposeOp>(op) ||
       tile.getElementType().isInteger(1) || isFunctionOfCoordinates(value)))
    return std::nullopt;
  if (op && isa<LoadOp>(op) && feedsOnlyProducts(value))
    return std::nullopt;
  // Each element that is accessed alone comes from a branch of its own, or goes
  // to one.
  int64_t least = isAccessedByElements(value) ? 32 : 16;
  return RegisterTile{tile,
                      std::max<int64_t>(tile.getElementTypeBitWidth(), least)};
}

ProgramFacts::ProgramFacts(KernelOp kernel)
    : hasProducts(containsOp(kernel, llvm::IsaPred<DotOp>)) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isFromData =
        isa<LoadScalarOp, tensor::ExtractOp>(op) ||
        (!isa<DimOp>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
          return dependsOnData(operand);
        }));
    if (isFromData)
      fromData.insert_range(op->getResults());
    if (isMaskOfCoordinates(op))
      masks.insert(op);
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (hasSingleAccesses(load.getBuffer().getType()))
        loadsElements = true;
      else if (auto tile = dyn_cast<RankedTensorType>(load.getType()))
        wideTiles.insert(tile);
    }
    for (Value result : op->getResults())
      if (auto tile = dyn_cast<RankedTensorType>(result.getType())) {
        tiles.insert(tile);
        if (!feedsOnlyProducts(result))
          heldTiles.insert(tile);
      }
  });
  findLive(kernel.getBody().front(), {});
}

/// Adds the places of `block`, behind which `live` is live. Values from outside
/// of a loop are live in all of it.
void ProgramFacts::findLive(Block &block, llvm::SetVector<Value> live) {
  ElementwiseRuns runs(block, !hasProducts);
  for (Operation &op : llvm::reverse(block)) {
    for (Value result : op.getResults())
      live.remove(result);
    // Elementwise operations overwrite operands that are not needed any more.
    live.insert_range(op.getOperands());
    for (Region &region : op.getRegions()) {
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!region.isAncestor(operand.getParentRegion()))
            live.insert(operand);
      });
      for (Block &inner : region)
        findLive(inner, live);
    }
    if (runs.isInsideBefore(&op))
      continue;
    std::vector<unsigned> place;
    for (Value value : live)
      if (std::optional<RegisterTile> tile = getRegisterTile(value)) {
        auto known = llvm::find(registerTiles, *tile);
        place.push_back(known - registerTiles.begin());
        if (known == registerTiles.end())
          registerTiles.push_back(*tile);
      }
    llvm::sort(place);
    if (!llvm::is_contained(places, place))
      places.push_back(std::move(place));
  }
}
