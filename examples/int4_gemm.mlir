// The matrix product C = A * W in bf16, with weights of 4 bits:
//
//   W[k, n] = (q[k, n] - 8) * scales[k / 128, n]
//
// A word of 32 bits has the q of 8 rows, those of the first row in its lowest bits:
// %words is K/8 x N. The extents of the tiles are open.
//
//   tile-translate --tile-to-ptx --chip=sm_90a int4_gemm.mlir -o int4.ptx
//
// The weights become bf16 in registers, exactly. The scales of a group of 128 rows are the
// same for all rows of A, so they are applied to the product of the group: BM x BN
// multiplications instead of 128 x BN.

!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!weights = !tile.buffer<?x?xi32, #tile.strided<[?:4, 1], align = 16>, global>
!scale_row = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!rows = tensor<?x128xbf16, #tile.open<BM>>
!words = tensor<16x?xi32, #tile.open<BN>>
// The 8 numbers of each word.
!ints = tensor<16x8x?xi32, #tile.open<BN>>
!floats = tensor<16x8x?xf32, #tile.open<BN>>
!parts = tensor<16x8x?xbf16, #tile.open<BN>>
!group = tensor<128x?xbf16, #tile.open<BN>>
!line16 = tensor<?xbf16, #tile.open<BN>>
!line = tensor<?xf32, #tile.open<BN>>
!acc = tensor<?x?xf32, #tile.open<BM, BN>>
!result = tensor<?x?xbf16, #tile.open<BM, BN>>

tile.kernel @int4_gemm(
    %a: !matrix {tile.name = "a"}, %words: !weights {tile.name = "words"},
    %scales: !matrix {tile.name = "scales"}, %c: !matrix {tile.name = "c"}) {
  %bm = tile.param BM in [16, 32, 64, 128]
  %bn = tile.param BN in [32, 64, 128, 256]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index

  // A is M x K, the words are K/8 x N, the scales K/128 x N, C is M x N.
  %m = tile.dim %a[0] : !matrix
  %k = tile.dim %a[1] : !matrix
  %n = tile.dim %words[1] : !weights
  %groups = arith.divui %k, %c128 : index
  %word_rows = arith.divui %k, %c8 : index
  tile.require %a[1] multiple_of %c128, "whole groups" : !matrix
  tile.require %words[0] equal %word_rows, "an eighth of the columns of a" : !weights
  tile.require %scales[0] equal %groups, "the groups of 128 columns of a" : !matrix
  tile.require %scales[1] equal %n, "the columns of words" : !matrix
  tile.require %c[0] equal %m, "the rows of a" : !matrix
  tile.require %c[1] equal %n, "the columns of words" : !matrix
  %row_blocks = arith.ceildivui %m, %bm : index
  %column_blocks = arith.ceildivui %n, %bn : index
  tile.grid %row_blocks, %column_blocks, %c1

  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %bm : index
  %column = arith.muli %y, %bn : index

  // 2^23 + q is the float whose lowest bits are q.
  %mask_1 = arith.constant 15 : i32
  %bits_1 = arith.constant 0x4B000000 : i32
  %offset_1 = arith.constant 8388616.0 : f32 // 2^23 + 8
  %four_1 = arith.constant 4 : i32
  %mask = tensor.splat %mask_1[%bn] : !ints
  %bits = tensor.splat %bits_1[%bn] : !ints
  %offset = tensor.splat %offset_1[%bn] : !floats
  %four = tensor.splat %four_1[%bn] : !ints
  %number = tile.iota along 1 : !ints
  %shift = arith.muli %number, %four : !ints

  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bn] : !acc
  %sum = scf.for %g = %c0 to %groups step %c1 iter_args(%acc = %zero) -> (!acc) {
    %depth = arith.muli %g, %c128 : index
    %word = arith.muli %g, %c16 : index
    %at = tile.load %a[%row, %depth] : !matrix -> !rows
    %wt = tile.load %words[%word, %column] : !weights -> !words
    %scale_row = tile.slice %scales[%g, *] : !matrix to !scale_row
    %st16 = tile.load %scale_row[%column] : !scale_row -> !line16

    %each = tile.broadcast %wt along 1 : !words -> !ints
    %shifted = arith.shrui %each, %shift : !ints
    %q = arith.andi %shifted, %mask : !ints
    %q_bits = arith.ori %q, %bits : !ints
    %q_float = arith.bitcast %q_bits : !ints to !floats
    %q_minus_8 = arith.subf %q_float, %offset : !floats
    %q16 = arith.truncf %q_minus_8 : !floats to !parts
    %bt = tile.reshape %q16 : !parts -> !group

    %part = tile.dot %at, %bt, %zero : !rows, !group -> !acc
    %st = arith.extf %st16 : !line16 to !line
    %scale = tile.broadcast %st along 0 : !line -> !acc
    %scaled = arith.mulf %part, %scale : !acc
    %next = arith.addf %acc, %scaled : !acc
    scf.yield %next : !acc
  }
  %rounded = arith.truncf %sum : !acc to !result
  tile.store %rounded, %c[%row, %column] : !result, !matrix
}
