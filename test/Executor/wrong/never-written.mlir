// The kernel reads an element of shared memory that no thread has written.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 63: reads byte 256 of shared memory, which no thread has written

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>)
    workgroup(%s: memref<65xf32, #shared>) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %s[%t] : memref<65xf32, #shared>
    gpu.barrier
    %i = arith.addi %t, %c1 : index // WRONG
    %v = memref.load %s[%i] : memref<65xf32, #shared> // WRONG
    // RIGHT: %v = memref.load %s[%t] : memref<65xf32, #shared>
    memref.store %v, %a[%t] : memref<64xf32, #global>
    gpu.return
  }
}
