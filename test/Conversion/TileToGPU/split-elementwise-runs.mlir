// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(tile-split-elementwise-runs))' | FileCheck %s

gpu.module @kernels {
  // x is live beside its exponential, so the run is computed in parts.
  // CHECK-LABEL: func.func @product
  // CHECK-SAME: %[[X:.*]]: vector<92xf32>
  // CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[X]] {offsets = [0], sizes = [8], strides = [1]}
  // CHECK: %[[E:.*]] = math.exp2 %[[LOW]] : vector<8xf32>
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
  // CHECK: %[[D:.*]] = arith.addf %[[E]], %[[ONE]] : vector<8xf32>
  // CHECK: %[[P:.*]] = arith.mulf %[[LOW]], %[[D]] : vector<8xf32>
  // CHECK: %[[T:.*]] = arith.truncf %[[P]] : vector<8xf32> to vector<8xbf16>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<92xbf16>
  // CHECK: %[[FIRST:.*]] = vector.insert_strided_slice %[[T]], %[[ZERO]] {offsets = [0], strides = [1]}
  // CHECK: vector.extract_strided_slice %[[X]] {offsets = [8], sizes = [8], strides = [1]}
  // CHECK: %[[SECOND:.*]] = vector.insert_strided_slice %{{.*}}, %[[FIRST]] {offsets = [8], strides = [1]}
  // CHECK: %[[HIGH:.*]] = vector.extract_strided_slice %[[X]] {offsets = [88], sizes = [4], strides = [1]}
  // CHECK: math.exp2 %[[HIGH]] : vector<4xf32>
  // CHECK: %[[ALL:.*]] = vector.insert_strided_slice %{{.*}}, %{{.*}} {offsets = [88], strides = [1]} : vector<4xbf16> into vector<92xbf16>
  // CHECK: return %[[ALL]]
  func.func @product(%x: vector<92xf32>) -> vector<92xbf16> {
    %one = arith.constant dense<1.0> : vector<92xf32>
    %e = math.exp2 %x : vector<92xf32>
    %d = arith.addf %e, %one : vector<92xf32>
    %p = arith.mulf %x, %d : vector<92xf32>
    %t = arith.truncf %p : vector<92xf32> to vector<92xbf16>
    return %t : vector<92xbf16>
  }

  // The values of a small run fit.
  // CHECK-LABEL: func.func @small
  // CHECK-NEXT: math.exp2 %{{.*}} : vector<64xf32>
  // CHECK-NEXT: arith.mulf %{{.*}} : vector<64xf32>
  func.func @small(%x: vector<64xf32>) -> vector<64xf32> {
    %e = math.exp2 %x : vector<64xf32>
    %p = arith.mulf %x, %e : vector<64xf32>
    return %p : vector<64xf32>
  }

  // Each result replaces its operand.
  // CHECK-LABEL: func.func @chain
  // CHECK-NEXT: math.exp2 %{{.*}} : vector<96xf32>
  // CHECK-NEXT: arith.truncf %{{.*}} : vector<96xf32> to vector<96xbf16>
  func.func @chain(%x: vector<96xf32>) -> vector<96xbf16> {
    %e = math.exp2 %x : vector<96xf32>
    %t = arith.truncf %e : vector<96xf32> to vector<96xbf16>
    return %t : vector<96xbf16>
  }

  // The result of an operation inside of the run is used behind it, and a scalar inside of it.
  // CHECK-LABEL: func.func @uses
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK: %[[A:.*]] = vector.insert_strided_slice
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK: vector.insert_strided_slice %{{.*}}, %[[A]] {offsets = [8], strides = [1]}
  // CHECK: return %{{.*}}, %{{.*}}, %{{.*}} : vector<96xbf16>, vector<96xbf16>, f32
  func.func @uses(%x: vector<96xf32>, %s: f32) -> (vector<96xbf16>, vector<96xbf16>, f32) {
    %e = math.exp2 %x : vector<96xf32>
    %h = arith.truncf %e : vector<96xf32> to vector<96xbf16>
    %scaled = arith.mulf %s, %s : f32
    %p = arith.mulf %x, %e : vector<96xf32>
    %q = arith.addf %p, %e : vector<96xf32>
    %t = arith.truncf %q : vector<96xf32> to vector<96xbf16>
    return %h, %t, %scaled : vector<96xbf16>, vector<96xbf16>, f32
  }

  // A write to memory ends a run where the result behind it would be live beside what is
  // stored and its operands.
  // CHECK-LABEL: func.func @ended
  // CHECK: math.exp2 %{{.*}} : vector<96xf32>
  // CHECK: vector.store
  // CHECK: arith.mulf %{{.*}} : vector<96xf32>
  func.func @ended(%x: vector<96xf32>, %m: memref<16xf32>) -> (vector<96xf32>, vector<96xf32>) {
    %c0 = arith.constant 0 : index
    %e = math.exp2 %x : vector<96xf32>
    vector.store %e, %m[%c0] : memref<16xf32>, vector<96xf32>
    %p = arith.mulf %x, %e : vector<96xf32>
    return %p, %x : vector<96xf32>, vector<96xf32>
  }

  // A copy may have other effects than a store.
  // CHECK-LABEL: func.func @before_copy
  // CHECK: math.exp2 %{{.*}} : vector<96xf32>
  // CHECK: memref.copy
  // CHECK: arith.mulf %{{.*}} : vector<96xf32>
  func.func @before_copy(%x: vector<96xf32>, %m: memref<8xf32>, %n: memref<8xf32>) -> vector<96xf32> {
    %e = math.exp2 %x : vector<96xf32>
    memref.copy %m, %n : memref<8xf32> to memref<8xf32>
    %p = arith.mulf %x, %e : vector<96xf32>
    return %p : vector<96xf32>
  }

  // A sum behind a branch with stores takes the place of its operands: it joins the run in
  // front of the branch, past a load.
  // CHECK-LABEL: func.func @behind_store
  // CHECK: arith.addf %{{.*}} : vector<8xf32>
  // CHECK: arith.addf %{{.*}} : vector<8xf32>
  // CHECK: scf.if
  // CHECK-NOT: arith.addf
  // CHECK: return
  func.func @behind_store(%x: vector<96xf32>, %sum: vector<96xf32>, %m: memref<96xbf16>,
      %n: memref<8xf32>, %stores: i1) -> (vector<96xf32>, vector<8xf32>) {
    %c0 = arith.constant 0 : index
    %e = math.exp2 %x : vector<96xf32>
    %u = vector.load %n[%c0] : memref<8xf32>, vector<8xf32>
    %p = arith.mulf %x, %e : vector<96xf32>
    %t = arith.truncf %p : vector<96xf32> to vector<96xbf16>
    scf.if %stores {
      vector.store %t, %m[%c0] : memref<96xbf16>, vector<96xbf16>
    }
    %next = arith.addf %sum, %e : vector<96xf32>
    return %next, %u : vector<96xf32>, vector<8xf32>
  }

  // Blocks with products keep their order.
  // CHECK-LABEL: func.func @beside
  // CHECK: tile_gpu.mma
  // CHECK: math.exp2 %{{.*}} : vector<96xf32>
  func.func @beside(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>, %x: vector<96xf32>)
      -> (vector<4xf32>, vector<96xf32>) {
    %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
    %e = math.exp2 %x : vector<96xf32>
    %s = arith.addf %e, %e : vector<96xf32>
    %p = arith.mulf %x, %s : vector<96xf32>
    return %d, %p : vector<4xf32>, vector<96xf32>
  }
}

// -----

// The 1024 threads of a block have 64 registers each.
module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @large_block
  // CHECK-SAME: %[[X:.*]]: vector<24xf32>
  // CHECK: vector.extract_strided_slice %[[X]] {offsets = [0], sizes = [8], strides = [1]}
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK-LABEL: gpu.func @small_block
  // CHECK: math.exp2 %{{.*}} : vector<24xf32>
  gpu.func @large_block(%x: vector<24xf32>, %y: memref<?xbf16>, %i: index) kernel
      attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %e = math.exp2 %x : vector<24xf32>
    %p = arith.mulf %x, %e : vector<24xf32>
    %t = arith.truncf %p : vector<24xf32> to vector<24xbf16>
    vector.store %t, %y[%i] : memref<?xbf16>, vector<24xbf16>
    gpu.return
  }
  gpu.func @small_block(%x: vector<24xf32>, %y: memref<?xbf16>, %i: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %e = math.exp2 %x : vector<24xf32>
    %p = arith.mulf %x, %e : vector<24xf32>
    %t = arith.truncf %p : vector<24xf32> to vector<24xbf16>
    vector.store %t, %y[%i] : memref<?xbf16>, vector<24xbf16>
    gpu.return
  }
}
}

// -----

// LLVM's scheduler for AMD keeps the order of the parts.
module attributes {tile.target = "gfx1201"} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @amd
  // CHECK-NOT: amdgpu.sched_barrier
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK: vector.insert_strided_slice %{{.*}} {offsets = [0], strides = [1]}
  // CHECK-NEXT: amdgpu.sched_barrier allow = <none>
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK: vector.insert_strided_slice %{{.*}} {offsets = [8], strides = [1]}
  // CHECK-NEXT: amdgpu.sched_barrier allow = <none>
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK: amdgpu.sched_barrier allow = <none>
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK-NOT: amdgpu.sched_barrier
  // CHECK: gpu.return
  gpu.func @amd(%x: vector<32xf32>, %y: memref<?xbf16>, %i: index) kernel
      attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %e = math.exp2 %x : vector<32xf32>
    %p = arith.mulf %x, %e : vector<32xf32>
    %t = arith.truncf %p : vector<32xf32> to vector<32xbf16>
    vector.store %t, %y[%i] : memref<?xbf16>, vector<32xbf16>
    gpu.return
  }
}
}
