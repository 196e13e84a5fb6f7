// The bounds of loads in loops on AMD.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1201},tile-vectorize,gpu.module(canonicalize,cse))' | FileCheck %s

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
#eight = #tile.layout<register = [8 -> d0], lane = [32 -> d0 * 8], warp = []>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!both_f32 = !tile.buffer<16x16xf32, #tile.strided<[16, 1]>, global>

// In a loop with products, the branch depends on the length of the rows, too, which is the same in all threads and
// iterations: rows of a multiple of 8 elements do not end within an access.
#wmma = #tile.mma<"wmma.gfx12.16x16x16.f16", warps = [1, 1]>
#left = #tile.dot_operand<0, #wmma>
#right = #tile.dot_operand<1, #wmma>
!line = !tile.buffer<?xf16, #tile.strided<[1], align = 16>, global>
!sum = tensor<16x16xf32, #wmma>

// CHECK-LABEL: gpu.func @ends_beside_products
// CHECK: scf.for
// CHECK: %[[REST:.+]] = arith.andi %[[N:.+]], %c7_i32 : i32
// CHECK: %[[ODD:.+]] = arith.cmpi ne, %[[REST]], %c0_i32 : i32
// CHECK: tile_gpu.buffer_load {{.*}} vector<8xf16>
// CHECK: %[[PIECES:.+]] = arith.andi %[[ODD]], %{{.+}} : i1
// CHECK: scf.if %[[PIECES]]
tile.kernel @ends_beside_products(%a: !line, %b: !line, %c: !both_f32) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  tile.grid %c0, %c0, %c0
  %n = tile.dim %a[0] : !line
  %zero = arith.constant dense<0.0> : !sum
  %x = arith.constant dense<1.0> : tensor<16x16xf16, #left>
  %y = arith.constant dense<1.0> : tensor<16x16xf16, #right>
  %r = scf.for %i = %c0 to %n step %c256 iter_args(%s = %zero) -> (!sum) {
    %t = tile.load %a[%i] : !line -> tensor<256xf16, #eight>
    tile.store %t, %b[%i] : tensor<256xf16, #eight>, !line
    %d = tile.dot %x, %y, %s : tensor<16x16xf16, #left>, tensor<16x16xf16, #right> -> !sum
    scf.yield %d : !sum
  }
  tile.store %r, %c[%c0, %c0] : !sum, !both_f32
}

// A loop over whole tiles up to the number of rows needs no bounds, also where launchers check that another buffer has
// as many. One over all rows does, one that begins elsewhere, one over tiles that overlap, and one over another buffer.
// CHECK-LABEL: gpu.func @whole_tiles
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-8: tile_gpu.buffer_load
// CHECK-NOT: arith.cmpi
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: arith.cmpi
// CHECK: tile_gpu.buffer_load
// CHECK: scf.for
// CHECK: arith.cmpi
// CHECK: tile_gpu.buffer_load
// CHECK: scf.for
// CHECK: arith.cmpi
// CHECK: tile_gpu.buffer_load
// CHECK: scf.for
// CHECK: arith.cmpi
// CHECK: tile_gpu.buffer_load
// CHECK: tile_gpu.buffer_store
!h = tensor<16x64xf16, #rows>
tile.kernel @whole_tiles(%a: !g, %b: !g, %c: !g, %from: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %a[0] : !g
  tile.require %b[0] equal %n, "the rows of a" : !g
  %tiles = arith.divui %n, %c16 : index
  %whole = arith.muli %tiles, %c16 : index
  %x = tile.program_id x
  %start = arith.muli %x, %c16 : index
  %some = arith.minsi %whole, %start : index
  %end = arith.maxsi %some, %c0 : index
  %zero = arith.constant dense<0.0> : !h
  %0 = scf.for %i = %c0 to %end step %c16 iter_args(%s = %zero) -> (!h) {
    %t = tile.load %a[%i, %c0] : !g -> !h
    %u = tile.load %b[%i, %c0] : !g -> !h
    %v = arith.mulf %t, %u : !h
    %w = arith.addf %s, %v : !h
    scf.yield %w : !h
  }
  // The last tile is not a whole one.
  %1 = scf.for %i = %c0 to %n step %c16 iter_args(%s = %0) -> (!h) {
    %t = tile.load %a[%i, %c0] : !g -> !h
    %w = arith.addf %s, %t : !h
    scf.yield %w : !h
  }
  // The first one is not.
  %2 = scf.for %i = %from to %whole step %c16 iter_args(%s = %1) -> (!h) {
    %t = tile.load %a[%i, %c0] : !g -> !h
    %w = arith.addf %s, %t : !h
    scf.yield %w : !h
  }
  // Tiles overlap, so that the last one reaches beyond the end.
  %3 = scf.for %i = %c0 to %whole step %c8 iter_args(%s = %2) -> (!h) {
    %t = tile.load %a[%i, %c0] : !g -> !h
    %w = arith.addf %s, %t : !h
    scf.yield %w : !h
  }
  // Nothing is known of the rows of this buffer.
  %4 = scf.for %i = %c0 to %whole step %c16 iter_args(%s = %3) -> (!h) {
    %t = tile.load %c[%i, %c0] : !g -> !h
    %w = arith.addf %s, %t : !h
    scf.yield %w : !h
  }
  tile.store %4, %a[%c0, %c0] : !h, !g
}
