// The softmax of each row of x. docs/tutorials/first-kernel.md explains this program.

// Buffers in global memory: rows of 256 elements, one after the other.
!rows = !tile.buffer<?x256xf32, #tile.strided<[256, 1], align = 16>, global>
// The tile of a thread block, and one number for each of its rows.
!tile = tensor<16x256xf32>
!column = tensor<16xf32>

tile.kernel @softmax(%x: !rows, %y: !rows) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index

  // The grid: one thread block for each 16 rows.
  %count = tile.dim %x[0] : !rows
  %blocks = arith.ceildivui %count, %c16 : index
  tile.grid %blocks, %c1, %c1
  tile.require %y[0] equal %count, "the rows of x" : !rows

  // Rows after the last one are read as zero.
  %block = tile.program_id x
  %row = arith.muli %block, %c16 : index
  %t = tile.load %x[%row, %c0] : !rows -> !tile

  // exp(t - max) does not overflow. exp(a) equals exp2(a * log2(e)).
  %max = tile.reduce maxnumf %t along 1 : !tile -> !column
  %max_t = tile.broadcast %max along 1 : !column -> !tile
  %below = arith.subf %t, %max_t : !tile
  %log2e = arith.constant dense<1.44269504> : !tile
  %scaled = arith.mulf %below, %log2e : !tile
  %e = math.exp2 %scaled : !tile

  %sum = tile.reduce addf %e along 1 : !tile -> !column
  %sum_t = tile.broadcast %sum along 1 : !column -> !tile
  %result = arith.divf %e, %sum_t : !tile

  // Rows after the last one are not written.
  tile.store %result, %y[%row, %c0] : !tile, !rows
}
