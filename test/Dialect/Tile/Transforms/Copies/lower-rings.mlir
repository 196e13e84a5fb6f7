// RUN: tile-opt %s -allow-unregistered-dialect --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-lower-rings,cse))' | FileCheck %s

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
!bar = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>
!ring = !tile.ring<!tile, 2>
!once = !tile.ring<!tile, 1>

// Loops carry the count of tiles. A token that a loop carries becomes the number of
// its slot. A ring that is filled once has no count.
// CHECK-LABEL: tile.kernel @carried
tile.kernel @carried(%k: !k, %n: index) attributes {num_warps = 4 : i32} {
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
  // CHECK: %[[T:.*]] = tile.alloc : !tile.buffer<64x64xf16
  %t = tile.alloc : !tile
  // CHECK: %[[TF:.*]] = tile.alloc : !tile.buffer<1xi64
  %tf = tile.alloc : !bar
  // CHECK: tile.init_barriers %[[F]], 1
  // CHECK-NEXT: tile.init_barriers %[[E]], 4
  // CHECK-NEXT: tile.init_barriers %[[TF]], 1
  // CHECK-NEXT: tile.barrier
  // CHECK-NOT: tile.ring
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %t, %tf : !once
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK: tile.wait_barrier %[[TF]][%c0] phase %c0
    %q, %slotq = tile.ring.take %once : !once
    // CHECK: %[[R0:.*]] = arith.remui %[[ZERO]], %c2_i32
    // CHECK: %[[D0:.*]] = arith.divui %[[ZERO]], %c2_i32
    // CHECK: %[[P0:.*]] = arith.remui %[[D0]], %c2_i32
    // CHECK: %[[SLOT0:.*]] = arith.index_castui %[[R0]] : i32 to index
    // CHECK: %[[PHASE0:.*]] = arith.index_castui %[[P0]] : i32 to index
    // CHECK: %[[K0:.*]] = tile.slice %[[S]][%[[SLOT0]], *, *]
    // CHECK: tile.wait_barrier %[[F]][%[[SLOT0]]] phase %[[PHASE0]]
    %k0, %slot = tile.ring.take %ring : !ring
    // CHECK: tile.dot async %[[T]], %[[K0]]
    %first = tile.dot async %q, %k0, %zero : !tile, !tile -> !pending
    // CHECK: %[[ONE:.*]] = arith.addi %[[ZERO]], %c1_i32
    // CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[HELD:.*]] = %[[SLOT0]], %[[COUNT:.*]] = %[[ONE]]) -> (!tile.pending<{{.*}}>, index, i32)
    %last, %held = scf.for %i = %c64 to %n step %c64
        iter_args(%p = %first, %before = %slot) -> (!pending, !tile.slot) {
      // CHECK: %[[R:.*]] = arith.remui %[[COUNT]], %c2_i32
      // CHECK: %[[SLOT:.*]] = arith.index_castui %[[R]]
      // CHECK: tile.wait_barrier %[[F]][%[[SLOT]]]
      %ki, %next = tile.ring.take %ring : !ring
      %d = tile.dot async %q, %ki, %p : !tile, !tile, !pending -> !pending
      // CHECK: %[[NEXT:.*]] = arith.addi %[[COUNT]], %c1_i32
      // CHECK: tile.await %[[P]]
      %done = tile.await %p : !pending
      // CHECK: tile.arrive_barrier %[[E]][%[[HELD]]]
      tile.ring.release %before
      // CHECK: scf.yield %{{.*}}, %[[SLOT]], %[[NEXT]]
      scf.yield %d, %next : !pending, !tile.slot
    }
    // CHECK: tile.await %[[LOOP]]#0
    %r = tile.await %last : !pending
    // CHECK: tile.arrive_barrier %[[E]][%[[LOOP]]#1]
    tile.ring.release %held
  }, {
    // CHECK: }, {
    // CHECK: tile.bulk_copy %{{.*}} dims [0, 1], %[[T]], %[[TF]][%c0]
    %q, %slotq = tile.ring.acquire %once : !once
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %q fills %slotq : !k, !tile
    // CHECK: scf.for {{.*}} iter_args(%[[COUNT:.*]] = %[[ZERO]]) -> (i32)
    scf.for %i = %c0 to %n step %c64 {
      // CHECK: %[[R:.*]] = arith.remui %[[COUNT]], %c2_i32
      // CHECK: %[[D:.*]] = arith.divui %[[COUNT]], %c2_i32
      // CHECK: %[[P:.*]] = arith.remui %[[D]], %c2_i32
      // CHECK: %[[SLOT:.*]] = arith.index_castui %[[R]]
      // CHECK: %[[PHASE:.*]] = arith.index_castui %[[P]]
      // CHECK: %[[BEFORE:.*]] = arith.subi %c1, %[[PHASE]]
      // CHECK: tile.wait_barrier %[[E]][%[[SLOT]]] phase %[[BEFORE]]
      // CHECK: tile.bulk_copy %{{.*}} dims [0, 1], %{{.*}}, %[[F]][%[[SLOT]]]
      %to, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %to fills %slot : !k, !tile
    }
  }
}

// Warps of the first role fill a ring for one thread of another role.
// CHECK-LABEL: tile.kernel @threads
tile.kernel @threads() attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %f = tile.alloc : !bar
  %e = tile.alloc : !bar
  // CHECK: tile.init_barriers %[[F:.*]], 4
  // CHECK: tile.init_barriers %[[E:.*]], 1
  %ring = tile.ring.create %t, %f, %e : !once
  tile.warp_roles warps = [4, 4] {
    %x = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
    // CHECK: tile.wait_barrier %[[E]]
    // CHECK: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.arrive_barrier %[[F]]
    %to, %slot = tile.ring.acquire %ring : !once
    tile.store %x, %to[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
    tile.fence_async
    tile.ring.publish %slot
  }, {
    // CHECK: tile.wait_barrier %[[F]]
    // CHECK-NEXT: tile.arrive_barrier %[[E]]
    %from, %slot = tile.ring.take %ring : !once
    tile.ring.release %slot
  }
}

// The slot of a tile that threads load is located before the product in flight, which
// leaves few registers. The wait for the tile stays at its place.
// CHECK-LABEL: tile.kernel @loaded
tile.kernel @loaded(%k: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !storage
  %f = tile.alloc : !bars
  %e = tile.alloc : !bars
  %t = tile.alloc : !tile
  %tf = tile.alloc : !bar
  %ring = tile.ring.create %s, %f, %e : !ring
  %once = tile.ring.create %t, %tf : !once
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %q, %slotq = tile.ring.take %once : !once
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c64 {
      // CHECK: %[[R:.*]] = arith.remui
      // CHECK: %[[SLOT:.*]] = arith.index_castui %[[R]]
      // CHECK: tile.dot async
      %d = tile.dot async %q, %q, %zero : !tile, !tile -> !pending
      // CHECK: tile.slice %{{.*}}[%[[SLOT]], *, *]
      // CHECK: tile.wait_barrier %{{.*}}[%[[SLOT]]]
      %rows, %slot = tile.ring.take %ring : !ring
      %x = tile.load %rows[%c0, %c0] : !tile -> tensor<64x64xf16, #mma>
      tile.fence_async
      tile.ring.release %slot
      %r = tile.await %d : !pending
    }
  }, {
    %to, %slotq = tile.ring.acquire %once : !once
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %to fills %slotq : !k, !tile
    scf.for %i = %c0 to %n step %c64 {
      %next, %slot = tile.ring.acquire %ring : !ring
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %next fills %slot : !k, !tile
    }
  }
}

// The same threads fill and read these rings, which have no mbarriers. Loops carry
// the number of a slot. A wait leaves the groups in flight that every path commits
// after the tile: that of the other ring, and not that of a branch.
// CHECK-LABEL: tile.kernel @one_role
tile.kernel @one_role(%k: !k, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %more = arith.cmpi slt, %c1, %n : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<3x64x64xf16
  %s = tile.alloc : !tile.buffer<3x64x64xf16, #tile.swizzle<128>, shared>
  // CHECK: %[[T:.*]] = tile.alloc : !tile.buffer<64x64xf16
  %t = tile.alloc : !tile
  // CHECK-NOT: tile.init_barriers
  // CHECK-NOT: tile.barrier
  // CHECK-NOT: tile.ring
  %ring = tile.ring.create %s : !tile.ring<!tile, 3>
  %other = tile.ring.create %t : !once
  // CHECK: %[[SLICE:.*]] = tile.slice %[[S]][%c0, *, *]
  // CHECK-NEXT: tile.copy async %{{.*}}, %[[SLICE]]
  // CHECK-NEXT: tile.commit_group
  %a, %sa = tile.ring.acquire %ring : !tile.ring<!tile, 3>
  tile.copy async %k[%c0, %c0], %a : !k, !tile
  tile.ring.publish %sa
  // CHECK: %[[SLICE:.*]] = tile.slice %[[S]][%c1, *, *]
  // CHECK-NEXT: tile.copy async %{{.*}}, %[[SLICE]]
  // CHECK-NEXT: tile.commit_group
  %b, %sb = tile.ring.acquire %ring : !tile.ring<!tile, 3>
  tile.copy async %k[%c0, %c0], %b : !k, !tile
  tile.ring.publish %sb
  // CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %c0) -> (index)
  scf.for %i = %c0 to %n step %c1 {
    // The address is computed where the slot is filled.
    // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[SLOT]], %c0
    // CHECK: %[[LESS:.*]] = arith.addi %[[SLOT]], %c-1
    // CHECK: %[[BEFORE:.*]] = arith.select %[[WRAPS]], %c2, %[[LESS]]
    // CHECK: scf.if
    // CHECK-NEXT: %[[SLICE:.*]] = tile.slice %[[S]][%[[BEFORE]], *, *]
    // CHECK-NEXT: tile.copy async %{{.*}}, %[[SLICE]]
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.commit_group
    %c, %sc = tile.ring.acquire %ring : !tile.ring<!tile, 3>
    scf.if %more {
      tile.copy async %k[%i, %c0], %c : !k, !tile
    }
    tile.ring.publish %sc
    // CHECK-NEXT: tile.copy async %{{.*}}, %[[T]]
    // CHECK-NEXT: tile.commit_group
    %d, %sd = tile.ring.acquire %other : !once
    tile.copy async %k[%i, %c0], %d : !k, !tile
    tile.ring.publish %sd
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: tile.commit_group
    // CHECK-NEXT: }
    scf.if %more {
      tile.commit_group
    }
    // CHECK-NEXT: %[[X:.*]] = tile.slice %[[S]][%[[SLOT]], *, *]
    // CHECK-NEXT: tile.wait_group 3
    // CHECK-NEXT: %[[WRAPS:.*]] = arith.cmpi eq, %[[SLOT]], %c2
    // CHECK-NEXT: %[[MORE:.*]] = arith.addi %[[SLOT]], %c1
    // CHECK-NEXT: %[[NEXT:.*]] = arith.select %[[WRAPS]], %c0, %[[MORE]]
    // CHECK-NEXT: "test.read"(%[[X]])
    %x, %sx = tile.ring.take %ring : !tile.ring<!tile, 3>
    "test.read"(%x) : (!tile) -> ()
    tile.ring.release %sx
    // CHECK-NEXT: tile.wait_group 0
    // CHECK-NEXT: "test.read"(%[[T]])
    %y, %sy = tile.ring.take %other : !once
    "test.read"(%y) : (!tile) -> ()
    tile.ring.release %sy
    // CHECK-NEXT: scf.yield %[[NEXT]]
  }
  // CHECK: tile.return
}

// A wait covers all older tiles. A loop that may have no iterations adds no group.
// CHECK-LABEL: tile.kernel @together
tile.kernel @together(%k: !k, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !tile
  %t = tile.alloc : !tile
  %ring = tile.ring.create %s : !once
  %other = tile.ring.create %t : !once
  %a, %sa = tile.ring.acquire %ring : !once
  tile.ring.publish %sa
  %b, %sb = tile.ring.acquire %other : !once
  tile.ring.publish %sb
  // CHECK-COUNT-2: tile.commit_group
  // CHECK: tile.commit_group
  // CHECK: scf.for
  tile.commit_group
  scf.for %i = %c0 to %n step %c1 {
    tile.commit_group
  }
  // CHECK: }
  // CHECK-NEXT: tile.wait_group 1
  // CHECK-NEXT: "test.read"
  %y, %sy = tile.ring.take %other : !once
  %x, %sx = tile.ring.take %ring : !once
  "test.read"(%x, %y) : (!tile, !tile) -> ()
  tile.ring.release %sx
  tile.ring.release %sy
}

// A wait in a loop, which may have no iterations, covers no tile that is taken after
// the loop.
// CHECK-LABEL: tile.kernel @perhaps
tile.kernel @perhaps(%k: !k, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !tile
  %t = tile.alloc : !tile
  %ring = tile.ring.create %s : !once
  %other = tile.ring.create %t : !once
  // CHECK: tile.commit_group
  %a, %sa = tile.ring.acquire %ring : !once
  tile.ring.publish %sa
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: tile.commit_group
    // CHECK-NEXT: tile.wait_group 0
    // CHECK-NEXT: "test.read"
    // CHECK-NEXT: }
    %b, %sb = tile.ring.acquire %other : !once
    tile.ring.publish %sb
    %y, %sy = tile.ring.take %other : !once
    "test.read"(%y) : (!tile) -> ()
    tile.ring.release %sy
  }
  // CHECK-NEXT: tile.wait_group 0
  // CHECK-NEXT: "test.read"
  %x, %sx = tile.ring.take %ring : !once
  "test.read"(%x) : (!tile) -> ()
  tile.ring.release %sx
}
