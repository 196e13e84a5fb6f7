// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},gpu.module(tile-to-nvgpu))' \
// RUN:   | FileCheck %s

!bars = memref<?xi64, #gpu.address_space<workgroup>>

gpu.module @m {
  // CHECK-LABEL: gpu.func @barriers
  gpu.func @barriers(%bars: !bars, %i: index, %phase: i32) {
    // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[THREAD:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[TID]], %[[TID]], %{{.*}} {tile.thread} : i32 -> i32
    // CHECK: llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], 8;", "r,~{memory}" %{{.*}} : (i32) -> ()
    tile_gpu.mbarrier_init %bars[%i], 8 : !bars
    // CHECK: llvm.inline_asm has_side_effects "fence.mbarrier_init.release.cluster;", "~{memory}"
    tile_gpu.mbarrier_fence
    // CHECK: setp.eq.u32 arrives, $1, 0;\0A@arrives mbarrier.arrive.shared::cta.b64 _, [$0];
    tile_gpu.mbarrier_arrive %bars[%i], %phase : !bars
    // CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 4096;", "r,~{memory}"
    tile_gpu.mbarrier_expect %bars[%i], 4096 : !bars
    // CHECK: mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\0A@!ended bra again;
    tile_gpu.mbarrier_wait %bars[%i], %phase : !bars
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
    tile_gpu.named_barrier 1, 256
    // CHECK: %[[FIRST:.*]] = llvm.mlir.constant(3 : i32)
    // CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %{{.*}} : i32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[NUMBER]], %{{.*}})
    tile_gpu.named_barrier 3 + %phase, 256 {arrive}
    // CHECK: nvvm.bar.warp.sync
    tile_gpu.warp_sync
    // The shuffle is at the start of the function.
    // CHECK: llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" %[[THREAD]] : (i32) -> i32
    %t = tile_gpu.thread
    // CHECK: llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
    %again = tile_gpu.recompute %t
    // CHECK: nvvm.setmaxregister increase 240
    tile_gpu.set_registers 240 {increase}
    // CHECK: nvvm.setmaxregister decrease 24
    tile_gpu.set_registers 24
    gpu.return
  }

  // CHECK-LABEL: gpu.func @copy
  gpu.func @copy(%map: !llvm.ptr, %x: i32, %y: i32, %bars: !bars, %i: index,
                 %t: memref<?xf16, #gpu.address_space<workgroup>>) {
    // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}"
    tile_gpu.bulk_copy %map[%x, %y], %t[%i], %bars[%i] : memref<?xf16, #gpu.address_space<workgroup>>, !bars, !llvm.ptr
    gpu.return
  }
}
