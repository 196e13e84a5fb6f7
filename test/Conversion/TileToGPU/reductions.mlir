// Registers are reduced first, then the lanes that differ along the dimension.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#rows = #tile.blocked<thread = [1, 2], lane = [32, 1], warp = [1, 1], order = [1, 0]>

!v = !tile.buffer<32xf32, #tile.strided<[1], align = 16>, global>
!h = !tile.buffer<16xf16, #tile.strided<[1], align = 16>, global>
!i = !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>

// Four lanes share a row: exchanges at distances 1 and 2, one per row.
// CHECK-LABEL: gpu.func @columns
// CHECK-DAG: %[[WIDTH:.+]] = arith.constant 32 : i32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : i32
// CHECK-DAG: %[[TWO:.+]] = arith.constant 2 : i32
// CHECK: vector.shuffle %[[S:.+]], %[[S]] [0, 2]
// CHECK: vector.shuffle %[[S]], %[[S]] [1, 3]
// CHECK: arith.maxnumf %{{.+}} : vector<2xf32>
// CHECK: vector.shuffle %[[S]], %[[S]] [4, 6]
// CHECK: arith.maxnumf %{{.+}} : vector<2xf32>
// CHECK: vector.shuffle %[[S]], %[[S]] [5, 7]
// CHECK: %[[R:.+]] = arith.maxnumf %{{.+}} : vector<2xf32>
// CHECK: %[[A:.+]] = vector.extract %[[R]][0]
// CHECK: %[[A1:.+]], %{{.+}} = gpu.shuffle xor %[[A]], %[[ONE]], %[[WIDTH]] : f32
// CHECK: %[[B:.+]] = vector.extract %[[R]][1]
// CHECK: %[[B1:.+]], %{{.+}} = gpu.shuffle xor %[[B]], %[[ONE]], %[[WIDTH]] : f32
// CHECK: %[[O:.+]] = vector.from_elements %[[A1]], %[[B1]] : vector<2xf32>
// CHECK: arith.maxnumf %[[R]], %[[O]] : vector<2xf32>
// CHECK-COUNT-2: gpu.shuffle xor %{{.+}}, %[[TWO]], %[[WIDTH]] : f32
// CHECK: arith.maxnumf
// CHECK-NOT: gpu.shuffle
tile.kernel @columns(%o: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.iota along 1 : tensor<16x16xi32, #mma>
  %t = arith.sitofp %i : tensor<16x16xi32, #mma> to tensor<16x16xf32, #mma>
  %r = tile.reduce maxnumf %t along 1 : tensor<16x16xf32, #mma> -> tensor<16xf32, #tile.slice<1, #mma>>
  tile.store %r, %o[%c0] : tensor<16xf32, #tile.slice<1, #mma>>, !v
}

// Eight lanes share a column: distances 4, 8 and 16. f16 is exchanged as 32 bits.
// CHECK-LABEL: gpu.func @rows
// CHECK: %[[BITS:.+]] = arith.bitcast %{{.+}} : f16 to i16
// CHECK: %[[WIDE:.+]] = arith.extui %[[BITS]] : i16 to i32
// CHECK: %[[OTHER:.+]], %{{.+}} = gpu.shuffle xor %[[WIDE]], %c4_i32, %c32_i32 : i32
// CHECK: %[[HALF:.+]] = arith.trunci %[[OTHER]] : i32 to i16
// CHECK: arith.bitcast %[[HALF]] : i16 to f16
// CHECK: gpu.shuffle xor %{{.+}}, %c8_i32, %c32_i32 : i32
// CHECK: gpu.shuffle xor %{{.+}}, %c16_i32, %c32_i32 : i32
tile.kernel @rows(%o: !h) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.iota along 1 : tensor<16x16xi32, #mma>
  %t = arith.sitofp %i : tensor<16x16xi32, #mma> to tensor<16x16xf16, #mma>
  %r = tile.reduce addf %t along 0 : tensor<16x16xf16, #mma> -> tensor<16xf16, #tile.slice<0, #mma>>
  tile.store %r, %o[%c0] : tensor<16xf16, #tile.slice<0, #mma>>, !h
}

// A reduction within a thread exchanges nothing.
// CHECK-LABEL: gpu.func @registers
// CHECK-COUNT-3: arith.minimumf
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
tile.kernel @registers(%s: !tile.buffer<32x4xf32, #tile.strided<[4, 1], align = 16>, global>, %o: !v)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0, %c0] : !tile.buffer<32x4xf32, #tile.strided<[4, 1], align = 16>, global> -> tensor<32x4xf32, #rows>
  %r = tile.reduce minimumf %t along 1 : tensor<32x4xf32, #rows> -> tensor<32xf32, #tile.slice<1, #rows>>
  tile.store %r, %o[%c0] : tensor<32xf32, #tile.slice<1, #rows>>, !v
}

// A tile smaller than the instruction has copies in registers, which are counted
// once: with 8 rows, registers 2 and 3 are copies of 0 and 1.
// CHECK-LABEL: gpu.func @copies
// CHECK: %[[T:.+]] = arith.sitofp %{{.+}} : vector<4xi32> to vector<4xf32>
// CHECK: %[[X:.+]] = vector.shuffle %[[T]], %[[T]] [0] : vector<4xf32>, vector<4xf32>
// CHECK: %[[Y:.+]] = vector.shuffle %[[T]], %[[T]] [1] : vector<4xf32>, vector<4xf32>
// CHECK: arith.addf %[[X]], %[[Y]] : vector<1xf32>
// CHECK-NOT: vector.shuffle
tile.kernel @copies(%o: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.iota along 1 : tensor<8x8xi32, #mma>
  %t = arith.sitofp %i : tensor<8x8xi32, #mma> to tensor<8x8xf32, #mma>
  %r = tile.reduce addf %t along 1 : tensor<8x8xf32, #mma> -> tensor<8xf32, #tile.slice<1, #mma>>
  tile.store %r, %o[%c0] : tensor<8xf32, #tile.slice<1, #mma>>, !v
}

#wide = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [2 -> d1]>

// A reduction within each of two warps exchanges nothing between them.
// CHECK-LABEL: gpu.func @in_warps
// CHECK: vector.shuffle %[[S:.+]], %[[S]] [0, 2]
// CHECK: vector.shuffle %[[S]], %[[S]] [1, 3]
// CHECK: arith.addf %{{.+}} : vector<2xf32>
// CHECK-COUNT-2: gpu.shuffle xor %{{.+}}, %c1_i32, %c32_i32
// CHECK-COUNT-2: gpu.shuffle xor %{{.+}}, %c2_i32, %c32_i32
// CHECK-NOT: gpu.shuffle
tile.kernel @in_warps(%s: !tile.buffer<16x16xf32, #tile.strided<[16, 1], align = 16>, global>,
                      %o: !tile.buffer<16x2xf32, #tile.strided<[2, 1], align = 16>, global>)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0, %c0] : !tile.buffer<16x16xf32, #tile.strided<[16, 1], align = 16>, global> -> tensor<16x16xf32, #wide>
  %r = tile.reduce_in_warps addf %t along 1 : tensor<16x16xf32, #wide> -> tensor<16x2xf32, #partial>
  tile.store %r, %o[%c0, %c0] : tensor<16x2xf32, #partial>, !tile.buffer<16x2xf32, #tile.strided<[2, 1], align = 16>, global>
}

// Each thread repeats the number of its warp: no exchange.
// CHECK-LABEL: gpu.func @broadcast_in_warps
// CHECK: %[[PART:.+]] = vector.load
// CHECK-NOT: gpu.shuffle
// CHECK: vector.store
tile.kernel @broadcast_in_warps(%s: !tile.buffer<16x2xf32, #tile.strided<[2, 1], align = 16>, global>,
                                %o: !tile.buffer<16x16xf32, #tile.strided<[16, 1], align = 16>, global>)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0, %c0] : !tile.buffer<16x2xf32, #tile.strided<[2, 1], align = 16>, global> -> tensor<16x2xf32, #partial>
  %r = tile.broadcast_in_warps %t along 1 : tensor<16x2xf32, #partial> -> tensor<16x16xf32, #wide>
  tile.store %r, %o[%c0, %c0] : tensor<16x16xf32, #wide>, !tile.buffer<16x16xf32, #tile.strided<[16, 1], align = 16>, global>
}
