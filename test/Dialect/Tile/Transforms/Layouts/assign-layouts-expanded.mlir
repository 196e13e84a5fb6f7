// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts))' | FileCheck %s

!bytes = !tile.buffer<?x?xi8, #tile.strided<[?:16, 1], align = 16>, global>
!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!scales = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!scale_row = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!acc = tensor<64x16xf32>

// CHECK-DAG: #[[MMA:.+]] = #tile.mma<"wgmma.m64k16.bf16", warps = [4, 1]>
// CHECK-DAG: #[[A:.+]] = #tile.dot_operand<0, #[[MMA]]>
// CHECK-DAG: #[[BLOCKED:.+]] = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

// The left operand is computed from bytes in the layout of its fragments. The bytes come to
// shared memory, and so do the scales, which several threads need.
// CHECK-LABEL: tile.kernel @bytes
// CHECK: scf.for
// CHECK: %[[BYTES:.*]] = tile.load %{{.*}} -> tensor<64x64xi8, #tile.swizzle<64>>
// CHECK: %[[OWN:.*]] = tile.convert_layout %[[BYTES]] : {{.*}} -> tensor<64x64xi8, #[[A]]>
// CHECK: %[[W:.*]] = arith.sitofp %[[OWN]] : {{.*}} to tensor<64x64xbf16, #[[A]]>
// CHECK: %[[SCALES:.*]] = tile.load %{{.*}} -> tensor<64xbf16, #tile.padded<0, order = [0]>>
// CHECK: tile.dot %[[W]], %{{.*}}
// CHECK: tile.convert_layout %[[SCALES]] : {{.*}} -> tensor<64xbf16, #tile.slice<1, #[[MMA]]>>
tile.kernel @bytes(%w: !bytes, %x: !matrix, %s: !scales, %y: !matrix, %k: index)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!acc) {
    %bytes = tile.load %w[%c0, %i] : !bytes -> tensor<64x64xi8>
    %wt = arith.sitofp %bytes : tensor<64x64xi8> to tensor<64x64xbf16>
    %xt = tile.load %x[%c0, %i] : !matrix -> tensor<16x64xbf16>
    %row = tile.slice %s[%i, *] : !scales to !scale_row
    %st = tile.load %row[%c0] : !scale_row -> tensor<64xbf16>
    %xc = tile.transpose %xt [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
    %part = tile.dot %wt, %xc, %zero : tensor<64x64xbf16>, tensor<64x16xbf16> -> !acc
    %s32 = arith.extf %st : tensor<64xbf16> to tensor<64xf32>
    %all = tile.broadcast %s32 along 1 : tensor<64xf32> -> !acc
    %scaled = arith.mulf %part, %all : !acc
    %next = arith.addf %acc, %scaled : !acc
    scf.yield %next : !acc
  }
  %narrow = arith.truncf %sum : !acc to tensor<64x16xbf16>
  tile.store %narrow, %y[%c0, %c0] : tensor<64x16xbf16>, !matrix
}

// An operand as large as its source is computed as its source lies.
// CHECK-LABEL: tile.kernel @halves
// CHECK: scf.for
// CHECK: %[[HALVES:.*]] = tile.load %{{.*}} -> tensor<64x64xf16, #[[BLOCKED]]>
// CHECK: arith.negf %[[HALVES]]
tile.kernel @halves(%w: !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>, %y: !matrix, %k: index)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!acc) {
    %wt = tile.load %w[%c0, %i] : !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global> -> tensor<64x64xf16>
    %minus = arith.negf %wt : tensor<64x64xf16>
    %xt = tile.load %w[%i, %c0] : !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global> -> tensor<64x16xf16>
    %next = tile.dot %minus, %xt, %acc : tensor<64x64xf16>, tensor<64x16xf16> -> !acc
    scf.yield %next : !acc
  }
  %narrow = arith.truncf %sum : !acc to tensor<64x16xbf16>
  tile.store %narrow, %y[%c0, %c0] : tensor<64x16xbf16>, !matrix
}
