// RUN: tile-opt %s --cse --canonicalize --loop-invariant-code-motion | FileCheck %s

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

// Equal MMAs are merged, and an unused load is removed.
// CHECK-LABEL: func @pure
// CHECK-COUNT-1: tile_gpu.mma
// CHECK-NOT: tile_gpu
func.func @pure(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>,
                %m: memref<4096xf16, #shared>, %i: index)
    -> (vector<4xf32>, vector<4xf32>) {
  %unused = tile_gpu.load_matrix %m[%i] : memref<4096xf16, #shared> -> vector<8xf16>
  %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %e = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d, %e : vector<4xf32>, vector<4xf32>
}

// Loads before and after the wait are not merged.
// CHECK-LABEL: func @wait
// CHECK: tile_gpu.async_copy
// CHECK: tile_gpu.commit_group
// CHECK: tile_gpu.load_matrix
// CHECK: tile_gpu.wait_group 0
// CHECK: tile_gpu.load_matrix
func.func @wait(%src: memref<?xf16, #global>, %m: memref<4096xf16, #shared>,
                %i: index) -> (vector<8xf16>, vector<8xf16>) {
  tile_gpu.async_copy %src[%i], %m[%i], %i {elements = 8}
      : memref<?xf16, #global>, memref<4096xf16, #shared>
  tile_gpu.commit_group
  %v = tile_gpu.load_matrix %m[%i] : memref<4096xf16, #shared> -> vector<8xf16>
  tile_gpu.wait_group 0
  %w = tile_gpu.load_matrix %m[%i] : memref<4096xf16, #shared> -> vector<8xf16>
  return %v, %w : vector<8xf16>, vector<8xf16>
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
