// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-plan-shared-memory,tile-insert-barriers),tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

!k = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>

// The tile is two boxes of 64 columns. The first role has its own named barrier.
// The other role runs in an elected thread of its first warp, after its warps have
// released registers.
// CHECK-LABEL: tile_gpu.manifest @roles {block = array<i64: 384, 1, 1>
// CHECK-SAME: {argument = 0 : i64, box = [64, 64, 1], dims = [2, 1, 0], kind = "tensor_map", swizzle = 128 : i64}
// CHECK-LABEL: gpu.func @roles
// CHECK-SAME: %[[MAP:arg[0-9]+]]: !llvm.ptr) kernel
// CHECK-SAME: nvvm.minctasm = 1
tile.kernel @roles(%k: !k, %row: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32 : !llvm.ptr<3>, i32
  // CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32
  // CHECK: nvvm.fence.mbarrier.init
  tile.init_barriers %full, 1 : !bars
  // CHECK: gpu.barrier
  tile.barrier
  // CHECK: gpu.shuffle idx
  // CHECK: %[[COMPUTES:.*]] = arith.cmpi ult, %{{.*}}, %c8_i32
  // CHECK: scf.if %[[COMPUTES]] {
  tile.warp_roles warps = [8, 4] registers = [240, 24] {
    // CHECK: nvvm.setmaxregister increase 240
    // CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %{{.*}}, %c0_i32 : !llvm.ptr<3>, i32, i32
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    // CHECK: nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
    tile.barrier
    // CHECK: nvvm.bar.warp.sync
    // CHECK: %[[LANE:.*]] = arith.andi
    // CHECK: setp.eq.u32 arrives, $1, 0;\0A@arrives mbarrier.arrive.shared::cta.b64 _, [$0];\0A}", "r,r,~{memory}" %{{.*}}, %[[LANE]]
    tile.arrive_barrier %full[%c1] : !bars
  // CHECK: } else {
  }, {
    // CHECK: nvvm.setmaxregister decrease 24
    // CHECK: %[[FIRST_WARP:.*]] = arith.cmpi eq, %{{.*}}, %c8_i32
    // CHECK: scf.if %[[FIRST_WARP]] {
    // CHECK: %[[ONE:.*]] = nvvm.elect.sync
    // CHECK: scf.if %[[ONE]] {
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[BAR:.*]], %c16384_i32 : !llvm.ptr<3>, i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[BAR]], box[%c0_i32, %{{.*}}, %c0_i32]
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[BAR]], box[%c64_i32, %{{.*}}, %c0_i32]
    tile.bulk_copy %k[%c0, %row, %c0] dims [1, 2], %t, %full[%c0] : !k, !tile, !bars
    // CHECK-NOT: bar.warp.sync
    // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
    tile.arrive_barrier %full[%c1] : !bars
  }
}

// Warpgroups take turns by named barriers after those of the roles: each one waits
// at its own barrier and arrives at that of the next. The last warpgroup lets the
// first one start.
// CHECK-LABEL: gpu.func @turns
tile.kernel @turns() attributes {num_warps = 12 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [12, 4] {
    // CHECK: scf.if
    // CHECK: %[[GROUP:shuffleResult_[0-9]+]], %{{.*}} = gpu.shuffle idx
    // CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[GROUP]], %c2_i32
    // CHECK: scf.if %[[IS_LAST]] {
    // CHECK-NEXT: nvvm.barrier.arrive id = %c3_i32 number_of_threads = %c256_i32
    // CHECK: %[[OWN:.*]] = arith.addi %[[GROUP]], %c3_i32
    // CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %c256_i32
    tile.await_turn
    // CHECK: %[[AFTER:.*]] = arith.addi %[[GROUP]], %c1_i32
    // CHECK: %[[NEXT:.*]] = arith.select %[[IS_LAST]], %c0_i32, %[[AFTER]]
    // CHECK: %[[OTHER:.*]] = arith.addi %[[NEXT]], %c3_i32
    // CHECK: nvvm.barrier.arrive id = %[[OTHER]] number_of_threads = %c256_i32
    tile.pass_turn
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

// Copies that a sequence bounds (kRaggedRows in Chips/NVIDIA/TensorMap.h).
// CHECK-LABEL: tile_gpu.manifest @ragged {
// CHECK-SAME: {argument = 0 : i64, box = [64, 64, 1], dims = [2, 0, 1], kind = "tensor_map", ragged = 0 : i64, swizzle = 128 : i64}
// CHECK-LABEL: gpu.func @ragged
// CHECK-SAME: %[[MAP:arg[0-9]+]]: !llvm.ptr) kernel
!p = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!t = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!b = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
tile.kernel @ragged(%p: !p, %row: index, %start: index, %length: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !t
  %full = tile.alloc : !b
  tile.init_barriers %full, 1 : !b
  tile.barrier
  tile.warp_roles warps = [4, 4] {
    tile.wait_barrier %full[%c0] phase %c0 : !b
  }, {
    // CHECK-DAG: %[[ALL:.*]] = arith.constant 1073741824 : i32
    // CHECK: %[[START:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[LENGTH:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[FIRST:.*]] = arith.subi %[[ALL]], %[[LENGTH]]
    // CHECK: %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[ROW]]
    // CHECK: %[[END:.*]] = arith.addi %[[START]], %[[LENGTH]]
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%{{.*}}, %[[PLACE]], %{{.*}}, %[[END]], %[[ALL]]]
    tile.bulk_copy %p[%row, %c0, %c0] dims [0, 2] within %start, %length, %t, %full[%c0] : !p, !t, !b
  }
}

// -----

// A source of more dimensions: an offset in units of 16 bytes replaces those along
// which the tile does not extend.
// CHECK-LABEL: tile_gpu.manifest @ragged_with_offset {
// CHECK-SAME: {argument = 0 : i64, box = [64, 64], dims = [3, 1], kind = "tensor_map", ragged = 1 : i64, swizzle = 128 : i64}
// CHECK-LABEL: gpu.func @ragged_with_offset
// CHECK-SAME: %[[MAP:arg[0-9]+]]: !llvm.ptr) kernel
!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!t = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!b = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
tile.kernel @ragged_with_offset(%q: !q, %i: index, %j: index, %row: index, %length: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !t
  %full = tile.alloc : !b
  tile.init_barriers %full, 1 : !b
  tile.barrier
  tile.warp_roles warps = [4, 4] {
    tile.wait_barrier %full[%c0] phase %c0 : !b
  }, {
    // CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : index
    // CHECK: %[[UNITS:.*]] = arith.divui %[[SUM]], %c8 : index
    // CHECK: %[[OFFSET:.*]] = arith.index_castui %[[UNITS]] : index to i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%{{.*}}, %{{.*}}, %[[OFFSET]], %{{.*}}, %{{.*}}]
    tile.bulk_copy %q[%i, %row, %j, %c0] dims [1, 3] within %c0, %length, %t, %full[%c0] : !q, !t, !b
  }
}

// -----

// Rows in pages: a box for each page, whose entries are read together. The copies
// complete the bytes of the whole tile.
// CHECK-LABEL: tile_gpu.manifest @pages {
// CHECK-SAME: {argument = 0 : i64, box = [64, 16], dims = [3, 1], kind = "tensor_map", ragged = 1 : i64, swizzle = 128 : i64}
// CHECK-LABEL: gpu.func @pages
!pages = !tile.buffer<?x48x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t = !tile.buffer<32x128xf16, #tile.swizzle<128>, shared>
!b = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
tile.kernel @pages(%k: !pages, %table: !table, %h: index, %tile: index, %length: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !t
  %full = tile.alloc : !b
  tile.init_barriers %full, 1 : !b
  tile.barrier
  tile.warp_roles warps = [4, 4] {
    tile.wait_barrier %full[%c0] phase %c0 : !b
  }, {
    // All lanes wait for the kernel that may have written the table.
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 8192 : i32
    // CHECK-NOT: nvvm.elect.sync
    // CHECK: nvvm.griddepcontrol wait
    // CHECK: %[[ELECTED:.*]] = nvvm.elect.sync
    // CHECK: scf.if %[[ELECTED]]
    // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx {{.*}}%[[BYTES]]
    // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
    // CHECK: %[[PAGE:.*]] = scf.if %{{.*}} -> (i32)
    // CHECK: memref.load
    // CHECK-NOT: memref.load
    // CHECK: arith.cmpi ult, %[[PAGE]],
    // CHECK: %[[COPIES:.*]] = arith.cmpi ult, %[[LANE]], %c2_i32
    // CHECK: scf.if %[[COPIES]]
    // CHECK: %[[LEFT:.*]] = arith.minsi %{{.*}}, %c16_i32
    // CHECK: arith.select %{{.*}}, %[[LEFT]], %c0_i32
    // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor
    // CHECK-NOT: nvvm.cp.async.bulk.tensor
    tile.wait_prerequisites
    %row = arith.muli %tile, %c32 : index
    tile.bulk_copy %k[%c0, %row, %h, %c0] dims [1, 3] within %c0, %length pages along 0 by %table, %t, %full[%c0]
        : !pages, !t by !table, !b
  }
}

// -----

!k = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>

// To save registers, a whole warp runs waits and counters, and a thread is elected
// for each operation with effects. The first role does not do this.
// CHECK-LABEL: gpu.func @saves
// CHECK-SAME: tile.schedule = #tile.schedule<save_registers>
tile.kernel @saves(%k: !k, %row: index) attributes {num_warps = 8 : i32, schedule = #tile.schedule<save_registers>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  tile.init_barriers %full, 1 : !bars
  tile.barrier
  // CHECK: nvvm.setmaxregister increase 240
  tile.warp_roles warps = [8, 4] registers = [240, 24] {
    // CHECK-NOT: nvvm.elect.sync
    // CHECK: @arrives mbarrier.arrive
    tile.arrive_barrier %full[%c1] : !bars
  }, {
    // CHECK: nvvm.setmaxregister decrease 24
    // CHECK: arith.cmpi eq, %{{.*}}, %c8_i32
    // CHECK-NOT: nvvm.elect.sync
    // CHECK: scf.for
    scf.for %i = %c0 to %row step %c1 {
      // CHECK: nvvm.mbarrier.try_wait.parity
      tile.wait_barrier %full[%c1] phase %c0 : !bars
      // CHECK-NEXT: %[[COPIES:.*]] = nvvm.elect.sync
      // CHECK-NEXT: scf.if %[[COPIES]] {
      // CHECK: nvvm.mbarrier.arrive.expect_tx
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      // CHECK-NEXT: }
      tile.bulk_copy %k[%c0, %i, %c0] dims [1, 2], %t, %full[%c0] : !k, !tile, !bars
      // CHECK-NEXT: %[[ARRIVES:.*]] = nvvm.elect.sync
      // CHECK-NEXT: scf.if %[[ARRIVES]] {
      // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
      // CHECK-NEXT: }
      tile.arrive_barrier %full[%c1] : !bars
    }
  }
}
