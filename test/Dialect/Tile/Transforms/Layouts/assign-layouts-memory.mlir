// Layouts of tiles between memory and fragments: values per row that a loop reads
// for all warps, and permuted buffers.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ASYNC
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SYNC

// A row consists of chunks of 16 bytes: even columns, then odd columns.
// ASYNC-DAG: #[[EIGHT:.+]] = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
// ASYNC-DAG: #[[PERMUTED:.+]] = #tile.layout<register = [4 -> d1 * 2, {{.*}}

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!indices = !tile.buffer<?xi32, #tile.strided<[1], align = 16>, global>
!acc = !tile.buffer<?x64xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>

// CHECK-LABEL: tile.kernel @per_column
tile.kernel @per_column(%a: !b, %sums: !v, %table: !indices, %wherever: !indices, %o: !f) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %s = tile.dot %at, %at, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    // This goes through shared memory: it is copied once for all warps, and ahead.
    // ASYNC: %[[S:.+]] = tile.load {{.*}} -> tensor<64xf32, #tile.padded<0, order = [0]>>
    // ASYNC: tile.convert_layout %[[S]] : {{.*}} -> tensor<64xf32, #tile.slice<0, #{{.+}}>>
    // SYNC: tile.load {{.*}} -> tensor<64xf32, #tile.slice<0, #{{.+}}>>
    %sum = tile.load %sums[%i] : !v -> tensor<64xf32>
    %t = tile.broadcast %sum along 0 : tensor<64xf32> -> tensor<64x64xf32>
    // So does this one: nobody writes the table that has its address.
    // ASYNC: tile.load {{.*}} -> tensor<64xf32, #tile.padded<0, order = [0]>>
    // SYNC: tile.load {{.*}} -> tensor<64xf32, #tile.slice<0, #{{.+}}>>
    %page = tile.load_scalar %table[%i] : !indices -> i32
    %row = arith.index_cast %page : i32 to index
    %paged = tile.load %sums[%row] : !v -> tensor<64xf32>
    %w = tile.broadcast %paged along 0 : tensor<64xf32> -> tensor<64x64xf32>
    // The address of this one is unknown before its iteration.
    // CHECK: tile.load {{.*}} -> tensor<64xf32, #tile.slice<0, #{{.+}}>>
    %place = tile.load_scalar %wherever[%i] : !indices -> i32
    %start = arith.index_cast %place : i32 to index
    %other = tile.load %sums[%start] : !v -> tensor<64xf32>
    %u = tile.broadcast %other along 0 : tensor<64xf32> -> tensor<64x64xf32>
    %two = arith.addf %t, %u : tensor<64x64xf32>
    %both = arith.addf %two, %w : tensor<64x64xf32>
    %ones = arith.constant dense<1> : tensor<64xi32>
    tile.store %ones, %wherever[%i] : tensor<64xi32>, !indices
    %next = arith.addf %s, %both : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// A tile loaded from a permuted buffer is laid out by rows if its load and its store
// are both wide then. A tile stored to one is laid out by the buffer's offsets.
// CHECK-LABEL: tile.kernel @permuted
tile.kernel @permuted(%acc: !acc, %o: !b) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // ASYNC: tile.load {{.*}} -> tensor<32x64xf32, #[[EIGHT]]>
  %s = tile.load %acc[%c0, %c0] : !acc -> tensor<32x64xf32>
  %low = arith.truncf %s : tensor<32x64xf32> to tensor<32x64xf16>
  tile.store %low, %o[%c0, %c0] : tensor<32x64xf16>, !b
  // ASYNC: arith.constant dense<0.000000e+00> : tensor<32x64xf32, #[[PERMUTED]]>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  tile.store %zero, %acc[%c0, %c0] : tensor<32x64xf32>, !acc
}
