// A part that does not divide its tile goes through shared memory; flags are bytes there.
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' | FileCheck %s

!flags = !tile.buffer<12x40xi32, #tile.strided<[40, 1]>, global>
!out = !tile.buffer<12x24xi32, #tile.strided<[24, 1]>, global>

// CHECK-LABEL: tile.kernel @flags
// CHECK: %[[BYTES:.*]] = arith.extui {{.*}} to tensor<12x40xi8
// CHECK: %[[BUFFER:.*]] = tile.alloc : !tile.buffer<12x40xi8, #tile.padded<0, order = [1, 0]>, shared>
// CHECK: tile.store %[[BYTES]], %[[BUFFER]][%c0
// CHECK: %[[PART:.*]] = tile.load %[[BUFFER]][%c0{{.*}}, %c13]
// CHECK: arith.trunci %[[PART]]
// CHECK-NOT: tile.extract
// A part that divides the tile stays in registers.
// CHECK-LABEL: tile.kernel @divided
// CHECK-NOT: tile.alloc
// CHECK: tile.extract
tile.kernel @flags(%a: !flags, %o: !out) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !flags -> tensor<12x40xi32>
  %zero = arith.constant dense<0> : tensor<12x40xi32>
  %f = arith.cmpi ne, %t, %zero : tensor<12x40xi32>
  %p = tile.extract %f [0, 13] : tensor<12x40xi1> -> tensor<12x24xi1>
  %r = arith.extui %p : tensor<12x24xi1> to tensor<12x24xi32>
  tile.store %r, %o[%c0, %c0] : tensor<12x24xi32>, !out
}

tile.kernel @divided(%a: !flags, %o: !out) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !flags -> tensor<4x64xi32>
  %p = tile.extract %t [0, 32] : tensor<4x64xi32> -> tensor<4x32xi32>
  tile.store %p, %o[%c0, %c0] : tensor<4x32xi32>, !out
}
