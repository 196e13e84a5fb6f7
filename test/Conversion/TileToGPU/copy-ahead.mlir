// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(gpu.module(tile-copy-ahead,canonicalize,cse))' | FileCheck %s

module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  // Two slots of 16 bytes for each of 64 threads, and one for what is the same in all
  // iterations.
  // CHECK: tile_gpu.manifest @rows {{.*}}shared_bytes = 3200 : i64
  tile_gpu.manifest @rows {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 20 : i64, params = []}
  // CHECK: gpu.func @rows(%[[X:.*]]: memref{{.*}}, %[[W:.*]]: vector<8xbf16>, %[[N:.*]]: index)
  // CHECK: %[[SAME:.*]] = memref.view {{.*}} to memref<512xbf16, #gpu.address_space<workgroup>>
  // CHECK: %[[THREAD:.*]] = gpu.thread_id x
  // CHECK: %[[PLACE:.*]] = arith.muli %[[THREAD]], %c8
  // CHECK: %[[SLOTS:.*]] = memref.view %{{.*}}[%c128][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<1024xbf16, #gpu.address_space<workgroup>>
  // CHECK: %[[TARGET:.*]] = memref.cast %[[SLOTS]]

  // The first iteration. A vector of the row is copied, and single elements at its end
  // are stored.
  // CHECK: scf.if
  // CHECK: nvgpu.device_async_copy %[[X]][%c0], %[[TARGET]][%[[PLACE]]], 8 {bypassL1}
  // CHECK: } else {
  // CHECK: vector.store %{{.*}}, %[[SLOTS]][%[[PLACE]]] {alignment = 2 : i64} : {{.*}}, vector<1xbf16>
  // CHECK: vector.store %{{.*}}, %[[SLOTS]][%{{.*}}] {alignment = 2 : i64} : {{.*}}, vector<1xbf16>
  // CHECK: vector.store %{{.*}}, %[[SLOTS]][%{{.*}}] {alignment = 4 : i64} : {{.*}}, vector<6xbf16>
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: vector.store %[[W]], %[[SAME]][%[[PLACE]]] {alignment = 16 : i64}

  // CHECK: scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 iter_args(%[[SLOT:.*]] = %c0)
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: %[[OFFSET:.*]] = arith.muli %[[SLOT]], %c512
  // CHECK: %[[OWN:.*]] = arith.addi %[[PLACE]], %[[OFFSET]]
  // CHECK: %[[V:.*]] = vector.load %[[SLOTS]][%[[OWN]]] {alignment = 16 : i64}
  // The next iteration is copied to the other slot.
  // CHECK: nvgpu.device_async_copy %[[X]][%{{.*}}], %[[TARGET]][%{{.*}}], 8 {bypassL1}
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: %[[WIDE:.*]] = arith.extf %[[V]]
  // CHECK: %[[P:.*]] = arith.mulf %[[WIDE]]
  // A few elements stay in registers.
  // CHECK: gpu.barrier
  // CHECK-NEXT: "use"(%[[P]])
  gpu.func @rows(%x: memref<?xbf16, #gpu.address_space<global>>, %w: vector<8xbf16>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zeros = arith.constant dense<0.0> : vector<8xbf16>
    %whole = arith.cmpi sge, %n, %c8 : index
    %first = scf.if %whole -> (vector<8xbf16>) {
      %0 = vector.load %x[%c0] : memref<?xbf16, #gpu.address_space<global>>, vector<8xbf16>
      scf.yield %0 : vector<8xbf16>
    } else {
      %0 = vector.load %x[%c0] : memref<?xbf16, #gpu.address_space<global>>, vector<1xbf16>
      %1 = vector.load %x[%c1] : memref<?xbf16, #gpu.address_space<global>>, vector<1xbf16>
      %six = arith.constant dense<0.0> : vector<6xbf16>
      %2 = vector.insert_strided_slice %0, %zeros {offsets = [0], strides = [1]} : vector<1xbf16> into vector<8xbf16>
      %3 = vector.insert_strided_slice %1, %2 {offsets = [1], strides = [1]} : vector<1xbf16> into vector<8xbf16>
      %4 = vector.insert_strided_slice %six, %3 {offsets = [2], strides = [1]} : vector<6xbf16> into vector<8xbf16>
      scf.yield %4 : vector<8xbf16>
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (vector<8xbf16>) {
      %j = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %j, %n : index
      %next = scf.if %exists -> (vector<8xbf16>) {
        %0 = vector.load %x[%j] : memref<?xbf16, #gpu.address_space<global>>, vector<8xbf16>
        scf.yield %0 : vector<8xbf16>
      } else {
        scf.yield %zeros : vector<8xbf16>
      }
      %wide = arith.extf %v : vector<8xbf16> to vector<8xf32>
      "use"(%wide) : (vector<8xf32>) -> ()
      %ww = arith.extf %w : vector<8xbf16> to vector<8xf32>
      %p = arith.mulf %wide, %ww : vector<8xf32>
      gpu.barrier
      "use"(%p) : (vector<8xf32>) -> ()
      scf.yield %next : vector<8xbf16>
    } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    gpu.return
  }

  // Many elements are read behind the barrier again if a second block then fits a
  // multiprocessor.
  // CHECK: gpu.func @again
  // CHECK-SAME: nvvm.minctasm = 2 : i32
  // CHECK: scf.for
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: vector.load %[[SLOTS:.*]][%[[OWN:.*]]] {alignment = 16 : i64}
  // CHECK: "use"(
  // CHECK: gpu.barrier
  // CHECK: vector.load %[[SLOTS]][%[[OWN]]] {alignment = 16 : i64}
  // CHECK: %[[WIDE:.*]] = arith.extf
  // CHECK: %[[P:.*]] = arith.mulf %[[WIDE]], %[[WIDE]]
  // CHECK: "use"(%[[P]])
  tile_gpu.manifest @again {grid = [1, 1, 1], block = array<i64: 512, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @again(%x: memref<?xbf16, #gpu.address_space<global>>, %n: index) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zeros = arith.constant dense<0.0> : vector<32xbf16>
    %any = arith.cmpi sgt, %n, %c0 : index
    %first = scf.if %any -> (vector<32xbf16>) {
      %0 = vector.load %x[%c0] : memref<?xbf16, #gpu.address_space<global>>, vector<32xbf16>
      scf.yield %0 : vector<32xbf16>
    } else {
      scf.yield %zeros : vector<32xbf16>
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (vector<32xbf16>) {
      %j = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %j, %n : index
      %next = scf.if %exists -> (vector<32xbf16>) {
        %0 = vector.load %x[%j] : memref<?xbf16, #gpu.address_space<global>>, vector<32xbf16>
        scf.yield %0 : vector<32xbf16>
      } else {
        scf.yield %zeros : vector<32xbf16>
      }
      %wide = arith.extf %v : vector<32xbf16> to vector<32xf32>
      "use"(%wide) : (vector<32xf32>) -> ()
      %p = arith.mulf %wide, %wide : vector<32xf32>
      gpu.barrier
      "use"(%p) : (vector<32xf32>) -> ()
      scf.yield %next : vector<32xbf16>
    } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    gpu.return
  }

  // Where several blocks fit as it is, threads keep what they have read.
  // CHECK: gpu.func @kept
  // CHECK-NOT: nvvm.minctasm
  // CHECK: scf.for
  // CHECK: %[[KEPT:.*]] = arith.extf
  // CHECK: %[[P:.*]] = arith.mulf %[[KEPT]], %[[KEPT]]
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: "use"(%[[P]])
  tile_gpu.manifest @kept {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @kept(%x: memref<?xbf16, #gpu.address_space<global>>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zeros = arith.constant dense<0.0> : vector<32xbf16>
    %any = arith.cmpi sgt, %n, %c0 : index
    %first = scf.if %any -> (vector<32xbf16>) {
      %0 = vector.load %x[%c0] : memref<?xbf16, #gpu.address_space<global>>, vector<32xbf16>
      scf.yield %0 : vector<32xbf16>
    } else {
      scf.yield %zeros : vector<32xbf16>
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (vector<32xbf16>) {
      %j = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %j, %n : index
      %next = scf.if %exists -> (vector<32xbf16>) {
        %0 = vector.load %x[%j] : memref<?xbf16, #gpu.address_space<global>>, vector<32xbf16>
        scf.yield %0 : vector<32xbf16>
      } else {
        scf.yield %zeros : vector<32xbf16>
      }
      %wide = arith.extf %v : vector<32xbf16> to vector<32xf32>
      "use"(%wide) : (vector<32xf32>) -> ()
      %p = arith.mulf %wide, %wide : vector<32xf32>
      gpu.barrier
      "use"(%p) : (vector<32xf32>) -> ()
      scf.yield %next : vector<32xbf16>
    } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    gpu.return
  }

  // A number of 4 bytes arrives in a slot of each warp, which one lane fills.
  // CHECK: gpu.func @number
  // CHECK: %[[SLOTS:.*]] = memref.view {{.*}} to memref<4xf32, #gpu.address_space<workgroup>>
  // CHECK: %[[THREAD:.*]] = gpu.thread_id x
  // CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]], %{{.*}} : index
  // CHECK: %[[FILLS:.*]] = arith.cmpi eq, %[[LANE]], %{{.*}} : index
  // CHECK: scf.if %[[FILLS]] {
  // CHECK-NEXT: nvgpu.device_async_copy %{{.*}}[%c0], %{{.*}}[%{{.*}}], 1
  // CHECK: scf.for
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: nvvm.bar.warp.sync
  // CHECK: %[[V:.*]] = vector.load %[[SLOTS]][%{{.*}}] {alignment = 4 : i64} : {{.*}}, vector<1xf32>
  // CHECK: %[[F:.*]] = vector.extract %[[V]][0]
  // CHECK: "use"(%[[F]])
  tile_gpu.manifest @number {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @number(%x: memref<?xf32, #gpu.address_space<global>>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %any = arith.cmpi sgt, %n, %c0 : index
    %first = scf.if %any -> (f32) {
      %0 = memref.load %x[%c0] : memref<?xf32, #gpu.address_space<global>>
      scf.yield %0 : f32
    } else {
      scf.yield %zero : f32
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (f32) {
      %j = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %j, %n : index
      %next = scf.if %exists -> (f32) {
        %0 = memref.load %x[%j] : memref<?xf32, #gpu.address_space<global>>
        scf.yield %0 : f32
      } else {
        scf.yield %zero : f32
      }
      "use"(%v) : (f32) -> ()
      scf.yield %next : f32
    } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    gpu.return
  }

  // Lanes may still read a number of an earlier run of the loop.
  // CHECK: gpu.func @number_again
  // CHECK: scf.for
  // CHECK-NEXT: nvvm.bar.warp.sync
  // CHECK: nvgpu.device_async_copy
  // CHECK: scf.for
  // CHECK-NEXT: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: nvvm.bar.warp.sync
  tile_gpu.manifest @number_again {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @number_again(%x: memref<?xf32, #gpu.address_space<global>>, %n: index, %any: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.for %run = %c0 to %n step %c1 {
      %first = scf.if %any -> (f32) {
        %0 = memref.load %x[%c0] : memref<?xf32, #gpu.address_space<global>>
        scf.yield %0 : f32
      } else {
        scf.yield %zero : f32
      }
      scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (f32) {
        %j = arith.addi %i, %c1 : index
        %exists = arith.cmpi slt, %j, %n : index
        %next = scf.if %exists -> (f32) {
          %0 = memref.load %x[%j] : memref<?xf32, #gpu.address_space<global>>
          scf.yield %0 : f32
        } else {
          scf.yield %zero : f32
        }
        "use"(%v) : (f32) -> ()
        scf.yield %next : f32
      } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    }
    gpu.return
  }

  // Beside vectors that a loop carries in registers, numbers are copied alone.
  // CHECK: gpu.func @beside_registers
  // CHECK: memref.view {{.*}} to memref<4xf32, #gpu.address_space<workgroup>>
  // CHECK-NOT: memref.view
  // CHECK: scf.for {{.*}} iter_args(%[[V:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (vector<8xbf16>, index)
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: %[[N:.*]] = vector.load
  // CHECK: %[[F:.*]] = vector.extract %[[N]][0]
  // CHECK: vector.load %{{.*}} vector<8xbf16>
  // CHECK: nvgpu.device_async_copy
  // CHECK: "use"(%[[V]], %[[F]])
  tile_gpu.manifest @beside_registers {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @beside_registers(%x: memref<?xbf16, #gpu.address_space<global>>,
      %r: memref<?xf32, #gpu.address_space<global>>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zeros = arith.constant dense<0.0> : vector<8xbf16>
    %zero = arith.constant 0.0 : f32
    %any = arith.cmpi sgt, %n, %c0 : index
    %first:2 = scf.if %any -> (vector<8xbf16>, f32) {
      %0 = vector.load %x[%c0] : memref<?xbf16, #gpu.address_space<global>>, vector<8xbf16>
      %1 = memref.load %r[%c0] : memref<?xf32, #gpu.address_space<global>>
      scf.yield %0, %1 : vector<8xbf16>, f32
    } else {
      scf.yield %zeros, %zero : vector<8xbf16>, f32
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first#0, %f = %first#1) -> (vector<8xbf16>, f32) {
      %j = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %j, %n : index
      %next:2 = scf.if %exists -> (vector<8xbf16>, f32) {
        %0 = vector.load %x[%j] : memref<?xbf16, #gpu.address_space<global>>, vector<8xbf16>
        %1 = memref.load %r[%j] : memref<?xf32, #gpu.address_space<global>>
        scf.yield %0, %1 : vector<8xbf16>, f32
      } else {
        scf.yield %zeros, %zero : vector<8xbf16>, f32
      } {tile.numbers_ahead = 1 : i64}
      "use"(%v, %f) : (vector<8xbf16>, f32) -> ()
      scf.yield %next#0, %next#1 : vector<8xbf16>, f32
    }
    gpu.return
  }

  // The first elements of an access are copied, and the rest of the slot becomes zero.
  // CHECK: gpu.func @first_elements(%[[X:.*]]: memref{{.*}}, %[[COUNT:.*]]: index, %[[N:.*]]: index)
  // CHECK: nvgpu.device_async_copy %[[X]][%c0], %{{.*}}, 8, %[[COUNT]] {bypassL1}
  // CHECK: scf.for
  // CHECK: nvgpu.device_async_copy %[[X]][%{{.*}}], %{{.*}}, 8, %[[COUNT]] {bypassL1}
  // CHECK-NOT: vector.maskedload
  // CHECK: gpu.return
  tile_gpu.manifest @first_elements {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @first_elements(%x: memref<?xbf16, #gpu.address_space<global>>, %count: index, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zeros = arith.constant dense<0.0> : vector<8xbf16>
    %mask = vector.create_mask %count : vector<8xi1>
    %some = arith.cmpi sgt, %n, %c0 : index
    %first = scf.if %some -> (vector<8xbf16>) {
      %0 = vector.maskedload %x[%c0], %mask, %zeros {alignment = 16 : i64} : memref<?xbf16, #gpu.address_space<global>>, vector<8xi1>, vector<8xbf16> into vector<8xbf16>
      scf.yield %0 : vector<8xbf16>
    } else {
      scf.yield %zeros : vector<8xbf16>
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (vector<8xbf16>) {
      %j = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %j, %n : index
      %next = scf.if %exists -> (vector<8xbf16>) {
        %0 = vector.maskedload %x[%j], %mask, %zeros {alignment = 16 : i64} : memref<?xbf16, #gpu.address_space<global>>, vector<8xi1>, vector<8xbf16> into vector<8xbf16>
        scf.yield %0 : vector<8xbf16>
      } else {
        scf.yield %zeros : vector<8xbf16>
      }
      "use"(%v) : (vector<8xbf16>) -> ()
      scf.yield %next : vector<8xbf16>
    } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    gpu.return
  }
}
}
