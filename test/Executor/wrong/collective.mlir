// Half of a warp does not reach the shuffle.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 0: not all lanes come to 'llvm.nvvm.shfl.sync.bfly.f32': threads 16-31 of the same warp never do

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %half = arith.constant 16 : index // WRONG
    // RIGHT: %half = arith.constant 32 : index
    %lane = arith.remui %t, %c32 : index
    %in = arith.cmpi ult, %lane, %half : index
    scf.if %in {
      %offset = arith.constant 1 : i32
      %width = arith.constant 32 : i32
      %v = memref.load %a[%t] : memref<64xf32, #global>
      %w, %valid = gpu.shuffle xor %v, %offset, %width : f32
      memref.store %w, %a[%t] : memref<64xf32, #global>
    }
    gpu.return
  }
}
