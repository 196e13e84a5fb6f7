// The sources of tile.concatenate have one type, also where two attributes describe
// one layout.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' | FileCheck %s

!a = !tile.buffer<1x1xf32, #tile.strided<[1, 1]>, global>
!o = !tile.buffer<1x2xf32, #tile.strided<[2, 1]>, global>

// CHECK-LABEL: tile.kernel @pair
// CHECK: %[[T:.+]] = tile.transpose {{.+}} -> tensor<1x1xf32, #tile.permute<[0, 1], #[[LAYOUT:.+]]>>
// CHECK: %[[B:.+]] = tile.broadcast
// CHECK: %[[C:.+]] = tile.convert_layout %[[T]] : {{.+}} -> tensor<1x1xf32, #[[LAYOUT]]>
// CHECK: tile.concatenate %[[B]], %[[C]] along 1 : tensor<1x1xf32, #[[LAYOUT]]>
tile.kernel @pair(%a: !a, %o: !o) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = tile.load %a[%c0, %c0] : !a -> tensor<1x1xf32>
  %t = tile.transpose %x [0, 1] : tensor<1x1xf32> -> tensor<1x1xf32>
  %r = tile.reduce maximumf %x along 1 : tensor<1x1xf32> -> tensor<1xf32>
  %b = tile.broadcast %r along 1 : tensor<1xf32> -> tensor<1x1xf32>
  %y = tile.concatenate %b, %t along 1 : tensor<1x1xf32> -> tensor<1x2xf32>
  tile.store %y, %o[%c0, %c0] : tensor<1x2xf32>, !o
}
