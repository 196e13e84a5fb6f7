// The softmax of each row of x and its gradient, for rows of any length, in bf16 with
// f32 arithmetic. A thread block computes one row.
//
//   tile-translate --tile-to-ptx --chip=sm_90a softmax_rows.mlir -o softmax.ptx
//
// A row of at most BN elements is read once and stays in registers. A longer row is read
// twice, in steps of BS elements; the second time it comes from a cache. Both are open:
// --sizes='x = ?x4096' tells the compiler the length, and
// --schedule='@softmax: params = {BN = 4096, BS = 1024}, warps = 4' gives the values.
//
// Rows begin at multiples of 16 bytes here, so that accesses are 16 bytes wide.
// Rows without padding, of a length that is no multiple of 8, need the layout
// #tile.strided<[?, 1]>.

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
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

tile.kernel @softmax(%x: !rows {tile.name = "x"}, %y: !rows {tile.name = "y"}) {
  %bn = tile.param BN in [512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2304, 2560,
      2816, 3072, 3328, 3584, 3840, 4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680,
      8192, 9216, 10240, 11264, 12288, 13312, 14336, 15360, 16384, 20480, 24576, 28672,
      32768, 40960, 49152, 57344, 65536, 81920, 98304, 114688, 131072]
  %bs = tile.param BS in [256, 512, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096,
      5120, 6144, 7168, 8192]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index

  // The grid: one thread block for each row.
  %count = tile.dim %x[0] : !rows
  %length = tile.dim %x[1] : !rows
  tile.grid %count, %c1, %c1
  tile.require %y[0] equal %count, "the rows of x" : !rows
  tile.require %y[1] equal %length, "the length of the rows of x" : !rows
  %row = tile.program_id x

  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %log2e_1 = arith.constant 1.44269504 : f32
  %negative = arith.constant 0xFF800000 : f32 // -inf
  // Below the maximum of any row, and finite: a difference to it is never a NaN.
  %lowest_1 = arith.constant -3.4e38 : f32

  %is_short = arith.cmpi ule, %length, %bn : index
  scf.if %is_short {
    %log2e = tensor.splat %log2e_1[%bn] : !tile
    %hidden = tensor.splat %negative[%bn] : !tile
    %column = tile.iota along 1 : !ints
    // Elements after the end of the row are read as zero, and must not count.
    %t16 = tile.load %x[%row, %c0] : !rows -> !tile16
    %t = arith.extf %t16 : !tile16 to !tile
    %length32 = arith.index_cast %length : index to i32
    %end = tensor.splat %length32[%bn] : !ints
    %visible = arith.cmpi slt, %column, %end : !ints
    %seen = arith.select %visible, %t, %hidden : !flags, !tile

    // exp(t - max) does not overflow. exp(a) equals exp2(a * log2(e)).
    %max = tile.reduce maxnumf %seen along 1 : !tile -> !number
    %max_t = tile.broadcast %max along 1 : !number -> !tile
    %below = arith.subf %seen, %max_t : !tile
    %scaled = arith.mulf %below, %log2e : !tile
    %e = math.exp2 %scaled : !tile
    %sum = tile.reduce addf %e along 1 : !tile -> !number
    // One division for the row.
    %one = arith.constant dense<1.0> : !number
    %factor = arith.divf %one, %sum : !number
    %factor_t = tile.broadcast %factor along 1 : !number -> !tile
    %result = arith.mulf %e, %factor_t : !tile
    %result16 = arith.truncf %result : !tile to !tile16
    tile.store %result16, %y[%row, %c0] : !tile16, !rows
  } else {
    %zeros = tensor.splat %f0[%bs] : !step
    %ones = tensor.splat %f1[%bs] : !step
    %log2e = tensor.splat %log2e_1[%bs] : !step
    %hidden = tensor.splat %negative[%bs] : !step
    %lowest = tensor.splat %lowest_1[%bs] : !step
    %column = tile.iota along 1 : !step_ints
    // Each place of the tile has its own maximum and its own sum relative to that, so
    // that threads exchange nothing in the loop.
    %all:2 = scf.for %n = %c0 to %length step %bs
        iter_args(%max = %lowest, %sum = %zeros) -> (!step, !step) {
      %t16 = tile.load %x[%row, %n] : !rows -> !step16
      %t = arith.extf %t16 : !step16 to !step
      %left = arith.subi %length, %n : index
      %left32 = arith.index_cast %left : index to i32
      %end = tensor.splat %left32[%bs] : !step_ints
      %visible = arith.cmpi slt, %column, %end : !step_ints
      %seen = arith.select %visible, %t, %hidden : !step_flags, !step

      // Either the sum or the new element is relative to the new maximum already. The
      // other one is multiplied by e, the only exponential of a step.
      %new_max = arith.maxnumf %max, %seen : !step
      %change = arith.subf %seen, %max : !step
      %above = arith.cmpf ogt, %change, %zeros : !step
      %distance = math.absf %change : !step
      %below = arith.negf %distance : !step
      %scaled = arith.mulf %below, %log2e : !step
      %e = math.exp2 %scaled : !step
      %multiplied = arith.select %above, %sum, %ones : !step_flags, !step
      %kept = arith.select %above, %ones, %sum : !step_flags, !step
      %product = arith.mulf %multiplied, %e : !step
      %new_sum = arith.addf %product, %kept : !step
      scf.yield %new_max, %new_sum : !step, !step
    }
    %row_max = tile.reduce maxnumf %all#0 along 1 : !step -> !number
    %row_max_t = tile.broadcast %row_max along 1 : !number -> !step
    %place_below = arith.subf %all#0, %row_max_t : !step
    %place_scaled = arith.mulf %place_below, %log2e : !step
    %place_factor = math.exp2 %place_scaled : !step
    %place_sum = arith.mulf %all#1, %place_factor : !step
    %row_sum = tile.reduce addf %place_sum along 1 : !step -> !number
    %one = arith.constant dense<1.0> : !number
    %factor = arith.divf %one, %row_sum : !number
    %factor_t = tile.broadcast %factor along 1 : !number -> !step

    // The row again, now from a cache. Elements after its end are not written.
    scf.for %n = %c0 to %length step %bs {
      %t16 = tile.load %x[%row, %n] : !rows -> !step16
      %t = arith.extf %t16 : !step16 to !step
      %below = arith.subf %t, %row_max_t : !step
      %scaled = arith.mulf %below, %log2e : !step
      %e = math.exp2 %scaled : !step
      %result = arith.mulf %e, %factor_t : !step
      %result16 = arith.truncf %result : !step to !step16
      tile.store %result16, %y[%row, %n] : !step16, !rows
    }
  }
}

// dx = y * (dy - sum(y * dy)).
tile.kernel @softmax_gradient(%y: !rows {tile.name = "y"}, %dy: !rows {tile.name = "dy"},
                              %dx: !rows {tile.name = "dx"}) {
  %bn = tile.param BN in [512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2304, 2560,
      2816, 3072, 3328, 3584, 3840, 4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680,
      8192, 9216, 10240, 11264, 12288, 13312, 14336, 15360, 16384, 20480, 24576, 28672,
      32768, 40960, 49152, 57344, 65536, 81920, 98304, 114688, 131072]
  %bs = tile.param BS in [256, 512, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096,
      5120, 6144, 7168, 8192]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %y[0] : !rows
  %length = tile.dim %y[1] : !rows
  tile.grid %count, %c1, %c1
  tile.require %dy[0] equal %count, "the rows of y" : !rows
  tile.require %dy[1] equal %length, "the length of the rows of y" : !rows
  tile.require %dx[0] equal %count, "the rows of y" : !rows
  tile.require %dx[1] equal %length, "the length of the rows of y" : !rows
  %row = tile.program_id x

  %is_short = arith.cmpi ule, %length, %bn : index
  scf.if %is_short {
    // Elements after the end of the row are zero and add nothing.
    %y16 = tile.load %y[%row, %c0] : !rows -> !tile16
    %dy16 = tile.load %dy[%row, %c0] : !rows -> !tile16
    %yt = arith.extf %y16 : !tile16 to !tile
    %dyt = arith.extf %dy16 : !tile16 to !tile
    %products = arith.mulf %yt, %dyt : !tile
    %sum = tile.reduce addf %products along 1 : !tile -> !number
    %sum_t = tile.broadcast %sum along 1 : !number -> !tile
    %change = arith.subf %dyt, %sum_t : !tile
    %result = arith.mulf %yt, %change : !tile
    %result16 = arith.truncf %result : !tile to !tile16
    tile.store %result16, %dx[%row, %c0] : !tile16, !rows
  } else {
    %f0 = arith.constant 0.0 : f32
    %zeros = tensor.splat %f0[%bs] : !step
    %sums = scf.for %n = %c0 to %length step %bs iter_args(%acc = %zeros) -> (!step) {
      %y16 = tile.load %y[%row, %n] : !rows -> !step16
      %dy16 = tile.load %dy[%row, %n] : !rows -> !step16
      %yt = arith.extf %y16 : !step16 to !step
      %dyt = arith.extf %dy16 : !step16 to !step
      %products = arith.mulf %yt, %dyt : !step
      %next = arith.addf %acc, %products : !step
      scf.yield %next : !step
    }
    %sum = tile.reduce addf %sums along 1 : !step -> !number
    %sum_t = tile.broadcast %sum along 1 : !number -> !step
    scf.for %n = %c0 to %length step %bs {
      %y16 = tile.load %y[%row, %n] : !rows -> !step16
      %dy16 = tile.load %dy[%row, %n] : !rows -> !step16
      %yt = arith.extf %y16 : !step16 to !step
      %dyt = arith.extf %dy16 : !step16 to !step
      %change = arith.subf %dyt, %sum_t : !step
      %result = arith.mulf %yt, %change : !step
      %result16 = arith.truncf %result : !step to !step16
      tile.store %result16, %dx[%row, %n] : !step16, !rows
    }
  }
}
