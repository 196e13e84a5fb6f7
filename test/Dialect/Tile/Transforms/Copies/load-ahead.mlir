// RUN: tile-opt %s -split-input-file \
// RUN:   -pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-load-ahead{distance=2}))' | FileCheck %s
// RUN: tile-opt %s -split-input-file \
// RUN:   -pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-load-ahead))' \
// RUN:   --remarks-filter='tile-load-ahead' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 4], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!sums = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!factors = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t16 = tensor<1x1024xbf16, #blocked>
!t = tensor<1x1024xf32, #blocked>

// The tile and the factor of the iteration after the next one are loaded, if there is
// such an iteration. The load of what the loop writes stays.
// REMARK: [Passed] loads-ahead {{.*}}iterations=2, loads=2, registers=8
// CHECK-LABEL: tile.kernel @rows(
// CHECK-SAME: %[[X:.*]]: {{.*}}, %[[F:.*]]: {{.*}}, %[[S:.*]]: {{.*}}, %[[FIRST:.*]]: index, %[[END:.*]]: index)
// CHECK: %[[A:.*]]:2 = scf.if
// CHECK: tile.load %[[X]]
// CHECK: tile.load_scalar %[[F]]
// CHECK: } else {
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<1x1024xbf16, #blocked>, f32
// CHECK: %[[B:.*]]:2 = scf.if
// CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %c1 iter_args(%[[T0:.*]] = %[[A]]#0, %[[F0:.*]] = %[[A]]#1, %[[T1:.*]] = %[[B]]#0, %[[F1:.*]] = %[[B]]#1)
// CHECK: %[[OFFSET:.*]] = arith.muli %c1, %c2
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[I]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi sgt, %[[LEFT]], %[[OFFSET]]
// CHECK: %[[NEXT:.*]]:2 = scf.if %[[EXISTS]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %[[OFFSET]]
// CHECK: %[[R:.*]] = arith.muli %[[J]], %c2
// CHECK: %[[L:.*]] = tile.load %[[X]][%[[R]], %c0]
// CHECK: %[[LF:.*]] = tile.load_scalar %[[F]][%[[R]]]
// CHECK: scf.yield %[[L]], %[[LF]]
// CHECK: {tile.numbers_ahead = 2 : i64}
// CHECK: tile.load %[[S]]
// CHECK: arith.extf %[[T0]]
// CHECK: tensor.splat %[[F0]]
// CHECK: tile.store
// CHECK: scf.yield %[[T1]], %[[F1]], %[[NEXT]]#0, %[[NEXT]]#1
tile.kernel @rows(%x: !rows, %f: !factors, %s: !sums, %first: index, %end: index)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %first to %end step %c1 {
    %row = arith.muli %i, %c2 : index
    %t16 = tile.load %x[%row, %c0] : !rows -> !t16
    %factor = tile.load_scalar %f[%row] : !factors -> f32
    %old = tile.load %s[%row, %c0] : !sums -> !t
    %t = arith.extf %t16 : !t16 to !t
    %factors = tensor.splat %factor : !t
    %p = arith.mulf %t, %factors : !t
    %new = arith.addf %old, %p : !t
    tile.store %new, %s[%row, %c0] : !t, !sums
  }
}

// -----

// Nothing is ahead: the place of a load depends on what the loop carries, a load is the
// same in all iterations, and one is handed on only. An outer loop keeps its loads, too,
// and so does one with keep_loops.
#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 4], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!t16 = tensor<1x1024xbf16, #blocked>

// REMARK-NOT: loads-ahead
// CHECK-LABEL: tile.kernel @stays
// CHECK-NOT: scf.if
tile.kernel @stays(%x: !rows, %y: !rows, %end: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %n = %c0 to %end step %c1 {
    %z = tile.load %x[%n, %c1] : !rows -> !t16
    tile.store %z, %y[%n, %c0] : !t16, !rows
    %init = tile.load %x[%c0, %c0] : !rows -> !t16
    %r:2 = scf.for %i = %c0 to %end step %c1 iter_args(%place = %c0, %t = %init)
        -> (index, !t16) {
      %a = tile.load %x[%place, %c0] : !rows -> !t16
      %b = tile.load %x[%c0, %c0] : !rows -> !t16
      %c = tile.load %x[%i, %c0] : !rows -> !t16
      %sum = arith.addf %a, %b : !t16
      %all = arith.addf %sum, %t : !t16
      tile.store %all, %y[%i, %c0] : !t16, !rows
      %next = arith.addi %place, %i : index
      scf.yield %next, %c : index, !t16
    }
    scf.for %i = %c0 to %end step %c1 {
      %a = tile.load %x[%i, %c0] : !rows -> !t16
      tile.store %a, %y[%i, %c0] : !t16, !rows
    } {tile.schedule = #tile.schedule<keep_loops = true>}
  }
}

// -----

// A load moves in front of the wait for a scalar, with the operations for its place.
#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 4], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!labels = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t16 = tensor<1x1024xbf16, #blocked>

// CHECK-LABEL: tile.kernel @waits(
// CHECK: %[[LABEL:.*]] = tile.load_scalar
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: tile.load %{{.*}}[%[[ROW]], %c0]
// CHECK: arith.index_cast %[[LABEL]]
// CHECK: %[[OTHER:.*]] = tile.load_scalar
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[OTHER]]
// CHECK: tile.load %{{.*}}[%[[PLACE]], %c0]
tile.kernel @waits(%x: !rows, %labels: !labels, %y: !rows) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c1, %c1, %c1
  %block = tile.program_id x
  %label = tile.load_scalar %labels[%block] : !labels -> i32
  %place = arith.index_cast %label : i32 to index
  %other = tile.load_scalar %labels[%place] : !labels -> i32
  %row = arith.muli %block, %c2 : index
  %t = tile.load %x[%row, %c0] : !rows -> !t16
  %last = arith.index_cast %other : i32 to index
  %u = tile.load %x[%last, %c0] : !rows -> !t16
  %sum = arith.addf %t, %u : !t16
  tile.store %sum, %y[%block, %c0] : !t16, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 16], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!t16 = tensor<1x16384xbf16, #blocked>
!t = tensor<1x16384xf32, #blocked>

// Registers do not hold the loads, and one block fits a multiprocessor: copies to shared
// memory are two iterations ahead. One iteration would not use the rate of global memory.
// REMARK: [Passed] loads-ahead {{.*}}iterations=2, loads=1, shared bytes=98304
tile.kernel @copied(%x: !rows, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zeros = arith.constant dense<0.0> : !t
  %sums:3 = scf.for %i = %first to %end step %c1
      iter_args(%a = %zeros, %b = %zeros, %c = %zeros) -> (!t, !t, !t) {
    %t16 = tile.load %x[%i, %c0] : !rows -> !t16
    %t = arith.extf %t16 : !t16 to !t
    %a1 = arith.addf %a, %t : !t
    %b1 = arith.mulf %b, %t : !t
    %c2 = arith.subf %c, %t : !t
    scf.yield %a1, %b1, %c2 : !t, !t, !t
  }
  %s = arith.addf %sums#0, %sums#1 : !t
  %r = arith.addf %s, %sums#2 : !t
  %r16 = arith.truncf %r : !t to !t16
  tile.store %r16, %y[%c0, %c0] : !t16, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 10], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!t16 = tensor<1x7680xbf16, #blocked>
!t = tensor<1x7680xf32, #blocked>

// Two blocks fit a multiprocessor, of which one waits while the other one waits, too:
// each copies to its half of the shared memory.
// REMARK: [Passed] loads-ahead {{.*}}iterations=2, loads=1, shared bytes=46080
tile.kernel @two_blocks(%x: !rows, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 10 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zeros = arith.constant dense<0.0> : !t
  %w16 = tile.load %y[%c0, %c0] : !rows -> !t16
  %sums:2 = scf.for %i = %first to %end step %c1 iter_args(%a = %zeros, %b = %zeros) -> (!t, !t) {
    %t16 = tile.load %x[%i, %c0] : !rows -> !t16
    %product = arith.mulf %t16, %w16 : !t16
    %t = arith.extf %product : !t16 to !t
    %a1 = arith.addf %a, %t : !t
    %b1 = arith.mulf %b, %t : !t
    scf.yield %a1, %b1 : !t, !t
  }
  %r = arith.addf %sums#0, %sums#1 : !t
  %r16 = arith.truncf %r : !t to !t16
  tile.store %r16, %y[%c0, %c0] : !t16, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 4], lane = [1, 32], warp = [1, 6], order = [1, 0]>
!rows = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!t = tensor<1x3072xf32, #blocked>

// The registers of the loads would take the place of one of three blocks.
// REMARK: [Missed] loads-ahead {{.*}}the loads of an iteration take 16 registers
tile.kernel @three_blocks(%x: !rows, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 6 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %end, %c1, %c1
  %zeros = arith.constant dense<0.0> : !t
  %sums:4 = scf.for %i = %first to %end step %c1 iter_args(%a = %zeros, %b = %zeros, %c = %zeros, %d = %zeros)
      -> (!t, !t, !t, !t) {
    %t = tile.load %x[%i, %c0] : !rows -> !t
    %a1 = arith.addf %a, %t : !t
    %b1 = arith.mulf %b, %a1 : !t
    %c1_ = arith.addf %c, %b1 : !t
    %d1 = arith.mulf %d, %c1_ : !t
    scf.yield %a1, %b1, %c1_, %d1 : !t, !t, !t, !t
  }
  %ab = arith.addf %sums#0, %sums#1 : !t
  %cd = arith.addf %sums#2, %sums#3 : !t
  %r = arith.addf %ab, %cd : !t
  tile.store %r, %y[%c0, %c0] : !t, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 4], lane = [1, 32], warp = [1, 6], order = [1, 0]>
!rows = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!t = tensor<1x3072xf32, #blocked>

// The grid has only two.
// REMARK: [Passed] loads-ahead {{.*}}iterations=2, loads=1, registers=32
tile.kernel @two_of_the_grid(%x: !rows, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 6 : i32, grid_blocks = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %end, %c1, %c1
  %zeros = arith.constant dense<0.0> : !t
  %sums:4 = scf.for %i = %first to %end step %c1 iter_args(%a = %zeros, %b = %zeros, %c = %zeros, %d = %zeros)
      -> (!t, !t, !t, !t) {
    %t = tile.load %x[%i, %c0] : !rows -> !t
    %a1 = arith.addf %a, %t : !t
    %b1 = arith.mulf %b, %a1 : !t
    %c1_ = arith.addf %c, %b1 : !t
    %d1 = arith.mulf %d, %c1_ : !t
    scf.yield %a1, %b1, %c1_, %d1 : !t, !t, !t, !t
  }
  %ab = arith.addf %sums#0, %sums#1 : !t
  %cd = arith.addf %sums#2, %sums#3 : !t
  %r = arith.addf %ab, %cd : !t
  tile.store %r, %y[%c0, %c0] : !t, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 10], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?, 1]>, global>
!t16 = tensor<1x7680xbf16, #blocked>
!t = tensor<1x7680xf32, #blocked>

// Rows may begin at any element, and asynchronous copies have two. An element that is
// loaded alone takes a register.
// REMARK: [Passed] loads-ahead {{.*}}iterations=2, loads=1, registers=48
tile.kernel @single_elements(%x: !rows, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 10 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zeros = arith.constant dense<0.0> : !t
  %w16 = tile.load %y[%c0, %c0] : !rows -> !t16
  %sums:2 = scf.for %i = %first to %end step %c1 iter_args(%a = %zeros, %b = %zeros) -> (!t, !t) {
    %t16 = tile.load %x[%i, %c0] : !rows -> !t16
    %product = arith.mulf %t16, %w16 : !t16
    %t = arith.extf %product : !t16 to !t
    %a1 = arith.addf %a, %t : !t
    %b1 = arith.mulf %b, %t : !t
    scf.yield %a1, %b1 : !t, !t
  }
  %r = arith.addf %sums#0, %sums#1 : !t
  %r16 = arith.truncf %r : !t to !t16
  tile.store %r16, %y[%c0, %c0] : !t16, !rows
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 4], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!factors = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t16 = tensor<1x1024xbf16, #blocked>
!t = tensor<1x1024xf32, #blocked>

// Registers have room for the next row, but the warps of a block wait for each other:
// the row is copied, and the scalar beside it.
// REMARK: [Passed] loads-ahead {{.*}}iterations=1, loads=2, shared bytes=4096
tile.kernel @together(%x: !rows, %f: !factors, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %first to %end step %c1 {
    %t16 = tile.load %x[%i, %c0] : !rows -> !t16
    %factor = tile.load_scalar %f[%i] : !factors -> f32
    %t = arith.extf %t16 : !t16 to !t
    %factors = tensor.splat %factor : !t
    %p = arith.mulf %t, %factors : !t
    %sum = tile.reduce addf %p along 1 : !t -> tensor<1xf32, #tile.slice<1, #blocked>>
    %sums = tile.broadcast %sum along 1 : tensor<1xf32, #tile.slice<1, #blocked>> -> !t
    %q = arith.mulf %p, %sums : !t
    %q16 = arith.truncf %q : !t to !t16
    tile.store %q16, %y[%i, %c0] : !t16, !rows
  }
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 64], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!t16 = tensor<1x65536xbf16, #blocked>
!t = tensor<1x65536xf32, #blocked>

// Of several blocks of a cluster, none runs while the others wait: the row is copied.
// REMARK: [Passed] loads-ahead {{.*}}iterations=1, loads=1, shared bytes=32768
tile.kernel @cluster(%x: !rows, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 64 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %first to %end step %c1 {
    %t16 = tile.load %x[%i, %c0] : !rows -> !t16
    %t = arith.extf %t16 : !t16 to !t
    %sum = tile.reduce addf %t along 1 : !t -> tensor<1xf32, #tile.slice<1, #blocked>>
    %sums = tile.broadcast %sum along 1 : tensor<1xf32, #tile.slice<1, #blocked>> -> !t
    %q = arith.mulf %t, %sums : !t
    %q16 = arith.truncf %q : !t to !t16
    tile.store %q16, %y[%i, %c0] : !t16, !rows
  }
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [1, 32], warp = [1, 4], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?, 1]>, global>
!factors = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t16 = tensor<1x1024xbf16, #blocked>
!t = tensor<1x1024xf32, #blocked>

// Elements that are loaded alone would take the registers of another block, which runs
// while this one waits: they are loaded in their iteration.
// REMARK: [Missed] loads-ahead {{.*}}"elements are loaded alone: 8 registers more would take the place of a block
// CHECK-LABEL: tile.kernel @together_alone
tile.kernel @together_alone(%x: !rows, %f: !factors, %y: !rows, %first: index, %end: index)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %first to %end step %c1 {
    %t16 = tile.load %x[%i, %c0] : !rows -> !t16
    %factor = tile.load_scalar %f[%i] : !factors -> f32
    %t = arith.extf %t16 : !t16 to !t
    %factors = tensor.splat %factor : !t
    %p = arith.mulf %t, %factors : !t
    %sum = tile.reduce addf %p along 1 : !t -> tensor<1xf32, #tile.slice<1, #blocked>>
    %sums = tile.broadcast %sum along 1 : tensor<1xf32, #tile.slice<1, #blocked>> -> !t
    %q = arith.mulf %p, %sums : !t
    %q16 = arith.truncf %q : !t to !t16
    tile.store %q16, %y[%i, %c0] : !t16, !rows
  }
}

// -----

#blocked = #tile.blocked<thread = [1, 1], lane = [1, 32], warp = [1, 4], order = [1, 0]>
!rows = !tile.buffer<?x?xbf16, #tile.strided<[?, 1]>, global>
!t16 = tensor<1x1024xbf16, #blocked>
!t = tensor<1x1024xf32, #blocked>

// Parts of single rows are copied to shared memory, however they begin.
// REMARK: [Passed] loads-ahead {{.*}}iterations=2, loads=1, shared bytes=6144
// CHECK-LABEL: tile.kernel @row_runs
tile.kernel @row_runs(%x: !rows, %y: !rows) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %end = tile.dim %x[0] : !rows
  scf.for %i = %c0 to %end step %c1 {
    %t16 = tile.load %x[%i, %c0] : !rows -> !t16
    %t = arith.extf %t16 : !t16 to !t
    %sum = tile.reduce addf %t along 1 : !t -> tensor<1xf32, #tile.slice<1, #blocked>>
    %sums = tile.broadcast %sum along 1 : tensor<1xf32, #tile.slice<1, #blocked>> -> !t
    %q = arith.mulf %t, %sums : !t
    %q16 = arith.truncf %q : !t to !t16
    tile.store %q16, %y[%i, %c0] : !t16, !rows
  }
}

// -----

#row = #tile.slice<0, #tile.layout<register = [], lane = [32 -> 0], warp = []>>
#shared = #tile.padded<0, order = [0]>
!numbers = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// What tile-pipeline copies to shared memory stays in its iteration.
// CHECK-LABEL: tile.kernel @shared_tile
// CHECK: scf.for
// CHECK: tile.load {{.*}} -> tensor<1xi32, #tile.padded<0, order = [0]>>
tile.kernel @shared_tile(%x: !numbers, %y: !numbers, %end: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %end step %c1 {
    %t = tile.load %x[%i] : !numbers -> tensor<1xi32, #shared>
    %r = tile.convert_layout %t : tensor<1xi32, #shared> -> tensor<1xi32, #row>
    tile.store %r, %y[%i] : tensor<1xi32, #row>, !numbers
  }
}
