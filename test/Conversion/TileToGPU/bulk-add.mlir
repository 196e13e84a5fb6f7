// One bulk reduction adds a run that is contiguous in both buffers and is either
// inside the extents or in a block that is stored as a whole.
//
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-plan-shared-memory,tile-insert-barriers),tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_89},tile.kernel(tile-plan-shared-memory,tile-insert-barriers),tile-vectorize)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OLD
// OLD: error: 'tile.bulk_add' op needs TMA, which sm_89 does not have

!rows = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
!all = !tile.buffer<128x64xf32, #tile.strided<[64, 1], align = 16>, global>
#blocks = #tile.map<(i, j) -> (i floordiv 8, j floordiv 16, (i mod 8) * 16 + j mod 16), align = 16>
!map = !tile.buffer<?x64xf32, #blocks, global>
!plain = !tile.buffer<16x64xf32, #tile.padded<0, order = [1, 0]>, shared>
!staged = !tile.buffer<16x64xf32, #blocks, shared>

// CHECK-LABEL: gpu.func @add
tile.kernel @add(%rows: !rows, %all: !all, %map: !map, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %c1, %c1, %c1
  %i = arith.muli %n, %c16 : index
  %p = tile.alloc : !plain
  %s = tile.alloc : !staged
  tile.warp_roles warps = [4, 1] {
    %a = arith.constant 0 : i32
  }, {
    // One row per run, because the distance between rows is unknown.
    // CHECK-COUNT-16: "@$2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], 256;", "l,r,b,~{memory}" %{{.*}}, %{{.*}}, %{{[0-9]+}} :
    // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
    tile.bulk_add %p, %rows[%i, %c0] : !plain, !rows
    // One run for the whole tile: the distance is known and all rows exist.
    // CHECK: cp.reduce.async.bulk{{.*}}, 4096;", {{.*}}, %true :
    // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
    tile.bulk_add %p, %all[%c0, %c0] : !plain, !all
    // Eight rows per run, some of which may not exist.
    // CHECK-COUNT-2: cp.reduce.async.bulk{{.*}}, 2048;", {{.*}}, %{{[0-9]+}} :
    // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
    tile.bulk_add %s, %map[%i, %c0] : !staged, !map
    // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    tile.bulk_wait 0 read
  }
}
