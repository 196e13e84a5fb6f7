// The program forward_tile.mlir with open extents: the rows of queries BQ and of keys
// BK in a step are parameters, which the types of the tiles name. The compiler chooses
// their values and the number of warps.
//
//   tile-translate --tile-to-ptx --chip=sm_90a forward_open.mlir -o forward.ptx
//
// --schedule='params = {BQ = 128, BK = 64}, warps = 4' gives the extents of
// forward_tile.mlir.

!heads = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
// The rows of one batch and head: a slice of the buffer above.
!rows = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>

!queries = tensor<?x128xf16, #tile.open<BQ>>
!keys = tensor<?x128xf16, #tile.open<BK>>
!keys_t = tensor<128x?xf16, #tile.open<BK>>
!scores = tensor<?x?xf32, #tile.open<BQ, BK>>
!probabilities = tensor<?x?xf16, #tile.open<BQ, BK>>
!ints = tensor<?x?xi32, #tile.open<BQ, BK>>
!flags = tensor<?x?xi1, #tile.open<BQ, BK>>
!out = tensor<?x128xf32, #tile.open<BQ>>
!row = tensor<?xf32, #tile.open<BQ>>

tile.kernel @attention(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %scale: f32) {
  // The queries of a block, and the keys of a step.
  %bq = tile.param BQ in [32, 64, 128, 192, 256]
  %bk = tile.param BK in [16, 32, 64, 80, 96, 128, 160, 176, 192]
  %c0 = arith.constant 0 : index

  // The grid: one thread block for each BQ rows, head and batch.
  %batch = tile.dim %q[0] : !heads
  %queries = tile.dim %q[1] : !heads
  %keys = tile.dim %k[1] : !heads
  %num_heads = tile.dim %q[2] : !heads
  %num_blocks = arith.ceildivui %queries, %bq : index
  tile.grid %num_blocks, %num_heads, %batch

  // Conditions on the other buffers. The launcher checks them.
  tile.require %k[0] equal %batch, "the batch of q" : !heads
  tile.require %v[0] equal %batch, "the batch of q" : !heads
  tile.require %o[0] equal %batch, "the batch of q" : !heads
  tile.require %k[2] equal %num_heads, "the heads of q" : !heads
  tile.require %v[2] equal %num_heads, "the heads of q" : !heads
  tile.require %o[2] equal %num_heads, "the heads of q" : !heads
  tile.require %v[1] equal %keys, "the length of k" : !heads
  tile.require %o[1] equal %queries, "the length of q" : !heads

  // The slices of this thread block.
  %block = tile.program_id x
  %h = tile.program_id y
  %b = tile.program_id z
  %row = arith.muli %block, %bq : index
  %qh = tile.slice %q[%b, *, %h, *] : !heads to !rows
  %kh = tile.slice %k[%b, *, %h, *] : !heads to !rows
  %vh = tile.slice %v[%b, *, %h, *] : !heads to !rows
  %oh = tile.slice %o[%b, *, %h, *] : !heads to !rows

  // Rows after the last query are read as zero.
  %qt = tile.load %qh[%row, %c0] : !rows -> !queries

  // exp(scale * s) equals exp2(c * s).
  %log2e = arith.constant 1.44269504 : f32
  %c = arith.mulf %scale, %log2e : f32
  %ct = tensor.splat %c[%bq, %bk] : !scores
  %column = tile.iota along 1 : !ints
  %f0 = arith.constant 0.0 : f32
  %negative = arith.constant 0xFF800000 : f32 // -inf
  %no_scores = tensor.splat %f0[%bq, %bk] : !scores
  %hidden = tensor.splat %negative[%bq, %bk] : !scores

  // The initial values: an output of 0, a maximum of -inf, a sum of 0.
  %no_out = tensor.splat %f0[%bq] : !out
  %no_max = tensor.splat %negative[%bq] : !row
  %no_sum = tensor.splat %f0[%bq] : !row

  // The loop over BK keys each. %out and %sum are relative to the running maximum.
  %all:3 = scf.for %n = %c0 to %keys step %bk
      iter_args(%out = %no_out, %max = %no_max, %sum = %no_sum)
      -> (!out, !row, !row) {
    // Scores: S = Q * K^T. The transposition costs no instruction.
    %kt = tile.load %kh[%n, %c0] : !rows -> !keys
    %k_t = tile.transpose %kt [1, 0] : !keys -> !keys_t
    %s = tile.dot %qt, %k_t, %no_scores : !queries, !keys_t -> !scores
    %s2 = arith.mulf %s, %ct : !scores

    // The last key tile may be incomplete: mask the columns after the last key.
    %left = arith.subi %keys, %n : index
    %left32 = arith.index_cast %left : index to i32
    %end = tensor.splat %left32[%bq, %bk] : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %s2, %hidden : !flags, !scores

    // Probabilities relative to the new maximum.
    %step_max = tile.reduce maxnumf %seen along 1 : !scores -> !row
    %new_max = arith.maxnumf %max, %step_max : !row
    %new_max_t = tile.broadcast %new_max along 1 : !row -> !scores
    %below = arith.subf %seen, %new_max_t : !scores
    %p = math.exp2 %below : !scores

    // The previous sum and output are relative to the old maximum: rescale them.
    %change = arith.subf %max, %new_max : !row
    %factor = math.exp2 %change : !row
    %step_sum = tile.reduce addf %p along 1 : !scores -> !row
    %old_sum = arith.mulf %sum, %factor fastmath<reassoc> : !row
    %new_sum = arith.addf %old_sum, %step_sum fastmath<reassoc> : !row
    %factor_t = tile.broadcast %factor along 1 : !row -> !out
    %old_out = arith.mulf %out, %factor_t : !out

    // O += P * V.
    %p16 = arith.truncf %p : !scores to !probabilities
    %vt = tile.load %vh[%n, %c0] : !rows -> !keys
    %new_out = tile.dot %p16, %vt, %old_out
        : !probabilities, !keys -> !out
    scf.yield %new_out, %new_max, %new_sum
        : !out, !row, !row
  }

  // Divide by the sums. Rows after the last query are not written.
  %sum_t = tile.broadcast %all#2 along 1 : !row -> !out
  %result = arith.divf %all#0, %sum_t : !out
  %result16 = arith.truncf %result : !out to !queries
  tile.store %result16, %oh[%row, %c0] : !queries, !rows
}
