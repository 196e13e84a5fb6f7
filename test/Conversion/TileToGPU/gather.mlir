// A gather computes the place of a row once, reads 16 bytes where rows allow it, and skips rows out of bounds.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize)' | FileCheck %s

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
#flat = #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>
!table = !tile.buffer<100x64xf16, #tile.strided<[64, 1], align = 16>, global>
!list = !tile.buffer<100xf16, #tile.strided<[1], align = 16>, global>

// CHECK-LABEL: gpu.func @gather_rows
tile.kernel @gather_rows(%t: !table, %o: !table) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %i = arith.constant dense<7> : tensor<8xi32, #tile.slice<1, #rows>>
  // The first of these is the unknown start for the width.
  // CHECK: vector.extract %{{.+}}[0] : i32 from vector<2xi32>
  // CHECK: %[[ROW:.+]] = vector.extract %{{.+}}[0] : i32 from vector<2xi32>
  // CHECK: %[[INDEX:.+]] = arith.index_cast %[[ROW]] : i32 to index
  // CHECK: arith.muli %[[INDEX]], %{{.+}} : index
  // CHECK: arith.cmpi ult, %{{.+}}, %{{.+}} : index
  // CHECK: scf.if
  // CHECK: vector.load %{{.+}} : memref<{{.+}}>, vector<8xf16>
  // CHECK: vector.extract %{{.+}}[1] : i32 from vector<2xi32>
  // CHECK: scf.if
  // CHECK: vector.load %{{.+}} : memref<{{.+}}>, vector<8xf16>
  %g = tile.gather %t[%c0, %c0] along 0 by %i : !table, tensor<8xi32, #tile.slice<1, #rows>> -> tensor<8x64xf16, #rows>
  tile.store %g, %o[%c0, %c0] : tensor<8x64xf16, #rows>, !table
}

// Neighbouring elements of the result lie anywhere.
// CHECK-LABEL: gpu.func @gather_elements
tile.kernel @gather_elements(%t: !list, %o: !list) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %i = tile.iota along 0 : tensor<64xi64, #flat>
  // CHECK-COUNT-2: vector.load %{{.+}} : memref<{{.+}}>, vector<1xf16>
  // CHECK-NOT: vector.load
  %g = tile.gather %t[%c0] along 0 by %i : !list, tensor<64xi64, #flat> -> tensor<64xf16, #flat>
  tile.store %g, %o[%c0] : tensor<64xf16, #flat>, !list
}

// Each element has a row of its own, so neighbours along a row of the result are read one by one.
// CHECK-LABEL: gpu.func @gather_each
tile.kernel @gather_each(%t: !table, %o: !table) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %i = tile.iota along 1 : tensor<4x64xi32, #rows>
  // CHECK-COUNT-8: vector.load %{{.+}} : memref<{{.+}}>, vector<1xf16>
  // CHECK-NOT: vector.load
  %g = tile.gather %t[%c0, %c0] along 0 by %i : !table, tensor<4x64xi32, #rows> -> tensor<4x64xf16, #rows>
  tile.store %g, %o[%c0, %c0] : tensor<4x64xf16, #rows>, !table
}
