// The backward pass of attention as three kernels. The second one is a plain loop
// over tiles of queries; its extents are open as those of forward_open.mlir: BQ
// queries in a step, BK keys in a block. The compiler chooses their values, the
// number of warps and their roles, and the order of the loop.
//
//   tile-translate --tile-to-ptx --chip=sm_90a backward_open.mlir -o backward.ptx
//
// --schedule='@gradients: params = {BQ = 64, BK = 128}, warps = 8' gives the
// extents. %lse is the natural logarithm of each row's sum. %dq_sums, %lse2 and
// %delta are scratch memory; %dq_sums may have more rows than %q.

!heads = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!sums = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!logarithms = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!numbers = !tile.buffer<?x?x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
// The rows of one batch and head: slices of the buffers above.
!rows = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!sum_rows = !tile.buffer<?x128xf32, #tile.strided<[?:8, 1], align = 16>, global>
!row_logarithms = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!row_numbers = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>

// For each row: delta = rowsum(O * dO) and the logarithm to base 2. Clears the sums
// of dQ.
tile.kernel @prepare(
    %o: !heads {tile.name = "o"}, %do: !heads {tile.name = "do"},
    %lse: !logarithms {tile.name = "lse"}, %lse2: !numbers {tile.name = "lse2"},
    %delta: !numbers {tile.name = "delta"},
    %dq_sums: !sums {tile.name = "dq_sums", tile.accumulator})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %batch = tile.dim %o[0] : !heads
  %queries = tile.dim %o[1] : !heads
  %num_heads = tile.dim %o[2] : !heads
  %num_blocks = arith.ceildivui %queries, %c32 : index
  tile.grid %num_blocks, %num_heads, %batch

  // Conditions on the other buffers. The launcher checks them.
  tile.require %do[0] equal %batch, "the batch of o" : !heads
  tile.require %do[1] equal %queries, "the length of o" : !heads
  tile.require %do[2] equal %num_heads, "the heads of o" : !heads
  tile.require %lse[0] equal %batch, "the batch of o" : !logarithms
  tile.require %lse[1] equal %num_heads, "the heads of o" : !logarithms
  tile.require %lse[2] equal %queries, "the length of o" : !logarithms
  tile.require %lse2[0] equal %batch, "the batch of o" : !numbers
  tile.require %lse2[1] equal %num_heads, "the heads of o" : !numbers
  tile.require %lse2[2] equal %queries, "the length of o" : !numbers
  tile.require %delta[0] equal %batch, "the batch of o" : !numbers
  tile.require %delta[1] equal %num_heads, "the heads of o" : !numbers
  tile.require %delta[2] equal %queries, "the length of o" : !numbers
  tile.require %dq_sums[0] equal %batch, "the batch of o" : !sums
  tile.require %dq_sums[1] at_least %queries, "the length of o" : !sums
  tile.require %dq_sums[2] equal %num_heads, "the heads of o" : !sums

  %block = tile.program_id x
  %h = tile.program_id y
  %b = tile.program_id z
  %row = arith.muli %block, %c32 : index
  %oh = tile.slice %o[%b, *, %h, *] : !heads to !rows
  %doh = tile.slice %do[%b, *, %h, *] : !heads to !rows
  %lseh = tile.slice %lse[%b, %h, *] : !logarithms to !row_logarithms
  %lse2h = tile.slice %lse2[%b, %h, *] : !numbers to !row_numbers
  %deltah = tile.slice %delta[%b, %h, *] : !numbers to !row_numbers
  %dqh = tile.slice %dq_sums[%b, *, %h, *] : !sums to !sum_rows

  %ot = tile.load %oh[%row, %c0] : !rows -> tensor<32x128xf16>
  %dot = tile.load %doh[%row, %c0] : !rows -> tensor<32x128xf16>
  %o32 = arith.extf %ot : tensor<32x128xf16> to tensor<32x128xf32>
  %do32 = arith.extf %dot : tensor<32x128xf16> to tensor<32x128xf32>
  %products = arith.mulf %o32, %do32 : tensor<32x128xf32>
  %deltas = tile.reduce addf %products along 1 : tensor<32x128xf32> -> tensor<32xf32>
  tile.store %deltas, %deltah[%row] : tensor<32xf32>, !row_numbers
  %natural = tile.load %lseh[%row] : !row_logarithms -> tensor<32xf32>
  %log2e = arith.constant dense<1.44269504> : tensor<32xf32>
  %base2 = arith.mulf %natural, %log2e : tensor<32xf32>
  tile.store %base2, %lse2h[%row] : tensor<32xf32>, !row_numbers
  %zero = arith.constant dense<0.0> : tensor<32x128xf32>
  tile.store %zero, %dqh[%row, %c0] : tensor<32x128xf32>, !sum_rows
}

!queries = tensor<?x128xf16, #tile.open<BQ>>
!queries_t = tensor<128x?xf16, #tile.open<BQ>>
!keys = tensor<?x128xf16, #tile.open<BK>>
!scores = tensor<?x?xf32, #tile.open<BK, BQ>>
!weights = tensor<?x?xf16, #tile.open<BK, BQ>>
!weights_t = tensor<?x?xf16, #tile.open<BQ, BK>>
!ints = tensor<?x?xi32, #tile.open<BK, BQ>>
!flags = tensor<?x?xi1, #tile.open<BK, BQ>>
!per_query = tensor<?xf32, #tile.open<BQ>>
!key_sums = tensor<?x128xf32, #tile.open<BK>>
!query_sums = tensor<?x128xf32, #tile.open<BQ>>

// dK and dV of BK keys, and their part of dQ. Scores have a row for each key.
tile.kernel @gradients(
    %q: !heads {tile.name = "q"}, %k: !heads {tile.name = "k"},
    %v: !heads {tile.name = "v"}, %do: !heads {tile.name = "do"},
    %lse2: !numbers {tile.name = "lse2"}, %delta: !numbers {tile.name = "delta"},
    %dq_sums: !sums {tile.name = "dq_sums", tile.accumulator},
    %dk: !heads {tile.name = "dk"}, %dv: !heads {tile.name = "dv"},
    %scale: f32 {tile.name = "scale"}) {
  // The queries of a step, and the keys of a block.
  %bq = tile.param BQ in [16, 32, 64, 128]
  %bk = tile.param BK in [32, 64, 128]
  %c0 = arith.constant 0 : index

  // The grid: one thread block for each BK keys, head and batch.
  %batch = tile.dim %q[0] : !heads
  %queries = tile.dim %q[1] : !heads
  %keys = tile.dim %k[1] : !heads
  %num_heads = tile.dim %q[2] : !heads
  %num_blocks = arith.ceildivui %keys, %bk : index
  tile.grid %num_blocks, %num_heads, %batch

  tile.require %k[0] equal %batch, "the batch of q" : !heads
  tile.require %v[0] equal %batch, "the batch of q" : !heads
  tile.require %do[0] equal %batch, "the batch of q" : !heads
  tile.require %dk[0] equal %batch, "the batch of q" : !heads
  tile.require %dv[0] equal %batch, "the batch of q" : !heads
  tile.require %k[2] equal %num_heads, "the heads of q" : !heads
  tile.require %v[2] equal %num_heads, "the heads of q" : !heads
  tile.require %do[2] equal %num_heads, "the heads of q" : !heads
  tile.require %dk[2] equal %num_heads, "the heads of q" : !heads
  tile.require %dv[2] equal %num_heads, "the heads of q" : !heads
  tile.require %do[1] equal %queries, "the length of q" : !heads
  tile.require %v[1] equal %keys, "the length of k" : !heads
  tile.require %dk[1] equal %keys, "the length of k" : !heads
  tile.require %dv[1] equal %keys, "the length of k" : !heads

  // The slices of this thread block.
  %block = tile.program_id x
  %h = tile.program_id y
  %b = tile.program_id z
  %key = arith.muli %block, %bk : index
  %qh = tile.slice %q[%b, *, %h, *] : !heads to !rows
  %kh = tile.slice %k[%b, *, %h, *] : !heads to !rows
  %vh = tile.slice %v[%b, *, %h, *] : !heads to !rows
  %doh = tile.slice %do[%b, *, %h, *] : !heads to !rows
  %lse2h = tile.slice %lse2[%b, %h, *] : !numbers to !row_numbers
  %deltah = tile.slice %delta[%b, %h, *] : !numbers to !row_numbers
  %dqh = tile.slice %dq_sums[%b, *, %h, *] : !sums to !sum_rows
  %dkh = tile.slice %dk[%b, *, %h, *] : !heads to !rows
  %dvh = tile.slice %dv[%b, *, %h, *] : !heads to !rows

  // Rows after the last key are read as zero.
  %kt = tile.load %kh[%key, %c0] : !rows -> !keys
  %vt = tile.load %vh[%key, %c0] : !rows -> !keys

  // exp(scale * s) equals exp2(c * s).
  %log2e = arith.constant 1.44269504 : f32
  %c = arith.mulf %scale, %log2e : f32
  %ct = tensor.splat %c[%bk, %bq] : !scores
  %f0 = arith.constant 0.0 : f32
  %no_scores = tensor.splat %f0[%bk, %bq] : !scores
  %no_dq = tensor.splat %f0[%bq] : !query_sums
  %no_sum = tensor.splat %f0[%bk] : !key_sums
  %row = tile.iota along 0 : !ints
  %left = arith.subi %keys, %key : index
  %left32 = arith.index_cast %left : index to i32
  %end = tensor.splat %left32[%bk, %bq] : !ints

  // The loop over BQ queries each. Those after the last one are zero, and so are
  // their gradients.
  %sums:2 = scf.for %m = %c0 to %queries step %bq
      iter_args(%dk_sum = %no_sum, %dv_sum = %no_sum) -> (!key_sums, !key_sums) {
    // P^T = exp2(c * K * Q^T - lse2), zero for keys after the last one.
    %qt = tile.load %qh[%m, %c0] : !rows -> !queries
    %q_t = tile.transpose %qt [1, 0] : !queries -> !queries_t
    %s = tile.dot %kt, %q_t, %no_scores : !keys, !queries_t -> !scores
    %s2 = arith.mulf %s, %ct : !scores
    %log_sums = tile.load %lse2h[%m] : !row_numbers -> !per_query
    %log_sums_t = tile.broadcast %log_sums along 0 : !per_query -> !scores
    %exponent = arith.subf %s2, %log_sums_t : !scores
    %exp = math.exp2 %exponent : !scores
    %visible = arith.cmpi slt, %row, %end : !ints
    %p = arith.select %visible, %exp, %no_scores : !flags, !scores

    // dV += P^T * dO.
    %dot = tile.load %doh[%m, %c0] : !rows -> !queries
    %p16 = arith.truncf %p : !scores to !weights
    %next_dv = tile.dot %p16, %dot, %dv_sum : !weights, !queries -> !key_sums

    // dS^T = P^T * (V * dO^T - delta).
    %do_t = tile.transpose %dot [1, 0] : !queries -> !queries_t
    %dp = tile.dot %vt, %do_t, %no_scores : !keys, !queries_t -> !scores
    %deltas = tile.load %deltah[%m] : !row_numbers -> !per_query
    %deltas_t = tile.broadcast %deltas along 0 : !per_query -> !scores
    %above = arith.subf %dp, %deltas_t : !scores
    %ds = arith.mulf %p, %above : !scores
    %ds16 = arith.truncf %ds : !scores to !weights

    // dK += dS^T * Q.
    %next_dk = tile.dot %ds16, %qt, %dk_sum : !weights, !queries -> !key_sums

    // dQ += dS * K, in global memory: other blocks add the parts of other keys.
    %ds_t = tile.transpose %ds16 [1, 0] : !weights -> !weights_t
    %dq = tile.dot %ds_t, %kt, %no_dq : !weights_t, !keys -> !query_sums
    tile.atomic_rmw addf %dq, %dqh[%m, %c0] : !query_sums, !sum_rows
    scf.yield %next_dk, %next_dv : !key_sums, !key_sums
  }

  // Rows after the last key are not written.
  %scale_t = tensor.splat %scale[%bk] : !key_sums
  %dk_scaled = arith.mulf %sums#0, %scale_t : !key_sums
  %dk16 = arith.truncf %dk_scaled : !key_sums to !keys
  tile.store %dk16, %dkh[%key, %c0] : !keys, !rows
  %dv16 = arith.truncf %sums#1 : !key_sums to !keys
  tile.store %dv16, %dvh[%key, %c0] : !keys, !rows
}

// dQ = scale * sums.
tile.kernel @finish(
    %dq_sums: !sums {tile.name = "dq_sums", tile.accumulator},
    %dq: !heads {tile.name = "dq"}, %scale: f32 {tile.name = "scale"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %batch = tile.dim %dq[0] : !heads
  %queries = tile.dim %dq[1] : !heads
  %num_heads = tile.dim %dq[2] : !heads
  %num_blocks = arith.ceildivui %queries, %c16 : index
  tile.grid %num_blocks, %num_heads, %batch
  tile.require %dq_sums[0] equal %batch, "the batch of dq" : !sums
  tile.require %dq_sums[1] at_least %queries, "the length of dq" : !sums
  tile.require %dq_sums[2] equal %num_heads, "the heads of dq" : !sums

  %block = tile.program_id x
  %h = tile.program_id y
  %b = tile.program_id z
  %row = arith.muli %block, %c16 : index
  %sums = tile.slice %dq_sums[%b, *, %h, *] : !sums to !sum_rows
  %dqh = tile.slice %dq[%b, *, %h, *] : !heads to !rows
  %sum = tile.load %sums[%row, %c0] : !sum_rows -> tensor<16x128xf32>
  %factor = tensor.splat %scale : tensor<16x128xf32>
  %scaled = arith.mulf %sum, %factor : tensor<16x128xf32>
  %dq16 = arith.truncf %scaled : tensor<16x128xf32> to tensor<16x128xf16>
  tile.store %dq16, %dqh[%row, %c0] : tensor<16x128xf16>, !rows
}
