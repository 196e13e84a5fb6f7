// Stores of matrices become NVVM's stmatrix, because nvgpu has none.
// RUN: tile-opt %s --tile-to-nvgpu | FileCheck %s --implicit-check-not=tile_gpu

#shared = #gpu.address_space<workgroup>
module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: func @store_matrix
// CHECK-SAME: (%[[V:.+]]: vector<8xf16>, %[[M:.+]]: memref<4096xf16, #gpu.address_space<workgroup>>, %[[I:.+]]: index)
func.func @store_matrix(%v: vector<8xf16>, %m: memref<4096xf16, #shared>, %i: index) {
  // CHECK: %[[W:.+]] = vector.bitcast %[[V]] : vector<8xf16> to vector<4xi32>
  // CHECK: %[[W0:.+]] = vector.extract %[[W]][0]
  // CHECK: %[[W3:.+]] = vector.extract %[[W]][3]
  // CHECK: %[[P:.+]] = llvm.inttoptr %{{.+}} : i32 to !llvm.ptr<3>
  // CHECK: nvvm.stmatrix %[[P]], %[[W0]], %{{.+}}, %{{.+}}, %[[W3]] {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
  tile_gpu.store_matrix %v, %m[%i] : vector<8xf16>, memref<4096xf16, #shared>
  // CHECK: nvvm.stmatrix {{.+}} layout = #nvvm.mma_layout<col>
  tile_gpu.store_matrix %v, %m[%i] {transpose} : vector<8xf16>, memref<4096xf16, #shared>
  return
}

}
