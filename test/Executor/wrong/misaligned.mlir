// A vector of 4 elements begins at an arbitrary element.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 --arg=zeros:256:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32 --arg=zeros:256:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 1: reads 16 bytes at element (1) of 'a', whose address is not a multiple of 16

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [256],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<256xf32, #global>) kernel {
    %t = gpu.thread_id x
    %c15 = arith.constant 15 : index
    %c4 = arith.constant 4 : index
    %r = arith.remui %t, %c15 : index
    %i = arith.minui %r, %t : index // WRONG
    // RIGHT: %i = arith.muli %r, %c4 : index
    %j = arith.muli %t, %c4 : index
    %v = vector.load %a[%i] {alignment = 16} : memref<64xf32, #global>, vector<4xf32>
    vector.store %v, %b[%j] {alignment = 16} : memref<256xf32, #global>, vector<4xf32>
    gpu.return
  }
}
