// Layouts and instructions that the author wrote are kept. Other tiles get the same
// layouts or are converted.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s

#wide = #tile.mma<"mfma.32x32x8.f16", warps = [2, 2]>
#mine = #tile.blocked<thread = [1, 4], lane = [4, 16], warp = [4, 1], order = [1, 0]>

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>

// CHECK-DAG: #[[MINE:blocked.*]] = #tile.blocked<thread = [1, 4], lane = [4, 16], warp = [4, 1], order = [1, 0]>
// CHECK-DAG: #[[WIDE:mma.*]] = #tile.mma<"mfma.32x32x8.f16", warps = [2, 2]>
// CHECK-DAG: #[[CHOSEN:mma.*]] = #tile.mma<"mfma.32x32x8.f16", warps = [2, 2], transposed>

// CHECK-LABEL: tile.kernel @instruction
tile.kernel @instruction(%a: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tile.dot {{.*}} {instruction = "mfma.32x32x8.f16"} : {{.*}} -> tensor<64x64xf32, #[[CHOSEN]]>
  %r = tile.dot %at, %at, %zero {instruction = "mfma.32x32x8.f16"}
      : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// CHECK-LABEL: tile.kernel @accumulator
tile.kernel @accumulator(%a: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #wide>
  %t = arith.constant dense<1.0> : tensor<64x64xf16, #tile.dot_operand<0, #wide>>
  %u = arith.constant dense<1.0> : tensor<64x64xf16, #tile.dot_operand<1, #wide>>
  // CHECK: %[[R:.+]] = tile.dot {{.*}} -> tensor<64x64xf32, #[[WIDE]]>
  %r = tile.dot %t, %u, %zero
      : tensor<64x64xf16, #tile.dot_operand<0, #wide>>, tensor<64x64xf16, #tile.dot_operand<1, #wide>>
      -> tensor<64x64xf32, #wide>
  // CHECK: %[[M:.+]] = tile.convert_layout %[[R]] : tensor<64x64xf32, #[[WIDE]]> -> tensor<64x64xf32, #[[MINE]]>
  %m = tile.convert_layout %r : tensor<64x64xf32, #wide> -> tensor<64x64xf32, #mine>
  // CHECK: arith.negf %[[M]] : tensor<64x64xf32, #[[MINE]]>
  %n = arith.negf %m : tensor<64x64xf32, #mine>
  tile.store %n, %o[%c0, %c0] : tensor<64x64xf32, #mine>, !f
}

// CHECK-LABEL: tile.kernel @load
tile.kernel @load(%a: !f, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[MINE]]>
  // CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[WIDE]]>
  %t = tile.load %a[%c0, %c0] : !f -> tensor<64x64xf32, #mine>
  %u = tile.load %a[%c0, %c0] : !f -> tensor<64x64xf32, #wide>
  // CHECK: %[[C:.+]] = tile.convert_layout %{{.+}} : tensor<64x64xf32, #[[WIDE]]> -> tensor<64x64xf32, #[[MINE]]>
  %c = tile.convert_layout %u : tensor<64x64xf32, #wide> -> tensor<64x64xf32, #mine>
  // CHECK: arith.addf %{{.+}}, %[[C]] : tensor<64x64xf32, #[[MINE]]>
  %s = arith.addf %t, %c : tensor<64x64xf32, #mine>
  tile.store %s, %o[%c0, %c0] : tensor<64x64xf32, #mine>, !f
}
