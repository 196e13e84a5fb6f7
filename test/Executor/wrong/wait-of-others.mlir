// Each thread waits for its own copies, and none for those of other threads.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 --arg=random:256:f32:1 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32 --arg=random:256:f32:1

// CHECK: error: kernel 'k', block (0, 0, 0), thread 1: race: reads byte 4 of shared memory, which thread 0 writes with nothing to order the two

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [256],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<256xf32, #global>)
    workgroup(%s: memref<512xf32, #shared>) kernel {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    nvgpu.device_async_copy %b[%i], %s[%i], 4, %c4 {bypassL1} : memref<256xf32, #global> to memref<512xf32, #shared>
    nvvm.cp.async.commit.group
    %c256 = arith.constant 256 : index
    %j = arith.addi %i, %c256 : index
    nvgpu.device_async_copy %b[%i], %s[%j], 4, %c4 {bypassL1} : memref<256xf32, #global> to memref<512xf32, #shared>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    // RIGHT: gpu.barrier
    %v = memref.load %s[%t] : memref<512xf32, #shared>
    memref.store %v, %a[%t] : memref<64xf32, #global>
    gpu.return
  }
}
