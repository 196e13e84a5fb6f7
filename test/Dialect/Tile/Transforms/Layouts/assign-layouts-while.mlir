// The tiles that scf.while carries have one layout for each number, in both of its
// regions, whose numbers of values may differ.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' | FileCheck %s

!b = !tile.buffer<64x32xf32, #tile.strided<[32, 1], align = 16>, global>

// CHECK: #[[ROWS:.+]] = #tile.blocked<thread = [1, 4], lane = [4, 8], warp = [4, 1], order = [1, 0]>
// CHECK-LABEL: tile.kernel @until_small
// CHECK: scf.while (%[[Y:.+]] = %{{.+}}, %{{.+}} = %{{.+}}) : (tensor<64x32xf32, #[[ROWS]]>, i32) -> tensor<64x32xf32, #[[ROWS]]>
// CHECK: scf.condition(%{{.+}}) %[[Y]] : tensor<64x32xf32, #[[ROWS]]>
// CHECK: ^bb0(%{{.+}}: tensor<64x32xf32, #[[ROWS]]>)
// CHECK: scf.yield %{{.+}}, %{{.+}} : tensor<64x32xf32, #[[ROWS]]>, i32
tile.kernel @until_small(%x: !b, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.grid %c1, %c1, %c1
  %half = arith.constant dense<0.5> : tensor<64x32xf32>
  %t = tile.load %x[%c0, %c0] : !b -> tensor<64x32xf32>
  %r = scf.while (%y = %t, %i = %n) : (tensor<64x32xf32>, i32) -> tensor<64x32xf32> {
    %more = arith.cmpi sgt, %i, %one : i32
    scf.condition(%more) %y : tensor<64x32xf32>
  } do {
  ^bb0(%y: tensor<64x32xf32>):
    %z = arith.mulf %y, %half : tensor<64x32xf32>
    scf.yield %z, %one : tensor<64x32xf32>, i32
  }
  tile.store %r, %x[%c0, %c0] : tensor<64x32xf32>, !b
}

// No tile is carried; the numbers of values differ.
// CHECK-LABEL: tile.kernel @scalars
// CHECK: scf.while {{.*}} : (i32, i32) -> i32
tile.kernel @scalars(%x: !b, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.grid %c1, %c1, %c1
  %r = scf.while (%i = %one, %j = %n) : (i32, i32) -> i32 {
    %more = arith.cmpi slt, %i, %j : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %k = arith.addi %i, %i : i32
    scf.yield %k, %n : i32, i32
  }
  %f = arith.sitofp %r : i32 to f32
  %t = tensor.splat %f : tensor<64x32xf32>
  tile.store %t, %x[%c0, %c0] : tensor<64x32xf32>, !b
}
