// The products of groups of rows with a matrix each, in bf16, as in a mixture of experts,
// where the rows of a group are the tokens of an expert:
//
//   C[begin .. end - 1] = A[begin .. end - 1] * B[g]      for each group g
//
// %ends has the end of each group in i32, on the device. A group begins where the one
// before it ends, and may be empty. Rows behind the last group are not written. The extents
// of the tiles are open.
//
//   tile-translate --tile-to-ptx --chip=sm_90a grouped_gemm.mlir -o grouped.ptx

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!matrices = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!numbers = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!acc = tensor<?x?xf32, #tile.open<BM, BN>>
!result = tensor<?x?xbf16, #tile.open<BM, BN>>

tile.kernel @grouped_gemm(
    %a: !rows {tile.name = "a"}, %b: !matrices {tile.name = "b"},
    %ends: !numbers {tile.name = "ends"}, %c: !rows {tile.name = "c"}) {
  %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
  %bn = tile.param BN in [32, 64, 96, 128, 192, 256]
  %bk = tile.param BK in [32, 64, 128]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : i32

  // A is M x K, B is G x K x N, C is M x N.
  %m = tile.dim %a[0] : !rows
  %k = tile.dim %a[1] : !rows
  %groups = tile.dim %b[0] : !matrices
  %n = tile.dim %b[2] : !matrices
  tile.require %b[0] at_least %c1, "one group" : !matrices
  tile.require %b[1] equal %k, "the columns of a" : !matrices
  tile.require %ends[0] equal %groups, "the groups of b" : !numbers
  tile.require %c[0] equal %m, "the rows of a" : !rows
  tile.require %c[1] equal %n, "the columns of b" : !rows

  // Block begin / BM + g of the grid is the first one of group g, rounded down. So each group
  // has as many blocks as its rows need, at most one more, and the first block of a group
  // follows from its begin alone.
  %full_blocks = arith.divui %m, %bm : index
  %row_blocks = arith.addi %full_blocks, %groups : index
  %column_blocks = arith.ceildivui %n, %bn : index
  tile.grid %row_blocks, %column_blocks, %c1
  %x = tile.program_id x
  %y = tile.program_id y

  // The last group whose first block is not behind this one. A binary search sets the bits
  // of its number from the highest one on. It needs as many steps as the number of groups
  // has bits.
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
    %begin32 = tile.load_scalar %ends[%before] : !numbers -> i32
    %begin = arith.index_cast %begin32 : i32 to index
    %full = arith.divui %begin, %bm : index
    %first = arith.addi %full, %next_g : index
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
  %start_blocks = arith.divui %start, %bm : index
  %first_block = arith.addi %start_blocks, %group : index
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
