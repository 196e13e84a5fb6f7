// A loop is split where a comparison of coordinates begins or ceases to hold for the
// whole tile.
// RUN: tile-opt --allow-unregistered-dialect %s --pass-pipeline='builtin.module(tile.kernel(tile-split-masked-loops))' | FileCheck %s
// RUN: tile-opt --allow-unregistered-dialect %s --pass-pipeline='builtin.module(tile.kernel(tile-split-masked-loops,tile-split-masked-loops))' | FileCheck %s
// RUN: tile-opt --allow-unregistered-dialect %s --pass-pipeline='builtin.module(tile.kernel(tile-split-masked-loops))' -o /dev/null \
// RUN:     --remarks-filter=tile-split-masked-loops 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!x = tensor<64x64xf16>
!acc = tensor<64x64xf32>
!ints = tensor<64x64xi32>

// The bound falls from one iteration to the next: the mask is needed at the end.
// CHECK-LABEL: tile.kernel @tail
// CHECK: scf.for %{{.*}} = %c0 to %[[FULL:[a-z0-9_]+]] step %c64
// CHECK-NOT: arith.cmpi
// CHECK: scf.yield
// CHECK: keep_loops
// CHECK: scf.for %{{.*}} = %[[FULL]] to %{{.*}} step %c64
// CHECK: arith.cmpi slt
// CHECK: keep_loops
// CHECK-NOT: scf.for
// REMARK: remark: [Passed] loop-split | Category:tile-split-masked-loops | Reason="1 comparison holds for the whole tile in some iterations: 2 loops"
tile.kernel @tail(%b: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %b[0] : !b
  %zero = arith.constant dense<0.0> : !acc
  %column = tile.iota along 1 : !ints
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %left = arith.subi %n, %i : index
    %left32 = arith.index_cast %left : index to i32
    %end = tensor.splat %left32 : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  "use"(%sum) : (!acc) -> ()
}

// Constant bounds give constant loops: 3 of the 4 iterations are without a mask.
// CHECK-LABEL: tile.kernel @constant
// CHECK: scf.for %{{.*}} = %c0 to %c192 step %c64
// CHECK-NOT: arith.cmpi
// CHECK: scf.for %{{.*}} = %c192 to %c200 step %c64
// CHECK: arith.cmpi sgt
tile.kernel @constant(%b: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = arith.constant 200 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %column = tile.iota along 1 : !ints
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %left = arith.subi %n, %i : index
    %left32 = arith.index_cast %left : index to i32
    %end = tensor.splat %left32 : !ints
    %visible = arith.cmpi sgt, %end, %column : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  "use"(%sum) : (!acc) -> ()
}

// A window hides keys at both ends.
// CHECK-LABEL: tile.kernel @window
// CHECK: %[[N:.*]] = tile.dim
// CHECK: scf.for %{{.*}} = %c0 to %[[BEGIN:[a-z0-9_]+]] step
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi sle
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END:[a-z0-9_]+]] step
// CHECK-NOT: arith.cmpi
// CHECK: scf.for %{{.*}} = %[[END]] to %[[N]] step
// CHECK-NOT: arith.cmpi sge
// CHECK: arith.cmpi sle
// CHECK-NOT: scf.for
// REMARK: Reason="1 comparison holds for the whole tile in some iterations: 2 loops"
// REMARK: Reason="2 comparisons hold for the whole tile in some iterations: 3 loops"
tile.kernel @window(%b: !b, %row: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %b[0] : !b
  %zero = arith.constant dense<0.0> : !acc
  %column = tile.iota along 1 : !ints
  %line = tile.iota along 0 : !ints
  %width = arith.constant dense<128> : !ints
  %row32 = arith.index_cast %row : index to i32
  %first = tensor.splat %row32 : !ints
  %lines = arith.addi %line, %first : !ints
  %left = arith.subi %lines, %width : !ints
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %i32 = arith.index_cast %i : index to i32
    %offset = tensor.splat %i32 : !ints
    %key = arith.addi %column, %offset : !ints
    %after = arith.cmpi sge, %key, %left : !ints
    %before = arith.cmpi sle, %key, %lines : !ints
    %visible = arith.andi %after, %before : tensor<64x64xi1>
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  "use"(%sum) : (!acc) -> ()
}

// One comparison without signs tests both sides of a window. It is left out in the
// iterations in which the distance is neither negative nor too large. The loops load a
// number for each row: they end at the end of the original loop at most, which shows
// that the numbers are in bounds.
// CHECK-LABEL: tile.kernel @unsigned
// CHECK: %[[N:.*]] = tile.dim
// CHECK: %[[FIRST:.*]] = arith.minsi %[[BEGIN:[a-z0-9_]+]], %[[N]] : index
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %[[FIRST]] step
// CHECK: arith.cmpi ult
// CHECK: %[[SECOND:.*]] = arith.minsi %[[END:[a-z0-9_]+]], %[[N]] : index
// CHECK-NEXT: scf.for %{{.*}} = %[[BEGIN]] to %[[SECOND]] step
// CHECK-NOT: arith.cmpi
// CHECK: scf.for %{{.*}} = %[[END]] to %[[N]] step
// CHECK: arith.cmpi ult
// CHECK-NOT: scf.for
// REMARK: Reason="2 comparisons hold for the whole tile in some iterations: 3 loops"
tile.kernel @unsigned(%b: !b, %numbers: !numbers, %row: i32, %width: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %b[0] : !b
  %zero = arith.constant dense<0.0> : !acc
  %column = tile.iota along 1 : !ints
  %line = tile.iota along 0 : !ints
  %widths = tensor.splat %width : !ints
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %number = tile.load %numbers[%i] : !numbers -> tensor<64xf32>
    "use"(%number) : (tensor<64xf32>) -> ()
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %i32 = arith.index_cast %i : index to i32
    %behind = arith.subi %i32, %row : i32
    %offset = tensor.splat %behind : !ints
    %key = arith.addi %column, %offset : !ints
    %distance = arith.subi %key, %line : !ints
    %visible = arith.cmpi ult, %distance, %widths : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  "use"(%sum) : (!acc) -> ()
}

// A comparison that does not depend on the iteration holds in all of them or in none.
// CHECK-LABEL: tile.kernel @same
// CHECK: %[[N:.*]] = tile.dim
// CHECK: %[[STEPS:.*]] = arith.divui
// CHECK: %[[LENGTH:.*]] = arith.muli %[[STEPS]], %c64
// CHECK: %[[HOLDS:.*]] = arith.cmpi sge, %{{.*}}, %c0
// CHECK: arith.select %[[HOLDS]], %c0, %[[LENGTH]] : index
// CHECK: %[[FULL:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LENGTH]] : index
// CHECK: scf.for %{{.*}} = %c0 to %[[FULL]] step %c64
// CHECK: arith.cmpi slt
// CHECK: scf.for %{{.*}} = %[[FULL]] to %{{.*}} step %c64
// CHECK-NOT: arith.cmpi
// CHECK: tile.return
// REMARK: Reason="1 comparison holds for the whole tile in some iterations: 2 loops"
tile.kernel @same(%b: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %b[0] : !b
  %n32 = arith.index_cast %n : index to i32
  %zero = arith.constant dense<0.0> : !acc
  %column = tile.iota along 1 : !ints
  %end = tensor.splat %n32 : !ints
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  "use"(%sum) : (!acc) -> ()
}

// Loops that count in 32 bits have their bounds computed in front of the first one, so
// that they keep nothing else for them.
// REMARK: loops"
// CHECK-LABEL: tile.kernel @narrow
// CHECK: arith.divui
// CHECK: %[[END:.*]] = tile.recompute %{{.*}}
// CHECK-NEXT: %[[INDEX:.*]] = arith.index_cast %[[END]] : i32 to index
// CHECK: %[[UPPER:.*]] = arith.index_cast %[[INDEX]] : index to i32
// CHECK-NOT: tile.recompute
// CHECK: scf.for %{{.*}} = %c0_i32 to %[[UPPER]] step %{{.*}} : i32
// CHECK-NOT: arith.divui
// CHECK: scf.for
tile.kernel @narrow(%b: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c0_i32 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %b[0] : !b
  %n = arith.index_cast %rows : index to i32
  %zero = arith.constant dense<0.0> : !acc
  %column = tile.iota along 1 : !ints
  %sum = scf.for %i = %c0_i32 to %n step %c64 iter_args(%acc = %zero) -> (!acc) : i32 {
    %at = arith.index_cast %i : i32 to index
    %x = tile.load %b[%at, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %left = arith.subi %n, %i : i32
    %end = tensor.splat %left : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  "use"(%sum) : (!acc) -> ()
}

// Unchanged: without a product; with a comparison of loaded numbers; with one of
// constants; and where the author wants the loop as it is.
// CHECK-LABEL: tile.kernel @unchanged
// CHECK-COUNT-4: scf.for
// CHECK-NOT: scf.for
// REMARK-NOT: remark
tile.kernel @unchanged(%b: !b, %ids: !tile.buffer<?x64xi32, #tile.strided<[64, 1], align = 16>, global>)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %b[0] : !b
  %zero = arith.constant dense<0.0> : !acc
  %column = tile.iota along 1 : !ints
  %sum0 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!acc) {
    %i32 = arith.index_cast %i : index to i32
    %end = tensor.splat %i32 : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %acc, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  %sum1 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %sum0) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %id = tile.load %ids[%i, %c0] : !tile.buffer<?x64xi32, #tile.strided<[64, 1], align = 16>, global> -> !ints
    %visible = arith.cmpi slt, %column, %id : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  %end1 = arith.constant dense<32> : !ints
  %sum2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %sum1) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %visible = arith.cmpi slt, %column, %end1 : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  }
  %sum3 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %sum2) -> (!acc) {
    %x = tile.load %b[%i, %c0] : !b -> !x
    %s = tile.dot %x, %x, %acc : !x, !x -> !acc
    %i32 = arith.index_cast %i : index to i32
    %end = tensor.splat %i32 : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    scf.yield %seen : !acc
  } {tile.schedule = #tile.schedule<keep_loops>}
  "use"(%sum3) : (!acc) -> ()
}
