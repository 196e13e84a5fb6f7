// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' \
// RUN:   -split-input-file -verify-diagnostics

!p = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>

tile.kernel @unplanned() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.alloc' op has no offset, so what it shares memory with is not known; run tile-plan-shared-memory first}}
  %a = tile.alloc : !p
}

// -----

!p = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>

tile.kernel @carried() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.alloc {offset = 0 : i64} : !p
  // expected-error@+1 {{'scf.for' op chooses a shared buffer at run time; only tile.alloc, tile.slice, tile.transpose and rings may make one}}
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %a) -> !p {
    scf.yield %x : !p
  }
}
