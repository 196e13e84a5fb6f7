// RUN: tile-opt %s -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-specialize-warps))'

// expected-error@below {{'tile.kernel' op 'producers = 4' of a schedule needs TMA, which gfx942 does not have}}
tile.kernel @f() attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
