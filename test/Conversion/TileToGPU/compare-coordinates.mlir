// In a role with registers of its own, and in kernels without products, elements compare
// constants with a number that the coordinate of the thread's first element is subtracted
// from.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-plan-shared-memory),tile-vectorize,canonicalize,cse)' | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#row = #tile.slice<1, #mma>
!flags = tensor<64x64xi1, #mma>
!ints = tensor<64x64xi32, #mma>
!out = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
!rows = !tile.buffer<64xi32, #tile.strided<[1], align = 16>, global>

// Numbers below all coordinates become -1, so that the difference does not wrap around.
// CHECK-LABEL: gpu.func @role
// CHECK: %[[COLUMNS:.*]] = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9, 16,
// CHECK: %[[MOST:.*]] = arith.maxsi %arg{{.*}}, %c-1_i32 : i32
// CHECK: %[[REST:.*]] = arith.subi %[[MOST]], %{{.*}} : i32
// CHECK: %[[SPLAT:.*]] = vector.broadcast %[[REST]] : i32 to vector<32xi32>
// CHECK: %[[INSIDE:.*]] = arith.cmpi sge, %[[SPLAT]], %[[COLUMNS]] : vector<32xi32>
tile.kernel @role(%o: !out, %last: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] registers = [240, 24] {
    %column = tile.iota along 1 : !ints
    %end = tensor.splat %last : !ints
    %inside = arith.cmpi sle, %column, %end : !ints
    %f = arith.uitofp %inside : !flags to tensor<64x64xf32, #mma>
    tile.store %f, %o[%c0, %c0] : tensor<64x64xf32, #mma>, !out
  }, {
  }
}

// One number for each row; on the right side, the predicate is that of exchanged sides.
// CHECK-LABEL: gpu.func @rows
// CHECK: arith.maxsi %{{.*}} : vector<2xi32>
// CHECK: %[[RESTS:.*]] = arith.subi %{{.*}} : vector<2xi32>
// CHECK: %[[BOUNDS:.*]] = vector.shuffle %[[RESTS]], %[[RESTS]]
// CHECK: arith.cmpi sgt, %[[BOUNDS]], %{{.*}} : vector<32xi32>
tile.kernel @rows(%o: !out, %r: !rows) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] registers = [240, 24] {
    %column = tile.iota along 1 : !ints
    %ends = tile.load %r[%c0] : !rows -> tensor<64xi32, #row>
    %end = tile.broadcast %ends along 1 : tensor<64xi32, #row> -> !ints
    %inside = arith.cmpi sgt, %end, %column : !ints
    %f = arith.uitofp %inside : !flags to tensor<64x64xf32, #mma>
    tile.store %f, %o[%c0, %c0] : tensor<64x64xf32, #mma>, !out
  }, {
  }
}

// Each block counts for itself: the numbers of two loops together are as many as the
// coordinates that a thread has.
// CHECK-LABEL: gpu.func @loops
// CHECK: scf.for
// CHECK: %[[RESTS:.*]] = arith.subi %{{.*}} : vector<2xi32>
// CHECK: vector.shuffle %[[RESTS]], %[[RESTS]]
// CHECK: scf.for
// CHECK: %[[MORE:.*]] = arith.subi %{{.*}} : vector<2xi32>
// CHECK: vector.shuffle %[[MORE]], %[[MORE]]
!few = tensor<64x32xi32, #mma>
!few_flags = tensor<64x32xi1, #mma>
!few_out = !tile.buffer<64x32xf32, #tile.strided<[32, 1], align = 16>, global>
tile.kernel @loops(%o: !few_out, %r: !rows, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] registers = [240, 24] {
    %column = tile.iota along 1 : !few
    scf.for %i = %c0 to %n step %c1 {
      %ends = tile.load %r[%i] : !rows -> tensor<64xi32, #row>
      %end = tile.broadcast %ends along 1 : tensor<64xi32, #row> -> !few
      %inside = arith.cmpi sgt, %end, %column : !few
      %f = arith.uitofp %inside : !few_flags to tensor<64x32xf32, #mma>
      tile.store %f, %o[%i, %c0] : tensor<64x32xf32, #mma>, !few_out
    }
    scf.for %i = %c0 to %n step %c1 {
      %ends = tile.load %r[%i] : !rows -> tensor<64xi32, #row>
      %end = tile.broadcast %ends along 1 : tensor<64xi32, #row> -> !few
      %inside = arith.cmpi slt, %end, %column : !few
      %f = arith.uitofp %inside : !few_flags to tensor<64x32xf32, #mma>
      tile.store %f, %o[%i, %c0] : tensor<64x32xf32, #mma>, !few_out
    }
  }, {
  }
}

// So in a kernel without products.
// CHECK-LABEL: gpu.func @no_products
// CHECK: %[[MOST:.*]] = arith.maxsi %arg{{.*}}, %c-1_i32 : i32
// CHECK: %[[REST:.*]] = arith.subi %[[MOST]], %{{.*}} : i32
// CHECK: %[[SPLAT:.*]] = vector.broadcast %[[REST]] : i32 to vector<32xi32>
// CHECK: arith.cmpi sge, %[[SPLAT]], %{{.*}} : vector<32xi32>
tile.kernel @no_products(%o: !out, %last: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %column = tile.iota along 1 : !ints
  %end = tensor.splat %last : !ints
  %inside = arith.cmpi sle, %column, %end : !ints
  %f = arith.uitofp %inside : !flags to tensor<64x64xf32, #mma>
  tile.store %f, %o[%c0, %c0] : tensor<64x64xf32, #mma>, !out
}

// Differences that wrap around are equal nevertheless.
// CHECK-LABEL: gpu.func @equal
// CHECK-NOT: arith.maxsi
// CHECK: %[[REST:.*]] = arith.subi %arg{{.*}}, %{{.*}} : i32
// CHECK: %[[SPLAT:.*]] = vector.broadcast %[[REST]] : i32 to vector<32xi32>
// CHECK: arith.cmpi eq, %[[SPLAT]], %{{.*}} : vector<32xi32>
tile.kernel @equal(%o: !out, %place: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %column = tile.iota along 1 : !ints
  %places = tensor.splat %place : !ints
  %is_there = arith.cmpi eq, %column, %places : !ints
  %f = arith.uitofp %is_there : !flags to tensor<64x64xf32, #mma>
  tile.store %f, %o[%c0, %c0] : tensor<64x64xf32, #mma>, !out
}

// In a kernel with products and without roles, elements compare their coordinates.
// CHECK-LABEL: gpu.func @no_roles
// CHECK-NOT: arith.maxsi
// CHECK: %[[COLUMN:.*]] = arith.addi {{.*}} : vector<32xi32>
// CHECK: arith.cmpi sle, %[[COLUMN]], %{{.*}} : vector<32xi32>
#lhs = #tile.dot_operand<0, #mma>
#rhs = #tile.dot_operand<1, #mma>
tile.kernel @no_roles(%o: !out, %last: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %column = tile.iota along 1 : !ints
  %end = tensor.splat %last : !ints
  %inside = arith.cmpi sle, %column, %end : !ints
  %f = arith.uitofp %inside : !flags to tensor<64x64xf32, #mma>
  %a = arith.constant dense<1.0> : tensor<64x16xf16, #lhs>
  %b = arith.constant dense<1.0> : tensor<16x64xf16, #rhs>
  %d = tile.dot %a, %b, %f : tensor<64x16xf16, #lhs>, tensor<16x64xf16, #rhs>
      -> tensor<64x64xf32, #mma>
  tile.store %d, %o[%c0, %c0] : tensor<64x64xf32, #mma>, !out
}
