// The wgmmas of a product become one inline assembly with tied accumulators; fences
// and waits take and return the registers.
//
// RUN: tile-opt %s --tile-to-nvgpu | FileCheck %s --implicit-check-not=tile_gpu

#shared = #gpu.address_space<workgroup>
module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: func @descriptor
// CHECK-SAME: (%[[M:.+]]: memref<4096xf16, #gpu.address_space<workgroup>>, %[[I:.+]]: index)
func.func @descriptor(%m: memref<4096xf16, #shared>, %i: index) -> i64 {
  // CHECK-DAG: %[[P:.+]] = memref.extract_aligned_pointer_as_index %[[M]]
  // CHECK-DAG: %[[BASE:.+]] = arith.index_castui %[[P]] : index to i32
  // CHECK-DAG: %[[I32:.+]] = arith.index_castui %[[I]] : index to i32
  // CHECK: %[[OFFSET:.+]] = arith.muli %[[I32]], %{{.+}}
  // CHECK: %[[SUM:.+]] = arith.addi %[[BASE]], %[[OFFSET]]
  // CHECK: %[[LOW:.+]] = arith.andi %[[SUM]], %{{.+}}
  // CHECK: %[[UNITS:.+]] = arith.shrui %[[LOW]], %{{.+}}
  // CHECK: %[[HERE:.+]] = llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" %[[UNITS]]
  // CHECK: %[[C6:.+]] = arith.constant 6 : i32
  // CHECK: %[[MOVED:.+]] = arith.addi %[[HERE]], %[[C6]]
  // CHECK: %[[WIDE:.+]] = arith.extui %[[MOVED]] : i32 to i64
  // CHECK: %[[BITS:.+]] = arith.constant 4611686293305294848 : i64
  // CHECK: arith.ori %[[WIDE]], %[[BITS]]
  %d = tile_gpu.matrix_descriptor %m[%i] {bits = 4611686293305294848 : i64, distance = 6 : i32} : memref<4096xf16, #shared>
  return %d : i64
}

// CHECK-LABEL: func @from_zero
// CHECK: llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $4, $5, 0, 1, 1, 0, 1;", "=&f,=&f,=&f,=&f,l,l"
func.func @from_zero(%a: i64, %b: i64, %c: vector<4xf32>) -> vector<4xf32> {
  %d = tile_gpu.wgmma "wgmma.m64k16.bf16" %a, %b, %c {zero, b_mn_major} : i64, vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func @registers
// CHECK: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=r,=r,=r,=r,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
// CHECK: llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, 1, 1, 1, 0;", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
func.func @registers(%a: vector<8xf16>, %b: i64, %c: vector<4xf32>) -> vector<4xf32> {
  %a1, %c1 = tile_gpu.wgmma_fence %a, %c : vector<8xf16>, vector<4xf32>
  %d = tile_gpu.wgmma "wgmma.m64k16.f16" %a1, %b, %c1 : vector<8xf16>, vector<4xf32>
  nvvm.wgmma.commit.group.sync.aligned
  %e = tile_gpu.wgmma_wait 0, %d : vector<4xf32>
  return %e : vector<4xf32>
}

// Operands of 32 and 8 bits have no major, and integers no signs.
// CHECK-LABEL: func @tf32
// CHECK: "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, $4, $5, 0, 1, 1;\0A\09
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, {$6, $7, $8, $9}, $10, 1, 1, 1;", "=&f,=&f,=&f,=&f,l,l,r,r,r,r,l"
func.func @tf32(%a: i64, %b: i64, %c: vector<4xf32>, %f: vector<4xf32>) -> vector<4xf32> {
  %d = tile_gpu.wgmma "wgmma.m64k8.tf32" %a, %b, %c {zero} : i64, vector<4xf32>
  %e = tile_gpu.wgmma "wgmma.m64k8.tf32" %f, %b, %d : vector<4xf32>, vector<4xf32>
  return %e : vector<4xf32>
}

// CHECK-LABEL: func @i8
// CHECK: "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 {$0, $1, $2, $3, $4, $5, $6, $7}, $8, $9, 0;\0A\09
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 {$0, $1, $2, $3, $4, $5, $6, $7}, {$10, $11, $12, $13}, $14, 1;",
// CHECK-SAME: "=&r,=&r,=&r,=&r,=&r,=&r,=&r,=&r,l,l,r,r,r,r,l"
func.func @i8(%a: i64, %b: i64, %c: vector<8xi32>, %f: vector<16xi8>) -> vector<8xi32> {
  %d = tile_gpu.wgmma "wgmma.m64k32.i8" %a, %b, %c {zero} : i64, vector<8xi32>
  %e = tile_gpu.wgmma "wgmma.m64k32.i8" %f, %b, %d : vector<16xi8>, vector<8xi32>
  return %e : vector<8xi32>
}

// Descriptors that only the run uses are computed in it, each once, from a common
// lower half.
// CHECK-LABEL: func @run
// CHECK-SAME: %[[C:.+]]: vector<4xf32>, %[[D:.+]]: vector<4xf32>)
// CHECK: %[[LOW:.+]] = arith.shrui
// CHECK: %[[R:.+]] = llvm.inline_asm has_side_effects "{\0A\09.reg .b32 low;\0A\09.reg .b64 descriptor<2>;\0A\09
// CHECK-SAME: cvt.u64.u32 descriptor0, $17;\0A\09or.b64 descriptor0, descriptor0, 4611686293305294848;\0A\09
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $16, descriptor0, 1, 1, 1, 0, 0;\0A\09
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$4, $5, $6, $7}, $18, descriptor0, 1, 1, 1, 0, 0;\0A\09
// CHECK-SAME: add.s32 low, $17, 6;\0A\09cvt.u64.u32 descriptor1, low;\0A\09or.b64 descriptor1, descriptor1, 4611686293305294848;\0A\09
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $19, descriptor1, 1, 1, 1, 0, 0;\0A\09}",
// CHECK-SAME: "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,0,1,2,3,4,5,6,7,l,r,l,l" {{.+}}, %[[LOW]], 
// CHECK-NOT: llvm.inline_asm
// CHECK: return
func.func @run(%m: memref<4096xf16, #shared>, %i: index, %a: i64, %c: vector<4xf32>, %d: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %b0 = tile_gpu.matrix_descriptor %m[%i] {bits = 4611686293305294848 : i64} : memref<4096xf16, #shared>
  %c1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b0, %c : i64, vector<4xf32>
  %d1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b0, %d : i64, vector<4xf32>
  %b1 = tile_gpu.matrix_descriptor %m[%i] {bits = 4611686293305294848 : i64, distance = 6 : i32} : memref<4096xf16, #shared>
  %c2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b1, %c1 : i64, vector<4xf32>
  return %c2, %d1 : vector<4xf32>, vector<4xf32>
}

// A result that something else reads ends the run, and so does an effect. A
// descriptor of several runs is computed once.
// CHECK-LABEL: func @runs
// CHECK: llvm.inline_asm has_side_effects "mov.b32 $0, $1;"
// CHECK-COUNT-3: llvm.inline_asm has_side_effects "wgmma.mma_async
// CHECK-NOT: llvm.inline_asm
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects "wgmma.mma_async
func.func @runs(%m: memref<4096xf16, #shared>, %i: index, %a: i64, %c: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %b = tile_gpu.matrix_descriptor %m[%i] {bits = 4611686293305294848 : i64} : memref<4096xf16, #shared>
  %c1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %c : i64, vector<4xf32>
  %r = arith.negf %c1 : vector<4xf32>
  %c2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %r : i64, vector<4xf32>
  %c3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %c2 : i64, vector<4xf32>
  nvvm.wgmma.commit.group.sync.aligned
  %c4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %c3 : i64, vector<4xf32>
  return %c4, %c2 : vector<4xf32>, vector<4xf32>
}

// CHECK-LABEL: func @fences
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
func.func @fences() {
  tile_gpu.wgmma_fence
  tile_gpu.wgmma_wait 1
  return
}
}
