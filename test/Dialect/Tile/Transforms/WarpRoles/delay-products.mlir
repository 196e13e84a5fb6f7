// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-delay-products))' | FileCheck %s
// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-delay-products))' --remarks-filter=tile-delay-products --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-delay-products,tile-specialize-warps,tile-overlap-dots,tile-lower-rings,tile-plan-shared-memory,tile-insert-barriers))' | FileCheck %s --check-prefix=BARRIERS

!rows = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>
!sums = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!keys = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!queries = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
!columns = !tile.buffer<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
!scores = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!turned = !tile.buffer<64x128xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
#mmaq = #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>
!s = tensor<128x64xf32, #mma>
!low = tensor<128x64xf16, #mma>
!dq = tensor<64x128xf32, #mmaq>

// The product is computed in the next iteration, and the last one after the
// loop. The zeros are added nowhere.
// REMARK: remark: [Passed] products-delayed {{.*}} bytes=98440
// CHECK-LABEL: tile.kernel @late
// CHECK: %[[RING:.*]] = tile.ring.create
// CHECK: %[[B0:.*]], %[[S0:.*]] = tile.ring.acquire %[[RING]]
// CHECK: tile.store %{{.*}}, %[[B0]]
// CHECK-NEXT: tile.fence_async
// CHECK-NEXT: tile.ring.publish %[[S0]]
// CHECK: %[[LAST:.*]] = scf.for %[[I:.*]] = %c0 to %{{.*}} step %c64 iter_args(%[[BEFORE:.*]] = %c1072693248)
// CHECK: tile.dot
// CHECK-NEXT: %[[B1:.*]], %[[S1:.*]] = tile.ring.acquire %[[RING]]
// CHECK: tile.store %{{.*}}, %[[B1]]
// CHECK-NEXT: tile.fence_async
// CHECK-NEXT: tile.ring.publish %[[S1]]
// CHECK-NEXT: %[[B2:.*]], %[[S2:.*]] = tile.ring.take %[[RING]]
// CHECK-NEXT: %[[T2:.*]] = tile.transpose %[[B2]]
// CHECK-NEXT: %[[P:.*]] = tile.dot %[[T2]]
// CHECK-NEXT: tile.ring.release %[[S2]]
// CHECK-NEXT: tile.atomic_rmw addf %[[P]], %{{.*}}[%[[BEFORE]], %c0]
// CHECK-NEXT: scf.yield %[[I]]
// CHECK: %[[B3:.*]], %[[S3:.*]] = tile.ring.take %[[RING]]
// CHECK: tile.ring.release %[[S3]]
// CHECK-NEXT: tile.atomic_rmw addf %{{.*}}[%[[LAST]], %c0]
// CHECK-NOT: tile.ring.take
// The warpgroups wait for mbarriers, not for each other.
// BARRIERS-LABEL: tile.kernel @late
// BARRIERS: tile.alloc {offset = {{[0-9]+}} : i64, tile.ordered} : !tile.buffer<2x128x64xf16
// BARRIERS: tile.warp_roles
// BARRIERS-NOT: tile.barrier
// BARRIERS: tile.bulk_copy
tile.kernel @late(%q: !rows, %k: !rows, %sums: !sums, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %nothing = arith.constant dense<0.0> : !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  scf.for %i = %c0 to %n step %c64 {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    tile.atomic_rmw addf %p, %sums[%i, %c0] : !dq, !sums
  }
}

// -----

!rows = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>
!sums = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!keys = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!queries = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
!columns = !tile.buffer<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
!scores = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!turned = !tile.buffer<64x128xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
#mmaq = #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>
!s = tensor<128x64xf32, #mma>
!low = tensor<128x64xf16, #mma>
!dq = tensor<64x128xf32, #mmaq>

// Consecutive loops with the same products share the ring.
// CHECK-LABEL: tile.kernel @chain
// CHECK: %[[RING:.*]] = tile.ring.create
// CHECK-NOT: tile.ring.create
// CHECK: tile.ring.acquire
// CHECK: %[[FIRST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c1072693248)
// CHECK: tile.ring.acquire
// CHECK: tile.ring.take
// CHECK: scf.yield
// CHECK-NOT: tile.ring
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK: tile.ring.acquire
// CHECK: tile.ring.take
// CHECK: scf.yield
// CHECK: tile.ring.take
// CHECK: tile.atomic_rmw addf %{{.*}}[%[[LAST]], %c0]
tile.kernel @chain(%q: !rows, %k: !rows, %sums: !sums, %m: index, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %one = arith.constant dense<1.0> : !s
  %nothing = arith.constant dense<0.0> : !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  scf.for %i = %c0 to %m step %c64 {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %u = arith.addf %s, %one : !s
    %t = arith.truncf %u : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    tile.atomic_rmw addf %p, %sums[%i, %c0] : !dq, !sums
  }
  scf.for %i = %m to %n step %c64 {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    tile.atomic_rmw addf %p, %sums[%i, %c0] : !dq, !sums
  }
}

// -----

!rows = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>
!sums = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!keys = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!queries = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
!columns = !tile.buffer<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
!scores = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!turned = !tile.buffer<64x128xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
#mmaq = #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>
!s = tensor<128x64xf32, #mma>
!low = tensor<128x64xf16, #mma>
!dq = tensor<64x128xf32, #mmaq>

// A kernel that reads the sums must find all of them.
// CHECK-LABEL: tile.kernel @read
// CHECK-NOT: tile.ring
tile.kernel @read(%q: !rows, %k: !rows, %sums: !sums, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %nothing = tile.load %sums[%c0, %c0] : !sums -> !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  scf.for %i = %c0 to %n step %c64 {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    tile.atomic_rmw addf %p, %sums[%i, %c0] : !dq, !sums
  }
}

// -----

!rows = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>
!sums = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!keys = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!queries = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
!columns = !tile.buffer<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
!scores = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!turned = !tile.buffer<64x128xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
#mmaq = #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>
!s = tensor<128x64xf32, #mma>
!low = tensor<128x64xf16, #mma>
!dq = tensor<64x128xf32, #mmaq>

// A product that the loop carries is needed in the next iteration.
// CHECK-LABEL: tile.kernel @carried
// CHECK-NOT: tile.ring
// With `late_products = false`, nothing waits.
// CHECK-LABEL: tile.kernel @not_allowed
// CHECK-SAME: schedule = #tile.schedule<producers = 4>
// CHECK-NOT: tile.ring
tile.kernel @carried(%q: !rows, %k: !rows, %sums: !sums, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %nothing = arith.constant dense<0.0> : !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%x = %nothing) -> (!dq) {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %x : !turned, !keys -> !dq
    scf.yield %p : !dq
  }
  tile.atomic_rmw addf %r, %sums[%c0, %c0] : !dq, !sums
}

tile.kernel @not_allowed(%q: !rows, %k: !rows, %sums: !sums, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4, late_products = false>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %nothing = arith.constant dense<0.0> : !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  scf.for %i = %c0 to %n step %c64 {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    tile.atomic_rmw addf %p, %sums[%i, %c0] : !dq, !sums
  }
}

// Another write must keep its place.
// CHECK-LABEL: tile.kernel @written
// CHECK-NOT: tile.ring
tile.kernel @written(%q: !rows, %k: !rows, %sums: !sums, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %nothing = arith.constant dense<0.0> : !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  tile.store %nothing, %sums[%c0, %c0] : !dq, !sums
  scf.for %i = %c0 to %n step %c64 {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    tile.atomic_rmw addf %p, %sums[%i, %c0] : !dq, !sums
  }
}

// The operand of the product is another one in the next iteration.
// CHECK-LABEL: tile.kernel @refilled
// CHECK-NOT: tile.ring
tile.kernel @refilled(%q: !rows, %k: !rows, %sums: !sums, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %nothing = arith.constant dense<0.0> : !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  scf.for %i = %c0 to %n step %c64 {
    tile.copy %k[%i, %c0], %kt : !rows, !keys
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    tile.atomic_rmw addf %p, %sums[%i, %c0] : !dq, !sums
  }
}

// No number of an iteration is known to be outside of the buffer.
// CHECK-LABEL: tile.kernel @moved
// CHECK-NOT: tile.ring
tile.kernel @moved(%q: !rows, %k: !rows, %sums: !sums, %n: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %nothing = arith.constant dense<0.0> : !dq
  %kt = tile.alloc : !keys
  tile.copy %k[%c0, %c0], %kt : !rows, !keys
  scf.for %i = %c0 to %n step %c64 {
    %qt = tile.alloc : !queries
    tile.copy %q[%i, %c0], %qt : !rows, !queries
    %qc = tile.transpose %qt [1, 0] : !queries -> !columns
    %s = tile.dot %kt, %qc, %zero : !keys, !columns -> !s
    %t = arith.truncf %s : !s to !low
    %b = tile.alloc : !scores
    tile.store %t, %b[%c0, %c0] : !low, !scores
    %bt = tile.transpose %b [1, 0] : !scores -> !turned
    %p = tile.dot %bt, %kt, %nothing : !turned, !keys -> !dq
    %j = arith.remui %i, %n : index
    tile.atomic_rmw addf %p, %sums[%j, %c0] : !dq, !sums
  }
}
