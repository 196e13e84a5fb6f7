// Layouts of reshaped tiles, of parts, and of tiles side by side.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts,cse))' | FileCheck %s

!x = !tile.buffer<64x128xf32, #tile.strided<[128, 1], align = 16>, global>
!y = !tile.buffer<64x4x32xf32, #tile.strided<[128, 32, 1], align = 16>, global>
!z = !tile.buffer<32x256xf32, #tile.strided<[256, 1], align = 16>, global>
!row = !tile.buffer<1x128xf32, #tile.strided<[128, 1], align = 16>, global>

// The layout of the source divides, so no element moves.
// CHECK-LABEL: tile.kernel @divide
// CHECK: %[[R:.+]] = tile.reshape %{{.+}} : tensor<64x128xf32, #blocked> -> tensor<64x4x32xf32, #{{.+}}>
// CHECK-NEXT: tile.store %[[R]],
tile.kernel @divide(%x: !x, %y: !y) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<64x128xf32>
  %r = tile.reshape %t : tensor<64x128xf32> -> tensor<64x4x32xf32>
  tile.store %r, %y[%c0, %c0, %c0] : tensor<64x4x32xf32>, !y
}

// Neither joins nor divides dimensions: two steps.
// CHECK-LABEL: tile.kernel @both
// CHECK: %[[F:.+]] = tile.reshape %{{.+}} -> tensor<8192xf32,
// CHECK-NEXT: tile.reshape %[[F]] : {{.*}} -> tensor<32x256xf32,
tile.kernel @both(%x: !x, %z: !z) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<64x128xf32>
  %r = tile.reshape %t : tensor<64x128xf32> -> tensor<32x256xf32>
  tile.store %r, %z[%c0, %c0] : tensor<32x256xf32>, !z
}

// A thread has elements of both halves, at equal places.
// CHECK-LABEL: tile.kernel @half
// CHECK: tile.extract %{{.+}} [32, 0] : tensor<64x128xf32, #blocked> -> tensor<32x128xf32, #[[HALF:.+]]>
// CHECK-NOT: tile.convert_layout
tile.kernel @half(%x: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<64x128xf32>
  %r = tile.extract %t [32, 0] : tensor<64x128xf32> -> tensor<32x128xf32>
  tile.store %r, %x[%c0, %c0] : tensor<32x128xf32>, !x
}

// One row is too small for all threads: a reduction finds it.
// CHECK-LABEL: tile.kernel @row
// CHECK: %[[B:.+]] = arith.bitcast %{{.+}} : tensor<64x128xf32, #{{.+}}> to tensor<64x128xi32,
// CHECK: %[[P:.+]] = tile.reshape %[[B]] : {{.*}} -> tensor<64x1x128xi32,
// CHECK: %[[S:.+]] = arith.select %{{.+}}, %[[P]],
// CHECK: tile.reduce ori %[[S]] along 0
// CHECK: arith.bitcast
tile.kernel @row(%x: !x, %y: !row) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<64x128xf32>
  %r = tile.extract %t [63, 0] : tensor<64x128xf32> -> tensor<1x128xf32>
  tile.store %r, %y[%c0, %c0] : tensor<1x128xf32>, !row
}

// CHECK-LABEL: tile.kernel @beside
// CHECK-NOT: tile.convert_layout
// CHECK: tile.concatenate %{{.+}}, %{{.+}} along 0 : tensor<32x128xf32, #blocked> -> tensor<64x128xf32,
// CHECK-NOT: tile.convert_layout
tile.kernel @beside(%x: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<32x128xf32>
  %e = math.absf %t : tensor<32x128xf32>
  %r = tile.concatenate %t, %e along 0 : tensor<32x128xf32> -> tensor<64x128xf32>
  tile.store %r, %x[%c0, %c0] : tensor<64x128xf32>, !x
}
