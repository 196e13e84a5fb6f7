//===- Pipelines.cpp - The whole way from tiles to LLVM -------------------===//

#include "tile/Pipelines/Pipelines.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tile/Conversion/GPUToLLVM/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Target/Passes.h"

using namespace mlir;

namespace tile {

static void attachTarget(OpPassManager &pm, const TileToLLVMOptions &options) {
  TileAttachTargetOptions target;
  target.chip = options.chip;
  pm.addPass(createTileAttachTarget(target));
}

void buildDeviceToLLVMPipeline(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createTileVerifyTarget());
  device.addPass(createTileLowerKernelABI());
  device.addPass(createTileLowerMath());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertNVGPUToNVVMPass());
  device.addPass(createTileGPUToLLVM());
  device.addPass(createReconcileUnrealizedCastsPass());
  TileVerifyTargetOptions verify;
  verify.llvmOnly = true;
  device.addPass(createTileVerifyTarget(verify));
}

void buildTileToNVVMPipeline(OpPassManager &pm,
                             const TileToNVVMOptions &options) {
  attachTarget(pm, options);
  buildDeviceToLLVMPipeline(pm);
}

void buildTileToROCDLPipeline(OpPassManager &pm,
                              const TileToROCDLOptions &options) {
  attachTarget(pm, options);
  buildDeviceToLLVMPipeline(pm);
}

void registerPipelines() {
  PassPipelineRegistration<TileToNVVMOptions>(
      "tile-to-nvvm", "Lower tiles to the LLVM and NVVM dialects",
      buildTileToNVVMPipeline);
  PassPipelineRegistration<TileToROCDLOptions>(
      "tile-to-rocdl", "Lower tiles to the LLVM and ROCDL dialects",
      buildTileToROCDLPipeline);
}

} // namespace tile
