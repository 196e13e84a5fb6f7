// The chunk scan of Mamba-2 (SSD, state space duality) in bf16, with f32 states. For each
// sequence and head, from a first state S [128, P]:
//
//   S = exp(dt * a) * S + dt * b * x^T      y = S^T * c      at each step
//
// with x and y [P], b and c [128] and numbers dt >= 0 and a <= 0. Heads share b and c in
// groups. In chunks of BC steps this is, with G the prefix sums of dt * a:
//
//   y = exp(G_i) * (C * S) + (C * B^T * exp(G_i - G_j) * dt_j where j <= i) * X
//   S = exp(G_end) * S + B^T * (exp(G_end - G_j) * dt_j * X)
//
// A block computes BP of the P channels of a head, one chunk after the other. BC and BP
// are open. Steps after the last one are read as zero: with dt = 0 they change nothing.
//
//   tile-translate --tile-to-ptx --chip=sm_90a mamba2_ssd.mlir -o ssd.ptx
//
// For another size of the state, replace 128.

// [batch, length, heads, channels], [batch, length, groups, state], [batch, length, heads],
// [heads] and [batch, heads, state, channels].
!heads = !tile.buffer<?x?x?x?xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!groups = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!steps = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!rates = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!states = !tile.buffer<?x?x128x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
// Slices of one sequence and head.
!head = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!group = !tile.buffer<?x128xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!step = !tile.buffer<?xf32, #tile.strided<[?]>, global>
!state_of_head = !tile.buffer<128x?xf32, #tile.strided<[?:4, 1], align = 16>, global>

!x = tensor<?x?xbf16, #tile.open<BC, BP>>
!x_f = tensor<?x?xf32, #tile.open<BC, BP>>
!b = tensor<?x128xbf16, #tile.open<BC>>
!b_t = tensor<128x?xbf16, #tile.open<BC>>
!scores = tensor<?x?xf32, #tile.open<BC, BC>>
!scores16 = tensor<?x?xbf16, #tile.open<BC, BC>>
!ints = tensor<?x?xi32, #tile.open<BC, BC>>
!flags = tensor<?x?xi1, #tile.open<BC, BC>>
!row = tensor<?xf32, #tile.open<BC>>
!number = tensor<1xf32>
!state = tensor<128x?xf32, #tile.open<BP>>
!state16 = tensor<128x?xbf16, #tile.open<BP>>

tile.kernel @mamba2_ssd(
    %x: !heads {tile.name = "x"}, %dt: !steps {tile.name = "dt"}, %a: !rates {tile.name = "a"},
    %b: !groups {tile.name = "b"}, %c: !groups {tile.name = "c"},
    %first: !states {tile.name = "first"}, %y: !heads {tile.name = "y"},
    %last: !states {tile.name = "last"}) {
  %bc = tile.param BC in [16, 32, 64, 128]
  %bp = tile.param BP in [32, 64, 128]
  %c0 = arith.constant 0 : index
  %batch = tile.dim %x[0] : !heads
  %length = tile.dim %x[1] : !heads
  %num_heads = tile.dim %x[2] : !heads
  %channels = tile.dim %x[3] : !heads
  %parts = arith.ceildivui %channels, %bp : index
  %num_groups = tile.dim %b[2] : !groups
  tile.grid %parts, %num_heads, %batch
  tile.require %dt[0] equal %batch, "the batch of x" : !steps
  tile.require %dt[1] equal %length, "the length of x" : !steps
  tile.require %dt[2] equal %num_heads, "the heads of x" : !steps
  tile.require %a[0] equal %num_heads, "the heads of x" : !rates
  tile.require %b[0] equal %batch, "the batch of x" : !groups
  tile.require %b[1] equal %length, "the length of x" : !groups
  tile.require %c[0] equal %batch, "the batch of x" : !groups
  tile.require %c[1] equal %length, "the length of x" : !groups
  tile.require %c[2] equal %num_groups, "the groups of b" : !groups
  tile.require %x[2] multiple_of %num_groups, "the groups of b" : !heads
  tile.require %y[0] equal %batch, "the batch of x" : !heads
  tile.require %y[1] equal %length, "the length of x" : !heads
  tile.require %y[2] equal %num_heads, "the heads of x" : !heads
  tile.require %y[3] equal %channels, "the channels of x" : !heads
  tile.require %first[0] equal %batch, "the batch of x" : !states
  tile.require %first[1] equal %num_heads, "the heads of x" : !states
  tile.require %first[3] equal %channels, "the channels of x" : !states
  tile.require %last[0] equal %batch, "the batch of x" : !states
  tile.require %last[1] equal %num_heads, "the heads of x" : !states
  tile.require %last[3] equal %channels, "the channels of x" : !states

  %part = tile.program_id x
  %h = tile.program_id y
  %n = tile.program_id z
  %column = arith.muli %part, %bp : index
  %heads_per_group = arith.divui %num_heads, %num_groups : index
  %g = arith.divui %h, %heads_per_group : index
  %xh = tile.slice %x[%n, *, %h, *] : !heads to !head
  %yh = tile.slice %y[%n, *, %h, *] : !heads to !head
  %dth = tile.slice %dt[%n, *, %h] : !steps to !step
  %bg = tile.slice %b[%n, *, %g, *] : !groups to !group
  %cg = tile.slice %c[%n, *, %g, *] : !groups to !group
  %first_h = tile.slice %first[%n, %h, *, *] : !states to !state_of_head
  %last_h = tile.slice %last[%n, %h, *, *] : !states to !state_of_head

  %log2e = arith.constant 1.44269504 : f32
  %a_h = tile.load_scalar %a[%h] : !rates -> f32
  %a2 = arith.mulf %a_h, %log2e : f32
  %a2_t = tensor.splat %a2[%bc] : !row

  %f0 = arith.constant 0.0 : f32
  %negative = arith.constant 0xFF800000 : f32
  %no_scores = tensor.splat %f0[%bc, %bc] : !scores
  %hidden = tensor.splat %negative[%bc, %bc] : !scores
  %no_out = tensor.splat %f0[%bc, %bp] : !x_f
  %i = tile.iota along 0 : !ints
  %j = tile.iota along 1 : !ints
  %visible = arith.cmpi sle, %j, %i : !ints

  %first_t = tile.load %first_h[%c0, %column] : !state_of_head -> !state
  %last_t = scf.for %t = %c0 to %length step %bc iter_args(%state = %first_t) -> (!state) {
    %ct = tile.load %cg[%t, %c0] : !group -> !b
    %bt = tile.load %bg[%t, %c0] : !group -> !b
    %xt = tile.load %xh[%t, %column] : !head -> !x
    %dtt = tile.load %dth[%t] : !step -> !row

    %decay = arith.mulf %dtt, %a2_t : !row
    %sum = tile.scan addf %decay along 0 : !row
    %total_t = tile.reduce addf %decay along 0 : !row -> !number
    %total = tensor.extract %total_t[%c0] : !number

    // The part of this chunk.
    %b_t = tile.transpose %bt [1, 0] : !b -> !b_t
    %s = tile.dot %ct, %b_t, %no_scores : !b, !b_t -> !scores
    %sum_i = tile.broadcast %sum along 1 : !row -> !scores
    %sum_j = tile.broadcast %sum along 0 : !row -> !scores
    %between = arith.subf %sum_i, %sum_j : !scores
    %seen = arith.select %visible, %between, %hidden : !flags, !scores
    %weight = math.exp2 %seen : !scores
    %dt_j = tile.broadcast %dtt along 0 : !row -> !scores
    %weight_dt = arith.mulf %weight, %dt_j : !scores
    %p = arith.mulf %s, %weight_dt : !scores
    %p16 = arith.truncf %p : !scores to !scores16

    // The part of the state.
    %state16 = arith.truncf %state : !state to !state16
    %from_state = tile.dot %ct, %state16, %no_out : !b, !state16 -> !x_f
    %since = math.exp2 %sum : !row
    %since_t = tile.broadcast %since along 1 : !row -> !x_f
    %scaled = arith.mulf %from_state, %since_t : !x_f
    %out = tile.dot %p16, %xt, %scaled : !scores16, !x -> !x_f
    %out16 = arith.truncf %out : !x_f to !x
    tile.store %out16, %yh[%t, %column] : !x, !head

    // The state after this chunk.
    %all = tensor.splat %total[%bc] : !row
    %until_end = arith.subf %all, %sum : !row
    %end_weight = math.exp2 %until_end : !row
    %end_dt = arith.mulf %end_weight, %dtt : !row
    %end_dt_t = tile.broadcast %end_dt along 1 : !row -> !x_f
    %xf = arith.extf %xt : !x to !x_f
    %x_end = arith.mulf %xf, %end_dt_t : !x_f
    %x_end16 = arith.truncf %x_end : !x_f to !x
    %all_factor = math.exp2 %total : f32
    %all_factors = tensor.splat %all_factor[%bp] : !state
    %old = arith.mulf %state, %all_factors : !state
    %new = tile.dot %b_t, %x_end16, %old : !b_t, !x -> !state
    scf.yield %new : !state
  }
  tile.store %last_t, %last_h[%c0, %column] : !state, !state_of_head
}
