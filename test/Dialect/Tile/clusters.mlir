// Operations of the blocks of a cluster round-trip, and passes keep them in their order.
// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --canonicalize --cse | FileCheck %s

#rows = #tile.blocked<thread = [1, 4], lane = [2, 16], warp = [4, 1], order = [1, 0]>
!out = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!memory = !tile.buffer<64x64xf32, #tile.padded<8, order = [1, 0]>, shared>

// CHECK-LABEL: tile.kernel @sums
// CHECK-SAME: cluster_blocks = 4 : i32
tile.kernel @sums(%out: !out) attributes {cluster_blocks = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[RANK:.*]] = tile.cluster_rank
  %rank = tile.cluster_rank
  %row = arith.muli %rank, %c16 : index
  %value = arith.index_cast %rank : index to i32
  %number = arith.sitofp %value : i32 to f32
  %tile = tensor.splat %number : tensor<64x64xf32>
  // CHECK: %[[SUM:.*]] = tile.cluster_reduce addf %{{.*}} : tensor<64x64xf32> -> tensor<16x64xf32>
  %sum = tile.cluster_reduce addf %tile : tensor<64x64xf32> -> tensor<16x64xf32>
  // The blocks wait for each other, so neither this one nor the next is dead or equal.
  // CHECK: tile.cluster_reduce addf
  %again = tile.cluster_reduce addf %tile : tensor<64x64xf32> -> tensor<16x64xf32>
  // CHECK: tile.cluster_reduce maxnumf %{{.*}} : tensor<64x64xf32> -> tensor<64x64xf32>
  %whole = tile.cluster_reduce maxnumf %tile : tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tile.cluster_reduce maximumf %{{.*}} : !tile.buffer<64x64xf32, #tile.padded<8, order = [1, 0]>, shared> -> tensor<16x64xf32, #blocked>
  %memory = tile.alloc : !memory
  %max = tile.cluster_reduce maximumf %memory : !memory -> tensor<16x64xf32, #rows>
  // CHECK: tile.store %[[SUM]]
  tile.store %sum, %out[%row, %c0] : tensor<16x64xf32>, !out
}
