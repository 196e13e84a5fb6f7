// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-split-reduction,canonicalize,cse)' \
// RUN:   --remarks-filter='tile-split-reduction' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<64x128xf32>

// REMARK: [Passed] reduction-split {{.*}}parts=3
// A block runs a third of the iterations and stores its sum at its number among all
// blocks. No result is stored, and A's rows of blocks follow each other.
// CHECK-LABEL: tile.kernel @product(
// CHECK-SAME: %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[C:.*]]: {{.*}}, %[[PARTS:.*]]: !tile.buffer<?x64x128xf32, {{.*}}> {tile.name = "product_parts"})
// CHECK-SAME: num_warps = 8 : i32, schedule = #tile.schedule<stages = 4>
// CHECK: tile.launch_dependents
// CHECK-DAG: %[[X:.*]] = tile.program_id x
// CHECK-DAG: %[[Y:.*]] = tile.program_id y
// CHECK-DAG: %[[PART:.*]] = tile.program_id z
// CHECK-DAG: %[[ROWS:.*]] = arith.ceildivui %{{.*}}, %c64
// CHECK-DAG: %[[COLUMNS:.*]] = arith.ceildivui %{{.*}}, %c128
// CHECK: %[[COLUMN:.*]] = arith.muli %[[ROWS]], %[[Y]]
// CHECK: %[[BLOCK:.*]] = arith.addi %[[X]], %[[COLUMN]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c3
// CHECK: %[[MINE:.*]] = arith.addi %[[FIRST]], %[[PART]]
// CHECK: %[[K:.*]] = tile.dim %[[A]][1]
// CHECK: %[[TILES:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]]
// CHECK: %[[ALL:.*]] = arith.muli %[[TILES]], %c3
// CHECK: tile.require %[[PARTS]][0] at_least %[[ALL]], "the parts of all blocks"
// CHECK: tile.grid %[[ROWS]], %[[COLUMNS]], %c3
// CHECK: %[[COUNT:.*]] = arith.ceildivsi %[[K]], %c32
// CHECK: %[[SCALED:.*]] = arith.muli %[[PART]], %[[COUNT]]
// CHECK: %[[FROM:.*]] = arith.divsi %[[SCALED]], %c3
// CHECK: %[[BEGIN:.*]] = arith.muli %[[FROM]], %c32
// CHECK: %[[NEXT:.*]] = arith.muli %{{.*}}, %c32
// CHECK: %[[END:.*]] = arith.minsi %[[K]], %[[NEXT]]
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c32
// CHECK: %[[PLACE:.*]] = tile.slice %[[PARTS]][%[[MINE]], *, *]
// CHECK: tile.store %[[SUM]], %[[PLACE]][%c0, %c0]
// CHECK-NOT: tile.store
//
// Four blocks of the second kernel divide the rows of a tile, because each element of
// the result needs no other. The bias is read at the rows of a block, too.
// CHECK-LABEL: tile.kernel @product_sum(
// CHECK-SAME: num_warps = 8 : i32}
// CHECK: tile.wait_prerequisites
// CHECK: %[[SHARE:.*]] = tile.program_id z
// CHECK: %[[OFFSET:.*]] = arith.muli %[[SHARE]], %c16
// CHECK: tile.grid %{{.*}}, %{{.*}}, %c4
// CHECK-NOT: scf.for
// CHECK: %[[P0:.*]] = tile.load %{{.*}}[%[[OFFSET]], %c0] : {{.*}} -> tensor<16x128xf32>
// CHECK: %[[P1:.*]] = tile.load %{{.*}}[%[[OFFSET]], %c0] : {{.*}} -> tensor<16x128xf32>
// CHECK: %[[S1:.*]] = arith.addf %[[P0]], %[[P1]]
// CHECK: %[[P2:.*]] = tile.load %{{.*}}[%[[OFFSET]], %c0] : {{.*}} -> tensor<16x128xf32>
// CHECK: %[[S2:.*]] = arith.addf %[[S1]], %[[P2]]
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
// CHECK: %[[BIAS:.*]] = tile.load %{{.*}}[%[[ROW]], %{{.*}}] : {{.*}} -> tensor<16x128xf16>
// CHECK: arith.truncf %[[S2]] : tensor<16x128xf32> to tensor<16x128xf16>
// CHECK: %[[RESULT:.*]] = arith.addf
// CHECK: tile.store %[[RESULT]], %{{.*}}[%[[ROW]], %{{.*}}] : tensor<16x128xf16>
tile.kernel @product(%a: !m, %b: !m, %c: !m) attributes {num_warps = 8 : i32, schedule = #tile.schedule<stages = 4, split = 3>} {
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
!rows = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// A reduction of whole columns keeps the tile in one block. A value that is not zero at
// the start comes first. The third dimension of the grid holds the parts and the old
// blocks. The names of kernels and arguments are new ones.
// REMARK: [Passed] reduction-split {{.*}}parts=2
// CHECK-LABEL: tile.kernel @sums(
// CHECK-SAME: tile.name = "sums_parts_"
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK: %[[Z:.*]] = tile.program_id z
// CHECK: %[[PART:.*]] = arith.divui %[[Z]], %[[BATCH:.*]] : index
// CHECK: %[[OLD:.*]] = arith.remui %[[Z]], %[[BATCH]] : index
// CHECK: %[[DEPTH:.*]] = arith.muli %[[BATCH]], %c2
// CHECK: tile.grid %c1, %c1, %[[DEPTH]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]])
// CHECK-LABEL: tile.kernel @sums_sum_0(
// CHECK: %[[START:.*]] = tile.load %{{.*}} -> tensor<64x64xf32>
// CHECK: %[[P0:.*]] = tile.load %{{.*}} -> tensor<64x64xf32>
// CHECK: %[[S0:.*]] = arith.addf %[[START]], %[[P0]]
// CHECK: %[[P1:.*]] = tile.load %{{.*}} -> tensor<64x64xf32>
// CHECK: %[[S1:.*]] = arith.addf %[[S0]], %[[P1]]
// CHECK: tile.reduce maximumf %[[S1]]
// CHECK-LABEL: tile.kernel @sums_sum(
tile.kernel @sums(%a: !m, %o: !rows, %batch: index, %other: !rows {tile.name = "sums_parts"}) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %batch
  %z = tile.program_id z
  %row = arith.muli %z, %c64 : index
  %k = tile.dim %a[1] : !m
  %start = tile.load %a[%row, %c0] : !m -> tensor<64x64xf32>
  %sum = scf.for %i = %c64 to %k step %c64 iter_args(%acc = %start) -> (tensor<64x64xf32>) {
    %t = tile.load %a[%row, %i] : !m -> tensor<64x64xf32>
    %next = arith.addf %acc, %t : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %most = tile.reduce maximumf %sum along 0 : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %most, %o[%row] : tensor<64xf32>, !rows
}
tile.kernel @sums_sum() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

!a = !tile.buffer<?x?xi8, #tile.strided<[?:16, 1], align = 16>, global>
!c = !tile.buffer<?x?xi32, #tile.strided<[?:4, 1], align = 16>, global>
!acc = tensor<64x128xi32>

// Each block adds its part of the sums to memory. No kernel follows, and no buffer
// holds the parts.
// REMARK: [Passed] reduction-split {{.*}}parts=4
// CHECK-LABEL: tile.kernel @adds(
// CHECK-NOT: tile.name
// CHECK-NOT: tile.launch_dependents
// CHECK: %[[PART:.*]] = tile.program_id z
// CHECK: tile.grid %{{.*}}, %{{.*}}, %c4
// CHECK: %[[SCALED:.*]] = arith.muli %[[PART]], %{{.*}}
// CHECK: %[[FROM:.*]] = arith.divsi %[[SCALED]], %c4
// CHECK: %[[BEGIN:.*]] = arith.muli %[[FROM]], %c64
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[BEGIN]] to
// CHECK: tile.atomic_rmw addi %[[SUM]]
// CHECK-NOT: tile.kernel @adds_sum
tile.kernel @adds(%a: !a, %b: !a, %c: !c)
    attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a[1] : !a
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !a -> tensor<64x64xi8>
    %bt = tile.load %b[%i, %c0] : !a -> tensor<64x128xi8>
    %d = tile.dot %at, %bt, %s : tensor<64x64xi8>, tensor<64x128xi8> -> !acc
    scf.yield %d : !acc
  }
  tile.atomic_rmw addi %sum, %c[%c0, %c0] : !acc, !c
}

// -----

!a = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!acc = tensor<64x128xf32>

// The loop begins with other sums than zeros, which would be added four times.
// CHECK-LABEL: tile.kernel @begins(
// CHECK: tile.store
// CHECK-LABEL: tile.kernel @begins_sum(
// CHECK: tile.atomic_rmw addf
tile.kernel @begins(%a: !a, %b: !a, %c: !c)
    attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a[1] : !a
  tile.grid %c1, %c1, %c1
  %one = arith.constant dense<1.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %one) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !a -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !a -> tensor<64x128xf16>
    %d = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x128xf16> -> !acc
    scf.yield %d : !acc
  }
  tile.atomic_rmw addf %sum, %c[%c0, %c0] : !acc, !c
}

// -----

!a = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!acc = tensor<64x128xf32>
!transposed = tensor<128x64xf32>

// Blocks that add their sums transposed need no other kernel and no memory for them.
// CHECK-LABEL: tile.kernel @transposed(
// CHECK-NOT: tile.store
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[T:.*]] = tile.transpose %[[SUM]]
// CHECK: tile.atomic_rmw addf %[[T]]
// CHECK-NOT: tile.kernel
tile.kernel @transposed(%a: !a, %b: !a, %c: !c)
    attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a[1] : !a
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !a -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !a -> tensor<64x128xf16>
    %d = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x128xf16> -> !acc
    scf.yield %d : !acc
  }
  %t = tile.transpose %sum [1, 0] : !acc -> !transposed
  tile.atomic_rmw addf %t, %c[%c0, %c0] : !transposed, !c
}
