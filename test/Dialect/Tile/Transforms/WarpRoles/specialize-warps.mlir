// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-specialize-warps,tile-lower-rings,cse))' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-specialize-warps,cse))' \
// RUN:   | FileCheck %s --check-prefix=RING
// RUN: tile-opt %s -split-input-file --remarks-filter='tile-.*' --remark-format=emitRemark \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-specialize-warps))' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!k = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!kh = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!t = !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// One tile before the loop and one per iteration share a ring of three stages; the
// tile that all iterations read has its own buffer.
// REMARK: remark: [Passed] warps-specialized | Category:tile-specialize-warps | {{.*}}rings=2, stages=3
// CHECK-LABEL: tile.kernel @ring
// CHECK-NOT: #tile.schedule
tile.kernel @ring(%q: !k, %k: !k) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 4, registers = [240, 24]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k[1] : !k
  tile.grid %c1, %c1, %c1
  %b = tile.program_id x
  %qh = tile.slice %q[%b, *, *] : !k to !kh
  %kh = tile.slice %k[%b, *, *] : !k to !kh
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %qs = tile.alloc : !tile
  tile.copy %qh[%c0, %c0], %qs : !kh, !tile
  %k0 = tile.alloc : !tile
  tile.copy %kh[%c0, %c0], %k0 : !kh, !tile
  %s0 = tile.dot %qs, %k0, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
  %s = scf.for %i = %c64 to %n step %c64 iter_args(%s = %s0) -> tensor<64x64xf32, #mma> {
    %ks = tile.alloc : !tile
    tile.copy %kh[%i, %c0], %ks : !kh, !tile
    %d = tile.dot %qs, %ks, %s : !tile, !tile -> tensor<64x64xf32, #mma>
    scf.yield %d : tensor<64x64xf32, #mma>
  } {tile.schedule = #tile.schedule<stages = 3>}
}
// CHECK: %[[Q:.*]] = tile.alloc : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
// CHECK: %[[QFULL:.*]] = tile.alloc : !tile.buffer<1xi64
// CHECK: tile.init_barriers %[[QFULL]], 1
// CHECK: %[[K:.*]] = tile.alloc : !tile.buffer<3x64x64xf16
// CHECK: %[[FULL:.*]] = tile.alloc : !tile.buffer<3xi64
// CHECK: %[[EMPTY:.*]] = tile.alloc : !tile.buffer<3xi64
// CHECK: tile.init_barriers %[[FULL]], 1
// CHECK: tile.init_barriers %[[EMPTY]], 4
// CHECK-NEXT: tile.barrier
// CHECK: tile.warp_roles warps = [4, 4] registers = [240, 24] {
// CHECK: tile.wait_barrier %[[QFULL]]
// CHECK: tile.wait_barrier %[[FULL]]
// CHECK-NEXT: tile.dot
// CHECK-NEXT: tile.arrive_barrier %[[EMPTY]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (tensor<64x64xf32, #{{.*}}>, i32)
// CHECK: %[[SLOT:.*]] = arith.remui %[[COUNT]], %{{.*}} : i32
// CHECK: %[[INDEX:.*]] = arith.index_castui %[[SLOT]] : i32 to index
// CHECK: %[[TILE:.*]] = tile.slice %[[K]][%[[INDEX]], *, *]
// CHECK: tile.wait_barrier %[[FULL]][%[[INDEX]]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[COUNT]], %c1_i32
// CHECK-NEXT: %[[D:.*]] = tile.dot %[[Q]], %[[TILE]]
// CHECK-NEXT: tile.arrive_barrier %[[EMPTY]][%[[INDEX]]]
// CHECK-NEXT: scf.yield %[[D]], %[[NEXT]]
// CHECK-NOT: tile.copy
// CHECK: }, {
// CHECK: tile.bulk_copy %arg0[%{{.*}}, %{{.*}}, %{{.*}}] dims [1, 2], %[[Q]], %[[QFULL]]
// CHECK: tile.wait_barrier %[[EMPTY]]
// CHECK: tile.bulk_copy %arg1
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
// CHECK: tile.wait_barrier %[[EMPTY]]
// CHECK: tile.bulk_copy %arg1[%{{.*}}, %[[I]], %{{.*}}] dims [1, 2], %{{.*}}, %[[FULL]]

// The same program before the rings are lowered.
// RING-LABEL: tile.kernel @ring
// RING: %[[Q:.*]] = tile.ring.create %{{.*}}, %{{[^,]*}} : !tile.ring<!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>, 1>
// RING: %[[K:.*]] = tile.ring.create %{{.*}}, %{{.*}}, %{{.*}} : !tile.ring<!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>, 3>
// RING: tile.warp_roles warps = [4, 4] registers = [240, 24] {
// RING: %[[QT:.*]], %{{.*}} = tile.ring.take %[[Q]]
// RING-NEXT: %[[KT:.*]], %[[SLOT:.*]] = tile.ring.take %[[K]]
// RING-NEXT: tile.dot %[[QT]], %[[KT]]
// RING-NEXT: tile.ring.release %[[SLOT]]
// RING: scf.for
// RING-NEXT: %[[KI:.*]], %[[SLOTI:.*]] = tile.ring.take %[[K]]
// RING-NEXT: tile.dot %[[QT]], %[[KI]]
// RING-NEXT: tile.ring.release %[[SLOTI]]
// RING-NEXT: scf.yield
// RING: }, {
// RING: %[[TO:.*]], %[[FILL:.*]] = tile.ring.acquire %[[Q]]
// RING-NEXT: tile.bulk_copy %arg0[%{{.*}}] dims [1, 2], %[[TO]] fills %[[FILL]]
// RING: tile.ring.acquire %[[K]]
// RING-NEXT: tile.bulk_copy %arg1
// RING: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// RING-NEXT: tile.ring.acquire %[[K]]
// RING-NEXT: tile.bulk_copy %arg1[%{{.*}}, %[[I]], %{{.*}}]

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// Two rings of which each iteration uses one tile share one counter, although one of
// them has a first tile before the loop. The third ring is filled more often and has
// its own counter.
// CHECK-LABEL: tile.kernel @counts
tile.kernel @counts(%k: !k, %v: !k, %w: !k, %n: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  // CHECK: tile.warp_roles
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[FEW:.*]] = %c0_i32, %[[MANY:.*]] = %c0_i32) -> (tensor<64x64xf32, #{{.*}}>, i32, i32)
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32, #mma> {
    // CHECK: arith.remui %[[FEW]], %c2_i32{{.*}}
    %k0 = tile.alloc : !tile
    tile.copy %k[%i, %c0], %k0 : !k, !tile
    %t0 = tile.dot %k0, %k0, %s : !tile, !tile -> tensor<64x64xf32, #mma>
    // CHECK: %[[IN:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[V:.*]] = %[[FEW]], %[[W:.*]] = %[[MANY]])
    %t1 = scf.for %j = %c0 to %n step %c64 iter_args(%t = %t0) -> tensor<64x64xf32, #mma> {
      // CHECK: %[[K:.*]] = arith.addi %[[V]], %c1_i32{{.*}}
      // CHECK: arith.remui %[[K]], %c2_i32{{.*}}
      %ks = tile.alloc : !tile
      tile.copy %k[%j, %c0], %ks : !k, !tile
      // CHECK: arith.remui %[[V]], %c2_i32{{.*}}
      %vs = tile.alloc : !tile
      tile.copy %v[%j, %c0], %vs : !k, !tile
      %d = tile.dot %ks, %vs, %t : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK: arith.remui %[[W]], %c4_i32{{.*}}
      %ws = tile.alloc : !tile
      tile.copy %w[%j, %c0], %ws : !k, !tile
      %e = tile.dot %ws, %ws, %d : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK: %[[W1:.*]] = arith.addi %[[W]], %c1_i32{{.*}}
      // CHECK: arith.remui %[[W1]], %c4_i32{{.*}}
      %xs = tile.alloc : !tile
      tile.copy %w[%j, %c0], %xs : !k, !tile
      %f = tile.dot %xs, %xs, %e : !tile, !tile -> tensor<64x64xf32, #mma>
      // CHECK: %[[W2:.*]] = arith.addi %[[W]], %c2_i32{{.*}}
      // CHECK: scf.yield %{{.*}}, %[[K]], %[[W2]]
      scf.yield %f : tensor<64x64xf32, #mma>
    }
    %v0 = tile.alloc : !tile
    tile.copy %v[%i, %c0], %v0 : !k, !tile
    %t2 = tile.dot %v0, %v0, %t1 : !tile, !tile -> tensor<64x64xf32, #mma>
    // CHECK: %[[ALL:.*]] = arith.addi %[[IN]]#1, %c1_i32{{.*}}
    // CHECK: scf.yield %{{.*}}, %[[ALL]], %[[IN]]#2
    scf.yield %t2 : tensor<64x64xf32, #mma>
  }
  // The producer warps have the same counters.
  // CHECK: }, {
  // CHECK: scf.for {{.*}} -> (i32, i32)
  // CHECK: scf.for {{.*}} -> (i32, i32)
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// The elements past the end of a sequence belong to the next one, so copies end with the sequence.
// Both roles read the start of the sequence.
// REMARK: remark: [Passed] warps-specialized | {{.*}}rings=1, stages=1
// CHECK-LABEL: tile.kernel @packed
// CHECK: tile.warp_roles
// CHECK: }, {
// CHECK: %[[READ:.*]] = tile.load_scalar %arg1[%c0]
// CHECK: %[[START:.*]] = arith.index_cast %[[READ]]
// CHECK: tile.bulk_copy %arg0[%c64, %c0] dims [0, 1] within %[[START]], %arg2, %{{.*}}, %{{.*}}[%c0]
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
tile.kernel @packed(%k: !k, %cu: !cu, %length: index, %o: !k) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %number = tile.load_scalar %cu[%c0] : !cu -> i32
  %start = arith.index_cast %number : i32 to index
  %one = tile.narrow %k[0] from %start length %length : !k to !k
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %ks = tile.alloc : !tile
  tile.copy %one[%c64, %c0], %ks : !k, !tile
  %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!part = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1]>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// REMARK: remark: [Missed] warps-not-specialized | {{.*}}its source is a part of other dimensions than its rows
// CHECK-LABEL: tile.kernel @part_of_columns
// CHECK-NOT: tile.warp_roles
tile.kernel @part_of_columns(%k: !k, %length: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %one = tile.narrow %k[1] from %c0 length %length : !k to !part
  %ks = tile.alloc : !tile
  tile.copy %one[%c0, %c0], %ks : !part, !tile
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// -----

// Rows in pages: the producers read the table.

!pages = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!slice = !tile.buffer<?x16x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!rows = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16, page = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// REMARK: remark: [Passed] warps-specialized
// CHECK-LABEL: tile.kernel @pages
// CHECK: tile.warp_roles
// CHECK: }, {
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: tile.bulk_copy %arg0[%{{.*}}, %[[ROW:.*]], %{{.*}}, %{{.*}}] dims [1, 3] within %[[ZERO]], %{{.*}} pages along 0 by %arg1
tile.kernel @pages(%k: !pages, %t: !table, %h: index, %length: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %pages = tile.slice %k[*, *, %h, *] : !pages to !slice
  %rows = tile.paged %pages by %t length %length : !slice, !table to !rows
  %ks = tile.alloc : !tile
  tile.copy %rows[%c64, %c0], %ks : !rows, !tile
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// -----

// Each ring of pages has a role of its own; the first one fills the other rings, too.

!q = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!pages = !tile.buffer<?x16x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!rows = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16, page = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// REMARK: remark: [Passed] warps-specialized | {{.*}}rings=3
// CHECK-LABEL: tile.kernel @two_rings_of_pages
// CHECK: tile.warp_roles warps = [4, 1, 3] registers = [208, 56, 56] {
// CHECK: }, {
// CHECK: tile.bulk_copy %arg0
// CHECK: tile.bulk_copy %arg1{{.*}} pages along
// CHECK-NOT: tile.bulk_copy
// CHECK: }, {
// CHECK: tile.bulk_copy %arg2{{.*}} pages along
// CHECK-NOT: tile.bulk_copy
tile.kernel @two_rings_of_pages(%q: !q, %k: !pages, %v: !pages, %t: !table, %length: index)
    attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4, registers = [208, 56]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %keys = tile.paged %k by %t length %length : !pages, !table to !rows
  %values = tile.paged %v by %t length %length : !pages, !table to !rows
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %qs = tile.alloc : !tile
  tile.copy %q[%c0, %c0], %qs : !q, !tile
  scf.for %i = %c0 to %length step %c64 {
    %ks = tile.alloc : !tile
    tile.copy %keys[%i, %c0], %ks : !rows, !tile
    %s = tile.dot %qs, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    %vs = tile.alloc : !tile
    tile.copy %values[%i, %c0], %vs : !rows, !tile
    %p = tile.dot %qs, %vs, %s : !tile, !tile -> tensor<64x64xf32, #mma>
    %h = arith.truncf %p : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
  }
}

// -----

// REMARK: remark: [Missed] warps-not-specialized | {{.*}}its tiles may begin anywhere in a page

!pages = !tile.buffer<?x16x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!rows = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16, page = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// CHECK-LABEL: tile.kernel @anywhere_in_a_page
// CHECK-NOT: tile.warp_roles
tile.kernel @anywhere_in_a_page(%k: !pages, %t: !table, %row: index, %length: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.paged %k by %t length %length : !pages, !table to !rows
  %ks = tile.alloc : !tile
  tile.copy %rows[%row, %c0], %ks : !rows, !tile
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// -----

!x = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!part = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>

// REMARK: remark: [Missed] warps-not-specialized | {{.*}}the end of one sequence is no multiple of 16 bytes
// CHECK-LABEL: tile.kernel @part_of_a_row
// CHECK-NOT: tile.warp_roles
tile.kernel @part_of_a_row(%x: !x, %length: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %one = tile.narrow %x[0] from %c0 length %length : !x to !part
  %r = tile.alloc : !row
  tile.copy %one[%c0], %r : !part, !row
  %v = tile.load %r[%c0] : !row -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!part = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// REMARK: remark: [Missed] warps-not-specialized | {{.*}}its source is a part of a part of an argument
// CHECK-LABEL: tile.kernel @part_of_a_part
// CHECK-NOT: tile.warp_roles
tile.kernel @part_of_a_part(%k: !k, %length: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %one = tile.narrow %k[0] from %c0 length %length : !k to !part
  %two = tile.narrow %one[0] from %c1 length %length : !part to !part
  %ks = tile.alloc : !tile
  tile.copy %two[%c0, %c0], %ks : !part, !tile
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// The producers carry the row, a scalar that is computed from scalars, too.
// REMARK: remark: [Passed] warps-specialized | {{.*}}rings=1, stages=2
// CHECK-LABEL: tile.kernel @carried
// CHECK: tile.warp_roles
// CHECK: }, {
// CHECK: scf.for {{.*}} iter_args(%[[AT:[^ ]*]] = %{{.*}})
// CHECK: tile.bulk_copy %arg0[%[[AT]], %{{.*}}]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %{{.*}} : index
// CHECK: scf.yield %[[NEXT]]
tile.kernel @carried(%k: !k) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero, %at = %c0) -> (tensor<64x64xf32, #mma>, index) {
    %ks = tile.alloc : !tile
    tile.copy %k[%at, %c0], %ks : !k, !tile
    %d = tile.dot %ks, %ks, %s : !tile, !tile -> tensor<64x64xf32, #mma>
    %next = arith.addi %at, %c8 : index
    scf.yield %d, %next : tensor<64x64xf32, #mma>, index
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// The next row comes from memory that the kernel writes.
// REMARK: remark: [Missed] warps-not-specialized | {{.*}}its place depends on 'tile.load_scalar', which cannot run ahead
// CHECK-LABEL: tile.kernel @carried_from_memory
// CHECK-NOT: tile.warp_roles
!rows = !tile.buffer<?xi32, #tile.strided<[1]>, global>
tile.kernel @carried_from_memory(%k: !k, %rows: !rows) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %none = arith.constant dense<0> : tensor<64xi32, #tile.slice<1, #mma>>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero, %at = %c0) -> (tensor<64x64xf32, #mma>, index) {
    %ks = tile.alloc : !tile
    tile.copy %k[%at, %c0], %ks : !k, !tile
    %d = tile.dot %ks, %ks, %s : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.store %none, %rows[%i] : tensor<64xi32, #tile.slice<1, #mma>>, !rows
    %number = tile.load_scalar %rows[%i] : !rows -> i32
    %next = arith.index_cast %number : i32 to index
    scf.yield %d, %next : tensor<64x64xf32, #mma>, index
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// Three tiles of one argument are read together, from a ring of two stages.
// REMARK: remark: [Missed] warps-not-specialized | {{.*}}more tiles are in use at once than the ring has stages
// CHECK-LABEL: tile.kernel @three
// CHECK-NOT: tile.warp_roles
tile.kernel @three(%k: !k) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %a = tile.alloc : !tile
  tile.copy %k[%c0, %c0], %a : !k, !tile
  %b = tile.alloc : !tile
  tile.copy %k[%c64, %c0], %b : !k, !tile
  %c = tile.alloc : !tile
  tile.copy %k[%c64, %c0], %c : !k, !tile
  %s = tile.dot %a, %b, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
  %t = tile.dot %a, %c, %s : !tile, !tile -> tensor<64x64xf32, #mma>
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>

// REMARK: remark: [Missed] warps-not-specialized | {{.*}}the tile is not stored as boxes
tile.kernel @padded(%k: !k) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.alloc : !tile
  tile.copy %k[%c0, %c0], %a : !k, !tile
  %s = tile.load %a[%c0, %c0] : !tile -> tensor<64x64xf16, #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>>
}

// -----

!rows = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!head = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>

// Tiles of one dimension: an iteration uses two tiles of one ring, which holds the
// tiles of two iterations.
// REMARK: remark: [Passed] warps-specialized | Category:tile-specialize-warps | {{.*}}rings=1, stages=4
// CHECK-LABEL: tile.kernel @two_rows
tile.kernel @two_rows(%x: !rows) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %x[2] : !rows
  tile.grid %c1, %c1, %c1
  %b = tile.program_id x
  %first = tile.slice %x[%b, %c0, *] : !rows to !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
  %second = tile.slice %x[%b, %c1, *] : !rows to !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
  %zero = arith.constant dense<0.0> : tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero)
      -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>> {
    %u = tile.alloc : !row
    tile.copy %first[%i], %u : !head, !row
    %v = tile.alloc : !row
    tile.copy %second[%i], %v : !head, !row
    %a = tile.load %u[%c0] : !row -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
    %b1 = tile.load %v[%c0] : !row -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
    %t = arith.addf %a, %b1 : tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
    %d = arith.addf %s, %t : tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
    scf.yield %d : tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
  }
}
// CHECK: tile.alloc : !tile.buffer<4x64xf32
// CHECK: tile.warp_roles
// CHECK: }, {
// CHECK: scf.for
// CHECK: tile.bulk_copy %arg0[%{{.*}}, %c0, %{{.*}}] dims [2], %{{.*}} : {{.*}}!tile.buffer<64xf32
// CHECK: tile.bulk_copy %arg0[%{{.*}}, %c1, %{{.*}}] dims [2]
// RING-LABEL: tile.kernel @two_rows
// RING-COUNT-2: tile.ring.release %{{.*}} fenced

// -----

// The second tile waits for the slot of the first one, whose release must not be
// delayed: it has its own fence.

!rows = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>

// RING-LABEL: tile.kernel @one_slot
// RING: scf.for
// RING: tile.fence_async
// RING-NEXT: tile.ring.release %{{[^ ]+$}}
// RING: tile.fence_async
// RING-NEXT: tile.ring.release %{{[^ ]+$}}
tile.kernel @one_slot(%x: !rows) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %x[0] : !rows
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c64 {
    %u = tile.alloc : !row
    tile.copy %x[%i], %u : !rows, !row
    %a = tile.load %u[%c0] : !row -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
    %v = tile.alloc : !row
    tile.copy %x[%c0], %v : !rows, !row
    %b = tile.load %v[%c0] : !row -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
  }
}

// -----

// A part of a row whose length is a multiple of the tile: no tile goes beyond its end.

!x = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!part = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>

// CHECK-LABEL: tile.kernel @whole_tiles
// CHECK-SAME: %[[X:[^:]*]]: {{.*}}, %[[N:[^:]*]]: index, %[[AT:[^:]*]]: index
// CHECK: }, {
// CHECK: %[[START:.*]] = arith.muli %[[AT]], %c4
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: %[[PLACE:.*]] = arith.addi %[[START]], %[[I]] : index
// CHECK: tile.bulk_copy %[[X]][%[[PLACE]]] dims [0], %{{.*}} : !tile.buffer<?xf32
tile.kernel @whole_tiles(%x: !x, %n: index, %at: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = arith.maxsi %n, %c0 : index
  %blocks = arith.ceildivui %rows, %c128 : index
  %length = arith.muli %blocks, %c128 : index
  %start = arith.muli %at, %c4 : index
  %one = tile.narrow %x[0] from %start length %length : !x to !part
  %end = arith.minsi %rows, %at : index
  scf.for %i = %c0 to %end step %c64 {
    %r = tile.alloc : !row
    tile.copy %one[%i], %r : !part, !row
    %v = tile.load %r[%c0] : !row -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
  }
}

// -----

// The loop may go beyond the end of the part.

!x = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!part = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>

// REMARK: remark: [Missed] warps-not-specialized | {{.*}}the end of one sequence is no multiple of 16 bytes
// CHECK-LABEL: tile.kernel @beyond
// CHECK-NOT: tile.warp_roles
tile.kernel @beyond(%x: !x, %n: index, %at: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %blocks = arith.divui %n, %c64 : index
  %length = arith.muli %blocks, %c64 : index
  %start = arith.muli %at, %c4 : index
  %one = tile.narrow %x[0] from %start length %length : !x to !part
  scf.for %i = %c0 to %n step %c64 {
    %r = tile.alloc : !row
    tile.copy %one[%i], %r : !part, !row
    %v = tile.load %r[%c0] : !row -> tensor<64xf32, #tile.slice<1, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
  }
}

// -----

// The next kernel may start before the roles; every role waits for the preceding kernel.

!q = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// CHECK-LABEL: tile.kernel @waits
tile.kernel @waits(%q: !q, %k: !q) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.launch_dependents
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %qs = tile.alloc : !tile
  tile.copy %q[%c0, %c0], %qs : !q, !tile
  tile.wait_prerequisites
  %ks = tile.alloc : !tile
  tile.copy %k[%c0, %c0], %ks : !q, !tile
  %s = tile.dot %qs, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}
// CHECK: tile.launch_dependents
// CHECK: tile.warp_roles warps = [4, 4] {
// CHECK-NOT: tile.launch_dependents
// CHECK: tile.wait_prerequisites
// CHECK: tile.wait_barrier
// CHECK: }, {
// CHECK: tile.bulk_copy %arg0
// CHECK-NEXT: tile.wait_prerequisites
// CHECK-NEXT: tile.bulk_copy %arg1

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// While the only buffer of a ring is in use, the next tile is prefetched to the L2
// cache.
// CHECK-LABEL: tile.kernel @one_buffer
tile.kernel @one_buffer(%k: !k, %o: !k, %n: index)
    attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.alloc : !tile
    tile.copy %k[%i, %c0], %t : !k, !tile
    %v = tile.load %t[%c0, %c0] : !tile -> tensor<64x64xf16, #mma>
    tile.store %v, %o[%i, %c0] : tensor<64x64xf16, #mma>, !k
  } {tile.schedule = #tile.schedule<stages = 1>}
  // CHECK: }, {
  // CHECK: tile.bulk_prefetch %{{.*}}[%[[I:.*]], %c0] dims [0, 1] as !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  // CHECK: tile.wait_barrier
  // CHECK: tile.bulk_copy %{{.*}}[%[[I]], %c0]
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!sums = !tile.buffer<?x64xf32, #tile.map<(i, j) -> (i floordiv 8, j floordiv 4, (i mod 8) * 4 + j mod 4), align = 16>, global>
!few = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// A third role adds the tiles for %sums, through a ring. Other additions stay: runs
// of %few are too short, an addition after the loop overlaps with nothing, and TMA
// adds in the scope of the device.
// REMARK: remark: [Missed] sum-from-registers | Category:tile-specialize-warps | Reason="only 256 bytes at a time are neighbours in its buffer"
// REMARK: remark: [Missed] sum-from-registers | Category:tile-specialize-warps | Reason="TMA adds floats, relaxed, in the scope of the device, and returns nothing"
// REMARK: remark: [Missed] sum-from-registers | Category:tile-specialize-warps | Reason="nothing runs beside it, which is in no loop"
// REMARK: remark: [Passed] warps-specialized | Category:tile-specialize-warps | {{.*}}rings=2, stages=2
// CHECK-LABEL: tile.kernel @sums
// CHECK-NOT: #tile.schedule
tile.kernel @sums(%k: !k, %sums: !sums, %few: !few) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 1, storers = 3, registers = [240, 24]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k[0] : !k
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  // CHECK: tile.alloc : !tile.buffer<64x64xf32, #map, shared>
  // CHECK: tile.init_barriers %[[FULL:.*]], 4
  // CHECK-NEXT: tile.init_barriers %[[EMPTY:.*]], 1
  // CHECK: tile.warp_roles warps = [4, 1, 3] registers = [240, 24, 24] {
  // CHECK: scf.for
  // CHECK: %[[D:.*]] = tile.dot
  // CHECK: tile.wait_barrier %[[EMPTY]]
  // CHECK-NEXT: tile.store %[[D]], %[[STAGED:.*]][%{{.*}}, %{{.*}}]
  // CHECK-NEXT: tile.fence_async
  // CHECK-NEXT: tile.arrive_barrier %[[FULL]]
  // CHECK-NEXT: tile.atomic_rmw addf %[[D]], %arg2
  // CHECK-NEXT: tile.atomic_rmw addf %[[D]], %arg1{{.*}} scope(system)
  // A sum behind the loop takes the same ring.
  // CHECK: tile.wait_barrier %[[EMPTY]]
  // CHECK: tile.arrive_barrier %[[FULL]]
  // CHECK: tile.atomic_rmw addf %{{.*}}, %arg1{{.*}} tensor<64x32xf32
  // CHECK: }, {
  // CHECK: tile.bulk_copy
  // CHECK: }, {
  // CHECK-NOT: tile.bulk_copy
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
  // CHECK: tile.wait_barrier %[[FULL]]
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: tile.bulk_add %[[STAGED]], %arg1[%[[I]], %{{.*}}]
  // CHECK: tile.bulk_wait 0 read
  // CHECK-NEXT: tile.arrive_barrier %[[EMPTY]]
  scf.for %i = %c0 to %n step %c64 {
    %ks = tile.alloc : !tile
    tile.copy %k[%i, %c0], %ks : !k, !tile
    %d = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.atomic_rmw addf %d, %sums[%i, %c0] : tensor<64x64xf32, #mma>, !sums
    tile.atomic_rmw addf %d, %few[%i, %c0] : tensor<64x64xf32, #mma>, !few
    tile.atomic_rmw addf %d, %sums[%i, %c0] scope(system) : tensor<64x64xf32, #mma>, !sums
  }
  tile.atomic_rmw addf %zero, %sums[%c0, %c0] : tensor<64x64xf32, #mma>, !sums
  %narrow = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
  tile.atomic_rmw addf %narrow, %sums[%c0, %c0] : tensor<64x32xf32, #mma>, !sums
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!sums = !tile.buffer<?x64xf32, #tile.map<(i, j) -> (i floordiv 8, j floordiv 4, (i mod 8) * 4 + j mod 4), align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// An addition that releases covers the one before it, which TMA must not add late.
// REMARK: remark: [Missed] sum-from-registers | Category:tile-specialize-warps | Reason="an atomic operation of the kernel releases what it wrote"
// REMARK: remark: [Missed] sum-from-registers | Category:tile-specialize-warps | Reason="TMA adds floats, relaxed, in the scope of the device, and returns nothing"
// CHECK-LABEL: tile.kernel @released
// CHECK: tile.warp_roles
// CHECK: tile.atomic_rmw addf %{{.*}}, %arg1[%{{.*}}] : tensor
// CHECK: tile.atomic_rmw addf %{{.*}}, %arg1{{.*}} order(release)
// CHECK-NOT: tile.bulk_add
// CHECK: tile.kernel
tile.kernel @released(%k: !k, %sums: !sums) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 1, storers = 3, registers = [240, 24]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k[0] : !k
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  scf.for %i = %c0 to %n step %c64 {
    %ks = tile.alloc : !tile
    tile.copy %k[%i, %c0], %ks : !k, !tile
    %d = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.atomic_rmw addf %d, %sums[%i, %c0] : tensor<64x64xf32, #mma>, !sums
    tile.atomic_rmw addf %d, %sums[%i, %c0] order(release) : tensor<64x64xf32, #mma>, !sums
  }
}

// -----

!k = !tile.buffer<?x256xf16, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!kt = !tile.buffer<128x256xf16, #tile.swizzle<128>, shared>
!kc = !tile.buffer<256x128xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
!vt = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!sums = !tile.buffer<?x128xf32, #tile.strided<[?:4, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// The sums and two stages of both rings do not fit. The tiles of V are in use while
// those of K are, too: their ring gives up a stage.
// REMARK: remark: [Passed] warps-specialized | Category:tile-specialize-warps | bytes=229512, {{.*}}rings=3, stages=2
// RING-LABEL: tile.kernel @sums_and_stages
// RING: tile.ring.create {{.*}} : !tile.ring<!tile.buffer<128x256xf16, {{.*}}>, 2>
// RING: tile.ring.create {{.*}} : !tile.ring<!tile.buffer<128x128xf16, {{.*}}>, 1>
// RING: tile.warp_roles warps = [4, 1, 3] {
tile.kernel @sums_and_stages(%k: !k, %v: !v, %sums: !sums, %n: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 1, storers = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
  scf.for %i = %c0 to %n step %c128 {
    %ks = tile.alloc : !kt
    tile.copy %k[%i, %c0], %ks : !k, !kt
    %vs = tile.alloc : !vt
    tile.copy %v[%i, %c0], %vs : !v, !vt
    %kc = tile.transpose %ks [1, 0] : !kt -> !kc
    %s = tile.dot %ks, %kc, %zero : !kt, !kc -> tensor<128x128xf32, #mma>
    %t = tile.dot %vs, %vs, %s : !vt, !vt -> tensor<128x128xf32, #mma>
    %u = tile.dot %ks, %kc, %t : !kt, !kc -> tensor<128x128xf32, #mma>
    tile.atomic_rmw addf %u, %sums[%i, %c0] : tensor<128x128xf32, #mma>, !sums
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!sums = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// The sums past the end of a sequence belong to the next one: a ragged tensor map bounds the
// addition, from a tile with a swizzle.
// REMARK: remark: [Passed] warps-specialized | Category:tile-specialize-warps | {{.*}}rings=2, stages=2
// CHECK-LABEL: tile.kernel @sums_of_part
tile.kernel @sums_of_part(%k: !k, %sums: !sums, %start: index, %length: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 1, storers = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %one = tile.narrow %sums[0] from %start length %length : !sums to !sums
  // CHECK: %[[STAGED:.*]] = tile.alloc : !tile.buffer<64x64xf32, #tile.swizzle<128>, shared>
  // CHECK: tile.warp_roles warps = [4, 1, 3] {
  // CHECK: tile.store %{{.*}}, %[[STAGED]]
  // CHECK: }, {
  // CHECK: }, {
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
  // CHECK: tile.wait_barrier
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: tile.bulk_reduce add %[[STAGED]], %arg1[%[[I]], %{{.*}}] dims [0, 1] within %arg2, %arg3
  // CHECK: tile.bulk_wait 0 read
  scf.for %i = %c0 to %length step %c64 {
    %ks = tile.alloc : !tile
    tile.copy %k[%i, %c0], %ks : !k, !tile
    %d = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    tile.atomic_rmw addf %d, %one[%i, %c0] : tensor<64x64xf32, #mma>, !sums
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// Producer warps read a page table that the kernel never writes, in their own loop.
// REMARK: remark: [Passed] warps-specialized | {{.*}}rings=1, stages=2
// CHECK-LABEL: tile.kernel @paged
// CHECK: tile.warp_roles
// CHECK: }, {
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: %[[PAGE:.*]] = tile.load_scalar %arg1[%[[I]]]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[PAGE]]
// CHECK: tile.bulk_copy %arg0[%[[ROW]], %{{.*}}]
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
tile.kernel @paged(%k: !k, %table: !table, %n: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  scf.for %i = %c0 to %n step %c1 {
    %ks = tile.alloc : !tile
    %page = tile.load_scalar %table[%i] : !table -> i32
    %row = arith.index_cast %page : i32 to index
    tile.copy %k[%row, %c0], %ks : !k, !tile
    %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// The preceding kernel may write the start of the sequence: the producers read it
// after they have waited for that kernel. The consumers do not need it.
// REMARK: remark: [Passed] warps-specialized | {{.*}}rings=1, stages=1
// CHECK-LABEL: tile.kernel @dependent
// CHECK-NOT: tile.load_scalar
// CHECK: tile.wait_prerequisites
// CHECK-NOT: tile.load_scalar
// CHECK: }, {
// CHECK-NOT: tile.load_scalar
// CHECK: tile.wait_prerequisites
// CHECK-NEXT: tile.load_scalar %arg1
// CHECK: tile.bulk_copy
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
tile.kernel @dependent(%k: !k, %cu: !cu) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.wait_prerequisites
  %number = tile.load_scalar %cu[%c0] : !cu -> i32
  %start = arith.index_cast %number : i32 to index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %ks = tile.alloc : !tile
  tile.copy %k[%start, %c0], %ks : !k, !tile
  %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// Producer warps would read ahead of what consumer warps write.
// REMARK: remark: [Missed] warps-not-specialized | {{.*}}the kernel writes its source
// CHECK-LABEL: tile.kernel @in_place
// CHECK-NOT: tile.warp_roles
tile.kernel @in_place(%k: !k, %n: index) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  scf.for %i = %c0 to %n step %c1 {
    %ks = tile.alloc : !tile
    tile.copy %k[%i, %c0], %ks : !k, !tile
    %s = tile.dot %ks, %ks, %zero : !tile, !tile -> tensor<64x64xf32, #mma>
    %t = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    tile.store %t, %k[%i, %c0] : tensor<64x64xf16, #mma>, !k
  }
}

// -----

!q = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!k = !tile.buffer<?x32xf16, #tile.strided<[?:8, 1], align = 16>, global>
!qtile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!ktile = !tile.buffer<64x32xf16, #tile.swizzle<64>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// A tile that stays for all iterations of an inner loop has one buffer; the tiles of
// the inner loop have the stages of the kernel.
// REMARK: remark: [Passed] warps-specialized | {{.*}}rings=2, stages=3
// CHECK-LABEL: tile.kernel @outer_loop
// CHECK: tile.alloc : !tile.buffer<64x64xf16
// CHECK-NEXT: tile.alloc : !tile.buffer<1xi64
// CHECK-NEXT: tile.alloc : !tile.buffer<1xi64
// CHECK: tile.alloc : !tile.buffer<3x64x32xf16
tile.kernel @outer_loop(%q: !q, %k: !k, %o: !q, %p: !k, %n: index)
    attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c64 {
    %qt = tile.alloc : !qtile
    tile.copy %q[%i, %c0], %qt : !q, !qtile
    scf.for %j = %c0 to %n step %c64 {
      %kt = tile.alloc : !ktile
      tile.copy %k[%j, %c0], %kt : !k, !ktile
      %v = tile.load %kt[%c0, %c0] : !ktile -> tensor<64x32xf16, #mma>
      tile.store %v, %p[%j, %c0] : tensor<64x32xf16, #mma>, !k
    }
    %w = tile.load %qt[%c0, %c0] : !qtile -> tensor<64x64xf16, #mma>
    tile.store %w, %o[%i, %c0] : tensor<64x64xf16, #mma>, !q
  }
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// 29 stages of 8 KB do not fit in shared memory, 28 do.
// REMARK: remark: [Passed] warps-specialized | {{.*}}rings=1, stages=28
// CHECK-LABEL: tile.kernel @shorter_ring
// CHECK: tile.alloc : !tile.buffer<28x64x64xf16
tile.kernel @shorter_ring(%k: !k, %o: !k) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4, stages = 29>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k[0] : !k
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c64 {
    %ks = tile.alloc : !tile
    tile.copy %k[%i, %c0], %ks : !k, !tile
    %v = tile.load %ks[%c0, %c0] : !tile -> tensor<64x64xf16, #mma>
    tile.store %v, %o[%i, %c0] : tensor<64x64xf16, #mma>, !k
  }
}

// -----

!m = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!out = !tile.buffer<?x64xf32, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!sums = !tile.buffer<64x64xf32, #tile.padded<0, order = [1, 0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
#rows = #tile.blocked<thread = [1, 4], lane = [2, 16], warp = [4, 1], order = [1, 0]>
!acc = tensor<64x64xf32, #mma>

// A producer would wait for a free slot in the next iteration, and the consumers for its
// arrival at the barrier of the cluster.
// CHECK-LABEL: tile.kernel @exchange_in_loop(
// CHECK-NOT: tile.warp_roles
// CHECK: tile.cluster_reduce
// REMARK: remark: [Missed] warps-not-specialized | {{.*}}it copies tiles after the blocks of a cluster have waited for each other
tile.kernel @exchange_in_loop(%a: !m, %c: !out, %n: index)
    attributes {cluster_blocks = 2 : i32, num_warps = 4 : i32, schedule = #tile.schedule<producers = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.alloc : !tile
    tile.copy %a[%i, %c0], %t : !m, !tile
    %s = tile.dot %t, %t, %zero : !tile, !tile -> !acc
    %memory = tile.alloc : !sums
    tile.store %s, %memory[%c0, %c0] : !acc, !sums
    %sum = tile.cluster_reduce addf %memory : !sums -> tensor<32x64xf32, #rows>
    tile.store %sum, %c[%i, %c0] : tensor<32x64xf32, #rows>, !out
  }
}
