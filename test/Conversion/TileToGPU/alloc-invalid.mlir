// RUN: tile-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-vectorize)'

!s = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>

tile.kernel @no_bytes() attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @+2 {{'tile.alloc' op is in a kernel without shared_bytes; run tile-plan-shared-memory first}}
  // expected-error @+1 {{failed to legalize operation 'tile.alloc'}}
  %s = tile.alloc {offset = 0 : i64} : !s
}
