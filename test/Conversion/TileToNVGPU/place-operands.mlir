// Addresses of shared memory and numbers of barriers are computed at their uses.
// RUN: tile-opt %s --tile-to-nvgpu | FileCheck %s

#shared = #gpu.address_space<workgroup>
#global = #gpu.address_space<global>
module attributes {tile.target = "sm_90a"} {

// The index of the element stays outside of the loop.
// CHECK-LABEL: func @loop
// CHECK-SAME: (%[[M:.*]]: memref<?xf16, #gpu.address_space<workgroup>>, %[[N:.*]]: index, %[[V:.*]]: i32)
// CHECK: %[[INDEX:.*]] = arith.addi %[[N]], %[[N]]
// CHECK-NEXT: scf.for
// CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[M]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[INDEX]], %{{.*}}
// CHECK: %[[SUM:.*]] = arith.addi %[[BASE]], %[[OFFSET]]
// CHECK: %[[ADDRESS:.*]] = arith.index_castui %[[SUM]]
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]]
// CHECK: nvvm.stmatrix %[[POINTER]]
// CHECK: %[[NUMBER:.*]] = arith.addi %[[V]], %{{.*}}
// CHECK: nvvm.barrier id = %[[NUMBER]]
func.func @loop(%m: memref<?xf16, #shared>, %n: index, %v: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : i32
  %threads = arith.constant 256 : i32
  %index = arith.addi %n, %n : index
  %base = memref.extract_aligned_pointer_as_index %m : memref<?xf16, #shared> -> index
  %offset = arith.muli %index, %c2 : index
  %sum = arith.addi %base, %offset : index
  %address = arith.index_castui %sum : index to i32
  %pointer = llvm.inttoptr %address : i32 to !llvm.ptr<3>
  %number = arith.addi %v, %c3 : i32
  scf.for %i = %c0 to %n step %c1 {
    nvvm.stmatrix %pointer, %v {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : !llvm.ptr<3>, i32
    nvvm.barrier id = %number number_of_threads = %threads
  }
  return
}

// An address of global memory stays.
// CHECK-LABEL: func @global
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: scf.for
// CHECK-NOT: memref.extract_aligned_pointer_as_index
// CHECK: return
func.func @global(%g: memref<?xf16, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %base = memref.extract_aligned_pointer_as_index %g : memref<?xf16, #global> -> index
  %address = arith.index_castui %base : index to i64
  scf.for %i = %c0 to %n step %c1 {
    llvm.inline_asm has_side_effects "prefetch.global.L2 [$0];", "l" %address : (i64) -> ()
  }
  return
}
}
