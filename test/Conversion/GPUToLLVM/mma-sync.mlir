// Fragments are split into registers once, at their definition. Accumulators are
// passed from MMA to MMA as scalars. bf16 uses i32 registers.
//
// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-to-llvm,canonicalize))" | FileCheck %s

module attributes {tile.target = "sm_80"} {
gpu.module @m {

// CHECK-LABEL: llvm.func @f16
// CHECK-COUNT-4: llvm.bitcast %{{.+}} : i32 to vector<2xf16>
// CHECK: %[[D:.+]] = nvvm.mma.sync A[%[[A0:.+]], %[[A1:.+]], %[[A2:.+]], %[[A3:.+]]] B[%[[B0:[^ ,]+]], %[[B1:[^ ,]+]]] C[
// CHECK-SAME: layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-DAG: %[[D0:.+]] = llvm.extractvalue %[[D]][0]
// CHECK-DAG: %[[D1:.+]] = llvm.extractvalue %[[D]][1]
// CHECK-DAG: %[[D2:.+]] = llvm.extractvalue %[[D]][2]
// CHECK-DAG: %[[D3:.+]] = llvm.extractvalue %[[D]][3]
// CHECK-NOT: llvm.bitcast
// CHECK: nvvm.mma.sync A[%[[A0]], %[[A1]], %[[A2]], %[[A3]]] B[%[[B0]], %[[B1]]] C[%[[D0]], %[[D1]], %[[D2]], %[[D3]]]
func.func @f16(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %ar = vector.shape_cast %a : vector<8xf16> to vector<4x2xf16>
  %br = vector.shape_cast %b : vector<4xf16> to vector<2x2xf16>
  %cr = vector.shape_cast %c : vector<4xf32> to vector<2x2xf32>
  %d = nvgpu.mma.sync(%ar, %br, %cr) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  %e = nvgpu.mma.sync(%ar, %br, %d) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  %er = vector.shape_cast %e : vector<2x2xf32> to vector<4xf32>
  return %er : vector<4xf32>
}

// A loaded fragment, a slice of it, and a result that is used as a matrix.
// CHECK-LABEL: llvm.func @bf16
// CHECK: nvvm.mma.sync
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>
// CHECK-SAME: (i32, i32, f32)
// CHECK-NOT: unrealized_conversion_cast
func.func @bf16(%a: vector<4x2xbf16>, %b: vector<4x2xbf16>, %c: vector<2x2xf32>) -> vector<2x2xf32> {
  %b1 = vector.extract_strided_slice %b {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xbf16> to vector<2x2xbf16>
  %d = nvgpu.mma.sync(%a, %b1, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
  return %d : vector<2x2xf32>
}

// f32 operands are rounded to tf32 once, at their definition.
// CHECK-LABEL: llvm.func @tf32
// CHECK-COUNT-6: nvvm.convert.float.to.tf32 %{{.+}} {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK: nvvm.mma.sync
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 8>
// CHECK-SAME: (i32, i32, f32)
// CHECK-NOT: nvvm.convert
// CHECK: nvvm.mma.sync
func.func @tf32(%a: vector<4xf32>, %b: vector<2xf32>, %c: vector<4xf32>) -> vector<4xf32> {
  %ar = vector.shape_cast %a : vector<4xf32> to vector<4x1xf32>
  %br = vector.shape_cast %b : vector<2xf32> to vector<2x1xf32>
  %cr = vector.shape_cast %c : vector<4xf32> to vector<2x2xf32>
  %d = nvgpu.mma.sync(%ar, %br, %cr) {mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
  %e = nvgpu.mma.sync(%ar, %br, %d) {mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
  %er = vector.shape_cast %e : vector<2x2xf32> to vector<4xf32>
  return %er : vector<4xf32>
}

// Four bytes are a register; sums wrap around.
// CHECK-LABEL: llvm.func @i8
// CHECK: nvvm.mma.sync
// CHECK-SAME: intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>
// CHECK-SAME: (i32, i32, i32)
func.func @i8(%a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xi32>) -> vector<4xi32> {
  %ar = vector.shape_cast %a : vector<16xi8> to vector<4x4xi8>
  %br = vector.shape_cast %b : vector<8xi8> to vector<2x4xi8>
  %cr = vector.shape_cast %c : vector<4xi32> to vector<2x2xi32>
  %d = nvgpu.mma.sync(%ar, %br, %cr) {mmaShape = [16, 8, 32]} : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
  %dr = vector.shape_cast %d : vector<2x2xi32> to vector<4xi32>
  return %dr : vector<4xi32>
}
}
}
