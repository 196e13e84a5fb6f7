//===- TileGPUDialect.td - The tile_gpu dialect ------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
#define TILE_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD

include "mlir/IR/OpBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tile_gpu";
  let cppNamespace = "::tile::gpu";
  let summary = "what one thread does that no vendor-neutral dialect has";
  let description = [{
    The program of one thread (stage S5) is made of `arith`, `math`, `vector`,
    `scf`, `memref` and `gpu`, and of this dialect: matrix instructions, loads
    of their fragments and asynchronous copies, before it is known which vendor
    performs them. `tile-to-nvgpu` and `tile-to-amdgpu` convert it.

    A fragment is a 1-D vector of what one thread holds of a tile, in the
    register order of the layouts of the instruction table (Target/Mma.h).
    Memory is a 1-D memref in the address space `global` or `workgroup`; an
    index counts elements.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
