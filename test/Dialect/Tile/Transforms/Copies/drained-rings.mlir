// Behind its last use of a ring, the first role has read all that producers have filled.
// The sums of a cluster take that memory, and wait for the reads of all consumers.
// RUN: tile-opt %S/../../../../../examples/gemm.mlir --tile-to-nvvm="chip=sm_90a schedule='params = {BM = 192, BN = 192, BK = 64}, warps = 12, stages = 4, cluster_split = 2'" \
// RUN:   --mlir-print-ir-after=tile-insert-barriers -o %t.mlir 2>&1 | FileCheck %s

// Four stages of 48 KiB and 144 KiB of sums would take 336 KiB.
// CHECK-LABEL: tile.kernel @gemm(
// CHECK-SAME: cluster_blocks = 2 : i32
// CHECK: tile.alloc {offset = [[A:[0-9]+]] : i64, tile.drained} : !tile.buffer<4x192x64xbf16, #tile.swizzle<128>, shared>
// CHECK: tile.alloc {offset = [[B:[0-9]+]] : i64, tile.drained} : !tile.buffer<4x64x192xbf16
// CHECK: tile.warp_roles
// CHECK: %[[SUM:.*]]:2 = scf.for
// CHECK: tile.await
// CHECK: scf.yield
// CHECK: tile.alloc {offset = {{[0-9]+}} : i64} : !tile.buffer<192x192xf32, #tile.padded<
// CHECK: tile.barrier
// CHECK: tile.store %[[SUM]]#0
// CHECK: tile.barrier
// CHECK: tile.cluster_reduce addf
