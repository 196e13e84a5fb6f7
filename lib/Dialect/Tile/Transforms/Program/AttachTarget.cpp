//===- AttachTarget.cpp - The target chip of a module ---------------------===//

#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

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

bool tile::runsCopiesAhead(KernelOp kernel, const Chip &chip) {
  if (chip.asyncCopy.mechanism == AsyncCopy::None)
    return false;
  return chip.asyncCopy.isDefault || getSchedule(kernel).stages ||
         containsOp<scf::ForOp>(kernel, [](scf::ForOp loop) {
           return getSchedule(loop).stages.has_value();
         });
}

/// Returns the instruction that the author of `dot` names, by its attribute or
/// by the layout of its accumulator; empty if there is none.
static StringRef getNamedInstruction(DotOp dot) {
  if (std::optional<StringRef> name = dot.getInstruction())
    return *name;
  auto mma = dyn_cast_or_null<MmaAttr>(getLayoutAttr(dot.getTile()));
  return mma ? mma.getInstruction().getValue() : StringRef();
}

/// Checks the instructions that dots name, before any pass has multiplied the
/// dots: one error for each wrong instruction, at the first dot that names it.
static LogicalResult verifyNamedInstructions(ModuleOp module,
                                             const Chip &chip) {
  llvm::MapVector<StringRef, InFlightDiagnostic> errors;
  module.walk([&](DotOp dot) {
    StringRef name = getNamedInstruction(dot);
    if (name.empty() || llvm::is_contained(chip.mma, name))
      return;
    if (auto error = errors.find(name); error != errors.end()) {
      error->second.attachNote(dot.getLoc()) << "also named here";
      return;
    }
    InFlightDiagnostic diag = dot.emitOpError()
                              << "names the matrix instruction \"" << name
                              << "\", which " << chip.name
                              << " does not have; it has ";
    llvm::interleaveComma(chip.mma, diag);
    errors.insert({name, std::move(diag)});
  });
  return success(errors.empty());
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
    const Chip *target = getTargetChip(module);
    if (!target || failed(verifyNamedInstructions(module, *target)))
      signalPassFailure();
  }
};
} // namespace
