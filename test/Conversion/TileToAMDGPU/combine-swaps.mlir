// On gfx950 a swap of lanes gives both numbers of a commutative operation.
// RUN: tile-opt %s --tile-attach-target="chip=gfx950" --tile-to-amdgpu --canonicalize | FileCheck %s
// RUN: tile-opt %s --tile-attach-target="chip=gfx942" --tile-to-amdgpu | FileCheck %s --check-prefix=GFX942

// GFX942-NOT: permlane32

// CHECK-LABEL: func.func @number(
// CHECK-SAME: %[[X:.+]]: f32
// CHECK: %[[WORD:.+]] = llvm.bitcast %[[X]] : f32 to i32
// CHECK: %[[PAIR:.+]] = rocdl.permlane32.swap %[[WORD]], %[[WORD]], false, false
// CHECK: %[[A:.+]] = llvm.extractvalue %[[PAIR]][0]
// CHECK: %[[F:.+]] = llvm.bitcast %[[A]] : i32 to f32
// CHECK: %[[B:.+]] = llvm.extractvalue %[[PAIR]][1]
// CHECK: %[[G:.+]] = llvm.bitcast %[[B]] : i32 to f32
// CHECK: arith.maxnumf %[[F]], %[[G]] : f32
func.func @number(%x: f32) -> f32 {
  %width = arith.constant 64 : i32
  %c32 = arith.constant 32 : i32
  %y, %valid = gpu.shuffle xor %x, %c32, %width : f32
  %r = arith.maxnumf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vector(
// CHECK-COUNT-2: rocdl.permlane16.swap
// CHECK-NOT: amdgpu.permlane_swap
// CHECK: arith.addi %{{.+}}, %{{.+}} : vector<2xi32>
func.func @vector(%x: vector<2xi32>) -> vector<2xi32> {
  %width = arith.constant 64 : i32
  %c16 = arith.constant 16 : i32
  %a = vector.extract %x[0] : i32 from vector<2xi32>
  %b = vector.extract %x[1] : i32 from vector<2xi32>
  %c, %v0 = gpu.shuffle xor %a, %c16, %width : i32
  %d, %v1 = gpu.shuffle xor %b, %c16, %width : i32
  %y = vector.from_elements %c, %d : vector<2xi32>
  %r = arith.addi %y, %x : vector<2xi32>
  return %r : vector<2xi32>
}

// The order of the numbers matters, or they are those of another element: one of
// both is chosen.
// CHECK-LABEL: func.func @ordered(
// CHECK: amdgpu.permlane_swap %{{.+}} 32
// CHECK: arith.subf
// CHECK: amdgpu.permlane_swap %{{.+}} 32
// CHECK: arith.addf
func.func @ordered(%x: f32, %other: f32) -> (f32, f32) {
  %width = arith.constant 64 : i32
  %c32 = arith.constant 32 : i32
  %y, %v0 = gpu.shuffle xor %x, %c32, %width : f32
  %r = arith.subf %x, %y : f32
  %z, %v1 = gpu.shuffle xor %other, %c32, %width : f32
  %s = arith.addf %x, %z : f32
  return %r, %s : f32, f32
}

// The elements lie in another order.
// CHECK-LABEL: func.func @crossed(
// CHECK-COUNT-2: amdgpu.permlane_swap
func.func @crossed(%x: vector<2xi32>) -> vector<2xi32> {
  %width = arith.constant 64 : i32
  %c16 = arith.constant 16 : i32
  %a = vector.extract %x[0] : i32 from vector<2xi32>
  %b = vector.extract %x[1] : i32 from vector<2xi32>
  %c, %v0 = gpu.shuffle xor %a, %c16, %width : i32
  %d, %v1 = gpu.shuffle xor %b, %c16, %width : i32
  %y = vector.from_elements %d, %c : vector<2xi32>
  %r = arith.addi %x, %y : vector<2xi32>
  return %r : vector<2xi32>
}
