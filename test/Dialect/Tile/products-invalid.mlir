// RUN: tile-opt %s -split-input-file -verify-diagnostics

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @never_awaited(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  // expected-error @+1 {{'tile.dot' op has a product in flight that is not awaited in its block}}
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @awaited_in_a_branch(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %c = arith.constant true
  // expected-error @+1 {{'tile.dot' op has a product in flight that is not awaited in its block}}
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  scf.if %c {
    %d = tile.await %p : !pending
  }
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @loop_result_never_awaited(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  // expected-error @+1 {{'scf.for' op has a product in flight that is not awaited in its block}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> !pending {
    %r = tile.dot async %t, %t, %q : !tile, !tile, !pending -> !pending
    scf.yield %r : !pending
  }
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @carried_never_awaited(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  // expected-error @+1 {{'scf.for' op has a product in flight that is not awaited in its block}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> !pending {
    %r = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
    scf.yield %r : !pending
  }
  %d = tile.await %last : !pending
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @two_accumulate(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  // expected-note @+1 {{continued here}}
  %q = tile.dot async %t, %t, %p : !tile, !tile, !pending -> !pending
  // expected-error @+1 {{'tile.dot' op continues a product that another operation continues}}
  %r = tile.dot async %t, %t, %p : !tile, !tile, !pending -> !pending
  %d:2 = tile.await %q, %r : !pending, !pending
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @accumulates_in_a_loop(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{'tile.dot' op continues a product that is started outside of its region; a loop must carry it}}
    %q = tile.dot async %t, %t, %p : !tile, !tile, !pending -> !pending
    %d = tile.await %q : !pending
  }
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @tile_of_a_continued_product(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  // expected-note @+1 {{continued here}}
  %q = tile.dot async %t, %t, %p : !tile, !tile, !pending -> !pending
  // expected-error @+1 {{'tile.await' op uses the tile of a product whose registers another operation goes on to change}}
  %d:2 = tile.await %p, %q : !pending, !pending
  %e = arith.addf %d#0, %d#1 : !acc
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @selected(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %c = arith.constant true
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  // expected-error @+1 {{'arith.select' op uses a product in flight, which tile.await makes a tile}}
  %q = arith.select %c, %p, %p : !pending
  %d = tile.await %p : !pending
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @a_tile(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  // expected-error @+1 {{'tile.dot' op is asynchronous and yields a !tile.pending, got 'tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>'}}
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !acc
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @not_async(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  // expected-error @+1 {{'tile.dot' op is not asynchronous and yields a tile, got '!tile.pending<tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>'}}
  %p = tile.dot %t, %t, %zero : !tile, !tile -> !pending
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @pending_accumulator(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
  // expected-error @+1 {{'tile.dot' op adds to a product in flight, which requires 'async'}}
  %q = tile.dot %t, %t, %p : !tile, !tile, !pending -> !acc
  %d = tile.await %p : !pending
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @no_product(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  // expected-error @+1 {{'tile.await' op needs a product to wait for}}
  "tile.await"() {operandSegmentSizes = array<i32: 0, 0>} : () -> ()
}

// -----

// expected-error @+1 {{a product in flight is a tile of f32 or i32, got 'tensor<64x64xf16>'}}
!half = !tile.pending<tensor<64x64xf16>>
