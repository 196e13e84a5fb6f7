//===- Vectorize.cpp - From tiles to one thread's program -----------------===//

#include "AMD/DirectCopy.h"
#include "Kernel/Kernel.h"
#include "Lowering.h"
#include "Roles.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Analysis/PendingProducts.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/IR/DefinedValues.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {
#define GEN_PASS_DEF_TILEVECTORIZE
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Verifies that every tile has a layout for the lanes and warps of the kernel.
static LogicalResult verifyThreads(KernelOp kernel, const Chip &chip) {
  DenseSet<Type> checked;
  auto check = [&](Value value) -> LogicalResult {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    if (!tile || !checked.insert(tile).second)
      return success();
    if (!getLayoutAttr(tile))
      return emitError(value.getLoc())
             << "a tile of type " << tile
             << " has no layout; run tile-assign-layouts first";
    if (isSharedTile(tile))
      return success();
    Layout layout = getCanonicalLayout(tile);
    if (layout.axisSize(kLane) != chip.warpSize ||
        layout.axisSize(kWarp) != kernel.getNumWarps())
      return emitError(value.getLoc())
             << "the layout " << tile.getEncoding() << " is for "
             << layout.axisSize(kWarp) << " warps of " << layout.axisSize(kLane)
             << " lanes, but the kernel has " << kernel.getNumWarps()
             << " warps of " << chip.warpSize << " on " << chip.name;
    return success();
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : getDefinedValues(op))
      if (failed(check(value)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Verifies that the chip has the TMA operations and mbarriers of the kernel.
static LogicalResult verifyBulkCopies(KernelOp kernel, const Chip &chip) {
  if (chip.bulkCopy)
    return success();
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    bool needsTMA = isa<BulkOpInterface, BulkAddOp>(op);
    if (!needsTMA &&
        !isa<WarpRolesOp, InitBarriersOp, WaitBarrierOp, ArriveBarrierOp>(op))
      return WalkResult::advance();
    return op->emitOpError() << "needs "
                             << (needsTMA               ? "TMA"
                                 : isa<WarpRolesOp>(op) ? "warp roles"
                                                        : "mbarriers")
                             << ", which " << chip.name << " does not have";
  });
  return failure(result.wasInterrupted());
}

namespace {
struct Vectorize : tile::impl::TileVectorizeBase<Vectorize> {
  using TileVectorizeBase::TileVectorizeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    if (kernels.empty())
      return;
    const Chip *chip = getTargetChip(module);
    // Verifies the result of the scheduling passes, because compile() does not
    // verify after every pass. This is the last point at which errors can refer
    // to tiles.
    if (!chip || failed(verify(module)))
      return signalPassFailure();

    OpBuilder builder(module.getBodyRegion());
    builder.setInsertionPointToEnd(module.getBody());
    auto gpuModule = mlir::gpu::GPUModuleOp::create(builder, module.getLoc(),
                                                    "tile_kernels");
    builder.setInsertionPointToStart(gpuModule.getBody());
    RoleContext roles;
    for (KernelOp kernel : kernels) {
      if (chip->asyncCopy.mechanism == AsyncCopy::DirectToLDS)
        waitWhereCopiesAreSkipped(kernel);
      if (failed(verifyThreads(kernel, *chip)) ||
          failed(verifyBulkCopies(kernel, *chip)) ||
          failed(outlineKernel(kernel, *chip, builder, roles)))
        return signalPassFailure();
      kernel.erase();
    }

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](RankedTensorType type) -> std::optional<Type> {
      if (!getLayoutAttr(type) || isSharedTile(type))
        return Type();
      return VectorType::get({getCanonicalLayout(type).axisSize(kRegister)},
                             type.getElementType());
    });
    converter.addConversion([&](PendingType type) -> std::optional<Type> {
      return converter.convertType(type.getTile());
    });
    converter.addConversion(
        [](BufferType type, SmallVectorImpl<Type> &types) -> LogicalResult {
          llvm::append_range(types, flattenBuffer(type));
          return success();
        });

    ConversionTarget target(getContext());
    target.addLegalDialect<mlir::gpu::GPUDialect, memref::MemRefDialect,
                           nvgpu::NVGPUDialect, NVVM::NVVMDialect,
                           tile::gpu::TileGPUDialect, vector::VectorDialect>();
    target.addLegalOp<UnrealizedConversionCastOp, amdgpu::GatherToLDSOp,
                      amdgpu::SchedBarrierOp, amdgpu::TransposeLoadOp,
                      LLVM::FenceOp, LLVM::InlineAsmOp, LLVM::IntToPtrOp,
                      LLVM::LoadOp, ROCDL::ReadfirstlaneOp>();
    target.addIllegalDialect<TileDialect, tensor::TensorDialect>();
    target.addDynamicallyLegalDialect<arith::ArithDialect, math::MathDialect>(
        [&](Operation *op) { return converter.isLegal(op); });
    RewritePatternSet patterns(&getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    PendingProducts products(gpuModule);
    DenseSet<Operation *> rowsAhead = findRowsAhead(gpuModule, *chip);
    LoweringContext context{*chip, products, roles, rowsAhead};
    ConversionAdder conversions(patterns, converter, context);
    addAtomicConversions(conversions);
    addBufferConversions(conversions);
    addClusterConversions(conversions);
    addBulkAddConversions(conversions);
    addComputeConversions(conversions);
    addDebugConversions(conversions);
    addReduceConversions(conversions);
    addLaunchConversions(conversions);
    addMemoryConversions(conversions);
    addRoleConversions(conversions);
    addTensorMapConversions(conversions);
    addWgmmaConversions(conversions);
    populateElementwisePattern(converter, patterns);
    CoordinateComparisons comparisons = findCoordinateComparisons(gpuModule);
    populateComparePattern(converter, comparisons, patterns);
    // Without rollback, patterns that inspect the indices of a buffer never
    // find block arguments that have been replaced.
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyFullConversion(gpuModule, target, std::move(patterns),
                                   config)))
      return signalPassFailure();
    numberThreadsInGroups(gpuModule);

    SmallVector<UnrealizedConversionCastOp> casts;
    gpuModule.walk(
        [&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
    SmallVector<UnrealizedConversionCastOp> remaining;
    reconcileUnrealizedCasts(casts, &remaining);
    for (UnrealizedConversionCastOp cast : remaining) {
      cast.emitError() << "a buffer of type " << cast.getResultTypes()
                       << " cannot be taken apart here";
      signalPassFailure();
    }
  }
};
} // namespace
