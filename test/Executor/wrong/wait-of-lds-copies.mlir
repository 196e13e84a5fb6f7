// The wait leaves the second copy to the LDS in flight, and the wave then reads its
// data. The whole wave writes from one address on, which lane 0 has.
//
// RUN: not tile-run %s --chip=gfx950 --arg=zeros:64:f32 --arg=zeros:256:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=gfx950 --arg=zeros:64:f32 --arg=zeros:256:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 63: reads byte 1276 of shared memory before the copy of thread 15 to it has been waited for
// CHECK: note: thread 15 copies to it here

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 2048 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [256],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<256xf32, #global>)
    workgroup(%s: memref<512xf32, #shared>) kernel {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %i = arith.muli %t, %c4 : index
    amdgpu.gather_to_lds %b[%i], %s[%t] : vector<4xf32>, memref<256xf32, #global>, memref<512xf32, #shared>
    amdgpu.gather_to_lds %b[%i], %s[%c256] : vector<4xf32>, memref<256xf32, #global>, memref<512xf32, #shared>
    amdgpu.memory_counter_wait load(1) // WRONG
    // RIGHT: amdgpu.memory_counter_wait load(0)
    amdgpu.lds_barrier
    %k = arith.addi %t, %c256 : index
    %v = memref.load %s[%k] : memref<512xf32, #shared>
    memref.store %v, %a[%t] : memref<64xf32, #global>
    gpu.return
  }
}
