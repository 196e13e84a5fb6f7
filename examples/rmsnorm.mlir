// RMSNorm of rows of any length in bf16, with f32 arithmetic:
//
//   y = x * rstd * w, where rstd = 1 / sqrt(mean(x^2) + eps)
//
// rmsnorm_backward.mlir reads rstd. A thread block computes one row.
//
//   tile-translate --tile-to-ptx --chip=sm_90a rmsnorm.mlir -o rmsnorm.ptx
//
// A row of at most BN elements is read once and stays in registers. A longer row is read
// twice, in steps of BS elements; the second time it comes from a cache. Both are open.

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!weights = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1]>, global>
// A whole row, a step of a longer one, and one number for the row.
!tile16 = tensor<1x?xbf16, #tile.open<BN>>
!tile = tensor<1x?xf32, #tile.open<BN>>
!line16 = tensor<?xbf16, #tile.open<BN>>
!step16 = tensor<1x?xbf16, #tile.open<BS>>
!step = tensor<1x?xf32, #tile.open<BS>>
!step_line16 = tensor<?xbf16, #tile.open<BS>>
!number = tensor<1xf32>

tile.kernel @rmsnorm(%x: !rows {tile.name = "x"}, %w: !weights {tile.name = "w"},
                     %y: !rows {tile.name = "y"}, %rstd: !numbers {tile.name = "rstd"},
                     %eps: f32 {tile.name = "eps", tile.nonnegative}) {
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
  tile.require %w[0] equal %length, "the length of the rows of x" : !weights
  tile.require %y[0] equal %count, "the rows of x" : !rows
  tile.require %y[1] equal %length, "the length of the rows of x" : !rows
  tile.require %rstd[0] equal %count, "the rows of x" : !numbers
  %row = tile.program_id x

  %length32 = arith.index_cast %length : index to i32
  %length_f = arith.sitofp %length32 : i32 to f32
  %lengths = tensor.splat %length_f : !number
  %epsilons = tensor.splat %eps : !number

  %is_short = arith.cmpi ule, %length, %bn : index
  scf.if %is_short {
    // Elements after the end of the row are read as zero and add nothing. The weights
    // are loaded with the row, so that the wait for them is not a second one.
    %t16 = tile.load %x[%row, %c0] : !rows -> !tile16
    %w16 = tile.load %w[%c0] : !weights -> !line16
    %t = arith.extf %t16 : !tile16 to !tile
    %squares = arith.mulf %t, %t : !tile
    %sum = tile.reduce addf %squares along 1 : !tile -> !number
    %mean = arith.divf %sum, %lengths : !number
    %above = arith.addf %mean, %epsilons : !number
    %factor = math.rsqrt %above : !number
    tile.store %factor, %rstd[%row] : !number, !numbers

    %factor_t = tile.broadcast %factor along 1 : !number -> !tile
    %normal = arith.mulf %t, %factor_t : !tile
    %wt16 = tile.broadcast %w16 along 0 : !line16 -> !tile16
    %wt = arith.extf %wt16 : !tile16 to !tile
    %result = arith.mulf %normal, %wt : !tile
    %result16 = arith.truncf %result : !tile to !tile16
    tile.store %result16, %y[%row, %c0] : !tile16, !rows
  } else {
    %f0 = arith.constant 0.0 : f32
    %zeros = tensor.splat %f0[%bs] : !step
    // Each place of the tile has its own sum, so that threads exchange nothing in the
    // loop.
    %squares = scf.for %n = %c0 to %length step %bs iter_args(%acc = %zeros) -> (!step) {
      %t16 = tile.load %x[%row, %n] : !rows -> !step16
      %t = arith.extf %t16 : !step16 to !step
      %square = arith.mulf %t, %t : !step
      %next = arith.addf %acc, %square : !step
      scf.yield %next : !step
    }
    %sum = tile.reduce addf %squares along 1 : !step -> !number
    %mean = arith.divf %sum, %lengths : !number
    %above = arith.addf %mean, %epsilons : !number
    %factor = math.rsqrt %above : !number
    tile.store %factor, %rstd[%row] : !number, !numbers

    %factor_t = tile.broadcast %factor along 1 : !number -> !step
    scf.for %n = %c0 to %length step %bs {
      %t16 = tile.load %x[%row, %n] : !rows -> !step16
      %w16 = tile.load %w[%n] : !weights -> !step_line16
      %t = arith.extf %t16 : !step16 to !step
      %normal = arith.mulf %t, %factor_t : !step
      %wt16 = tile.broadcast %w16 along 0 : !step_line16 -> !step16
      %wt = arith.extf %wt16 : !step16 to !step
      %result = arith.mulf %normal, %wt : !step
      %result16 = arith.truncf %result : !step to !step16
      tile.store %result16, %y[%row, %n] : !step16, !rows
    }
  }
}
