// RUN: tile-opt %s -verify-diagnostics --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize)'

#row = #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>
!b = !tile.buffer<?xi32, #tile.strided<[1]>, global>
tile.kernel @code(%b: !b) attributes {num_warps = 1 : i32} {
  // expected-error@+1 {{'tile.multiprocessors' op is known at launch only: the grid and requirements may depend on it, the code of a kernel may not}}
  %n = tile.multiprocessors
  tile.grid %n, %n, %n
  %i = arith.index_cast %n : index to i32
  %t = tensor.splat %i : tensor<32xi32, #row>
  tile.store %t, %b[%n] : tensor<32xi32, #row>, !b
}
