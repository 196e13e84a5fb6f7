// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(tile-form-clusters))' | FileCheck %s

// Four blocks of 512 threads. A store goes to the shared memory of all of them.
module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  // CHECK: tile_gpu.manifest @exchange {block = array<i64: 512, 1, 1>, grid = {{\[}}["mul", ["dim", 0, 0], 4], 2, 1]
  tile_gpu.manifest @exchange {grid = [["dim", 0, 0], 2, 1], block = array<i64: 2048, 1, 1>, shared_bytes = 256 : i64, params = []}
  // CHECK: gpu.func @exchange(%[[X:.*]]: memref
  // CHECK-SAME: known_block_size = array<i32: 512, 1, 1>, nvvm.cluster_dim = array<i32: 4, 1, 1>
  // CHECK-NEXT: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK: %[[T:.*]] = gpu.thread_id x
  // CHECK: %[[RANK32:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: %[[RANK:.*]] = arith.index_castui %[[RANK32]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[RANK]], %c512
  // CHECK: %[[THREAD:.*]] = arith.addi %[[FIRST]], %[[T]]
  // CHECK: %[[BLOCK32:.*]] = nvvm.read.ptx.sreg.clusterid.x
  // CHECK: %[[BLOCK:.*]] = arith.index_castui %[[BLOCK32]]
  // CHECK: %[[ROW:.*]] = gpu.block_id y
  // CHECK: %[[COUNT32:.*]] = nvvm.read.ptx.sreg.nclusterid.x
  // CHECK: %[[COUNT:.*]] = arith.index_castui %[[COUNT32]]
  // CHECK: %[[MEMORY:.*]] = memref.view
  // CHECK: %[[V:.*]] = vector.load %[[X]][%[[THREAD]]]
  // CHECK: %[[POINTER:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<3>
  // CHECK: %[[P0:.*]] = nvvm.mapa %[[POINTER]], %c0_i32 : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: llvm.store %[[V]], %[[P0]] {alignment = 4 : i64} : vector<1xf32>, !llvm.ptr<7>
  // CHECK: nvvm.mapa %[[POINTER]], %c1_i32
  // CHECK: nvvm.mapa %[[POINTER]], %c2_i32
  // CHECK: %[[P3:.*]] = nvvm.mapa %[[POINTER]], %c3_i32
  // CHECK: llvm.store %[[V]], %[[P3]]
  // CHECK-NEXT: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK-NEXT: %[[U:.*]] = vector.load %[[MEMORY]][%[[COUNT]]]
  // CHECK-NEXT: vector.store %[[U]], %[[X]][%[[ROW]]]
  gpu.func @exchange(%x: memref<?xf32, #gpu.address_space<global>>) kernel
      attributes {known_block_size = array<i32: 2048, 1, 1>} {
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %row = gpu.block_id y
    %count = gpu.grid_dim x
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %memory = memref.view %bytes[%c0][%c64] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
    %v = vector.load %x[%thread] : memref<?xf32, #gpu.address_space<global>>, vector<1xf32>
    vector.store %v, %memory[%block] {alignment = 4 : i64} : memref<?xf32, #gpu.address_space<workgroup>>, vector<1xf32>
    gpu.barrier
    %u = vector.load %memory[%count] : memref<?xf32, #gpu.address_space<workgroup>>, vector<1xf32>
    vector.store %u, %x[%row] : memref<?xf32, #gpu.address_space<global>>, vector<1xf32>
    gpu.return
  }
}
}

// -----

// Eight blocks of 1024 threads, which exchange nothing.
module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  // CHECK: tile_gpu.manifest @apart {block = array<i64: 1024, 1, 1>, grid = [24, 1, 1]
  tile_gpu.manifest @apart {grid = [3, 1, 1], block = array<i64: 8192, 1, 1>, shared_bytes = 0 : i64, params = []}
  // CHECK: nvvm.cluster_dim = array<i32: 8, 1, 1>
  // CHECK-NOT: nvvm.cluster.wait
  gpu.func @apart() kernel attributes {known_block_size = array<i32: 8192, 1, 1>} {
    gpu.return
  }
}
}

// -----

// A block may have these threads.
module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  // CHECK: tile_gpu.manifest @block {block = array<i64: 1024, 1, 1>, grid = [3, 1, 1]
  tile_gpu.manifest @block {grid = [3, 1, 1], block = array<i64: 1024, 1, 1>, shared_bytes = 0 : i64, params = []}
  // CHECK: gpu.func @block()
  // CHECK-NOT: cluster
  gpu.func @block() kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %b = gpu.block_id x
    gpu.barrier
    gpu.return
  }
}
}
