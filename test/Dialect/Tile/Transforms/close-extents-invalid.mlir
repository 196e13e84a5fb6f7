// RUN: tile-opt %s -split-input-file -verify-diagnostics -tile-attach-target=chip=sm_80 -tile-close-extents

tile.kernel @f() attributes {schedule = #tile.schedule<params = {BM = 64}>} {
  %bm = tile.param BM in [32, 64]
  // expected-error@+1 {{'tile.param' op leaves 'BN' open; give it a value, for example --schedule='params = {BN = 16}'}}
  %bn = tile.param BN in [16]
  tile.grid %bm, %bn, %bm
}

// -----
!b = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
tile.kernel @f(%b: !b) attributes {schedule = #tile.schedule<params = {BM = 2048}>} {
  %bm = tile.param BM in [32, 2048]
  tile.grid %bm, %bm, %bm
  // expected-error@+1 {{'tile.load' op has the type 'tensor<?x?xf32, #tile.open<BM, BM>>' and, with BM = 2048, 'tensor<2048x2048xf32>': a tile has at most 1048576 elements}}
  %t = tile.load %b[%bm, %bm] : !b -> tensor<?x?xf32, #tile.open<BM, BM>>
}

// -----
// The number of warps is known now.
// expected-error@+1 {{'tile.kernel' op 'registers' of a schedule are those of warpgroups of 4 warps, got 4 warps and 3 of other roles}}
tile.kernel @f() attributes {schedule = #tile.schedule<params = {BM = 64}, producers = 3, registers = [232, 40]>} {
  %bm = tile.param BM in [32, 64]
  tile.grid %bm, %bm, %bm
}
