//===- Passes.td - From tile_gpu to amdgpu and rocdl -------*- tablegen -*-===//
#ifndef TILE_CONVERSION_TILETOAMDGPU_PASSES_TD
#define TILE_CONVERSION_TILETOAMDGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToAMDGPU : Pass<"tile-to-amdgpu"> {
  let summary = "Converts tile_gpu operations to amdgpu and rocdl";
  let description = [{
    Converts the program of one thread (stage S5) in a module for an AMD chip.
    Matrix products become `amdgpu.wmma` or `amdgpu.mfma`. Barriers become
    `amdgpu.lds_barrier`, which does not wait for accesses to global memory:
    threads exchange data through workgroup memory (LDS) only. A
    `gpu.shuffle xor` by a constant becomes a DPP or permlane instruction if the
    vector unit can exchange these lanes; other shuffles are lowered to accesses
    to the LDS later.

    A wait for groups of copies to the LDS becomes a wait for the counter of
    vector memory operations, which complete in order: it allows as many to be in
    flight as copies are newer than the groups on every path. In functions with
    such waits, a barrier waits for the own accesses to the LDS and is an
    `s_barrier`: the fences of `amdgpu.lds_barrier` would also wait for all
    copies in flight.

    Behind the last loop of a block, integers that depend on the number of the
    thread are computed again from instructions that need no register across the
    loop, unless the loop uses them.

    A loop with products may have branches whose condition is a conjunction with
    a number that is the same in all iterations and in all threads of a block, as
    that of rows that end within an access. If these branches contain nearly half
    of its operations, blocks in which the numbers are false run a copy of the
    loop without the branches.

    ```mlir
    %d = tile_gpu.mma "mfma.16x16x16.f16" %a, %b, %c
        : vector<4xf16>, vector<4xf16>, vector<4xf32>
    gpu.barrier
    // becomes
    %d = amdgpu.mfma 16x16x16 %a * %b + %c blgp = none
        : vector<4xf16>, vector<4xf16>, vector<4xf32>
    amdgpu.lds_barrier
    ```

    Fails for an operation that the chip does not have. No AMD chip of the table
    has ldmatrix.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::amdgpu::AMDGPUDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TILE_CONVERSION_TILETOAMDGPU_PASSES_TD
