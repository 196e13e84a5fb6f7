// Rows that are broadcast along both dimensions of a product: what is computed from them
// is computed in the layout with the fewest copies of its elements, and few conversions
// move elements between threads.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,cse))' | FileCheck %s

!m = !tile.buffer<?x64xbf16, #tile.strided<[64, 1], align = 16>, global>
!o = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// As rows of the product a thread has 2 elements, as columns 16: the function is computed
// on the former.
// CHECK-LABEL: tile.kernel @both_dimensions
tile.kernel @both_dimensions(%a: !m, %row: !v, %out: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !m -> tensor<64x64xbf16>
  %tt = tile.transpose %t [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %p = tile.dot %t, %tt, %zeros : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %r = tile.load %row[%c0] : !v -> tensor<64xf32>
  // CHECK: %[[EXP:.+]] = math.exp2 %{{.+}} : tensor<64xf32, #tile.slice<1, #mma>>
  %exp = math.exp2 %r : tensor<64xf32>
  // CHECK: %[[COLUMNS:.+]] = tile.convert_layout %[[EXP]] : {{.*}} -> tensor<64xf32, #tile.slice<0, #mma>>
  // CHECK: tile.broadcast %[[COLUMNS]] along 0
  %columns = tile.broadcast %exp along 0 : tensor<64xf32> -> tensor<64x64xf32>
  // CHECK: tile.broadcast %[[EXP]] along 1
  %rows = tile.broadcast %exp along 1 : tensor<64xf32> -> tensor<64x64xf32>
  %between = arith.subf %rows, %columns : tensor<64x64xf32>
  %q = arith.mulf %p, %between : tensor<64x64xf32>
  tile.store %q, %out[%c0, %c0] : tensor<64x64xf32>, !o
}

#rows = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d0 * 16]>
#lines = #tile.layout<register = [2 -> d0 * 32], lane = [32 -> d0], warp = [4 -> 0]>
#equal = #tile.slice<0, #tile.layout<register = [2 -> d1 * 32], lane = [32 -> d1], warp = [4 -> 0]>>
#spread = #tile.layout<register = [16 -> d0], lane = [4 -> d0 * 16, 8 -> 0], warp = [4 -> 0]>
#line = #tile.padded<0, order = [0]>

// A product of few elements that are in shared memory is computed in the other layout, once
// for layouts that are equal.
// CHECK-LABEL: tile.kernel @from_shared_memory
tile.kernel @from_shared_memory(%row: !v, %a: !v, %b: !v) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[ROW:.+]] = tile.load
  %r = tile.load %row[%c0] : !v -> tensor<64xf32, #line>
  %rows = tile.convert_layout %r : tensor<64xf32, #line> -> tensor<64xf32, #rows>
  %two = arith.constant dense<2.0> : tensor<64xf32, #rows>
  %product = arith.mulf %rows, %two : tensor<64xf32, #rows>
  // CHECK: %[[READ:.+]] = tile.convert_layout %[[ROW]] : {{.*}} -> tensor<64xf32, #[[LINES:layout[0-9]*]]>
  // CHECK: %[[FIRST:.+]] = arith.mulf %[[READ]], %{{.+}} : tensor<64xf32, #[[LINES]]>
  %first = tile.convert_layout %product : tensor<64xf32, #rows> -> tensor<64xf32, #lines>
  // CHECK: %[[SECOND:.+]] = tile.convert_layout %[[FIRST]] : tensor<64xf32, #[[LINES]]> -> tensor<64xf32, #tile.slice<0, #{{.+}}>>
  %second = tile.convert_layout %product : tensor<64xf32, #rows> -> tensor<64xf32, #equal>
  // CHECK: tile.store %[[FIRST]]
  tile.store %first, %a[%c0] : tensor<64xf32, #lines>, !v
  // CHECK: tile.store %[[SECOND]]
  tile.store %second, %b[%c0] : tensor<64xf32, #equal>, !v
}

// Where a thread would compute more than an exchange takes, elements move. Both conversions
// read what the first one writes to shared memory.
// CHECK-LABEL: tile.kernel @exchanged
tile.kernel @exchanged(%row: !v, %a: !v, %b: !v) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %r = tile.load %row[%c0] : !v -> tensor<64xf32, #line>
  %rows = tile.convert_layout %r : tensor<64xf32, #line> -> tensor<64xf32, #rows>
  // CHECK: %[[EXP:.+]] = math.exp2
  %exp = math.exp2 %rows : tensor<64xf32, #rows>
  // CHECK: %[[SPREAD:.+]] = tile.convert_layout %[[EXP]]
  %spread = tile.convert_layout %exp : tensor<64xf32, #rows> -> tensor<64xf32, #spread>
  // CHECK: tile.store %[[SPREAD]]
  tile.store %spread, %a[%c0] : tensor<64xf32, #spread>, !v
  // CHECK: %[[SIN:.+]] = math.sin %[[EXP]]
  // CHECK: %[[COS:.+]] = math.cos %[[SIN]]
  // CHECK: %[[MANY:.+]] = math.exp %[[COS]]
  %sin = math.sin %exp : tensor<64xf32, #rows>
  %cos = math.cos %sin : tensor<64xf32, #rows>
  %many = math.exp %cos : tensor<64xf32, #rows>
  %many_spread = tile.convert_layout %many : tensor<64xf32, #rows> -> tensor<64xf32, #spread>
  // CHECK: %[[LINES:.+]] = tile.convert_layout %[[MANY]] : tensor<64xf32, #[[ROWS:.+]]> -> tensor<64xf32, #[[LINE:layout[0-9]*]]>
  %lines = tile.convert_layout %many_spread : tensor<64xf32, #spread> -> tensor<64xf32, #lines>
  // CHECK: tile.store %[[LINES]]
  tile.store %lines, %b[%c0] : tensor<64xf32, #lines>, !v
}
