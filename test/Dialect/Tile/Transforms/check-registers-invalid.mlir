// RUN: tile-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts,tile-check-registers))'

!h = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @accumulator(%a: !h, %c: !b) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%c0, %c0] : !h -> tensor<128x16xf16>
  %y = tile.load %a[%c0, %c0] : !h -> tensor<16x128xf16>
  // expected-error @below {{'tile.dot' op needs 256 registers a thread for a tile of 128x128xf32; sm_80 has 255 for tiles, operands and addresses}}
  // expected-note @below {{more warps or smaller tiles need fewer}}
  %d = tile.dot %x, %y, %zero : tensor<128x16xf16>, tensor<16x128xf16> -> tensor<128x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<128x128xf32>, !b
}

// -----

!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @copies(%src: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.load' op needs 625 registers a thread for a tile of 100x100xf32; sm_80 has 255 for tiles, operands and addresses}}
  // expected-note @below {{8 of 128 threads hold each element; extents with more factors of two are shared by more threads}}
  %t = tile.load %src[%c0, %c0] : !b -> tensor<100x100xf32>
  tile.store %t, %src[%c0, %c0] : tensor<100x100xf32>, !b
}
