//===- Passes.td - From tile_gpu to AMD's dialects ---------*- tablegen -*-===//
#ifndef TILE_CONVERSION_TILETOAMDGPU_PASSES_TD
#define TILE_CONVERSION_TILETOAMDGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToAMDGPU : Pass<"tile-to-amdgpu"> {
  let summary = "Converts tile_gpu operations to amdgpu and rocdl";
  let description = [{
    Works on the program of one thread (stage S5) in a module for an AMD chip.
    Matrix products become `amdgpu.wmma` or `amdgpu.mfma`. Barriers become
    `amdgpu.lds_barrier`: what threads hand each other is in workgroup memory,
    so accesses to global memory need not finish there. A `gpu.shuffle xor` by
    a constant within the lanes that the chip's vector unit can exchange
    becomes such an exchange (DPP, permlane); other shuffles go through the
    LDS later.

    ```mlir
    %d = tile_gpu.mma "mfma.16x16x16.f16" %a, %b, %c
        : vector<4xf16>, vector<4xf16>, vector<4xf32>
    gpu.barrier
    // becomes
    %d = amdgpu.mfma 16x16x16 %a * %b + %c blgp = none
        : vector<4xf16>, vector<4xf16>, vector<4xf32>
    amdgpu.lds_barrier
    ```

    An operation that the chip lacks is an error: asynchronous copies and
    `tile_gpu.load_matrix` on every chip so far.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::amdgpu::AMDGPUDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // TILE_CONVERSION_TILETOAMDGPU_PASSES_TD
