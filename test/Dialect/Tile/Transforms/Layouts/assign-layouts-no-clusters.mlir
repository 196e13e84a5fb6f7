// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))'

module attributes {tile.target = "sm_80"} {
// expected-error@+1 {{'tile.kernel' op has clusters of 2 blocks; sm_80 has at most 1}}
tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
}

// -----

module attributes {tile.target = "gfx942"} {
// expected-error@+1 {{'tile.kernel' op has clusters of 2 blocks; gfx942 has at most 1}}
tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
}
