// Reshapes keep their vectors, parts and tiles side by side choose registers, and constant tiles select by the bits of the
// thread that their elements depend on.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize)' | FileCheck %s

#rows = #tile.blocked<thread = [1, 4], lane = [4, 8], warp = [1, 1], order = [1, 0]>
#flat = #tile.layout<register = [4 -> d0, 2 -> d0 * 128], lane = [8 -> d0 * 4, 4 -> d0 * 32], warp = []>
!x = !tile.buffer<8x32xf32, #tile.strided<[32, 1], align = 16>, global>
!i = !tile.buffer<2x2xi32, #tile.strided<[2, 1]>, global>

// CHECK-LABEL: gpu.func @shapes
tile.kernel @shapes(%x: !x) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: vector.insert_strided_slice
  // CHECK: %[[T:.+]] = vector.insert_strided_slice %{{.+}} : vector<4xf32> into vector<8xf32>
  %t = tile.load %x[%c0, %c0] : !x -> tensor<8x32xf32, #rows>
  // CHECK-NOT: vector.shuffle
  // CHECK: %[[N:.+]] = arith.negf %[[T]] : vector<8xf32>
  %f = tile.reshape %t : tensor<8x32xf32, #rows> -> tensor<256xf32, #flat>
  %n = arith.negf %f : tensor<256xf32, #flat>
  // CHECK: %[[P:.+]] = vector.shuffle %[[N]], %[[N]] [4, 5, 6, 7]
  %b = tile.reshape %n : tensor<256xf32, #flat> -> tensor<8x32xf32, #rows>
  %p = tile.extract %b [4, 0] : tensor<8x32xf32, #rows> -> tensor<4x32xf32, #rows>
  // CHECK: vector.insert_strided_slice %[[P]]
  // CHECK: vector.insert_strided_slice %[[P]]
  %c = tile.concatenate %p, %p along 0 : tensor<4x32xf32, #rows> -> tensor<8x32xf32, #rows>
  tile.store %c, %x[%c0, %c0] : tensor<8x32xf32, #rows>, !x
}

// Lane 2 has the second row. All other bits of the thread change nothing.
// CHECK-LABEL: gpu.func @constant
tile.kernel @constant(%i: !i) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK-DAG: %[[LOW:.+]] = arith.constant dense<[1, 2]> : vector<2xi32>
  // CHECK-DAG: %[[HIGH:.+]] = arith.constant dense<[3, 4]> : vector<2xi32>
  // CHECK: %[[BIT:.+]] = arith.andi %{{.+}}, %c2_i32 : i32
  // CHECK: %[[IS_LOW:.+]] = arith.cmpi eq, %[[BIT]], %c0_i32{{.*}} : i32
  // CHECK: arith.select %[[IS_LOW]], %[[LOW]], %[[HIGH]] : vector<2xi32>
  // CHECK-NOT: arith.select
  %t = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32, #tile.layout<register = [2 -> d1], lane = [2 -> 0, 2 -> d0, 8 -> 0], warp = []>>
  tile.store %t, %i[%c0, %c0] : tensor<2x2xi32, #tile.layout<register = [2 -> d1], lane = [2 -> 0, 2 -> d0, 8 -> 0], warp = []>>, !i
}
