// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-order-blocks))'

// expected-error @+1 {{'tile.kernel' op cannot walk its blocks in groups: it reads the extents of the launch}}
tile.kernel @persistent(%rows: index, %columns: index) attributes {num_warps = 8 : i32,
    schedule = #tile.schedule<order = groups<5>>} {
  %c1 = arith.constant 1 : index
  tile.grid %rows, %columns, %c1
  %all = tile.num_programs y // expected-note {{here}}
}
