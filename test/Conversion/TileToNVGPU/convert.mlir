// RUN: tile-opt %s --tile-to-nvgpu --split-input-file | FileCheck %s --implicit-check-not=tile_gpu

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

module attributes {tile.target = "sm_80"} {

// CHECK-LABEL: func @mma_f16
// CHECK-SAME: (%[[A:.+]]: vector<8xf16>, %[[B:.+]]: vector<4xf16>, %[[C:.+]]: vector<4xf32>)
func.func @mma_f16(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK-DAG: %[[C0:.+]] = vector.extract %[[C]][0] : f32
  // CHECK-DAG: %[[C1:.+]] = vector.extract %[[C]][1] : f32
  // CHECK-DAG: %[[C2:.+]] = vector.extract %[[C]][2] : f32
  // CHECK-DAG: %[[C3:.+]] = vector.extract %[[C]][3] : f32
  // CHECK: %[[AW:.+]] = vector.bitcast %[[A]] : vector<8xf16> to vector<4xi32>
  // CHECK: %[[A0:.+]] = vector.extract %[[AW]][0]
  // CHECK: %[[A0F:.+]] = llvm.bitcast %[[A0]] : i32 to vector<2xf16>
  // CHECK: %[[A1:.+]] = vector.extract %[[AW]][1]
  // CHECK: %[[A1F:.+]] = llvm.bitcast %[[A1]] : i32 to vector<2xf16>
  // CHECK: %[[A2:.+]] = vector.extract %[[AW]][2]
  // CHECK: %[[A2F:.+]] = llvm.bitcast %[[A2]] : i32 to vector<2xf16>
  // CHECK: %[[A3:.+]] = vector.extract %[[AW]][3]
  // CHECK: %[[A3F:.+]] = llvm.bitcast %[[A3]] : i32 to vector<2xf16>
  // CHECK: %[[BW:.+]] = vector.bitcast %[[B]] : vector<4xf16> to vector<2xi32>
  // CHECK: %[[B0:.+]] = vector.extract %[[BW]][0]
  // CHECK: %[[B0F:.+]] = llvm.bitcast %[[B0]] : i32 to vector<2xf16>
  // CHECK: %[[B1:.+]] = vector.extract %[[BW]][1]
  // CHECK: %[[B1F:.+]] = llvm.bitcast %[[B1]] : i32 to vector<2xf16>
  // CHECK: %[[D:.+]] = nvvm.mma.sync A[%[[A0F]], %[[A1F]], %[[A2F]], %[[A3F]]] B[%[[B0F]], %[[B1F]]] C[%[[C0]], %[[C1]], %[[C2]], %[[C3]]]
  // CHECK-SAME: layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>
  // CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 16>
  // CHECK-DAG: %[[D0:.+]] = llvm.extractvalue %[[D]][0]
  // CHECK-DAG: %[[D1:.+]] = llvm.extractvalue %[[D]][1]
  // CHECK-DAG: %[[D2:.+]] = llvm.extractvalue %[[D]][2]
  // CHECK-DAG: %[[D3:.+]] = llvm.extractvalue %[[D]][3]
  // CHECK: %[[R:.+]] = vector.from_elements %[[D0]], %[[D1]], %[[D2]], %[[D3]] : vector<4xf32>
  // CHECK: return %[[R]]
  %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func @mma_bf16
func.func @mma_bf16(%a: vector<8xbf16>, %b: vector<4xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK-NOT: llvm.bitcast
  // CHECK: nvvm.mma.sync
  // CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>
  // CHECK-SAME: (i32, i32, f32)
  %d = tile_gpu.mma "mma.m16n8k16.bf16" %a, %b, %c : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func @load_matrix
// CHECK-SAME: (%[[M:.+]]: memref<4096xf16, #gpu.address_space<workgroup>>, %[[I:.+]]: index)
func.func @load_matrix(%m: memref<4096xf16, #shared>, %i: index)
    -> (vector<8xf16>, vector<4xf16>, vector<2xf16>) {
  // CHECK: %[[X4:.+]] = nvgpu.ldmatrix %[[M]][%[[I]]] {numTiles = 4 : i32, transpose = true} : memref<4096xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
  // CHECK: %[[V4:.+]] = vector.shape_cast %[[X4]] : vector<4x2xf16> to vector<8xf16>
  %v4 = tile_gpu.load_matrix %m[%i] {transpose} : memref<4096xf16, #shared> -> vector<8xf16>
  // CHECK: %[[X2:.+]] = nvgpu.ldmatrix %[[M]][%[[I]]] {numTiles = 2 : i32, transpose = false}
  // CHECK: %[[V2:.+]] = vector.shape_cast %[[X2]] : vector<2x2xf16> to vector<4xf16>
  %v2 = tile_gpu.load_matrix %m[%i] : memref<4096xf16, #shared> -> vector<4xf16>
  // CHECK: %[[X1:.+]] = nvgpu.ldmatrix %[[M]][%[[I]]] {numTiles = 1 : i32, transpose = false}
  // CHECK: %[[V1:.+]] = vector.shape_cast %[[X1]] : vector<1x2xf16> to vector<2xf16>
  %v1 = tile_gpu.load_matrix %m[%i] : memref<4096xf16, #shared> -> vector<2xf16>
  // CHECK: return %[[V4]], %[[V2]], %[[V1]]
  return %v4, %v2, %v1 : vector<8xf16>, vector<4xf16>, vector<2xf16>
}

// CHECK-LABEL: func @async_copy
// CHECK-SAME: (%[[SRC:.+]]: memref<?xf16, #gpu.address_space<global>>, %[[DST:.+]]: memref<4096xf16, #gpu.address_space<workgroup>>, %[[I:.+]]: index, %[[J:.+]]: index, %[[N:.+]]: index)
func.func @async_copy(%src: memref<?xf16, #global>, %dst: memref<4096xf16, #shared>,
                      %i: index, %j: index, %valid: index) {
  // CHECK: nvgpu.device_async_copy %[[SRC]][%[[I]]], %[[DST]][%[[J]]], 8, %[[N]] {bypassL1}
  tile_gpu.async_copy %src[%i], %dst[%j], %valid {elements = 8}
      : memref<?xf16, #global>, memref<4096xf16, #shared>
  // Only copies of 16 bytes can bypass L1.
  // CHECK: nvgpu.device_async_copy %[[SRC]][%[[I]]], %[[DST]][%[[J]]], 2, %[[N]] : memref
  tile_gpu.async_copy %src[%i], %dst[%j], %valid {elements = 2}
      : memref<?xf16, #global>, memref<4096xf16, #shared>
  // A copy of all elements takes no count.
  // CHECK: nvgpu.device_async_copy %[[SRC]][%[[I]]], %[[DST]][%[[J]]], 8 {bypassL1}
  %c8 = arith.constant 8 : index
  tile_gpu.async_copy %src[%i], %dst[%j], %c8 {elements = 8}
      : memref<?xf16, #global>, memref<4096xf16, #shared>
  // CHECK: nvgpu.device_async_create_group
  tile_gpu.commit_group
  // CHECK: nvvm.cp.async.wait.group 3
  tile_gpu.wait_group 3
  return
}
}

// -----

// Nothing to do.
// CHECK-LABEL: func @nothing
// CHECK: gpu.barrier
module attributes {tile.target = "sm_90a"} {
func.func @nothing() {
  gpu.barrier
  return
}
}
