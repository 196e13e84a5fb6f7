// The cross-entropy of rows of logits [N, V] in bf16 with labels in i64, and its
// gradient, with f32 arithmetic:
//
//   lse = log(sum(exp(x)))      loss = lse - x[label]
//   dx = (exp(x - lse) - (1 at the label, else 0)) * dloss
//
// A label outside of 0 .. V - 1, for example -100, hides its row: its loss and its
// gradient are 0.
//
//   tile-translate --tile-to-ptx --chip=sm_90a cross_entropy.mlir -o cross_entropy.ptx
//
// The first kernel reads each logit once, whatever the length of a row: a row of at most
// BN elements stays in registers, and a longer one is read in steps of BS elements. The
// second kernel reads and writes once. BN and BS are open.

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!labels = !tile.buffer<?xi64, #tile.strided<[1]>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1]>, global>
// A whole row, a step of a longer one, and one number for the row.
!tile16 = tensor<1x?xbf16, #tile.open<BN>>
!tile = tensor<1x?xf32, #tile.open<BN>>
!ints = tensor<1x?xi32, #tile.open<BN>>
!flags = tensor<1x?xi1, #tile.open<BN>>
!step16 = tensor<1x?xbf16, #tile.open<BS>>
!step = tensor<1x?xf32, #tile.open<BS>>
!step_ints = tensor<1x?xi32, #tile.open<BS>>
!step_flags = tensor<1x?xi1, #tile.open<BS>>
!number = tensor<1xf32>

// Loads the logit of the label of a row: one element, at the nearest index of the row
// where the label is outside. Returns it, and whether the label is inside.
func.func private @load_logit(%x: !rows, %labels: !labels, %row: index) -> (bf16, i1) {
  %label64 = tile.load_scalar %labels[%row] : !labels -> i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.dim %x[1] : !rows
  %label = arith.index_cast %label64 : i64 to index
  %last = arith.subi %length, %c1 : index
  %at_least_0 = arith.maxsi %label, %c0 : index
  %place = arith.minsi %at_least_0, %last : index
  %is_inside = arith.cmpi eq, %place, %label : index
  %logit = tile.load_scalar %x[%row, %place] : !rows -> bf16
  return %logit, %is_inside : bf16, i1
}

// A thread block computes one row.
tile.kernel @cross_entropy(
    %x: !rows {tile.name = "x"}, %labels: !labels {tile.name = "labels"},
    %loss: !numbers {tile.name = "loss"}, %lse: !numbers {tile.name = "lse"}) {
  %bn = tile.param BN in [512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2304, 2560,
      2816, 3072, 3328, 3584, 3840, 4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680,
      8192, 9216, 10240, 11264, 12288, 13312, 14336, 15360, 16384, 20480, 24576, 28672,
      32768, 40960, 49152, 57344, 65536, 81920, 98304, 114688, 131072]
  %bs = tile.param BS in [256, 512, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096,
      5120, 6144, 7168, 8192]
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

  %f0 = arith.constant 0.0 : f32
  %log2e_1 = arith.constant 1.44269504 : f32
  %negative = arith.constant 0xFF800000 : f32 // -inf
  // -2^127: below the maximum of any row. Its product with log2(e) is finite and exact, so
  // that the difference of two of them is 0, also where one is rounded and the other is
  // part of an FMA.
  %lowest_1 = arith.constant 0xFF000000 : f32

  %is_short = arith.cmpi ule, %length, %bn : index
  %row_max, %row_sum, %logit16, %is_inside = scf.if %is_short
      -> (!number, !number, bf16, i1) {
    %log2e = tensor.splat %log2e_1[%bn] : !tile
    %hidden = tensor.splat %negative[%bn] : !tile
    %column = tile.iota along 1 : !ints
    // Elements after the end of the row are read as zero, and must not count.
    %t16 = tile.load %x[%row, %c0] : !rows -> !tile16
    // The label and its logit arrive after the row, and are needed later.
    %chosen, %found = func.call @load_logit(%x, %labels, %row)
        : (!rows, !labels, index) -> (bf16, i1)
    %t = arith.extf %t16 : !tile16 to !tile
    %length32 = arith.index_cast %length : index to i32
    %end = tensor.splat %length32[%bn] : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %t, %hidden : !flags, !tile
    %seen_max = tile.reduce maxnumf %seen along 1 : !tile -> !number
    %lowest = tensor.splat %lowest_1 : !number
    %max = arith.maxnumf %seen_max, %lowest : !number
    %max_t = tile.broadcast %max along 1 : !number -> !tile
    %below = arith.subf %seen, %max_t : !tile
    %scaled = arith.mulf %below, %log2e : !tile
    %e = math.exp2 %scaled : !tile
    %sum = tile.reduce addf %e along 1 : !tile -> !number
    scf.yield %max, %sum, %chosen, %found : !number, !number, bf16, i1
  } else {
    %zeros = tensor.splat %f0[%bs] : !step
    %log2e = tensor.splat %log2e_1[%bs] : !step
    %hidden = tensor.splat %negative[%bs] : !step
    %lowest = tensor.splat %lowest_1[%bs] : !step
    %column = tile.iota along 1 : !step_ints
    // Each place of the tile has its own maximum and its own sum relative to that, so
    // that threads exchange nothing in the loops. Four steps share a new maximum, and
    // the change of the sum to it.
    %bs2 = arith.addi %bs, %bs : index
    %bs4 = arith.addi %bs2, %bs2 : index
    %groups = arith.divui %length, %bs4 : index
    %whole = arith.muli %groups, %bs4 : index
    %most:2 = scf.for %n = %c0 to %whole step %bs4
        iter_args(%max = %lowest, %sum = %zeros) -> (!step, !step) {
      %n1 = arith.addi %n, %bs : index
      %n2 = arith.addi %n1, %bs : index
      %n3 = arith.addi %n2, %bs : index
      %t0 = tile.load %x[%row, %n] : !rows -> !step16
      %t1 = tile.load %x[%row, %n1] : !rows -> !step16
      %t2 = tile.load %x[%row, %n2] : !rows -> !step16
      %t3 = tile.load %x[%row, %n3] : !rows -> !step16
      %x0 = arith.extf %t0 : !step16 to !step
      %x1 = arith.extf %t1 : !step16 to !step
      %x2 = arith.extf %t2 : !step16 to !step
      %x3 = arith.extf %t3 : !step16 to !step
      %max0 = arith.maxnumf %max, %x0 : !step
      %max1 = arith.maxnumf %max0, %x1 : !step
      %max2 = arith.maxnumf %max1, %x2 : !step
      %new_max = arith.maxnumf %max2, %x3 : !step
      %top = arith.mulf %new_max, %log2e : !step
      %old = arith.mulf %max, %log2e : !step
      %y0 = arith.mulf %x0, %log2e : !step
      %y1 = arith.mulf %x1, %log2e : !step
      %y2 = arith.mulf %x2, %log2e : !step
      %y3 = arith.mulf %x3, %log2e : !step
      %below = arith.subf %old, %top : !step
      %below0 = arith.subf %y0, %top : !step
      %below1 = arith.subf %y1, %top : !step
      %below2 = arith.subf %y2, %top : !step
      %below3 = arith.subf %y3, %top : !step
      %factor = math.exp2 %below : !step
      %e0 = math.exp2 %below0 : !step
      %e1 = math.exp2 %below1 : !step
      %e2 = math.exp2 %below2 : !step
      %e3 = math.exp2 %below3 : !step
      %kept = arith.mulf %sum, %factor : !step
      %sum0 = arith.addf %kept, %e0 : !step
      %sum1 = arith.addf %sum0, %e1 : !step
      %sum2 = arith.addf %sum1, %e2 : !step
      %sum3 = arith.addf %sum2, %e3 : !step
      scf.yield %new_max, %sum3 : !step, !step
    }
    %chosen, %found = func.call @load_logit(%x, %labels, %row)
        : (!rows, !labels, index) -> (bf16, i1)
    // The rest of the row, of which elements after the end must not count. Loads ahead
    // would take registers for a few iterations.
    %all:2 = scf.for %n = %whole to %length step %bs
        iter_args(%max = %most#0, %sum = %most#1) -> (!step, !step) {
      %t16 = tile.load %x[%row, %n] : !rows -> !step16
      %t = arith.extf %t16 : !step16 to !step
      %left = arith.subi %length, %n : index
      %left32 = arith.index_cast %left : index to i32
      %end = tensor.splat %left32[%bs] : !step_ints
      %visible = arith.cmpi slt, %column, %end : !step_ints
      %seen = arith.select %visible, %t, %hidden : !step_flags, !step
      %new_max = arith.maxnumf %max, %seen : !step
      %top = arith.mulf %new_max, %log2e : !step
      %old = arith.mulf %max, %log2e : !step
      %y = arith.mulf %seen, %log2e : !step
      %below = arith.subf %old, %top : !step
      %below_seen = arith.subf %y, %top : !step
      %factor = math.exp2 %below : !step
      %e = math.exp2 %below_seen : !step
      %kept = arith.mulf %sum, %factor : !step
      %new_sum = arith.addf %kept, %e : !step
      scf.yield %new_max, %new_sum : !step, !step
    } {tile.schedule = #tile.schedule<keep_loops>}
    %max = tile.reduce maxnumf %all#0 along 1 : !step -> !number
    %max_t = tile.broadcast %max along 1 : !number -> !step
    %place_below = arith.subf %all#0, %max_t : !step
    %place_scaled = arith.mulf %place_below, %log2e : !step
    %place_factor = math.exp2 %place_scaled : !step
    %place_sum = arith.mulf %all#1, %place_factor : !step
    %sum = tile.reduce addf %place_sum along 1 : !step -> !number
    scf.yield %max, %sum, %chosen, %found : !number, !number, bf16, i1
  }

  %logit = arith.extf %logit16 : bf16 to f32
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
  %bs = tile.param BS in [256, 512, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096,
      5120, 6144, 7168, 8192]
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
  %t16 = tile.load %x[%row, %n] : !rows -> !step16

  // A hidden row has the factor 0.
  %label64 = tile.load_scalar %labels[%row] : !labels -> i64
  %label = arith.index_cast %label64 : i64 to index
  %is_inside = arith.cmpi ult, %label, %length : index
  %dloss_row = tile.load_scalar %dloss[%row] : !numbers -> f32
  %f0 = arith.constant 0.0 : f32
  %factor = arith.select %is_inside, %dloss_row, %f0 : f32
  %lse_row = tile.load_scalar %lse[%row] : !numbers -> f32

  %t = arith.extf %t16 : !step16 to !step
  %lse_t = tensor.splat %lse_row[%bs] : !step
  %below = arith.subf %t, %lse_t : !step
  %log2e_1 = arith.constant 1.44269504 : f32
  %log2e = tensor.splat %log2e_1[%bs] : !step
  %scaled = arith.mulf %below, %log2e : !step
  %p = math.exp2 %scaled : !step

  // The label among the elements of this block. The difference is that of two numbers
  // below 2^31 unless the row is hidden.
  %place = arith.subi %label, %n : index
  %place32 = arith.index_cast %place : index to i32
  %places = tensor.splat %place32[%bs] : !step_ints
  %column = tile.iota along 1 : !step_ints
  %is_label = arith.cmpi eq, %column, %places : !step_ints
  %f1 = arith.constant 1.0 : f32
  %ones = tensor.splat %f1[%bs] : !step
  %p_less = arith.subf %p, %ones : !step
  %difference = arith.select %is_label, %p_less, %p : !step_flags, !step
  %factors = tensor.splat %factor[%bs] : !step
  %result = arith.mulf %difference, %factors : !step
  %result16 = arith.truncf %result : !step to !step16
  tile.store %result16, %dx[%row, %n] : !step16, !rows
}
