// RUN: tile-opt %s -split-input-file -verify-diagnostics -tile-attach-target=chip=sm_80 -tile-close-extents

!b = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
// expected-error@+1 {{'tile.kernel' op has no values of its open extents that fit sm_80: params = {BM = 4096}, warps = 256: a tile has at most 1048576 elements}}
tile.kernel @f(%b: !b) {
  %bm = tile.param BM in [2048, 4096]
  tile.grid %bm, %bm, %bm
  %t = tile.load %b[%bm, %bm] : !b -> tensor<?x?xf32, #tile.open<BM, BM>>
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
// No number of warps suits the roles.
// expected-error@+1 {{'tile.kernel' op has no values of its open extents that fit sm_80: its schedule does not suit 256 warps}}
tile.kernel @f() attributes {schedule = #tile.schedule<params = {BM = 64}, producers = 3, registers = [232, 40]>} {
  %bm = tile.param BM in [32, 64]
  tile.grid %bm, %bm, %bm
}
