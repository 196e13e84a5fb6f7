// RUN: tile-opt %s --canonicalize --cse | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

!heads = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!head = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!out = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
!stage = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

// A static extent folds to a constant, also in the grid.
// CHECK-LABEL: tile.kernel @static_extent
tile.kernel @static_extent(%q: !heads) {
  // CHECK-DAG: %[[HEADS:.+]] = arith.constant 8 : index
  // CHECK-DAG: %[[SIZE:.+]] = arith.constant 64 : index
  // CHECK-NOT: tile.dim
  // CHECK: tile.grid %[[HEADS]], %[[SIZE]], %[[HEADS]]
  %heads = tile.dim %q[2] : !heads
  %size = tile.dim %q[3] : !heads
  tile.grid %heads, %size, %heads
}

// A dynamic extent of a slice folds to that of its source.
// CHECK-LABEL: tile.kernel @extent_of_slice
// CHECK-SAME: (%[[Q:.+]]: !tile.buffer<?x?x8x64xf16
tile.kernel @extent_of_slice(%q: !heads) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[LENGTH:.+]] = tile.dim %[[Q]][1] : !tile.buffer<?x?x8x64xf16
  // CHECK: tile.grid %[[LENGTH]],
  %length = tile.dim %q[1] : !heads
  tile.grid %length, %c0, %c0
  %qh = tile.slice %q[%c0, *, %c0, *] : !heads to !head
  // CHECK-NOT: tile.dim
  // CHECK: tile.store %{{.+}}, %{{.+}}[%[[LENGTH]], %{{.+}}]
  %same = tile.dim %qh[0] : !head
  %t = arith.constant dense<0.0> : tensor<8x64xf16>
  tile.store %t, %qh[%same, %c0] : tensor<8x64xf16>, !head
}

// Conversions to the same layout fold, and so do those there and back.
// CHECK-LABEL: tile.kernel @conversions
tile.kernel @conversions(%o: !out) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // CHECK: %[[T:.+]] = tile.load
  // CHECK-NEXT: tile.store %[[T]],
  // CHECK-NEXT: tile.store %[[T]],
  %t = tile.load %o[%c0, %c0] : !out -> tensor<64x64xf16, #rows>
  %same = tile.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #rows>
  tile.store %same, %o[%c0, %c0] : tensor<64x64xf16, #rows>, !out
  %there = tile.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #mma>
  %back = tile.convert_layout %there : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #rows>
  tile.store %back, %o[%c0, %c0] : tensor<64x64xf16, #rows>, !out
}

// Two conversions are not merged into one: the first may be shared.
// CHECK-LABEL: tile.kernel @chain
tile.kernel @chain(%o: !out) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %o[%c0, %c0] : !out -> tensor<64x64xf16, #rows>
  // CHECK-COUNT-2: tile.convert_layout
  %there = tile.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #mma>
  %on = tile.convert_layout %there
      : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #tile.dot_operand<0, #mma>>
  tile.store %on, %o[%c0, %c0] : tensor<64x64xf16, #tile.dot_operand<0, #mma>>, !out
}

// Unused computations are erased; operations that access or order memory are kept.
// CHECK-LABEL: tile.kernel @unused
tile.kernel @unused(%o: !out) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // CHECK: tile.grid
  // CHECK-NEXT: %[[SHARED:.+]] = tile.alloc
  // CHECK-NEXT: tile.copy
  // CHECK-NEXT: tile.commit_group
  // CHECK-NEXT: tile.wait_group 0
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.return
  %id = tile.program_id x
  %column = tile.iota along 1 : tensor<64x64xi32>
  %t = tile.load %o[%c0, %c0] : !out -> tensor<64x64xf16>
  %max = tile.reduce maxnumf %t along 1 : tensor<64x64xf16> -> tensor<64xf16>
  %wide = tile.broadcast %max along 1 : tensor<64xf16> -> tensor<64x64xf16>
  %shared = tile.alloc : !stage
  tile.copy %o[%c0, %c0], %shared : !out, !stage
  tile.commit_group
  tile.wait_group 0
  tile.barrier
}
