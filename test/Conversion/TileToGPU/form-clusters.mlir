// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(tile-form-clusters))' | FileCheck %s
// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(tile-form-clusters))' --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK --implicit-check-not=count-arrivals

// Eight blocks of 256 threads. A store goes to the shared memory of all of them, and
// an mbarrier counts the bytes that arrive.
module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  tile_gpu.manifest @exchange {grid = [["dim", 0, 0], 2, 1], block = array<i64: 2048, 1, 1>, shared_bytes = 256 : i64, params = []}
  // CHECK: tile_gpu.manifest @exchange {block = array<i64: 256, 1, 1>, grid = {{\[}}["mul", ["dim", 0, 0], 8], 2, 1], params = [], shared_bytes = 264 : i64}
  // CHECK: gpu.func @exchange(%[[X:.*]]: memref
  // CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, nvvm.cluster_dim = array<i32: 8, 1, 1>
  // CHECK: %[[COUNTER:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<3>
  // CHECK: %[[PARITY:.*]] = llvm.alloca
  // CHECK: llvm.store %c0_i32{{.*}}, %[[PARITY]]
  // CHECK: scf.if
  // CHECK: nvvm.mbarrier.init %[[COUNTER]], %c1_i32
  // CHECK-NEXT: nvvm.fence.mbarrier.init
  // CHECK: nvvm.cluster.arrive.relaxed {aligned}
  // CHECK: %[[T:.*]] = gpu.thread_id x
  // CHECK: %[[RANK32:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: %[[RANK:.*]] = arith.index_castui %[[RANK32]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[RANK]], %c256
  // CHECK: %[[THREAD:.*]] = arith.addi %[[FIRST]], %[[T]]
  // CHECK: %[[BLOCK32:.*]] = nvvm.read.ptx.sreg.clusterid.x
  // CHECK: %[[BLOCK:.*]] = arith.index_castui %[[BLOCK32]]
  // CHECK: %[[ROW:.*]] = gpu.block_id y
  // CHECK: %[[COUNT32:.*]] = nvvm.read.ptx.sreg.nclusterid.x
  // CHECK: %[[COUNT:.*]] = arith.index_castui %[[COUNT32]]
  // CHECK: %[[MEMORY:.*]] = memref.view
  // CHECK: %[[V:.*]] = vector.load %[[X]][%[[THREAD]]]
  // CHECK: nvvm.cluster.wait {aligned}
  // CHECK: scf.if
  // 2048 threads store 4 bytes each.
  // CHECK: %[[BYTES:.*]] = arith.constant 8192 : i32
  // CHECK: nvvm.mbarrier.arrive.expect_tx %[[COUNTER]], %[[BYTES]]
  // CHECK: %[[V32:.*]] = vector.bitcast %[[V]] : vector<1xf32> to vector<1xi32>
  // CHECK: %[[POINTER:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<3>
  // CHECK: %[[WORD:.*]] = vector.extract %[[V32]][0]
  // CHECK: %[[P0:.*]] = nvvm.mapa %[[POINTER]], %c0_i32{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: %[[P7:.*]] = nvvm.mapa %[[POINTER]], %c7_i32
  // CHECK: %[[Q0:.*]] = nvvm.mapa %[[COUNTER]], %c0_i32{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: %[[A0:.*]] = llvm.ptrtoint %[[P0]]
  // CHECK: %[[B0:.*]] = llvm.ptrtoint %[[Q0]]
  // CHECK: llvm.inline_asm has_side_effects "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $2, [$1];", "r,r,r,~{memory}" %[[A0]], %[[B0]], %[[WORD]]
  // CHECK: %[[A7:.*]] = llvm.ptrtoint %[[P7]]
  // CHECK: llvm.inline_asm {{.*}} %[[A7]],
  // CHECK-NEXT: %[[PHASE:.*]] = llvm.load %[[PARITY]]
  // CHECK: nvvm.mbarrier.try_wait.parity %[[COUNTER]], %[[PHASE]], %c0_i32
  // CHECK: %[[NEXT:.*]] = arith.xori %[[PHASE]], %c1_i32
  // CHECK: llvm.store %[[NEXT]], %[[PARITY]]
  // CHECK-NEXT: %[[U:.*]] = vector.load %[[MEMORY]][%[[COUNT]]]
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: nvvm.cluster.arrive.relaxed {aligned}
  // CHECK-NEXT: vector.store %[[U]], %[[X]][%[[ROW]]]
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK-NEXT: gpu.return
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

// In a loop, lane 0 of each of 64 warps stores 16 bytes. The barrier that protects the
// loads from the stores of the next iteration is not needed.
module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  tile_gpu.manifest @loop {grid = [3, 1, 1], block = array<i64: 2048, 1, 1>, shared_bytes = 1024 : i64, params = []}
  // CHECK-LABEL: gpu.func @loop
  // CHECK: nvvm.cluster.arrive.relaxed
  // CHECK-NOT: nvvm.cluster
  // CHECK: scf.for
  // CHECK-NEXT: nvvm.cluster.wait
  // CHECK: arith.constant 1024 : i32
  // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx
  // CHECK: scf.if
  // CHECK: "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [$0], {$2, $3, $4, $5}, [$1];"
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK-NOT: gpu.barrier
  // CHECK: vector.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: nvvm.cluster.arrive.relaxed
  // CHECK-NEXT: vector.store
  // CHECK-NEXT: }
  // CHECK-NEXT: nvvm.cluster.wait
  // CHECK-NEXT: gpu.return
  gpu.func @loop(%x: memref<?xf32, #gpu.address_space<global>>, %n: index) kernel
      attributes {known_block_size = array<i32: 2048, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %ones = arith.constant dense<1.0> : vector<4xf32>
    %thread = gpu.thread_id x
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %memory = memref.view %bytes[%c0][%c256] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
    %lane = arith.remui %thread, %c32 : index
    %is_first = arith.cmpi eq, %lane, %c0 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.if %is_first {
        %warp = arith.divui %thread, %c32 : index
        %place = arith.muli %warp, %c4 : index
        vector.store %ones, %memory[%place] : memref<?xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      gpu.barrier
      %u = vector.load %memory[%i] : memref<?xf32, #gpu.address_space<workgroup>>, vector<1xf32>
      vector.store %u, %x[%i] : memref<?xf32, #gpu.address_space<global>>, vector<1xf32>
      gpu.barrier
    }
    gpu.return
  }
}
}

// -----

// Which threads store depends on an argument: barriers order all accesses.
module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  tile_gpu.manifest @unknown {grid = [3, 1, 1], block = array<i64: 2048, 1, 1>, shared_bytes = 256 : i64, params = []}
  // REMARK: remark: [Missed] count-arrivals {{.*}}Reason="barriers of the cluster order all accesses: which threads store is known at run time"
  // CHECK-LABEL: gpu.func @unknown
  // CHECK-NEXT: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK: scf.if
  // CHECK: %[[P7:.*]] = nvvm.mapa %{{.*}}, %c7_i32
  // CHECK: llvm.store %{{.*}}, %[[P7]] {alignment = 4 : i64} : vector<1xf32>, !llvm.ptr<7>
  // CHECK: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK-NEXT: vector.load
  gpu.func @unknown(%x: memref<?xf32, #gpu.address_space<global>>, %stores: i1) kernel
      attributes {known_block_size = array<i32: 2048, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ones = arith.constant dense<1.0> : vector<1xf32>
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %memory = memref.view %bytes[%c0][%c64] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
    scf.if %stores {
      vector.store %ones, %memory[%c0] {alignment = 4 : i64} : memref<?xf32, #gpu.address_space<workgroup>>, vector<1xf32>
    }
    gpu.barrier
    %u = vector.load %memory[%c0] : memref<?xf32, #gpu.address_space<workgroup>>, vector<1xf32>
    vector.store %u, %x[%c0] : memref<?xf32, #gpu.address_space<global>>, vector<1xf32>
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
