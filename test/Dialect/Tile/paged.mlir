// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s | tile-opt | FileCheck %s

// Views of pages. Their rows lie anywhere: the stride of the first dimension is only
// known to be a multiple of what divides the distances of rows and of pages.

!cache = !tile.buffer<?x64x?x128xbf16, #tile.strided<[?:8, ?:16, ?:8, 1], align = 32>, global>
!tables = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>
!odd = !tile.buffer<5x3x8xf32, #tile.strided<[24, 8, 1]>, global>

// CHECK-DAG: #[[ROWS:.*]] = #tile.strided<[?:8, 1], align = 16, page = 64>
// CHECK-DAG: #[[ODD:.*]] = #tile.strided<[?:8, 1], page = 3>

// CHECK-LABEL: tile.kernel @views
tile.kernel @views(%k: !cache, %tables: !tables, %odd: !odd, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %pages = tile.slice %k[*, *, %c0, *] : !cache
  %table = tile.slice %tables[%c1, *] : !tables
  // CHECK: %[[KEYS:.*]] = tile.paged %{{.*}} by %{{.*}} length %{{.*}} : {{.*}} to !tile.buffer<?x128xbf16, #[[ROWS]], global>
  %keys = tile.paged %pages by %table length %n
      : !tile.buffer<?x64x128xbf16, #tile.strided<[?:8, ?:16, 1], align = 16>, global>,
        !tile.buffer<?xi32, #tile.strided<[1]>, global>
  // CHECK: tile.paged %{{.*}} to !tile.buffer<?x8xf32, #[[ODD]], global>
  %rows = tile.paged %odd by %table length %n : !odd, !tile.buffer<?xi32, #tile.strided<[1]>, global>
  // CHECK: tile.load %[[KEYS]]
  %x = tile.load %keys[%c0, %c0]
      : !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16, page = 64>, global> -> tensor<64x128xbf16>
  %y = tile.masked_load %keys[%c0, %c0]
      : !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16, page = 64>, global> -> tensor<64x128xbf16>
  %m = tile.dim %keys[0] : !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16, page = 64>, global>
}
