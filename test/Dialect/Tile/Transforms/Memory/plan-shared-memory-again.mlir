// If the buffers do not fit, a tile that two loads read is stored again for the second
// one: gfx1100 has 65536 bytes, and the buffers take 49152 each.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile.kernel(tile-plan-shared-memory))' | FileCheck %s
// With enough memory it is stored once.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-plan-shared-memory))' | FileCheck %s --check-prefix=FITS

#rows = #tile.blocked<thread = [1, 4], lane = [32, 1], warp = [4, 1], order = [0, 1]>
!tile = tensor<1024x8xf32, #rows>
!scratch = !tile.buffer<1024x8xf32, #tile.padded<4, order = [1, 0]>, shared>
!out = !tile.buffer<1024x8xf32, #tile.strided<[8, 1]>, global>

// CHECK: tile.kernel @twice({{.*}}shared_bytes = 49152
// CHECK: %[[T:.+]] = tile.load %arg0
// CHECK: %[[A:.+]] = tile.alloc {offset = 0
// CHECK: tile.store %[[T]], %[[A]]
// CHECK: %[[X:.+]] = tile.load %[[A]]
// CHECK: %[[B:.+]] = tile.alloc {offset = 0
// CHECK: tile.store %[[X]], %[[B]]
// CHECK: tile.load %[[B]]
// CHECK: %[[C:.+]] = tile.alloc {offset = 0
// CHECK: tile.store %[[T]], %[[C]]
// CHECK: tile.load %[[C]]
// FITS: tile.kernel @twice({{.*}}shared_bytes = 98304
// FITS-COUNT-2: tile.alloc
// FITS-NOT: tile.alloc
tile.kernel @twice(%o: !out) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %o[%c0, %c0] : !out -> !tile
  %a = tile.alloc : !scratch
  tile.store %t, %a[%c0, %c0] : !tile, !scratch
  %x = tile.load %a[%c0, %c0] : !scratch -> !tile
  %b = tile.alloc : !scratch
  tile.store %x, %b[%c0, %c0] : !tile, !scratch
  %y = tile.load %b[%c0, %c0] : !scratch -> !tile
  %z = tile.load %a[%c0, %c0] : !scratch -> !tile
  tile.store %y, %o[%c0, %c0] : !tile, !out
  tile.store %z, %o[%c0, %c0] : !tile, !out
}
