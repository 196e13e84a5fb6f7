// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-stage-stores))' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-stage-stores))' \
// RUN:   --remarks-filter=tile-stage-stores --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!oh = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// Stores of one type use one staging buffer; each warp stores its own rows.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%o: !o, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  // CHECK: tile.warp_roles
  tile.warp_roles warps = [4, 4] {
    %v = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
    // CHECK: scf.for %[[I:.*]] =
    scf.for %i = %c0 to %n step %c1 {
      %oh = tile.slice %o[%c1, *, %i, *] : !o to !oh
      // CHECK: tile.bulk_wait 0 read
      // CHECK: tile.store %{{.*}}, %[[S]]
      // CHECK-NEXT: tile.fence_async
      // CHECK-NEXT: tile.bulk_store %[[S]], %{{.*}}[%c1, %arg1, %[[I]], %c0] dims [1, 3] parts [4, 1]
      tile.store %v, %oh[%n, %c0] : tensor<64x64xf16, #mma>, !oh
    }
    %oh = tile.slice %o[%c0, *, %c0, *] : !o to !oh
    // CHECK: tile.bulk_wait 0 read
    // CHECK: tile.store %{{.*}}, %[[S]]
    // CHECK: tile.bulk_store %[[S]]
    tile.store %v, %oh[%n, %c0] : tensor<64x64xf16, #mma>, !oh
    // CHECK: tile.bulk_wait 0 read
    // CHECK-NEXT: }, {
  }, {
    %a = arith.constant 0 : i32
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// The buffer of a tile that was copied once and is not read any more is reused.
// CHECK-LABEL: tile.kernel @once
tile.kernel @once(%k: !k, %o: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<64x64xf16
  // CHECK-NOT: tile.alloc : !tile.buffer<64x64xf16
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  tile.init_barriers %full, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [4, 4] {
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    %v = tile.load %t[%c0, %c0] : !tile -> tensor<64x64xf16, #mma>
    // CHECK: tile.load
    // CHECK-NEXT: tile.barrier
    // CHECK: tile.store %{{.*}}, %[[S]]
    // CHECK: tile.bulk_store %[[S]]
    tile.store %v, %o[%c0, %c0] : tensor<64x64xf16, #mma>, !k
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t, %full[%c0] : !k, !tile, !bars
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!wide = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>

// A product reads its operands until the last product that adds to it has been
// awaited.
// CHECK-LABEL: tile.kernel @added_products
tile.kernel @added_products(%k: !k, %o: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[T:.*]] = tile.alloc : !tile.buffer<64x64xf16
  // CHECK: %[[STAGING:.*]] = tile.alloc : !tile.buffer<64x64xf16
  %t = tile.alloc : !tile
  %w = tile.alloc : !wide
  %full = tile.alloc : !bars
  tile.init_barriers %full, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %low = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
    %u = tile.slice %w[%c0, *, *] : !wide to !tile
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    %p = tile.dot async %t, %u, %zero : !tile, !tile, !acc -> !tile.pending<!acc>
    %q = tile.dot async %u, %u, %p : !tile, !tile, !tile.pending<!acc> -> !tile.pending<!acc>
    // CHECK: tile.store %{{.*}}, %[[STAGING]]
    // CHECK: tile.bulk_store %[[STAGING]]
    tile.store %low, %o[%c0, %c0] : tensor<64x64xf16, #mma>, !k
    %r = tile.await %q : !tile.pending<!acc>
  }, {
    tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t, %full[%c0] : !k, !tile, !bars
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!much = !tile.buffer<1720x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// Without memory for a new buffer, the buffer of a ring of one stage is reused; it is
// released when TMA has read it for the last time.
// CHECK-LABEL: tile.kernel @ring
tile.kernel @ring(%k: !k, %o: !k, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<64x64xf16
  %t = tile.alloc : !tile
  %m = tile.alloc : !much
  %empty = tile.alloc : !bars
  %full = tile.alloc : !bars
  %ring = tile.ring.create %t, %full, %empty : !tile.ring<!tile, 1>
  tile.warp_roles warps = [4, 4] {
    %w = tile.load %m[%c0, %c0] : !much -> tensor<1720x64xf16>
    scf.for %i = %c0 to %n step %c64 {
      // CHECK: %[[T:.*]], %[[SLOT:.*]] = tile.ring.take
      %tt, %slot = tile.ring.take %ring : !tile.ring<!tile, 1>
      %v = tile.load %tt[%c0, %c0] : !tile -> tensor<64x64xf16, #mma>
      tile.fence_async
      tile.ring.release %slot
      // CHECK: tile.load %[[T]]{{.*}} -> tensor<64x64xf16
      // CHECK-NOT: tile.ring.release
      // CHECK: tile.barrier
      // CHECK: tile.store %{{.*}}, %[[S]]
      // CHECK: tile.bulk_store %[[S]]
      // CHECK: arith.negf
      // CHECK-NEXT: tile.bulk_wait 0 read
      // CHECK-NEXT: tile.ring.release %[[SLOT]]
      // CHECK-NEXT: }
      tile.store %v, %o[%i, %c0] : tensor<64x64xf16, #mma>, !k
      %next = arith.negf %v : tensor<64x64xf16, #mma>
    }
    %x = tile.load %m[%c0, %c0] : !much -> tensor<1720x64xf16>
  }, {
    scf.for %i = %c0 to %n step %c64 {
      %tt, %slot = tile.ring.acquire %ring : !tile.ring<!tile, 1>
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %tt fills %slot : !k, !tile
    }
  }
}

// -----

!k = !tile.buffer<?x256xf16, #tile.strided<[256, 1], align = 16>, global>
!tile = !tile.buffer<128x256xf16, #tile.swizzle<128>, shared>
!much = !tile.buffer<920x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>

// Buffers for parts are better than the slot of a ring, whose next copy would wait
// for the store.
// CHECK-LABEL: tile.kernel @parts_not_ring
tile.kernel @parts_not_ring(%k: !k, %o: !k, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %m = tile.alloc : !much
  %empty = tile.alloc : !bars
  %full = tile.alloc : !bars
  %ring = tile.ring.create %t, %full, %empty : !tile.ring<!tile, 1>
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<128x64xf16
  // CHECK: %[[T:.*]] = tile.alloc : !tile.buffer<128x64xf16
  tile.warp_roles warps = [8, 4] {
    scf.for %i = %c0 to %n step %c128 {
      %tt, %slot = tile.ring.take %ring : !tile.ring<!tile, 1>
      %v = tile.load %tt[%c0, %c0] : !tile -> tensor<128x256xf16, #mma>
      tile.fence_async
      // CHECK: tile.ring.release
      // CHECK: tile.bulk_store %[[S]]
      // CHECK: tile.bulk_store %[[T]]
      tile.ring.release %slot
      %w = tile.load %m[%c0, %c0] : !much -> tensor<128x64xf16, #mma>
      tile.store %v, %o[%i, %c0] : tensor<128x256xf16, #mma>, !k
      tile.store %w, %m[%c0, %c0] : tensor<128x64xf16, #mma>, !much
    }
  }, {
    scf.for %i = %c0 to %n step %c128 {
      %tt, %slot = tile.ring.acquire %ring : !tile.ring<!tile, 1>
      tile.bulk_copy %k[%i, %c0] dims [0, 1], %tt fills %slot : !k, !tile
    }
  }
}

// -----

!o = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!oh = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// A store to a range of rows ends with the range.
// CHECK-LABEL: tile.kernel @part
tile.kernel @part(%o: !o, %start: index, %length: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] {
    %v = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
    %oh = tile.slice %o[*, %c1, *] : !o to !oh
    %one = tile.narrow %oh[0] from %start length %length : !oh to !oh
    // CHECK: tile.bulk_store %{{.*}}, %arg0[%c0, %c1, %c0] dims [0, 2] within %arg1, %arg2 parts [4, 1]
    tile.store %v, %one[%c0, %c0] : tensor<64x64xf16, #mma>, !oh
  }, {
    %a = arith.constant 0 : i32
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:4, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// CHECK-LABEL: tile.kernel @stays
// REMARK: store-not-staged
// REMARK-SAME: Reason="stride 0 of the source is no multiple of 16 bytes"
tile.kernel @stays(%o: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] {
    %v = arith.constant dense<1.0> : tensor<64x64xf16, #mma>
    // CHECK-NOT: tile.bulk
    // CHECK: tile.store
    tile.store %v, %o[%c0, %c0] : tensor<64x64xf16, #mma>, !k
    // CHECK-NOT: tile.bulk
  }, {
    %a = arith.constant 0 : i32
  }
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// TMA stores a tile whose reads come before; later reads would miss what it writes.
// CHECK-LABEL: tile.kernel @reads
// REMARK: store-not-staged
// REMARK-SAME: Reason="the kernel reads its argument afterwards, or in the same loop"
tile.kernel @reads(%o: !o, %p: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] {
    %v = tile.load %o[%c0, %c0] : !o -> tensor<64x64xf16, #mma>
    // CHECK: tile.bulk_store %{{.*}}, %arg0
    tile.store %v, %o[%c0, %c0] : tensor<64x64xf16, #mma>, !o
    // CHECK: tile.store %{{.*}}, %arg1
    tile.store %v, %p[%c0, %c0] : tensor<64x64xf16, #mma>, !o
    %w = tile.load %p[%c0, %c0] : !o -> tensor<64x64xf16, #mma>
  }, {
    %a = arith.constant 0 : i32
  }
}

// -----

!o = !tile.buffer<?x256xf16, #tile.strided<[?:8, 1], align = 16>, global>
!big = !tile.buffer<1536x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>

// There is no memory for 128 x 256 elements beside %big: two buffers for parts of 64
// columns take turns.
// CHECK-LABEL: tile.kernel @parts
tile.kernel @parts(%o: !o, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: tile.alloc : !tile.buffer<1536x64xf16
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
  // CHECK: %[[T:.*]] = tile.alloc : !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
  // CHECK-NOT: tile.alloc
  %big = tile.alloc : !big
  tile.warp_roles warps = [8, 4] {
    %v = arith.constant dense<1.0> : tensor<128x256xf16, #mma>
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 {
      %w = tile.load %big[%c0, %c0] : !big -> tensor<128x64xf16, #mma>
      // CHECK: tile.bulk_wait 0 read
      // CHECK: %[[V:.*]] = tile.extract %[[ALL:.*]] [0, 0] : tensor<128x256xf16, #mma> -> tensor<128x64xf16, #mma>
      // CHECK: tile.store %[[V]], %[[S]]
      // CHECK-NEXT: tile.fence_async
      // CHECK-NEXT: tile.bulk_store %[[S]], %arg0[%[[I:.*]], %c0] dims [0, 1] parts [8, 1]
      // CHECK-NOT: tile.bulk_wait
      // CHECK: %[[V1:.*]] = tile.extract %[[ALL]] [0, 64]
      // CHECK: tile.store %[[V1]], %[[T]]
      // CHECK: tile.bulk_store %[[T]]
      // CHECK: tile.bulk_wait 1 read
      // CHECK: tile.extract %[[ALL]] [0, 128]
      // CHECK: tile.bulk_store %[[S]]
      // CHECK: tile.bulk_wait 1 read
      // CHECK: tile.extract %[[ALL]] [0, 192]
      // CHECK: tile.bulk_store %[[T]]
      tile.store %v, %o[%i, %c0] : tensor<128x256xf16, #mma>, !o
      tile.store %w, %big[%c0, %c0] : tensor<128x64xf16, #mma>, !big
    }
    // CHECK: tile.bulk_wait 0 read
    // CHECK-NEXT: }, {
  }, {
    %a = arith.constant 0 : i32
  }
}

// -----

!o = !tile.buffer<?x256xf16, #tile.strided<[?:8, 1], align = 16>, global>
!big = !tile.buffer<384x256xf16, #tile.swizzle<128>, shared>
#columns = #tile.layout<register = [64 -> d1], lane = [32 -> d0], warp = [4 -> d0 * 32, 4 -> d1 * 64]>

// Parts of 64 columns belong to four warps each: the tile stays whole.
// CHECK-LABEL: tile.kernel @shared_rows
// REMARK: store-not-staged
// REMARK-SAME: Reason="the tile takes 65536 bytes of shared memory, which are not free"
tile.kernel @shared_rows(%o: !o, %n: index) attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %big = tile.alloc : !big
  tile.warp_roles warps = [16, 4] {
    %v = arith.constant dense<1.0> : tensor<128x256xf16, #columns>
    scf.for %i = %c0 to %n step %c1 {
      %w = tile.load %big[%c0, %c0] : !big -> tensor<128x256xf16, #columns>
      // CHECK-NOT: tile.bulk
      tile.store %v, %o[%i, %c0] : tensor<128x256xf16, #columns>, !o
      tile.store %w, %big[%c0, %c0] : tensor<128x256xf16, #columns>, !big
    }
  }, {
    %a = arith.constant 0 : i32
  }
}

// -----

!o = !tile.buffer<?x128xf32, #tile.strided<[?:4, 1], align = 16>, global>
!big = !tile.buffer<1280x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k8.tf32", warps = [8, 1]>
#transposed = #tile.permute<[1, 0], #mma>

// The warps of a transposed product share its columns: the parts are rows.
// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%o: !o, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[S:.*]] = tile.alloc : !tile.buffer<64x128xf32, #tile.swizzle<128>, shared>
  // CHECK: %[[T:.*]] = tile.alloc : !tile.buffer<64x128xf32, #tile.swizzle<128>, shared>
  // CHECK-NOT: tile.alloc
  %big = tile.alloc : !big
  tile.warp_roles warps = [8, 4] {
    %v = arith.constant dense<1.0> : tensor<256x128xf32, #transposed>
    // CHECK: scf.for %[[I:.*]] =
    scf.for %i = %c0 to %n step %c1 {
      %w = tile.load %big[%c0, %c0] : !big -> tensor<64x64xf16>
      // CHECK: %[[V:.*]] = tile.extract %[[ALL:.*]] [0, 0] : tensor<256x128xf32, {{.*}}> -> tensor<64x128xf32,
      // CHECK: tile.store %[[V]], %[[S]]
      // CHECK: tile.bulk_store %[[S]], %arg0[%[[I]], %c0]
      // CHECK: %[[ROW:.*]] = arith.addi %[[I]], %c64
      // CHECK: %[[V1:.*]] = tile.extract %[[ALL]] [64, 0]
      // CHECK: tile.store %[[V1]], %[[T]]
      // CHECK: tile.bulk_store %[[T]], %arg0[%[[ROW]], %c0]
      // CHECK-COUNT-2: tile.bulk_store
      tile.store %v, %o[%i, %c0] : tensor<256x128xf32, #transposed>, !o
      tile.store %w, %big[%c0, %c0] : tensor<64x64xf16>, !big
    }
  }, {
    %a = arith.constant 0 : i32
  }
}
