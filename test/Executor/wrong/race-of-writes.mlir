// Threads write different numbers to one element. It is no race if all of them
// write the same number, as threads that hold replicas do.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 1: race: writes element (0) of 'a', which thread 0 writes with nothing to order the two
// CHECK: note: thread 0 writes it here

#global = #gpu.address_space<global>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x // WRONG
    %i = arith.index_cast %t : index to i32 // WRONG
    // RIGHT: %i = arith.constant 1 : i32
    %v = arith.uitofp %i : i32 to f32
    memref.store %v, %a[%c0] : memref<64xf32, #global>
    gpu.return
  }
}
