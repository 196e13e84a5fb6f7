// A scan combines the elements of a thread first, then those of lanes that
// differ along the dimension, in the order of the strides of their digits.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

#rows = #tile.blocked<thread = [1, 2], lane = [32, 1], warp = [1, 1], order = [1, 0]>
#line = #tile.layout<register = [2 -> d0], lane = [4 -> d0 * 2, 8 -> 0], warp = []>
#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

!v = !tile.buffer<8xf32, #tile.strided<[1], align = 16>, global>
!r = !tile.buffer<32x4xf32, #tile.strided<[4, 1], align = 16>, global>
!h = !tile.buffer<16x16xf16, #tile.strided<[16, 1], align = 16>, global>

// Two registers, then four lanes: a half of the lanes puts the total of the
// other half in front. Eight groups of lanes hold copies.
// CHECK-LABEL: gpu.func @lanes
// CHECK-DAG: %[[NEUTRAL:.+]] = arith.constant -0.000000e+00 : f32
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[C1:.+]] = arith.constant 1 : i32
// CHECK-DAG: %[[C2:.+]] = arith.constant 2 : i32
// CHECK-DAG: %[[C32:.+]] = arith.constant 32 : i32
// CHECK: %[[X0:.+]] = vector.extract %[[X:.+]][0] : f32 from vector<2xf32>
// CHECK: %[[X1:.+]] = vector.extract %[[X]][1] : f32 from vector<2xf32>
// CHECK: %[[T:.+]] = arith.addf %[[X0]], %[[X1]] : f32
// CHECK: %[[BIT1:.+]] = arith.andi %[[THREAD:.+]], %[[C1]] : i32
// CHECK: %[[LATER1:.+]] = arith.cmpi ne, %[[BIT1]], %[[C0]] : i32
// CHECK: %[[O1:.+]], %{{.+}} = gpu.shuffle xor %[[T]], %[[C1]], %[[C32]] : f32
// CHECK: %[[P1:.+]] = arith.select %[[LATER1]], %[[O1]], %[[NEUTRAL]] : f32
// CHECK: %[[T1:.+]] = arith.addf %[[T]], %[[O1]] : f32
// CHECK: %[[BIT2:.+]] = arith.andi %[[THREAD]], %[[C2]] : i32
// CHECK: %[[LATER2:.+]] = arith.cmpi ne, %[[BIT2]], %[[C0]] : i32
// CHECK: %[[O2:.+]], %{{.+}} = gpu.shuffle xor %[[T1]], %[[C2]], %[[C32]] : f32
// CHECK: %[[SUM:.+]] = arith.addf %[[O2]], %[[P1]] : f32
// CHECK: %[[P2:.+]] = arith.select %[[LATER2]], %[[SUM]], %[[P1]] : f32
// CHECK: %[[Y0:.+]] = arith.addf %[[P2]], %[[X0]] : f32
// CHECK: %[[Y1:.+]] = arith.addf %[[P2]], %[[T]] : f32
// CHECK: vector.from_elements %[[Y0]], %[[Y1]] : vector<2xf32>
// CHECK-NOT: gpu.shuffle
tile.kernel @lanes(%s: !v, %o: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0] : !v -> tensor<8xf32, #line>
  %r = tile.scan addf %t along 0 : tensor<8xf32, #line>
  tile.store %r, %o[%c0] : tensor<8xf32, #line>, !v
}

// From the end, the first half is the later one, and register 1 comes first.
// CHECK-LABEL: gpu.func @reverse
// CHECK: %[[X0:.+]] = vector.extract %[[X:.+]][0] : f32 from vector<2xf32>
// CHECK: %[[X1:.+]] = vector.extract %[[X]][1] : f32 from vector<2xf32>
// CHECK: %[[T:.+]] = arith.maxnumf %[[X1]], %[[X0]] : f32
// CHECK: arith.cmpi eq
// CHECK: arith.cmpi eq
// CHECK: %[[Y0:.+]] = arith.maxnumf %[[P:.+]], %[[T]] : f32
// CHECK: %[[Y1:.+]] = arith.maxnumf %[[P]], %[[X1]] : f32
// CHECK: vector.from_elements %[[Y0]], %[[Y1]] : vector<2xf32>
tile.kernel @reverse(%s: !v, %o: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0] : !v -> tensor<8xf32, #line>
  %r = tile.scan maxnumf %t along 0 reverse : tensor<8xf32, #line>
  tile.store %r, %o[%c0] : tensor<8xf32, #line>, !v
}

// A scan within a thread exchanges nothing.
// CHECK-LABEL: gpu.func @registers
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-3: arith.mulf %{{.+}} : f32
// CHECK-NOT: arith.mulf
// CHECK: gpu.return
tile.kernel @registers(%s: !r, %o: !r) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0, %c0] : !r -> tensor<32x4xf32, #rows>
  %r = tile.scan mulf %t along 1 : tensor<32x4xf32, #rows>
  tile.store %r, %o[%c0, %c0] : tensor<32x4xf32, #rows>, !r
}

// Registers repeat a pattern of lanes: they come after these. Each of the two
// rows has two runs of 8 columns; the second begins with the total of the first.
// f16 is exchanged as 32 bits.
// CHECK-LABEL: gpu.func @around_lanes
// CHECK-COUNT-4: gpu.shuffle xor %{{.+}}, %c1_i32, %c32_i32 : i32
// CHECK-COUNT-4: gpu.shuffle xor %{{.+}}, %c2_i32, %c32_i32 : i32
// CHECK-NOT: gpu.shuffle
// CHECK: vector.from_elements %{{.+}} : vector<8xf16>
tile.kernel @around_lanes(%s: !h, %o: !h) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0, %c0] : !h -> tensor<16x16xf16, #mma>
  %r = tile.scan addf %t along 1 : tensor<16x16xf16, #mma>
  tile.store %r, %o[%c0, %c0] : tensor<16x16xf16, #mma>, !h
}

// With 8 rows, registers 2 and 3 are copies of 0 and 1: they are scanned once.
// CHECK-LABEL: gpu.func @copies
// CHECK-COUNT-1: gpu.shuffle xor %{{.+}}, %c1_i32, %c32_i32 : f32
// CHECK-COUNT-1: gpu.shuffle xor %{{.+}}, %c2_i32, %c32_i32 : f32
// CHECK-NOT: gpu.shuffle
// CHECK: vector.from_elements %[[A:.+]], %[[B:.+]], %[[A]], %[[B]] : vector<4xf32>
tile.kernel @copies(%s: !tile.buffer<8x8xf32, #tile.strided<[8, 1], align = 16>, global>,
                    %o: !tile.buffer<8x8xf32, #tile.strided<[8, 1], align = 16>, global>)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.iota along 1 : tensor<8x8xi32, #mma>
  %t = arith.sitofp %i : tensor<8x8xi32, #mma> to tensor<8x8xf32, #mma>
  %r = tile.scan addf %t along 1 : tensor<8x8xf32, #mma>
  tile.store %r, %o[%c0, %c0] : tensor<8x8xf32, #mma>, !tile.buffer<8x8xf32, #tile.strided<[8, 1], align = 16>, global>
}

#runs = #tile.layout<register = [2 -> d0 * 4], lane = [32 -> 0], warp = [2 -> d0, 2 -> d0 * 2]>
#runs_of_all = #tile.layout<register = [8 -> d0], lane = [32 -> 0], warp = [4 -> 0]>
#line_of_warps = #tile.layout<register = [2 -> d0 * 8], lane = [2 -> d0, 16 -> 0], warp = [2 -> d0 * 2, 2 -> d0 * 4]>

// Warps have two runs of two elements each. Within a run the lanes exchange.
// CHECK-LABEL: gpu.func @in_warps
// CHECK-COUNT-2: gpu.shuffle xor %{{.+}}, %c1_i32, %c32_i32 : i32
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-2: vector.from_elements %{{.+}} : vector<2xi32>
tile.kernel @in_warps(%s: !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>,
                      %o: !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0] : !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global> -> tensor<16xi32, #line_of_warps>
  %r, %totals = tile.scan_in_warps addi %t along 0 : tensor<16xi32, #line_of_warps> -> tensor<8xi32, #runs>
  tile.store %r, %o[%c0] : tensor<16xi32, #line_of_warps>, !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>
  tile.store %totals, %o[%c0] : tensor<8xi32, #runs>, !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>
}

// A thread adds up the totals of all runs, and selects the sums in front of its
// own two runs by the number of its warp.
// CHECK-LABEL: gpu.func @join
// CHECK: vector.extract %{{.+}}[0] : i32 from vector<4xi32>
// CHECK-COUNT-6: arith.addi %{{.+}} : i32
// CHECK-COUNT-6: arith.select
// CHECK-NOT: arith.select
// CHECK-NOT: gpu.shuffle
// CHECK: vector.from_elements %{{.+}} : vector<2xi32>
tile.kernel @join(%s: !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>,
                  %a: !tile.buffer<8xi32, #tile.strided<[1], align = 16>, global>,
                  %o: !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0] : !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global> -> tensor<16xi32, #line_of_warps>
  %all = tile.load %a[%c0] : !tile.buffer<8xi32, #tile.strided<[1], align = 16>, global> -> tensor<8xi32, #runs_of_all>
  %r = tile.join_scans addi %t, %all along 0 : tensor<16xi32, #line_of_warps>, tensor<8xi32, #runs_of_all>
  tile.store %r, %o[%c0] : tensor<16xi32, #line_of_warps>, !tile.buffer<16xi32, #tile.strided<[1], align = 16>, global>
}

// A region has no number that changes nothing: whether anything comes before a run
// decides. The combination of two halves has the earlier one first.
// CHECK-LABEL: gpu.func @region
// CHECK: %[[X0:.+]] = vector.extract %[[X:.+]][0] : f32 from vector<2xf32>
// CHECK: %[[X1:.+]] = vector.extract %[[X]][1] : f32 from vector<2xf32>
// CHECK: %[[T:.+]] = arith.subf %[[X0]], %[[X1]] : f32
// CHECK: %[[LATER1:.+]] = arith.cmpi ne
// CHECK: %[[O1:.+]], %{{.+}} = gpu.shuffle xor %[[T]]
// CHECK: %[[FIRST1:.+]] = arith.select %[[LATER1]], %[[O1]], %[[T]] : f32
// CHECK: %[[SECOND1:.+]] = arith.select %[[LATER1]], %[[T]], %[[O1]] : f32
// CHECK: %[[T1:.+]] = arith.subf %[[FIRST1]], %[[SECOND1]] : f32
// CHECK: %[[LATER2:.+]] = arith.cmpi ne
// CHECK: %[[O2:.+]], %{{.+}} = gpu.shuffle xor %[[T1]]
// CHECK: %[[BOTH:.+]] = arith.subf %[[O2]], %[[O1]] : f32
// CHECK: %[[LONGER:.+]] = arith.select %[[LATER1]], %[[BOTH]], %[[O2]] : f32
// CHECK: %[[PREFIX:.+]] = arith.select %[[LATER2]], %[[LONGER]], %[[O1]] : f32
// CHECK: %[[EXISTS:.+]] = arith.ori %[[LATER1]], %[[LATER2]] : i1
// CHECK: %[[Y0:.+]] = arith.subf %[[PREFIX]], %[[X0]] : f32
// CHECK: %[[Z0:.+]] = arith.select %[[EXISTS]], %[[Y0]], %[[X0]] : f32
// CHECK: %[[Y1:.+]] = arith.subf %[[PREFIX]], %[[T]] : f32
// CHECK: %[[Z1:.+]] = arith.select %[[EXISTS]], %[[Y1]], %[[T]] : f32
// CHECK: vector.from_elements %[[Z0]], %[[Z1]] : vector<2xf32>
tile.kernel @region(%s: !v, %o: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %s[%c0] : !v -> tensor<8xf32, #line>
  %r = tile.associative_scan %t along 0 : tensor<8xf32, #line> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.subf %x, %y : f32
    tile.yield %z : f32
  }
  tile.store %r, %o[%c0] : tensor<8xf32, #line>, !v
}
