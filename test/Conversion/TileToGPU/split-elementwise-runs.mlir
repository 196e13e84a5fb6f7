// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-split-elementwise-runs))' | FileCheck %s

gpu.module @kernels {
  // x is live beside its exponential, so the run is computed in parts.
  // CHECK-LABEL: func.func @product
  // CHECK-SAME: %[[X:.*]]: vector<12xf32>
  // CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[X]] {offsets = [0], sizes = [8], strides = [1]}
  // CHECK: %[[E:.*]] = math.exp2 %[[LOW]] : vector<8xf32>
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
  // CHECK: %[[D:.*]] = arith.addf %[[E]], %[[ONE]] : vector<8xf32>
  // CHECK: %[[P:.*]] = arith.mulf %[[LOW]], %[[D]] : vector<8xf32>
  // CHECK: %[[T:.*]] = arith.truncf %[[P]] : vector<8xf32> to vector<8xbf16>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<12xbf16>
  // CHECK: %[[FIRST:.*]] = vector.insert_strided_slice %[[T]], %[[ZERO]] {offsets = [0], strides = [1]}
  // CHECK: %[[HIGH:.*]] = vector.extract_strided_slice %[[X]] {offsets = [8], sizes = [4], strides = [1]}
  // CHECK: math.exp2 %[[HIGH]] : vector<4xf32>
  // CHECK: %[[ALL:.*]] = vector.insert_strided_slice %{{.*}}, %[[FIRST]] {offsets = [8], strides = [1]} : vector<4xbf16> into vector<12xbf16>
  // CHECK: return %[[ALL]]
  func.func @product(%x: vector<12xf32>) -> vector<12xbf16> {
    %one = arith.constant dense<1.0> : vector<12xf32>
    %e = math.exp2 %x : vector<12xf32>
    %d = arith.addf %e, %one : vector<12xf32>
    %p = arith.mulf %x, %d : vector<12xf32>
    %t = arith.truncf %p : vector<12xf32> to vector<12xbf16>
    return %t : vector<12xbf16>
  }

  // Each result replaces its operand.
  // CHECK-LABEL: func.func @chain
  // CHECK-NEXT: math.exp2 %{{.*}} : vector<16xf32>
  // CHECK-NEXT: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
  func.func @chain(%x: vector<16xf32>) -> vector<16xbf16> {
    %e = math.exp2 %x : vector<16xf32>
    %t = arith.truncf %e : vector<16xf32> to vector<16xbf16>
    return %t : vector<16xbf16>
  }

  // The result of an operation inside of the run is used behind it, and a scalar inside of it.
  // CHECK-LABEL: func.func @uses
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK: %[[A:.*]] = vector.insert_strided_slice
  // CHECK: math.exp2 %{{.*}} : vector<8xf32>
  // CHECK: %[[B:.*]] = vector.insert_strided_slice %{{.*}}, %[[A]] {offsets = [8], strides = [1]}
  // CHECK: return %[[B]], %{{.*}}, %{{.*}} : vector<16xbf16>, vector<16xbf16>, f32
  func.func @uses(%x: vector<16xf32>, %s: f32) -> (vector<16xbf16>, vector<16xbf16>, f32) {
    %e = math.exp2 %x : vector<16xf32>
    %h = arith.truncf %e : vector<16xf32> to vector<16xbf16>
    %scaled = arith.mulf %s, %s : f32
    %p = arith.mulf %x, %e : vector<16xf32>
    %q = arith.addf %p, %e : vector<16xf32>
    %t = arith.truncf %q : vector<16xf32> to vector<16xbf16>
    return %h, %t, %scaled : vector<16xbf16>, vector<16xbf16>, f32
  }

  // A write to memory ends a run, and so does a read of one of its vectors.
  // CHECK-LABEL: func.func @ended
  // CHECK: math.exp2 %{{.*}} : vector<16xf32>
  // CHECK: vector.store
  // CHECK: arith.mulf %{{.*}} : vector<16xf32>
  func.func @ended(%x: vector<16xf32>, %m: memref<16xf32>) -> vector<16xf32> {
    %c0 = arith.constant 0 : index
    %e = math.exp2 %x : vector<16xf32>
    vector.store %e, %m[%c0] : memref<16xf32>, vector<16xf32>
    %p = arith.mulf %x, %e : vector<16xf32>
    return %p : vector<16xf32>
  }

  // Blocks with products keep their order.
  // CHECK-LABEL: func.func @beside
  // CHECK: tile_gpu.mma
  // CHECK: math.exp2 %{{.*}} : vector<16xf32>
  func.func @beside(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>, %x: vector<16xf32>)
      -> (vector<4xf32>, vector<16xf32>) {
    %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
    %e = math.exp2 %x : vector<16xf32>
    %s = arith.addf %e, %e : vector<16xf32>
    %p = arith.mulf %x, %s : vector<16xf32>
    return %d, %p : vector<4xf32>, vector<16xf32>
  }
}
