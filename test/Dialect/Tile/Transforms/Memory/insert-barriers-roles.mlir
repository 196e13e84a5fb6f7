// Barriers and fences of a role with asynchronous MMAs.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' | FileCheck %s

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!rows = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// One fence serves the arrival for the row and the tile that an MMA reads. A barrier
// that only orders writes after reads has no fence.
// The MMA reads until its wait, which follows the barrier in between. So the next
// iteration needs another barrier before it writes.
// CHECK-LABEL: tile.kernel @scratch
tile.kernel @scratch(%k: !k, %rows: !rows, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ks = tile.alloc {offset = 0} : !tile
  %t = tile.alloc {offset = 8192} : !tile
  %u = tile.alloc {offset = 16384} : !tile
  %row = tile.alloc {offset = 24576} : !row
  %full = tile.alloc {offset = 24832} : !bars
  %empty = tile.alloc {offset = 24840} : !bars
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %low = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: tile.wait_barrier
      // CHECK-NEXT: tile.load
      // CHECK-NOT: tile.fence_async
      tile.wait_barrier %full[%c0] phase %c0 : !bars
      %x = tile.load %row[%c0] : !row -> tensor<64xf32, #tile.slice<1, #mma>>
      tile.arrive_barrier %empty[%c0] fenced : !bars
      // CHECK: arith.negf
      %z = arith.negf %x : tensor<64xf32, #tile.slice<1, #mma>>
      // CHECK: tile.barrier
      // CHECK-NEXT: tile.store
      tile.store %low, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
      // CHECK-NEXT: tile.fence_async
      // CHECK-NEXT: tile.arrive_barrier
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.dot async
      %s = tile.dot async %t, %ks, %zero : !tile, !tile -> !tile.pending<tensor<64x64xf32, #mma>>
      // CHECK-NEXT: tile.store
      // CHECK-NEXT: tile.fence_async
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.load
      tile.store %low, %u[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
      %y = tile.load %u[%c0, %c0] : !tile -> tensor<64x64xf16, #mma>
      // CHECK-NEXT: tile.await
      %d = tile.await %s : !tile.pending<tensor<64x64xf32, #mma>>
    }
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %full[%c0] : !k, !tile, !bars
    tile.bulk_copy %rows[%c0] dims [0], %row, %full[%c0] : !rows, !row, !bars
  }
}

// Without another fence, arrivals share one behind the last of them. None
// moves past a loop, and one that has a fence stays.
// CHECK-LABEL: tile.kernel @arrivals
tile.kernel @arrivals(%rows: !rows, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %row = tile.alloc {offset = 0} : !row
  %full = tile.alloc {offset = 256} : !bars
  // CHECK: %[[A:.*]] = tile.alloc {offset = 264
  %a = tile.alloc {offset = 264} : !bars
  // CHECK: %[[B:.*]] = tile.alloc {offset = 272
  %b = tile.alloc {offset = 272} : !bars
  tile.warp_roles warps = [4, 4] {
    // CHECK: tile.load
    // CHECK-NEXT: arith.negf
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.arrive_barrier %[[A]][%c0] :
    // CHECK-NEXT: tile.arrive_barrier %[[B]][%c0] :
    // CHECK-NEXT: scf.for
    %x = tile.load %row[%c0] : !row -> tensor<64xf32, #tile.slice<1, #mma>>
    tile.arrive_barrier %a[%c0] fenced : !bars
    %z = arith.negf %x : tensor<64xf32, #tile.slice<1, #mma>>
    tile.arrive_barrier %b[%c0] fenced : !bars
    scf.for %i = %c0 to %n step %c1 {
      // CHECK-NEXT: tile.wait_barrier
      // CHECK-NEXT: tile.fence_async
      // CHECK-NEXT: tile.arrive_barrier %[[A]][%c0] :
      // CHECK-NEXT: }
      tile.wait_barrier %full[%c0] phase %c0 : !bars
      tile.arrive_barrier %a[%c0] fenced : !bars
    }
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.arrive_barrier %[[A]][%c0] :
    // CHECK-NEXT: tile.wait_barrier
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.arrive_barrier %[[B]][%c0] :
    tile.fence_async
    tile.arrive_barrier %a[%c0] : !bars
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    tile.fence_async
    tile.arrive_barrier %b[%c0] : !bars
  }, {
    tile.bulk_copy %rows[%c0] dims [0], %row, %full[%c0] : !rows, !row, !bars
  }
}

// The fence stands behind the products in flight, in front of their wait: the reads before
// them have ended.
// CHECK-LABEL: tile.kernel @products
tile.kernel @products(%k: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc {offset = 0} : !tile
  %ks = tile.alloc {offset = 8192} : !tile
  %full = tile.alloc {offset = 16384} : !bars
  %empty = tile.alloc {offset = 16392} : !bars
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: tile.load
      // CHECK-NEXT: tile.dot async
      // CHECK-NEXT: tile.fence_async
      // CHECK-NEXT: tile.arrive_barrier
      // CHECK-NEXT: tile.await
      tile.wait_barrier %full[%c0] phase %c0 : !bars
      %a = tile.load %t[%c0, %c0] : !tile -> tensor<64x64xf16, #tile.dot_operand<0, #mma>>
      tile.arrive_barrier %empty[%c0] fenced : !bars
      %s = tile.dot async %a, %ks, %zero : tensor<64x64xf16, #tile.dot_operand<0, #mma>>, !tile -> !tile.pending<tensor<64x64xf32, #mma>>
      %d = tile.await %s : !tile.pending<tensor<64x64xf32, #mma>>
    }
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t, %full[%c0] : !k, !tile, !bars
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %ks, %full[%c0] : !k, !tile, !bars
  }
}

// Another role waits for the stored tile: the arrival stays before the next wait,
// even if a fence follows later.
// CHECK-LABEL: tile.kernel @handed
tile.kernel @handed(%g: !rows) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %row = tile.alloc {offset = 0} : !row
  %full = tile.alloc {offset = 256} : !bars
  %empty = tile.alloc {offset = 264} : !bars
  tile.warp_roles warps = [4, 4] {
    // CHECK: tile.wait_barrier
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.arrive_barrier
    // CHECK-NEXT: tile.wait_barrier
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.arrive_barrier
    %x = arith.constant dense<0.0> : tensor<64xf32, #tile.slice<1, #mma>>
    tile.wait_barrier %empty[%c0] phase %c1 : !bars
    tile.store %x, %row[%c0] : tensor<64xf32, #tile.slice<1, #mma>>, !row
    tile.fence_async
    tile.arrive_barrier %full[%c0] : !bars
    tile.wait_barrier %empty[%c0] phase %c0 : !bars
    tile.store %x, %row[%c0] : tensor<64xf32, #tile.slice<1, #mma>>, !row
    tile.fence_async
    tile.arrive_barrier %full[%c0] : !bars
  }, {
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    tile.bulk_add %row, %g[%c0] : !row, !rows
    tile.bulk_wait 0 read
    tile.arrive_barrier %empty[%c0] : !bars
  }
}

!sums = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
!part = !tile.buffer<64x64xf32, #tile.swizzle<128>, shared>

// mbarriers also guard a tile that a thread of another role stores through a tensor
// map: there is no barrier of all warps between the wait and the store.
// CHECK-LABEL: tile.kernel @taken
tile.kernel @taken(%g: !sums) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc {offset = 0} : !part
  %full = tile.alloc {offset = 16384} : !bars
  %empty = tile.alloc {offset = 16392} : !bars
  tile.warp_roles warps = [4, 4] {
    %x = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    // CHECK-NOT: tile.barrier
    // CHECK: tile.arrive_barrier
    tile.store %x, %t[%c0, %c0] : tensor<64x64xf32, #mma>, !part
    tile.fence_async
    tile.arrive_barrier %full[%c0] : !bars
    // CHECK: tile.wait_barrier
    // CHECK-NEXT: tile.store
    tile.wait_barrier %empty[%c0] phase %c0 : !bars
    tile.store %x, %t[%c0, %c0] : tensor<64x64xf32, #mma>, !part
    tile.fence_async
    tile.arrive_barrier %full[%c0] : !bars
  }, {
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    tile.bulk_reduce add %t, %g[%c0, %c0] dims [0, 1] : !part, !sums
    tile.bulk_wait 0 read
    tile.arrive_barrier %empty[%c0] : !bars
  }
}

// An MMA that adds to the sum of another one in flight: both read until the await, whatever
// barriers stand in between. So a barrier follows it before the first operand is stored
// again.
// CHECK-LABEL: tile.kernel @chain
tile.kernel @chain(%n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc {offset = 0} : !tile
  %u = tile.alloc {offset = 8192} : !tile
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>
  %low = arith.constant dense<0.0> : tensor<64x64xf16, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>
  // CHECK: tile.dot async
  // CHECK: tile.barrier
  // CHECK: tile.dot async
  // CHECK-NEXT: tile.await
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.store
  tile.store %low, %t[%c0, %c0] : tensor<64x64xf16, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>, !tile
  %a = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>>
  tile.store %low, %u[%c0, %c0] : tensor<64x64xf16, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>, !tile
  %b = tile.dot async %u, %u, %a : !tile, !tile, !tile.pending<tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>> -> !tile.pending<tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>>
  %d = tile.await %b : !tile.pending<tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>>
  tile.store %low, %t[%c0, %c0] : tensor<64x64xf16, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>, !tile
}
