// The result of products whose threads would write far apart is exchanged through shared
// memory behind the loop, on AMD, where the operands of the loop leave room for it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile.kernel(tile-assign-layouts))' | FileCheck %s

!x = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// A fragment of a transposed product has 16 rows in the lanes of a warp, and every second
// element of a row in a thread.
// CHECK-DAG: #[[MMA:.+]] = #tile.mma<"wmma.gfx11.16x16x16.f16", warps = [4, 1], transposed>
// CHECK-DAG: #[[ROWS:.+]] = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
// CHECK-DAG: #[[NARROW:.+]] = #tile.blocked<thread = [1, 4], lane = [1, 32], warp = [4, 1], order = [1, 0]>

// In the loop, the store stays.
// CHECK-LABEL: tile.kernel @behind_loop(
// CHECK: tile.store %{{.+}} : tensor<64x64xf16, #[[MMA]]>
// CHECK: scf.yield
// CHECK: %[[T:.+]] = tile.convert_layout %{{.+}} : tensor<64x64xf16, #[[MMA]]> -> tensor<64x64xf16, #[[ROWS]]>
// CHECK: tile.store %[[T]]
tile.kernel @behind_loop(%a: !x, %b: !x, %m: !v, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero, %most = %least) -> (tensor<64x64xf32>, tensor<64xf32>) {
    %at = tile.load %a[%c0, %i] : !x -> tensor<64x64xf16>
    %bt = tile.load %a[%i, %c64] : !x -> tensor<64x64xf16>
    %d = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %row = tile.reduce maxnumf %d along 1 : tensor<64x64xf32> -> tensor<64xf32>
    %next = arith.maxnumf %most, %row : tensor<64xf32>
    %t = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
    tile.store %t, %b[%i, %c64] : tensor<64x64xf16>, !x
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64xf32>
  }
  %h = arith.truncf %r#0 : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %b[%c0, %c0] : tensor<64x64xf16>, !x
  tile.store %r#1, %m[%c0] : tensor<64xf32>, !v
}

// Reads by 16 bytes would have bank conflicts, those by 8 have none.
// CHECK-LABEL: tile.kernel @narrow(
// CHECK: scf.yield
// CHECK: tile.convert_layout %{{.+}} : tensor<64x128xf16, #[[MMA]]> -> tensor<64x128xf16, #[[NARROW]]>
tile.kernel @narrow(%a: !x, %b: !x, %m: !v, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero, %most = %least) -> (tensor<64x128xf32>, tensor<64xf32>) {
    %at = tile.load %a[%c0, %i] : !x -> tensor<64x64xf16>
    %bt = tile.load %a[%i, %c64] : !x -> tensor<64x128xf16>
    %d = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
    %row = tile.reduce maxnumf %d along 1 : tensor<64x128xf32> -> tensor<64xf32>
    %next = arith.maxnumf %most, %row : tensor<64xf32>
    scf.yield %d, %next : tensor<64x128xf32>, tensor<64xf32>
  }
  %h = arith.truncf %r#0 : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %b[%c0, %c0] : tensor<64x128xf16>, !x
  tile.store %r#1, %m[%c0] : tensor<64xf32>, !v
}

// The operands of an iteration are smaller than the tile.
// CHECK-LABEL: tile.kernel @small_operands(
// CHECK: scf.yield
// CHECK-NOT: tile.convert_layout
// CHECK: tile.store %{{.+}} : tensor<64x128xf16, #[[MMA]]>
tile.kernel @small_operands(%a: !x, %b: !x, %m: !v, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %r:2 = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero, %most = %least) -> (tensor<64x128xf32>, tensor<64xf32>) {
    %at = tile.load %a[%c0, %i] : !x -> tensor<64x16xf16>
    %bt = tile.load %a[%i, %c16] : !x -> tensor<16x128xf16>
    %d = tile.dot %at, %bt, %s : tensor<64x16xf16>, tensor<16x128xf16> -> tensor<64x128xf32>
    %row = tile.reduce maxnumf %d along 1 : tensor<64x128xf32> -> tensor<64xf32>
    %next = arith.maxnumf %most, %row : tensor<64xf32>
    scf.yield %d, %next : tensor<64x128xf32>, tensor<64xf32>
  }
  %h = arith.truncf %r#0 : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %b[%c0, %c0] : tensor<64x128xf16>, !x
  tile.store %r#1, %m[%c0] : tensor<64xf32>, !v
}
