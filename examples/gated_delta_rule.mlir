// The gated delta rule (gated DeltaNet), forward, in bf16 with f32 states. For each sequence
// and head of values, from a first state S [128, V]:
//
//   S = exp(g) * S      S = S + beta * k * (v - S^T * k)^T      o = scale * S^T * q
//
// at each step, with q and k [128], o and v [V] and numbers g <= 0 and beta. Heads of values
// share q and k in groups. In chunks of BC steps this is, with G the prefix sums of g:
//
//   A = beta_i * (K * K^T)_ij * exp(G_i - G_j) where j < i
//   N = (I + A)^-1 * beta_i * (V - exp(G_i) * (K * S))             the new values
//   o = scale * (exp(G_i) * (Q * S) + (Q * K^T * exp(G_i - G_j) where j <= i) * N)
//   S = exp(G_end) * S + K^T * (exp(G_end - G_j) * N)
//
// A block computes BV of the V values of a head, one chunk after the other. BC and BV are
// open. Steps after the last one are read as zero: with beta = 0 and g = 0 they change
// nothing.
//
//   tile-translate --tile-to-ptx --chip=sm_90a gated_delta_rule.mlir -o delta.ptx
//
// For keys of another size, replace 128.

// [batch, length, heads, keys], [batch, length, heads, values], [batch, length, heads] and
// [batch, heads, keys, values].
!keys_of_heads = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!values_of_heads = !tile.buffer<?x?x?x?xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!gates = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!states = !tile.buffer<?x?x128x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
// Slices of one sequence and head.
!key_rows = !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!value_rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!gate = !tile.buffer<?xf32, #tile.strided<[?]>, global>
!state_of_head = !tile.buffer<128x?xf32, #tile.strided<[?:4, 1], align = 16>, global>

!keys = tensor<?x128xbf16, #tile.open<BC>>
!keys_t = tensor<128x?xbf16, #tile.open<BC>>
!values = tensor<?x?xbf16, #tile.open<BC, BV>>
!values_f = tensor<?x?xf32, #tile.open<BC, BV>>
!scores = tensor<?x?xf32, #tile.open<BC, BC>>
!scores16 = tensor<?x?xbf16, #tile.open<BC, BC>>
!ints = tensor<?x?xi32, #tile.open<BC, BC>>
!flags = tensor<?x?xi1, #tile.open<BC, BC>>
!row = tensor<?xf32, #tile.open<BC>>
!number = tensor<1xf32>
!state = tensor<128x?xf32, #tile.open<BV>>
!state16 = tensor<128x?xbf16, #tile.open<BV>>

tile.kernel @gated_delta_rule(
    %q: !keys_of_heads {tile.name = "q"}, %k: !keys_of_heads {tile.name = "k"},
    %v: !values_of_heads {tile.name = "v"},
    %g: !gates {tile.name = "g"}, %beta: !gates {tile.name = "beta"},
    %first: !states {tile.name = "first"}, %o: !values_of_heads {tile.name = "o"},
    %last: !states {tile.name = "last"}, %scale: f32) {
  %bc = tile.param BC in [16, 32, 64]
  %bv = tile.param BV in [32, 64, 128]
  %c0 = arith.constant 0 : index
  %batch = tile.dim %q[0] : !keys_of_heads
  %length = tile.dim %q[1] : !keys_of_heads
  %num_heads = tile.dim %v[2] : !values_of_heads
  %key_heads = tile.dim %q[2] : !keys_of_heads
  %values = tile.dim %v[3] : !values_of_heads
  %parts = arith.ceildivui %values, %bv : index
  tile.grid %parts, %num_heads, %batch
  tile.require %k[0] equal %batch, "the batch of q" : !keys_of_heads
  tile.require %k[1] equal %length, "the length of q" : !keys_of_heads
  tile.require %k[2] equal %key_heads, "the heads of q" : !keys_of_heads
  tile.require %v[0] equal %batch, "the batch of q" : !values_of_heads
  tile.require %v[1] equal %length, "the length of q" : !values_of_heads
  tile.require %v[2] multiple_of %key_heads, "the heads of q" : !values_of_heads
  tile.require %o[0] equal %batch, "the batch of q" : !values_of_heads
  tile.require %o[1] equal %length, "the length of q" : !values_of_heads
  tile.require %o[2] equal %num_heads, "the heads of v" : !values_of_heads
  tile.require %o[3] equal %values, "the values of v" : !values_of_heads
  tile.require %g[0] equal %batch, "the batch of q" : !gates
  tile.require %g[1] equal %length, "the length of q" : !gates
  tile.require %g[2] equal %num_heads, "the heads of v" : !gates
  tile.require %beta[0] equal %batch, "the batch of q" : !gates
  tile.require %beta[1] equal %length, "the length of q" : !gates
  tile.require %beta[2] equal %num_heads, "the heads of v" : !gates
  tile.require %first[0] equal %batch, "the batch of q" : !states
  tile.require %first[1] equal %num_heads, "the heads of v" : !states
  tile.require %first[3] equal %values, "the values of v" : !states
  tile.require %last[0] equal %batch, "the batch of q" : !states
  tile.require %last[1] equal %num_heads, "the heads of v" : !states
  tile.require %last[3] equal %values, "the values of v" : !states

  %part = tile.program_id x
  %h = tile.program_id y
  %n = tile.program_id z
  %column = arith.muli %part, %bv : index
  %heads_per_key = arith.divui %num_heads, %key_heads : index
  %hk = arith.divui %h, %heads_per_key : index
  %qh = tile.slice %q[%n, *, %hk, *] : !keys_of_heads to !key_rows
  %kh = tile.slice %k[%n, *, %hk, *] : !keys_of_heads to !key_rows
  %vh = tile.slice %v[%n, *, %h, *] : !values_of_heads to !value_rows
  %oh = tile.slice %o[%n, *, %h, *] : !values_of_heads to !value_rows
  %gh = tile.slice %g[%n, *, %h] : !gates to !gate
  %betah = tile.slice %beta[%n, *, %h] : !gates to !gate
  %first_h = tile.slice %first[%n, %h, *, *] : !states to !state_of_head
  %last_h = tile.slice %last[%n, %h, *, *] : !states to !state_of_head

  %f0 = arith.constant 0.0 : f32
  %negative = arith.constant 0xFF800000 : f32
  %log2e = arith.constant 1.44269504 : f32
  %log2e_t = tensor.splat %log2e[%bc] : !row
  %no_scores = tensor.splat %f0[%bc, %bc] : !scores
  %hidden = tensor.splat %negative[%bc, %bc] : !scores
  %no_values = tensor.splat %f0[%bc, %bv] : !values_f
  %scale_t = tensor.splat %scale[%bc, %bv] : !values_f
  %i = tile.iota along 0 : !ints
  %j = tile.iota along 1 : !ints
  %visible = arith.cmpi sle, %j, %i : !ints

  %first_t = tile.load %first_h[%c0, %column] : !state_of_head -> !state
  %last_t = scf.for %t = %c0 to %length step %bc iter_args(%s = %first_t) -> (!state) {
    %qt = tile.load %qh[%t, %c0] : !key_rows -> !keys
    %kt = tile.load %kh[%t, %c0] : !key_rows -> !keys
    %vt = tile.load %vh[%t, %column] : !value_rows -> !values
    %gt = tile.load %gh[%t] : !gate -> !row
    %bt = tile.load %betah[%t] : !gate -> !row

    // Decays from the start of the chunk, and between positions of it.
    %g2 = arith.mulf %gt, %log2e_t : !row
    %sum = tile.scan addf %g2 along 0 : !row
    %total_t = tile.reduce addf %g2 along 0 : !row -> !number
    %total = tensor.extract %total_t[%c0] : !number
    %since = math.exp2 %sum : !row
    %sum_i = tile.broadcast %sum along 1 : !row -> !scores
    %sum_j = tile.broadcast %sum along 0 : !row -> !scores
    %between = arith.subf %sum_i, %sum_j : !scores
    %seen = arith.select %visible, %between, %hidden : !flags, !scores
    %decay = math.exp2 %seen : !scores

    // The inverse of I + A, where A is diag(beta) * (K * K^T) with decays.
    %k_t = tile.transpose %kt [1, 0] : !keys -> !keys_t
    %kk = tile.dot %kt, %k_t, %no_scores : !keys, !keys_t -> !scores
    %beta_i = tile.broadcast %bt along 1 : !row -> !scores
    %kk_decay = arith.mulf %kk, %decay : !scores
    %a = arith.mulf %kk_decay, %beta_i : !scores
    %inverse = tile.unit_triangular_inverse %a : !scores
    %inverse16 = arith.truncf %inverse : !scores to !scores16

    // The new values: beta * (V - decayed K * S), with the ones before them taken out.
    %s16 = arith.truncf %s : !state to !state16
    %ks = tile.dot %kt, %s16, %no_values : !keys, !state16 -> !values_f
    %since_t = tile.broadcast %since along 1 : !row -> !values_f
    %old = arith.mulf %ks, %since_t : !values_f
    %vf = arith.extf %vt : !values to !values_f
    %change = arith.subf %vf, %old : !values_f
    %beta_t = tile.broadcast %bt along 1 : !row -> !values_f
    %wanted = arith.mulf %change, %beta_t : !values_f
    %wanted16 = arith.truncf %wanted : !values_f to !values
    %new = tile.dot %inverse16, %wanted16, %no_values : !scores16, !values -> !values_f
    %new16 = arith.truncf %new : !values_f to !values

    // The output.
    %qk = tile.dot %qt, %k_t, %no_scores : !keys, !keys_t -> !scores
    %p = arith.mulf %qk, %decay : !scores
    %p16 = arith.truncf %p : !scores to !scores16
    %qs = tile.dot %qt, %s16, %no_values : !keys, !state16 -> !values_f
    %from_state = arith.mulf %qs, %since_t : !values_f
    %out = tile.dot %p16, %new16, %from_state : !scores16, !values -> !values_f
    %scaled = arith.mulf %out, %scale_t : !values_f
    %out16 = arith.truncf %scaled : !values_f to !values
    tile.store %out16, %oh[%t, %column] : !values, !value_rows

    // The state after this chunk.
    %total_row = tensor.splat %total[%bc] : !row
    %until_end = arith.subf %total_row, %sum : !row
    %rest = math.exp2 %until_end : !row
    %rest_t = tile.broadcast %rest along 1 : !row -> !values_f
    %kept = arith.mulf %new, %rest_t : !values_f
    %kept16 = arith.truncf %kept : !values_f to !values
    %all = math.exp2 %total : f32
    %all_t = tensor.splat %all[%bv] : !state
    %s_decayed = arith.mulf %s, %all_t : !state
    %s_new = tile.dot %k_t, %kept16, %s_decayed : !keys_t, !values -> !state
    scf.yield %s_new : !state
  }
  tile.store %last_t, %last_h[%c0, %column] : !state, !state_of_head
}
