// The reads of fragments that become ldmatrix.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize)' \
// RUN:   | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#a = #tile.dot_operand<0, #mma>
#b = #tile.dot_operand<1, #mma>

!swizzled = !tile.buffer<16x64xf16, #tile.swizzle<128>, shared>
!padded = !tile.buffer<16x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!dense = !tile.buffer<16x64xf16, #tile.strided<[64, 1]>, shared>
!odd = !tile.buffer<16x64xf16, #tile.padded<4, order = [1, 0]>, shared>
!columns = !tile.buffer<16x64xf16, #tile.padded<8, order = [0, 1]>, shared>
!turned = !tile.buffer<64x16xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>

// A: four matrices are one fragment.
// CHECK-LABEL: gpu.func @a
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}}[%{{.+}}] {numTiles = 4 : i32, transpose = false} : memref<{{.*}}xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
// CHECK-NOT: load
tile.kernel @a() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !swizzled
  %t = tile.load %s[%c0, %c0] : !swizzled -> tensor<16x64xf16, #a>
}

// B with columns contiguous in memory: the transposing form of ldmatrix reads two
// fragments of 16x8 at once.
// CHECK-LABEL: gpu.func @b
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}}[%{{.+}}] {numTiles = 4 : i32, transpose = true} : {{.*}} -> vector<4x2xf16>
// CHECK-NOT: load
tile.kernel @b() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !swizzled
  %t = tile.load %s[%c0, %c0] : !swizzled -> tensor<16x64xf16, #b>
}

// B through a transpose, like the keys of attention: the contraction is contiguous.
// CHECK-LABEL: gpu.func @b_of_transpose
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}}[%{{.+}}] {numTiles = 4 : i32, transpose = false} : {{.*}} -> vector<4x2xf16>
// CHECK-NOT: load
tile.kernel @b_of_transpose() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !swizzled
  %t = tile.transpose %s [1, 0] : !swizzled -> !turned
  %u = tile.load %t[%c0, %c0] : !turned -> tensor<64x16xf16, #b>
}

// ldmatrix needs rows of 16 contiguous bytes, padded or not.
// CHECK-LABEL: gpu.func @other_layouts
// CHECK-COUNT-8: nvgpu.ldmatrix %{{.+}} -> vector<4x2xf16>
// CHECK-NOT: load
tile.kernel @other_layouts() attributes {num_warps = 1 : i32, shared_bytes = 4352 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %p = tile.alloc {offset = 0} : !padded
  %d = tile.alloc {offset = 2304} : !dense
  %t = tile.load %p[%c0, %c0] : !padded -> tensor<16x64xf16, #a>
  %u = tile.load %d[%c0, %c0] : !dense -> tensor<16x64xf16, #a>
}

// One fragment of B is two 8x8 matrices, an accumulator of 8x8 is one.
// CHECK-LABEL: gpu.func @fewer_matrices
// CHECK: nvgpu.ldmatrix %{{.+}} {numTiles = 2 : i32, {{.*}} -> vector<2x2xf16>
// CHECK: nvgpu.ldmatrix %{{.+}} {numTiles = 1 : i32, {{.*}} -> vector<1x2xf16>
// CHECK-NOT: load
tile.kernel @fewer_matrices() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !swizzled
  %t = tile.load %s[%c0, %c0] : !swizzled -> tensor<16x8xf16, #b>
  %u = tile.load %s[%c0, %c0] : !swizzled -> tensor<8x8xf16, #tile.layout<register = [2 -> d1], lane = [4 -> d1 * 2, 8 -> d0], warp = []>>
}

// A start within the buffer is allowed if rows stay contiguous.
// CHECK-LABEL: gpu.func @starts
// CHECK: nvgpu.ldmatrix
// CHECK-NOT: nvgpu.ldmatrix
// CHECK: vector.load
tile.kernel @starts() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !swizzled
  %t = tile.load %s[%c0, %c16] : !swizzled -> tensor<16x16xf16, #a>
  %u = tile.load %s[%c0, %c4] : !swizzled -> tensor<16x16xf16, #a>
}

// Plain loads: rows that start at 8 bytes, columns that no transposition makes
// contiguous, elements of 32 bits, and layouts that are not fragments.
// CHECK-LABEL: gpu.func @plain
// CHECK-NOT: nvgpu.ldmatrix
// CHECK: gpu.return
tile.kernel @plain() attributes {num_warps = 1 : i32, shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %o = tile.alloc {offset = 0} : !odd
  %w = tile.alloc {offset = 4096} : !tile.buffer<16x32xf32, #tile.swizzle<128>, shared>
  %d = tile.alloc {offset = 6144} : !dense
  %t = tile.load %o[%c0, %c0] : !odd -> tensor<16x16xf16, #a>
  %u = tile.load %w[%c0, %c0] : !tile.buffer<16x32xf32, #tile.swizzle<128>, shared> -> tensor<16x8xf32, #mma>
  %v = tile.load %d[%c0, %c0] : !dense
      -> tensor<16x64xf16, #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>>
}

// If columns of A are contiguous, the transposing form of ldmatrix reads it.
// CHECK-LABEL: gpu.func @a_of_columns
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}}[%{{.+}}] {numTiles = 4 : i32, transpose = true} : {{.*}} -> vector<4x2xf16>
tile.kernel @a_of_columns() attributes {num_warps = 1 : i32, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !columns
  %t = tile.load %s[%c0, %c0] : !columns -> tensor<16x64xf16, #a>
}

#tf32 = #tile.mma<"mma.m16n8k8.tf32", warps = [1, 1]>
#i8 = #tile.mma<"mma.m16n8k32.i8", warps = [1, 1]>
!words = !tile.buffer<16x32xf32, #tile.swizzle<128>, shared>
!bytes = !tile.buffer<16x128xi8, #tile.swizzle<128>, shared>
!turned_words = !tile.buffer<32x16xf32, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
!turned_bytes = !tile.buffer<128x16xi8, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>

// A register has one element of 32 bits, or four of 8 bits, which lie together along the depth.
// CHECK-LABEL: gpu.func @words
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}} {numTiles = 4 : i32, transpose = false} : {{.*}}xf32, {{.*}} -> vector<4x1xf32>
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}} {numTiles = 4 : i32, transpose = false} : {{.*}}xf32, {{.*}} -> vector<4x1xf32>
// CHECK-NOT: load
tile.kernel @words() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !words
  %a = tile.load %s[%c0, %c0] : !words -> tensor<16x32xf32, #tile.dot_operand<0, #tf32>>
  %t = tile.transpose %s [1, 0] : !words -> !turned_words
  %b = tile.load %t[%c0, %c0] : !turned_words -> tensor<32x16xf32, #tile.dot_operand<1, #tf32>>
}

// CHECK-LABEL: gpu.func @bytes
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}} {numTiles = 4 : i32, transpose = false} : {{.*}}xi8, {{.*}} -> vector<4x4xi8>
// CHECK-COUNT-4: nvgpu.ldmatrix %{{.+}} {numTiles = 4 : i32, transpose = false} : {{.*}}xi8, {{.*}} -> vector<4x4xi8>
// CHECK-NOT: load
tile.kernel @bytes() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !bytes
  %a = tile.load %s[%c0, %c0] : !bytes -> tensor<16x128xi8, #tile.dot_operand<0, #i8>>
  %t = tile.transpose %s [1, 0] : !bytes -> !turned_bytes
  %b = tile.load %t[%c0, %c0] : !turned_bytes -> tensor<128x16xi8, #tile.dot_operand<1, #i8>>
}

// Only elements of 16 bits can be transposed on the way.
// CHECK-LABEL: gpu.func @columns_of_others
// CHECK-NOT: nvgpu.ldmatrix
// CHECK: gpu.return
tile.kernel @columns_of_others() attributes {num_warps = 1 : i32, shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !words
  %r = tile.alloc {offset = 2048} : !tile.buffer<32x32xi8, #tile.swizzle<32>, shared>
  %b = tile.load %s[%c0, %c0] : !words -> tensor<8x32xf32, #tile.dot_operand<1, #tf32>>
  %d = tile.load %r[%c0, %c0] : !tile.buffer<32x32xi8, #tile.swizzle<32>, shared> -> tensor<32x32xi8, #tile.dot_operand<1, #i8>>
}
