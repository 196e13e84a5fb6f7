// The operands of an MMA in flight are overwritten.
//
// RUN: not tile-run %s --chip=sm_90a --arg=zeros:128:f32 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_90a --arg=zeros:128:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 31: race: writes byte 62 of shared memory, which the MMA of threads 0-31 reads with nothing to order the two
// CHECK: note: the MMA of threads 0-31 reads it here, until it has been waited for

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 128, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [128],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<128xf32, #global>)
    workgroup(%s: memref<128xf16, #shared>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f16
    memref.store %one, %s[%t] : memref<128xf16, #shared>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    // Rows of 16 elements, permuted as #tile.swizzle<32> does.
    %d = tile_gpu.matrix_descriptor %s[%c0] {bits = -4611685949707911168 : i64} : memref<128xf16, #shared>
    %x = arith.constant dense<1.0> : vector<8xf16>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %f = tile_gpu.wgmma_fence %x : vector<8xf16>
    %p = tile_gpu.wgmma "wgmma.m64k16.f16" %f, %d, %zero {zero} : vector<8xf16>, vector<4xf32>
    nvvm.wgmma.commit.group.sync.aligned
    memref.store %one, %s[%t] : memref<128xf16, #shared> // WRONG
    %r = tile_gpu.wgmma_wait 0, %p : vector<4xf32>
    // RIGHT: gpu.barrier
    // RIGHT: memref.store %one, %s[%t] : memref<128xf16, #shared>
    %e = vector.extract %r[0] : f32 from vector<4xf32>
    memref.store %e, %a[%t] : memref<128xf32, #global>
    gpu.return
  }
}
