// Old values of atomic operations go to one warp. A tile that is too small for all
// warps grows beyond the end of a view of the buffer, and a reduction brings the old
// values to all warps.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' | FileCheck %s

!i = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-DAG: #[[LINE:.+]] = #tile.blocked<thread = [1], lane = [32], warp = [4], order = [0]>
// CHECK-DAG: #[[SPREAD:.+]] = #tile.layout<register = [], lane = [32 -> d0], warp = [4 -> d0 * 32]>

// CHECK-LABEL: tile.kernel @ticket(%arg0: {{.+}}, %arg2: index)
// CHECK: %[[END:.+]] = arith.addi %arg2, %c1
// CHECK: %[[EXTENT:.+]] = tile.dim %arg0[0]
// CHECK: %[[LENGTH:.+]] = arith.minsi %[[EXTENT]], %[[END]]
// CHECK: %[[ATLEAST:.+]] = arith.maxsi %[[LENGTH]], %c0
// CHECK: %[[VIEW:.+]] = tile.narrow %arg0[0] from %c0{{.*}} length %[[ATLEAST]]
// CHECK: %[[OLD:.+]] = tile.atomic_rmw addi %{{.+}}, %[[VIEW]][%arg2] order(acq_rel) : tensor<128xi32, #[[SPREAD]]>
// CHECK: tile.reduce ori
// CHECK: tensor.extract
tile.kernel @ticket(%c: !i, %o: !i, %place: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %one = arith.constant dense<1> : tensor<1xi32>
  %old = tile.atomic_rmw addi %one, %c[%place] order(acq_rel) : tensor<1xi32>, !i -> tensor<1xi32>
  %n = tensor.extract %old[%c0] : tensor<1xi32>
  %t = tensor.splat %n : tensor<128xi32>
  tile.store %t, %o[%c0] : tensor<128xi32>, !i
}

// The sums of rows that two warps share are converted to a layout without copies.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[SUMS:.+]] = tile.reduce addf
// CHECK: %[[VALUE:.+]] = tile.convert_layout %[[SUMS]] : tensor<128xf32, #tile.slice<1, #{{.+}}>> -> tensor<128xf32, #[[LINE]]>
// CHECK: tile.atomic_rmw addf %[[VALUE]], %{{.+}} : tensor<128xf32, #[[LINE]]>
!half = !tile.buffer<128x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?xf32, #tile.strided<[1]>, global>
tile.kernel @rows(%x: !half, %c: !f, %o: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !half -> tensor<128x64xf16>
  %b = tile.load %x[%c0, %c0] : !half -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot %t, %b, %zero {warps = array<i64: 2, 2>} : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
  %s = tile.reduce addf %d along 1 : tensor<128x64xf32> -> tensor<128xf32>
  %old = tile.atomic_rmw addf %s, %c[%c0] : tensor<128xf32>, !f -> tensor<128xf32>
  tile.store %old, %o[%c0] : tensor<128xf32>, !f
}

// A result that nothing uses.
// CHECK-LABEL: tile.kernel @unused
// CHECK: tile.atomic_rmw addi {{.+}} : tensor<4xi32, #{{.+}}>, !tile.buffer<?xi32, #{{.+}}, global>{{$}}
tile.kernel @unused(%c: !i) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %one = arith.constant dense<1> : tensor<4xi32>
  %old = tile.atomic_rmw addi %one, %c[%c0] : tensor<4xi32>, !i -> tensor<4xi32>
}
