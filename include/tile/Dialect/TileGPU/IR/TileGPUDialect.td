//===- TileGPUDialect.td - The tile_gpu dialect ------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
#define TILE_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD

include "mlir/IR/OpBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tile_gpu";
  let cppNamespace = "::tile::gpu";
  let summary = "GPU operations of one thread that no vendor-neutral dialect has";
  let description = [{
    The program of one thread (stage S5) consists of `arith`, `math`, `vector`,
    `scf`, `memref`, `gpu`, the dialects of the vendors, and this dialect, which
    has MMAs and atomics. `tile-to-nvgpu` and `tile-to-amdgpu` convert it to the
    dialects of the vendors (docs/Dialects/VendorLevel.md).

    A fragment is a 1-D vector of the elements of a tile that one thread holds,
    in the register order of the instruction table's layouts (Chips/Mma.h).
    Memory is a 1-D memref in the address space `global` or `workgroup`; an
    index counts elements.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
