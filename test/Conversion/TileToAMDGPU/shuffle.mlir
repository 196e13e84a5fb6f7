// RUN: tile-opt %s --split-input-file --tile-attach-target="chip=gfx942" --tile-to-amdgpu | FileCheck %s --check-prefixes=ALL,GFX942
// RUN: tile-opt %s --split-input-file --tile-attach-target="chip=gfx950" --tile-to-amdgpu | FileCheck %s --check-prefixes=ALL,GFX950
// RUN: tile-opt %s --split-input-file --tile-attach-target="chip=gfx1100" --tile-to-amdgpu | FileCheck %s --check-prefixes=ALL,RDNA
// RUN: tile-opt %s --split-input-file --tile-attach-target="chip=gfx1201" --tile-to-amdgpu | FileCheck %s --check-prefixes=ALL,RDNA

// ALL-LABEL: func @within_a_row
// ALL-SAME: (%[[X:.+]]: i32)
func.func @within_a_row(%x: i32) -> (i32, i32, i32) {
  %width = arith.constant 32 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  // This is quad_perm, or row_xmask.
  // ALL: %[[OLD:.+]] = llvm.mlir.poison : i32
  // GFX942: %[[A:.+]] = amdgpu.dpp %[[OLD]] %[[X]] quad_perm([1 : i32, 0 : i32, 3 : i32, 2 : i32]) {bound_ctrl = true} : i32
  // GFX950: %[[A:.+]] = amdgpu.dpp %[[OLD]] %[[X]] quad_perm([1 : i32, 0 : i32, 3 : i32, 2 : i32]) {bound_ctrl = true} : i32
  // RDNA: %[[A:.+]] = rocdl.update.dpp %[[OLD]], %[[X]] with 353, 15, 15, true : i32
  %a, %va = gpu.shuffle xor %x, %c1, %width : i32
  // These are row_half_mirror and quad_perm.
  // GFX942: %[[M:.+]] = amdgpu.dpp %{{.+}} %[[X]] row_half_mirror(unit) {bound_ctrl = true} : i32
  // GFX942: %[[B:.+]] = amdgpu.dpp %{{.+}} %[[M]] quad_perm([3 : i32, 2 : i32, 1 : i32, 0 : i32]) {bound_ctrl = true} : i32
  // RDNA: %[[B:.+]] = rocdl.update.dpp %{{.+}}, %[[X]] with 356, 15, 15, true : i32
  %b, %vb = gpu.shuffle xor %x, %c4, %width : i32
  // row_ror:8
  // GFX942: %[[C:.+]] = amdgpu.dpp %{{.+}} %[[X]] row_ror(8 : i32) {bound_ctrl = true} : i32
  // RDNA: %[[C:.+]] = rocdl.update.dpp %{{.+}}, %[[X]] with 360, 15, 15, true : i32
  %c, %vc = gpu.shuffle xor %x, %c8, %width : i32
  // GFX942: return %[[A]], %[[B]], %[[C]]
  // RDNA: return %[[A]], %[[B]], %[[C]]
  return %a, %b, %c : i32, i32, i32
}

// -----

// ALL-LABEL: func @between_rows
// ALL-SAME: (%[[X:.+]]: i32)
func.func @between_rows(%x: i32) -> (i32, i32) {
  %width = arith.constant 32 : i32
  %c16 = arith.constant 16 : i32
  %c18 = arith.constant 18 : i32
  // RDNA-DAG: %[[LOW:.+]] = llvm.mlir.constant(1985229328 : i32)
  // RDNA-DAG: %[[HIGH:.+]] = llvm.mlir.constant(-19088744 : i32)
  // RDNA: %[[A:.+]] = rocdl.permlanex16 %{{.+}}, %[[X]], %[[LOW]], %[[HIGH]], false, true : i32, i32
  // GFX950: %[[A:.+]] = amdgpu.permlane_swap %[[X]] 16 : i32
  // GFX942: %[[A:.+]] = amdgpu.swizzle_bitmode %[[X]] 31 0 16 : i32
  %a, %va = gpu.shuffle xor %x, %c16, %width : i32
  // 0x54761032 and 0xdcfe98ba
  // RDNA-DAG: %[[LOW2:.+]] = llvm.mlir.constant(1417023538 : i32)
  // RDNA-DAG: %[[HIGH2:.+]] = llvm.mlir.constant(-587294534 : i32)
  // RDNA: %[[B:.+]] = rocdl.permlanex16 %{{.+}}, %[[X]], %[[LOW2]], %[[HIGH2]], false, true : i32, i32
  // GFX950: %[[S:.+]] = amdgpu.permlane_swap %[[X]] 16 : i32
  // GFX950: %[[B:.+]] = amdgpu.dpp %{{.+}} %[[S]] quad_perm([2 : i32, 3 : i32, 0 : i32, 1 : i32]) {bound_ctrl = true} : i32
  // GFX942: %[[B:.+]] = amdgpu.swizzle_bitmode %[[X]] 31 0 18 : i32
  %b, %vb = gpu.shuffle xor %x, %c18, %width : i32
  // ALL: return %[[A]], %[[B]]
  return %a, %b : i32, i32
}

// -----

// ALL-LABEL: func @types
func.func @types(%x: f32, %y: vector<4xf16>) -> (f32, vector<4xf16>, i1) {
  %width = arith.constant 16 : i32
  %c2 = arith.constant 2 : i32
  // ALL: llvm.bitcast %{{.+}} : f32 to i32
  // ALL: {{amdgpu.dpp|rocdl.update.dpp}}
  // ALL: llvm.bitcast %{{.+}} : i32 to f32
  %a, %va = gpu.shuffle xor %x, %c2, %width : f32
  // ALL: llvm.bitcast %{{.+}} : vector<4xf16> to vector<2xi32>
  // ALL-COUNT-2: {{amdgpu.dpp|rocdl.update.dpp}}
  // ALL: llvm.bitcast %{{.+}} : vector<2xi32> to vector<4xf16>
  %b, %vb = gpu.shuffle xor %y, %c2, %width : vector<4xf16>
  // ALL: %[[TRUE:.+]] = arith.constant true
  // ALL: return %{{.+}}, %{{.+}}, %[[TRUE]]
  return %a, %b, %vb : f32, vector<4xf16>, i1
}

// -----

// These are unchanged: the mask is not constant, or exceeds the width.
// ALL-LABEL: func @kept
func.func @kept(%x: i32, %mask: i32) -> (i32, i32, i32) {
  %width = arith.constant 16 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  // ALL: gpu.shuffle down
  %a, %va = gpu.shuffle down %x, %c2, %width : i32
  // ALL: gpu.shuffle xor
  %b, %vb = gpu.shuffle xor %x, %mask, %width : i32
  // ALL: gpu.shuffle xor
  %c, %vc = gpu.shuffle xor %x, %c16, %width : i32
  return %a, %b, %c : i32, i32, i32
}

// -----

// This is unchanged: the value is not a whole number of registers.
// ALL-LABEL: func @odd
func.func @odd(%x: vector<3xf16>) -> vector<3xf16> {
  %width = arith.constant 16 : i32
  %c2 = arith.constant 2 : i32
  // ALL: gpu.shuffle xor
  %a, %va = gpu.shuffle xor %x, %c2, %width : vector<3xf16>
  return %a : vector<3xf16>
}
