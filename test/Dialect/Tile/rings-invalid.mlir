// RUN: tile-opt %s -split-input-file -verify-diagnostics

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @released_twice(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    // expected-note @+1 {{used up here}}
    tile.ring.release %slot
    // expected-error @+1 {{'tile.ring.release' op uses up the token of a slot a second time}}
    tile.ring.release %slot
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @never_released(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // expected-error @+1 {{'tile.ring.take' op has the token of a slot that is never released}}
    %t, %slot = tile.ring.take %ring : !ring
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @released_in_a_loop(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+1 {{'tile.ring.release' op uses up the token of a slot in another block than the one that defines it}}
      tile.ring.release %slot
    }
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @read_late(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    // expected-note @+1 {{used up here}}
    tile.ring.release %slot
    // expected-error @+1 {{'tile.load' op accesses a slot whose token is used up}}
    %x = tile.load %t[%c0, %c0] : !tile -> tensor<64x64xf16, #mma>
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @released_early(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    // expected-note @+1 {{the product}}
    %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
    // expected-error @+1 {{'tile.ring.release' op releases a slot that a product in flight reads; tile.await must come before it}}
    tile.ring.release %slot
    %d = tile.await %p : !pending
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @carried_alone(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    // expected-note @+1 {{the product}}
    %p = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
    // expected-error @+1 {{'scf.for' op carries the token of a slot, but not the product in flight that reads the slot}}
    %held = scf.for %i = %c0 to %n step %c1 iter_args(%before = %slot) -> !tile.slot {
      tile.ring.release %before
      %u, %next = tile.ring.take %ring : !ring
      scf.yield %next : !tile.slot
    }
    %d = tile.await %p : !pending
    tile.ring.release %held
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @released_before_the_carried_product(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    %first = tile.dot async %t, %t, %zero : !tile, !tile -> !pending
    // expected-note @+2 {{the product}}
    %last, %held = scf.for %i = %c0 to %n step %c1
        iter_args(%p = %first, %before = %slot) -> (!pending, !tile.slot) {
      // expected-error @+1 {{'tile.ring.release' op releases a slot that a product in flight reads; tile.await must come before it}}
      tile.ring.release %before
      %u, %next = tile.ring.take %ring : !ring
      %q = tile.dot async %u, %u, %p : !tile, !tile, !pending -> !pending
      %done = tile.await %p : !pending
      scf.yield %q, %next : !pending, !tile.slot
    }
    %d = tile.await %last : !pending
    tile.ring.release %held
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @slot_in_a_branch(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %c = arith.constant true
    scf.if %c {
      // expected-error @+1 {{'tile.ring.take' op is inside 'scf.if'; the number of its slot follows from the program order only in loops of scf.for}}
      %t, %slot = tile.ring.take %ring : !ring
      tile.ring.release %slot
    }
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @two_roles(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // expected-note @+1 {{in this role}}
    %t, %slot = tile.ring.acquire %ring : !ring
    tile.ring.publish %slot
  }, {
    // expected-error @+1 {{'tile.ring.acquire' op uses a ring in another role than a second 'tile.ring.acquire' does}}
    %t, %slot = tile.ring.acquire %ring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t fills %slot : !k, !tile
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @once_in_a_loop(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+1 {{'tile.ring.take' op is in a loop, but its ring has no 'empty' and is filled once}}
      %t, %slot = tile.ring.take %once : !once
    }
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @once_twice(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %once : !once
    // expected-error @+1 {{'tile.ring.take' op uses a ring a second time that has no 'empty' and is filled once}}
    %u, %second = tile.ring.take %once : !once
  }, {
    %u, %second = tile.ring.acquire %once : !once
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %u fills %second : !k, !tile
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @once_released(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %once : !once
    // expected-error @+1 {{'tile.ring.release' op uses the token of a ring without 'empty', whose slot is never released}}
    tile.ring.release %slot
  }, {
    %u, %second = tile.ring.acquire %once : !once
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %u fills %second : !k, !tile
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @nothing_fills(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // expected-error @+1 {{'tile.ring.take' op takes a slot of a ring that nothing fills}}
    %t, %slot = tile.ring.take %ring : !ring
    tile.ring.release %slot
  }, {
    %a = arith.constant 0 : i32
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @not_filled(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a = arith.constant 0 : i32
  }, {
    // expected-error @+1 {{'tile.ring.acquire' op acquires a slot that nothing fills}}
    %t, %slot = tile.ring.acquire %ring : !ring
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @filled_twice(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a = arith.constant 0 : i32
  }, {
    %t, %slot = tile.ring.acquire %ring : !ring
    // expected-note @+1 {{filled here}}
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t fills %slot : !k, !tile
    // expected-error @+1 {{'tile.bulk_copy' op fills a slot a second time}}
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t fills %slot : !k, !tile
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @filled_elsewhere(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a = arith.constant 0 : i32
  }, {
    %t, %slot = tile.ring.acquire %ring : !ring
    // expected-error @+1 {{'tile.bulk_copy' op fills another buffer than that of its tile.ring.acquire}}
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %s1 fills %slot : !k, !tile
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @filled_in_two_ways(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a = arith.constant 0 : i32
  }, {
    %t, %slot = tile.ring.acquire %ring : !ring
    // expected-error @+1 {{'tile.bulk_copy' op fills a slot of a ring that others fill in another way, by TMA or by threads}}
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t fills %slot : !k, !tile
    %u, %second = tile.ring.acquire %ring : !ring
    // expected-note @+1 {{filled here}}
    tile.ring.publish %second
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @acquired_and_released(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a = arith.constant 0 : i32
  }, {
    %t, %slot = tile.ring.acquire %ring : !ring
    // expected-error @+1 {{'tile.ring.release' op uses the token of a slot that is to be filled; only tile.bulk_copy and tile.ring.publish may}}
    tile.ring.release %slot
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @taken_and_filled(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    // expected-error @+1 {{'tile.ring.publish' op uses the token of a slot that is read; only tile.ring.release and scf.for may}}
    tile.ring.publish %slot
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @carried_ring(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // expected-error @+1 {{'scf.for' op uses a ring; only tile.ring.acquire, tile.ring.take and tile.ring.skip may}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %ring) -> !ring {
      scf.yield %x : !ring
    }
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @slot_of_two_rings(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %t, %slot = tile.ring.take %ring : !ring
    %c = arith.constant true
    // expected-error @+1 {{'arith.select' op uses the token of a slot that is read; only tile.ring.release and scf.for may}}
    %either = arith.select %c, %slot, %slot : !tile.slot
    tile.ring.release %either
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %t, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %t fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @slot_and_barrier(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a = arith.constant 0 : i32
  }, {
    %t, %slot = tile.ring.acquire %ring : !ring
    // expected-error @+1 {{'tile.bulk_copy' op needs a slot that it fills or an mbarrier, not both}}
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t fills %slot, %f[%c0] : !k, !tile, !bars
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @slot_nor_barrier(%k: !k, %n: index, %flag: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %s1 = tile.alloc : !tile
  %f1 = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %s1, %f1 : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a = arith.constant 0 : i32
  }, {
    // expected-error @+1 {{'tile.bulk_copy' op needs a slot that it fills or an mbarrier, not both}}
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %s1 : !k, !tile
  }
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @two_slots_once() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  // expected-error @+1 {{'tile.ring.create' op has 2 stages and no 'empty'; a ring that is filled once has one stage}}
  %ring = tile.ring.create %s, %f : !tile.ring<!tile, 2>
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @no_storage() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @+1 {{expected storage and, if roles share the ring, mbarriers 'full' and 'empty'; got 0 operands}}
  %ring = tile.ring.create : !tile.ring<!tile, 1>
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @three_barriers() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !tile
  %b = tile.alloc : !bar
  // expected-error @+1 {{'tile.ring.create' op needs at most two buffers of mbarriers, got 3}}
  %ring = "tile.ring.create"(%s, %b, %b, %b) : (!tile, !bar, !bar, !bar) -> !tile.ring<!tile, 1>
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @barriers_in_a_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.alloc : !tile
    %f = tile.alloc : !bar
    // expected-error @+1 {{'tile.ring.create' op has mbarriers and must be at the top level of a kernel}}
    %ring = tile.ring.create %s, %f : !tile.ring<!tile, 1>
  }
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @shared_barriers() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !tile
  %t = tile.alloc : !tile
  %f = tile.alloc : !bar
  // expected-error @+1 {{'tile.ring.create' op shares its 'full' with another ring}}
  %ring = tile.ring.create %s, %f : !tile.ring<!tile, 1>
  %other = tile.ring.create %t, %f : !tile.ring<!tile, 1>
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @wrong_storage() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bar
  // expected-error @+1 {{'tile.ring.create' op needs storage of type '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>', got '!tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>'}}
  %ring = "tile.ring.create"(%s, %f) : (!storage, !bar) -> !tile.ring<!tile, 1>
}

// -----

// expected-error @+1 {{a ring has at least one stage, got 0}}
!none = !tile.ring<!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>, 0>

// -----

// expected-error @+1 {{a ring has shared buffers, got '!tile.buffer<64x64xf16, #tile.strided<[64, 1]>, global>'}}
!global = !tile.ring<!tile.buffer<64x64xf16, #tile.strided<[64, 1]>, global>, 2>

// -----

// expected-error @+1 {{1000000 buffers of type '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>' cannot be stacked to a ring}}
!many = !tile.ring<!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>, 1000000>
