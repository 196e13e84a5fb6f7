// The sums of a cluster, from tiles with layouts to the program of a thread.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-decompose-conversions,tile-bufferize,tile-plan-shared-memory,tile-insert-barriers))' \
// RUN:   -o %t.mlir
// RUN: FileCheck %s --check-prefix=MEMORY --input-file=%t.mlir
// RUN: tile-opt %t.mlir --pass-pipeline='builtin.module(tile-vectorize,gpu.module(tile-form-clusters,canonicalize,cse))' | FileCheck %s

#columns = #tile.blocked<thread = [4, 1], lane = [4, 8], warp = [4, 1], order = [0, 1]>
#rows = #tile.blocked<thread = [1, 4], lane = [2, 16], warp = [4, 1], order = [1, 0]>
#row = #tile.blocked<thread = [1], lane = [32], warp = [4], order = [0]>
!row = !tile.buffer<64xf32, #tile.strided<[1], align = 16>, global>
!a = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>

module attributes {tile.target = "sm_90a"} {
// Each block writes its tile, waits for its threads, and combines its rows of all.
// MEMORY-LABEL: tile.kernel @sums
// MEMORY: %[[TILE:.*]] = tile.load
// MEMORY: %[[MEMORY:.*]] = tile.alloc {{.*}} : !tile.buffer<64x64xf32, #tile.padded<{{.*}}>, shared>
// MEMORY: tile.store %[[TILE]], %[[MEMORY]]
// MEMORY: tile.barrier
// MEMORY: tile.cluster_reduce addf %[[MEMORY]]

// A cluster has a place in the grid, so the launch has four times as many blocks. The
// rows of block r begin at a quarter of the memory of each block.
// CHECK: tile_gpu.manifest @sums {{.*}}grid = {{.*}}"mul", {{.*}}"ceildiv", {{.*}}"dim", 0, 0], 64], 4], 1, 1]
// CHECK-LABEL: gpu.func @sums
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK: nvvm.read.ptx.sreg.clusterid.x
// CHECK-NOT: gpu.block_id
// CHECK: gpu.barrier
// CHECK: nvvm.cluster.arrive
// CHECK: nvvm.cluster.wait
// CHECK: %[[P0:.*]] = nvvm.mapa %{{.*}}, %c0_i32 : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK: %[[V0:.*]] = llvm.load %[[P0]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK: %[[P1:.*]] = nvvm.mapa %{{.*}}, %c1_i32
// CHECK: %[[V1:.*]] = llvm.load %[[P1]]
// CHECK: %[[S1:.*]] = arith.addf %[[V0]], %[[V1]]
// CHECK: %[[P2:.*]] = nvvm.mapa
// CHECK: %[[V2:.*]] = llvm.load %[[P2]]
// CHECK: arith.addf %[[S1]], %[[V2]]
// The values arrive before the block does, and it waits for the others behind its stores.
// CHECK: llvm.fence syncscope("block") acq_rel
// CHECK-NEXT: nvvm.cluster.arrive.relaxed
// CHECK-NOT: nvvm.cluster.wait
// CHECK: vector.store
// CHECK: nvvm.cluster.wait
// CHECK-NEXT: gpu.return
tile.kernel @sums(%a: !a, %o: !a) attributes {cluster_blocks = 4 : i32, num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %length = tile.dim %a[0] : !a
  %blocks = arith.ceildivui %length, %c64 : index
  tile.grid %blocks, %c1, %c1
  %x = tile.program_id x
  %row = arith.muli %x, %c64 : index
  %rank = tile.cluster_rank
  %offset = arith.muli %rank, %c16 : index
  %mine = arith.addi %row, %offset : index
  %t = tile.load %a[%row, %c0] : !a -> tensor<64x64xf32, #columns>
  %s = tile.cluster_reduce addf %t : tensor<64x64xf32, #columns> -> tensor<16x64xf32, #rows>
  tile.store %s, %o[%mine, %c0] : tensor<16x64xf32, #rows>, !a
}

// Every block combines the whole tiles: it reads from the beginning of each.
// MEMORY-LABEL: tile.kernel @all
// MEMORY: tile.cluster_reduce maxnumf %{{.*}} -> tensor<64xf32
// CHECK-LABEL: gpu.func @all
// CHECK-NOT: clusterid
// CHECK: nvvm.cluster.wait
// CHECK-COUNT-4: nvvm.mapa
// CHECK-NOT: nvvm.mapa
// CHECK: nvvm.cluster.arrive.relaxed
tile.kernel @all(%a: !row, %o: !row) attributes {cluster_blocks = 4 : i32, num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0] : !row -> tensor<64xf32, #row>
  %most = tile.cluster_reduce maxnumf %t : tensor<64xf32, #row> -> tensor<64xf32, #row>
  tile.store %most, %o[%c0] : tensor<64xf32, #row>, !row
}
}
