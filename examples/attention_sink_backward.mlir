// The backward pass of causal attention with sinks: one hand-written kernel, in
// which every tile has an explicit layout. It follows the TileLang example
// example_gqa_sink_bwd_bhsd.py with its tile sizes for sm_80 (64 keys, 32
// queries, 4 warps) and two stages.
//
//   tile-translate --tile-to-ptx --chip=sm_80 attention_sink_backward.mlir -o k.ptx
//
// A group of query heads shares a head of k and v. The heads of a group add to
// dK and dV by atomics, and the thread blocks add to dQ by atomics. The caller
// must set all three to zero, and must multiply dQ and dK by %scale afterwards.
// %lse is the base-2 logarithm of each row's sum, sinks included; %delta is
// rowsum(O * dO).
//
// The named operation tile.attention_backward becomes a kernel like this one,
// together with the small kernels before and after it, for any mask.

!heads = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!sums = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
// The 8 x 8 blocks of dQ, permuted for the fragment below. A lane holds two
// neighbouring columns; they are 32 elements apart here, so that 32 lanes add to
// 32 consecutive elements. A two-element access would corrupt dQ; the compiler
// refuses it with a remark. The number of rows must be a multiple of 8.
!dq_blocks = !tile.buffer<?x?x?x128xf32, #tile.map<(b, h, l, d) -> (b, h, l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>
!per_row = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
// One head of each buffer.
!rows = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!sum_rows = !tile.buffer<?x128xf32, #tile.strided<[?:8, 1], align = 16>, global>
!dq_rows = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>
!row_values = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// Shared memory layouts: tiles of K, V, Q and dO, and tiles of dS.
#shared = #tile.swizzle<128>
#shared_columns = #tile.permute<[1, 0], #shared>
#shared_ds = #tile.swizzle<64>
#shared_ds_columns = #tile.permute<[1, 0], #shared_ds>
// Fragments. The scores have one row for each key; a warp holds complete rows of
// the scores, of dK and of dV. dQ is distributed over 2 x 2 warps.
#scores = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#scores_a = #tile.dot_operand<0, #scores>
#scores_b = #tile.dot_operand<1, #scores>
#per_query = #tile.slice<0, #scores>
#dq = #tile.mma<"mma.m16n8k16.f16", warps = [2, 2]>
#dq_a = #tile.dot_operand<0, #dq>
#dq_b = #tile.dot_operand<1, #dq>
// The layout of the additions to dK and dV: 4 consecutive elements per thread.
#coalesced = #tile.blocked<thread = [1, 4], lane = [4, 8], warp = [4, 1], order = [1, 0]>

tile.kernel @attention_sink_backward(
    %q: !heads {tile.name = "q"}, %k: !heads {tile.name = "k"},
    %v: !heads {tile.name = "v"}, %do: !heads {tile.name = "do"},
    %lse: !per_row {tile.name = "lse"}, %delta: !per_row {tile.name = "delta"},
    %dq: !dq_blocks {tile.name = "dq"}, %dk: !sums {tile.name = "dk"},
    %dv: !sums {tile.name = "dv"}, %scale: f32 {tile.name = "scale"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index

  // The grid: one thread block for each query head, 64 keys and batch.
  %batch = tile.dim %q[0] : !heads
  %num_heads = tile.dim %q[1] : !heads
  %kv_heads = tile.dim %k[1] : !heads
  %length = tile.dim %q[2] : !heads
  %blocks = arith.ceildivui %length, %c64 : index
  tile.grid %num_heads, %blocks, %batch
  %h = tile.program_id x
  %block = tile.program_id y
  %b = tile.program_id z
  %group = arith.divui %num_heads, %kv_heads : index
  %kvh = arith.divui %h, %group : index
  %key = arith.muli %block, %c64 : index

  %qh = tile.slice %q[%b, %h, *, *] : !heads to !rows
  %kh = tile.slice %k[%b, %kvh, *, *] : !heads to !rows
  %vh = tile.slice %v[%b, %kvh, *, *] : !heads to !rows
  %doh = tile.slice %do[%b, %h, *, *] : !heads to !rows
  %lseh = tile.slice %lse[%b, %h, *] : !per_row to !row_values
  %deltah = tile.slice %delta[%b, %h, *] : !per_row to !row_values
  %dqh = tile.slice %dq[%b, %h, *, *] : !dq_blocks to !dq_rows
  %dkh = tile.slice %dk[%b, %kvh, *, *] : !sums to !sum_rows
  %dvh = tile.slice %dv[%b, %kvh, *, *] : !sums to !sum_rows

  %k_shared = tile.load %kh[%key, %c0] : !rows -> tensor<64x128xf16, #shared>
  %v_shared = tile.load %vh[%key, %c0] : !rows -> tensor<64x128xf16, #shared>

  // exp(scale * s) equals exp2(c * s).
  %log2e = arith.constant 1.44269504 : f32
  %c = arith.mulf %scale, %log2e : f32
  %ct = tensor.splat %c : tensor<64x32xf32, #scores>
  %zero_scores = arith.constant dense<0.0> : tensor<64x32xf32, #scores>
  %zero_dq = arith.constant dense<0.0> : tensor<32x128xf32, #dq>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32, #scores>
  // Query m + j sees key (key + i) if i - j <= m - key.
  %i = tile.iota along 0 : tensor<64x32xi32, #scores>
  %j = tile.iota along 1 : tensor<64x32xi32, #scores>
  %distance = arith.subi %i, %j : tensor<64x32xi32, #scores>

  // The loop over 32 queries each, starting at the diagonal.
  %sums:2 = scf.for %m = %key to %length step %c32
      iter_args(%dk_sum = %zero, %dv_sum = %zero)
      -> (tensor<64x128xf32, #scores>, tensor<64x128xf32, #scores>) {
    // P^T = exp2(c * K * Q^T - lse), and zero for masked keys.
    %q_shared = tile.load %qh[%m, %c0] : !rows -> tensor<32x128xf16, #shared>
    %q_t = tile.transpose %q_shared [1, 0]
        : tensor<32x128xf16, #shared> -> tensor<128x32xf16, #shared_columns>
    %k_a = tile.convert_layout %k_shared
        : tensor<64x128xf16, #shared> -> tensor<64x128xf16, #scores_a>
    %q_b = tile.convert_layout %q_t
        : tensor<128x32xf16, #shared_columns> -> tensor<128x32xf16, #scores_b>
    %s = tile.dot %k_a, %q_b, %zero_scores
        : tensor<64x128xf16, #scores_a>, tensor<128x32xf16, #scores_b> -> tensor<64x32xf32, #scores>
    %row_sums = tile.load %lseh[%m] : !row_values -> tensor<32xf32, #per_query>
    %row_sums_t = tile.broadcast %row_sums along 0
        : tensor<32xf32, #per_query> -> tensor<64x32xf32, #scores>
    %scaled = arith.mulf %s, %ct : tensor<64x32xf32, #scores>
    %exponent = arith.subf %scaled, %row_sums_t : tensor<64x32xf32, #scores>
    %weights = math.exp2 %exponent : tensor<64x32xf32, #scores>
    %bound = arith.subi %m, %key : index
    %bound32 = arith.index_cast %bound : index to i32
    %bound_t = tensor.splat %bound32 : tensor<64x32xi32, #scores>
    %visible = arith.cmpi sle, %distance, %bound_t : tensor<64x32xi32, #scores>
    %p = arith.select %visible, %weights, %zero_scores
        : tensor<64x32xi1, #scores>, tensor<64x32xf32, #scores>

    // dV += P^T * dO. The fragment of P^T is an operand without any exchange.
    %do_shared = tile.load %doh[%m, %c0] : !rows -> tensor<32x128xf16, #shared>
    %p16 = arith.truncf %p : tensor<64x32xf32, #scores> to tensor<64x32xf16, #scores>
    %p_a = tile.convert_layout %p16
        : tensor<64x32xf16, #scores> -> tensor<64x32xf16, #scores_a>
    %do_b = tile.convert_layout %do_shared
        : tensor<32x128xf16, #shared> -> tensor<32x128xf16, #scores_b>
    %dv_next = tile.dot %p_a, %do_b, %dv_sum
        : tensor<64x32xf16, #scores_a>, tensor<32x128xf16, #scores_b> -> tensor<64x128xf32, #scores>

    // dS^T = P^T * (V * dO^T - delta).
    %do_t = tile.transpose %do_shared [1, 0]
        : tensor<32x128xf16, #shared> -> tensor<128x32xf16, #shared_columns>
    %v_a = tile.convert_layout %v_shared
        : tensor<64x128xf16, #shared> -> tensor<64x128xf16, #scores_a>
    %do_t_b = tile.convert_layout %do_t
        : tensor<128x32xf16, #shared_columns> -> tensor<128x32xf16, #scores_b>
    %dp = tile.dot %v_a, %do_t_b, %zero_scores
        : tensor<64x128xf16, #scores_a>, tensor<128x32xf16, #scores_b> -> tensor<64x32xf32, #scores>
    %deltas = tile.load %deltah[%m] : !row_values -> tensor<32xf32, #per_query>
    %deltas_t = tile.broadcast %deltas along 0
        : tensor<32xf32, #per_query> -> tensor<64x32xf32, #scores>
    %difference = arith.subf %dp, %deltas_t : tensor<64x32xf32, #scores>
    %ds = arith.mulf %p, %difference : tensor<64x32xf32, #scores>
    %ds16 = arith.truncf %ds : tensor<64x32xf32, #scores> to tensor<64x32xf16, #scores>

    // dK += dS^T * Q.
    %ds_a = tile.convert_layout %ds16
        : tensor<64x32xf16, #scores> -> tensor<64x32xf16, #scores_a>
    %q_rows_b = tile.convert_layout %q_shared
        : tensor<32x128xf16, #shared> -> tensor<32x128xf16, #scores_b>
    %dk_next = tile.dot %ds_a, %q_rows_b, %dk_sum
        : tensor<64x32xf16, #scores_a>, tensor<32x128xf16, #scores_b> -> tensor<64x128xf32, #scores>

    // dQ += dS * K sums over the keys of all warps, so dS goes through shared
    // memory.
    %ds_shared = tile.convert_layout %ds16
        : tensor<64x32xf16, #scores> -> tensor<64x32xf16, #shared_ds>
    %ds_t = tile.transpose %ds_shared [1, 0]
        : tensor<64x32xf16, #shared_ds> -> tensor<32x64xf16, #shared_ds_columns>
    %ds_t_a = tile.convert_layout %ds_t
        : tensor<32x64xf16, #shared_ds_columns> -> tensor<32x64xf16, #dq_a>
    %k_b = tile.convert_layout %k_shared
        : tensor<64x128xf16, #shared> -> tensor<64x128xf16, #dq_b>
    %dq_part = tile.dot %ds_t_a, %k_b, %zero_dq
        : tensor<32x64xf16, #dq_a>, tensor<64x128xf16, #dq_b> -> tensor<32x128xf32, #dq>
    tile.atomic_rmw addf %dq_part, %dqh[%m, %c0] : tensor<32x128xf32, #dq>, !dq_rows
    scf.yield %dk_next, %dv_next : tensor<64x128xf32, #scores>, tensor<64x128xf32, #scores>
  } {tile.schedule = #tile.schedule<stages = 2>}

  // dV and dK go through shared memory, so that each warp adds coalesced rows.
  %dv_shared = tile.convert_layout %sums#1
      : tensor<64x128xf32, #scores> -> tensor<64x128xf32, #shared>
  %dv_lines = tile.convert_layout %dv_shared
      : tensor<64x128xf32, #shared> -> tensor<64x128xf32, #coalesced>
  tile.atomic_rmw addf %dv_lines, %dvh[%key, %c0] : tensor<64x128xf32, #coalesced>, !sum_rows
  %dk_shared = tile.convert_layout %sums#0
      : tensor<64x128xf32, #scores> -> tensor<64x128xf32, #shared>
  %dk_lines = tile.convert_layout %dk_shared
      : tensor<64x128xf32, #shared> -> tensor<64x128xf32, #coalesced>
  tile.atomic_rmw addf %dk_lines, %dkh[%key, %c0] : tensor<64x128xf32, #coalesced>, !sum_rows
}
