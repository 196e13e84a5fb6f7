// RUN: tile-opt %s --tile-to-amdgpu --split-input-file | FileCheck %s --implicit-check-not=tile_gpu

// CHECK-LABEL: func @mfma
// CHECK-SAME: (%[[A:.+]]: vector<4xbf16>, %[[B:.+]]: vector<4xbf16>, %[[C:.+]]: vector<16xf32>)
// CHECK: %[[D:.+]] = amdgpu.mfma 32x32x8 %[[A]] * %[[B]] + %[[C]] blgp = none : vector<4xbf16>, vector<4xbf16>, vector<16xf32>
// CHECK: return %[[D]]
module attributes {tile.target = "gfx942"} {
func.func @mfma(%a: vector<4xbf16>, %b: vector<4xbf16>, %c: vector<16xf32>) -> vector<16xf32> {
  %d = tile_gpu.mma "mfma.32x32x8.bf16" %a, %b, %c : vector<4xbf16>, vector<4xbf16>, vector<16xf32>
  return %d : vector<16xf32>
}
}

// -----

// CHECK-LABEL: func @wmma
// CHECK-SAME: (%[[A:.+]]: vector<16xf16>, %[[B:.+]]: vector<16xf16>, %[[C:.+]]: vector<8xf32>)
// CHECK: %[[D:.+]] = amdgpu.wmma 16x16x16 %[[A]] * %[[B]] + %[[C]] : vector<16xf16>, vector<16xf16>, vector<8xf32>
// CHECK: return %[[D]]
module attributes {tile.target = "gfx1100"} {
func.func @wmma(%a: vector<16xf16>, %b: vector<16xf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %d = tile_gpu.mma "wmma.gfx11.16x16x16.f16" %a, %b, %c : vector<16xf16>, vector<16xf16>, vector<8xf32>
  return %d : vector<8xf32>
}
}

// -----

// CHECK-LABEL: func @barrier
// CHECK: amdgpu.lds_barrier
// CHECK-NOT: gpu.barrier
module attributes {tile.target = "gfx1201"} {
func.func @barrier() {
  gpu.barrier
  return
}
}

// -----

// CHECK-LABEL: func @recompute
// CHECK-SAME: (%[[X:.+]]: i32)
// CHECK-NEXT: return %[[X]]
module attributes {tile.target = "gfx1201"} {
func.func @recompute(%x: i32) -> i32 {
  %y = tile_gpu.recompute %x
  return %y : i32
}
}
