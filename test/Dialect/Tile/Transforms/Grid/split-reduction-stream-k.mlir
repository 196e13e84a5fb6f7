// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-split-reduction,canonicalize,cse)' \
// RUN:   --remarks-filter='tile-split-reduction' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<64x128xf32>

// A block has a whole tile, or a part of one that is left over. The first kernel
// finishes whole tiles and stores the sums of parts that are not empty.
// REMARK: [Passed] reduction-split {{.*}}blocks=132
// CHECK-LABEL: tile.kernel @product(
// CHECK-SAME: %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[C:.*]]: {{.*}}, %[[PARTS:.*]]: !tile.buffer<?x64x128xf32, {{.*}}> {tile.name = "product_parts"})
// CHECK-SAME: schedule = #tile.schedule<stages = 4>
// CHECK-NOT: tile.launch_dependents
// CHECK-DAG: %[[ROWS:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[ALL:.*]] = arith.muli %[[ROWS]], %{{.*}} : i32
// CHECK: %[[LAST:.*]] = arith.remui %[[ALL]], %c132_i32 : i32
// CHECK: %[[WHOLE:.*]] = arith.subi %[[ALL]], %{{.*}} : i32
// CHECK: %[[X:.*]] = tile.program_id x
// CHECK: %[[WORK:.*]] = arith.index_cast %[[X]] : index to i32
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi ult, %[[WORK]], %[[WHOLE]] : i32
// CHECK: %[[PART:.*]] = arith.subi %[[WORK]], %[[WHOLE]] : i32
// CHECK: arith.divui %[[PART]], %c132_i32
// CHECK: %[[BEGIN_UNIT:.*]] = arith.select %[[IS_WHOLE]], %c0_i32, %{{.*}} : i32
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[BEGIN_UNIT]]
// CHECK: %[[END_UNIT:.*]] = arith.select %[[IS_WHOLE]], %c132_i32, %{{.*}} : i32
// CHECK: %[[END:.*]] = arith.index_cast %[[END_UNIT]]
// CHECK: tile.require %[[PARTS]][0] at_least %c264, "the parts of all blocks"
// CHECK: tile.grid %{{.*}}, %c1, %c1
// CHECK: %[[COUNT:.*]] = arith.ceildivsi %{{.*}}, %c32
// CHECK: %[[SCALED:.*]] = arith.muli %[[BEGIN]], %[[COUNT]]
// CHECK: arith.divsi %[[SCALED]], %c132
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: scf.if %[[IS_WHOLE]] {
// CHECK: %[[BIAS:.*]] = tile.load %[[C]]
// CHECK: tile.store %{{.*}}, %[[C]]
// CHECK: } else {
// CHECK: %[[HAS_ITERATIONS:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK: scf.if %[[HAS_ITERATIONS]] {
// CHECK: %[[PLACE:.*]] = tile.slice %[[PARTS]]
// CHECK: tile.store %[[SUM]], %[[PLACE]][%c0, %c0]
//
// The second kernel adds the parts of a tile in a loop: their number depends on the
// tiles that are left over.
// CHECK-LABEL: tile.kernel @product_sum(
// CHECK: tile.wait_prerequisites
// CHECK: tile.grid %{{.*}}, %c4, %c1
// CHECK: %[[FIRST:.*]] = tile.load %{{.*}} -> tensor<16x128xf32>
// CHECK: %[[TOTAL:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[FIRST]]) -> (tensor<16x128xf32>)
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}} -> tensor<16x128xf32>
// CHECK: arith.addf %[[SO_FAR]], %[[NEXT]]
// CHECK: arith.truncf %[[TOTAL]]
// CHECK: tile.store
tile.kernel @product(%a: !m, %b: !m, %c: !m) attributes {num_warps = 8 : i32, schedule = #tile.schedule<stages = 4, stream_k = 132>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %k = tile.dim %a[1] : !m
  %m = tile.dim %a[0] : !m
  %n = tile.dim %b[1] : !m
  %rows = arith.ceildivui %m, %c64 : index
  %columns = arith.ceildivui %n, %c128 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c64 : index
  %column = arith.muli %y, %c128 : index
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %a[%row, %i] : !m -> tensor<64x32xf16>
    %bt = tile.load %b[%i, %column] : !m -> tensor<32x128xf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x32xf16>, tensor<32x128xf16> -> !acc
    scf.yield %next : !acc
  }
  %bias = tile.load %c[%row, %column] : !m -> tensor<64x128xf16>
  %rounded = arith.truncf %sum : !acc to tensor<64x128xf16>
  %result = arith.addf %rounded, %bias : tensor<64x128xf16>
  tile.store %result, %c[%row, %column] : tensor<64x128xf16>, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// A start that is not zero is added once: by the block that has all iterations, or
// in the second kernel.
// CHECK-LABEL: tile.kernel @begins(
// CHECK: %[[START:.*]] = tile.load
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %cst)
// CHECK: %[[ALL:.*]] = arith.addf %[[START]], %[[SUM]]
// CHECK: tile.store %[[ALL]]
// CHECK: tile.store %[[SUM]]
// CHECK-LABEL: tile.kernel @begins_sum(
// CHECK: %[[START:.*]] = tile.load
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
tile.kernel @begins(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<stream_k = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a[1] : !m
  %m = tile.dim %a[0] : !m
  %rows = arith.ceildivui %m, %c64 : index
  tile.grid %rows, %c1, %c1
  %x = tile.program_id x
  %row = arith.muli %x, %c64 : index
  %start = tile.load %a[%row, %c0] : !m -> !t
  %sum = scf.for %i = %c64 to %k step %c64 iter_args(%acc = %start) -> (!t) {
    %t = tile.load %a[%row, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  tile.store %sum, %o[%row, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// Blocks that add their sums to memory atomically leave out empty parts. No other
// kernel is needed.
// CHECK-LABEL: tile.kernel @adds(
// CHECK-NOT: tile.name
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: scf.if
// CHECK: tile.atomic_rmw addf %[[SUM]]
// CHECK-NOT: tile.kernel @adds_sum
tile.kernel @adds(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<stream_k = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a[1] : !m
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  tile.atomic_rmw addf %sum, %o[%c0, %c0] : !t, !m
}
