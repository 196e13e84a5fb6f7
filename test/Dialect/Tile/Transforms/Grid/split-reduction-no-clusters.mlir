// RUN: tile-opt %s -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-split-reduction)'

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: gfx942 has clusters of at most 1 blocks}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  tile.store %r, %o[%c0, %c0] : !t, !m
}
