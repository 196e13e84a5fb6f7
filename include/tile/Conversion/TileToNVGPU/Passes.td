//===- Passes.td - From tile_gpu to nvgpu and nvvm ---------*- tablegen -*-===//
#ifndef TILE_CONVERSION_TILETONVGPU_PASSES_TD
#define TILE_CONVERSION_TILETONVGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToNVGPU : Pass<"tile-to-nvgpu"> {
  let summary = "Converts tile_gpu operations to nvgpu and nvvm";
  let description = [{
    Converts the program of one thread (stage S5) in a module for an NVIDIA
    chip. Matrix products become `nvgpu.mma.sync`, or wgmma on chips that have
    it.

    ```mlir
    %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c
        : vector<8xf16>, vector<4xf16>, vector<4xf32>
    // becomes
    %0 = nvgpu.mma.sync(%x, %y, %z) {mmaShape = [16, 8, 16]}
        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %d = vector.shape_cast %0 : vector<2x2xf32> to vector<4xf32>
    ```

    Fails for an operation that the chip does not have.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TILE_CONVERSION_TILETONVGPU_PASSES_TD
