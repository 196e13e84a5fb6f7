// RUN: tile-opt %s --tile-to-nvgpu --split-input-file | FileCheck %s --implicit-check-not=tile_gpu

#shared = #gpu.address_space<workgroup>

module attributes {tile.target = "sm_80"} {

// CHECK-LABEL: func @mma_f16
// CHECK-SAME: (%[[A:.+]]: vector<8xf16>, %[[B:.+]]: vector<4xf16>, %[[C:.+]]: vector<4xf32>)
func.func @mma_f16(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK-DAG: %[[AR:.+]] = vector.shape_cast %[[A]] : vector<8xf16> to vector<4x2xf16>
  // CHECK-DAG: %[[BR:.+]] = vector.shape_cast %[[B]] : vector<4xf16> to vector<2x2xf16>
  // CHECK-DAG: %[[CR:.+]] = vector.shape_cast %[[C]] : vector<4xf32> to vector<2x2xf32>
  // CHECK: %[[D:.+]] = nvgpu.mma.sync(%[[AR]], %[[BR]], %[[CR]]) {mmaShape = [16, 8, 16]}
  // CHECK: %[[R:.+]] = vector.shape_cast %[[D]] : vector<2x2xf32> to vector<4xf32>
  // CHECK: return %[[R]]
  %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d : vector<4xf32>
}

// Results of ldmatrix and slices of them are fragments without a conversion; so are
// accumulators between MMAs.
// CHECK-LABEL: func @mma_chain
// CHECK-SAME: (%[[M:.+]]: memref<4096xbf16, #gpu.address_space<workgroup>>, %{{.+}}: index, %[[C:.+]]: vector<4xf32>)
func.func @mma_chain(%m: memref<4096xbf16, #shared>, %i: index, %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK: %[[A:.+]] = nvgpu.ldmatrix {{.+}} -> vector<4x2xbf16>
  // CHECK: %[[B:.+]] = nvgpu.ldmatrix {{.+}} -> vector<4x2xbf16>
  // CHECK-DAG: %[[CR:.+]] = vector.shape_cast %[[C]]
  // CHECK-DAG: %[[B0:.+]] = vector.extract_strided_slice %[[B]] {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]}
  // CHECK: %[[D:.+]] = nvgpu.mma.sync(%[[A]], %[[B0]], %[[CR]]) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>)
  // CHECK: %[[B1:.+]] = vector.extract_strided_slice %[[B]] {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]}
  // CHECK: %[[E:.+]] = nvgpu.mma.sync(%[[A]], %[[B1]], %[[D]])
  // CHECK: %[[R:.+]] = vector.shape_cast %[[E]] : vector<2x2xf32> to vector<4xf32>
  // CHECK: return %[[R]]
  %ar = nvgpu.ldmatrix %m[%i] {numTiles = 4 : i32, transpose = false} : memref<4096xbf16, #shared> -> vector<4x2xbf16>
  %a = vector.shape_cast %ar : vector<4x2xbf16> to vector<8xbf16>
  %br = nvgpu.ldmatrix %m[%i] {numTiles = 4 : i32, transpose = false} : memref<4096xbf16, #shared> -> vector<4x2xbf16>
  %b = vector.shape_cast %br : vector<4x2xbf16> to vector<8xbf16>
  %b0 = vector.extract_strided_slice %b {offsets = [0], sizes = [4], strides = [1]} : vector<8xbf16> to vector<4xbf16>
  %b1 = vector.extract_strided_slice %b {offsets = [4], sizes = [4], strides = [1]} : vector<8xbf16> to vector<4xbf16>
  %d = tile_gpu.mma "mma.m16n8k16.bf16" %a, %b0, %c : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
  %e = tile_gpu.mma "mma.m16n8k16.bf16" %a, %b1, %d : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
  return %e : vector<4xf32>
}
}

// -----

// There is nothing to convert.
// CHECK-LABEL: func @nothing
// CHECK: gpu.barrier
module attributes {tile.target = "sm_90a"} {
func.func @nothing() {
  gpu.barrier
  return
}
}
