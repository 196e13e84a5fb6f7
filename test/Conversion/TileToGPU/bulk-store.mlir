// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-plan-shared-memory,tile-insert-barriers),tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

!o = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>

// The tile is two boxes of 64 columns. Each of four warps has 16 rows of both
// boxes, at a distance of 8192 elements, and one of its lanes stores them.
// CHECK-LABEL: tile_gpu.manifest @parts {
// CHECK-SAME: {argument = 0 : i64, box = [64, 16, 1], dims = [2, 1, 0], kind = "tensor_map", swizzle = 128 : i64}
// CHECK-LABEL: gpu.func @parts
// CHECK-SAME: %[[MAP:arg[0-9]+]]: !llvm.ptr) kernel
tile.kernel @parts(%o: !o, %row: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // CHECK: nvvm.bar.warp.sync
  // CHECK: %[[E:.*]] = nvvm.elect.sync
  // CHECK: %[[WARP:.*]], %{{.*}} = gpu.shuffle idx
  // CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]], %c16_i32
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[FIRST]]
  // CHECK: arith.muli %[[WARP]], %c1024_i32
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %{{.*}}, box[%c0_i32, %[[AT]], %c0_i32], predicate = %[[E]] : !llvm.ptr, <3>
  // CHECK: arith.addi %{{.*}}, %c4096
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %{{.*}}, box[%c64_i32, %[[AT]], %c0_i32], predicate = %[[E]]
  // CHECK: nvvm.cp.async.bulk.commit.group
  tile.bulk_store %t, %o[%c0, %row, %c0] dims [1, 2] parts [4, 1] : !tile, !o
  // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK: nvvm.bar.warp.sync
  tile.bulk_wait 0 read
}

// One lane of the first warp, or the thread of another role, stores the whole tile.
// CHECK-LABEL: tile_gpu.manifest @whole {
// CHECK-SAME: box = [64, 64, 1]
// CHECK-LABEL: gpu.func @whole
tile.kernel @whole(%o: !o, %row: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  tile.warp_roles warps = [4, 4] {
    // CHECK: %[[E:.*]] = nvvm.elect.sync
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq
    // CHECK: %[[ONE:.*]] = arith.andi %[[E]], %[[FIRST]]
    // CHECK: %[[POLICY:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0;", "=l"
    // CHECK: "@$5 cp.async.bulk.tensor.3d.global.shared::cta.bulk_group.L2::cache_hint [$1, {$2, $3, $4}], [$0], $6;", "r,l,r,r,r,b,l,~{memory}" {{.*}}, %[[ONE]], %[[POLICY]]
    tile.bulk_store %t, %o[%c0, %row, %c0] dims [1, 2] cache(evict_first) : !tile, !o
    tile.bulk_wait 0
  }, {
    // CHECK: nvvm.cp.async.bulk.tensor.prefetch
    tile.bulk_prefetch %o[%c0, %row, %c0] dims [1, 2] as !tile : !o
    // CHECK: nvvm.cp.async.bulk.tensor.reduce {{.*}} {{{.*}}redKind = #nvvm.tma_redux_kind<add>
    tile.bulk_reduce add %t, %o[%c0, %row, %c0] dims [1, 2] : !tile, !o
    // CHECK: nvvm.cp.async.bulk.wait_group 0
    // CHECK-NOT: nvvm.bar.warp.sync
    tile.bulk_wait 0
  }
}

// A range of rows bounds the store (kRaggedRows in Chips/NVIDIA/TensorMap.h). The first row
// of each warp's part is added to the coordinate.
// CHECK-LABEL: tile_gpu.manifest @part {
// CHECK-SAME: {argument = 0 : i64, box = [64, 16, 1], dims = [2, 0, 1], kind = "tensor_map", ragged = 0 : i64, swizzle = 128 : i64}
// CHECK-SAME: {argument = 0 : i64, box = [64, 64, 1], dims = [2, 0, 1], kind = "tensor_map", ragged = 0 : i64, swizzle = 128 : i64}
// CHECK-LABEL: gpu.func @part
tile.kernel @part(%o: !o, %row: index, %start: index, %length: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  tile.warp_roles warps = [4, 4] {
    // CHECK-DAG: %[[ALL:.*]] = arith.constant 1073741824 : i32
    // CHECK-DAG: %[[FIRST:.*]] = arith.subi %[[ALL]], %[[LENGTH:.*]] : i32
    // CHECK-DAG: %[[ROW:.*]] = arith.addi %[[FIRST]], %{{.*}} : i32
    // CHECK-DAG: %[[END:.*]] = arith.addi %{{.*}}, %[[LENGTH]] : i32
    // CHECK: %[[MINE:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%c0_i32, %[[MINE]], %c0_i32, %[[END]], %[[ALL]]]
    tile.bulk_store %t, %o[%row, %c0, %c0] dims [0, 2] within %start, %length parts [4, 1] : !tile, !o
    tile.bulk_wait 0
  }, {
    // CHECK: nvvm.cp.async.bulk.tensor.reduce %{{.*}}, %{{.*}}, box[%c0_i32, %{{.*}}, %c0_i32, %{{.*}}, %{{.*}}]
    tile.bulk_reduce add %t, %o[%row, %c0, %c0] dims [0, 2] within %start, %length : !tile, !o
    tile.bulk_wait 0
  }
}

// A range of rows of a buffer with more dimensions: their offset, in units of 16 bytes.

!heads = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!half = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
// CHECK-LABEL: gpu.func @within
// CHECK: %[[OFFSET:.*]] = arith.divui %{{.*}}, %c8 : index
// CHECK: %[[UNITS:.*]] = arith.index_castui %[[OFFSET]]
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%{{.*}}, %{{.*}}, %[[UNITS]], %{{.*}}, %{{.*}}]
tile.kernel @within(%o: !heads, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !half
  tile.bulk_store %t, %o[%c1, %c0, %c1, %c0] dims [1, 3] within %c0, %n : !half, !heads
  tile.bulk_wait 0
}
