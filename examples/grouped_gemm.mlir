// The products of groups of rows with a matrix each, in bf16, as in a mixture of experts,
// where the rows of a group are the tokens of an expert:
//
//   C[begin .. end - 1] = A[begin .. end - 1] * B[g]      for each group g
//
// %ends has the end of each group in i32, on the device. A group begins where the one
// before it ends, and may be empty. Rows behind the last group are not written. The extents
// of the tiles are open.
//
// The first kernel counts the blocks of rows up to the end of each group, for blocks of 16,
// 32, ... 256 rows: a row of %blocks for each. The second one finds the group of a block
// there. %blocks is scratch memory of the caller.
//
//   tile-translate --tile-to-ptx --chip=sm_90a grouped_gemm.mlir -o grouped.ptx

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!matrices = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!numbers = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!table = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>
!groups = tensor<1024xi32>
!acc = tensor<?x?xf32, #tile.open<BM, BN>>
!result = tensor<?x?xbf16, #tile.open<BM, BN>>

tile.kernel @group_blocks(%ends: !numbers {tile.name = "ends"}, %blocks: !table {tile.name = "blocks"})
    attributes {num_warps = 4 : i32} {
  %before = arith.constant -1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %count = tile.dim %ends[0] : !numbers
  tile.require %ends[0] at_most %c1024, "the groups of a tile" : !numbers
  tile.require %blocks[0] equal %c16, "the numbers of rows" : !table
  tile.require %blocks[1] equal %count, "the groups" : !table
  tile.grid %c16, %c1, %c1
  %x = tile.program_id x
  %number = arith.addi %x, %c1 : index
  %bm = arith.muli %number, %c16 : index
  %bm_1 = arith.subi %bm, %c1 : index
  %bm32 = arith.index_cast %bm : index to i32
  %bm32_1 = arith.index_cast %bm_1 : index to i32

  // A group has the rows from the end of the group before it, or from 0, to its own end.
  // Elements outside of a buffer are zeros.
  %end = tile.load %ends[%c0] : !numbers -> !groups
  %begin = tile.load %ends[%before] : !numbers -> !groups
  %zero = arith.constant dense<0> : !groups
  %difference = arith.subi %end, %begin : !groups
  %length = arith.maxsi %difference, %zero : !groups
  %block = tensor.splat %bm32 : !groups
  %rest = tensor.splat %bm32_1 : !groups
  %grown = arith.addi %length, %rest : !groups
  %each = arith.divui %grown, %block : !groups
  %sums = tile.scan addi %each along 0 : !groups
  %row = tile.slice %blocks[%x, *] : !table to !numbers
  tile.store %sums, %row[%c0] : !groups, !numbers
}

tile.kernel @grouped_gemm(
    %a: !rows {tile.name = "a"}, %b: !matrices {tile.name = "b"},
    %ends: !numbers {tile.name = "ends"}, %blocks: !table {tile.name = "blocks"},
    %c: !rows {tile.name = "c"}) {
  %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
  %bn = tile.param BN in [32, 64, 96, 128, 192, 256]
  %bk = tile.param BK in [32, 64, 128]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : i32

  // A is M x K, B is G x K x N, C is M x N.
  %m = tile.dim %a[0] : !rows
  %k = tile.dim %a[1] : !rows
  %groups = tile.dim %b[0] : !matrices
  %n = tile.dim %b[2] : !matrices
  tile.require %b[0] at_least %c1, "one group" : !matrices
  tile.require %b[1] equal %k, "the columns of a" : !matrices
  tile.require %ends[0] equal %groups, "the groups of b" : !numbers
  tile.require %blocks[0] equal %c16, "the numbers of rows" : !table
  tile.require %blocks[1] equal %groups, "the groups of b" : !table
  tile.require %c[0] equal %m, "the rows of a" : !rows
  tile.require %c[1] equal %n, "the columns of b" : !rows

  // Each group has as many blocks as its rows need. The host does not know their sum: each
  // group adds less than one block to those that all rows fill. Blocks behind the last group
  // come last, so that the others run in step and share tiles in the second-level cache.
  %full_blocks = arith.divui %m, %bm : index
  %row_blocks = arith.addi %full_blocks, %groups : index
  %column_blocks = arith.ceildivui %n, %bn : index
  tile.grid %row_blocks, %column_blocks, %c1
  %x = tile.program_id x
  %y = tile.program_id y

  // The last group whose first block is not behind this one. A binary search sets the bits
  // of its number from the highest one on. It needs as many steps as the number of groups
  // has bits.
  %kind = arith.divui %bm, %c16 : index
  %kind_1 = arith.subi %kind, %c1 : index
  %groups32 = arith.index_cast %groups : index to i32
  %zeros = math.ctlz %groups32 : i32
  %bits32 = arith.subi %c32, %zeros : i32
  %bits = arith.index_cast %bits32 : i32 to index
  %power = arith.shli %c1, %bits : index
  %steps_end = arith.addi %bits, %c1 : index
  %group = scf.for %i = %c1 to %steps_end step %c1 iter_args(%g = %c0) -> (index) {
    %bit = arith.shrui %power, %i : index
    %next_g = arith.addi %g, %bit : index
    %nearest = arith.minui %next_g, %groups : index
    %before = arith.subi %nearest, %c1 : index
    %first32 = tile.load_scalar %blocks[%kind_1, %before] : !table -> i32
    %first = arith.index_cast %first32 : i32 to index
    %exists = arith.cmpi ult, %next_g, %groups : index
    %starts = arith.cmpi ule, %first, %x : index
    %is_found = arith.andi %exists, %starts : i1
    %found = arith.select %is_found, %next_g, %g : index
    scf.yield %found : index
  }

  // The rows of the group, and those of this block in it.
  %is_first = arith.cmpi eq, %group, %c0 : index
  %previous = arith.subi %group, %c1 : index
  %place = arith.maxsi %previous, %c0 : index
  %end_before32 = tile.load_scalar %ends[%place] : !numbers -> i32
  %end_before = arith.index_cast %end_before32 : i32 to index
  %start = arith.select %is_first, %c0, %end_before : index
  %stop32 = tile.load_scalar %ends[%group] : !numbers -> i32
  %stop = arith.index_cast %stop32 : i32 to index
  %length = arith.subi %stop, %start : index
  %ag = tile.narrow %a[0] from %start length %length : !rows
  %cg = tile.narrow %c[0] from %start length %length : !rows
  %bg = tile.slice %b[%group, *, *] : !matrices to !matrix
  %blocks_before32 = tile.load_scalar %blocks[%kind_1, %place] : !table -> i32
  %blocks_before = arith.index_cast %blocks_before32 : i32 to index
  %first_block = arith.select %is_first, %c0, %blocks_before : index
  %block = arith.subi %x, %first_block : index
  %row = arith.muli %block, %bm : index
  %column = arith.muli %y, %bn : index

  // A block behind the last row of its group adds up nothing, and writes nothing.
  %has_rows = arith.cmpi ult, %row, %length : index
  %depth = arith.select %has_rows, %k, %c0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bn] : !acc
  %sum = scf.for %i = %c0 to %depth step %bk iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %ag[%row, %i] : !rows -> tensor<?x?xbf16, #tile.open<BM, BK>>
    %bt = tile.load %bg[%i, %column] : !matrix -> tensor<?x?xbf16, #tile.open<BK, BN>>
    %next = tile.dot %at, %bt, %acc : tensor<?x?xbf16, #tile.open<BM, BK>>,
                                      tensor<?x?xbf16, #tile.open<BK, BN>> -> !acc
    scf.yield %next : !acc
  }
  %rounded = arith.truncf %sum : !acc to !result
  tile.store %rounded, %cg[%row, %column] : !result, !rows
}
