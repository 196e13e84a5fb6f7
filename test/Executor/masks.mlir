// Masks of coordinates. %n, %row, %end and %window may have any value.
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s -o /dev/null

!rows = !tile.buffer<64xi32, #tile.strided<[1], align = 16>, global>
!all = !tile.buffer<9x64x96xf32, #tile.strided<[6144, 96, 1], align = 16>, global>
!one = !tile.buffer<64x96xf32, #tile.strided<[96, 1], align = 16>, global>
!ints = tensor<64x96xi32>
!flags = tensor<64x96xi1>
!out = tensor<64x96xf32>

tile.kernel @masks(%lengths: !rows, %all: !all, %n: i32, %row: i32, %end: i32, %window: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  tile.grid %c1, %c1, %c1
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %yes = arith.constant dense<1.0> : !out
  %no = arith.constant dense<0.0> : !out
  %true = arith.constant dense<true> : !flags
  %three = arith.constant dense<3> : !ints
  %line = tile.iota along 0 : !ints
  %column = tile.iota along 1 : !ints
  %length = tile.load %lengths[%c0] : !rows -> tensor<64xi32>
  %limits = tile.broadcast %length along 1 : tensor<64xi32> -> !ints
  %rows = tensor.splat %row : !ints
  %query = arith.addi %line, %rows : !ints
  %offset = tensor.splat %n : !ints
  %key = arith.addi %column, %offset : !ints
  %ends = tensor.splat %end : !ints
  %windows = tensor.splat %window : !ints
  %begin = arith.subi %query, %windows : !ints

  %inside = arith.cmpi slt, %column, %ends : !ints
  %before = arith.cmpi sle, %key, %query : !ints
  %m0 = arith.andi %inside, %before : !flags

  %after = arith.cmpi slt, %begin, %key : !ints
  %short = arith.cmpi sgt, %limits, %column : !ints
  %m1a = arith.andi %before, %after : !flags
  %m1 = arith.andi %m1a, %short : !flags

  %out0 = arith.cmpi sge, %column, %ends : !ints
  %out1 = arith.cmpi sgt, %key, %query : !ints
  %out2 = arith.cmpi sge, %line, %ends : !ints
  %m2a = arith.ori %out0, %out1 : !flags
  %m2 = arith.ori %m2a, %out2 : !flags

  %distance = arith.subi %query, %key : !ints
  %near = arith.cmpi slt, %distance, %windows : !ints
  %short1 = arith.cmpi sle, %column, %limits : !ints
  %m3 = arith.andi %near, %short1 : !flags

  %below = arith.cmpi sgt, %query, %key : !ints
  %m4a = arith.andi %out2, %below : !flags
  %m4 = arith.andi %m4a, %out0 : !flags

  %m5a = arith.cmpi slt, %key, %query : !ints
  %m5b = arith.andi %short, %m5a : !flags
  %m5c = arith.xori %m5b, %true : !flags
  %m5d = arith.cmpi sle, %line, %column : !ints
  %m5 = arith.andi %m5c, %m5d : !flags

  %m6a = arith.subi %ends, %column : !ints
  %m6b = arith.cmpi sgt, %m6a, %limits : !ints
  %m6c = arith.cmpi ne, %column, %three : !ints

  // Columns from a bounded number on, so that their sums do not wrap around.
  %zero = arith.constant 0 : i32
  %largest = arith.constant 2147483552 : i32
  %n0 = arith.maxsi %n, %zero : i32
  %start = arith.minsi %n0, %largest : i32
  %starts = tensor.splat %start : !ints
  %place = arith.addi %starts, %column : !ints
  %to = arith.cmpi sle, %place, %query : !ints
  %from = arith.cmpi sgt, %place, %begin : !ints
  %m7a = arith.andi %inside, %to : !flags
  %m7b = arith.andi %m7a, %short : !flags
  %m7 = arith.andi %m7b, %out2 : !flags
  %back = arith.subi %starts, %column : !ints
  %m8b = arith.cmpi slt, %back, %limits : !ints
  %m8c = arith.cmpi slt, %place, %query : !ints
  %m8d = arith.xori %m8c, %true : !flags
  %m8e = arith.andi %from, %m8b : !flags
  %m8f = arith.andi %m8d, %inside : !flags
  %m8 = arith.andi %m8e, %m8f : !flags

  %o0 = tile.slice %all[%c0, *, *] : !all to !one
  %r0 = arith.select %m0, %yes, %no : !flags, !out
  tile.store %r0, %o0[%c0, %c0] : !out, !one
  %o1 = tile.slice %all[%c1, *, *] : !all to !one
  %r1 = arith.select %m1, %yes, %no : !flags, !out
  tile.store %r1, %o1[%c0, %c0] : !out, !one
  %o2 = tile.slice %all[%c2, *, *] : !all to !one
  %r2 = arith.select %m2, %yes, %no : !flags, !out
  tile.store %r2, %o2[%c0, %c0] : !out, !one
  %o3 = tile.slice %all[%c3, *, *] : !all to !one
  %r3 = arith.select %m3, %yes, %no : !flags, !out
  tile.store %r3, %o3[%c0, %c0] : !out, !one
  %o4 = tile.slice %all[%c4, *, *] : !all to !one
  %r4 = arith.select %m4, %yes, %no : !flags, !out
  tile.store %r4, %o4[%c0, %c0] : !out, !one
  %o5 = tile.slice %all[%c5, *, *] : !all to !one
  %r5 = arith.select %m5, %yes, %no : !flags, !out
  tile.store %r5, %o5[%c0, %c0] : !out, !one
  %o6 = tile.slice %all[%c6, *, *] : !all to !one
  %r6a = arith.select %m6b, %yes, %no : !flags, !out
  %r6 = arith.select %m6c, %r6a, %no : !flags, !out
  tile.store %r6, %o6[%c0, %c0] : !out, !one
  %o7 = tile.slice %all[%c7, *, *] : !all to !one
  %r7a = arith.select %m7, %yes, %no : !flags, !out
  tile.store %r7a, %o7[%c0, %c0] : !out, !one
  %o8 = tile.slice %all[%c8, *, *] : !all to !one
  %r8 = arith.select %m8, %yes, %no : !flags, !out
  tile.store %r8, %o8[%c0, %c0] : !out, !one
}
