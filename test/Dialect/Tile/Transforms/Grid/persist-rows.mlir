// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-persist{without-products},canonicalize,cse))' | FileCheck %s
// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-persist{without-products}))' \
// RUN:   --remarks-filter='tile-persist.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s --check-prefix=AMD
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 32], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!weights = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!t16 = tensor<1x32768xbf16, #blocked>
!line16 = tensor<32768xbf16, #tile.slice<0, #blocked>>
!t = tensor<1x32768xf32, #blocked>
!number = tensor<1xf32, #tile.slice<1, #blocked>>

// One block fills a multiprocessor. All works decide the branch alike, and load the
// same weights. Without copies to shared memory, there is no loop.
// CHECK-LABEL: tile.kernel @rows(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}
// CHECK: %[[COUNT:.*]] = tile.dim %[[X]][0]
// CHECK: %[[MULTIPROCESSORS:.*]] = tile.multiprocessors
// CHECK: %[[LAUNCHED:.*]] = arith.minui %[[COUNT]], %[[MULTIPROCESSORS]]
// CHECK: tile.grid %[[LAUNCHED]], %c1, %c1
// CHECK: scf.if
// CHECK:   tile.load %[[W]][%c0]
// CHECK:   scf.for %[[WORK:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK:     %[[ROW:.*]] = arith.index_castui %[[WORK]] : i32 to index
// CHECK:     tile.load %[[X]][%[[ROW]], %c0]
// CHECK:     tile.store %{{.*}}, %[[Y]][%[[ROW]], %c0]
// CHECK: } else {
// CHECK:   scf.for %[[OTHER:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK:     %[[ROW:.*]] = arith.index_castui %[[OTHER]] : i32 to index
// CHECK:     scf.for
// CHECK:       tile.load %[[X]][%[[ROW]],
// CHECK:       tile.store %{{.*}}, %[[Y]][%[[ROW]],
// AMD-LABEL: tile.kernel @rows(
// AMD-NOT: tile.multiprocessors
tile.kernel @rows(%x: !rows, %w: !weights, %y: !rows) attributes {num_warps = 32 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32768 = arith.constant 32768 : index
  %count = tile.dim %x[0] : !rows
  %length = tile.dim %x[1] : !rows
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %is_short = arith.cmpi ule, %length, %c32768 : index
  scf.if %is_short {
    %t16 = tile.load %x[%row, %c0] : !rows -> !t16
    %w16 = tile.load %w[%c0] : !weights -> !line16
    %wt16 = tile.broadcast %w16 along 0 : !line16 -> !t16
    %t = arith.extf %t16 : !t16 to !t
    %wt = arith.extf %wt16 : !t16 to !t
    %sum = tile.reduce addf %t along 1 : !t -> !number
    %sum_t = tile.broadcast %sum along 1 : !number -> !t
    %p = arith.mulf %t, %sum_t : !t
    %q = arith.mulf %p, %wt : !t
    %q16 = arith.truncf %q : !t to !t16
    tile.store %q16, %y[%row, %c0] : !t16, !rows
  } else {
    scf.for %n = %c0 to %length step %c32768 {
      %t16 = tile.load %x[%row, %n] : !rows -> !t16
      tile.store %t16, %y[%row, %n] : !t16, !rows
    }
  }
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 64], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!t16 = tensor<1x131072xbf16, #blocked>
!t = tensor<1x131072xf32, #blocked>
!number = tensor<1xf32, #tile.slice<1, #blocked>>

// 15 clusters of 8 blocks have room for one block of each on 132 multiprocessors, and
// registers for two.
// CHECK-LABEL: tile.kernel @clusters(
// CHECK-DAG: %[[C30:.*]] = arith.constant 30 : index
// CHECK-DAG: %[[C132:.*]] = arith.constant 132 : index
// CHECK: %[[MULTIPROCESSORS:.*]] = tile.multiprocessors
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[MULTIPROCESSORS]], %[[C30]]
// CHECK: %[[PLACES:.*]] = arith.divui %[[PRODUCT]], %[[C132]]
// CHECK: arith.minui %{{.*}}, %[[PLACES]]
// CHECK: scf.for
tile.kernel @clusters(%x: !rows, %y: !rows) attributes {num_warps = 64 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %x[0] : !rows
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %t16 = tile.load %x[%row, %c0] : !rows -> !t16
  %t = arith.extf %t16 : !t16 to !t
  %sum = tile.reduce addf %t along 1 : !t -> !number
  %sum_t = tile.broadcast %sum along 1 : !number -> !t
  %p = arith.mulf %t, %sum_t : !t
  %p16 = arith.truncf %p : !t to !t16
  tile.store %p16, %y[%row, %c0] : !t16, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 8], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!t16 = tensor<1x2048xbf16, #blocked>
!t = tensor<1x2048xf32, #blocked>
!number = tensor<1xf32, #tile.slice<1, #blocked>>

// Several blocks run on a multiprocessor: one loads while others compute.
// CHECK-LABEL: tile.kernel @several(
// CHECK-NOT: scf.for
tile.kernel @several(%x: !rows, %y: !rows) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %x[0] : !rows
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %t16 = tile.load %x[%row, %c0] : !rows -> !t16
  %t = arith.extf %t16 : !t16 to !t
  %sum = tile.reduce addf %t along 1 : !t -> !number
  %sum_t = tile.broadcast %sum along 1 : !number -> !t
  %p = arith.mulf %t, %sum_t : !t
  %p16 = arith.truncf %p : !t to !t16
  tile.store %p16, %y[%row, %c0] : !t16, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 32], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!t16 = tensor<1x32768xbf16, #blocked>
!t = tensor<1x32768xf32, #blocked>
!number = tensor<1xf32, #tile.slice<1, #blocked>>

// The author keeps the grid.
// CHECK-LABEL: tile.kernel @kept(
// CHECK-NOT: scf.for
tile.kernel @kept(%x: !rows, %y: !rows) attributes {num_warps = 32 : i32,
    schedule = #tile.schedule<work_stages = 0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %x[0] : !rows
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %t16 = tile.load %x[%row, %c0] : !rows -> !t16
  %t = arith.extf %t16 : !t16 to !t
  %sum = tile.reduce addf %t along 1 : !t -> !number
  %sum_t = tile.broadcast %sum along 1 : !number -> !t
  %p = arith.mulf %t, %sum_t : !t
  %p16 = arith.truncf %p : !t to !t16
  tile.store %p16, %y[%row, %c0] : !t16, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 1], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t16 = tensor<1x512xbf16, #blocked>
!t = tensor<1x512xf32, #blocked>
!number = tensor<1xf32, #tile.slice<1, #blocked>>

// 1 KB arrives before a multiprocessor starts the next block.
// CHECK-LABEL: tile.kernel @short(
// CHECK: scf.for
tile.kernel @short(%x: !rows, %y: !numbers) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %x[0] : !rows
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %t16 = tile.load %x[%row, %c0] : !rows -> !t16
  %t = arith.extf %t16 : !t16 to !t
  %sum = tile.reduce addf %t along 1 : !t -> !number
  tile.store %sum, %y[%row] : !number, !numbers
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 1], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t16 = tensor<1x512xbf16, #blocked>
!t = tensor<1x512xf32, #blocked>
!number = tensor<1xf32, #tile.slice<1, #blocked>>

// What stands behind a branch with results is in both loops.
// CHECK-LABEL: tile.kernel @results(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}
// CHECK: scf.if
// CHECK-NEXT: scf.for
// CHECK:   %[[SUM:.*]] = tile.reduce addf
// CHECK:   %[[TWICE:.*]] = arith.addf %[[SUM]], %[[SUM]]
// CHECK:   tile.store %[[TWICE]], %[[Y]]
// CHECK: } else {
// CHECK-NEXT: scf.for
// CHECK-NOT: tile.load
// CHECK:   tile.store %cst, %[[Y]]
tile.kernel @results(%x: !rows, %y: !numbers) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %count = tile.dim %x[0] : !rows
  %length = tile.dim %x[1] : !rows
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %is_short = arith.cmpi ule, %length, %c512 : index
  %zero = arith.constant dense<0.0> : !number
  %sum = scf.if %is_short -> !number {
    %t16 = tile.load %x[%row, %c0] : !rows -> !t16
    %t = arith.extf %t16 : !t16 to !t
    %some = tile.reduce addf %t along 1 : !t -> !number
    scf.yield %some : !number
  } else {
    scf.yield %zero : !number
  }
  %twice = arith.addf %sum, %sum : !number
  tile.store %twice, %y[%row] : !number, !numbers
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 1], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t16 = tensor<1x512xbf16, #blocked>
!t = tensor<1x512xf32, #blocked>
!number = tensor<1xf32, #tile.slice<1, #blocked>>

// Without the second branch, the loop does the rest.
// CHECK-LABEL: tile.kernel @one_branch(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}, %[[Z:[a-z0-9]+]]: {{.*}}
// CHECK: scf.if
// CHECK-NEXT: scf.for
// CHECK:   tile.load %[[X]]
// CHECK-DAG: tile.store %{{.*}}, %[[Y]]
// CHECK-DAG: tile.store %cst, %[[Z]]
// CHECK: } else {
// CHECK-NEXT: scf.for
// CHECK-NOT: %[[X]]
// CHECK:   tile.store %cst, %[[Z]]
tile.kernel @one_branch(%x: !rows, %y: !numbers, %z: !numbers) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %count = tile.dim %x[0] : !rows
  %length = tile.dim %x[1] : !rows
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %is_short = arith.cmpi ule, %length, %c512 : index
  %zero = arith.constant dense<0.0> : !number
  scf.if %is_short {
    %t16 = tile.load %x[%row, %c0] : !rows -> !t16
    %t = arith.extf %t16 : !t16 to !t
    %sum = tile.reduce addf %t along 1 : !t -> !number
    tile.store %sum, %y[%row] : !number, !numbers
  }
  tile.store %zero, %z[%row] : !number, !numbers
}

// -----

!m = !tile.buffer<?x16xf32, #tile.strided<[16, 1]>, global>

// The author asks for the loop.
// CHECK-LABEL: tile.kernel @asked(
// CHECK: scf.for
// AMD-LABEL: tile.kernel @asked(
// AMD-NOT: tile.multiprocessors
// REMARK: [Missed] kernel-not-persistent {{.*}}Reason="blocks of gfx942 cannot read how many there are"
tile.kernel @asked(%x: !m, %y: !m) attributes {num_warps = 1 : i32,
    schedule = #tile.schedule<work_stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %x[0] : !m
  tile.grid %count, %c1, %c1
  %row = tile.program_id x
  %value = tile.load_scalar %x[%row, %c0] : !m -> f32
  %t = tensor.splat %value : tensor<1x16xf32, #tile.blocked<thread = [1, 1], lane = [1, 32], warp = [1, 1], order = [1, 0]>>
  tile.store %t, %y[%row, %c0] : tensor<1x16xf32, #tile.blocked<thread = [1, 1], lane = [1, 32], warp = [1, 1], order = [1, 0]>>, !m
}
