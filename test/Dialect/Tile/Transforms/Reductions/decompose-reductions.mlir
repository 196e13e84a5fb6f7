// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-decompose-reductions))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-decompose-reductions))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

#rows = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#columns = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#both = #tile.mma<"mma.m16n8k16.f16", warps = [2, 2]>

// CHECK-DAG: #[[COLUMNS:mma.*]] = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
// CHECK-DAG: #[[PART:layout.*]] = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
// CHECK-DAG: #[[TOTAL:layout.*]] = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
// CHECK-DAG: #[[TOTALS_OF_ALL:layout.*]] = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>
// CHECK-DAG: #[[ALL:layout.*]] = #tile.layout<register = [4 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>

// 64 sums, in runs of 8 that 8 lanes have.
// CHECK-DAG: #[[PARTS:layout.*]] = #tile.layout<register = [8 -> d1], lane = [8 -> d1 * 8, 4 -> 0], warp = [64 -> 0]>
// 12 sums: two lanes have 6 each.
// CHECK-DAG: #[[HALVES:layout.*]] = #tile.layout<register = [6 -> d1], lane = [2 -> d1 * 6, 16 -> 0], warp = [12 -> 0]>
// 16 sums: two of the four lanes with the same rows have 8 each.
// CHECK-DAG: #[[EIGHTS:layout.*]] = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [2 -> d1 * 8, 2 -> 0, 8 -> d0], warp = [16 -> 0]>

// REMARK-NOT: remark
// CHECK-LABEL: tile.kernel @within
tile.kernel @within(%s: f32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<64x32xf32, #rows>
  // CHECK-NOT: tile.reduce_in_warps
  // CHECK: tile.reduce addf
  %r = tile.reduce addf %t along 1 : tensor<64x32xf32, #rows> -> tensor<64xf32, #tile.slice<1, #rows>>
}

// CHECK-LABEL: tile.kernel @across
tile.kernel @across(%s: f32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[T:.+]] = tensor.splat
  %t = tensor.splat %s : tensor<16x64xf32, #columns>
  // REMARK: decompose-reductions.mlir:[[@LINE+4]]:{{.*}} remark: [Missed] reduction-through-shared-memory | Category:tile-decompose-reductions | {{.*}}Reason="reduction through shared memory: 4 warps share the elements along dimension 1"
  // CHECK: %[[P:.+]] = tile.reduce_in_warps maxnumf %[[T]] along 1 : tensor<16x64xf32, #[[COLUMNS]]> -> tensor<16x4xf32, #[[PART]]>
  // CHECK: %[[Q:.+]] = tile.convert_layout %[[P]] : tensor<16x4xf32, #[[PART]]> -> tensor<16x4xf32, #[[ALL]]>
  // CHECK: tile.reduce maxnumf %[[Q]] along 1 : tensor<16x4xf32, #[[ALL]]> -> tensor<16xf32, #tile.slice<1, #[[COLUMNS]]>>
  %r = tile.reduce maxnumf %t along 1 : tensor<16x64xf32, #columns> -> tensor<16xf32, #tile.slice<1, #columns>>
}

// Along each dimension, the warps that differ along it exchange their results.
// CHECK-LABEL: tile.kernel @grid
tile.kernel @grid(%s: f32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<32x64xf32, #both>
  // REMARK: 2 warps share the elements along dimension 0
  // CHECK: tile.reduce_in_warps addf %{{.+}} along 0 : {{.*}} -> tensor<2x64xf32,
  %r = tile.reduce addf %t along 0 : tensor<32x64xf32, #both> -> tensor<64xf32, #tile.slice<0, #both>>
  // REMARK: 2 warps share the elements along dimension 1
  // CHECK: tile.reduce_in_warps addf %{{.+}} along 1 : {{.*}} -> tensor<32x2xf32,
  %q = tile.reduce addf %t along 1 : tensor<32x64xf32, #both> -> tensor<32xf32, #tile.slice<1, #both>>
}

// CHECK-LABEL: tile.kernel @scan_within
tile.kernel @scan_within(%s: f32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<64x32xf32, #rows>
  // CHECK-NOT: tile.scan_in_warps
  // CHECK: tile.scan addf %{{.+}} along 1 reverse
  %r = tile.scan addf %t along 1 reverse : tensor<64x32xf32, #rows>
}

// Each warp has two runs of 8 columns. A thread reads the totals of all 8 runs
// for each of its two rows.
// CHECK-LABEL: tile.kernel @scan_across
tile.kernel @scan_across(%s: f32, %o: !tile.buffer<16x64xf32, #tile.strided<[64, 1]>, global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[T:.+]] = tensor.splat
  %t = tensor.splat %s : tensor<16x64xf32, #columns>
  // REMARK: decompose-reductions.mlir:[[@LINE+5]]:{{.*}} remark: [Missed] scan-through-shared-memory | Category:tile-decompose-reductions | {{.*}}Reason="scan through shared memory: 4 warps share the elements along dimension 1"
  // CHECK: %[[P:.+]], %[[TOTALS:.+]] = tile.scan_in_warps maxnumf %[[T]] along 1 reverse : tensor<16x64xf32, #[[COLUMNS]]> -> tensor<16x8xf32, #[[TOTAL]]>
  // CHECK: %[[Q:.+]] = tile.convert_layout %[[TOTALS]] : tensor<16x8xf32, #[[TOTAL]]> -> tensor<16x8xf32, #[[TOTALS_OF_ALL]]>
  // CHECK: %[[R:.+]] = tile.join_scans maxnumf %[[P]], %[[Q]] along 1 reverse : tensor<16x64xf32, #[[COLUMNS]]>, tensor<16x8xf32, #[[TOTALS_OF_ALL]]>
  // CHECK: tile.store %[[R]]
  %r = tile.scan maxnumf %t along 1 reverse : tensor<16x64xf32, #columns>
  tile.store %r, %o[%c0, %c0] : tensor<16x64xf32, #columns>, !tile.buffer<16x64xf32, #tile.strided<[64, 1]>, global>
}

// The region of a scan combines runs and totals.
// CHECK-LABEL: tile.kernel @associative_scan_across
tile.kernel @associative_scan_across(%s: f32, %n: i32, %o: !tile.buffer<16x64xf32, #tile.strided<[64, 1]>, global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<16x64xf32, #columns>
  %i = tensor.splat %n : tensor<16x64xi32, #columns>
  // REMARK: scan through shared memory: 4 warps share the elements along dimension 1
  // CHECK: %[[P:.+]]:2, %[[T:.+]]:2 = tile.associative_scan_in_warps %{{.+}}, %{{.+}} along 1 reverse : (tensor<16x64xf32, #[[COLUMNS]]>, tensor<16x64xi32, #[[COLUMNS]]>) -> (tensor<16x64xf32, #[[COLUMNS]]>, tensor<16x64xi32, #[[COLUMNS]]>, tensor<16x8xf32, #[[TOTAL]]>, tensor<16x8xi32, #[[TOTAL]]>) {
  // CHECK: arith.addi
  // CHECK: tile.yield
  // CHECK: %[[Q:.+]] = tile.convert_layout %[[T]]#0 : tensor<16x8xf32, #[[TOTAL]]> -> tensor<16x8xf32, #[[TOTALS_OF_ALL]]>
  // CHECK: %[[M:.+]] = tile.convert_layout %[[T]]#1 : tensor<16x8xi32, #[[TOTAL]]> -> tensor<16x8xi32, #[[TOTALS_OF_ALL]]>
  // CHECK: %[[R:.+]]:2 = tile.join_associative_scans %[[P]]#0, %[[P]]#1, %[[Q]], %[[M]] along 1 reverse :
  // CHECK: arith.addi
  // CHECK: tile.yield
  // CHECK: tile.store %[[R]]#0
  %r:2 = tile.associative_scan %t, %i along 1 reverse : tensor<16x64xf32, #columns>, tensor<16x64xi32, #columns> {
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    %e = arith.mulf %a, %c : f32
    %f = arith.addi %b, %d : i32
    tile.yield %e, %f : f32, i32
  }
  tile.store %r#0, %o[%c0, %c0] : tensor<16x64xf32, #columns>, !tile.buffer<16x64xf32, #tile.strided<[64, 1]>, global>
}

// Tiles without layouts are unchanged.
// CHECK-LABEL: tile.kernel @plain
tile.kernel @plain(%s: f32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<16x64xf32>
  // CHECK-NOT: tile.reduce_in_warps
  // CHECK: tile.reduce addf
  %r = tile.reduce addf %t along 1 : tensor<16x64xf32> -> tensor<16xf32>
  // CHECK: tile.scan addf
  %y = tile.scan addf %t along 1 : tensor<16x64xf32>
}

#long = #tile.layout<register = [8 -> d1], lane = [32 -> d1 * 8], warp = [64 -> d1 * 256]>
#dozen = #tile.layout<register = [8 -> d1], lane = [32 -> d1 * 8], warp = [12 -> d1 * 256]>
#many = #tile.mma<"mma.m16n8k16.f16", warps = [1, 16]>

// Lanes that have copies divide the results of many warps.
// CHECK-LABEL: tile.kernel @many_warps
tile.kernel @many_warps(%s: f32) attributes {num_warps = 64 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<1x16384xf32, #long>
  // CHECK: %[[Q:.+]] = tile.convert_layout %{{.+}} -> tensor<1x64xf32, #[[PARTS]]>
  // CHECK: tile.reduce addf %[[Q]] along 1
  %r = tile.reduce addf %t along 1 : tensor<1x16384xf32, #long> -> tensor<1xf32, #tile.slice<1, #long>>
}

// CHECK-LABEL: tile.kernel @dozen_warps
tile.kernel @dozen_warps(%s: f32) attributes {num_warps = 12 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<1x3072xf32, #dozen>
  // CHECK: %[[Q:.+]] = tile.convert_layout %{{.+}} -> tensor<1x12xf32, #[[HALVES]]>
  // CHECK: tile.reduce addf %[[Q]] along 1
  %r = tile.reduce addf %t along 1 : tensor<1x3072xf32, #dozen> -> tensor<1xf32, #tile.slice<1, #dozen>>
}

// CHECK-LABEL: tile.kernel @many_columns
tile.kernel @many_columns(%s: f32) attributes {num_warps = 16 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %s : tensor<16x128xf32, #many>
  // CHECK: %[[Q:.+]] = tile.convert_layout %{{.+}} -> tensor<16x16xf32, #[[EIGHTS]]>
  // CHECK: tile.reduce addf %[[Q]] along 1
  %r = tile.reduce addf %t along 1 : tensor<16x128xf32, #many> -> tensor<16xf32, #tile.slice<1, #many>>
}
