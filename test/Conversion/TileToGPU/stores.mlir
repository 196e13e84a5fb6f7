// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!f = !tile.buffer<16x8xf32, #tile.strided<[8, 1], align = 16>, global>

// CHECK-LABEL: gpu.func @bounded(
// CHECK-SAME: %[[A:[^:]+]]: memref<?xf16,
// CHECK: %[[IN:.+]] = arith.cmpi sgt, %{{.+}}, %c0_i32 : i32
// CHECK: scf.if %[[IN]] {
// CHECK-NEXT: vector.store %{{.+}}, %[[A]][%{{.+}}] {alignment = 16 : i64} : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK-NEXT: vector.store
tile.kernel @bounded(%a: !g, %x: f32) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tile.grid %c0, %c0, %c0
  %b = tile.program_id x
  %row = arith.muli %b, %c8 : index
  %h = arith.truncf %x : f32 to f16
  %t = tensor.splat %h : tensor<8x64xf16, #rows>
  tile.store %t, %a[%row, %c0] : tensor<8x64xf16, #rows>, !g
}

// An accumulator fragment consists of pairs of neighbours.
// CHECK-LABEL: gpu.func @fragments
// CHECK-NOT: scf.if
// CHECK: vector.shuffle %[[V:.+]], %[[V]] [0, 1]
// CHECK: vector.shuffle %[[V]], %[[V]] [2, 3]
// CHECK-COUNT-2: vector.store %{{.+}} {alignment = 8 : i64} : memref<?xf32, #gpu.address_space<global>>, vector<2xf32>
tile.kernel @fragments(%o: !f, %x: f32) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.iota along 0 : tensor<16x8xi32, #mma>
  %u = arith.sitofp %t : tensor<16x8xi32, #mma> to tensor<16x8xf32, #mma>
  tile.store %u, %o[%c0, %c0] : tensor<16x8xf32, #mma>, !f
}

// The columns of a transposed tile are not contiguous in memory.
// CHECK-LABEL: gpu.func @transposed
// CHECK-COUNT-4: vector.store %{{.+}} {alignment = 4 : i64} : memref<?xf32, #gpu.address_space<global>>, vector<1xf32>
tile.kernel @transposed(%o: !tile.buffer<8x16xf32, #tile.strided<[16, 1], align = 16>, global>)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.iota along 0 : tensor<16x8xi32, #mma>
  %u = arith.sitofp %t : tensor<16x8xi32, #mma> to tensor<16x8xf32, #mma>
  %v = tile.transpose %u [1, 0] : tensor<16x8xf32, #mma> -> tensor<8x16xf32, #tile.permute<[1, 0], #mma>>
  tile.store %v, %o[%c0, %c0] : tensor<8x16xf32, #tile.permute<[1, 0], #mma>>,
      !tile.buffer<8x16xf32, #tile.strided<[16, 1], align = 16>, global>
}

!s = !tile.buffer<16x64xf16, #tile.swizzle<128>, shared>

// CHECK-LABEL: gpu.func @shared
// CHECK: arith.xori
// CHECK-NOT: scf.if
// CHECK-COUNT-4: vector.store %{{.+}} {alignment = 16 : i64} : memref<1024xf16, #gpu.address_space<workgroup>>, vector<8xf16>
// CHECK: gpu.barrier
tile.kernel @shared(%x: f32) attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  %h = arith.truncf %x : f32 to f16
  %t = tensor.splat %h : tensor<16x64xf16, #rows>
  tile.store %t, %s[%c0, %c0] : tensor<16x64xf16, #rows>, !s
  tile.barrier
}

#few = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [2, 1], order = [1, 0]>
!h = !tile.buffer<4x64xf16, #tile.strided<[64, 1], align = 16>, global>
!t = !tile.buffer<4x64xf16, #tile.swizzle<128>, shared>

// Two warps hold copies of the tile, and the first one stores it.
// CHECK-LABEL: gpu.func @once
// CHECK: %[[WARP:.+]] = arith.divui %{{.+}}, %c32_i32
// CHECK: %[[OWNER:.+]] = arith.cmpi eq, %[[WARP]], %c0_i32 : i32
// CHECK: scf.if %[[OWNER]] {
// CHECK: vector.store {{.*}} : memref<256xf16, #gpu.address_space<workgroup>>, vector<8xf16>
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %[[OWNER]] {
// CHECK: vector.store {{.*}} : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
// CHECK-NEXT: }
tile.kernel @once(%o: !h, %x: f32) attributes {num_warps = 2 : i32, shared_bytes = 512 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !t
  %h = arith.truncf %x : f32 to f16
  %t = tensor.splat %h : tensor<4x64xf16, #few>
  tile.store %t, %s[%c0, %c0] : tensor<4x64xf16, #few>, !t
  tile.store %t, %o[%c0, %c0] : tensor<4x64xf16, #few>, !h
}
