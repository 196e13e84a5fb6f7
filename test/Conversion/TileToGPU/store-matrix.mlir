// The stores of fragments that become stmatrix.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize)' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize)' \
// RUN:   | FileCheck %s --check-prefix=SM80

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#halves = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>

!swizzled = !tile.buffer<16x64xf16, #tile.swizzle<128>, shared>
!odd = !tile.buffer<16x64xf16, #tile.padded<4, order = [1, 0]>, shared>
!columns = !tile.buffer<16x64xf16, #tile.padded<8, order = [0, 1]>, shared>

// One instruction stores four matrices; chips before sm_90 store pairs of elements.
// CHECK-LABEL: gpu.func @rows
// CHECK: %[[W:.+]] = vector.bitcast %{{.+}} : vector<8xf16> to vector<4xi32>
// CHECK: %[[W0:.+]] = vector.extract %[[W]][0]
// CHECK: %[[W3:.+]] = vector.extract %[[W]][3]
// CHECK: %[[P:.+]] = llvm.inttoptr %{{.+}} : i32 to !llvm.ptr<3>
// CHECK: nvvm.stmatrix %[[P]], %[[W0]], %{{.+}}, %{{.+}}, %[[W3]] {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
// CHECK-COUNT-3: nvvm.stmatrix
// CHECK-NOT: {{vector.store|stmatrix}}
// SM80-LABEL: gpu.func @rows
// SM80-NOT: stmatrix
// SM80-COUNT-16: vector.store {{.+}} vector<2xf16>
tile.kernel @rows() attributes {num_warps = 1 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %x = arith.constant dense<1.0> : tensor<16x64xf16, #mma>
  %s = tile.alloc {offset = 0} : !swizzled
  tile.store %x, %s[%c0, %c0] : tensor<16x64xf16, #mma>, !swizzled
}

// Columns are contiguous, so the transposing form stores them.
// CHECK-LABEL: gpu.func @columns
// CHECK-COUNT-4: nvvm.stmatrix {{.+}} layout = #nvvm.mma_layout<col>
// CHECK-NOT: {{vector.store|stmatrix}}
tile.kernel @columns() attributes {num_warps = 1 : i32, shared_bytes = 3072 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %x = arith.constant dense<1.0> : tensor<16x64xf16, #mma>
  %s = tile.alloc {offset = 0} : !columns
  tile.store %x, %s[%c0, %c0] : tensor<16x64xf16, #mma>, !columns
}

// Plain stores: rows that do not start at 16 bytes, and elements with copies in other warps.
// CHECK-LABEL: gpu.func @odd
// CHECK-NOT: stmatrix
// CHECK-LABEL: gpu.func @copies
// CHECK-NOT: stmatrix
tile.kernel @odd() attributes {num_warps = 1 : i32, shared_bytes = 3072 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %x = arith.constant dense<1.0> : tensor<16x64xf16, #mma>
  %s = tile.alloc {offset = 0} : !odd
  tile.store %x, %s[%c0, %c0] : tensor<16x64xf16, #mma>, !odd
}
tile.kernel @copies() attributes {num_warps = 2 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %x = arith.constant dense<1.0> : tensor<16x64xf16, #tile.dot_operand<0, #halves>>
  %s = tile.alloc {offset = 0} : !swizzled
  tile.store %x, %s[%c0, %c0] : tensor<16x64xf16, #tile.dot_operand<0, #halves>>, !swizzled
}
