// Attention written as a tile program. It describes the work of one thread block
// on tiles of static shape. Threads, lanes and registers do not appear; the
// compiler assigns a layout to each tile and chooses the instructions.
//
//   tile-translate --tile-to-ptx --chip=sm_90a forward_tile.mlir -o forward.ptx
//
// From forward.mlir the compiler generates a faster program of this kind.

!heads = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
// The rows of one batch and head: a slice of the buffer above.
!rows = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>

tile.kernel @attention(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %scale: f32)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index

  // The grid: one thread block for each 128 rows, head and batch.
  %batch = tile.dim %q[0] : !heads
  %queries = tile.dim %q[1] : !heads
  %keys = tile.dim %k[1] : !heads
  %num_heads = tile.dim %q[2] : !heads
  %num_blocks = arith.ceildivui %queries, %c128 : index
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
  %row = arith.muli %block, %c128 : index
  %qh = tile.slice %q[%b, *, %h, *] : !heads to !rows
  %kh = tile.slice %k[%b, *, %h, *] : !heads to !rows
  %vh = tile.slice %v[%b, *, %h, *] : !heads to !rows
  %oh = tile.slice %o[%b, *, %h, *] : !heads to !rows

  // Rows after the last query are read as zero.
  %qt = tile.load %qh[%row, %c0] : !rows -> tensor<128x128xf16>

  // exp(scale * s) equals exp2(c * s).
  %log2e = arith.constant 1.44269504 : f32
  %c = arith.mulf %scale, %log2e : f32
  %ct = tensor.splat %c : tensor<128x64xf32>
  %column = tile.iota along 1 : tensor<128x64xi32>
  %no_scores = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32> // -inf

  // The initial values: an output of 0, a maximum of -inf, a sum of 0.
  %no_out = arith.constant dense<0.0> : tensor<128x128xf32>
  %no_max = arith.constant dense<0xFF800000> : tensor<128xf32>
  %no_sum = arith.constant dense<0.0> : tensor<128xf32>

  // The loop over 64 keys each. %out and %sum are relative to the running maximum.
  %all:3 = scf.for %n = %c0 to %keys step %c64
      iter_args(%out = %no_out, %max = %no_max, %sum = %no_sum)
      -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
    // Scores: S = Q * K^T. The transposition costs no instruction.
    %kt = tile.load %kh[%n, %c0] : !rows -> tensor<64x128xf16>
    %k_t = tile.transpose %kt [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    %s = tile.dot %qt, %k_t, %no_scores
        : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf32>
    %s2 = arith.mulf %s, %ct : tensor<128x64xf32>

    // The last key tile may be incomplete: mask the columns after the last key.
    %left = arith.subi %keys, %n : index
    %left32 = arith.index_cast %left : index to i32
    %end = tensor.splat %left32 : tensor<128x64xi32>
    %visible = arith.cmpi slt, %column, %end : tensor<128x64xi32>
    %seen = arith.select %visible, %s2, %hidden : tensor<128x64xi1>, tensor<128x64xf32>

    // Probabilities relative to the new maximum.
    %step_max = tile.reduce maxnumf %seen along 1 : tensor<128x64xf32> -> tensor<128xf32>
    %new_max = arith.maxnumf %max, %step_max : tensor<128xf32>
    %new_max_t = tile.broadcast %new_max along 1 : tensor<128xf32> -> tensor<128x64xf32>
    %below = arith.subf %seen, %new_max_t : tensor<128x64xf32>
    %p = math.exp2 %below : tensor<128x64xf32>

    // The previous sum and output are relative to the old maximum: rescale them.
    %change = arith.subf %max, %new_max : tensor<128xf32>
    %factor = math.exp2 %change : tensor<128xf32>
    %step_sum = tile.reduce addf %p along 1 : tensor<128x64xf32> -> tensor<128xf32>
    %old_sum = arith.mulf %sum, %factor : tensor<128xf32>
    %new_sum = arith.addf %old_sum, %step_sum : tensor<128xf32>
    %factor_t = tile.broadcast %factor along 1 : tensor<128xf32> -> tensor<128x128xf32>
    %old_out = arith.mulf %out, %factor_t : tensor<128x128xf32>

    // O += P * V.
    %p16 = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xf16>
    %vt = tile.load %vh[%n, %c0] : !rows -> tensor<64x128xf16>
    %new_out = tile.dot %p16, %vt, %old_out
        : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %new_out, %new_max, %new_sum
        : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
  }

  // Divide by the sums. Rows after the last query are not written.
  %sum_t = tile.broadcast %all#2 along 1 : tensor<128xf32> -> tensor<128x128xf32>
  %result = arith.divf %all#0, %sum_t : tensor<128x128xf32>
  %result16 = arith.truncf %result : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %result16, %oh[%row, %c0] : tensor<128x128xf16>, !rows
}
