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
  // expected-error @below {{'tile.dot' op needs 256 registers a thread for a tile of 128x128xf32, and more for operands and addresses; a thread of sm_80 has 255}}
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
  // expected-error @below {{'tile.load' op needs 625 registers a thread for a tile of 100x100xf32, and more for operands and addresses; a thread of sm_80 has 255}}
  // expected-note @below {{8 of 128 threads hold each element; extents with more factors of two are shared by more threads}}
  %t = tile.load %src[%c0, %c0] : !b -> tensor<100x100xf32>
  tile.store %t, %src[%c0, %c0] : tensor<100x100xf32>, !b
}

// -----

// A tile read from shared memory is held as a whole unless products alone use
// it.
!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
#all = #tile.layout<register = [61 -> d1, 61 -> d0], lane = [32 -> 0], warp = [4 -> 0]>
tile.kernel @shared(%src: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.load %src[%c0, %c0] : !b -> tensor<61x61xf32, #tile.padded<4, order = [1, 0]>>
  // expected-error @below {{'tile.convert_layout' op needs 3721 registers a thread for a tile of 61x61xf32, and more for operands and addresses; a thread of sm_80 has 255}}
  // expected-note @below {{128 of 128 threads hold each element; extents with more factors of two are shared by more threads}}
  %t = tile.convert_layout %s : tensor<61x61xf32, #tile.padded<4, order = [1, 0]>> -> tensor<61x61xf32, #all>
  tile.store %t, %src[%c0, %c0] : tensor<61x61xf32, #all>, !b
}

// -----

// A broadcast takes no registers of its own, but each element is stored by an
// instruction.
!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
#all = #tile.layout<register = [61 -> d1, 61 -> d0], lane = [32 -> 0], warp = [4 -> 0]>
tile.kernel @unrolled(%src: !v, %dst: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %v = tile.load %src[%c0] : !v -> tensor<61xf32, #tile.slice<1, #all>>
  // expected-error @below {{'tile.broadcast' op gives a thread 3721 elements of a tile of 61x61xf32; the limit is 1024}}
  // expected-note @below {{128 of 128 threads hold each element; extents with more factors of two are shared by more threads}}
  %t = tile.broadcast %v along 1 : tensor<61xf32, #tile.slice<1, #all>> -> tensor<61x61xf32, #all>
  tile.store %t, %dst[%c0, %c0] : tensor<61x61xf32, #all>, !b
}

// -----

// Each element of a mask takes a register.
!b = !tile.buffer<?x?xi32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @mask(%dst: !b, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %start = arith.constant dense<false> : tensor<64x128xi1>
  %true = arith.constant dense<true> : tensor<64x128xi1>
  // expected-error @below {{'scf.for' op needs 256 registers a thread for a tile of 64x128xi1, and more for operands and addresses; a thread of sm_80 has 255}}
  // expected-note @below {{more warps or smaller tiles need fewer}}
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%m = %start) -> tensor<64x128xi1> {
    %next = arith.xori %m, %true : tensor<64x128xi1>
    scf.yield %next : tensor<64x128xi1>
  }
  %r = arith.extui %t : tensor<64x128xi1> to tensor<64x128xi32>
  tile.store %r, %dst[%c0, %c0] : tensor<64x128xi32>, !b
}

// -----

// The limit of a kernel with roles is that of its consumers.
!h = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @role(%a: !h, %c: !b) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 4, registers = [104, 40]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%c0, %c0] : !h -> tensor<128x16xf16>
  %y = tile.load %a[%c0, %c0] : !h -> tensor<16x128xf16>
  // expected-error @below {{'tile.dot' op needs 128 registers a thread for a tile of 128x128xf32, and more for operands and addresses; a thread of its role has 104}}
  // expected-note @below {{more warps or smaller tiles need fewer}}
  %d = tile.dot %x, %y, %zero : tensor<128x16xf16>, tensor<16x128xf16> -> tensor<128x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<128x128xf32>, !b
}

// -----

// More warps share the registers of a multiprocessor.
!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @warps(%src: !b) attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.load' op needs 128 registers a thread for a tile of 256x256xf32, and more for operands and addresses; a thread of a block of 16 warps has 128}}
  // expected-note @below {{more warps or smaller tiles need fewer}}
  %t = tile.load %src[%c0, %c0] : !b -> tensor<256x256xf32>
  tile.store %t, %src[%c0, %c0] : tensor<256x256xf32>, !b
}

// -----

// A constant without a location, as the canonicalizer leaves it, is reported where
// it is used.
!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @constant(%dst: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<1.0> : tensor<1024x256xf32> loc(unknown)
  // expected-error @below {{'arith.constant' op gives a thread 2048 elements of a tile of 1024x256xf32; the limit is 1024}}
  // expected-note @below {{more warps or smaller tiles need fewer}}
  tile.store %t, %dst[%c0, %c0] : tensor<1024x256xf32>, !b
}
