// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory))' \
// RUN:   -split-input-file -verify-diagnostics

#row = #tile.blocked<thread = [1, 4], lane = [1, 32], warp = [4, 1], order = [1, 0]>
!big = !tile.buffer<256x128xf32, #tile.padded<0, order = [1, 0]>, shared>
!t = tensor<256x128xf32, #row>

module attributes {tile.target = "sm_80"} {
// expected-error@+1 {{'tile.kernel' op needs 262144 bytes of shared memory; sm_80 has 166912}}
tile.kernel @overflow() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  // expected-note@+1 {{131072 bytes at offset 0: '!tile.buffer<256x128xf32, #tile.padded<0, order = [1, 0]>, shared>'}}
  %a = tile.alloc : !big
  // expected-note@+1 {{131072 bytes at offset 131072: '!tile.buffer<256x128xf32, #tile.padded<0, order = [1, 0]>, shared>'}}
  %b = tile.alloc : !big
  tile.store %t, %a[%c0, %c0] : !t, !big
  tile.store %t, %b[%c0, %c0] : !t, !big
  %x = tile.load %a[%c0, %c0] : !big -> !t
  %y = tile.load %b[%c0, %c0] : !big -> !t
}
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

module attributes {tile.target = "sm_80"} {
tile.kernel @misaligned() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.alloc' op offset 512 is no multiple of 1024, the alignment of '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>'}}
  %a = tile.alloc {offset = 512 : i64} : !s
}
}

// -----

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!p = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!t = tensor<64x64xf16, #row>

module attributes {tile.target = "sm_80"} {
tile.kernel @overlap() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  // expected-note@+1 {{at bytes 0 to 9215}}
  %a = tile.alloc {offset = 0 : i64} : !p
  // expected-error@+1 {{'tile.alloc' op at bytes 4096 to 13311 overlaps a buffer that is live at the same time}}
  %b = tile.alloc {offset = 4096 : i64} : !p
  tile.store %t, %a[%c0, %c0] : !t, !p
  tile.store %t, %b[%c0, %c0] : !t, !p
  %x = tile.load %a[%c0, %c0] : !p -> !t
  %y = tile.load %b[%c0, %c0] : !p -> !t
}
}

// -----

!p = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>

module attributes {tile.target = "sm_80"} {
tile.kernel @chosen(%x: i32) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.grid %c1, %c1, %c1
  %a = tile.alloc : !p
  %b = tile.alloc : !p
  %cond = arith.cmpi eq, %x, %zero : i32
  // expected-error@+1 {{'arith.select' op chooses a shared buffer at run time; only tile.alloc, tile.slice, tile.transpose and rings may make one}}
  %c = arith.select %cond, %a, %b : !p
}
}

// -----

// expected-error@+1 {{no target chip: set tile.target on the module (pass tile-attach-target)}}
tile.kernel @no_chip() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
