// RUN: tile-opt %s -allow-unregistered-dialect --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-join-reductions))' | FileCheck %s
// RUN: tile-opt %s -allow-unregistered-dialect --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-join-reductions))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

// 16 warps side by side, and 32 elements of a row for each thread. As many blocks of 16
// warps run with 64 registers as with 48.
#row = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 16], order = [1, 0]>
#one = #tile.slice<1, #row>
!t = tensor<1x16384xf32, #row>
!n = tensor<1xf32, #one>

// The parts of both reductions are written before they are read. The product of the
// exponentials with a number of the row is one with a number of the warp.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: %[[X:.+]] = "test.load"
// CHECK: %[[W:.+]] = tile.reduce_in_warps maxnumf %[[X]] along 1
// CHECK: %[[OWN:.+]] = arith.maxnumf %[[W]], %{{.+}} : tensor<1x16xf32
// CHECK: %[[OWNS:.+]] = tile.broadcast_in_warps %[[OWN]] along 1
// CHECK: %[[D:.+]] = arith.subf %[[X]], %[[OWNS]]
// CHECK: %[[S:.+]] = arith.mulf %[[D]], %{{.+}} : tensor<1x16384xf32
// CHECK: %[[E:.+]] = math.exp2 %[[S]]
// CHECK: %[[P:.+]] = tile.reduce_in_warps addf %[[E]] along 1
// CHECK: %[[MW:.+]] = tile.convert_layout %[[W]] : {{.+}}padded
// CHECK: %[[MP:.+]] = tile.convert_layout %[[P]] : {{.+}}padded
// CHECK: %[[WS:.+]] = tile.convert_layout %[[MW]]
// CHECK: %[[PS:.+]] = tile.convert_layout %[[MP]]
// CHECK: %[[M:.+]] = tile.reduce maxnumf %[[WS]] along 1
// CHECK: %[[F:.+]] = math.exp2
// CHECK: %[[PART:.+]] = arith.mulf %[[PS]], %[[F]]
// CHECK: %[[SUM:.+]] = tile.reduce addf %[[PART]] along 1
// CHECK: %[[OWNF:.+]] = math.exp2 %{{.+}} : tensor<1x16xf32
// CHECK: %[[ONE:.+]] = "test.inverse"(%[[SUM]])
// CHECK: %[[ONES:.+]] = tile.broadcast %[[ONE]] along 1 : {{.+}} -> tensor<1x16xf32
// CHECK: %[[FACTOR:.+]] = arith.mulf %[[OWNF]], %[[ONES]]
// CHECK: %[[FACTORS:.+]] = tile.broadcast_in_warps %[[FACTOR]] along 1
// CHECK: %[[Y:.+]] = arith.mulf %[[E]], %[[FACTORS]]
// CHECK: "test.use"(%[[Y]], %[[M]])
// REMARK: remark: [Passed] reductions-joined | {{.+}}warps exchange their maxima and their sums at once
tile.kernel @softmax() attributes {num_warps = 16 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = "test.load"() : () -> !t
  %log2e = arith.constant dense<1.44269504> : !t
  %max = tile.reduce maxnumf %x along 1 : !t -> !n
  %max_t = tile.broadcast %max along 1 : !n -> !t
  %d = arith.subf %x, %max_t : !t
  %s = arith.mulf %log2e, %d : !t
  %e = math.exp2 %s : !t
  %sum = tile.reduce addf %e along 1 : !t -> !n
  %one = "test.inverse"(%sum) : (!n) -> !n
  %one_t = tile.broadcast %one along 1 : !n -> !t
  %y = arith.mulf %e, %one_t : !t
  "test.use"(%y, %max) : (!t, !n) -> ()
}

// Weights, another use of the exponentials, and exp without a scale.
// CHECK-LABEL: tile.kernel @weights
// CHECK: %[[X:.+]]:2 = "test.load"
// CHECK: %[[E:.+]] = math.exp %{{.+}} : tensor<1x16384xf32
// CHECK: %[[T:.+]] = arith.mulf %[[E]], %[[X]]#1
// CHECK: tile.reduce_in_warps addf %[[T]] along 1
// CHECK: %[[SUM:.+]] = tile.reduce addf
// CHECK: %[[F:.+]] = tile.broadcast_in_warps
// CHECK: %[[ALL:.+]] = arith.mulf %[[E]], %[[F]]
// CHECK: "test.use"(%[[ALL]], %[[SUM]])
tile.kernel @weights() attributes {num_warps = 16 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x:2 = "test.load"() : () -> (!t, !t)
  %max = tile.reduce maximumf %x#0 along 1 : !t -> !n
  %max_t = tile.broadcast %max along 1 : !n -> !t
  %d = arith.subf %x#0, %max_t : !t
  %e = math.exp %d : !t
  %w = arith.mulf %x#1, %e : !t
  %sum = tile.reduce addf %w along 1 : !t -> !n
  "test.use"(%e, %sum) : (!t, !n) -> ()
}

// Unchanged: the maximum of another tile, a negative scale, the minimum, a difference with
// another reader, and weights that are computed behind the maximum.
// CHECK-LABEL: tile.kernel @unchanged
// CHECK-NOT: tile.reduce_in_warps
// CHECK: tile.return
// REMARK-COUNT-1: remark
// REMARK-NOT: remark
tile.kernel @unchanged() attributes {num_warps = 16 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x:2 = "test.load"() : () -> (!t, !t)
  %max = tile.reduce maxnumf %x#0 along 1 : !t -> !n
  %max_t = tile.broadcast %max along 1 : !n -> !t
  %d0 = arith.subf %x#1, %max_t : !t
  %e0 = math.exp %d0 : !t
  %s0 = tile.reduce addf %e0 along 1 : !t -> !n
  %negative = arith.constant dense<-1.0> : !t
  %d1 = arith.subf %x#0, %max_t : !t
  %m1 = arith.mulf %d1, %negative : !t
  %e1 = math.exp %m1 : !t
  %s1 = tile.reduce addf %e1 along 1 : !t -> !n
  %min = tile.reduce minnumf %x#0 along 1 : !t -> !n
  %min_t = tile.broadcast %min along 1 : !n -> !t
  %d2 = arith.subf %x#0, %min_t : !t
  %e2 = math.exp %d2 : !t
  %s2 = tile.reduce addf %e2 along 1 : !t -> !n
  %d3 = arith.subf %x#0, %max_t : !t
  %e3 = math.exp %d3 : !t
  %s3 = tile.reduce addf %e3 along 1 : !t -> !n
  %late = "test.late"(%max) : (!n) -> !t
  %d4 = arith.subf %x#0, %max_t : !t
  %e4 = math.exp %d4 : !t
  %w4 = arith.mulf %e4, %late : !t
  %s4 = tile.reduce addf %w4 along 1 : !t -> !n
  "test.use"(%s0, %s1, %s2, %s3, %s4, %d3) : (!n, !n, !n, !n, !n, !t) -> ()
}

// Fewer blocks of 4 warps would run: 8 instead of 9.
#short = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 4], order = [1, 0]>
!u = tensor<1x4096xf32, #short>
!m = tensor<1xf32, #tile.slice<1, #short>>
// CHECK-LABEL: tile.kernel @fewer_blocks
// CHECK-NOT: tile.reduce_in_warps
tile.kernel @fewer_blocks() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = "test.load"() : () -> !u
  %max = tile.reduce maxnumf %x along 1 : !u -> !m
  %max_t = tile.broadcast %max along 1 : !m -> !u
  %d = arith.subf %x, %max_t : !u
  %e = math.exp %d : !u
  %sum = tile.reduce addf %e along 1 : !u -> !m
  "test.use"(%sum) : (!m) -> ()
}
