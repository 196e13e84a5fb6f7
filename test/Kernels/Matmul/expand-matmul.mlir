// RUN: tile-opt %s --tile-expand-matmul --canonicalize -split-input-file | FileCheck %s

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @transposed(
// CHECK-SAME: %[[A:.*]]: !{{.*}}, %[[B:.*]]: !{{.*}}, %[[C:.*]]: !{{.*}})
// CHECK-SAME: attributes {num_warps = 8 : i32, schedule = #tile.schedule<params = {BK = 64}>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[BM:.*]] = tile.param BM in [16, 32, 64, 128, 192, 256]
// CHECK: %[[BN:.*]] = tile.param BN in [32, 64, 96, 128, 192, 256]
// CHECK: %[[BK:.*]] = tile.param BK in [32, 64, 128]
// CHECK: %[[M:.*]] = tile.dim %[[A]][1]
// CHECK: %[[N:.*]] = tile.dim %[[B]][0]
// CHECK: %[[K:.*]] = tile.dim %[[A]][0]
// CHECK: %[[ROWS:.*]] = arith.ceildivui %[[M]], %[[BM]]
// CHECK: %[[COLUMNS:.*]] = arith.ceildivui %[[N]], %[[BN]]
// CHECK: tile.grid %[[ROWS]], %[[COLUMNS]], %[[C1]]
// CHECK: %[[X:.*]] = tile.program_id x
// CHECK: %[[Y:.*]] = tile.program_id y
// CHECK: %[[COLUMN:.*]] = arith.muli %[[Y]], %[[BN]]
// CHECK: %[[ROW:.*]] = arith.muli %[[X]], %[[BM]]
// CHECK: tile.require %[[B]][1] equal %{{.*}}, "the K of a"
// CHECK: tile.require %[[C]][0] equal %{{.*}}, "the M of a"
// CHECK: tile.require %[[C]][1] equal %{{.*}}, "the N of b"
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %[[C0]] to %[[K]] step %[[BK]] iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[AK:.*]] = tile.load %[[A]][%[[I]], %[[ROW]]] : {{.*}} -> tensor<?x?xbf16, #tile.open<BK, BM>>
// CHECK: %[[AT:.*]] = tile.transpose %[[AK]] [1, 0]
// CHECK: %[[BN0:.*]] = tile.load %[[B]][%[[COLUMN]], %[[I]]] : {{.*}} -> tensor<?x?xbf16, #tile.open<BN, BK>>
// CHECK: %[[BT:.*]] = tile.transpose %[[BN0]] [1, 0]
// CHECK: %[[NEXT:.*]] = tile.dot %[[AT]], %[[BT]], %[[ACC]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: %[[R:.*]] = arith.truncf %[[SUM]]
// CHECK: tile.store %[[R]], %[[C]][%[[ROW]], %[[COLUMN]]]
func.func @transposed(%a: !a, %b: !a, %c: !a) {
  tile.matmul %a, %b to %c
      {transpose_a, transpose_b, schedule = #tile.schedule<params = {BK = 64}, warps = 8>}
      : !a, !a, !a
  return
}

// -----

// Elements of 8 bits have longer rows; extents that types give need no check.
!a = !tile.buffer<128x256xi8, #tile.strided<[256, 1], align = 16>, global>
!b = !tile.buffer<256x64xi8, #tile.strided<[64, 1], align = 16>, global>
!c = !tile.buffer<128x64xi32, #tile.strided<[64, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @bytes
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK: tile.param BK in [64, 128, 256]
// CHECK-NOT: tile.require
// CHECK: scf.for %{{.*}} to %[[C256]]
// CHECK: tile.dot {{.*}}i8
// CHECK-NOT: truncf
// CHECK: tile.store
func.func @bytes(%a: !a, %b: !b, %c: !c) {
  tile.matmul %a, %b to %c : !a, !b, !c
  return
}

// -----

// Two dimensions of batches are one dimension of the grid. An operand without them
// is the same for all.
!x = !tile.buffer<?x?x?x?xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!w = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @batches(
// CHECK-SAME: %[[X:.*]]: !{{.*}}, %[[W:.*]]: !{{.*}}, %[[Y:.*]]: !{{.*}})
// CHECK: %[[B0:.*]] = tile.dim %[[X]][0]
// CHECK: %[[B1:.*]] = tile.dim %[[X]][1]
// CHECK: %[[ALL:.*]] = arith.muli %[[B0]], %[[B1]]
// CHECK: tile.grid %{{.*}}, %{{.*}}, %[[ALL]]
// CHECK: %[[Z:.*]] = tile.program_id z
// CHECK: %[[I1:.*]] = arith.remui %[[Z]], %[[B1]]
// CHECK: %[[I0:.*]] = arith.divui %[[Z]], %[[B1]]
// CHECK: tile.slice %[[X]][%[[I0]], %[[I1]], *, *]
// CHECK: tile.load %[[W]]
// CHECK: tile.slice %[[Y]][%[[I0]], %[[I1]], *, *]
func.func @batches(%x: !x, %w: !w, %y: !x) {
  tile.matmul %x, %w to %y : !x, !w, !x
  return
}

// -----

// An epilogue's parameter replaces the kernel's. The scalars of the function go to
// the kernels that use them.
!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!f = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>

// CHECK-LABEL: tile.kernel @epilogue_0(
// CHECK: %[[BM:.*]] = tile.param BM in [64]
// CHECK: tile.param BN in [32, 64, 96, 128, 192, 256]
// CHECK: %[[ROWS:.*]] = arith.ceildivui %{{.*}}, %[[BM]]
// CHECK: %[[SUMS:.*]]:2 = scf.for
// CHECK: %[[P:.*]] = arith.mulf %[[SUMS]]#0, %[[SUMS]]#1
// CHECK: tile.store %[[P]]
// CHECK-LABEL: tile.kernel @epilogue_1(
// CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[T:.*]] = tensor.splat %[[S]]
// CHECK: %[[R:.*]] = arith.mulf %[[SUM]], %[[T]]
// CHECK: tile.store %[[R]]
func.func @epilogue(%a: !a, %b: !a, %c: !f, %scale: f32) {
  %s = arith.mulf %scale, %scale : f32
  tile.matmul %a, %b, %b to %c : !a, !a, !a, !f epilogue {
  ^bb0(%x: !sum, %y: !sum, %row: index, %column: index):
    %bm = tile.param BM in [64]
    %r = arith.mulf %x, %y : !sum
    tile.yield %r : !sum
  }
  tile.matmul %a, %b to %c : !a, !a, !f epilogue {
  ^bb0(%x: !sum, %row: index, %column: index):
    %bm = tile.param BM in [64]
    %bn = tile.param BN in [64]
    %t = tensor.splat %s[%bm, %bn] : !sum
    %r = arith.mulf %x, %t : !sum
    tile.yield %r : !sum
  }
  return
}

// -----

// A binary search finds the group of a block.
!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @groups(
// CHECK-SAME: %[[A:.*]]: !{{.*}}, %[[B:.*]]: !{{.*}}, %[[C:.*]]: !{{.*}}, %[[ENDS:.*]]: !{{.*}})
// CHECK: %[[G:.*]] = tile.dim %[[B]][0]
// CHECK: %[[BITS:.*]] = arith.subi %c32{{.*}}
// CHECK: %[[GROUP:.*]] = scf.for {{.*}} to %{{.*}} step %c1 {{.*}} -> (index)
// CHECK: tile.load_scalar %[[ENDS]]
// CHECK: tile.narrow %[[A]][0] from %[[START:.*]] length %[[LENGTH:.*]] :
// CHECK: tile.slice %[[B]][%[[GROUP]], *, *]
// CHECK: %[[HAS:.*]] = arith.cmpi ult, %{{.*}}, %[[LENGTH]]
// CHECK: %[[DEPTH:.*]] = arith.select %[[HAS]], %{{.*}}, %c0
// CHECK: scf.for %{{.*}} to %[[DEPTH]]
// CHECK: tile.narrow %[[C]][0] from %[[START]] length %[[LENGTH]] :
func.func @groups(%a: !a, %b: !b, %c: !a, %ends: !n) {
  tile.matmul %a, %b to %c ends %ends : !a, !b, !a, !n
  return
}

// CHECK-LABEL: tile.kernel @counts(
// CHECK-SAME: %[[A:.*]]: !{{.*}}, %[[COUNTS:.*]]: !{{.*}})
// CHECK: %[[Z:.*]] = tile.program_id z
// CHECK: tile.load_scalar %[[COUNTS]][%[[Z]]]
// CHECK: tile.slice %[[A]][%[[Z]], *, *]
// CHECK: tile.narrow %{{.*}}[0] from %c0 length
func.func @counts(%a: !b, %counts: !n) {
  tile.matmul %a, %a to %a counts %counts : !b, !b, !b, !n
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @atomic_zero(
// CHECK-SAME: %[[S:[^:]*]]: !{{[^:]*}} {tile.accumulator = "atomic.3"})
// CHECK-NOT: schedule
// CHECK: tile.require %[[S]][0] equal %{{.*}}, "M rounded up to a multiple of 16"
// CHECK: tile.require %[[S]][1] equal %{{.*}}, "N rounded up to a multiple of 16"
// CHECK-NOT: scf.for
// CHECK: tile.store %{{.*}}, %[[S]]
// CHECK-LABEL: tile.kernel @atomic_product(
// CHECK-SAME: schedule = #tile.schedule<split = 4>
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: tile.atomic_rmw addf %[[SUM]]
// CHECK-NOT: tile.store
// CHECK-LABEL: tile.kernel @atomic_epilogue(
// CHECK-NOT: scf.for
// CHECK: tile.load
// CHECK: arith.truncf
// CHECK: tile.store
func.func @atomic(%a: !a, %b: !a, %c: !a, %s: !s) {
  tile.matmul %a, %b to %c atomic %s {schedule = #tile.schedule<split = 4>} : !a, !a, !a, !s
  return
}
