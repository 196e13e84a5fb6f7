// RUN: tile-opt %s | tile-opt | FileCheck %s

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
// CHECK-DAG: #[[MMA:.*]] = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>

// CHECK-LABEL: tile.kernel @rings
tile.kernel @rings(%k: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<2x64x64xf16
  %s = tile.alloc : !storage
  // CHECK: %[[F:.*]] = tile.alloc : !tile.buffer<2xi64
  %f = tile.alloc : !bars
  // CHECK: %[[E:.*]] = tile.alloc : !tile.buffer<2xi64
  %e = tile.alloc : !bars
  %t = tile.alloc : !tile
  %tf = tile.alloc : !bar
  // CHECK: %[[RING:.*]] = tile.ring.create %[[S]], %[[F]], %[[E]] : !tile.ring<!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>, 2>
  %ring = tile.ring.create %s, %f, %e : !ring
  // CHECK: %[[ONCE:.*]] = tile.ring.create %{{.*}}, %{{.*}} : !tile.ring<!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>, 1>
  %once = tile.ring.create %t, %tf : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK: %[[Q:.*]], %{{.*}} = tile.ring.take %[[ONCE]] : !tile.ring<
    %q, %slotq = tile.ring.take %once : !once
    // CHECK: %[[K:.*]], %[[SLOT:.*]] = tile.ring.take %[[RING]] : !tile.ring<
    %k0, %slot = tile.ring.take %ring : !ring
    // CHECK: %[[FIRST:.*]] = tile.dot async %[[Q]], %[[K]], %{{.*}} : !tile.buffer<{{.*}}>, !tile.buffer<{{.*}}> -> !tile.pending<tensor<64x64xf32, #[[MMA]]>>
    %first = tile.dot async %q, %k0, %zero : !tile, !tile -> !pending
    // CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[P:.*]] = %[[FIRST]], %[[HELD:.*]] = %[[SLOT]]) -> (!tile.pending<tensor<64x64xf32, #[[MMA]]>>, !tile.slot)
    %last, %held = scf.for %i = %c64 to %n step %c64
        iter_args(%p = %first, %before = %slot) -> (!pending, !tile.slot) {
      %ki, %next = tile.ring.take %ring : !ring
      // CHECK: %[[NEXT:.*]] = tile.dot async %{{.*}}, %{{.*}}, %[[P]] : !tile.buffer<{{.*}}>, !tile.buffer<{{.*}}>, !tile.pending<tensor<64x64xf32, #[[MMA]]>> -> !tile.pending<tensor<64x64xf32, #[[MMA]]>>
      %d = tile.dot async %q, %ki, %p : !tile, !tile, !pending -> !pending
      // CHECK: %{{.*}} = tile.await %[[P]] : !tile.pending<tensor<64x64xf32, #[[MMA]]>>
      %done = tile.await %p : !pending
      // CHECK: tile.ring.release %[[HELD]] fenced
      tile.ring.release %before fenced
      scf.yield %d, %next : !pending, !tile.slot
    }
    // CHECK: %[[R:.*]]:2 = tile.await %[[LOOP]]#0 with %{{.*}} : !tile.pending<{{.*}}> with tensor<64x64xf32, #[[MMA]]>
    %r:2 = tile.await %last with %zero : !pending with !acc
    // CHECK: tile.ring.release %[[LOOP]]#1
    tile.ring.release %held
    // CHECK: arith.addf %[[R]]#0, %[[R]]#1
    %sum = arith.addf %r#0, %r#1 : !acc
  }, {
    %q, %slotq = tile.ring.acquire %once : !once
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %q fills %slotq : !k, !tile
    scf.for %i = %c0 to %n step %c64 {
      // CHECK: %[[T:.*]], %[[TO:.*]] = tile.ring.acquire %[[RING]] : !tile.ring<
      // CHECK-NEXT: tile.bulk_copy %{{.*}}[%{{.*}}, %{{.*}}] dims [0, 1], %[[T]] fills %[[TO]] : !tile.buffer<?x64xf16, {{.*}}>, !tile.buffer<64x64xf16
      %to, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %to fills %slot : !k, !tile
    }
  }
}

// CHECK-LABEL: tile.kernel @threads
tile.kernel @threads() attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %f = tile.alloc : !bar
  %e = tile.alloc : !bar
  %ring = tile.ring.create %t, %f, %e : !once
  tile.warp_roles warps = [4, 4] {
    %x = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
    %to, %slot = tile.ring.acquire %ring : !once
    tile.store %x, %to[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
    tile.fence_async
    // CHECK: tile.ring.publish %{{.*}}
    tile.ring.publish %slot
  }, {
    %from, %slot = tile.ring.take %ring : !once
    // CHECK: tile.ring.release %{{.*}}
    tile.ring.release %slot
  }
}

// The same threads fill and read a ring without mbarriers. A loop carries a token.
// CHECK-LABEL: tile.kernel @one_role
tile.kernel @one_role(%k: !k, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %more = arith.cmpi slt, %c1, %n : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %t = tile.alloc : !storage
  // CHECK: %[[RING:.*]] = tile.ring.create %{{[^,]*}} : !tile.ring<
  %ring = tile.ring.create %s : !ring
  %other = tile.ring.create %t : !ring
  %a, %sa = tile.ring.acquire %ring : !ring
  %b, %sb = tile.ring.acquire %other : !ring
  scf.if %more {
    tile.copy async %k[%c0, %c0], %a : !k, !tile
    tile.copy async %k[%c0, %c0], %b : !k, !tile
  }
  // CHECK: tile.ring.publish %{{.*}}, %{{.*}}
  tile.ring.publish %sa, %sb
  %x, %first = tile.ring.take %ring : !ring
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%held = %first) -> !tile.slot {
    %c, %sc = tile.ring.acquire %ring : !ring
    tile.copy async %k[%i, %c0], %c : !k, !tile
    tile.ring.publish %sc
    tile.ring.release %held
    %y, %next = tile.ring.take %ring : !ring
    scf.yield %next : !tile.slot
  }
  tile.ring.release %last
  // A ring of one branch.
  scf.if %more {
    %u = tile.alloc : !tile
    %own = tile.ring.create %u : !once
    %d, %sd = tile.ring.acquire %own : !once
    tile.copy async %k[%c0, %c0], %d : !k, !tile
    tile.ring.publish %sd
    %z, %sz = tile.ring.take %own : !once
    tile.ring.release %sz
  }
}
