//===- Passes.td - From tile_gpu to nvgpu and nvvm ---------*- tablegen -*-===//
#ifndef TILE_CONVERSION_TILETONVGPU_PASSES_TD
#define TILE_CONVERSION_TILETONVGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToNVGPU : Pass<"tile-to-nvgpu"> {
  let summary = "Converts tile_gpu operations to nvgpu and nvvm";
  let description = [{
    Converts the program of one thread (stage S5) in a module for an NVIDIA
    chip. Matrix products become `nvgpu.mma.sync`, or wgmma on chips that have
    it. Loads of fragments become `nvgpu.ldmatrix`. Asynchronous copies become
    `nvgpu.device_async_copy`, and their groups the cp.async operations of nvvm.

    ```mlir
    %v = tile_gpu.load_matrix %smem[%i]
        : memref<4096xf16, #gpu.address_space<workgroup>> -> vector<8xf16>
    tile_gpu.wait_group 1
    // becomes
    %0 = nvgpu.ldmatrix %smem[%i] {numTiles = 4 : i32, transpose = false}
        : memref<4096xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    %v = vector.shape_cast %0 : vector<4x2xf16> to vector<8xf16>
    nvvm.cp.async.wait.group 1
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
