// tile.dot with operands in shared memory becomes wgmma on descriptors.
//
// RUN: tile-opt %s --tile-vectorize --canonicalize --cse --split-input-file | FileCheck %s

#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
#a = #tile.dot_operand<0, #mma>
!g = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!k = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!kt = !tile.buffer<64x128xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
!v = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!st = !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
#both = #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>

module attributes {tile.target = "sm_90a"} {

// A in shared memory: each warpgroup reads its own 64 rows, at a distance of 8 KiB;
// a step of 16 along the depth is 32 bytes.
// CHECK-LABEL: gpu.func @shared
// CHECK-DAG: %[[C4096:.+]] = arith.constant 4096 : i32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<64xf32>
// CHECK: %[[GROUP:.+]], %{{.+}} = gpu.shuffle idx
// CHECK: %[[ROW:.+]] = arith.muli %[[GROUP]], %[[C4096]]
// CHECK: %[[FIRST:.+]] = arith.index_castui %[[ROW]]
// CHECK: tile_gpu.wgmma_fence
// CHECK: %[[A0:.+]] = tile_gpu.matrix_descriptor %{{.+}}[%[[FIRST]]] {bits = 4611686293305294848 : i64}
// CHECK: %[[B0:.+]] = tile_gpu.matrix_descriptor %{{.+}} {bits = 4611686293305294848 : i64}
// CHECK: %[[D0:.+]] = tile_gpu.wgmma "wgmma.m64k16.f16" %[[A0]], %[[B0]], %[[ZERO]] {zero} : i64, vector<64xf32>
// CHECK: %[[A1:.+]] = tile_gpu.matrix_descriptor %{{.+}} {bits = 4611686293305294848 : i64, distance = 2 : i32}
// CHECK: %[[B1:.+]] = tile_gpu.matrix_descriptor %{{.+}} {bits = 4611686293305294848 : i64, distance = 2 : i32}
// CHECK: tile_gpu.wgmma "wgmma.m64k16.f16" %[[A1]], %[[B1]], %[[D0]] : i64, vector<64xf32>
// CHECK-COUNT-2: tile_gpu.wgmma "wgmma.m64k16.f16"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: tile_gpu.wgmma_wait 0, %{{.+}} : vector<64xf32>
tile.kernel @shared(%out: !g) attributes {num_warps = 8 : i32, shared_bytes = 32768 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %q = tile.alloc {offset = 0} : !k
  %k = tile.alloc {offset = 16384} : !k
  %kt = tile.transpose %k [1, 0] : !k -> !kt
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
  %d = tile.dot %q, %kt, %zero : !k, !kt -> tensor<128x128xf32, #mma>
  tile.store %d, %out[%c0, %c0] : tensor<128x128xf32, #mma>, !g
}

// A in registers, B with contiguous columns: two panels of 64 columns, of which
// 16 rows are 2 KiB.
// CHECK-LABEL: gpu.func @registers
// CHECK: %[[F:.+]]:2 = tile_gpu.wgmma_fence %{{.+}}, %{{.+}} : vector<64xf32>, vector<32xf16>
// CHECK: %[[A0:.+]] = vector.extract_strided_slice %[[F]]#1 {offsets = [0], sizes = [8]
// CHECK: %[[B:.+]] = tile_gpu.matrix_descriptor %{{.+}} {bits = 4611686293338849280 : i64}
// CHECK: tile_gpu.wgmma "wgmma.m64k16.f16" %[[A0]], %[[B]], %[[F]]#0 {b_mn_major} : vector<8xf16>, vector<64xf32>
// CHECK: tile_gpu.matrix_descriptor %{{.+}} {bits = 4611686293338849280 : i64, distance = 128 : i32}
tile.kernel @registers(%in: !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>, %out: !g)
    attributes {num_warps = 8 : i32, shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %v = tile.alloc {offset = 0} : !v
  %a = tile.load %in[%c0, %c0] : !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global> -> tensor<128x64xf16, #a>
  %acc = tile.load %out[%c0, %c0] : !g -> tensor<128x128xf32, #mma>
  %d = tile.dot %a, %v, %acc : tensor<128x64xf16, #a>, !v -> tensor<128x128xf32, #mma>
  tile.fence_async
  tile.barrier
  tile.store %d, %out[%c0, %c0] : tensor<128x128xf32, #mma>, !g
}

// Two warpgroups share 64 rows: each has 64 of the columns. The panel of B of the
// second one is at a distance of 4 KiB. A is transposed in memory.
// CHECK-LABEL: gpu.func @columns
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[SIZE:.+]] = arith.constant 4096 : i32
// CHECK: %[[GROUP:.+]], %{{.+}} = gpu.shuffle idx
// CHECK: %[[PANEL:.+]] = arith.muli %[[GROUP]], %[[SIZE]]
// CHECK: %[[FIRST:.+]] = arith.index_castui %[[PANEL]]
// CHECK: %[[A:.+]] = tile_gpu.matrix_descriptor %{{.+}}[%{{.+}}] {bits = {{.+}} : i64}
// CHECK: %[[B:.+]] = tile_gpu.matrix_descriptor %{{.+}}[%[[FIRST]]]
// CHECK: tile_gpu.wgmma "wgmma.m64k16.f16" %[[A]], %[[B]], %{{.+}} {a_mn_major, b_mn_major, zero} : i64, vector<32xf32>
tile.kernel @columns(%out: !g) attributes {num_warps = 8 : i32, shared_bytes = 24576 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %v = tile.alloc {offset = 0} : !v
  %s = tile.alloc {offset = 16384} : !s
  %st = tile.transpose %s [1, 0] : !s -> !st
  %zero = arith.constant dense<0.0> : tensor<64x128xf32, #both>
  %d = tile.dot %st, %v, %zero : !st, !v -> tensor<64x128xf32, #both>
  tile.store %d, %out[%c0, %c0] : tensor<64x128xf32, #both>, !g
}
}
