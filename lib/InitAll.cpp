//===- InitAll.cpp - Registration of everything ---------------------------===//

#include "tile/InitAll.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "tile/Conversion/GPUToLLVM/Passes.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Conversion/TileToNVGPU/Passes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Layouts/TileLayoutOpInterfaceImpl.h"
#include "tile/Dialect/Tile/Transforms/Memory/BufferizableOpInterfaceImpl.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "tile/Dialect/TileGPU/Transforms/LLVMIRTranslation.h"
#include "tile/Dialect/TileGPU/Transforms/Passes.h"
#include "tile/Kernels/Attention/Passes.h"
#include "tile/Kernels/Matmul/Passes.h"
#include "tile/Pipelines/Pipelines.h"

using namespace mlir;

void tile::registerAllDialects(DialectRegistry &registry) {
  registry
      .insert<TileDialect, tile::gpu::TileGPUDialect, affine::AffineDialect,
              amdgpu::AMDGPUDialect, arith::ArithDialect,
              cf::ControlFlowDialect, DLTIDialect, func::FuncDialect,
              mlir::gpu::GPUDialect, index::IndexDialect, LLVM::LLVMDialect,
              math::MathDialect, memref::MemRefDialect, nvgpu::NVGPUDialect,
              NVVM::NVVMDialect, ROCDL::ROCDLDialect, scf::SCFDialect,
              tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>();
  func::registerInlinerExtension(registry);
  registerBufferizableOpInterfaceExternalModels(registry);
  registerTileGPUDialectTranslation(registry);
  registerTileLayoutOpInterfaceExternalModels(registry);
}

void tile::registerAllPasses() {
  registerTileAttentionPasses();
  registerTileMatmulPasses();
  registerTileGPUToLLVMPasses();
  registerTileGPUTransformsPasses();
  registerTileToAMDGPUPasses();
  registerTileToGPUPasses();
  registerTileToNVGPUPasses();
  registerTileTransformsPasses();
  registerPipelines();
}
