//===- GPUToLLVM.cpp - Lowers a GPU module to the LLVM dialect ------------===//

#include "AMD/RoundingFlags.h"
#include "LowerAtomics.h"
#include "LowerBufferAccess.h"
#include "LowerReports.h"
#include "LowerVectorParts.h"
#include "NVIDIA/BF16Pairs.h"
#include "NVIDIA/LowerMmaSync.h"
#include "NVIDIA/LowerNVVM.h"
#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/LLVMCommon/VectorPattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Chips/NVIDIA/TensorMap.h"
#include "tile/Conversion/GPUToLLVM/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUTOLLVM
#include "tile/Conversion/GPUToLLVM/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The LLVM conversion of vectors supports one dimension, and no slices or
/// partial broadcasts.
void populateVectorPreparationPatterns(RewritePatternSet &patterns) {
  vector::populateVectorToVectorCanonicalizationPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(
      patterns, vector::VectorTransposeLowering::EltWise);
  vector::populateVectorMultiReductionLoweringPatterns(
      patterns, vector::VectorMultiReductionLowering::InnerReduction);
  vector::populateVectorMaskMaterializationPatterns(
      patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  vector::populateVectorToElementsUnrollPatterns(patterns);
}

/// Benefit above the vendor's patterns, which call device libraries.
constexpr unsigned kMathBenefit = 20, kVendorBenefit = 10;

class GPUToLLVM : public tile::impl::TileGPUToLLVMBase<GPUToLLVM> {
  void runOnOperation() override;
};

/// The translation to LLVM IR takes the block size of AMD kernels from the
/// required size, and requires the flat size to agree.
void setFlatWorkGroupSize(mlir::gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  ROCDL::ROCDLDialect::ReqdWorkGroupSizeAttrHelper required(context);
  ROCDL::ROCDLDialect::FlatWorkGroupSizeAttrHelper flat(context);
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!required.isAttrPresent(func))
      continue;
    int64_t size = 1;
    for (int32_t extent : required.getAttr(func).asArrayRef())
      size *= extent;
    flat.setAttr(func,
                 StringAttr::get(context, Twine(size) + "," + Twine(size)));
  }
}

/// Tensor maps, the last parameters of a kernel, are passed by value. They stay
/// in parameter memory, because TMA reads them by address.
void passTensorMapsByValue(mlir::gpu::GPUModuleOp module) {
  Builder b(module.getContext());
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    tile::gpu::ManifestOp manifest = tile::gpu::findManifest(func);
    if (!manifest)
      continue;
    unsigned count =
        llvm::count_if(manifest.getParams().getAsRange<DictionaryAttr>(),
                       [](DictionaryAttr param) {
                         auto kind = param.getAs<StringAttr>("kind");
                         return kind && kind.getValue() == "tensor_map";
                       });
    unsigned end = func.getNumArguments();
    for (unsigned i = end - std::min(count, end); i < end; ++i) {
      func.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(),
                                                             kTensorMapBytes)));
      func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(64));
      func.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                      b.getUnitAttr());
    }
  }
}

/// The bits of the operand of s_waitcnt on gfx9 that hold vmcnt, the number of
/// vector memory operations that may be in flight after it. All ones: no wait
/// for them. Source: AMDGPU backend, Utils/AMDGPUBaseInfo.cpp.
constexpr unsigned kVmcntBits = 0xc00f;

/// Marks accesses to the LDS as different from the copies to the LDS, in a
/// function that waits for its copies itself. Otherwise the back end waits
/// before each access for all copies in flight. The function waits for the
/// copies that it reads, with a barrier in between, across which no access
/// moves.
void separateCopiesToLDS(LLVM::LLVMFuncOp function) {
  SmallVector<ROCDL::LoadToLDSOp> copies;
  bool waits = false;
  function.walk([&](Operation *op) {
    if (auto copy = dyn_cast<ROCDL::LoadToLDSOp>(op))
      copies.push_back(copy);
    if (auto wait = dyn_cast<ROCDL::SWaitcntOp>(op))
      waits |= (wait.getBitfield() & kVmcntBits) != kVmcntBits;
  });
  if (copies.empty() || !waits)
    return;
  Builder b(function.getContext());
  auto domain = LLVM::AliasScopeDomainAttr::get(function.getContext());
  ArrayAttr scopes = b.getArrayAttr({LLVM::AliasScopeAttr::get(
      domain, b.getStringAttr("copies to the LDS"))});
  for (ROCDL::LoadToLDSOp copy : copies)
    copy.setAliasScopesAttr(scopes);
  function.walk([&](LLVM::AliasAnalysisOpInterface access) {
    if (!isa<ROCDL::LoadToLDSOp>(access) &&
        llvm::all_of(access.getAccessedOperands(), [](Value pointer) {
          auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
          return type && type.getAddressSpace() ==
                             ROCDL::ROCDLDialect::kSharedMemoryAddressSpace;
        }))
      access.setNoAliasScopes(scopes);
  });
}

/// Replaces the call-site locations of the symbols of the module by those of
/// the callees. Inlined operations pass such locations to the globals that they
/// need. Upstream's ensure-debug-info-scope-on-llvm-func expects a function
/// around each operation with a call-site location, and crashes on globals.
void leaveCallSites(mlir::gpu::GPUModuleOp module) {
  for (Operation &symbol : *module.getBody())
    while (auto call = dyn_cast<CallSiteLoc>(symbol.getLoc()))
      symbol.setLoc(call.getCallee());
}

void GPUToLLVM::runOnOperation() {
  mlir::gpu::GPUModuleOp module = getOperation();
  MLIRContext *context = &getContext();
  const Chip *chip = getTargetChip(module);
  if (!chip)
    return signalPassFailure();
  bool amd = chip->vendor == Vendor::AMD;
  amdgpu::Chipset chipset;
  if (amd) {
    FailureOr<amdgpu::Chipset> parsed = amdgpu::Chipset::parse(chip->name);
    if (failed(parsed)) {
      module.emitError() << chip->name << " is not a chip that amdgpu knows";
      return signalPassFailure();
    }
    chipset = *parsed;
  }

  if (failed(lowerReports(module, *chip)))
    return signalPassFailure();
  if (amd) {
    keepRoundingFlags(module);
  } else {
    lowerMmaSync(module);
    extendBF16InPairs(module);
  }
  lowerVectorParts(module);
  {
    RewritePatternSet patterns(context);
    populateGpuRewritePatterns(patterns);
    if (amd)
      populateGpuPromoteShuffleToAMDGPUPatterns(patterns, chipset);
    populateVectorPreparationPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
      return signalPassFailure();
  }

  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  ConversionTarget conversion(*context);
  conversion.addLegalDialect<LLVM::LLVMDialect>();
  conversion.addLegalOp<mlir::gpu::GPUModuleOp, tile::gpu::ManifestOp,
                        UnrealizedConversionCastOp>();
  if (amd) {
    amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);
    populateAMDGPUToROCDLConversionPatterns(converter, patterns, chipset);
    populateGpuToROCDLConversionPatterns(converter, patterns,
                                         mlir::gpu::amd::Runtime::HIP, chipset);
    conversion.addLegalDialect<ROCDL::ROCDLDialect>();
  } else {
    configureGpuToNVVMTypeConverter(converter);
    populateGpuToNVVMConversionPatterns(converter, patterns, kVendorBenefit);
    // Side effects keep the order of asynchronous copies, so a token has no
    // content.
    nvgpu::populateCommonGPUTypeAndAttributeConversions(converter);
    converter.addConversion([&](nvgpu::DeviceAsyncTokenType) -> Type {
      return IntegerType::get(context, 32);
    });
    populateNVGPUToNVVMConversionPatterns(converter, patterns);
    // Upstream calls libdevice for these two. The instructions do the same.
    patterns.add<VectorConvertToLLVMPattern<arith::MaxNumFOp, LLVM::MaxNumOp,
                                            arith::AttrConvertFastMathToLLVM>,
                 VectorConvertToLLVMPattern<arith::MinNumFOp, LLVM::MinNumOp,
                                            arith::AttrConvertFastMathToLLVM>>(
        converter, kVendorBenefit + 1);
    conversion.addLegalDialect<NVVM::NVVMDialect>();
    populateNVVMLoweringPatterns(patterns, conversion);
  }
  populateAtomicToLLVMPatterns(converter, patterns, *chip);
  populateBufferAccessToLLVMPatterns(converter, patterns, *chip);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/true, kMathBenefit);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns,
                                         /*reassociateFPReductions=*/true,
                                         /*force32BitVectorIndices=*/true);

  if (failed(applyFullConversion(module, conversion, std::move(patterns))))
    return signalPassFailure();
  if (amd) {
    setFlatWorkGroupSize(module);
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      separateCopiesToLDS(function);
  } else {
    lowerToAssembly(module);
    passTensorMapsByValue(module);
  }
  leaveCallSites(module);
}

} // namespace
