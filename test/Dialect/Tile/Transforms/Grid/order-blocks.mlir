// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-order-blocks,cse))' \
// RUN:   --remarks-filter='tile-order.*' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x256xf32>

// Groups of 16 rows of blocks: 132 blocks read 16 tiles of 16 KB and 9 of 32 KB, fewer
// bytes than 8 and 17 or 32 and 5. The third dimension of the grid remains. The last
// group has the blocks that are left. Divisors are numbers of the launch: the blocks of
// a group, and the height of the last one.
// REMARK: [Passed] blocks-ordered {{.*}}group=16, panel=1
// CHECK-LABEL: tile.kernel @product
// CHECK-DAG: %[[SIZE:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[ROWS:.*]] = arith.index_cast %[[X:.*]] : index to i32
// CHECK-DAG: %[[COLUMNS:.*]] = arith.index_cast %[[Y:.*]] : index to i32
// CHECK-DAG: %[[PROGRAM:.*]] = tile.program_id x
// CHECK-DAG: %[[ID:.*]] = arith.index_cast %[[PROGRAM]] : index to i32
// CHECK: %[[UP:.*]] = arith.addi %[[ROWS]], %c15_i32
// CHECK: %[[GROUPS:.*]] = arith.divui %[[UP]], %[[SIZE]]
// CHECK: %[[LAST:.*]] = arith.subi %[[GROUPS]], %c1_i32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[LAST]], %[[SIZE]]
// CHECK: %[[HEIGHT:.*]] = arith.subi %[[ROWS]], %[[BEFORE]]
// CHECK: %[[PER_HEIGHT:.*]] = arith.divui %c-1_i32, %[[HEIGHT]]
// CHECK: %[[MOST:.*]] = arith.minui %[[ROWS]], %[[SIZE]]
// CHECK: %[[ALL:.*]] = arith.muli %[[MOST]], %[[COLUMNS]]
// CHECK: %[[PER_GROUP:.*]] = arith.divui %c-1_i32, %[[ALL]]
// CHECK: %{{.*}}, %{{.*}} = arith.mului_extended %[[ID]], %[[PER_GROUP]]
// CHECK: %[[GROUP:.*]] = arith.select
// CHECK: %[[IN:.*]] = arith.select
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[GROUP]], %[[LAST]]
// CHECK: %{{.*}}, %{{.*}} = arith.mului_extended %[[IN]], %[[PER_HEIGHT]]
// CHECK: %[[COLUMN_OF_LAST:.*]] = arith.select
// CHECK: %[[ROW_OF_LAST:.*]] = arith.select
// CHECK: %[[COLUMN_OF_WHOLE:.*]] = arith.divui %[[IN]], %[[SIZE]]
// CHECK: %[[COLUMN:.*]] = arith.select %[[IS_LAST]], %[[COLUMN_OF_LAST]], %[[COLUMN_OF_WHOLE]]
// CHECK: %[[ROW_OF_WHOLE:.*]] = arith.remui %[[IN]], %[[SIZE]]
// CHECK: %[[REST:.*]] = arith.select %[[IS_LAST]], %[[ROW_OF_LAST]], %[[ROW_OF_WHOLE]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[SIZE]]
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[REST]]
// CHECK: %[[NEWX:.*]] = arith.index_castui %[[ROW]] : i32 to index
// CHECK: %[[NEWY:.*]] = arith.index_castui %[[COLUMN]] : i32 to index
// CHECK: %[[GRID:.*]] = arith.muli %[[X]], %[[Y]] : index
// CHECK: tile.grid %[[GRID]], %c1, %{{.*}}
// CHECK: arith.muli %[[NEWX]], %c128
// CHECK: arith.muli %[[NEWY]], %c256
tile.kernel @product(%a: !m, %b: !m, %batch: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %k = tile.dim %a[1] : !m
  %m = tile.dim %a[0] : !m
  %n = tile.dim %b[1] : !m
  %rows = arith.ceildivui %m, %c128 : index
  %columns = arith.ceildivui %n, %c256 : index
  tile.grid %rows, %columns, %batch
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c256 : index
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%row, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %column] : !m -> tensor<64x256xf16>
    %next = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x256xf16> -> !acc
    scf.yield %next : !acc
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// The tiles of x are larger, so a group is smaller. In panels of 4 blocks along y, 12
// neighbours read 3 tiles of x and 4 of y, not 8 and 2. A group of fewer than 6 blocks
// along x has no panels, and the last panel may be too narrow.
// REMARK: [Passed] blocks-ordered {{.*}}group=8, panel=4
// CHECK-LABEL: tile.kernel @tall
// CHECK: %[[COLUMNS:.*]] = arith.index_cast %arg4 : index to i32
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq
// CHECK: %[[COLUMN:.*]] = arith.select %[[IS_LAST]]
// CHECK: %[[ROW:.*]] = arith.select %[[IS_LAST]]
// CHECK: %[[HEIGHT:.*]] = arith.select %[[IS_LAST]], %{{.*}}, %c8_i32
// CHECK: %[[PANEL:.*]] = arith.divui %[[COLUMN]], %c4_i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[PANEL]], %c4_i32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[FIRST]], %[[HEIGHT]]
// CHECK: %[[IN:.*]] = arith.subi %{{.*}}, %[[BEFORE]]
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %c4_i32
// CHECK: %[[NARROW:.*]] = arith.cmpi ult, %[[COLUMNS]], %[[END]]
// CHECK: %[[LOW:.*]] = arith.cmpi ult, %[[HEIGHT]], %c6_i32
// CHECK: %[[KEEPS:.*]] = arith.ori %[[NARROW]], %[[LOW]]
// CHECK: %[[ALONG:.*]] = arith.divui %[[IN]], %c4_i32
// CHECK: arith.select %[[KEEPS]], %[[ROW]], %[[ALONG]]
// CHECK: %[[ACROSS:.*]] = arith.remui %[[IN]], %c4_i32
// CHECK: %[[OTHER:.*]] = arith.addi %[[FIRST]], %[[ACROSS]]
// CHECK: arith.select %[[KEEPS]], %[[COLUMN]], %[[OTHER]]
tile.kernel @tall(%a: !m, %b: !m, %o: !m, %rows: index, %columns: index, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c64 : index
  scf.for %i = %c0 to %k step %c64 {
    %at = tile.load %a[%row, %i] : !m -> tensor<256x64xf16>
    %bt = tile.load %b[%column, %i] : !m -> tensor<128x64xf16>
    tile.store %at, %o[%row, %i] : tensor<256x64xf16>, !m
    tile.store %bt, %o[%column, %i] : tensor<128x64xf16>, !m
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// The author's order.
// REMARK-NOT: blocks-ordered
// CHECK-LABEL: tile.kernel @plain
// CHECK-SAME: {num_warps = 8 : i32} {
// CHECK: tile.grid %{{.*}}, %{{.*}}, %c1
// CHECK-NEXT: tile.program_id x
tile.kernel @plain(%a: !m, %b: !m, %o: !m, %rows: index, %columns: index, %k: index) attributes {num_warps = 8 : i32,
    schedule = #tile.schedule<order = plain>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  scf.for %i = %c0 to %k step %c64 {
    %at = tile.load %a[%x, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%y, %i] : !m -> tensor<64x64xf16>
    tile.store %at, %o[%x, %i] : tensor<64x64xf16>, !m
    tile.store %bt, %o[%y, %i] : tensor<64x64xf16>, !m
  }
}

// One block of the grid reads each tile of %b: blocks share tiles of %a only.
// CHECK-LABEL: tile.kernel @unshared
// CHECK: tile.grid %{{.*}}, %{{.*}}, %c1
// CHECK-NEXT: tile.program_id x
tile.kernel @unshared(%a: !m, %b: !m, %o: !m, %rows: index, %columns: index, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %xy = arith.addi %x, %y : index
  scf.for %i = %c0 to %k step %c64 {
    %at = tile.load %a[%x, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%xy, %i] : !m -> tensor<64x64xf16>
    tile.store %at, %o[%x, %i] : tensor<64x64xf16>, !m
    tile.store %bt, %o[%y, %i] : tensor<64x64xf16>, !m
  }
}

// A grid of one column has one order, and a persistent kernel has its own.
// CHECK-LABEL: tile.kernel @column
// CHECK: tile.grid %{{.*}}, %c1, %c1
// CHECK-NEXT: tile.program_id x
tile.kernel @column(%a: !m, %b: !m, %o: !m, %rows: index, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %rows, %c1, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  scf.for %i = %c0 to %k step %c64 {
    %at = tile.load %a[%x, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%y, %i] : !m -> tensor<64x64xf16>
    tile.store %at, %o[%x, %i] : tensor<64x64xf16>, !m
    tile.store %bt, %o[%y, %i] : tensor<64x64xf16>, !m
  }
}

// CHECK-LABEL: tile.kernel @persistent
// CHECK: tile.grid %{{.*}}, %{{.*}}, %c1
// CHECK-NEXT: tile.program_id x
tile.kernel @persistent(%a: !m, %b: !m, %o: !m, %rows: index, %columns: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %all = tile.num_programs y
  scf.for %i = %y to %columns step %all {
    %at = tile.load %a[%x, %c0] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x64xf16>
    tile.store %at, %o[%x, %i] : tensor<64x64xf16>, !m
    tile.store %bt, %o[%y, %i] : tensor<64x64xf16>, !m
  }
}

// -----

// The author asks for groups; nothing else does.
// REMARK: [Passed] blocks-ordered {{.*}}group=5, panel=1
// CHECK-LABEL: tile.kernel @groups
// CHECK-SAME: {num_warps = 8 : i32} {
// CHECK: arith.minui %{{.*}}, %c5_i32
// CHECK: tile.grid %{{.*}}, %c1, %c1
tile.kernel @groups(%rows: index, %columns: index) attributes {num_warps = 8 : i32,
    schedule = #tile.schedule<order = groups<5>>} {
  %c1 = arith.constant 1 : index
  tile.grid %rows, %columns, %c1
}

// -----

// The author's panels are in all groups.
// REMARK: [Passed] blocks-ordered {{.*}}group=5, panel=2
// CHECK-LABEL: tile.kernel @panels
// CHECK-NOT: arith.ori
// CHECK: arith.divui %{{.*}}, %c2_i32
tile.kernel @panels(%rows: index, %columns: index) attributes {num_warps = 8 : i32,
    schedule = #tile.schedule<order = groups<5, 2>>} {
  %c1 = arith.constant 1 : index
  tile.grid %rows, %columns, %c1
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!matrices = !tile.buffer<?x?x?xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!numbers = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// Blocks of one group share tiles of its matrix. Memory determines the group.
// REMARK: [Passed] blocks-ordered {{.*}}group=16
// CHECK-LABEL: tile.kernel @grouped
tile.kernel @grouped(%a: !m, %b: !matrices, %groups: !numbers, %o: !m,
    %rows: index, %columns: index, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c256 : index
  %group32 = tile.load_scalar %groups[%x] : !numbers -> i32
  %group = arith.index_cast %group32 : i32 to index
  %matrix = tile.slice %b[%group, *, *] : !matrices to !m
  scf.for %i = %c0 to %k step %c64 {
    %at = tile.load %a[%row, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %matrix[%i, %column] : !m -> tensor<64x256xf16>
    tile.store %at, %o[%row, %i] : tensor<128x64xf16>, !m
    tile.store %bt, %o[%i, %column] : tensor<64x256xf16>, !m
  }
}

// -----

// The numbers of the blocks may be the first operations.
!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x256xf32>

// CHECK-LABEL: tile.kernel @numbers_first
// CHECK: tile.program_id x
// CHECK-NOT: tile.program_id
tile.kernel @numbers_first(%a: !m, %b: !m, %rows: index, %columns: index)
    attributes {num_warps = 8 : i32} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a[1] : !m
  tile.grid %rows, %columns, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%x, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %y] : !m -> tensor<64x256xf16>
    %d = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x256xf16> -> !acc
    scf.yield %d : !acc
  }
}
