// Each of two warps waits for the other, at different barriers.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 0: deadlock: no thread of the block can go on
// CHECK: note: threads 0-31 wait here, at 'llvm.nvvm.barrier.cta.sync.aligned.count'
// CHECK: note: threads 32-63 wait here, at 'llvm.nvvm.barrier.cta.sync.aligned.count'

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %first = arith.constant 1 : i32
    %second = arith.constant 2 : i32 // WRONG
    // RIGHT: %second = arith.constant 1 : i32
    %count = arith.constant 64 : i32
    %low = arith.cmpi ult, %t, %c32 : index
    scf.if %low {
      nvvm.barrier id = %first number_of_threads = %count
    } else {
      nvvm.barrier id = %second number_of_threads = %count
    }
    gpu.return
  }
}
