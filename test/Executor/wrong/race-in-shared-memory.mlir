// Nothing orders a write and the read of it by another thread.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 1: race: reads byte 0 of shared memory, which thread 0 writes with nothing to order the two
// CHECK: note: thread 0 writes it here

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>)
    workgroup(%s: memref<64xf32, #shared>) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %s[%t] : memref<64xf32, #shared>
    // RIGHT: gpu.barrier
    %below = arith.subi %t, %c1 : index
    %i = arith.maxsi %below, %c0 : index
    %v = memref.load %s[%i] : memref<64xf32, #shared>
    memref.store %v, %a[%t] : memref<64xf32, #global>
    gpu.return
  }
}
