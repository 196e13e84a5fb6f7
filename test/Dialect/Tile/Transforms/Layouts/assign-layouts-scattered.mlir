// A tile whose threads would write far apart is exchanged through shared memory in
// front of the store, unless the kernel has products or the tile is small.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' | FileCheck %s

!x = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!f = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>

// CHECK: #[[ROWS:.+]] = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

// CHECK-LABEL: tile.kernel @transposed
// CHECK: %[[T:.+]] = tile.transpose
// CHECK: %[[C:.+]] = tile.convert_layout %[[T]] : {{.+}} -> tensor<64x64xf16, #[[ROWS]]>
// CHECK: tile.store %[[C]]
tile.kernel @transposed(%x: !x, %y: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<64x64xf16>
  %u = tile.transpose %t [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  tile.store %u, %y[%c0, %c0] : tensor<64x64xf16>, !x
}

// An author's layout stays.
// CHECK-LABEL: tile.kernel @pinned
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
#columns = #tile.blocked<thread = [8, 1], lane = [8, 4], warp = [1, 4], order = [0, 1]>
tile.kernel @pinned(%y: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %u = arith.constant dense<1.0> : tensor<64x64xf16, #columns>
  tile.store %u, %y[%c0, %c0] : tensor<64x64xf16, #columns>, !x
}

// CHECK-LABEL: tile.kernel @small
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @small(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !f -> tensor<16x16xf32>
  %u = tile.transpose %t [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  tile.store %u, %y[%c0, %c0] : tensor<16x16xf32>, !f
}

// CHECK-LABEL: tile.kernel @product
// CHECK: %[[T:.+]] = tile.transpose
// CHECK-NOT: tile.convert_layout %[[T]]
// CHECK: tile.store %[[T]]
tile.kernel @product(%x: !x, %y: !x, %z: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %t, %t, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32>, !f
  %e = tile.load %z[%c1, %c0] : !f -> tensor<64x64xf32>
  %u = tile.transpose %e [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %u, %z[%c0, %c1] : tensor<64x64xf32>, !f
}
