// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile-choose-accumulators)'

!acc = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
module attributes {tile.target = "sm_80"} {
  // expected-error@+1 {{'tile.kernel' op argument 0 is an accumulator, so it needs a 'tile.name' for the kernels that share it}}
  tile.kernel @nameless(%acc: !acc {tile.accumulator}) {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  // expected-error@+1 {{'tile.kernel' op argument 0 is an accumulator, so it must be a global buffer with a #tile.strided layout, got 'f32'}}
  tile.kernel @scalar(%acc: f32 {tile.accumulator, tile.name = "a"}) {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  }
}

// -----

// A layout that the author wrote is not replaced.
!acc = !tile.buffer<?x64xf32, #tile.map<(l, d) -> (d, l)>, global>
module attributes {tile.target = "sm_80"} {
  // expected-error@+1 {{'tile.kernel' op argument 0 is an accumulator, so it must be a global buffer with a #tile.strided layout, got '!tile.buffer<?x64xf32, #tile.map<(d0, d1) -> (d1, d0)>, global>'}}
  tile.kernel @mapped(%acc: !acc {tile.accumulator, tile.name = "a"}) {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  }
}

// -----

!acc = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
!other = !tile.buffer<?x128xf32, #tile.strided<[128, 1]>, global>
module attributes {tile.target = "sm_80"} {
  tile.kernel @first(%acc: !acc {tile.accumulator, tile.name = "a"}) {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  }
  // expected-error@+1 {{'tile.kernel' op argument 0 is the same accumulator as one of @first, but has the type '!tile.buffer<?x128xf32, #tile.strided<[128, 1]>, global>', not '!tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>'}}
  tile.kernel @second(%acc: !other {tile.accumulator, tile.name = "a"}) {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  }
}

// -----

!acc = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
// expected-error@below {{}}
module {
  tile.kernel @no_target(%acc: !acc {tile.accumulator, tile.name = "a"}) {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  }
}
