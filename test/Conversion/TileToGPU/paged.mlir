// RUN: tile-opt %s -tile-attach-target=chip=sm_80 -tile-vectorize -canonicalize -cse | FileCheck %s

!pages = !tile.buffer<?x16x128xbf16, #tile.strided<[?:8, 128, 1], align = 16>, global>
!large = !tile.buffer<?x256x128xbf16, #tile.strided<[?:8, 128, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!rows = !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16, page = 16>, global>
!long = !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16, page = 256>, global>
#rows = #tile.layout<register = [8 -> d1, 8 -> d0 * 8], lane = [16 -> d1 * 8, 2 -> d0], warp = [4 -> d0 * 2]>

// Each row of a thread has a page of its own. A row out of bounds reads the entry of
// the last row, and a page that does not exist is out of bounds, too. A row is 16 bytes wide
// wherever it lies.

// CHECK-LABEL: gpu.func @small
// CHECK-SAME: %[[TABLE:[a-z0-9]*]]: memref<?xi32, #gpu.address_space<global>>
// CHECK: %[[ROOM:.*]] = arith.muli %{{.*}}, %c16
// CHECK: %[[LENGTH:.*]] = arith.minsi %{{.*}}, %[[ROOM]]
// CHECK: %[[END:.*]] = arith.index_cast %[[LENGTH]]
// CHECK: %[[HAS_ROWS:.*]] = arith.cmpi sgt, %[[END]], %c0_i32
// CHECK: %[[PAGE:.*]]:8 = scf.if %[[HAS_ROWS]]
// CHECK:   %[[LAST_ROW:.*]] = arith.addi %[[END]], %c-1_i32
// CHECK:   %[[LAST:.*]] = arith.divui %[[LAST_ROW]], %c16_i32
// CHECK:   %[[NUMBER:.*]] = arith.divui %[[ROW:.*]], %c16_i32
// CHECK:   arith.minui %[[NUMBER]], %[[LAST]]
// CHECK-COUNT-8: memref.load %[[TABLE]]
// CHECK: arith.remui %[[ROW]], %c16_i32
// CHECK: arith.cmpi ult, %[[ROW]], %[[END]]
// CHECK: arith.cmpi ult, %[[PAGE]]#0,
// CHECK-COUNT-8: vector.load {{.*}} vector<8xbf16>
tile.kernel @small(%k: !pages, %t: !table, %n: index, %from: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %v = tile.paged %k by %t length %n : !pages, !table
  %x = tile.load %v[%from, %c0] : !rows -> tensor<64x128xbf16, #rows>
  tile.print "x" %x : tensor<64x128xbf16, #rows>
}

// A tile that lies in one page has one entry.

// CHECK-LABEL: gpu.func @large
// CHECK: memref.load
// CHECK-NOT: memref.load
// CHECK: vector.load {{.*}} vector<8xbf16>
tile.kernel @large(%k: !large, %t: !table, %n: index, %number: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %from = arith.muli %number, %c64 : index
  %v = tile.paged %k by %t length %n : !large, !table
  %x = tile.load %v[%from, %c0] : !long -> tensor<64x128xbf16, #rows>
  tile.print "x" %x : tensor<64x128xbf16, #rows>
}
