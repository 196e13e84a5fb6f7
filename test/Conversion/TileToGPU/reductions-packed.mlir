// Where an instruction adds two numbers to two others, a sum along a dimension has
// two parts, which are added last.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1201},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=PLAIN

#rows = #tile.layout<register = [4 -> d1, 2 -> d0], lane = [32 -> d0 * 2], warp = []>
!m = !tile.buffer<64x4xf32, #tile.strided<[4, 1], align = 16>, global>
!v = !tile.buffer<64xf32, #tile.strided<[1], align = 16>, global>

// CHECK-LABEL: gpu.func @sum
// CHECK: vector.shuffle %[[S:.+]], %[[S]] [0, 1, 4, 5]
// CHECK: vector.shuffle %[[S]], %[[S]] [2, 3, 6, 7]
// CHECK: %[[R:.+]] = arith.addf %{{.+}} : vector<4xf32>
// CHECK: vector.shuffle %[[R]], %[[R]] [0, 2]
// CHECK: vector.shuffle %[[R]], %[[R]] [1, 3]
// CHECK: arith.addf %{{.+}} : vector<2xf32>
// PLAIN-LABEL: gpu.func @sum
// PLAIN-COUNT-3: arith.addf %{{.+}} : vector<2xf32>
tile.kernel @sum(%m: !m, %o: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %m[%c0, %c0] : !m -> tensor<64x4xf32, #rows>
  %r = tile.reduce addf %t along 1 : tensor<64x4xf32, #rows> -> tensor<64xf32, #tile.slice<1, #rows>>
  tile.store %r, %o[%c0] : tensor<64xf32, #tile.slice<1, #rows>>, !v
}

// A maximum of three numbers is one instruction.
// CHECK-LABEL: gpu.func @maximum
// CHECK-COUNT-3: arith.maxnumf %{{.+}} : vector<2xf32>
tile.kernel @maximum(%m: !m, %o: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %m[%c0, %c0] : !m -> tensor<64x4xf32, #rows>
  %r = tile.reduce maxnumf %t along 1 : tensor<64x4xf32, #rows> -> tensor<64xf32, #tile.slice<1, #rows>>
  tile.store %r, %o[%c0] : tensor<64xf32, #tile.slice<1, #rows>>, !v
}
