// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},gpu.module(tile-to-nvgpu))' \
// RUN:   | FileCheck %s
// RUN: not tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_89},gpu.module(tile-to-nvgpu))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OLD

!shared = memref<?xf16, #gpu.address_space<workgroup>>
!bars = memref<?xi64, #gpu.address_space<workgroup>>

gpu.module @m {
  // CHECK-LABEL: gpu.func @store
  // OLD: error: 'tile_gpu.elect' op is not available on sm_89
  // OLD: error: 'tile_gpu.bulk_store' op is not available on sm_89
  gpu.func @store(%m: !shared, %i: index, %map: !llvm.ptr, %x: i32, %y: i32) {
    // CHECK: %[[E:.*]] = nvvm.elect.sync -> i1
    %e = tile_gpu.elect
    // CHECK: "@$4 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$1, {$2, $3}], [$0];", "r,l,r,r,b,~{memory}" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[E]]
    tile_gpu.bulk_store %m[%i], %map[%x, %y] if %e : !shared, !llvm.ptr
    // CHECK: %[[P:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0;", "=l"  : () -> i64
    // CHECK: "@$3 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.L2::cache_hint [$1, {$2}], [$0], $4;", "r,l,r,b,l,~{memory}" %{{.*}}, %{{.*}}, %{{.*}}, %[[E]], %[[P]]
    tile_gpu.bulk_store %m[%i], %map[%x] if %e cache(evict_first) : !shared, !llvm.ptr
    // CHECK: "@$4 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [$1, {$2, $3}], [$0];"
    tile_gpu.bulk_reduce add %m[%i], %map[%x, %y] if %e : !shared, !llvm.ptr
    // CHECK: nvvm.cp.async.bulk.commit.group
    tile_gpu.bulk_commit
    // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
    tile_gpu.bulk_wait 1 {read}
    // CHECK: nvvm.cp.async.bulk.wait_group 0
    // CHECK-NOT: read
    tile_gpu.bulk_wait 0
    gpu.return
  }

  // CHECK-LABEL: gpu.func @add
  gpu.func @add(%m: !shared, %g: memref<?xf16, #gpu.address_space<global>>, %i: index, %e: i1,
                %d: memref<?xf64, #gpu.address_space<workgroup>>, %h: memref<?xf64, #gpu.address_space<global>>) {
    // CHECK: "@$2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [$0], [$1], 2048;", "l,r,b,~{memory}"
    tile_gpu.bulk_add %m[%i], %g[%i], 1024 if %e : !shared, memref<?xf16, #gpu.address_space<global>>
    // CHECK: "@$2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [$0], [$1], 16;", "l,r,b,~{memory}"
    tile_gpu.bulk_add %d[%i], %h[%i], 2 if %e : memref<?xf64, #gpu.address_space<workgroup>>, memref<?xf64, #gpu.address_space<global>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @hints
  gpu.func @hints(%m: !shared, %bars: !bars, %i: index, %map: !llvm.ptr, %x: i32, %y: i32) {
    // CHECK: "prefetch.tensormap [$0];", "l,~{memory}"
    tile_gpu.prefetch_map %map : !llvm.ptr
    // CHECK: "cp.async.bulk.prefetch.tensor.2d.L2.global [$0, {$1, $2}];", "l,r,r,~{memory}"
    tile_gpu.bulk_prefetch %map[%x, %y] : !llvm.ptr
    // CHECK: %[[P:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_last.b64 $0;", "=l"
    // CHECK: "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1, {$2}], [$3], $4;", "r,l,r,r,l,~{memory}"
    tile_gpu.bulk_copy %map[%x], %m[%i], %bars[%i] cache(evict_last) : !shared, !bars, !llvm.ptr
    gpu.return
  }
}
