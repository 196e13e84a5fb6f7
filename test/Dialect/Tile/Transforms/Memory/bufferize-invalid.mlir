// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-bufferize))' \
// RUN:   -split-input-file -verify-diagnostics

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = tensor<64x64xf16, #tile.swizzle<128>>

tile.kernel @carried(%a: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !g -> !s
  // expected-error@+1 {{'scf.for' op cannot carry a tile in shared memory (operand 3, 'tensor<64x64xf16, #tile.swizzle<128>>'); convert it to a layout in registers}}
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %t) -> !s {
    %n = tile.load %a[%i, %c0] : !g -> !s
    scf.yield %n : !s
  }
}

// -----

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = tensor<64x64xf16, #tile.swizzle<128>>

tile.kernel @computed(%a: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !g -> !s
  // expected-error@+1 {{'arith.addf' op cannot use a tile in shared memory (operand 0, 'tensor<64x64xf16, #tile.swizzle<128>>'); convert it to a layout in registers}}
  %r = arith.addf %t, %t : !s
}

// -----

tile.kernel @constant() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op cannot produce a tile in shared memory (result 0, 'tensor<64x64xf16, #tile.swizzle<128>>'); convert it to a layout in registers}}
  %r = arith.constant dense<0.0> : tensor<64x64xf16, #tile.swizzle<128>>
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

tile.kernel @mask(%x: i32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %m = arith.constant dense<true> : tensor<64x64xi1, #blocked>
  // expected-error@+1 {{a tile with the layout #tile.padded<8, order = [1, 0]> needs integer or float elements of 8, 16, 32 or 64 bits, got 'i1'}}
  %r = tile.convert_layout %m : tensor<64x64xi1, #blocked> -> tensor<64x64xi1, #tile.padded<8, order = [1, 0]>>
}
