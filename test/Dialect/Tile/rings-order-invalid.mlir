// Rings that the same threads fill and read: the order of the program must be right.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @taken_before_filled(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  // expected-error @+1 {{'tile.ring.take' op takes a slot before it is filled}}
  %x, %slot = tile.ring.take %ring : !ring
  tile.ring.release %slot
  %b, %s = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b : !k, !tile
  tile.ring.publish %s
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @taken_before_published(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  // expected-note @+1 {{acquired here}}
  %b, %s = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b : !k, !tile
  // expected-error @+1 {{'tile.ring.take' op takes a slot before it is published}}
  %x, %slot = tile.ring.take %ring : !ring
  tile.ring.release %slot
  tile.ring.publish %s
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @acquired_in_use(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %b0, %s0 = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b0 : !k, !tile
  tile.ring.publish %s0
  %b1, %s1 = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b1 : !k, !tile
  tile.ring.publish %s1
  // expected-error @+1 {{'tile.ring.acquire' op acquires a slot that is in use; the ring has 2 slots}}
  %b2, %s2 = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b2 : !k, !tile
  tile.ring.publish %s2
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @released_in_another_order(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %b0, %s0 = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b0 : !k, !tile
  tile.ring.publish %s0
  %b1, %s1 = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b1 : !k, !tile
  tile.ring.publish %s1
  %x, %first = tile.ring.take %ring : !ring
  %y, %second = tile.ring.take %ring : !ring
  tile.ring.release %second
  // expected-error @+1 {{'tile.ring.acquire' op acquires a slot that is in use; the ring has 2 slots}}
  %b2, %s2 = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b2 : !k, !tile
  tile.ring.publish %s2
  tile.ring.release %first
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @more_fills_than_takes(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  // expected-error @+1 {{'scf.for' op ends an iteration with other slots of a ring in use than it begins with}}
  scf.for %i = %c0 to %n step %c1 {
    %b, %s = tile.ring.acquire %ring : !ring
    tile.copy async %k[%c0, %c0], %b : !k, !tile
    tile.ring.publish %s
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @released_before_read(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %b, %s = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b : !k, !tile
  tile.ring.publish %s
  %x, %slot = tile.ring.take %ring : !ring
  // expected-note @+1 {{used up here}}
  tile.ring.release %slot
  // expected-error @+1 {{'tile.load' op accesses a slot whose token is used up}}
  %t = tile.load %x[%c0, %c0] : !tile -> !t
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @copied_after_publish(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %b, %s = tile.ring.acquire %ring : !ring
  // expected-note @+1 {{used up here}}
  tile.ring.publish %s
  // expected-error @+1 {{'tile.copy' op accesses a slot whose token is used up}}
  tile.copy async %k[%c0, %c0], %b : !k, !tile
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @released_twice_by_threads(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %b, %s = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b : !k, !tile
  tile.ring.publish %s
  %x, %slot = tile.ring.take %ring : !ring
  // expected-note @+1 {{used up here}}
  tile.ring.release %slot
  // expected-error @+1 {{'tile.ring.release' op uses up the token of a slot a second time}}
  tile.ring.release %slot
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @held_over_iterations(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %b0, %s0 = tile.ring.acquire %ring : !ring
  tile.copy async %k[%c0, %c0], %b0 : !k, !tile
  tile.ring.publish %s0
  %x, %first = tile.ring.take %ring : !ring
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%held = %first) -> !tile.slot {
    %b, %s = tile.ring.acquire %ring : !ring
    tile.copy async %k[%c0, %c0], %b : !k, !tile
    tile.ring.publish %s
    // expected-error @+1 {{'tile.ring.acquire' op acquires a slot that is in use; the ring has 2 slots}}
    %b2, %s2 = tile.ring.acquire %ring : !ring
    tile.copy async %k[%c0, %c0], %b2 : !k, !tile
    tile.ring.publish %s2
    %y, %next = tile.ring.take %ring : !ring
    tile.ring.release %held
    scf.yield %next : !tile.slot
  }
  tile.ring.release %last
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @bulk_copy_without_barriers(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %b, %s = tile.ring.acquire %ring : !ring
  // expected-error @+1 {{'tile.bulk_copy' op fills a slot of a ring without mbarriers}}
  tile.bulk_copy %k[%c0, %c0] dims [0, 1], %b fills %s : !k, !tile
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @asynchronous_copy_with_barriers(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %other = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %shared = tile.ring.create %other, %f, %e : !ring
  %b, %s = tile.ring.acquire %shared : !ring
  // expected-error @+1 {{'tile.copy' op fills a slot of a ring with mbarriers, whose tile.ring.publish does not wait for asynchronous copies}}
  tile.copy async %k[%c0, %c0], %b : !k, !tile
  tile.ring.publish %s
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @published_together(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  %other = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %shared = tile.ring.create %other, %f, %e : !ring
  %b, %s = tile.ring.acquire %shared : !ring
  %b2, %s2 = tile.ring.acquire %ring : !ring
  // expected-error @+1 {{'tile.ring.publish' op publishes slots of rings with and without mbarriers}}
  tile.ring.publish %s, %s2
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @publishes_nothing(%k: !k, %n: index, %out: !k) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  %ring = tile.ring.create %storage : !ring
  // expected-error @+1 {{'tile.ring.publish' op needs a slot to publish}}
  "tile.ring.publish"() : () -> ()
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>

tile.kernel @threads_of_a_role(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %storage = tile.alloc : !storage
  // expected-note @+1 {{the ring}}
  %ring = tile.ring.create %storage : !ring
  tile.warp_roles warps = [4, 4] {
    // expected-error @+1 {{'tile.ring.acquire' op advances a ring of other threads, which needs mbarriers}}
    %b, %s = tile.ring.acquire %ring : !ring
    tile.copy async %k[%c0, %c0], %b : !k, !tile
    tile.ring.publish %s
  }, {
  }
}
