// Two blocks copy 64 numbers each through shared memory, in columns of 32.
#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @copy {grid = [["arg", 2], 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [128],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [128],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "scalar", name = "n", type = "i32"}]}
  gpu.func @copy(%a: memref<128xf32, #global>, %b: memref<128xf32, #global>, %n: i32)
      workgroup(%s: memref<1024xf32, #shared>) kernel {
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %base = arith.muli %block, %c64 : index
    %i = arith.addi %base, %t : index
    // Sixteen words apart: every lane of a half warp in one of two banks.
    %place = arith.muli %t, %c16 : index
    %v = memref.load %a[%i] : memref<128xf32, #global>
    memref.store %v, %s[%place] : memref<1024xf32, #shared>
    gpu.barrier
    %w = memref.load %s[%place] : memref<1024xf32, #shared>
    memref.store %w, %b[%i] : memref<128xf32, #global>
    gpu.return
  }
}
