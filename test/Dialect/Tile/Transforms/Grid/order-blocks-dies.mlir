// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-order-blocks,cse))' \
// RUN:   --remarks-filter='tile-order.*' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// All blocks along x read the same tiles of k: those for one y and z run on one of 8
// dies, which get consecutive blocks in turn. The tiles of a window, whose loop depends
// on x, overlap.
// REMARK: [Passed] rows-on-dies {{.*}}dies=8
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[LENGTH:.*]] = arith.index_cast %arg3 : index to i32
// CHECK: %[[Y:.*]] = arith.index_cast %arg4 : index to i32
// CHECK: %[[Z:.*]] = arith.index_cast %arg5 : index to i32
// CHECK: %[[PROGRAM:.*]] = tile.program_id x
// CHECK: %[[ID:.*]] = arith.index_cast %[[PROGRAM]] : index to i32
// CHECK: %[[ROWS:.*]] = arith.muli %[[Y]], %[[Z]] : i32
// CHECK: %[[LEFT:.*]] = arith.remui %[[ROWS]], %c8_i32
// CHECK: %[[FULL:.*]] = arith.subi %[[ROWS]], %[[LEFT]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[FULL]], %[[LENGTH]]
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi ult, %[[ID]], %[[WHOLE]]
// CHECK: %[[TURN:.*]] = arith.divui %[[ID]], %c8_i32
// CHECK: %[[NUMBER:.*]] = arith.select %[[IS_WHOLE]], %[[TURN]], %[[ID]]
// CHECK: %[[ROUND:.*]] = arith.divui %[[NUMBER]], %[[LENGTH]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ROUND]], %[[LENGTH]]
// CHECK: %[[COLUMN:.*]] = arith.subi %[[NUMBER]], %[[BEFORE]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[ROUND]], %c8_i32
// CHECK: %[[DIE:.*]] = arith.remui %[[ID]], %c8_i32
// CHECK: %[[OF_DIE:.*]] = arith.addi %[[FIRST]], %[[DIE]]
// CHECK: %[[ROW:.*]] = arith.select %[[IS_WHOLE]], %[[OF_DIE]], %[[ROUND]]
// CHECK: %[[NEWZ:.*]] = arith.divui %[[ROW]], %[[Y]]
// CHECK: %[[NEWY:.*]] = arith.remui %[[ROW]], %[[Y]]
// CHECK: %[[XY:.*]] = arith.muli %arg3, %arg4 : index
// CHECK: %[[ALL:.*]] = arith.muli %[[XY]], %arg5 : index
// CHECK: tile.grid %[[ALL]], %c1, %c1
tile.kernel @rows(%q: !q, %k: !q, %o: !q, %blocks: index, %heads: index, %batch: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.grid %blocks, %heads, %batch
  %x = tile.program_id x
  %y = tile.program_id y
  %z = tile.program_id z
  %first = arith.muli %x, %c64 : index
  %kh = tile.slice %k[%z, *, %y, *] : !q to !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
  %oh = tile.slice %o[%z, *, %y, *] : !q to !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
  scf.for %i = %first to %blocks step %c64 {
    %t = tile.load %kh[%i, %c0] : !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global> -> tensor<64x64xf16>
    tile.store %t, %oh[%i, %c0] : tensor<64x64xf16>, !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// Groups of 8 rows of blocks, since 38 compute units of a die run at the same time. The
// blocks of a die are consecutive in this walk.
// REMARK: [Passed] blocks-ordered {{.*}}group=8
// CHECK-LABEL: tile.kernel @product
// CHECK: %[[PROGRAM:.*]] = tile.program_id x
// CHECK: %[[ID:.*]] = arith.index_cast %[[PROGRAM]] : index to i32
// CHECK: %[[COUNT:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: %[[DIE:.*]] = arith.remui %[[ID]], %c8_i32
// CHECK: %[[LEFT:.*]] = arith.remui %[[COUNT]], %c8_i32
// CHECK: %[[LONGER:.*]] = arith.minui %[[DIE]], %[[LEFT]]
// CHECK: %[[EACH:.*]] = arith.divui %[[COUNT]], %c8_i32
// CHECK: %[[START:.*]] = arith.muli %[[DIE]], %[[EACH]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[START]], %[[LONGER]]
// CHECK: %[[TURN:.*]] = arith.divui %[[ID]], %c8_i32
// CHECK: arith.addi %[[FIRST]], %[[TURN]]
tile.kernel @product(%a: !m, %b: !m, %o: !m, %rows: index, %columns: index, %k: index) attributes {num_warps = 8 : i32} {
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

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// Blocks that share nothing, and an order that the author gives, stay.
// REMARK-NOT: [Passed]
// CHECK-LABEL: tile.kernel @alone
// CHECK: tile.grid %arg2, %arg3, %c1
tile.kernel @alone(%a: !m, %o: !m, %rows: index, %columns: index, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %both = arith.addi %x, %y : index
  scf.for %i = %c0 to %k step %c64 {
    %at = tile.load %a[%both, %i] : !m -> tensor<64x64xf16>
    tile.store %at, %o[%both, %i] : tensor<64x64xf16>, !m
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @given
// CHECK: tile.grid %arg2, %arg3, %c1
tile.kernel @given(%a: !m, %o: !m, %rows: index, %columns: index, %k: index) attributes {num_warps = 8 : i32,
    schedule = #tile.schedule<order = plain>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  scf.for %i = %c0 to %k step %c64 {
    %at = tile.load %a[%y, %i] : !m -> tensor<64x64xf16>
    tile.store %at, %o[%x, %i] : tensor<64x64xf16>, !m
  }
}
