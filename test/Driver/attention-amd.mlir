// Attention on AMD, head dimensions 128 and (192, 128): the matrix
// instructions of the chip, barriers that wait for LDS, and no spills.

// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %tile_src_root/examples/forward.mlir --resources -o %t.gfx1100 | FileCheck %s --check-prefix=WAVE32
// RUN: llvm-objdump -d %t.gfx1100 | FileCheck %s --check-prefix=WMMA
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %tile_src_root/examples/forward.mlir --resources -o %t.gfx1201 | FileCheck %s --check-prefix=WAVE32
// RUN: llvm-objdump -d %t.gfx1201 | FileCheck %s --check-prefix=WMMA
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %tile_src_root/examples/forward.mlir --resources -o %t.gfx942 | FileCheck %s --check-prefix=WAVE64
// RUN: llvm-objdump -d %t.gfx942 | FileCheck %s --check-prefix=MFMA
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %tile_src_root/examples/forward.mlir --resources -o %t.gfx950 | FileCheck %s --check-prefix=WAVE64
// RUN: llvm-objdump -d %t.gfx950 | FileCheck %s --check-prefix=MFMA

// A window, where the kernel has three loops, and wide keys: the hardest for
// registers on the chips with the fewest.
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %s --resources -o %t.window | FileCheck %s --check-prefix=WAVE32
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %s --resources -o %t.window | FileCheck %s --check-prefix=WAVE32

// WAVE32: "spill_bytes":0,"stack_bytes":0,"wave_size":32
// WAVE64: "spill_bytes":0,"stack_bytes":0,"wave_size":64

// WMMA: s_barrier
// WMMA: v_wmma_f32_16x16x16_f16
// WMMA: v_exp_f32
// WMMA: v_wmma_f32_16x16x16_f16

// MFMA: s_barrier
// MFMA: v_mfma_f32_{{[0-9x]+}}_f16
// MFMA: v_exp_f32
// MFMA: v_mfma_f32_{{[0-9x]+}}_f16

!qk = !tile.buffer<?x?x?x192xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!vo = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
func.func @attention(%q: !qk, %k: !qk, %v: !vo, %o: !vo, %lse: !lse, %scale: f32, %left: i32, %right: i32) {
  tile.attention %q, %k, %v, %o lse %lse scale %scale window %left, %right : !qk, !qk, !vo, !vo, !lse
  return
}
