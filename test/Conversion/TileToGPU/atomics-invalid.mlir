// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize)'

#copies = #tile.layout<register = [], lane = [32 -> d0], warp = [2 -> 0]>
!b = !tile.buffer<?xi32, #tile.strided<[1]>, global>
tile.kernel @warps(%b: !b) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %b[%c0] : !b -> tensor<32xi32, #copies>
  // expected-error@+2 {{failed to legalize operation 'tile.atomic_rmw'}}
  // expected-error@+1 {{'tile.atomic_rmw' op returns a tile with the layout #tile.layout<register = [], lane = [32 -> d0], warp = [2 -> 0]>, of which 2 warps hold copies; old values are returned to one warp only}}
  %old = tile.atomic_rmw addi %t, %b[%c0] : tensor<32xi32, #copies>, !b -> tensor<32xi32, #copies>
}

// -----

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
!g = !tile.buffer<8x64xf32, #tile.strided<[64, 1], align = 16>, global>
!s = !tile.buffer<16x64xf32, #tile.swizzle<128>, shared>
tile.kernel @start(%a: !g) attributes {num_warps = 1 : i32, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.program_id x
  %t = tile.load %a[%c0, %c0] : !g -> tensor<8x64xf32, #rows>
  %s = tile.alloc {offset = 0} : !s
  // expected-error@+2 {{failed to legalize operation 'tile.atomic_rmw'}}
  // expected-error@+1 {{'tile.atomic_rmw' op accesses a shared buffer at indices that are not constant; slice the buffer instead}}
  tile.atomic_rmw addf %t, %s[%i, %c0] : tensor<8x64xf32, #rows>, !s
}
