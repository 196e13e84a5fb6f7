// RUN: tile-opt %s --cse --canonicalize --loop-invariant-code-motion | FileCheck %s

// Equal MMAs are merged.
// CHECK-LABEL: func @pure
// CHECK-COUNT-1: tile_gpu.mma
// CHECK-NOT: tile_gpu
func.func @pure(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>)
    -> (vector<4xf32>, vector<4xf32>) {
  %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %e = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d, %e : vector<4xf32>, vector<4xf32>
}

// Values computed from the result of each of these operations are computed again,
// and are not hoisted out of the loop.
// CHECK-LABEL: func @recompute
// CHECK: %[[X:.*]] = tile_gpu.recompute
// CHECK: arith.muli %[[X]], %[[X]]
// CHECK: scf.for
// CHECK: %[[Y:.*]] = tile_gpu.recompute %[[X]]
// CHECK: arith.muli %[[Y]], %[[Y]]
func.func @recompute(%n: i32, %m: memref<?xi32>, %i: index, %end: index) {
  %x = tile_gpu.recompute %n
  %xx = arith.muli %x, %x : i32
  memref.store %xx, %m[%i] : memref<?xi32>
  scf.for %j = %i to %end step %i {
    %unused = tile_gpu.recompute %n
    %y = tile_gpu.recompute %x
    %yy = arith.muli %y, %y : i32
    memref.store %yy, %m[%j] : memref<?xi32>
  }
  return
}
