// Conversions between lanes or warps go through shared memory, and a remark reports
// it; those within a thread are unchanged.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-decompose-conversions))' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-decompose-conversions))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-decompose-conversions,cse))' \
// RUN:   | FileCheck %s --check-prefix=CSE

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#square = #tile.mma<"mma.m16n8k16.f16", warps = [2, 2]>
#square_a = #tile.dot_operand<0, #square>
!h = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
#columns = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 4], order = [1, 0]>
#lines = #tile.blocked<thread = [2], lane = [32], warp = [1], order = [0]>
#points = #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>

// REMARK-NOT: remark
// CHECK-LABEL: tile.kernel @stays
tile.kernel @stays() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %p = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
  // CHECK: tile.convert_layout %{{.+}} : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot_a>
  // CHECK-NOT: tile.convert_layout
  %a = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot_a>
}

// CHECK-LABEL: tile.kernel @lanes
tile.kernel @lanes() attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %p = arith.constant dense<0.0> : tensor<64xf32, #lines>
  // REMARK: decompose-conversions.mlir:[[@LINE+3]]:{{.*}} remark: [Missed] conversion-through-shared-memory | Category:tile-decompose-conversions | {{.*}}Reason="conversion through shared memory: elements cross lanes", bytes=272
  // CHECK: %[[S:.+]] = tile.convert_layout %{{.+}} : tensor<64xf32, #[[LINES:.+]]> -> tensor<64xf32, #tile.padded<4, order = [0]>>
  // CHECK: tile.convert_layout %[[S]] : tensor<64xf32, #tile.padded<4, order = [0]>> -> tensor<64xf32, #[[POINTS:.+]]>
  %a = tile.convert_layout %p : tensor<64xf32, #lines> -> tensor<64xf32, #points>
}

// CHECK-LABEL: tile.kernel @warps
tile.kernel @warps() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %p = arith.constant dense<0.0> : tensor<16x256xf16, #rows>
  // REMARK: Reason="conversion through shared memory: elements cross warps", bytes=8448
  // CHECK: tile.convert_layout %{{.+}} -> tensor<16x256xf16, #tile.padded<8, order = [1, 0]>>
  %a = tile.convert_layout %p : tensor<16x256xf16, #rows> -> tensor<16x256xf16, #columns>
}

// CHECK-LABEL: tile.kernel @mask
tile.kernel @mask() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %p = arith.constant dense<true> : tensor<16x256xi1, #rows>
  // CHECK: %[[WIDE:.+]] = arith.extui %{{.+}} : tensor<16x256xi1, {{.*}}> to tensor<16x256xi32, {{.*}}>
  // CHECK: %[[S:.+]] = tile.convert_layout %[[WIDE]] : {{.*}} -> tensor<16x256xi32, #tile.padded<4, order = [1, 0]>>
  // CHECK: %[[R:.+]] = tile.convert_layout %[[S]]
  // CHECK: arith.trunci %[[R]] : tensor<16x256xi32, {{.*}}> to tensor<16x256xi1, {{.*}}>
  %a = tile.convert_layout %p : tensor<16x256xi1, #rows> -> tensor<16x256xi1, #columns>
}

// Fragments that ldmatrix reads are written to swizzled rows right after they are
// computed. A transposed tile uses the same memory.
// CSE-LABEL: tile.kernel @fragments
// REMARK: Reason="conversion through shared memory: elements cross warps", bytes=8192
// REMARK: Reason="conversion through shared memory: elements cross {{lanes|warps}}", bytes=8192
tile.kernel @fragments(%x_out: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CSE: %[[P:.+]] = arith.constant dense
  // CSE-NEXT: %[[S:.+]] = tile.convert_layout %[[P]] : {{.*}} -> tensor<64x64xf16, #tile.swizzle<128>>
  // CSE-NEXT: %[[ST:.+]] = tile.transpose %[[S]] [1, 0]
  // CSE-NOT: -> tensor<64x64xf16, #tile.swizzle<128>>
  %p = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
  %t = tile.transpose %p [1, 0] : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #tile.permute<[1, 0], #mma>>
  // CSE: tile.convert_layout %[[S]] : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #[[SQUARE:.+]]>
  %a = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #square_a>
  // CSE: tile.convert_layout %[[ST]] : tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>> -> tensor<64x64xf16, #[[SQUARE]]>
  %b = tile.convert_layout %t : tensor<64x64xf16, #tile.permute<[1, 0], #mma>> -> tensor<64x64xf16, #square_a>
  %x = arith.addf %a, %b : tensor<64x64xf16, #square_a>
  tile.store %x, %x_out[%c0, %c0] : tensor<64x64xf16, #square_a>, !h
}

// A dimension of a single element is not the one that padding follows: it would
// pad every element.
// CHECK-LABEL: tile.kernel @single
tile.kernel @single() attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %p = arith.constant dense<0.0> : tensor<8x32x1xf32, #tile.layout<register = [8 -> d0], lane = [32 -> d1], warp = []>>
  // CHECK: tile.convert_layout %{{.+}} -> tensor<8x32x1xf32, #tile.padded<4, order = [{{[01], [01], 2}}]>>
  %a = tile.convert_layout %p : tensor<8x32x1xf32, #tile.layout<register = [8 -> d0], lane = [32 -> d1], warp = []>>
    -> tensor<8x32x1xf32, #tile.layout<register = [8 -> d1 * 4], lane = [4 -> d1, 8 -> d0], warp = []>>
}
