// Thread 63 reads past the end of the argument.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32 --arg=zeros:64:f32

// CHECK: outside.mlir:[[@LINE+15]]:{{[0-9]+}}: error: kernel 'k', block (0, 0, 0), thread 63: reads 4 bytes outside of every argument, 4 bytes past the end of 'a'

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %i = arith.addi %t, %c1 : index // WRONG
    %v = memref.load %a[%i] : memref<64xf32, #global> // WRONG
    // RIGHT: %v = memref.load %a[%t] : memref<64xf32, #global>
    memref.store %v, %b[%t] : memref<64xf32, #global>
    gpu.return
  }
}
