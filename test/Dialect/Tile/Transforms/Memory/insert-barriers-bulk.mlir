// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-plan-shared-memory,tile-insert-barriers))' \
// RUN:   | FileCheck %s

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// Every warp writes and stores its own rows, so no barrier is needed.
// CHECK-LABEL: tile.kernel @own_parts
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @own_parts(%o: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %v = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
  scf.for %i = %c0 to %n step %c1 {
    tile.bulk_wait 0 read
    tile.store %v, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
    tile.fence_async
    tile.bulk_store %t, %o[%i, %c0] dims [0, 1] parts [4, 1] : !tile, !k
  }
  tile.bulk_wait 0
  tile.return
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

// Every warp also stores rows that other warps have written.
// CHECK-LABEL: tile.kernel @other_parts
tile.kernel @other_parts(%o: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %v = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: tile.bulk_wait 0 read
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.bulk_store
    tile.bulk_wait 0 read
    tile.store %v, %t[%c0, %c0] : tensor<64x64xf16, #rows>, !tile
    tile.bulk_store %t, %o[%i, %c0] dims [0, 1] parts [4, 1] : !tile, !k
  }
  tile.bulk_wait 0
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// One thread stores rows that all threads have written.
// CHECK-LABEL: tile.kernel @whole
tile.kernel @whole(%o: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %v = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
  // CHECK: tile.store
  // CHECK-NEXT: tile.fence_async
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.bulk_store
  tile.store %v, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
  tile.bulk_store %t, %o[%c0, %c0] dims [0, 1] : !tile, !k
  tile.bulk_wait 0
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
#columns = #tile.blocked<thread = [8, 1], lane = [8, 4], warp = [1, 4], order = [0, 1]>

// Threads exchange tiles, and TMA stores the last one. Only the barrier in front
// of the store is fenced.
// CHECK-LABEL: tile.kernel @exchanges
tile.kernel @exchanges(%o: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !tile
  %t = tile.alloc : !tile
  %v = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NOT: tile.fence_async
    // CHECK: tile.load
    tile.store %v, %s[%c0, %c0] : tensor<64x64xf16, #rows>, !tile
    %x = tile.load %s[%c0, %c0] : !tile -> tensor<64x64xf16, #columns>
    // CHECK: tile.store
    // CHECK-NEXT: }
    tile.store %x, %t[%c0, %c0] : tensor<64x64xf16, #columns>, !tile
  }
  // CHECK-NEXT: tile.fence_async
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.bulk_store
  tile.bulk_store %t, %o[%c0, %c0] dims [0, 1] : !tile, !k
  tile.bulk_wait 0
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

// TMA stores at the start of an iteration what the iteration before has written:
// the fence of the barrier at its end, or in front of the loop.
// CHECK-LABEL: tile.kernel @around_back_edge
tile.kernel @around_back_edge(%o: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %v = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  // CHECK: tile.store
  // CHECK-NEXT: tile.fence_async
  // CHECK-NEXT: tile.barrier
  tile.store %v, %t[%c0, %c0] : tensor<64x64xf16, #rows>, !tile
  tile.barrier
  // CHECK-NEXT: scf.for
  scf.for %i = %c0 to %n step %c1 {
    tile.bulk_store %t, %o[%i, %c0] dims [0, 1] : !tile, !k
    tile.bulk_wait 0 read
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: }
    tile.barrier
    tile.store %v, %t[%c0, %c0] : tensor<64x64xf16, #rows>, !tile
    tile.barrier
  }
  tile.bulk_wait 0
}
