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
