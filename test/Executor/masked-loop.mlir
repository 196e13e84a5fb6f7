// Sums the tiles of A * B from column `begin` to `end` on that a window shows. The loop
// is split where the window shows a whole tile.
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// CHECK: .entry masked

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!o = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
!acc = tensor<64x64xf32>
!ints = tensor<64x64xi32>

tile.kernel @masked(%a: !m, %b: !m, %o: !o, %begin: i32, %end: i32, %first: i32, %last: i32)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant 64 : i32
  tile.grid %c1, %c1, %c1
  %x = tile.load %a[%c0, %c0] : !m -> tensor<64x32xf16>
  %zero = arith.constant dense<0.0> : !acc
  %row = tile.iota along 0 : !ints
  %column = tile.iota along 1 : !ints
  %first_tile = tensor.splat %first : !ints
  %last_tile = tensor.splat %last : !ints
  %left = arith.addi %row, %first_tile : !ints
  %right = arith.addi %row, %last_tile : !ints
  %sum = scf.for %n = %begin to %end step %step iter_args(%acc = %zero) -> (!acc) : i32 {
    %i = arith.index_cast %n : i32 to index
    %y = tile.load %b[%c0, %i] : !m -> tensor<32x64xf16>
    %s = tile.dot %x, %y, %zero : tensor<64x32xf16>, tensor<32x64xf16> -> !acc
    %n_tile = tensor.splat %n : !ints
    %key = arith.addi %column, %n_tile : !ints
    %not_before = arith.cmpi sge, %key, %left : !ints
    %not_behind = arith.cmpi sle, %key, %right : !ints
    %visible = arith.andi %not_before, %not_behind : tensor<64x64xi1>
    %seen = arith.select %visible, %s, %zero : tensor<64x64xi1>, !acc
    %next = arith.addf %acc, %seen : !acc
    scf.yield %next : !acc
  }
  tile.store %sum, %o[%c0, %c0] : !acc, !o
}
