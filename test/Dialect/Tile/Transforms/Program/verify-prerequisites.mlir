// RUN: tile-opt %s --tile-verify-prerequisites -split-input-file -verify-diagnostics | FileCheck %s

// A kernel before one that does not wait has ended, so @third may read its results at once. @third
// also reads memory that @second reads, and writes memory that no other kernel accesses.

!b = !tile.buffer<64xf32, #tile.strided<[1]>, global>

tile.kernel @first(%a: !b {tile.name = "a"}) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  tile.grid %c1, %c1, %c1
  tile.store %zeros, %a[%c0] : tensor<64xf32>, !b
}
tile.kernel @second(%a: !b {tile.name = "a"}, %o: !b {tile.name = "o"}) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0] : !b -> tensor<64xf32>
  tile.store %t, %o[%c0] : tensor<64xf32>, !b
}
// CHECK-LABEL: tile.kernel @third
// CHECK: tile.load
// CHECK: tile.store
// CHECK: tile.wait_prerequisites
// CHECK: tile.load
tile.kernel @third(%p: !b {tile.name = "p"}, %a: !b {tile.name = "a"}, %o: !b {tile.name = "o"}) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0] : !b -> tensor<64xf32>
  tile.store %t, %p[%c0] : tensor<64xf32>, !b
  tile.wait_prerequisites
  %u = tile.load %o[%c0] : !b -> tensor<64xf32>
  tile.store %u, %p[%c0] : tensor<64xf32>, !b
}
