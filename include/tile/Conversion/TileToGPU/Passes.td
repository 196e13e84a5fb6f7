//===- Passes.td - From tiles to threads -------------------*- tablegen -*-===//
#ifndef TILE_CONVERSION_TILETOGPU_PASSES_TD
#define TILE_CONVERSION_TILETOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileVectorize : Pass<"tile-vectorize", "::mlir::ModuleOp"> {
  let summary = "Turns kernels over tiles into what one thread does (S4 to S5)";
  let description = [{
    Every `tile.kernel` becomes a `gpu.func` in the module `@tile_kernels`.
    A tile becomes a vector of the registers that its layout gives a thread, in
    the layout's order; a buffer becomes a rank-1 memref, an offset, and its
    dynamic extents and strides. The width of every access is the widest that
    the layouts of both sides, alignment, bounds and chip allow (Analysis/
    AccessWidth.h); fragments are read by `tile_gpu.load_matrix` where the
    layouts fit. The kernel carries its manifest (docs/Manifest.md) in the
    attributes `tile.grid`, `tile.block`, `tile.shared_bytes`, `tile.params`.

    ```mlir
    %t = tile.load %b[%row, %c0] : !b -> tensor<64x128xf16, #blocked>
    %u = arith.addf %t, %t : tensor<64x128xf16, #blocked>
    // becomes, for 128 threads
    %0 = vector.load %memory[%offset] {alignment = 16 : i64}
        : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
    ...
    %u = arith.addf %t, %t : vector<64xf16>
    ```

    Remarks: one for each width that an access might have had and why it has
    not: `width-instruction`, `width-alignment`, `width-start`, `width-layout`,
    `width-extent` (Analysis/AccessWidth.h); `atomic-width`, the instruction of
    each atomic; `atomic-loop`, for those that the chip makes a loop of;
    `synchronous-copy`. Fails on tiles without a layout, on
    layouts for another number of warps or lanes, on tiles in shared memory that
    have not been bufferized, and on conversions that move elements between
    threads.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect",
                           "::tile::gpu::TileGPUDialect"];
}

def TileSinkFragmentLoads : Pass<"tile-sink-fragment-loads"> {
  let summary = "Reads fragments from shared memory where they are used";
  let description = [{
    `tile-vectorize` reads all fragments of a tile before the product that uses
    them; the back ends keep that order, and with it every fragment in
    registers. This pass makes each slice of a tile of just the loads that it
    needs, and moves these, `tile_gpu.load_matrix` and `vector.load` of
    workgroup memory (and the slices of their results), to their first use, but
    never across another operation with side effects.

    ```mlir
    %a = tile_gpu.load_matrix %smem[%i] : ...
    %b = tile_gpu.load_matrix %smem[%j] : ...
    %0 = tile_gpu.mma "mma.m16n8k16.f16" %a, ...
    %1 = tile_gpu.mma "mma.m16n8k16.f16" %b, ...
    // becomes
    %a = tile_gpu.load_matrix %smem[%i] : ...
    %0 = tile_gpu.mma "mma.m16n8k16.f16" %a, ...
    %b = tile_gpu.load_matrix %smem[%j] : ...
    %1 = tile_gpu.mma "mma.m16n8k16.f16" %b, ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TILE_CONVERSION_TILETOGPU_PASSES_TD
