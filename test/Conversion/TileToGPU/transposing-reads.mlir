// Reads of fragments whose elements are rows apart in the LDS: on gfx950, lanes exchange
// them on the way.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile-vectorize)' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-vectorize)' \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE-NOT: amdgpu.transpose_load

#mma = #tile.mma<"mfma.16x16x16.f16", warps = [1, 1]>
#a = #tile.dot_operand<0, #mma>
#b = #tile.dot_operand<1, #mma>
#wide = #tile.mma<"mfma.32x32x8.f16", warps = [1, 1]>

!padded = !tile.buffer<32x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!columns = !tile.buffer<32x64xf16, #tile.padded<8, order = [0, 1]>, shared>
!odd = !tile.buffer<32x64xf16, #tile.padded<2, order = [1, 0]>, shared>
!floats = !tile.buffer<32x64xf32, #tile.padded<4, order = [1, 0]>, shared>

// B with columns contiguous in memory. Lane 16 * l + 4 * r + q reads from row 4 * l + r and
// column 4 * q on.
// CHECK-LABEL: gpu.func @b
// CHECK-COUNT-8: amdgpu.transpose_load %{{.+}}[%{{.+}}] : memref<{{.*}}xf16, #gpu.address_space<workgroup>> -> vector<4xf16>
// CHECK-NOT: load
tile.kernel @b() attributes {num_warps = 1 : i32, shared_bytes = 4608 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !padded
  %t = tile.load %s[%c0, %c0] : !padded -> tensor<32x64xf16, #b>
}

// A of 32 rows, through a transpose.
// CHECK-LABEL: gpu.func @a_of_transpose
// CHECK-COUNT-8: amdgpu.transpose_load
// CHECK-NOT: load
tile.kernel @a_of_transpose() attributes {num_warps = 1 : i32, shared_bytes = 4608 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !padded
  %t = tile.transpose %s [1, 0] : !padded -> !tile.buffer<64x32xf16, #tile.permute<[1, 0], #tile.padded<8, order = [1, 0]>>, shared>
  %u = tile.load %t[%c0, %c0] : !tile.buffer<64x32xf16, #tile.permute<[1, 0], #tile.padded<8, order = [1, 0]>>, shared> -> tensor<64x32xf16, #tile.dot_operand<0, #wide>>
}

// Elements that a lane contracts are contiguous.
// CHECK-LABEL: gpu.func @contiguous
// CHECK-NOT: transpose_load
// CHECK-COUNT-8: vector.load {{.*}} vector<4xf16>
tile.kernel @contiguous() attributes {num_warps = 1 : i32, shared_bytes = 5120 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !columns
  %t = tile.load %s[%c0, %c0] : !columns -> tensor<32x64xf16, #b>
}

// Rows that are not aligned to 8 bytes.
// CHECK-LABEL: gpu.func @odd
// CHECK-NOT: transpose_load
// CHECK: return
tile.kernel @odd() attributes {num_warps = 1 : i32, shared_bytes = 4224 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !odd
  %t = tile.load %s[%c0, %c0] : !odd -> tensor<32x64xf16, #b>
}

// Elements of other sizes.
// CHECK-LABEL: gpu.func @floats
// CHECK-NOT: transpose_load
// CHECK: return
tile.kernel @floats() attributes {num_warps = 1 : i32, shared_bytes = 8704 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !floats
  %t = tile.load %s[%c0, %c0] : !floats -> tensor<32x64xf32, #tile.layout<register = [4 -> d0, 4 -> d1 * 16, 2 -> d0 * 16], lane = [16 -> d1, 4 -> d0 * 4], warp = []>>
}
