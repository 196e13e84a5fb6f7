// The window of a buffer instruction says which threads act, not where the
// buffer ends. Thread 63 is within the window and past the end of 'b'. The
// threads from 64 on are outside the window and do nothing.
//
// RUN: not tile-run %s --chip=gfx942 --arg=random:128:f32:1 --arg=zeros:63:f32 2>&1 | FileCheck %s
// RUN: not tile-run %s --chip=gfx1201 --arg=random:128:f32:1 --arg=zeros:63:f32 2>&1 | FileCheck %s
// RUN: tile-run %s --chip=gfx1100 --arg=random:128:f32:1 --arg=zeros:64:f32 --out=b=%t.npy

// CHECK: outside-through-a-window.mlir:[[@LINE+17]]:{{[0-9]+}}: error: kernel 'k', block (0, 0, 0), thread 63: updates 4 bytes outside of every argument, 4 bytes past the end of 'b'

#global = #gpu.address_space<global>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 128, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [128],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [unit],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<128xf32, #global>, %b: memref<?xf32, #global>, %n: index) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i32
    %one = arith.constant dense<1.0> : vector<1xf32>
    %i = arith.index_castui %t : index to i32
    %offset = arith.muli %i, %c4 : i32
    tile_gpu.buffer_atomic_rmw addf %one, %b[%c0], %offset {window = 256} : vector<1xf32>, memref<?xf32, #global>
    gpu.return
  }
}
