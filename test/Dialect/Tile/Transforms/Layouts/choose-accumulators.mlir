// The layout of a buffer that a matrix product is added to, per chip: accesses are as
// wide as the chip adds f32, and the lanes of a warp access neighbours.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-choose-accumulators)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-choose-accumulators)' | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-choose-accumulators)' | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile-choose-accumulators)' | FileCheck %s --check-prefixes=CHECK,GFX1100

// This is the layout that hand-written kernels for sm_80 use.
// SM80-DAG: #[[ACC:.+]] = #tile.map<(d0, d1, d2) -> (d0, d1 floordiv 8, d2 floordiv 8, d2 mod 2, (d1 mod 8) * 4 + (d2 mod 8) floordiv 2), align = 16>
// Columns 0, 1, 16 and 17 of a row: the two warps have columns side by side, and the four
// elements of one lane are in one row, so that the number of rows may be dynamic.
// SM90-DAG: #[[ACC:.+]] = #tile.map<(d0, d1, d2) -> (d0, d1 floordiv 8, d2 floordiv 32, (d2 mod 16) floordiv 8, (d1 mod 8) * 16 + d2 mod 2 + ((d2 mod 8) floordiv 2) * 4 + ((d2 mod 32) floordiv 16) * 2), align = 16>
// SM90-DAG: #[[NARROW:.+]] = #tile.map<(d0, d1, d2) -> (d0, d1 floordiv 16, d2 floordiv 8, (d1 mod 8) * 16 + ((d1 mod 16) floordiv 8) * 2 + d2 mod 2 + ((d2 mod 8) floordiv 2) * 4), align = 16>
// GFX942-DAG: #[[ACC:.+]] = #tile.map<(d0, d1, d2) -> (d0, d1 floordiv 32, d2 floordiv 8, d2 mod 4, d1 mod 32 + ((d2 mod 8) floordiv 4) * 32), align = 16>
// GFX1100-DAG: #[[ACC:.+]] = #tile.map<(d0, d1, d2) -> (d0, d1 floordiv 2, d2 floordiv 16, (d1 mod 2) * 16 + d2 mod 16), align = 16>

// This is the layout for the last kernel.
// CHECK-DAG: #{{.+}} = #tile.map<(d0, d1, d2) -> (d1, d0 floordiv {{[0-9]+}}, d2 floordiv

!h = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!acc = !tile.buffer<?x?x64xf32, #tile.strided<[?, 64, 1]>, global>
!row = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>

// CHECK-LABEL: tile.kernel @add
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tile.buffer<?x?x64xf32, #[[ACC]], global> {tile.name = "dq"}
// CHECK: tile.slice %[[A]][{{.+}}, *, *] : !tile.buffer<?x?x64xf32, #[[ACC]], global> to !tile.buffer<?x64xf32, #{{.+}}, global>
// REMARK: choose-accumulators.mlir:[[@LINE+21]]:{{.*}} remark: [Passed] accumulator-layout | Category:tile-choose-accumulators | Reason="#tile.map<(d0, d1, d2) -> (d0, d1 floordiv 8,
tile.kernel @add(%a: !h, %b: !h, %acc: !acc {tile.accumulator, tile.name = "dq"})
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %row = tile.slice %acc[%c0, *, *] : !acc to !row
  %at = tile.load %a[%c0, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %two = arith.constant dense<2.0> : tensor<32x64xf32>
  // The fragment is found through loops and elementwise operations.
  %sum = scf.for %i = %c0 to %c32 step %c1 iter_args(%s = %zero)
      -> (tensor<32x64xf32>) {
    %d = tile.dot %at, %bt, %s : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  %scaled = arith.mulf %sum, %two : tensor<32x64xf32>


  tile.atomic_rmw addf %scaled, %row[%c0, %c0] : tensor<32x64xf32>, !row
}

// All kernels with this accumulator get its layout.
// CHECK-LABEL: tile.kernel @read
// CHECK-SAME: !tile.buffer<?x?x64xf32, #[[ACC]], global> {tile.name = "dq"}
tile.kernel @read(%acc: !acc {tile.accumulator, tile.name = "dq"}, %out: !row)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %row = tile.slice %acc[%c0, *, *] : !acc to !row
  // CHECK: tile.load %{{.+}} : !tile.buffer<?x64xf32, #{{.+}}, global> -> tensor<32x64xf32>
  %t = tile.load %row[%c0, %c0] : !row -> tensor<32x64xf32>
  tile.store %t, %out[%c0, %c0] : tensor<32x64xf32>, !row
}

// Nothing determines the layout of this added tile.
// CHECK-LABEL: tile.kernel @free
// CHECK-SAME: %{{[a-z0-9]+}}: !tile.buffer<?x64xf32, #strided{{[0-9]*}}, global> {tile.name = "free"}
// REMARK: remark: [Missed] accumulator-layout | Category:tile-choose-accumulators | Reason="argument 0 stays as it is: no fragment of a matrix product is added to whole rows and columns of it"
tile.kernel @free(%acc: !row {tile.accumulator, tile.name = "free"}, %in: !row)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %in[%c0, %c0] : !row -> tensor<32x64xf32>
  tile.atomic_rmw addf %t, %acc[%c0, %c0] : tensor<32x64xf32>, !row
}

// The program requires as many rows as those of a. The layout has periods of several
// rows, which would store more elements than the argument has.
// CHECK-LABEL: tile.kernel @required
// CHECK-SAME: %{{[a-z0-9]+}}: !tile.buffer<?x64xf32, #strided{{[0-9]*}}, global> {tile.name = "required"}
// REMARK: remark: [Missed] accumulator-layout | Category:tile-choose-accumulators | Reason="argument 0 stays as it is: no fragment of a matrix product is added to whole rows and columns of it, as far as its requirements tell"
tile.kernel @required(%acc: !row {tile.accumulator, tile.name = "required"}, %a: !h, %b: !h)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tile.dim %a[0] : !h
  tile.grid %c1, %c1, %c1
  tile.require %acc[0] equal %rows, "the rows of a" : !row
  %at = tile.load %a[%c0, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %acc[%c0, %c0] : tensor<32x64xf32>, !row
}

// Heads are between rows and columns: the two dimensions of a tile determine the
// layout, and the others are outermost.
!heads = !tile.buffer<?x?x64xf32, #tile.strided<[?, 64, 1]>, global>
!head = !tile.buffer<?x64xf32, #tile.strided<[?, 1]>, global>
tile.kernel @heads(%a: !h, %b: !h, %acc: !heads {tile.accumulator, tile.name = "heads"})
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %head = tile.slice %acc[*, %c0, *] : !heads to !head
  %at = tile.load %a[%c0, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %head[%c0, %c0] : tensor<32x64xf32>, !head
}

// The layout is unchanged, because a kernel slices one row of the buffer.
// CHECK-LABEL: tile.kernel @sliced
// CHECK-SAME: %{{[a-z0-9]+}}: !tile.buffer<?x64xf32, #strided{{[0-9]*}}, global> {tile.name = "sliced"}
// REMARK: remark: [Missed] accumulator-layout
!line = !tile.buffer<64xf32, #tile.strided<[1]>, global>
tile.kernel @sliced(%acc: !row {tile.accumulator, tile.name = "sliced"}, %a: !h, %b: !h)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %line = tile.slice %acc[%c0, *] : !row to !line
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  tile.store %zeros, %line[%c0] : tensor<64xf32>, !line
  %at = tile.load %a[%c0, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %acc[%c0, %c0] : tensor<32x64xf32>, !row
}

// 40 columns are whole periods of 8 columns, but not of 16, which would store more
// elements than the argument has. On sm_90a the four elements of a lane are in two
// rows then. The lanes of gfx942 cover 8 columns.
!narrow = !tile.buffer<?x?x40xf32, #tile.strided<[?, 40, 1]>, global>
!narrowrow = !tile.buffer<?x40xf32, #tile.strided<[40, 1]>, global>
// CHECK-LABEL: tile.kernel @narrow
// SM80-SAME: !tile.buffer<?x?x40xf32, #[[ACC]], global>
// SM90-SAME: !tile.buffer<?x?x40xf32, #[[NARROW]], global>
// GFX942-SAME: !tile.buffer<?x?x40xf32, #[[ACC]], global>
tile.kernel @narrow(%a: !h, %b: !h, %acc: !narrow {tile.accumulator, tile.name = "narrow"})
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %row = tile.slice %acc[%c0, *, *] : !narrow to !narrowrow
  %at = tile.load %a[%c0, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %row[%c0, %c0] : tensor<32x64xf32>, !narrowrow
}
