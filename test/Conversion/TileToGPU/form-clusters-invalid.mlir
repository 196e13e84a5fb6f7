// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-form-clusters))'

module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  tile_gpu.manifest @copy {grid = [1, 1, 1], block = array<i64: 2048, 1, 1>, shared_bytes = 256 : i64, params = []}
  gpu.func @copy(%x: memref<?xf32, #gpu.address_space<global>>) kernel
      attributes {known_block_size = array<i32: 2048, 1, 1>} {
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %memory = memref.view %bytes[%c0][%c64] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
    // expected-error@+1 {{'nvgpu.device_async_copy' op needs the shared memory of one block, and the 2048 threads are those of a cluster of 8 blocks}}
    %token = nvgpu.device_async_copy %x[%c0], %memory[%c0], 4 : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  tile_gpu.manifest @many {grid = [1, 1, 1], block = array<i64: 16384, 1, 1>, shared_bytes = 0 : i64, params = []}
  // expected-error@+1 {{'gpu.func' op has 16384 threads; sm_90a has at most 8192}}
  gpu.func @many() kernel attributes {known_block_size = array<i32: 16384, 1, 1>} {
    gpu.return
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
gpu.module @kernels {
  tile_gpu.manifest @no_cluster {grid = [1, 1, 1], block = array<i64: 2048, 1, 1>, shared_bytes = 0 : i64, params = []}
  // expected-error@+1 {{'gpu.func' op has 2048 threads; sm_80 has at most 1024}}
  gpu.func @no_cluster() kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
    gpu.return
  }
}
}
