// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline,tile-lower-rings))' \
// RUN:   -split-input-file -verify-diagnostics

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!s = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

module attributes {tile.target = "gfx1100"} {
tile.kernel @one_stage(%g: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'scf.for' op cannot be pipelined with 'stages = 1' of its schedule: with one stage there is no copy to run ahead of another's use}}
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
    %x = tile.load %a[%c0, %c0] : !s -> tensor<64x64xf16, #row>
  } {tile.schedule = #tile.schedule<stages = 1>}
}
}

// -----

module attributes {tile.target = "gfx1201"} {
tile.kernel @no_copy(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'scf.for' op cannot be pipelined with 'stages = 2' of its schedule: it copies nothing from global to shared memory}}
  scf.for %i = %c0 to %n step %c1 {
  } {tile.schedule = #tile.schedule<stages = 2>}
}
}

// -----

// Without a chip it is not known how threads fill slots.
!s = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

// expected-error@+1 {{no target chip: set tile.target on the module (pass tile-attach-target)}}
tile.kernel @no_chip(%g: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !s
  %ring = tile.ring.create %s : !tile.ring<!s, 1>
  %to, %fill = tile.ring.acquire %ring : !tile.ring<!s, 1>
  tile.copy async %g[%c0, %c0], %to : !g, !s
  tile.ring.publish %fill
}
