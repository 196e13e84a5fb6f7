// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-overlap-dots))' \
// RUN:   | FileCheck %s

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
#a = #tile.dot_operand<0, #mma>
!tile128 = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
#mma8 = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
#a8 = #tile.dot_operand<0, #mma8>

// The MMA of one iteration's weights is in the next iteration and overlaps with the
// computations on the scores. The conversion to narrower weights, which writes the
// registers that the MMA reads, comes after it; so does the release of its buffer.
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
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %none, %o = %zero)
        -> (tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>) {
      tile.wait_barrier %kfull[%c0] phase %c0 : !bars
      // CHECK: %[[S0:.*]] = tile.dot async
      %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK-NOT: tile.arrive_barrier
      tile.arrive_barrier %kempty[%c0] : !bars
      // CHECK: tile.wait_barrier %[[VFULL:[a-z0-9_]*]]
      tile.wait_barrier %vfull[%c0] phase %c0 : !bars
      %pa = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      // CHECK: %[[O0:.*]] = tile.dot async
      %o1 = tile.dot %pa, %vs, %o : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
      tile.arrive_barrier %vempty[%c0] : !bars
      // CHECK-NEXT: %[[S:.*]] = tile.wait_dots 1, %[[S0]]
      // CHECK-NEXT: tile.arrive_barrier
      // CHECK-NEXT: %[[E:.*]] = math.exp2 %[[S]]
      %e = math.exp2 %s : tensor<64x64xf32, #mma>
      // CHECK-NEXT: %[[W:.*]]:2 = tile.wait_dots 0, %[[O0]], %[[E]]
      // CHECK-NEXT: tile.arrive_barrier
      // CHECK-NEXT: %[[P:.*]] = arith.truncf %[[W]]#1
      %p1 = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      // CHECK-NEXT: scf.yield %[[P]], %[[W]]#0
      scf.yield %p1, %o1 : tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>
    }
    // The last product has no use, but the role still ends with its wait.
    // CHECK: %[[LAST:.*]] = tile.dot async
    // CHECK-NEXT: tile.wait_dots 0, %[[LAST]]
    // CHECK-NEXT: }, {
    %last = tile.dot %ks, %ks, %r#1 : !tile, !tile -> tensor<64x64xf32, #mma>
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %kfull[%c0] : !k, !tile, !bars
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %vs, %vfull[%c0] : !k, !tile, !bars
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

// A tile of a ring is awaited while the previous one is still held: the MMA that
// reads the previous one comes first.
// CHECK-LABEL: tile.kernel @same_ring
tile.kernel @same_ring(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    // CHECK: %[[S0:.*]] = tile.dot async
    %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.arrive_barrier %empty[%c0] : !bars
    // CHECK-NEXT: %[[S:.*]] = tile.wait_dots 0, %[[S0]]
    // CHECK-NEXT: tile.arrive_barrier
    // CHECK-NEXT: tile.wait_barrier
    tile.wait_barrier %full[%c0] phase %c1 : !bars
    // CHECK-NEXT: tile.dot async %{{.*}}, %{{.*}}, %[[S]]
    %t = tile.dot %ks, %ks, %s : !tile, !tile -> tensor<64x64xf32, #mma>
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %full[%c0] : !k, !tile, !bars
  }
}

// Threads write an operand of an MMA: the MMA is finished before they write it
// again. A tile that is used with a product is read after the wait and released at
// once, even if another MMA is in flight.
// CHECK-LABEL: tile.kernel @scratch
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
!rows = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
tile.kernel @scratch(%k: !k, %rows: !rows, %p: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %row = tile.alloc : !row
  %kfull = tile.alloc : !bars
  %kempty = tile.alloc : !bars
  %rfull = tile.alloc : !bars
  %rempty = tile.alloc : !bars
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #mma>) {
      // CHECK: %[[S0:.*]] = tile.dot async
      %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK-NEXT: tile.wait_dots 0, %[[S0]]
      // CHECK-NEXT: tile.wait_barrier
      tile.wait_barrier %rfull[%c0] phase %c0 : !bars
      %x = tile.load %row[%c0] : !row -> tensor<64xf32, #tile.slice<1, #mma>>
      tile.fence_async
      // CHECK: tile.fence_async
      // CHECK-NEXT: tile.arrive_barrier
      tile.arrive_barrier %rempty[%c0] : !bars
      %b = tile.broadcast %x along 1 : tensor<64xf32, #tile.slice<1, #mma>> -> tensor<64x64xf32, #mma>
      %e = arith.addf %s, %b : tensor<64x64xf32, #mma>
      %low = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %t = tile.alloc : !tile
      tile.store %low, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
      // CHECK: %[[O0:.*]] = tile.dot async
      %o1 = tile.dot %t, %ks, %o : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK: %[[Q0:.*]] = tile.dot async
      %q = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK: %[[O:.*]] = tile.wait_dots 1, %[[O0]]
      // CHECK-NEXT: tile.store
      tile.store %low, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
      // CHECK-NEXT: tile.wait_dots 0, %[[Q0]]
      // CHECK-NEXT: scf.yield %[[O]]
      scf.yield %o1 : tensor<64x64xf32, #mma>
    }
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %kfull[%c0] : !k, !tile, !bars
    tile.bulk_copy %rows[%c0] dims [0], %row, %rfull[%c0] : !rows, !row, !bars
  }
}

// A buffer that this role itself copies to is awaited where its author waits.
// CHECK-LABEL: tile.kernel @copied
// CHECK: tile.dot %
// CHECK-NOT: tile.wait_dots
tile.kernel @copied(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %t = tile.alloc : !tile
  tile.copy %k[%c0, %c0], %t : !k, !tile
  %s = tile.dot %t, %t, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
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
  %qs = tile.alloc : !tile128
  %vs = tile.alloc : !tile
  %full = tile.alloc : !bars
  tile.warp_roles warps = [8, 4] {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma8>
    %none = arith.constant dense<0.0> : tensor<128x64xf16, #mma8>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %none, %o = %zero)
        -> (tensor<128x64xf16, #mma8>, tensor<128x64xf32, #mma8>) {
      // CHECK: tile.await_turn
      // CHECK-NEXT: tile.dot async
      %s = tile.dot %qs, %vs, %zero : !tile128, !tile -> tensor<128x64xf32, #mma8>
      %pa = tile.convert_layout %p : tensor<128x64xf16, #mma8> -> tensor<128x64xf16, #a8>
      // CHECK: %[[O0:.*]] = tile.dot async
      // CHECK-NEXT: tile.pass_turn
      // CHECK-NEXT: tile.wait_dots 1
      %o1 = tile.dot %pa, %vs, %o : tensor<128x64xf16, #a8>, !tile -> tensor<128x64xf32, #mma8>
      // CHECK-NEXT: %[[E:.*]] = math.exp2
      %e = math.exp2 %s : tensor<128x64xf32, #mma8>
      // CHECK-NEXT: %[[W:.*]]:2 = tile.wait_dots 0, %[[O0]], %[[E]]
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
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %qs, %full[%c0] : !k, !tile128, !bars
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %vs, %full[%c0] : !k, !tile, !bars
  }
}

// An operand of the wait is defined before the wait, even if it is loaded from
// shared memory.
// CHECK-LABEL: tile.kernel @alongside
tile.kernel @alongside(%k: !k, %rows: !rows, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %row = tile.alloc : !row
  %kfull = tile.alloc : !bars
  %rfull = tile.alloc : !bars
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %none, %o = %zero)
        -> (tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>) {
      %pa = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      // CHECK: %[[O:.*]] = tile.dot async
      %o1 = tile.dot %pa, %ks, %o : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
      %x = tile.load %row[%c0] : !row -> tensor<64xf32, #tile.slice<1, #mma>>
      %b = tile.broadcast %x along 1 : tensor<64xf32, #tile.slice<1, #mma>> -> tensor<64x64xf32, #mma>
      // CHECK: %[[X:.*]] = arith.negf
      %e = arith.negf %b : tensor<64x64xf32, #mma>
      // CHECK-NEXT: %[[W:.*]]:2 = tile.wait_dots 0, %[[O]], %[[X]]
      // CHECK-NEXT: arith.truncf %[[W]]#1
      %p1 = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      scf.yield %p1, %o1 : tensor<64x64xf16, #mma>, tensor<64x64xf32, #mma>
    }
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %kfull[%c0] : !k, !tile, !bars
    tile.bulk_copy %rows[%c0] dims [0], %row, %rfull[%c0] : !rows, !row, !bars
  }
}

// An arrival that passes a stored tile to another role does not release an operand
// of an MMA, so it does not wait for the MMA in flight.
// CHECK-LABEL: tile.kernel @handed
tile.kernel @handed(%k: !k, %sums: !rows) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc : !tile
  %row = tile.alloc : !row
  %kfull = tile.alloc : !bars
  %kempty = tile.alloc : !bars
  %rfull = tile.alloc : !bars
  tile.warp_roles warps = [4, 1, 3] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #a>
    %x = arith.constant dense<0.0> : tensor<64xf32, #tile.slice<1, #mma>>
    // CHECK: tile.dot async
    %o = tile.dot %none, %ks, %zero : tensor<64x64xf16, #a>, !tile -> tensor<64x64xf32, #mma>
    tile.arrive_barrier %kempty[%c0] : !bars
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.arrive_barrier %[[FULL:[0-9]+]][
    // CHECK-NEXT: tile.wait_dots 0
    // CHECK-NEXT: tile.arrive_barrier
    // CHECK-NOT: tile.arrive_barrier
    // CHECK: }, {
    tile.store %x, %row[%c0] : tensor<64xf32, #tile.slice<1, #mma>>, !row
    tile.fence_async
    tile.arrive_barrier %rfull[%c0] : !bars
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %kfull[%c0] : !k, !tile, !bars
  }, {
    // CHECK: tile.wait_barrier %[[FULL]][
    tile.wait_barrier %rfull[%c0] phase %c0 : !bars
    tile.bulk_add %row, %sums[%c0] : !row, !rows
    tile.bulk_wait 0 read
  }
}
