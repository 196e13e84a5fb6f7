// RUN: tile-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,tile-check-registers))'
//
// Asynchronous products whose registers exceed those that each thread of the block
// starts with: ptxas refuses them (error C7602).

// The schedule gives the consumers 160 registers, but only when the block has started.
!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
tile.kernel @pinned(%a: !m, %b: !m, %k: index) attributes {num_warps = 12 : i32,
    schedule = #tile.schedule<producers = 4, registers = [160, 32]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<192x256xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> (tensor<192x256xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<192x32xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<32x256xf16>
    // expected-error @below {{'tile.dot' op a matrix instruction needs 154 registers a thread; a block of 16 warps starts with 128}}
    // expected-note @below {{fewer warps start with more; fewer columns need fewer}}
    %next = tile.dot %at, %bt, %s : tensor<192x32xf16>, tensor<32x256xf16> -> tensor<192x256xf32>
    scf.yield %next : tensor<192x256xf32>
  }
}

// -----

// Without roles, 16 warps compute.
!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
tile.kernel @without_roles(%a: !m, %b: !m, %c: !c) attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<256x240xf32>
  %at = tile.load %a[%c0, %c0] : !m -> tensor<256x32xf16>
  %bt = tile.load %b[%c0, %c0] : !m -> tensor<32x240xf16>
  // expected-error @below {{'tile.dot' op a matrix instruction needs 146 registers a thread; a block of 16 warps starts with 128}}
  // expected-note @below {{fewer warps start with more; fewer columns need fewer}}
  %next = tile.dot %at, %bt, %zero : tensor<256x32xf16>, tensor<32x240xf16> -> tensor<256x240xf32>
  tile.store %next, %c[%c0, %c0] : tensor<256x240xf32>, !c
}

// -----

// 192 columns need 122 registers.
!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
tile.kernel @divided(%a: !m, %b: !m, %c: !c) attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<256x192xf32>
  %at = tile.load %a[%c0, %c0] : !m -> tensor<256x32xf16>
  %bt = tile.load %b[%c0, %c0] : !m -> tensor<32x192xf16>
  %next = tile.dot %at, %bt, %zero : tensor<256x32xf16>, tensor<32x192xf16> -> tensor<256x192xf32>
  tile.store %next, %c[%c0, %c0] : tensor<256x192xf32>, !c
}
