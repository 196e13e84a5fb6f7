// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile.kernel(tile-persist,cse))' \
// RUN:   --remarks-filter='tile-persist.*' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir

!m = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!t = tensor<16x16xf32>

// Scalars that do not depend on the block stay in front of the loop. The loop asks for
// the stages of the tiles of a work.
// REMARK: [Passed] kernel-persistent {{.*}}longest-works=none, work-stages=2
// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT: work_stages
// CHECK-DAG: %[[X:.*]] = tile.dim %{{.*}}[0]
// CHECK-DAG: %[[Y:.*]] = tile.dim %{{.*}}[1]
// CHECK: %[[XY:.*]] = arith.muli %[[X]], %[[Y]] : index
// CHECK: %[[ALL:.*]] = arith.muli %[[XY]], %{{.*}} : index
// CHECK: %[[MULTIPROCESSORS:.*]] = tile.multiprocessors
// CHECK: %[[LAUNCHED:.*]] = arith.minui %[[ALL]], %[[MULTIPROCESSORS]]
// CHECK: tile.grid %[[LAUNCHED]], %c1, %c1
// CHECK: %[[ID:.*]] = tile.program_id x
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i32
// CHECK: %[[COUNT:.*]] = tile.num_programs x
// CHECK: %[[BLOCKS:.*]] = arith.index_cast %[[COUNT]] : index to i32
// A division by an extent is a multiplication with its reciprocal, and a correction.
// CHECK: %[[RX:.*]] = arith.divui %c-1_i32, %[[X32:.*]] : i32
// CHECK: %[[RY:.*]] = arith.divui %c-1_i32, %[[Y32:.*]] : i32
// CHECK: scf.for %[[WORK:.*]] = %[[BLOCK]] to %{{.*}} step %[[BLOCKS]] : i32 {
// CHECK:   %{{.*}}, %[[Q:.*]] = arith.mului_extended %[[WORK]], %[[RX]] : i32
// CHECK:   %[[P:.*]] = arith.muli %[[Q]], %[[X32]] : i32
// CHECK:   %[[R:.*]] = arith.subi %[[WORK]], %[[P]] : i32
// CHECK:   %[[LESS:.*]] = arith.cmpi ult, %[[R]], %[[X32]] : i32
// CHECK:   %[[Q1:.*]] = arith.addi %[[Q]], %c1_i32 : i32
// CHECK:   %[[ROW:.*]] = arith.select %[[LESS]], %[[Q]], %[[Q1]] : i32
// CHECK:   %[[R1:.*]] = arith.subi %[[R]], %[[X32]] : i32
// CHECK:   %[[INX:.*]] = arith.select %[[LESS]], %[[R]], %[[R1]] : i32
// CHECK:   %{{.*}}, %{{.*}} = arith.mului_extended %[[ROW]], %[[RY]] : i32
// CHECK:   tile.load
// CHECK:   tile.store
// CHECK: } {tile.schedule = #tile.schedule<stages = 2>}
tile.kernel @plain(%a: !m, %z: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 1, work_stages = 2>} {
  %x = tile.program_id x
  %nx = tile.dim %a[0] : !m
  %y = tile.program_id y
  %ny = tile.dim %a[1] : !m
  %deep = tile.program_id z
  tile.grid %nx, %ny, %z
  %row = arith.addi %x, %deep : index
  %t = tile.load %a[%row, %y] : !m -> !t
  tile.store %t, %a[%row, %y] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!t = tensor<16x16xf32>

// The length of a work grows with x: the longest works come first.
// Without roles, the loop asks for no stages.
// REMARK: [Passed] kernel-persistent {{.*}}longest-works="largest x", work-stages=1
// The rows of a group fill two rounds, or one for each 16 works of a row if these are more.
// They fill one round if there is an even number of such groups.
// CHECK-LABEL: tile.kernel @triangle
// CHECK: %[[EACH:.*]] = arith.ceildivui %[[LENGTHS:.*]], %c16_i32 : i32
// CHECK: %[[ROUNDS:.*]] = arith.maxui %[[EACH]], %c2_i32 : i32
// CHECK: %[[PLACES:.*]] = arith.muli %[[ROUNDS]], %{{.*}} : i32
// CHECK: arith.divui %[[PLACES]], %[[LENGTHS]] : i32
// CHECK: %[[ONE:.*]] = arith.divui %{{.*}}, %[[LENGTHS]] : i32
// CHECK: %[[ROWS:.*]] = arith.maxui %[[ONE]], %c1_i32 : i32
// CHECK: %[[IS_ODD:.*]] = arith.trunci %{{.*}} : i32 to i1
// CHECK: arith.select %[[IS_ODD]]
// CHECK: scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c1_i32 : i32 {
// CHECK:   arith.select
// CHECK:   scf.for
// CHECK-NOT: stages
tile.kernel @triangle(%a: !m, %nx: index, %ny: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<work_stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %nx, %ny, %c1
  %x = tile.program_id x
  %end = arith.muli %x, %c16 : index
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %n = %c0 to %end step %c16 iter_args(%s = %zero) -> (!t) {
    %t = tile.load %a[%n, %c0] : !m -> tensor<16x16xf32>
    %h = arith.truncf %t : !t to tensor<16x16xf16>
    %next = tile.dot %h, %h, %s : tensor<16x16xf16>, tensor<16x16xf16> -> !t
    scf.yield %next : !t
  }
  tile.store %sum, %a[%x, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!t = tensor<16x16xf32>

// The program counts x down: the works with the smallest x are the longest. A condition
// does not matter.
// REMARK: [Passed] kernel-persistent {{.*}}longest-works="smallest x", work-stages=1
// CHECK-LABEL: tile.kernel @reversed
tile.kernel @reversed(%a: !m, %nx: index, %ny: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<work_stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %nx, %ny, %c1
  %x = tile.program_id x
  %left = arith.subi %nx, %x : index
  %rows = arith.muli %left, %c16 : index
  %is_last = arith.cmpi eq, %x, %ny : index
  %end = arith.select %is_last, %c16, %rows : index
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %n = %c0 to %end step %c16 iter_args(%s = %zero) -> (!t) {
    %t = tile.load %a[%n, %c0] : !m -> tensor<16x16xf32>
    %h = arith.truncf %t : !t to tensor<16x16xf16>
    %next = tile.dot %h, %h, %s : tensor<16x16xf16>, tensor<16x16xf16> -> !t
    scf.yield %next : !t
  }
  tile.store %sum, %a[%x, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>

// REMARK: [Missed] kernel-not-persistent {{.*}}Reason="it reads the extents of the launch"
// CHECK-LABEL: tile.kernel @reads_launch
// CHECK-NOT: schedule
// CHECK-NOT: scf.for
tile.kernel @reads_launch(%a: !m, %nx: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<work_stages = 1>} {
  %c1 = arith.constant 1 : index
  tile.grid %nx, %c1, %c1
  %blocks = tile.num_programs x
  %t = tile.load %a[%blocks, %c1] : !m -> tensor<16x16xf32>
  tile.store %t, %a[%c1, %c1] : tensor<16x16xf32>, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>

// REMARK: [Missed] kernel-not-persistent {{.*}}Reason="it waits for another launch, or starts one"
// CHECK-LABEL: tile.kernel @waits
// CHECK-NOT: scf.for
tile.kernel @waits(%a: !m, %nx: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<work_stages = 1>} {
  %c1 = arith.constant 1 : index
  tile.grid %nx, %c1, %c1
  tile.wait_prerequisites
  %x = tile.program_id x
  %t = tile.load %a[%x, %c1] : !m -> tensor<16x16xf32>
  tile.store %t, %a[%x, %c1] : tensor<16x16xf32>, !m
}

// -----

// The loop over works without an operation is removed.
// REMARK: [Passed] kernel-persistent {{.*}}longest-works=none, work-stages=1
// CHECK-LABEL: tile.kernel @nothing
// CHECK: tile.grid
tile.kernel @nothing(%nx: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 1, work_stages = 1>} {
  tile.grid %nx, %nx, %nx
}

// -----

// A schedule without work_stages, or with 0, leaves the grid.
// CHECK-LABEL: tile.kernel @unchanged
// CHECK-NOT: work_stages
// CHECK-NOT: scf.for
tile.kernel @unchanged(%nx: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 1, work_stages = 0>} {
  tile.grid %nx, %nx, %nx
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!t = tensor<16x16xf32>

// A number that is to be computed again is computed for each work, and so is what
// depends on it.
// REMARK: [Passed] kernel-persistent
// CHECK-LABEL: tile.kernel @recomputed
// CHECK-NOT: tile.recompute
// CHECK: scf.for
// CHECK: %[[COPY:.*]] = tile.recompute
// CHECK: arith.addi %[[COPY]]
tile.kernel @recomputed(%a: !m, %n: i32) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<work_stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %nx = tile.dim %a[0] : !m
  tile.grid %nx, %c1, %c1
  %x = tile.program_id x
  %copy = tile.recompute %n
  %next = arith.addi %copy, %n : i32
  %column = arith.index_cast %next : i32 to index
  %t = tile.load %a[%x, %column] : !m -> !t
  tile.store %t, %a[%x, %c0] : !t, !m
}
// REMARK-NOT: remark
