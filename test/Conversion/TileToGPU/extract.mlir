// A part of a tile is a choice of registers.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

!o = !tile.buffer<16x8xi32, #tile.strided<[8, 1], align = 16>, global>

// A thread has 8 registers: two columns of rows 0 and 8 of each half.
// CHECK-LABEL: gpu.func @right
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [4, 5, 6, 7] : vector<8xi32>
tile.kernel @right(%o: !o, %n: i32) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.iota along 1 : tensor<16x16xi32, #mma>
  %t = tensor.splat %n : tensor<16x16xi32, #mma>
  %sum = arith.addi %i, %t : tensor<16x16xi32, #mma>
  %right = tile.extract %sum [0, 8] : tensor<16x16xi32, #mma> -> tensor<16x8xi32, #mma>
  tile.store %right, %o[%c0, %c0] : tensor<16x8xi32, #mma>, !o
}
