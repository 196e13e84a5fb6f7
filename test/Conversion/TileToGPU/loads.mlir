// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
#line = #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>
#pairs = #tile.blocked<thread = [2], lane = [8], warp = [1], order = [0]>

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!f = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!all = !tile.buffer<8x64xf16, #tile.strided<[64, 1], align = 16>, global>

// Lane 8 * r + c starts at element (r, 8 * c). Both of its rows are compared with
// the extent; a row outside is zero.
// CHECK-LABEL: gpu.func @bounded(
// CHECK-SAME: %[[A:[^:]+]]: memref<?xf16, #gpu.address_space<global>> {llvm.align = 16 : i64}, %[[LENGTH:[^:]+]]: index, %[[STRIDE:[^:]+]]: index
// CHECK-DAG: %[[ZEROS:.+]] = arith.constant dense<0.000000e+00> : vector<8xf16>
// CHECK-DAG: %[[THREAD:.+]] = gpu.thread_id x
// CHECK: %[[LEFT:.+]] = arith.subi %{{.+}}, %{{.+}} : i32
// CHECK: %[[OFFSET:.+]] = arith.addi
// CHECK: %[[IN:.+]] = arith.cmpi sgt, %[[LEFT]], %c0_i32 : i32
// CHECK: %[[FIRST:.+]] = scf.if %[[IN]] -> (vector<8xf16>) {
// CHECK-NEXT: %[[V:.+]] = vector.load %[[A]][%[[OFFSET]]] {alignment = 16 : i64} : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
// CHECK-NEXT: scf.yield %[[V]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[ZEROS]]
// CHECK: %[[STEP:.+]] = arith.muli %[[STRIDE]], %c4 : index
// CHECK: %[[NEXT:.+]] = arith.addi %[[OFFSET]], %[[STEP]]
// CHECK: %[[IN4:.+]] = arith.cmpi sgt, %[[LEFT]], %c4_i32 : i32
// CHECK: scf.if %[[IN4]] -> (vector<8xf16>) {
// CHECK-NEXT: vector.load %[[A]][%[[NEXT]]]
tile.kernel @bounded(%a: !g, %o: !all) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tile.grid %c8, %c8, %c8
  %b = tile.program_id x
  %row = arith.muli %b, %c8 : index
  %t = tile.load %a[%row, %c0] : !g -> tensor<8x64xf16, #rows>
  tile.store %t, %o[%c0, %c0] : tensor<8x64xf16, #rows>, !all
}

// The start may be negative: the comparison is unsigned, so that elements before
// the buffer are out of bounds.
// CHECK-LABEL: gpu.func @before
// CHECK: arith.cmpi ult
tile.kernel @before(%a: !g, %o: !all, %row: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%row, %c0] : !g -> tensor<8x64xf16, #rows>
  tile.store %t, %o[%c0, %c0] : tensor<8x64xf16, #rows>, !all
}

// A tile inside a static shape needs no bounds check.
// CHECK-LABEL: gpu.func @inside
// CHECK-NOT: scf.if
// CHECK-COUNT-2: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// CHECK-NOT: scf.if
// CHECK: gpu.return
tile.kernel @inside(%a: !all, %o: !all) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !all -> tensor<8x64xf16, #rows>
  tile.store %t, %o[%c0, %c0] : tensor<8x64xf16, #rows>, !all
}

// The dynamic extent may end between two neighbours, so accesses have one element.
// CHECK-LABEL: gpu.func @odd_length
// CHECK-COUNT-2: vector.load %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK: vector.insert_strided_slice
tile.kernel @odd_length(%a: !f) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0] : !f -> tensor<64xf32, #tile.blocked<thread = [2], lane = [32], warp = [1], order = [0]>>
  tile.store %t, %a[%c0] : tensor<64xf32, #tile.blocked<thread = [2], lane = [32], warp = [1], order = [0]>>, !f
}

!s = !tile.buffer<16x64xf16, #tile.swizzle<128>, shared>
!p = !tile.buffer<16x64xf16, #tile.padded<8, order = [1, 0]>, shared>

// Shared memory has no bounds checks. Swizzled addresses need an xor, padded ones do
// not. The offset of the buffer in its allocation is added.
// CHECK-LABEL: gpu.func @shared(
// CHECK-DAG: %[[S:.+]] = memref.view %{{.+}}[%c0][]
// CHECK-DAG: %[[P:.+]] = memref.view %{{.+}}[%c2048][]
// CHECK: arith.xori
// CHECK-COUNT-2: vector.load %[[S]][%{{.+}}] {alignment = 16 : i64} : memref<1024xf16, #gpu.address_space<workgroup>>, vector<8xf16>
// CHECK-NOT: arith.xori
// CHECK-COUNT-2: vector.load %[[P]][%{{.+}}] {alignment = 16 : i64} : memref<1152xf16, #gpu.address_space<workgroup>>, vector<8xf16>
// CHECK-NOT: scf.if
tile.kernel @shared(%o: !all) attributes {num_warps = 1 : i32, shared_bytes = 4352 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  %p = tile.alloc {offset = 2048} : !p
  %t = tile.load %s[%c8, %c0] : !s -> tensor<8x64xf16, #rows>
  %u = tile.load %p[%c8, %c0] : !p -> tensor<8x64xf16, #rows>
  %v = arith.addf %t, %u : tensor<8x64xf16, #rows>
  tile.store %v, %o[%c0, %c0] : tensor<8x64xf16, #rows>, !all
}

// A slice changes the offset; static strides need no argument.
// CHECK-LABEL: gpu.func @sliced(
// CHECK-SAME: %{{[^:]+}}: memref<?xf32, #gpu.address_space<global>>, %[[N:[^:]+]]: index, %[[I:[^:]+]]: index)
// CHECK: %[[OFFSET:.+]] = arith.muli %[[I]], %c64
// CHECK: %[[PLACE:.+]] = arith.addi %[[OFFSET]],
tile.kernel @sliced(%a: !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>, %i: index)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %row = tile.slice %a[%i, *] : !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
      to !tile.buffer<64xf32, #tile.strided<[1]>, global>
  // CHECK: vector.load %{{.+}}[%[[PLACE]]]
  %t = tile.load %row[%c0] : !tile.buffer<64xf32, #tile.strided<[1]>, global> -> tensor<32xf32, #line>
  tile.store %t, %row[%c0] : tensor<32xf32, #line>, !tile.buffer<64xf32, #tile.strided<[1]>, global>
}

// Lanes beyond the tile hold copies, which they load, too.
// CHECK-LABEL: gpu.func @copies
// CHECK: arith.remui %{{.+}}, %c8_i32
// CHECK: vector.load %{{.+}}, vector<1xf32>
tile.kernel @copies(%a: !f) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0] : !f -> tensor<8xf32, #line>
  tile.store %t, %a[%c0] : tensor<8xf32, #line>, !f
}
