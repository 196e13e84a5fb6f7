// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-split-reduction,canonicalize,cse)' \
// RUN:   --remarks-filter='tile-split-reduction' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf16, #tile.strided<[1], align = 16>, global>
!acc = tensor<64x128xf32>

// REMARK: [Passed] reduction-split {{.*}}blocks=4
// A block runs a quarter of the iterations, adds to zeros, and computes a quarter of the
// rows behind the loop. The grid is that of the kernel before. A row of the bias is the
// same for all blocks; the start of the sums has rows of its own.
// CHECK-LABEL: tile.kernel @product(
// CHECK-SAME: %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[C:.*]]: {{.*}}, %[[BIAS:.*]]: !tile.buffer<?xf16,
// CHECK-SAME: cluster_blocks = 4 : i32, num_warps = 8 : i32, schedule = #tile.schedule<stages = 4>
// CHECK-DAG: %[[RANK:.*]] = tile.cluster_rank
// CHECK-DAG: %[[OFFSET:.*]] = arith.muli %[[RANK]], %c16
// CHECK: %[[K:.*]] = tile.dim %[[A]][1]
// CHECK: tile.grid %[[ROWS:.*]], %[[COLUMNS:.*]], %c1
// CHECK: %[[X:.*]] = tile.program_id x
// CHECK: %[[ROW:.*]] = arith.muli %[[X]], %c64
// CHECK: %[[COUNT:.*]] = arith.ceildivsi %[[K]], %c32
// CHECK: %[[SCALED:.*]] = arith.muli %[[RANK]], %[[COUNT]]
// CHECK: %[[FROM:.*]] = arith.divsi %[[SCALED]], %c4
// CHECK: %[[BEGIN:.*]] = arith.muli %[[FROM]], %c32
// CHECK: %[[END:.*]] = arith.minsi %[[K]], %{{.*}}
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c32 iter_args(%{{.*}} = %cst)
// CHECK: %[[PART:.*]] = tile.cluster_reduce addf %[[SUM]] : tensor<64x128xf32> -> tensor<16x128xf32>
// CHECK: %[[MINE:.*]] = arith.addi %[[ROW]], %[[OFFSET]]
// CHECK: %[[OLD:.*]] = tile.load %[[C]][%[[MINE]], %{{.*}}] : {{.*}} -> tensor<16x128xf16>
// CHECK: %[[START:.*]] = arith.extf %[[OLD]] : tensor<16x128xf16> to tensor<16x128xf32>
// CHECK: %[[ALL:.*]] = arith.addf %[[START]], %[[PART]]
// CHECK: %[[LINE:.*]] = tile.load %[[BIAS]][%{{.*}}] : {{.*}} -> tensor<128xf16>
// CHECK: tile.broadcast %[[LINE]] along 0 : tensor<128xf16> -> tensor<16x128xf16>
// CHECK: arith.truncf %[[ALL]] : tensor<16x128xf32> to tensor<16x128xf16>
// CHECK: %[[LARGEST:.*]] = tile.reduce maximumf %{{.*}} along 1 : tensor<16x128xf16> -> tensor<16xf16>
// CHECK: tile.broadcast %[[LARGEST]] along 1 : tensor<16xf16> -> tensor<16x128xf16>
// CHECK: %[[IOTA:.*]] = tile.iota along 0 : tensor<16x128xi32>
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[OFFSET]] : index to i32
// CHECK: %[[FIRST:.*]] = tensor.splat %[[NUMBER]] : tensor<16x128xi32>
// CHECK: %[[LINES:.*]] = arith.addi %[[IOTA]], %[[FIRST]]
// CHECK: %[[PLACES:.*]] = tile.iota along 1 : tensor<16x128xi32>
// CHECK: arith.cmpi sle, %[[PLACES]], %[[LINES]]
// CHECK: tile.store %{{.*}}, %[[C]][%[[MINE]], %{{.*}}] : tensor<16x128xf16>
tile.kernel @product(%a: !m, %b: !m, %c: !m, %bias: !v) attributes {num_warps = 8 : i32, schedule = #tile.schedule<stages = 4, cluster_split = 4>} {
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
  %old = tile.load %c[%row, %column] : !m -> tensor<64x128xf16>
  %start = arith.extf %old : tensor<64x128xf16> to !acc
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %start) -> (!acc) {
    %at = tile.load %a[%row, %i] : !m -> tensor<64x32xf16>
    %bt = tile.load %b[%i, %column] : !m -> tensor<32x128xf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x32xf16>, tensor<32x128xf16> -> !acc
    scf.yield %next : !acc
  }
  %line = tile.load %bias[%column] : !v -> tensor<128xf16>
  %each = tile.broadcast %line along 0 : tensor<128xf16> -> tensor<64x128xf16>
  %rounded = arith.truncf %sum : !acc to tensor<64x128xf16>
  %biased = arith.addf %rounded, %each : tensor<64x128xf16>
  %largest = tile.reduce maximumf %biased along 1 : tensor<64x128xf16> -> tensor<64xf16>
  %spread = tile.broadcast %largest along 1 : tensor<64xf16> -> tensor<64x128xf16>
  %less = arith.subf %biased, %spread : tensor<64x128xf16>
  %lines = tile.iota along 0 : tensor<64x128xi32>
  %places = tile.iota along 1 : tensor<64x128xi32>
  %below = arith.cmpi sle, %places, %lines : tensor<64x128xi32>
  %result = arith.select %below, %less, %biased : tensor<64x128xi1>, tensor<64x128xf16>
  tile.store %result, %c[%row, %column] : tensor<64x128xf16>, !m
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!acc = tensor<128x64xf32>
!result = tensor<64x128xf32>

// The rows are columns of a transposed tile. A column of the bias has as many elements as a
// block has rows, and the coordinates along the columns begin at those of the block.
// CHECK-LABEL: tile.kernel @transposed(
// CHECK-SAME: %[[C:[a-z0-9]+]]: !tile.buffer<?x?xf16, {{[^:]*}}, %[[BIAS:[a-z0-9]+]]: !tile.buffer<?xf32,
// CHECK: %[[RANK:.*]] = tile.cluster_rank
// CHECK: %[[OFFSET:.*]] = arith.muli %[[RANK]], %c32
// CHECK: %[[PART:.*]] = tile.cluster_reduce addf %{{.*}} : tensor<128x64xf32> -> tensor<32x64xf32>
// CHECK: %[[TURNED:.*]] = tile.transpose %[[PART]] [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
// CHECK: %[[MINE:.*]] = arith.addi %[[COLUMN:.*]], %[[OFFSET]]
// CHECK: %[[LINE:.*]] = tile.load %[[BIAS]][%[[MINE]]] : {{.*}} -> tensor<32xf32>
// CHECK: %[[EACH:.*]] = tile.broadcast %[[LINE]] along 0 : tensor<32xf32> -> tensor<64x32xf32>
// CHECK: %[[BIASED:.*]] = arith.addf %[[TURNED]], %[[EACH]]
// CHECK: %[[LARGEST:.*]] = tile.reduce maximumf %[[BIASED]] along 0 : tensor<64x32xf32> -> tensor<32xf32>
// CHECK: tile.broadcast %[[LARGEST]] along 0 : tensor<32xf32> -> tensor<64x32xf32>
// CHECK: tile.iota along 0 : tensor<64x32xi32>
// CHECK: %[[IOTA:.*]] = tile.iota along 1 : tensor<64x32xi32>
// CHECK: arith.addi %[[IOTA]], %{{.*}} : tensor<64x32xi32>
// CHECK: tile.store %{{.*}}, %[[C]][%c0, %[[MINE]]] : tensor<64x32xf16>
tile.kernel @transposed(%a: !m, %b: !m, %c: !m, %bias: !v) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %k = tile.dim %a[1] : !m
  %n = tile.dim %a[0] : !m
  %columns = arith.ceildivui %n, %c128 : index
  tile.grid %columns, %c1, %c1
  %x = tile.program_id x
  %column = arith.muli %x, %c128 : index
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %a[%column, %i] : !m -> tensor<128x32xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<32x64xf16>
    %next = tile.dot %at, %bt, %acc : tensor<128x32xf16>, tensor<32x64xf16> -> !acc
    scf.yield %next : !acc
  }
  %turned = tile.transpose %sum [1, 0] : !acc -> !result
  %line = tile.load %bias[%column] : !v -> tensor<128xf32>
  %each = tile.broadcast %line along 0 : tensor<128xf32> -> !result
  %biased = arith.addf %turned, %each : !result
  %largest = tile.reduce maximumf %biased along 0 : !result -> tensor<128xf32>
  %spread = tile.broadcast %largest along 0 : tensor<128xf32> -> !result
  %less = arith.subf %biased, %spread : !result
  %lines = tile.iota along 0 : tensor<64x128xi32>
  %places = tile.iota along 1 : tensor<64x128xi32>
  %below = arith.cmpi sle, %places, %lines : tensor<64x128xi32>
  %result = arith.select %below, %less, %biased : tensor<64x128xi1>, !result
  %rounded = arith.truncf %result : !result to tensor<64x128xf16>
  tile.store %rounded, %c[%c0, %column] : tensor<64x128xf16>, !m
}
