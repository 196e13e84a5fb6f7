// Rows that begin at any element are copied in aligned words of 16 bytes by all threads.
// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(gpu.module(tile-copy-ahead,canonicalize,cse))' | FileCheck %s

!memory = memref<?xbf16, #gpu.address_space<global>>

module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  // Two slots of 17 words.
  // CHECK: tile_gpu.manifest @rows {{.*}}shared_bytes = 544 : i64
  tile_gpu.manifest @rows {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  // CHECK: gpu.func @rows(%[[X:.*]]: memref{{.*}}, %[[N:.*]]: index, %[[LENGTH:.*]]: i32, %[[STRIDE:.*]]: index)
  // CHECK: %[[THREAD:.*]] = gpu.thread_id x

  // The elements of the first word that lie before the row.
  // CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
  // CHECK: %[[FIRST:.*]] = arith.shrui %[[ADDRESS]], %c1
  // CHECK: %[[SHIFT:.*]] = arith.andi %[[FIRST]], %c7
  // CHECK: scf.if
  // CHECK: %[[BEGIN:.*]] = arith.subi %c0, %[[SHIFT]]
  // CHECK: %[[COUNT:.*]] = arith.index_castui %[[LENGTH]]
  // CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[COUNT]], %c0
  // CHECK: %[[BEHIND:.*]] = arith.addi %[[COUNT]], %[[SHIFT]]
  // CHECK: %[[END:.*]] = arith.select %[[NONE]], %c0, %[[BEHIND]]
  // CHECK: %[[INSIDE:.*]] = arith.cmpi sge, %[[BEGIN]], %c0
  // CHECK: arith.cmpi ult, %[[THREAD]], %c17
  // CHECK: scf.if
  // CHECK: %[[WORD:.*]] = arith.muli %[[THREAD]], %c8
  // CHECK: %[[REST:.*]] = arith.subi %[[END]], %[[WORD]]
  // CHECK: %[[LEFT:.*]] = arith.maxsi %[[REST]], %c0
  // CHECK: %[[READ:.*]] = arith.minsi %[[LEFT]], %c8
  // CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[THREAD]], %c0
  // CHECK: %[[WHOLE:.*]] = arith.ori %[[LATER]], %[[INSIDE]]
  // CHECK: scf.if %[[WHOLE]]
  // CHECK: nvgpu.device_async_copy %[[X]][%{{.*}}], %{{.*}}[%[[WORD]]], 8, %[[READ]] {bypassL1}
  // A word that begins before the buffer.
  // CHECK: } else {
  // CHECK: vector.store %{{.*}}, %{{.*}}[%[[WORD]]] {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
  // CHECK: scf.for %{{.*}} = %[[SHIFT]] to %[[READ]] step %c1
  // CHECK: memref.load %[[X]]
  // CHECK: memref.store
  // Without a row, the slot has zeros.
  // CHECK: } else {
  // CHECK: vector.store %{{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
  // CHECK: nvvm.cp.async.commit.group

  // The loop carries the shift of the row in the slot.
  // CHECK: scf.for %{{.*}} iter_args(%[[SLOT:.*]] = %c0{{.*}}, %[[S:.*]] = %[[SHIFT]])
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: gpu.barrier
  // CHECK: %[[OWN:.*]] = arith.muli %[[SLOT]], %c136
  // CHECK: %[[SHIFTED:.*]] = arith.addi %[[OWN]], %[[S]]
  // CHECK: vector.load %{{.*}}[%{{.*}}] {alignment = 2 : i64} : {{.*}}, vector<1xbf16>
  // CHECK: vector.load %{{.*}}[%{{.*}}] {alignment = 2 : i64} : {{.*}}, vector<1xbf16>
  // CHECK: %[[NEXT:.*]] = arith.andi
  // CHECK: nvgpu.device_async_copy
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: "use"
  // CHECK: scf.yield %{{.*}}, %[[NEXT]]
  gpu.func @rows(%x: !memory, %n: index, %length: i32, %stride: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zeros = arith.constant dense<0.0> : vector<2xbf16>
    %distances = arith.constant dense<[0, 64]> : vector<2xi32>
    %any = arith.cmpi sgt, %n, %c0 : index
    %first = scf.if %any -> (vector<2xbf16>) {
      %thread = gpu.thread_id x
      %place = arith.index_castui %thread : index to i32
      %places = vector.broadcast %place : i32 to vector<2xi32>
      %indices = arith.addi %places, %distances : vector<2xi32>
      %counts = vector.broadcast %length : i32 to vector<2xi32>
      %mask = arith.cmpi slt, %indices, %counts : vector<2xi32>
      %0 = vector.gather %x[%c0] [%indices], %mask, %zeros
          : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
      scf.yield %0 : vector<2xbf16>
    } else {
      scf.yield %zeros : vector<2xbf16>
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (vector<2xbf16>) {
      %j = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %j, %n : index
      %next = scf.if %exists -> (vector<2xbf16>) {
        %offset = arith.muli %j, %stride : index
        %thread = gpu.thread_id x
        %place = arith.index_castui %thread : index to i32
        %places = vector.broadcast %place : i32 to vector<2xi32>
        %indices = arith.addi %places, %distances : vector<2xi32>
        %counts = vector.broadcast %length : i32 to vector<2xi32>
        %mask = arith.cmpi slt, %indices, %counts : vector<2xi32>
        %0 = vector.gather %x[%offset] [%indices], %mask, %zeros
            : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
        scf.yield %0 : vector<2xbf16>
      } else {
        scf.yield %zeros : vector<2xbf16>
      }
      "use"(%v) : (vector<2xbf16>) -> ()
      scf.yield %next : vector<2xbf16>
    } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    gpu.return
  }

  // In a loop, threads wait until others have read the slots. Places that differ are not
  // those of one slot.
  // CHECK-LABEL: gpu.func @again
  // CHECK: scf.for
  // CHECK: gpu.barrier
  // CHECK: nvgpu.device_async_copy
  // CHECK: scf.for
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: gpu.barrier
  // CHECK-LABEL: gpu.func @other_places
  // CHECK-NOT: nvgpu.device_async_copy
  tile_gpu.manifest @again {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @again(%x: !memory, %n: index, %length: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zeros = arith.constant dense<0.0> : vector<2xbf16>
    %distances = arith.constant dense<[0, 64]> : vector<2xi32>
    %thread = gpu.thread_id x
    %place = arith.index_castui %thread : index to i32
    %places = vector.broadcast %place : i32 to vector<2xi32>
    %indices = arith.addi %places, %distances : vector<2xi32>
    %counts = vector.broadcast %length : i32 to vector<2xi32>
    %mask = arith.cmpi slt, %indices, %counts : vector<2xi32>
    %any = arith.cmpi sgt, %n, %c0 : index
    scf.for %k = %c0 to %n step %c1 {
      %first = scf.if %any -> (vector<2xbf16>) {
        %0 = vector.gather %x[%k] [%indices], %mask, %zeros
            : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
        scf.yield %0 : vector<2xbf16>
      } else {
        scf.yield %zeros : vector<2xbf16>
      }
      scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (vector<2xbf16>) {
        %exists = arith.cmpi slt, %i, %k : index
        %next = scf.if %exists -> (vector<2xbf16>) {
          %0 = vector.gather %x[%i] [%indices], %mask, %zeros
              : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
          scf.yield %0 : vector<2xbf16>
        } else {
          scf.yield %zeros : vector<2xbf16>
        }
        "use"(%v) : (vector<2xbf16>) -> ()
        scf.yield %next : vector<2xbf16>
      } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    }
    gpu.return
  }

  tile_gpu.manifest @other_places {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @other_places(%x: !memory, %n: index, %length: i32, %other: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zeros = arith.constant dense<0.0> : vector<2xbf16>
    %distances = arith.constant dense<[0, 64]> : vector<2xi32>
    %thread = gpu.thread_id x
    %place = arith.index_castui %thread : index to i32
    %places = vector.broadcast %place : i32 to vector<2xi32>
    %indices = arith.addi %places, %distances : vector<2xi32>
    %counts = vector.broadcast %length : i32 to vector<2xi32>
    %mask = arith.cmpi slt, %indices, %counts : vector<2xi32>
    %other_places = vector.broadcast %other : i32 to vector<2xi32>
    %other_indices = arith.addi %other_places, %distances : vector<2xi32>
    %other_mask = arith.cmpi slt, %other_indices, %counts : vector<2xi32>
    %any = arith.cmpi sgt, %n, %c0 : index
    %first = scf.if %any -> (vector<2xbf16>) {
      %0 = vector.gather %x[%c0] [%indices], %mask, %zeros
          : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
      scf.yield %0 : vector<2xbf16>
    } else {
      scf.yield %zeros : vector<2xbf16>
    }
    scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (vector<2xbf16>) {
      %next = scf.if %any -> (vector<2xbf16>) {
        %0 = vector.gather %x[%i] [%other_indices], %other_mask, %zeros
            : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
        scf.yield %0 : vector<2xbf16>
      } else {
        scf.yield %zeros : vector<2xbf16>
      }
      "use"(%v) : (vector<2xbf16>) -> ()
      scf.yield %next : vector<2xbf16>
    } {tile.schedule = #tile.schedule<stages = 1, keep_loops>}
    gpu.return
  }
}
}
