// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline))' \
// RUN:   -split-input-file -verify-diagnostics

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

module attributes {tile.target = "sm_80"} {
tile.kernel @unread(%g: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'scf.for' op cannot be pipelined with 'stages = 2' of its schedule: nobody reads its buffer}}
  scf.for %i = %c0 to %c1 step %c1 {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
  } {tile.schedule = #tile.schedule<stages = 2>}
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @no_copy() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'scf.for' op cannot be pipelined with 'stages = 2' of its schedule: it copies nothing from global to shared memory}}
  scf.for %i = %c0 to %c1 step %c1 {
  } {tile.schedule = #tile.schedule<stages = 2>}
}
}

// -----

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

module attributes {tile.target = "sm_80"} {
tile.kernel @one_stage(%g: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'scf.for' op cannot be pipelined with 'stages = 1' of its schedule: with one stage there is no copy to run ahead of another's use}}
  scf.for %i = %c0 to %c1 step %c1 {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
    %x = tile.load %a[%c0, %c0] : !s -> tensor<64x64xf16, #row>
  } {tile.schedule = #tile.schedule<stages = 1>}
}
}
