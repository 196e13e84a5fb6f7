// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-overlap-dots))' \
// RUN:   | FileCheck %s

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 1>
!o = !tile.buffer<?x64xf32, #tile.strided<[?, 1]>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
#a = #tile.dot_operand<0, #mma>
!tile128 = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!ring128 = !tile.ring<!tile128, 1>
#mma8 = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
#a8 = #tile.dot_operand<0, #mma8>

// The MMA of one iteration's weights is in the next iteration and overlaps with the
// computations on the scores. The conversion to narrower weights, which writes the
// registers that the MMA reads, comes after it; so does the release of its slot.
// CHECK-LABEL: tile.kernel @two_products
tile.kernel @two_products(%k: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %vs = tile.alloc : !tile
  %kfull = tile.alloc : !bars
  %kempty = tile.alloc : !bars
  %vfull = tile.alloc : !bars
  %vempty = tile.alloc : !bars
  %kring = tile.ring.create %ks, %kfull, %kempty : !ring
  %vring = tile.ring.create %vs, %vfull, %vempty : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %none, %o = %zero)
        -> (tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>) {
      // CHECK: %{{.*}}, %[[KSLOT:.*]] = tile.ring.take
      %kt, %kslot = tile.ring.take %kring : !ring
      // CHECK: %[[S0:.*]] = tile.dot async {{.*}} -> !tile.pending<
      %s = tile.dot %kt, %kt, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK-NOT: tile.ring.release
      tile.ring.release %kslot
      // CHECK: %{{.*}}, %[[VSLOT:.*]] = tile.ring.take
      %vt, %vslot = tile.ring.take %vring : !ring
      %pa = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      // CHECK: %[[O0:.*]] = tile.dot async
      %o1 = tile.dot %pa, %vt, %o : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
      tile.ring.release %vslot
      // CHECK-NEXT: %[[S:.*]] = tile.await %[[S0]] :
      // CHECK-NEXT: tile.ring.release %[[KSLOT]]
      // CHECK-NEXT: %[[E:.*]] = math.exp2 %[[S]]
      %e = math.exp2 %s : tensor<64x64xf32, #mma>
      // CHECK-NEXT: %[[W:.*]]:2 = tile.await %[[O0]] with %[[E]]
      // CHECK-NEXT: tile.ring.release %[[VSLOT]]
      // CHECK-NEXT: %[[P:.*]] = arith.truncf %[[W]]#1
      %p1 = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      // CHECK-NEXT: scf.yield %[[P]], %[[W]]#0
      scf.yield %p1, %o1 : tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>
    }
    // The last product has no use, but the role still ends with its await.
    // CHECK: %[[LAST:.*]] = tile.dot async
    // CHECK-NEXT: tile.await %[[LAST]]
    // CHECK-NEXT: tile.ring.release
    // CHECK-NEXT: }, {
    %kt, %kslot = tile.ring.take %kring : !ring
    %last = tile.dot %kt, %kt, %r#1 : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.ring.release %kslot
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %kt, %kslot = tile.ring.acquire %kring : !ring
      tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
      %vt, %vslot = tile.ring.acquire %vring : !ring
      tile.bulk_copy %k[%c0, %c0] dims [0, 1], %vt fills %vslot : !k, !tile
    }
    %kt, %kslot = tile.ring.acquire %kring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
  }
}

// A scalar that is needed late is computed beside the product.
// CHECK-LABEL: tile.kernel @late_scalar
// CHECK: tile.warp_roles
// CHECK: tile.ring.take
// CHECK: %[[S0:.*]] = tile.dot async
// CHECK-NEXT: %[[SQUARE:.*]] = arith.muli
// CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[SQUARE]], %{{.*}}
// CHECK-NEXT: tile.await %[[S0]]
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[ROW]], %{{.*}}]
tile.kernel @late_scalar(%k: !k, %o: !o, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %kfull = tile.alloc : !bars
  %kempty = tile.alloc : !bars
  %kring = tile.ring.create %ks, %kfull, %kempty : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    scf.for %i = %c0 to %n step %c1 {
      %early = arith.muli %i, %i : index
      %row = arith.addi %early, %n : index
      %kt, %kslot = tile.ring.take %kring : !ring
      %s = tile.dot %kt, %kt, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
      tile.ring.release %kslot
      tile.store %s, %o[%row, %c0] : tensor<64x64xf32, #mma>, !o
    }
  }, {
    scf.for %i = %c0 to %n step %c1 {
      %kt, %kslot = tile.ring.acquire %kring : !ring
      tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
    }
  }
}

// A dot on buffers that threads write stays synchronous: nothing orders their next write.
// CHECK-LABEL: tile.kernel @filled_by_threads
// CHECK-NOT: async
tile.kernel @filled_by_threads(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  tile.copy %k[%c0, %c0], %ks : !k, !tile
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// The next tile of a ring is taken while the one before is held: the MMA that reads
// the one before is awaited first.
// CHECK-LABEL: tile.kernel @same_ring
tile.kernel @same_ring(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  %ring = tile.ring.create %ks, %full, %empty : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    // CHECK: %{{.*}}, %[[SLOT:.*]] = tile.ring.take
    %t0, %slot0 = tile.ring.take %ring : !ring
    // CHECK: %[[S0:.*]] = tile.dot async
    %s = tile.dot %t0, %t0, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.ring.release %slot0
    // CHECK-NEXT: %[[S:.*]] = tile.await %[[S0]]
    // CHECK-NEXT: tile.ring.release %[[SLOT]]
    // CHECK-NEXT: tile.ring.take
    %t1, %slot1 = tile.ring.take %ring : !ring
    // CHECK-NEXT: tile.dot async %{{.*}}, %{{.*}}, %[[S]]
    %t = tile.dot %t1, %t1, %s : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.ring.release %slot1
  }, {
    %t0, %slot0 = tile.ring.acquire %ring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t0 fills %slot0 : !k, !tile
    %t1, %slot1 = tile.ring.acquire %ring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t1 fills %slot1 : !k, !tile
  }
}

// A slot waits for the last product that reads it, wherever its release stands: the
// release of K comes after the second product, which reads V only.
// CHECK-LABEL: tile.kernel @release_by_slot
tile.kernel @release_by_slot(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %vs = tile.alloc : !tile
  %kfull = tile.alloc : !bars
  %kempty = tile.alloc : !bars
  %vfull = tile.alloc : !bars
  %kring = tile.ring.create %ks, %kfull, %kempty : !ring
  %vring = tile.ring.create %vs, %vfull : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    // CHECK: %{{.*}}, %[[KSLOT:.*]] = tile.ring.take
    %kt, %kslot = tile.ring.take %kring : !ring
    %vt, %vslot = tile.ring.take %vring : !ring
    // CHECK: %[[S0:.*]] = tile.dot async
    %s = tile.dot %kt, %kt, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    // CHECK: %[[O0:.*]] = tile.dot async
    %o = tile.dot %vt, %vt, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.ring.release %kslot
    // CHECK-NEXT: %[[S:.*]] = tile.await %[[S0]] :
    // CHECK-NEXT: tile.ring.release %[[KSLOT]]
    // CHECK-NEXT: math.exp2 %[[S]]
    %e = math.exp2 %s : tensor<64x64xf32, #mma>
    // CHECK-NEXT: tile.await %[[O0]]
  }, {
    %kt, %kslot = tile.ring.acquire %kring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
    %vt, %vslot = tile.ring.acquire %vring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %vt fills %vslot : !k, !tile
  }
}

// Threads write an operand of an MMA: the MMA is finished before they write it
// again. A tile that is used with a product is read after the await and released at
// once, even if another MMA is in flight.
// CHECK-LABEL: tile.kernel @scratch
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
!rowring = !tile.ring<!row, 1>
!rows = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
tile.kernel @scratch(%k: !k, %rows: !rows, %p: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %kb = tile.alloc : !tile
  %row = tile.alloc : !row
  %kfull = tile.alloc : !bars
  %rfull = tile.alloc : !bars
  %rempty = tile.alloc : !bars
  %kring = tile.ring.create %kb, %kfull : !ring
  %rring = tile.ring.create %row, %rfull, %rempty : !rowring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ks, %kslot = tile.ring.take %kring : !ring
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #mma>) {
      // CHECK: %[[S0:.*]] = tile.dot async
      %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK-NEXT: tile.await %[[S0]]
      // CHECK-NEXT: tile.ring.take
      %rt, %rslot = tile.ring.take %rring : !rowring
      %x = tile.load %rt[%c0] : !row -> tensor<64xf32, #tile.slice<1, #mma>>
      // CHECK: tile.ring.release %{{.*}} fenced
      tile.ring.release %rslot fenced
      %b = tile.broadcast %x along 1 : tensor<64xf32, #tile.slice<1, #mma>> -> tensor<64x64xf32, #mma>
      %e = arith.addf %s, %b : tensor<64x64xf32, #mma>
      %low = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %t = tile.alloc : !tile
      tile.store %low, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
      // CHECK: %[[O0:.*]] = tile.dot async
      %o1 = tile.dot %t, %ks, %o : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK: %[[Q0:.*]] = tile.dot async
      %q = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK: %[[O:.*]] = tile.await %[[O0]]
      // CHECK-NEXT: tile.store
      tile.store %low, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
      // CHECK-NEXT: tile.await %[[Q0]]
      // CHECK-NEXT: scf.yield %[[O]]
      scf.yield %o1 : tensor<64x64xf32, #mma>
    }
  }, {
    %kt, %kslot = tile.ring.acquire %kring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
    scf.for %i = %c0 to %n step %c1 {
      %rt, %rslot = tile.ring.acquire %rring : !rowring
      tile.bulk_copy %rows[%c0] dims [0], %rt fills %rslot : !rows, !row
    }
  }
}

// A buffer that this role itself copies to is awaited where its author waits.
// CHECK-LABEL: tile.kernel @copied
// CHECK: tile.dot %
// CHECK-NOT: tile.await
tile.kernel @copied(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %t = tile.alloc : !tile
  tile.copy %k[%c0, %c0], %t : !k, !tile
  %s = tile.dot %t, %t, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// An mbarrier of the author may release what an MMA reads: the MMA is awaited first.
// CHECK-LABEL: tile.kernel @own_barriers
tile.kernel @own_barriers(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    // CHECK: tile.dot async
    %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    // CHECK-NEXT: tile.await
    // CHECK-NEXT: tile.arrive_barrier
    tile.arrive_barrier %empty[%c0] : !bars
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %full[%c0] : !k, !tile, !bars
  }
}

// A loop starts with values in the registers that its results will have: computing
// these weights waits for the MMA that reads the registers. Warpgroups take turns to
// start the two MMAs; there is no turn for the last MMA alone.
// CHECK-LABEL: tile.kernel @rows_after_rows
// CHECK-NOT: #tile.schedule
tile.kernel @rows_after_rows(%k: !k, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<turns>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %qb = tile.alloc : !tile128
  %vb = tile.alloc : !tile
  %qfull = tile.alloc : !bars
  %vfull = tile.alloc : !bars
  %qring = tile.ring.create %qb, %qfull : !ring128
  %vring = tile.ring.create %vb, %vfull : !ring
  tile.warp_roles warps = [8, 4] {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma8>
    %none = arith.constant dense<0.0> : tensor<128x64xf16, #mma8>
    %qs, %qslot = tile.ring.take %qring : !ring128
    %vs, %vslot = tile.ring.take %vring : !ring
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %none, %o = %zero)
        -> (tensor<128x64xf16, #mma8>, tensor<128x64xf32, #mma8>) {
      // CHECK: tile.await_turn
      // CHECK-NEXT: tile.dot async
      %s = tile.dot %qs, %vs, %zero : !tile128, !tile -> tensor<128x64xf32, #mma8>
      %pa = tile.convert_layout %p : tensor<128x64xf16, #mma8> -> tensor<128x64xf16, #a8>
      // CHECK: %[[O0:.*]] = tile.dot async
      // CHECK-NEXT: tile.pass_turn
      // CHECK-NEXT: tile.await
      %o1 = tile.dot %pa, %vs, %o : tensor<128x64xf16, #a8>, !tile -> tensor<128x64xf32, #mma8>
      // CHECK-NEXT: %[[E:.*]] = math.exp2
      %e = math.exp2 %s : tensor<128x64xf32, #mma8>
      // CHECK-NEXT: %[[W:.*]]:2 = tile.await %[[O0]] with %[[E]]
      // CHECK-NEXT: arith.truncf %[[W]]#1
      %p1 = arith.truncf %e : tensor<128x64xf32, #mma8> to tensor<128x64xf16, #mma8>
      %q:2 = scf.for %j = %c0 to %n step %c1 iter_args(%pp = %p1, %oo = %o1)
          -> (tensor<128x64xf16, #mma8>, tensor<128x64xf32, #mma8>) {
        scf.yield %pp, %oo : tensor<128x64xf16, #mma8>, tensor<128x64xf32, #mma8>
      }
      scf.yield %q#0, %q#1 : tensor<128x64xf16, #mma8>, tensor<128x64xf32, #mma8>
    }
    %pa = tile.convert_layout %r#0 : tensor<128x64xf16, #mma8> -> tensor<128x64xf16, #a8>
    // CHECK-NOT: tile.await_turn
    // CHECK: }, {
    %last = tile.dot %pa, %vs, %r#1 : tensor<128x64xf16, #a8>, !tile -> tensor<128x64xf32, #mma8>
  }, {
    %qt, %qslot = tile.ring.acquire %qring : !ring128
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %qt fills %qslot : !k, !tile128
    %vt, %vslot = tile.ring.acquire %vring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %vt fills %vslot : !k, !tile
  }
}

// An operand of the await is defined before the await, even if it is loaded from
// shared memory.
// CHECK-LABEL: tile.kernel @alongside
tile.kernel @alongside(%k: !k, %rows: !rows, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %kb = tile.alloc : !tile
  %rb = tile.alloc : !row
  %kfull = tile.alloc : !bars
  %rfull = tile.alloc : !bars
  %kring = tile.ring.create %kb, %kfull : !ring
  %rring = tile.ring.create %rb, %rfull : !rowring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
    %ks, %kslot = tile.ring.take %kring : !ring
    %row, %rslot = tile.ring.take %rring : !rowring
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %none, %o = %zero)
        -> (tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>) {
      %pa = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      // CHECK: %[[O:.*]] = tile.dot async
      %o1 = tile.dot %pa, %ks, %o : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
      %x = tile.load %row[%c0] : !row -> tensor<64xf32, #tile.slice<1, #mma>>
      %b = tile.broadcast %x along 1 : tensor<64xf32, #tile.slice<1, #mma>> -> tensor<64x64xf32, #mma>
      // CHECK: %[[X:.*]] = arith.negf
      %e = arith.negf %b : tensor<64x64xf32, #mma>
      // CHECK-NEXT: %[[W:.*]]:2 = tile.await %[[O]] with %[[X]]
      // CHECK-NEXT: arith.truncf %[[W]]#1
      %p1 = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      scf.yield %p1, %o1 : tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>
    }
  }, {
    %kt, %kslot = tile.ring.acquire %kring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
    %rt, %rslot = tile.ring.acquire %rring : !rowring
    tile.bulk_copy %rows[%c0] dims [0], %rt fills %rslot : !rows, !row
  }
}

// A tile that is published does not wait for the MMA in flight.
// CHECK-LABEL: tile.kernel @published
tile.kernel @published(%k: !k, %sums: !rows) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %kb = tile.alloc : !tile
  %rb = tile.alloc : !row
  %kfull = tile.alloc : !bars
  %kempty = tile.alloc : !bars
  %rfull = tile.alloc : !bars
  %rempty = tile.alloc : !bars
  %kring = tile.ring.create %kb, %kfull, %kempty : !ring
  %rring = tile.ring.create %rb, %rfull, %rempty : !rowring
  tile.warp_roles warps = [4, 1, 3] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #a>
    %x = arith.constant dense<0.0> : tensor<64xf32, #tile.slice<1, #mma>>
    // CHECK: %{{.*}}, %[[KSLOT:.*]] = tile.ring.take
    %ks, %kslot = tile.ring.take %kring : !ring
    // CHECK: tile.dot async
    %o = tile.dot %none, %ks, %zero : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
    tile.ring.release %kslot
    // CHECK-NEXT: tile.ring.acquire
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.ring.publish
    // CHECK-NEXT: tile.await
    // CHECK-NEXT: tile.ring.release %[[KSLOT]]
    // CHECK-NEXT: }, {
    %row, %rslot = tile.ring.acquire %rring : !rowring
    tile.store %x, %row[%c0] : tensor<64xf32, #tile.slice<1, #mma>>, !row
    tile.fence_async
    tile.ring.publish %rslot
  }, {
    %kt, %kslot = tile.ring.acquire %kring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
  }, {
    %row, %rslot = tile.ring.take %rring : !rowring
    tile.bulk_add %row, %sums[%c0] : !row, !rows
    tile.bulk_wait 0 read
    tile.ring.release %rslot
  }
}

// Any operation whose result the loop carries to the registers of an MMA in flight
// waits for the MMA, not only a conversion from f32. The await hands on tiles of f32
// only.
// CHECK-LABEL: tile.kernel @carried_f16
tile.kernel @carried_f16(%k: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %kb = tile.alloc : !tile
  %kfull = tile.alloc : !bars
  %kring = tile.ring.create %kb, %kfull : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %one = arith.constant dense<1.0> : tensor<64x64xf16, #a>
    %ks, %kslot = tile.ring.take %kring : !ring
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %one, %o = %zero)
        -> (tensor<64x64xf16, #a>, tensor<64x64xf32, #mma>) {
      // CHECK: %[[O:.*]] = tile.dot async
      %o1 = tile.dot %p, %ks, %o : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
      // CHECK-NEXT: tile.await %[[O]] :
      // CHECK-NEXT: arith.mulf
      %p1 = arith.mulf %p, %p : tensor<64x64xf16, #a>
      scf.yield %p1, %o1 : tensor<64x64xf16, #a>, tensor<64x64xf32, #mma>
    }
  }, {
    %kt, %kslot = tile.ring.acquire %kring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
  }
}

// Two values that a loop carries start from one constant, but have registers of their
// own: computing the one does not wait for the MMA that reads the other.
// CHECK-LABEL: tile.kernel @same_constant
tile.kernel @same_constant(%k: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %kb = tile.alloc : !tile
  %kfull = tile.alloc : !bars
  %kring = tile.ring.create %kb, %kfull : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %one = arith.constant dense<1.0> : tensor<64x64xf16, #a>
    %ks, %kslot = tile.ring.take %kring : !ring
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %one, %q = %one, %o = %zero)
        -> (tensor<64x64xf16, #a>, tensor<64x64xf16, #a>, tensor<64x64xf32, #mma>) {
      // CHECK: %[[O:.*]] = tile.dot async
      %o1 = tile.dot %p, %ks, %o : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
      // CHECK-NEXT: arith.mulf
      // CHECK-NEXT: tile.await %[[O]] :
      %q1 = arith.mulf %q, %q : tensor<64x64xf16, #a>
      scf.yield %p, %q1, %o1 : tensor<64x64xf16, #a>, tensor<64x64xf16, #a>, tensor<64x64xf32, #mma>
    }
  }, {
    %kt, %kslot = tile.ring.acquire %kring : !ring
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %kt fills %kslot : !k, !tile
  }
}

// Without warp roles, a product adds to another one that is in flight. One that writes
// what the first reads waits for all of them.
// CHECK-LABEL: tile.kernel @continued
tile.kernel @continued(%n: index, %o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %half = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
  // CHECK: scf.for
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) {
    %low = tile.alloc : !tile
    %high = tile.alloc : !tile
    tile.store %half, %low[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
    tile.store %half, %high[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
    // CHECK: %[[A:.*]] = tile.dot async {{.*}} -> !tile.pending<
    %a = tile.dot %low, %high, %acc : !tile, !tile -> tensor<64x64xf32, #mma>
    // CHECK-NOT: tile.await
    // CHECK: %[[B:.*]] = tile.dot async %{{.*}}, %{{.*}}, %[[A]] : {{.*}} -> !tile.pending<
    %b = tile.dot %high, %low, %a : !tile, !tile -> tensor<64x64xf32, #mma>
    // CHECK: %[[SUM:.*]] = tile.await %[[B]] :
    // CHECK-NEXT: tile.store {{.*}}%[[LOW:.*]][
    tile.store %half, %low[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
    // CHECK: %[[C:.*]] = tile.dot async %{{.*}}, %{{.*}}, %[[SUM]] : {{.*}} -> !tile.pending<
    // CHECK: %[[NEXT:.*]] = tile.await %[[C]] :
    // CHECK: scf.yield %[[NEXT]]
    %c = tile.dot %low, %high, %b : !tile, !tile -> tensor<64x64xf32, #mma>
    scf.yield %c : tensor<64x64xf32, #mma>
  }
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32, #mma>, !o
}
