// Pairs of 16-bit floats on AMD: one packed instruction where the chip has one,
// otherwise one loop for both. gfx90a has one for f16 in global memory only.

// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %s -o %t.942 && llvm-objdump -d %t.942 | FileCheck %s --check-prefix=PACKED
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %s -o %t.950 && llvm-objdump -d %t.950 | FileCheck %s --check-prefix=PACKED
// RUN: tile-translate --tile-to-hsaco --chip=gfx1200 %s -o %t.1200 && llvm-objdump -d %t.1200 | FileCheck %s --check-prefix=PACKED
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %s -o %t.90a && llvm-objdump -d %t.90a | FileCheck %s --check-prefix=GFX90A
// RUN: tile-translate --tile-to-hsaco --chip=gfx1151 %s -o %t.1151 && llvm-objdump -d %t.1151 | FileCheck %s --check-prefix=LOOP
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %s -o %t.1201 && llvm-objdump -d %t.1201 | FileCheck %s --check-prefix=PACKED
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %s -o %t.1100 && llvm-objdump -d %t.1100 | FileCheck %s --check-prefix=LOOP

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  // PACKED-LABEL: <f16>:
  // PACKED: global_atomic_pk_add_f16
  // PACKED: ds_pk_add_f16
  // GFX90A-LABEL: <f16>:
  // GFX90A: global_atomic_pk_add_f16
  // GFX90A: ds_cmpst_rtn_b32
  // LOOP-LABEL: <f16>:
  // LOOP: global_atomic_cmpswap_b32
  // LOOP: ds_cmpstore_rtn_b32
  gpu.func @f16(%g: memref<?xf16, #global>) workgroup(%s: memref<64xf16, #shared>) kernel {
    %i = arith.constant 2 : index
    %v = vector.load %g[%i] {alignment = 4} : memref<?xf16, #global>, vector<2xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xf16>, memref<?xf16, #global>
    tile_gpu.atomic_rmw addf %v, %s[%i] order(relaxed) scope(device) : vector<2xf16>, memref<64xf16, #shared>
    gpu.return
  }

  // PACKED-LABEL: <bf16>:
  // PACKED: global_atomic_pk_add_bf16
  // PACKED: ds_pk_add_bf16
  // GFX90A-LABEL: <bf16>:
  // GFX90A: global_atomic_cmpswap
  // GFX90A: ds_cmpst_rtn_b32
  // LOOP-LABEL: <bf16>:
  // LOOP: global_atomic_cmpswap_b32
  // LOOP: ds_cmpstore_rtn_b32
  gpu.func @bf16(%g: memref<?xbf16, #global>) workgroup(%s: memref<64xbf16, #shared>) kernel {
    %i = arith.constant 2 : index
    %v = vector.load %g[%i] {alignment = 4} : memref<?xbf16, #global>, vector<2xbf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xbf16>, memref<?xbf16, #global>
    tile_gpu.atomic_rmw addf %v, %s[%i] order(relaxed) scope(device) : vector<2xbf16>, memref<64xbf16, #shared>
    gpu.return
  }
}
