// Barriers separate conflicting accesses of threads to one memory; each is needed.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' \
// RUN:   | FileCheck %s
// Existing barriers are taken into account: a second run adds none.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers,tile-insert-barriers))' \
// RUN:   | FileCheck %s

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>
!p = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!ring = !tile.buffer<2x64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @straight
tile.kernel @straight(%g: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  %a = tile.alloc {offset = 0 : i64} : !p
  %b = tile.alloc {offset = 9216 : i64} : !p
  // Read after write: one barrier for both buffers.
  // CHECK-NOT: tile.barrier
  // CHECK: tile.copy
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.load
  tile.copy %g[%c0, %c0], %a : !g, !p
  tile.store %t, %b[%c0, %c0] : !t, !p
  %x = tile.load %a[%c0, %c0] : !p -> !t
  %y = tile.load %b[%c0, %c0] : !p -> !t
  // Write after read.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.store
  tile.store %x, %a[%c0, %c0] : !t, !p
  // The barrier has ordered the read of %b, so it may be overwritten.
  // CHECK-NEXT: tile.store
  tile.store %y, %b[%c0, %c0] : !t, !p
  // Write after write.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.return
  tile.store %x, %b[%c0, %c0] : !t, !p
}

// Accesses to other buffers conflict only if these share bytes.
// CHECK-LABEL: tile.kernel @overlapping
tile.kernel @overlapping() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  %a = tile.alloc {offset = 0 : i64} : !p
  %b = tile.alloc {offset = 4096 : i64} : !p
  %c = tile.alloc {offset = 9216 : i64} : !p
  // CHECK: tile.store
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.return
  tile.store %t, %a[%c0, %c0] : !t, !p
  %x = tile.load %a[%c0, %c0] : !p -> !t
  tile.store %x, %c[%c0, %c0] : !t, !p
  tile.store %x, %b[%c0, %c0] : !t, !p
}

// A view is the memory of its allocation.
// CHECK-LABEL: tile.kernel @views
tile.kernel @views() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  %ring = tile.alloc {offset = 0 : i64} : !ring
  %a = tile.slice %ring[%c0, *, *] : !ring to !p
  %at = tile.transpose %a [1, 0] : !p -> !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.padded<8, order = [1, 0]>>, shared>
  // CHECK: tile.store
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  tile.store %t, %a[%c0, %c0] : !t, !p
  %x = tile.load %at[%c0, %c0] : !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.padded<8, order = [1, 0]>>, shared> -> !t
}

// Two copies in a loop: the barrier for one of them also separates the iterations
// of the other.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%g: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: scf.for
  // CHECK-NOT: tile.barrier
  // CHECK: tile.copy
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK: tile.copy
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.return
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.alloc {offset = 0 : i64} : !p
    tile.copy %g[%i, %c0], %a : !g, !p
    %x = tile.load %a[%c0, %c0] : !p -> !t
    %b = tile.alloc {offset = 9216 : i64} : !p
    tile.copy %g[%i, %c0], %b : !g, !p
    %y = tile.load %b[%c0, %c0] : !p -> !t
  }
}

// With one buffer, overwriting it around the back edge needs a barrier of its own.
// CHECK-LABEL: tile.kernel @back_edge
tile.kernel @back_edge(%g: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.alloc {offset = 0 : i64} : !p
  // CHECK: scf.for
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.copy
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: }
  scf.for %i = %c0 to %n step %c1 {
    tile.copy %g[%i, %c0], %a : !g, !p
    %x = tile.load %a[%c0, %c0] : !p -> !t
  }
}

// Accesses before a loop need one barrier before the loop and none inside.
// CHECK-LABEL: tile.kernel @before_loop
tile.kernel @before_loop(%g: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.alloc {offset = 0 : i64} : !p
  // CHECK: tile.copy
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: }
  tile.copy %g[%c0, %c0], %a : !g, !p
  scf.for %i = %c0 to %n step %c1 {
    %x = tile.load %a[%c0, %c0] : !p -> !t
  }
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.copy
  tile.copy %g[%c0, %c0], %a : !g, !p
}

// CHECK-LABEL: tile.kernel @branch
tile.kernel @branch(%g: !g, %cond: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.grid %c1, %c1, %c1
  %a = tile.alloc {offset = 0 : i64} : !p
  %b = tile.alloc {offset = 9216 : i64} : !p
  %t = arith.constant dense<0.0> : !t
  %is = arith.cmpi eq, %cond, %zero : i32
  // Both sides of the branch and the accesses after it share one barrier before it.
  // CHECK: tile.copy
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: } else {
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.load
  tile.copy %g[%c0, %c0], %a : !g, !p
  scf.if %is {
    %x = tile.load %a[%c0, %c0] : !p -> !t
  } else {
    %x = tile.load %a[%c0, %c0] : !p -> !t
  }
  %y = tile.load %a[%c0, %c0] : !p -> !t
  // A barrier for accesses inside a branch stays inside.
  // CHECK: scf.if
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: }
  scf.if %is {
    tile.store %t, %b[%c0, %c0] : !t, !p
    %x = tile.load %b[%c0, %c0] : !p -> !t
  }
  // The branch may have been skipped, but it may also have read.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.store
  tile.store %t, %b[%c0, %c0] : !t, !p
}

// CHECK-LABEL: tile.kernel @while
tile.kernel @while(%g: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.alloc {offset = 0 : i64} : !p
  // CHECK: scf.while
  // CHECK: do {
  // CHECK: tile.barrier
  // CHECK-NEXT: tile.copy
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  %r = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    tile.copy %g[%i, %c0], %a : !g, !p
    %x = tile.load %a[%c0, %c0] : !p -> !t
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
}

// An asynchronous copy starts to write when it is issued and is complete at its
// wait. With two slots, one barrier per iteration is enough.
// CHECK-LABEL: tile.kernel @ring
tile.kernel @ring(%g: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ring = tile.alloc {offset = 0 : i64} : !ring
  %first = tile.slice %ring[%c0, *, *] : !ring to !p
  // CHECK: tile.copy async
  // CHECK-NEXT: tile.commit_group
  // CHECK-NEXT: scf.for
  tile.copy async %g[%c0, %c0], %first : !g, !p
  tile.commit_group
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> index {
    %other = arith.subi %c1, %slot : index
    %read = tile.slice %ring[%slot, *, *] : !ring to !p
    %fill = tile.slice %ring[%other, *, *] : !ring to !p
    %more = arith.cmpi slt, %i, %n : index
    // CHECK: tile.wait_group 0
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: tile.copy async
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.commit_group
    // CHECK-NEXT: tile.load
    // CHECK-NEXT: scf.yield
    tile.wait_group 0
    scf.if %more {
      tile.copy async %g[%i, %c0], %fill : !g, !p
    }
    tile.commit_group
    %x = tile.load %read[%c0, %c0] : !p -> !t
    scf.yield %other : index
  }
}

// The next loop writes memory that slower threads may still read.
// CHECK-LABEL: tile.kernel @next_ring
tile.kernel @next_ring(%g: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.alloc {offset = 0 : i64} : !p
  %b = tile.alloc {offset = 0 : i64} : !p
  // CHECK: tile.copy async
  // CHECK-NEXT: tile.commit_group
  // CHECK-NEXT: tile.wait_group 0
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.copy async
  // CHECK-NEXT: tile.return
  tile.copy async %g[%c0, %c0], %a : !g, !p
  tile.commit_group
  tile.wait_group 0
  %x = tile.load %a[%c0, %c0] : !p -> !t
  tile.copy async %g[%c0, %c0], %b : !g, !p
}

#column = #tile.blocked<thread = [8, 1], lane = [8, 4], warp = [1, 4], order = [0, 1]>
!u = tensor<64x64xf16, #column>
#copies = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
!c = tensor<4x64xf16, #copies>

// A thread that reads and writes the same elements of an argument needs no barrier;
// other arguments are other memory.
// CHECK-LABEL: tile.kernel @global_same_threads
// CHECK-NOT: tile.barrier
// CHECK: tile.kernel @global_other_threads
tile.kernel @global_same_threads(%g: !g, %h: !g, %i: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = tile.load %g[%c0, %c0] : !g -> !t
  %y = tile.load %i[%c0, %c0] : !g -> !u
  tile.store %x, %g[%c0, %c0] : !t, !g
  %z = tile.load %g[%c0, %c0] : !g -> !t
  tile.atomic_rmw addf %x, %h[%c1, %c0] : !t, !g
  tile.atomic_rmw addf %x, %h[%c0, %c0] : !t, !g
}

// Other layouts, other indices and copies of elements do.
tile.kernel @global_other_threads(%g: !g, %h: !g, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: tile.load
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.store
  %x = tile.load %g[%c0, %c0] : !g -> !t
  %y = tile.load %h[%c0, %c0] : !g -> !u
  tile.store %y, %g[%c0, %c0] : !u, !g
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.load
  tile.store %x, %h[%i, %c0] : !t, !g
  %z = tile.load %h[%c0, %c0] : !g -> !t
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.store
  %c = tile.load %h[%c0, %c0] : !g -> !c
  tile.store %c, %h[%c0, %c0] : !c, !g
}

// In a loop, elements at another place belong to other threads in the next
// iteration; at one place they do not.
// CHECK-LABEL: tile.kernel @global_loop
tile.kernel @global_loop(%g: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: scf.for
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: }
  scf.for %i = %c0 to %n step %c1 {
    %x = tile.load %g[%i, %c0] : !g -> !t
    tile.store %x, %g[%i, %c0] : !t, !g
  }
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: }
  scf.for %i = %c0 to %n step %c1 {
    %x = tile.load %g[%c0, %c0] : !g -> !t
    tile.store %x, %g[%c0, %c0] : !t, !g
  }
}

// The buffer is chosen at run time.
// CHECK-LABEL: tile.kernel @global_chosen
tile.kernel @global_chosen(%g: !g, %h: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %which = arith.cmpi eq, %n, %c0 : index
  %one = arith.select %which, %g, %h : !g
  // CHECK: tile.load
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.store
  %x = tile.load %one[%c0, %c0] : !g -> !t
  tile.store %x, %h[%c0, %c0] : !t, !g
}

// Slots are other memory where their numbers are known to differ: constants, and numbers
// at a distance from one value that a loop carries.
// CHECK-LABEL: tile.kernel @slots
tile.kernel @slots(%n: index, %unknown: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  %ring = tile.alloc {offset = 0 : i64} : !ring
  %s0 = tile.slice %ring[%c0, *, *] : !ring to !p
  %s1 = tile.slice %ring[%c1, *, *] : !ring to !p
  %any = tile.slice %ring[%unknown, *, *] : !ring to !p
  // CHECK: tile.store
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  tile.store %t, %s0[%c0, %c0] : !t, !p
  %x1 = tile.load %s1[%c0, %c0] : !p -> !t
  %xa = tile.load %any[%c0, %c0] : !p -> !t
  // The loop reads in one iteration what it has written in the one before.
  // CHECK: scf.for
  // CHECK: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: scf.yield
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> index {
    %next = arith.subi %c1, %slot : index
    %from = tile.slice %ring[%slot, *, *] : !ring to !p
    %to = tile.slice %ring[%next, *, *] : !ring to !p
    %x = tile.load %from[%c0, %c0] : !p -> !t
    tile.store %x, %to[%c0, %c0] : !t, !p
    scf.yield %next : index
  }
  // The number of the slot after the loop is not known.
  // CHECK: tile.barrier
  // CHECK-NEXT: tile.load
  %y = tile.load %s0[%c0, %c0] : !p -> !t
}

// A loop that goes on with the same slot in every iteration needs a barrier for each
// access: other iterations write what this one reads.
// CHECK-LABEL: tile.kernel @no_rotation
tile.kernel @no_rotation(%n: index, %next: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ring = tile.alloc {offset = 0 : i64} : !ring
  // CHECK: scf.for
  // CHECK: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.store
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> index {
    %from = tile.slice %ring[%slot, *, *] : !ring to !p
    %to = tile.slice %ring[%next, *, *] : !ring to !p
    %x = tile.load %from[%c0, %c0] : !p -> !t
    tile.store %x, %to[%c0, %c0] : !t, !p
    scf.yield %next : index
  }
}

// One thread executes an atomic operation that releases or acquires, for the block.
!counters = !tile.buffer<8xi32, #tile.strided<[1]>, global>
!row = !tile.buffer<128xf32, #tile.strided<[1], align = 16>, global>
#each = #tile.layout<register = [], lane = [32 -> d0], warp = [4 -> d0 * 32]>
#one = #tile.layout<register = [], lane = [32 -> d0], warp = [4 -> 0]>

// CHECK-LABEL: tile.kernel @orders
tile.kernel @orders(%n: !counters, %a: !row, %b: !row) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ones = arith.constant dense<1> : tensor<32xi32, #one>
  %x = tile.load %b[%c0] : !row -> tensor<128xf32, #each>
  // CHECK: tile.store
  // CHECK-NEXT: tile.atomic_rmw {{.*}} order(acquire)
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.atomic_rmw addi %{{[^,]*}}, %{{[a-z0-9]*}}[%c0] :
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.atomic_rmw {{.*}} order(release)
  // CHECK-NEXT: tile.load
  tile.store %x, %a[%c0] : tensor<128xf32, #each>, !row
  tile.atomic_rmw addi %ones, %n[%c0] order(acquire) : tensor<32xi32, #one>, !counters
  %y = tile.load %b[%c0] : !row -> tensor<128xf32, #each>
  tile.atomic_rmw addi %ones, %n[%c0] : tensor<32xi32, #one>, !counters
  tile.atomic_rmw addi %ones, %n[%c0] order(release) : tensor<32xi32, #one>, !counters
  %z = tile.load %b[%c0] : !row -> tensor<128xf32, #each>
}
