// RUN: tile-opt %s \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,tile-bufferize,tile-choose-roles,tile-persist,cse,tile-specialize-warps))' \
// RUN:   | FileCheck %s

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x128xf32>

// Two tiles of one argument in each work go through one ring, whose slots are two for
// each stage. The plan counts them, so that two stages remain for the other ring.
// CHECK-LABEL: tile.kernel @two_tiles
// CHECK: tile.ring.create {{.*}} : !tile.ring<!tile.buffer<128x128xf16, #tile.swizzle<128>, shared>, 4>
// CHECK: tile.ring.create {{.*}} : !tile.ring<!tile.buffer<128x128xf16, #tile.swizzle<128>, shared>, 2>
tile.kernel @two_tiles(%a: !m, %b: !m, %c: !m, %k: index, %blocks: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  tile.grid %blocks, %c1, %c1
  %x = tile.program_id x
  %row = arith.muli %x, %c256 : index
  %next_row = arith.addi %row, %c128 : index
  %first = tile.load %a[%row, %c0] : !m -> tensor<128x128xf16>
  %second = tile.load %a[%next_row, %c0] : !m -> tensor<128x128xf16>
  %zero = arith.constant dense<0.0> : !acc
  %s:2 = scf.for %i = %c0 to %k step %c128 iter_args(%s0 = %zero, %s1 = %zero) -> (!acc, !acc) {
    %bt = tile.load %b[%c0, %i] : !m -> tensor<128x128xf16>
    %n0 = tile.dot %first, %bt, %s0 : tensor<128x128xf16>, tensor<128x128xf16> -> !acc
    %n1 = tile.dot %second, %bt, %s1 : tensor<128x128xf16>, tensor<128x128xf16> -> !acc
    scf.yield %n0, %n1 : !acc, !acc
  }
  %sum = arith.addf %s#0, %s#1 : !acc
  %r = arith.truncf %sum : !acc to tensor<128x128xf16>
  tile.store %r, %c[%row, %c0] : tensor<128x128xf16>, !m
}

// The producer finds the coordinates of a work once, before its loop over k.
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.store
// CHECK: scf.for %[[WORK:.*]] = {{.*}} : i32 {
// CHECK: arith.mului_extended %[[WORK]]
// CHECK: scf.for
// CHECK-NOT: arith.mului_extended
// CHECK: tile.bulk_copy
// CHECK-NOT: arith.mului_extended
// CHECK: tile.bulk_copy
tile.kernel @product(%a: !m, %b: !m, %c: !m, %k: index, %rows: index, %columns: index)
    attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4, work_stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c128 : index
  %zero = arith.constant dense<0.0> : !acc
  %s = scf.for %i = %c0 to %k step %c64 iter_args(%s0 = %zero) -> (!acc) {
    %at = tile.load %a[%row, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %column] : !m -> tensor<64x128xf16>
    %n0 = tile.dot %at, %bt, %s0 : tensor<128x64xf16>, tensor<64x128xf16> -> !acc
    scf.yield %n0 : !acc
  }
  %r = arith.truncf %s : !acc to tensor<128x128xf16>
  tile.store %r, %c[%row, %column] : tensor<128x128xf16>, !m
}
