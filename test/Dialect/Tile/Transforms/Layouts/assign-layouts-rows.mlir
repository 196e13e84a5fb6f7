// The layout of tiles without products comes from loads of global memory, not from the
// first tile of the program, and their accesses decide how many neighbours a thread has.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts))' | FileCheck %s

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!half = !tile.buffer<?x?xbf16, #tile.strided<[?:4, 1], align = 8>, global>
!odd = !tile.buffer<?x?xbf16, #tile.strided<[?, 1]>, global>

// CHECK-DAG: #[[EIGHT:.+]] = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 4], order = [1, 0]>
// CHECK-DAG: #[[FOUR:.+]] = #tile.blocked<thread = [1, 4], lane = [1, 32], warp = [1, 4], order = [1, 0]>
// CHECK-DAG: #[[ONE:.+]] = #tile.blocked<thread = [1, 1], lane = [1, 32], warp = [1, 4], order = [1, 0]>

// The number comes first in the program.
// CHECK-LABEL: tile.kernel @wide
// CHECK: tile.load {{.*}} -> tensor<1x2048xbf16, #[[EIGHT]]>
// CHECK: arith.mulf {{.*}} : tensor<1x2048xf32, #[[EIGHT]]>
tile.kernel @wide(%x: !rows, %y: !rows, %a: f32) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tensor.splat %a : tensor<1x2048xf32>
  %t16 = tile.load %x[%c0, %c0] : !rows -> tensor<1x2048xbf16>
  %t = arith.extf %t16 : tensor<1x2048xbf16> to tensor<1x2048xf32>
  %u = arith.mulf %t, %at : tensor<1x2048xf32>
  %u16 = arith.truncf %u : tensor<1x2048xf32> to tensor<1x2048xbf16>
  tile.store %u16, %y[%c0, %c0] : tensor<1x2048xbf16>, !rows
}

// The base and the stride permit 8 bytes.
// CHECK-LABEL: tile.kernel @half
// CHECK: tile.load {{.*}} -> tensor<1x2048xbf16, #[[FOUR]]>
tile.kernel @half(%x: !half, %y: !half) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %x[%c0, %c0] : !half -> tensor<1x2048xbf16>
  tile.store %t, %y[%c0, %c0] : tensor<1x2048xbf16>, !half
}

// Single elements: those of neighbouring threads are neighbours.
// CHECK-LABEL: tile.kernel @odd
// CHECK: tile.load {{.*}} -> tensor<1x2048xbf16, #[[ONE]]>
tile.kernel @odd(%x: !odd, %y: !odd) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %x[%c0, %c0] : !odd -> tensor<1x2048xbf16>
  tile.store %t, %y[%c0, %c0] : tensor<1x2048xbf16>, !odd
}
