//===- ExpandMaskedLoads.cpp - Loads of first elements --------------------===//

#include "../Access/VectorAccess.h"
#include "tile/Conversion/TileToGPU/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDMASKEDLOADS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Replaces a load of the first `count` elements by branches.
static void expand(vector::MaskedLoadOp load, Value count) {
  Emitter b(load.getLoc(), load.getContext());
  b.setInsertionPoint(load);
  VectorType type = load.getVectorType();
  auto single = VectorType::get({1}, type.getElementType());
  Value memory = load.getBase(), offset = load.getIndices().front();
  SmallVector<Value> result = emitFirstElements(
      b, type, type.getNumElements(), count,
      [&] { return SmallVector<Value>{loadVector(b, memory, offset, type)}; },
      [&](int64_t element) {
        return SmallVector<Value>{
            loadVector(b, memory, b.add(offset, element), single)};
      });
  load.replaceAllUsesWith(result.front());
  load.erase();
}

/// Replaces a load of a row by a branch for each element.
static void expand(vector::GatherOp gather, const RowLoad &row) {
  Emitter b(gather.getLoc(), gather.getContext());
  b.setInsertionPoint(gather);
  VectorType type = gather.getVectorType();
  auto single = VectorType::get({1}, type.getElementType());
  Value left = arith::SubIOp::create(b, row.count, row.place);
  Value place = b.add(row.offset, b.toIndex(row.place));
  SmallVector<Value> parts;
  for (int64_t distance : row.distances) {
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left,
                                         b.i32(distance));
    llvm::append_range(parts, b.emitIf(exists, {single}, [&] {
      Value offset = b.add(place, distance);
      return SmallVector<Value>{loadVector(b, row.memory, offset, single)};
    }));
  }
  gather.replaceAllUsesWith(b.join(type, parts));
  gather.erase();
}

namespace {
struct ExpandMaskedLoads
    : tile::impl::TileExpandMaskedLoadsBase<ExpandMaskedLoads> {
  using TileExpandMaskedLoadsBase::TileExpandMaskedLoadsBase;

  void runOnOperation() override {
    SmallVector<vector::MaskedLoadOp> loads;
    getOperation()->walk([&](vector::MaskedLoadOp load) {
      if (load.getIndices().size() == 1 &&
          load.getVectorType().getRank() == 1 && getLoadedCount(load))
        loads.push_back(load);
    });
    SmallVector<vector::GatherOp> gathers;
    getOperation()->walk(
        [&](vector::GatherOp gather) { gathers.push_back(gather); });
    for (vector::GatherOp gather : gathers)
      if (std::optional<RowLoad> row = matchRowLoad(gather))
        expand(gather, *row);
    for (vector::MaskedLoadOp load : loads) {
      Value mask = load.getMask();
      expand(load, getLoadedCount(load));
      if (mask.use_empty())
        mask.getDefiningOp()->erase();
    }
  }
};
} // namespace
