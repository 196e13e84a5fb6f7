// The matrix product C = A * W in bf16, with weights of 4 bits:
//
//   W[k, n] = (q[k, n] - 8) * scales[k / 128, n]
//
// A word of 32 bits has the q of 8 rows, those that a thread holds of the operands of matrix
// instructions: of 32 rows, word i has rows 2i, 2i + 8, 2i + 16 and 2i + 24 in its lower
// half, from the lowest bits on, and the row behind each in its upper half. %words is
// K/8 x N. In Python, tile.pack_int4 packs them.
// The extents of the tiles are open.
//
//   tile-translate --tile-to-ptx --chip=sm_90a int4_gemm.mlir -o int4.ptx
//
// The weights become bf16 in registers, exactly and two at a time: 0x4300 + q are the bits
// of 128 + q. The product is computed transposed, so that the weights are its left operand,
// which the instructions of some chips take from registers. The scales of a group of 128 rows
// are the same for all rows of A, so they are applied to the product of the group: BM x BN
// multiplications instead of 128 x BN.

!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!weights = !tile.buffer<?x?xi32, #tile.strided<[?:4, 1], align = 16>, global>
!scale_row = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!rows = tensor<?x128xbf16, #tile.open<BM>>
!columns = tensor<128x?xbf16, #tile.open<BM>>
!words = tensor<16x?xi32, #tile.open<BN>>
!word_rows = tensor<?x16xi32, #tile.open<BN>>
// 32 rows are four words; the four pairs of each stand in bits 0 to 3 and 16 to 19.
!groups = tensor<?x4x4xi32, #tile.open<BN>>
!quarters = tensor<?x4x4x4xi32, #tile.open<BN>>
!pairs = tensor<?x64xi32, #tile.open<BN>>
!both = tensor<?x64x2xi32, #tile.open<BN>>
!halves = tensor<?x64x2xi16, #tile.open<BN>>
!parts = tensor<?x64x2xbf16, #tile.open<BN>>
!group = tensor<?x128xbf16, #tile.open<BN>>
!line16 = tensor<?xbf16, #tile.open<BN>>
!line = tensor<?xf32, #tile.open<BN>>
!acc = tensor<?x?xf32, #tile.open<BN, BM>>
!transposed = tensor<?x?xbf16, #tile.open<BN, BM>>
!result = tensor<?x?xbf16, #tile.open<BM, BN>>

tile.kernel @int4_gemm(
    %a: !matrix {tile.name = "a"}, %words: !weights {tile.name = "words"},
    %scales: !matrix {tile.name = "scales"}, %c: !matrix {tile.name = "c"}) {
  %bm = tile.param BM in [16, 32, 64, 128, 256]
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

  %mask_1 = arith.constant 0x000F000F : i32
  %bits_1 = arith.constant 0x43004300 : i32
  %offset_1 = arith.constant 136.0 : bf16 // 128 + 8
  %four_1 = arith.constant 4 : i32
  %sixteen_1 = arith.constant 16 : i32
  %mask = tensor.splat %mask_1[%bn] : !quarters
  %bits = tensor.splat %bits_1[%bn] : !quarters
  %offset = tensor.splat %offset_1[%bn] : !parts
  %four = tensor.splat %four_1[%bn] : !quarters
  %sixteen = tensor.splat %sixteen_1[%bn] : !both
  %number = tile.iota along 2 : !quarters
  %shift = arith.muli %number, %four : !quarters
  %half = tile.iota along 2 : !both
  %half_shift = arith.muli %half, %sixteen : !both

  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bn, %bm] : !acc
  %sum = scf.for %g = %c0 to %groups step %c1 iter_args(%acc = %zero) -> (!acc) {
    %depth = arith.muli %g, %c128 : index
    %word = arith.muli %g, %c16 : index
    %at = tile.load %a[%row, %depth] : !matrix -> !rows
    %wt = tile.load %words[%word, %column] : !weights -> !words
    %scale_row = tile.slice %scales[%g, *] : !matrix to !scale_row
    %st16 = tile.load %scale_row[%column] : !scale_row -> !line16

    %wr = tile.transpose %wt [1, 0] : !words -> !word_rows
    %four_words = tile.reshape %wr : !word_rows -> !groups
    %each = tile.broadcast %four_words along 2 : !groups -> !quarters
    %shifted = arith.shrui %each, %shift : !quarters
    %q = arith.andi %shifted, %mask : !quarters
    %q_bits = arith.ori %q, %bits : !quarters
    %q_pairs = tile.reshape %q_bits : !quarters -> !pairs
    %q_both = tile.broadcast %q_pairs along 2 : !pairs -> !both
    %q_shifted = arith.shrui %q_both, %half_shift : !both
    %q_half = arith.trunci %q_shifted : !both to !halves
    %q_plus_128 = arith.bitcast %q_half : !halves to !parts
    %q_minus_8 = arith.subf %q_plus_128, %offset : !parts
    %bt = tile.reshape %q_minus_8 : !parts -> !group

    %columns = tile.transpose %at [1, 0] : !rows -> !columns
    %part = tile.dot %bt, %columns, %zero : !group, !columns -> !acc
    %st = arith.extf %st16 : !line16 to !line
    %scale = tile.broadcast %st along 1 : !line -> !acc
    %scaled = arith.mulf %part, %scale : !acc
    %next = arith.addf %acc, %scaled : !acc
    scf.yield %next : !acc
  }
  %narrow = arith.truncf %sum : !acc to !transposed
  %rounded = tile.transpose %narrow [1, 0] : !transposed -> !result
  tile.store %rounded, %c[%row, %column] : !result, !matrix
}
