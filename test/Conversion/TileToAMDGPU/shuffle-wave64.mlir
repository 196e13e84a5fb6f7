// RUN: tile-opt %s --tile-attach-target="chip=gfx942" --tile-to-amdgpu | FileCheck %s --check-prefix=GFX942
// RUN: tile-opt %s --tile-attach-target="chip=gfx950" --tile-to-amdgpu | FileCheck %s --check-prefix=GFX950

// Only gfx950 can exchange the halves of a wave of 64 lanes without the LDS.
// GFX942: gpu.shuffle xor
// GFX942: gpu.shuffle xor
// GFX950: %[[A:.+]] = amdgpu.permlane_swap %[[X:.+]] 32 : i32
// GFX950: %[[S32:.+]] = amdgpu.permlane_swap %[[X]] 32 : i32
// GFX950: %[[S48:.+]] = amdgpu.permlane_swap %[[S32]] 16 : i32
// GFX950: %[[B:.+]] = amdgpu.dpp %{{.+}} %[[S48]] quad_perm([1 : i32, 0 : i32, 3 : i32, 2 : i32]) {bound_ctrl = true} : i32
// GFX950: return %[[A]], %[[B]]
func.func @halves(%x: i32) -> (i32, i32) {
  %width = arith.constant 64 : i32
  %c32 = arith.constant 32 : i32
  %c49 = arith.constant 49 : i32
  %a, %va = gpu.shuffle xor %x, %c32, %width : i32
  %b, %vb = gpu.shuffle xor %x, %c49, %width : i32
  return %a, %b : i32, i32
}
