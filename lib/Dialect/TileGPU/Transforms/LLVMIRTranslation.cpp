//===- LLVMIRTranslation.cpp - tile_gpu to LLVM IR ------------------------===//

#include "tile/Dialect/TileGPU/Transforms/LLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;

namespace {
struct TileGPUTranslation : LLVMTranslationDialectInterface {
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;

  LogicalResult convertOperation(Operation *op, llvm::IRBuilderBase &,
                                 LLVM::ModuleTranslation &) const final {
    return success(isa<tile::gpu::ManifestOp>(op));
  }
};
} // namespace

void tile::registerTileGPUDialectTranslation(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, tile::gpu::TileGPUDialect *dialect) {
    dialect->addInterfaces<TileGPUTranslation>();
  });
}
