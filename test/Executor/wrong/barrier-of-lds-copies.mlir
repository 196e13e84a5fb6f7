// A barrier without a wait for the own writes to the LDS: another wave reads them too
// early. A fence of the scope of the wave orders nothing between waves.
//
// RUN: not tile-run %s --chip=gfx950 --arg=zeros:128:f32 2>&1 | FileCheck %s
// RUN: sed -e 's,// RIGHT: ,,' %s | tile-run - --chip=gfx950 --arg=zeros:128:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: race: reads byte {{[0-9]+}} of shared memory, which thread {{[0-9]+}} writes with nothing to order the two

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 128, 1, 1>, shared_bytes = 512 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [128],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<128xf32, #global>)
    workgroup(%s: memref<128xf32, #shared>) kernel {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %x = memref.load %a[%t] : memref<128xf32, #global>
    memref.store %x, %s[%t] : memref<128xf32, #shared>
    // RIGHT: amdgpu.memory_counter_wait ds(0)
    llvm.fence syncscope("wavefront") release
    rocdl.s.barrier
    llvm.fence syncscope("wavefront") acquire
    %k = arith.subi %c127, %t : index
    %v = memref.load %s[%k] : memref<128xf32, #shared>
    memref.store %v, %a[%t] : memref<128xf32, #global>
    gpu.return
  }
}
