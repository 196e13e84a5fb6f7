// RUN: tile-opt %s | tile-opt | FileCheck %s

!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!tile = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!sums = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!part = !tile.buffer<64x32xf32, #tile.swizzle<128>, shared>
!whole = !tile.buffer<64x64xf32, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

// CHECK-LABEL: tile.kernel @bulk
tile.kernel @bulk(%o: !o, %sums: !sums) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %p = tile.alloc : !part
  %w = tile.alloc : !whole
  %bars = tile.alloc : !bars
  // CHECK: tile.bulk_copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] dims [1, 3], %{{.*}}, %{{.*}}[%{{.*}}] cache(evict_last) : !tile.buffer
  tile.bulk_copy %o[%c0, %c0, %c0, %c0] dims [1, 3], %t, %bars[%c0] cache(evict_last) : !o, !tile, !bars
  // CHECK: tile.bulk_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] dims [1, 3] parts [8, 1] cache(evict_first) : !tile.buffer
  tile.bulk_store %t, %o[%c0, %c0, %c0, %c0] dims [1, 3] parts [8, 1] cache(evict_first) : !tile, !o
  // CHECK: tile.bulk_wait 1 read
  tile.bulk_wait 1 read
  // CHECK: tile.bulk_reduce add %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] dims [0, 1] : !tile.buffer
  tile.bulk_reduce add %p, %sums[%c0, %c0] dims [0, 1] : !part, !sums
  // CHECK: tile.bulk_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] dims [0, 1] within %{{.*}}, %{{.*}} parts [4, 2] : !tile.buffer
  tile.bulk_store %w, %sums[%c0, %c0] dims [0, 1] within %c0, %c1 parts [4, 2] : !whole, !sums
  // CHECK: tile.bulk_reduce add %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] dims [0, 1] within %{{.*}}, %{{.*}} cache(evict_last) : !tile.buffer
  tile.bulk_reduce add %p, %sums[%c0, %c0] dims [0, 1] within %c0, %c1 cache(evict_last) : !part, !sums
  // CHECK: tile.bulk_wait 0{{$}}
  tile.bulk_wait 0
  // CHECK: tile.bulk_prefetch %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] dims [1, 3] as !tile.buffer<128x64xf16, #tile.swizzle<128>, shared> : !tile.buffer
  tile.bulk_prefetch %o[%c0, %c0, %c0, %c0] dims [1, 3] as !tile : !o
}

!g = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
!rows = !tile.buffer<128x64xf32, #tile.padded<0, order = [1, 0]>, shared>
// CHECK-LABEL: tile.kernel @add
tile.kernel @add(%g: !g) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !rows
  tile.warp_roles warps = [4, 1, 3] registers = [128, 32, 32] {
    %a = arith.constant 0 : i32
  }, {
    %a = arith.constant 0 : i32
  }, {
    // CHECK: tile.bulk_add %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : !tile.buffer<128x64xf32{{.*}}, shared>, !tile.buffer<?x64xf32
    tile.bulk_add %t, %g[%c0, %c0] : !rows, !g
    tile.bulk_wait 0 read
  }
}

!pages = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
// CHECK-LABEL: tile.kernel @pages
tile.kernel @pages(%k: !pages, %t: !table, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %tile = tile.alloc : !tile
  %bars = tile.alloc : !bars
  // CHECK: tile.bulk_copy %{{.*}} dims [1, 3] within %{{.*}}, %{{.*}} pages along 0 by %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] : !tile.buffer<?x16x?x64xf16, {{.*}}, shared> by !tile.buffer<?xi32, {{.*}}>, !tile.buffer<1xi64
  tile.bulk_copy %k[%c0, %c0, %c1, %c0] dims [1, 3] within %c0, %n pages along 0 by %t, %tile, %bars[%c0]
      : !pages, !tile by !table, !bars
}
