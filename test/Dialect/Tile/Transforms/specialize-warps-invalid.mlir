// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-specialize-warps))'

// expected-error @below {{'tile.kernel' op needs a positive number as tile.producer_warps, one that is not negative as tile.storing_warps and numbers as tile.registers}}
tile.kernel @no_producers() attributes {num_warps = 4 : i32, tile.storing_warps = 3 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error @below {{'tile.kernel' op needs a positive number as tile.producer_warps, one that is not negative as tile.storing_warps and numbers as tile.registers}}
tile.kernel @negative_storers() attributes {num_warps = 4 : i32, tile.producer_warps = 1 : i64, tile.storing_warps = -1 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error @below {{'tile.kernel' op needs a positive number as tile.producer_warps, one that is not negative as tile.storing_warps and numbers as tile.registers}}
tile.kernel @one_register() attributes {num_warps = 4 : i32, tile.producer_warps = 4 : i64, tile.registers = 24 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
