// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(canonicalize,tile-attach-target{chip=sm_80},tile-vectorize)'

!rows = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>

tile.kernel @no_dimension(%a: !rows) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.require' op dimension 2 does not exist in a buffer of rank 2}}
  tile.require %a[2] equal %c1, "one" : !rows
}

// -----

!rows = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>

tile.kernel @negative_dimension(%a: !rows) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.require' op dimension -1 does not exist in a buffer of rank 2}}
  tile.require %a[-1] equal %c1, "one" : !rows
}

// -----

!rows = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
!row = !tile.buffer<64xf32, #tile.strided<[1]>, global>

tile.kernel @slice(%a: !rows) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %row = tile.slice %a[%c1, *] : !rows to !row
  // expected-error @below {{'tile.require' op needs a buffer that is an argument of the kernel}}
  tile.require %row[0] equal %c1, "one" : !row
}

// -----

!rows = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>

tile.kernel @value(%a: !rows) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-note @below {{used here}}
  %block = tile.program_id x
  // expected-error @below {{'tile.require' op depends on 'tile.program_id', which the manifest cannot express}}
  tile.require %a[0] at_least %block, "the block" : !rows
}

// -----

!rows = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>

func.func @outside(%a: !rows) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'tile.require' op expects parent op 'tile.kernel'}}
  tile.require %a[0] at_least %c1, "one" : !rows
  return
}

// -----

!some = !tile.buffer<96x64xf32, #tile.strided<[64, 1]>, global>

tile.kernel @too_few(%a: !some) attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  %c50 = arith.constant 50 : index
  tile.grid %c1, %c1, %c1
  %twice = arith.addi %c50, %c50 : index
  // expected-error @below {{'tile.require' op does not hold: extent 0 of argument 0 is 96, must be at least 100: two blocks}}
  tile.require %a[0] at_least %twice, "two blocks" : !some
}

// -----

!some = !tile.buffer<96x64xf32, #tile.strided<[64, 1]>, global>

tile.kernel @no_multiple(%a: !some) attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.require' op does not hold: extent 0 of argument 0 is 96, must be a multiple of 0: nothing}}
  tile.require %a[0] multiple_of %c0, "nothing" : !some
}
