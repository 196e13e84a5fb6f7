// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile-vectorize)'

#rows = #tile.blocked<thread = [1, 4], lane = [2, 16], warp = [4, 1], order = [1, 0]>

module attributes {tile.target = "sm_80"} {
tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+2 {{'tile.cluster_rank' op needs clusters, which sm_80 does not have}}
  // expected-error@+1 {{failed to legalize operation 'tile.cluster_rank'}}
  %rank = tile.cluster_rank
}
}

// -----

#rows = #tile.blocked<thread = [1, 4], lane = [2, 16], warp = [4, 1], order = [1, 0]>

module attributes {tile.target = "sm_90a"} {
tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : tensor<32x64xf32, #rows>
  // expected-error@+2 {{'tile.cluster_reduce' op combines tiles that are not in shared memory; run tile-decompose-conversions and tile-bufferize first}}
  // expected-error@+1 {{failed to legalize operation 'tile.cluster_reduce'}}
  %s = tile.cluster_reduce addf %t : tensor<32x64xf32, #rows> -> tensor<16x64xf32, #rows>
}
}
