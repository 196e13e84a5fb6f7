//===- Passes.td - From one thread's program to LLVM (S5 -> S6) -----------===//

#ifndef TILE_CONVERSION_GPUTOLLVM_PASSES
#define TILE_CONVERSION_GPUTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def TileLowerKernelABI : Pass<"tile-lower-kernel-abi", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give kernels the arguments that a launcher passes";
  let description = [{
    Precondition: kernels are `gpu.func`s. Afterwards each memref argument is
    one pointer; scalars are unchanged (`index` becomes i64 later). The kernel
    rebuilds the memref, with offset 0. Argument attributes such as
    `llvm.noalias` stay with their argument.

    The pass also lowers the launch parameters: the block becomes
    `known_block_size` and `gpu.block_dim` a constant, dynamic shared memory
    becomes one global that is aligned for every copy instruction, and static
    shared memory is aligned to 16 bytes.

    ```mlir
    gpu.func @k(%x: memref<?xf16, #gpu.address_space<global>> {llvm.align = 16 : i64}) kernel {
      gpu.return
    }
    // becomes
    gpu.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64}) kernel {
      gpu.return
    }
    ```

    Fails on a memref argument whose strides are not static or whose extents
    beyond the first are dynamic: they would need arguments of their own.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def TileLowerMath : Pass<"tile-lower-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower transcendental functions to the chip's instructions";
  let description = [{
    `math.exp2`, `exp`, `log2`, `log` and `rsqrt` become the chip's
    approximate instructions (ex2.approx.ftz, v_exp_f32, ...): relative error
    about 2^-22, denormal results flushed to zero. 16-bit types are computed
    in f32. `math.tanh` is 1 - 2 / (exp(2 x) + 1), and near 0 a polynomial
    with a relative error of about 2^-22. With `fastmath<afn>` it is the first
    formula for all x, with an absolute error of about 2^-23. `arith.divf` with
    `fastmath<arcp,afn>` multiplies by the approximate reciprocal. On NVIDIA, an f32 `arith.divf` that is only narrowed by
    `arith.truncf` becomes `div.full.f32`, with an error of at most 2 ulp of f32.
    Vectors are split, because the instructions are scalar.

    Functions without an instruction, such as `math.erf`, become polynomials.
    `math.expm1` and `math.log1p` are polynomials near 0 only, where exp(x) - 1 and
    log(1 + x) have no digits left. `math.sin` and `math.cos` subtract the nearest
    multiple of pi / 2 first, with an absolute error of about 2^-23 up to |x| = 2^21;
    results for larger numbers lie in -1 .. 1, and are not accurate. `arith.remf` of up to 32 bits is exact, as
    fmod of C: a loop of f64 operations, with one iteration for each 23 bits of the
    quotient. That of f64 is left to LLVM for AMD.
    Operations that would still need a device library are errors: none is
    linked.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def TileGPUToLLVM : Pass<"tile-gpu-to-llvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert a GPU module to the LLVM dialect and its vendor's";
  let description = [{
    A full conversion of the arith, cf, gpu, index, math, memref, vector and
    nvgpu or amdgpu operations. Precondition: structured control flow has been
    lowered, and kernels have no memref arguments. A fragment is split into the
    registers of its `nvgpu.mma.sync` once, at its definition. `gpu.printf` and
    `tile_gpu.fail` become calls of functions that the driver, a code object's
    traps or the executor stand for (TileGPU/IR/Reports.h). Unknown attributes of
    a kernel stay on the `llvm.func`. Fails at an operation that has no
    conversion, and at a format that does not suit its arguments.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::amdgpu::AMDGPUDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TILE_CONVERSION_GPUTOLLVM_PASSES
