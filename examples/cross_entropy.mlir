// The cross-entropy of rows of logits [N, V] in bf16 with labels in i64, and its
// gradient, with f32 arithmetic:
//
//   lse = log(sum(exp(x)))      loss = lse - x[label]
//   dx = (exp(x - lse) - (1 at the label, else 0)) * dloss
//
// A label outside of 0 .. V - 1, for example -100, hides its row: its loss and its
// gradient are 0. BS, the elements of a step, is open.
//
//   tile-translate --tile-to-ptx --chip=sm_90a cross_entropy.mlir -o cross_entropy.ptx
//
// The first kernel reads each logit once, whatever the length of a row. The second one
// reads and writes once.

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!labels = !tile.buffer<?xi64, #tile.strided<[1]>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1]>, global>
// BS elements of a row, and one number for the row.
!tile16 = tensor<1x?xbf16, #tile.open<BS>>
!tile = tensor<1x?xf32, #tile.open<BS>>
!ints = tensor<1x?xi32, #tile.open<BS>>
!flags = tensor<1x?xi1, #tile.open<BS>>
!number = tensor<1xf32>

// A thread block computes one row.
tile.kernel @cross_entropy(
    %x: !rows {tile.name = "x"}, %labels: !labels {tile.name = "labels"},
    %loss: !numbers {tile.name = "loss"}, %lse: !numbers {tile.name = "lse"}) {
  %bs = tile.param BS in [512, 1024, 2048, 4096, 8192, 16384]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %x[0] : !rows
  %length = tile.dim %x[1] : !rows
  tile.grid %count, %c1, %c1
  tile.require %x[1] at_least %c1, "one class" : !rows
  tile.require %labels[0] equal %count, "the rows of x" : !labels
  tile.require %loss[0] equal %count, "the rows of x" : !numbers
  tile.require %lse[0] equal %count, "the rows of x" : !numbers
  %row = tile.program_id x

  // The logit of the label: one element, at the nearest index of the row where the
  // label is outside.
  %label64 = tile.load_scalar %labels[%row] : !labels -> i64
  %label = arith.index_cast %label64 : i64 to index
  %last = arith.subi %length, %c1 : index
  %at_least_0 = arith.maxsi %label, %c0 : index
  %place = arith.minsi %at_least_0, %last : index
  %is_inside = arith.cmpi eq, %place, %label : index
  %logit16 = tile.load_scalar %x[%row, %place] : !rows -> bf16
  %logit = arith.extf %logit16 : bf16 to f32

  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %log2e_1 = arith.constant 1.44269504 : f32
  %negative = arith.constant 0xFF800000 : f32 // -inf
  // Below the maximum of any row, and finite: a difference to it is never a NaN.
  %lowest_1 = arith.constant -3.4e38 : f32
  %zeros = tensor.splat %f0[%bs] : !tile
  %ones = tensor.splat %f1[%bs] : !tile
  %log2e = tensor.splat %log2e_1[%bs] : !tile
  %hidden = tensor.splat %negative[%bs] : !tile
  %lowest = tensor.splat %lowest_1[%bs] : !tile
  %column = tile.iota along 1 : !ints

  // Each place of the tile has its own maximum and its own sum relative to that, so that
  // threads exchange nothing in the loop.
  %all:2 = scf.for %n = %c0 to %length step %bs
      iter_args(%max = %lowest, %sum = %zeros) -> (!tile, !tile) {
    %t16 = tile.load %x[%row, %n] : !rows -> !tile16
    %t = arith.extf %t16 : !tile16 to !tile
    // Elements after the end of the row are read as zero, and must not count.
    %left = arith.subi %length, %n : index
    %left32 = arith.index_cast %left : index to i32
    %end = tensor.splat %left32[%bs] : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %t, %hidden : !flags, !tile

    // Either the sum or the new element is relative to the new maximum already. The
    // other one is multiplied by e, the only exponential of a step.
    %new_max = arith.maxnumf %max, %seen : !tile
    %change = arith.subf %seen, %max : !tile
    %above = arith.cmpf ogt, %change, %zeros : !tile
    %distance = math.absf %change : !tile
    %below = arith.negf %distance : !tile
    %scaled = arith.mulf %below, %log2e : !tile
    %e = math.exp2 %scaled : !tile
    %multiplied = arith.select %above, %sum, %ones : !flags, !tile
    %kept = arith.select %above, %ones, %sum : !flags, !tile
    %product = arith.mulf %multiplied, %e : !tile
    %new_sum = arith.addf %product, %kept : !tile
    scf.yield %new_max, %new_sum : !tile, !tile
  }
  %row_max = tile.reduce maxnumf %all#0 along 1 : !tile -> !number
  %row_max_t = tile.broadcast %row_max along 1 : !number -> !tile
  %place_below = arith.subf %all#0, %row_max_t : !tile
  %place_scaled = arith.mulf %place_below, %log2e : !tile
  %place_factor = math.exp2 %place_scaled : !tile
  %place_sum = arith.mulf %all#1, %place_factor : !tile
  %row_sum = tile.reduce addf %place_sum along 1 : !tile -> !number

  // log(a) equals log2(a) * log(2).
  %log2 = math.log2 %row_sum : !number
  %ln2 = arith.constant dense<0.693147181> : !number
  %log = arith.mulf %log2, %ln2 : !number
  %lse_row = arith.addf %row_max, %log : !number
  tile.store %lse_row, %lse[%row] : !number, !numbers
  %logits = tensor.splat %logit : !number
  %difference = arith.subf %lse_row, %logits : !number
  %zero = arith.constant dense<0.0> : !number
  %loss_row = arith.select %is_inside, %difference, %zero : !number
  tile.store %loss_row, %loss[%row] : !number, !numbers
}

// A thread block computes BS elements of a row.
tile.kernel @cross_entropy_gradient(
    %x: !rows {tile.name = "x"}, %labels: !labels {tile.name = "labels"},
    %lse: !numbers {tile.name = "lse"}, %dloss: !numbers {tile.name = "dloss"},
    %dx: !rows {tile.name = "dx"}) {
  %bs = tile.param BS in [512, 1024, 2048, 4096, 8192]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %x[0] : !rows
  %length = tile.dim %x[1] : !rows
  %steps = arith.ceildivui %length, %bs : index
  tile.grid %count, %steps, %c1
  tile.require %labels[0] equal %count, "the rows of x" : !labels
  tile.require %lse[0] equal %count, "the rows of x" : !numbers
  tile.require %dloss[0] equal %count, "the rows of x" : !numbers
  tile.require %dx[0] equal %count, "the rows of x" : !rows
  tile.require %dx[1] equal %length, "the length of the rows of x" : !rows
  %row = tile.program_id x
  %step = tile.program_id y
  %n = arith.muli %step, %bs : index
  %t16 = tile.load %x[%row, %n] : !rows -> !tile16

  // A hidden row has the factor 0.
  %label64 = tile.load_scalar %labels[%row] : !labels -> i64
  %label = arith.index_cast %label64 : i64 to index
  %is_inside = arith.cmpi ult, %label, %length : index
  %dloss_row = tile.load_scalar %dloss[%row] : !numbers -> f32
  %f0 = arith.constant 0.0 : f32
  %factor = arith.select %is_inside, %dloss_row, %f0 : f32
  %lse_row = tile.load_scalar %lse[%row] : !numbers -> f32

  %t = arith.extf %t16 : !tile16 to !tile
  %lse_t = tensor.splat %lse_row[%bs] : !tile
  %below = arith.subf %t, %lse_t : !tile
  %log2e_1 = arith.constant 1.44269504 : f32
  %log2e = tensor.splat %log2e_1[%bs] : !tile
  %scaled = arith.mulf %below, %log2e : !tile
  %p = math.exp2 %scaled : !tile

  // The label among the elements of this block. The difference is that of two numbers
  // below 2^31 unless the row is hidden.
  %place = arith.subi %label, %n : index
  %place32 = arith.index_cast %place : index to i32
  %places = tensor.splat %place32[%bs] : !ints
  %column = tile.iota along 1 : !ints
  %is_label = arith.cmpi eq, %column, %places : !ints
  %f1 = arith.constant 1.0 : f32
  %ones = tensor.splat %f1[%bs] : !tile
  %p_less = arith.subf %p, %ones : !tile
  %difference = arith.select %is_label, %p_less, %p : !flags, !tile
  %factors = tensor.splat %factor[%bs] : !tile
  %result = arith.mulf %difference, %factors : !tile
  %result16 = arith.truncf %result : !tile to !tile16
  tile.store %result16, %dx[%row, %n] : !tile16, !rows
}
