// Rows of any length are loaded and stored by wide accesses. Elements are accessed
// singly only where the row ends.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,gpu.module(tile-expand-masked-loads),canonicalize,cse)' \
// RUN:   | FileCheck %s

#rows = #tile.blocked<thread = [1, 4], lane = [1, 32], warp = [1, 1], order = [1, 0]>
#line = #tile.blocked<thread = [1, 1], lane = [1, 32], warp = [1, 1], order = [1, 0]>

!ragged = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!odd = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>

// Each thread has two accesses. If both are in bounds, there is no other check.
// CHECK-LABEL: gpu.func @two_accesses(
// The last element of the warp, so that all lanes take one side.
// CHECK: arith.cmpi sgt, %{{.+}}, %c255_i32 : i32
// CHECK-NEXT: %[[ALL:.+]] = arith.andi
// CHECK-NEXT: %{{.+}}:2 = scf.if %[[ALL]] -> (vector<4xf32>, vector<4xf32>) {
// CHECK-NEXT: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NEXT: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// If the row ends between two accesses, each one is in bounds or not.
// CHECK: %[[REST:.+]] = arith.remui %[[LEFT:.+]], %c4_i32 : i32
// CHECK: %[[UNCUT:.+]] = arith.cmpi eq, %[[REST]], %c0_i32 : i32
// CHECK: scf.if %[[UNCUT]] -> (vector<4xf32>, vector<4xf32>) {
// CHECK: arith.cmpi sgt, %[[LEFT]], %c0_i32 : i32
// CHECK: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: arith.cmpi sgt, %[[LEFT]], %c128_i32 : i32
// CHECK: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// The number of elements of the first access that are in bounds.
// CHECK: %[[COUNT:.+]] = arith.select %{{.+}}, %{{.+}}, %c0 : index
// CHECK: %[[WHOLE:.+]] = arith.cmpi sgt, %[[COUNT]], %c3 : index
// CHECK: scf.if %[[WHOLE]] -> (vector<4xf32>) {
// CHECK-NEXT: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: } else {
// CHECK: %[[SOME:.+]] = arith.cmpi sgt, %[[COUNT]], %c0 : index
// CHECK: scf.if %[[SOME]] -> (vector<4xf32>) {
// CHECK: vector.load %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK: arith.cmpi sgt, %[[COUNT]], %c1 : index
// CHECK: vector.load %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK: arith.cmpi sgt, %[[COUNT]], %c2 : index
// The second access.
// CHECK: scf.if
// CHECK: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// The stores.
// CHECK: scf.if %[[ALL]] {
// CHECK-NEXT: vector.store %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NEXT: vector.store %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NEXT: } else {
// CHECK: arith.remui %[[LEFT]], %c4_i32 : i32
// CHECK: vector.store %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: vector.store %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: scf.if
// CHECK-NEXT: vector.store %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NEXT: } else {
// CHECK-COUNT-4: vector.store %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK: scf.if
// CHECK-NEXT: vector.store %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NEXT: } else {
// CHECK-COUNT-4: vector.store %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK-NOT: vector.store
// CHECK: gpu.return
tile.kernel @two_accesses(%a: !ragged) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !ragged -> tensor<1x256xf32, #rows>
  tile.store %t, %a[%c0, %c0] : tensor<1x256xf32, #rows>, !ragged
}

// One access has no fast path beside its own.
// CHECK-LABEL: gpu.func @one_access(
// CHECK-COUNT-1: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-COUNT-4: vector.load %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK-NOT: vector.load
// CHECK: gpu.return
tile.kernel @one_access(%a: !ragged, %o: !ragged) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !ragged -> tensor<1x128xf32, #rows>
  tile.store %t, %o[%c0, %c0] : tensor<1x128xf32, #rows>, !ragged
}

// Three accesses of single elements have one check for all of them, too.
// CHECK-LABEL: gpu.func @elements(
// CHECK: %{{.+}}:3 = scf.if
// CHECK-NEXT: vector.load %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK-NEXT: vector.load %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK-NEXT: vector.load %{{.+}} {alignment = 4 : i64} : {{.*}}, vector<1xf32>
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-COUNT-3: scf.if
// CHECK: gpu.return
tile.kernel @elements(%a: !odd, %o: !odd) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !odd -> tensor<1x96xf32, #line>
  tile.store %t, %o[%c0, %c0] : tensor<1x96xf32, #line>, !odd
}

// Two have a check each.
// CHECK-LABEL: gpu.func @two_elements(
// CHECK-COUNT-2: scf.if {{.*}} -> (vector<1xf32>)
// CHECK-NOT: scf.if {{.*}} ->
// CHECK: gpu.return
tile.kernel @two_elements(%a: !odd, %o: !odd) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !odd -> tensor<1x64xf32, #line>
  tile.store %t, %o[%c0, %c0] : tensor<1x64xf32, #line>, !odd
}

// A row whose length is a multiple of the access ends between two of them.
// CHECK-LABEL: gpu.func @multiple(
// CHECK-NOT: vector<1xf32>
// CHECK: gpu.return
tile.kernel @multiple(%a: !ragged, %o: !ragged) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.grid %c0, %c0, %c0
  %all = tile.dim %a[1] : !ragged
  %groups = arith.divui %all, %c4 : index
  %length = arith.muli %groups, %c4 : index
  %n = tile.narrow %a[1] from %c0 length %length : !ragged to !ragged
  %t = tile.load %n[%c0, %c0] : !ragged -> tensor<1x256xf32, #rows>
  tile.store %t, %n[%c0, %c0] : tensor<1x256xf32, #rows>, !ragged
}
