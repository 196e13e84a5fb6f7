//===- Pipelines.cpp - Pipelines from tiles to LLVM -----------------------===//

#include "tile/Pipelines/Pipelines.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "tile/Conversion/GPUToLLVM/Passes.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Conversion/TileToNVGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/Transforms/Passes.h"
#include "tile/Kernels/Attention/Passes.h"
#include "tile/Kernels/Matmul/Passes.h"

using namespace mlir;

namespace tile {

/// Returns the canonicalizer of the program of one thread. The pattern that it
/// leaves out compares each scf.if with all others around it, which takes most
/// of the time of a compilation with thousands of bounded accesses.
static std::unique_ptr<Pass> createDeviceCanonicalizer() {
  GreedyRewriteConfig config;
  // The defaults of -canonicalize.
  config.setUseTopDownTraversal(true);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  return createCanonicalizerPass(
      config, /*disabledPatterns=*/
      {"(anonymous namespace)::RemoveDuplicateSuccessorInputUses"});
}

/// Adds the passes from S0 to S5 that all vendors share.
static void buildTileToDevicePipeline(OpPassManager &pm,
                                      const TileToLLVMOptions &options) {
  TileAttachTargetOptions target;
  target.chip = options.chip;
  pm.addPass(createTileAttachTarget(target));
  pm.addPass(createTileExpandMatmul());
  pm.addPass(createTileInlineCalls());
  if (!options.assertions)
    pm.addPass(createTileStripAssertions());
  TileApplyScheduleOptions apply;
  apply.schedule = options.schedule;
  pm.addPass(createTileApplySchedule(apply));
  pm.addNestedPass<KernelOp>(createTileExpandProducts());
  pm.addNestedPass<KernelOp>(createTileSwapOperands());
  TileCloseExtentsOptions close;
  close.sizes = options.sizes;
  close.candidates = options.candidates;
  close.schedules = options.schedules;
  pm.addNestedPass<KernelOp>(createTileCloseExtents(close));
  pm.addNestedPass<KernelOp>(createTileExpandOperations());
  // The products that other operations became.
  pm.addNestedPass<KernelOp>(createTileExpandProducts());
  TileExpandAttentionOptions expand;
  expand.schedules = options.schedules;
  pm.addPass(createTileExpandAttention(expand));
  pm.addNestedPass<KernelOp>(createTileOrderBlocks());
  pm.addPass(createTileSplitReduction());
  pm.addPass(createTileVerifyPrerequisites());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createTileChooseAccumulators());
  OpPassManager &kernel = pm.nest<KernelOp>();
  kernel.addPass(createTilePadExtents());
  kernel.addPass(createTileSchedule());
  kernel.addPass(createTileSplitMaskedLoops());
  kernel.addPass(createTileAssignLayouts());
  kernel.addPass(createCSEPass());
  kernel.addPass(createTileJoinComparisons());
  kernel.addPass(createCSEPass());
  kernel.addPass(createTileDeferReductions());
  TilePersistOptions persist;
  persist.withoutProducts = true;
  kernel.addPass(createTilePersist(persist));
  kernel.addPass(createTileLoadAhead());
  kernel.addPass(createTileCheckRegisters());
  kernel.addPass(createTileJoinReductions());
  kernel.addPass(createTileDecomposeReductions());
  kernel.addPass(createTileDecomposeConversions());
  kernel.addPass(createCSEPass());
  kernel.addPass(createTileRepeatReads());
  kernel.addPass(createTileBufferize());
  kernel.addPass(createTileChooseRoles());
  kernel.addPass(createTilePersist());
  kernel.addPass(createTileDelayProducts());
  kernel.addPass(createTileSpecializeWarps());
  kernel.addPass(createTileOverlapDots());
  kernel.addPass(createTileStageStores());
  kernel.addPass(createTilePipeline());
  kernel.addPass(createTileLowerRings());
  kernel.addPass(createTileAlternateBuffers());
  kernel.addPass(createTilePlanSharedMemory());
  kernel.addPass(createTileInsertBarriers());
  kernel.addPass(createTileScaleAfterReduction());
  pm.addPass(createTileVectorize());
  OpPassManager &device = pm.nest<mlir::gpu::GPUModuleOp>();
  device.addPass(createTileFormClusters());
  device.addPass(createTileCopyAhead());
  device.addPass(createTileExpandMaskedLoads());
  device.addPass(createDeviceCanonicalizer());
  device.addPass(createCSEPass());
  device.addPass(createLoopInvariantCodeMotionPass());
  device.addPass(createTileLoadBeforeWaits());
  device.addPass(createTileSplitElementwiseRuns());
  device.addPass(createTileSkipMasks());
  device.addPass(createTileSinkFragmentLoads());
  device.addPass(createTileSkipUnitFactors());
}

void buildDeviceToLLVMPipeline(OpPassManager &pm) {
  OpPassManager &device = pm.nest<mlir::gpu::GPUModuleOp>();
  device.addPass(createTileVerifyTarget());
  device.addPass(createTileLowerKernelABI());
  device.addPass(createTileLowerMath());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createTileGPUToLLVM());
  device.addPass(createReconcileUnrealizedCastsPass());
  TileVerifyTargetOptions verify;
  verify.llvmOnly = true;
  device.addPass(createTileVerifyTarget(verify));
}

void buildTileToNVVMPipeline(OpPassManager &pm,
                             const TileToNVVMOptions &options) {
  buildTileToDevicePipeline(pm, options);
  pm.addNestedPass<mlir::gpu::GPUModuleOp>(createTileToNVGPU());
  buildDeviceToLLVMPipeline(pm);
}

void buildTileToROCDLPipeline(OpPassManager &pm,
                              const TileToROCDLOptions &options) {
  buildTileToDevicePipeline(pm, options);
  pm.addNestedPass<mlir::gpu::GPUModuleOp>(createTileToAMDGPU());
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
