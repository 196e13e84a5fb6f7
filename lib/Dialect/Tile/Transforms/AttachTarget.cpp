//===- AttachTarget.cpp - The target chip of a module ---------------------===//

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEATTACHTARGET
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

const Chip *tile::getTargetChip(Operation *op) {
  ModuleOp module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto name = module
                  ? module->getAttrOfType<StringAttr>(TileDialect::kTargetAttr)
                  : StringAttr();
  if (!name) {
    op->emitError() << "no target chip: set " << TileDialect::kTargetAttr
                    << " on the module (pass tile-attach-target)";
    return nullptr;
  }
  const Chip *chip = findChip(name.getValue());
  if (!chip)
    op->emitError() << "unknown target chip " << name
                    << "; tile-translate --chip=help lists the chips";
  return chip;
}

namespace {
struct AttachTarget : tile::impl::TileAttachTargetBase<AttachTarget> {
  using TileAttachTargetBase::TileAttachTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto present = module->getAttrOfType<StringAttr>(TileDialect::kTargetAttr);
    if (!chip.empty()) {
      if (present && present.getValue() != chip) {
        module.emitError() << "is made for " << present
                           << " and cannot be compiled for \"" << chip << '"';
        return signalPassFailure();
      }
      module->setAttr(TileDialect::kTargetAttr,
                      StringAttr::get(&getContext(), chip));
    }
    if (!getTargetChip(module))
      signalPassFailure();
  }
};
} // namespace
