// All blocks add to the same elements without atomics.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:f32

// CHECK: error: kernel 'k', block ({{[0-3]}}, 0, 0), thread {{[0-9]+}}: race: {{reads|writes}} element ({{[0-9]+}}) of 'a', which thread {{[0-9]+}} of block ({{[0-3]}}, 0, 0) {{reads|writes}} with nothing to order the two

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [4, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    %old = memref.load %a[%t] : memref<64xf32, #global> // WRONG
    %new = arith.addf %old, %one : f32 // WRONG
    memref.store %new, %a[%t] : memref<64xf32, #global> // WRONG
    // RIGHT: memref.atomic_rmw addf %one, %a[%t] : (f32, memref<64xf32, #global>) -> f32
    gpu.return
  }
}
