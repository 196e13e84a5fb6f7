// Values that stay at their place become copies, which LLVM does not hoist.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},gpu.module(tile-to-nvgpu))' \
// RUN:   | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @thread
  gpu.func @thread() {
    // The shuffle is at the start of the function.
    // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[THREAD:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[TID]], %[[TID]], %{{.*}} : i32 -> i32
    // CHECK: gpu.barrier
    gpu.barrier
    // CHECK: llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" %[[THREAD]] : (i32) -> i32
    %t = tile_gpu.thread
    // CHECK: llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
    %again = tile_gpu.recompute %t
    gpu.return
  }
}
