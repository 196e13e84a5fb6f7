// The gradients of rmsnorm.mlir in bf16, with f32 arithmetic. With h = x * rstd, the
// normal rows, and g = dy * w:
//
//   dx = rstd * (g - h * mean(g * h))        dw = sum of dy * h over all rows
//
// The first kernel computes dx, and dw of the rows of each block in a row of %parts. The
// second one adds up these rows in their order, so that each run gives the same bits. The
// caller chooses the number of blocks by that of the rows of %parts, which is scratch
// memory: as many as run at a time, and at most as many as there are rows.
//
//   tile-translate --tile-to-ptx --chip=sm_90a rmsnorm_backward.mlir -o backward.ptx
//
// While rows have at most BN elements, x and dy are read once and dw is in registers.
// For longer rows dw is in %parts, and x and dy are read twice, in steps of BS elements.

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!weights = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!sums = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
// A whole row, a step of a longer one, and one number for the row.
!tile16 = tensor<1x?xbf16, #tile.open<BN>>
!tile = tensor<1x?xf32, #tile.open<BN>>
!line16 = tensor<?xbf16, #tile.open<BN>>
!step16 = tensor<1x?xbf16, #tile.open<BS>>
!step = tensor<1x?xf32, #tile.open<BS>>
!step_line16 = tensor<?xbf16, #tile.open<BS>>
!number = tensor<1xf32>

tile.kernel @gradients(
    %x: !rows {tile.name = "x"}, %w: !weights {tile.name = "w"},
    %rstd: !numbers {tile.name = "rstd"}, %dy: !rows {tile.name = "dy"},
    %dx: !rows {tile.name = "dx"}, %parts: !sums {tile.name = "parts"}) {
  %bn = tile.param BN in [512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2304, 2560,
      2816, 3072, 3328, 3584, 3840, 4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680,
      8192, 9216, 10240, 11264, 12288, 13312, 14336, 15360, 16384, 20480, 24576, 28672,
      32768, 40960, 49152, 57344, 65536, 81920, 98304, 114688, 131072]
  %bs = tile.param BS in [256, 512, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096,
      5120, 6144, 7168, 8192]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index

  // The grid: block i computes the rows i, i + blocks, i + 2 * blocks and so on.
  %count = tile.dim %x[0] : !rows
  %length = tile.dim %x[1] : !rows
  %blocks = tile.dim %parts[0] : !sums
  tile.grid %blocks, %c1, %c1
  tile.require %w[0] equal %length, "the length of the rows of x" : !weights
  tile.require %rstd[0] equal %count, "the rows of x" : !numbers
  tile.require %dy[0] equal %count, "the rows of x" : !rows
  tile.require %dy[1] equal %length, "the length of the rows of x" : !rows
  tile.require %dx[0] equal %count, "the rows of x" : !rows
  tile.require %dx[1] equal %length, "the length of the rows of x" : !rows
  tile.require %parts[0] at_least %c1, "one block" : !sums
  tile.require %parts[1] equal %length, "the length of the rows of x" : !sums
  %block = tile.program_id x
  // The second kernel starts where blocks have ended, and waits for the others.
  tile.launch_dependents

  %f0 = arith.constant 0.0 : f32
  %length32 = arith.index_cast %length : index to i32
  %length_f = arith.sitofp %length32 : i32 to f32
  %f1 = arith.constant 1.0 : f32
  %inverse = arith.divf %f1, %length_f : f32
  %inverses = tensor.splat %inverse : !number

  %is_short = arith.cmpi ule, %length, %bn : index
  scf.if %is_short {
    %zeros = tensor.splat %f0[%bn] : !tile
    // The weights stay in registers, too.
    %w16 = tile.load %w[%c0] : !weights -> !line16
    %wt16 = tile.broadcast %w16 along 0 : !line16 -> !tile16
    %dw = scf.for %row = %block to %count step %blocks
        iter_args(%acc = %zeros) -> (!tile) {
      %x16 = tile.load %x[%row, %c0] : !rows -> !tile16
      %dy16 = tile.load %dy[%row, %c0] : !rows -> !tile16
      %factor = tile.load_scalar %rstd[%row] : !numbers -> f32
      %factor_t = tensor.splat %factor[%bn] : !tile
      %xt = arith.extf %x16 : !tile16 to !tile
      %dyt = arith.extf %dy16 : !tile16 to !tile
      %wt = arith.extf %wt16 : !tile16 to !tile
      %h = arith.mulf %xt, %factor_t : !tile
      %g = arith.mulf %dyt, %wt : !tile
      %products = arith.mulf %g, %h : !tile
      %sum = tile.reduce addf %products along 1 : !tile -> !number
      %mean = arith.mulf %sum, %inverses : !number
      %mean_t = tile.broadcast %mean along 1 : !number -> !tile
      %along = arith.mulf %h, %mean_t : !tile
      %across = arith.subf %g, %along : !tile
      %result = arith.mulf %across, %factor_t : !tile
      %result16 = arith.truncf %result : !tile to !tile16
      tile.store %result16, %dx[%row, %c0] : !tile16, !rows
      %dw_row = arith.mulf %dyt, %h : !tile
      %next = arith.addf %acc, %dw_row : !tile
      scf.yield %next : !tile
    }
    tile.store %dw, %parts[%block, %c0] : !tile, !sums
  } else {
    %zeros = tensor.splat %f0[%bs] : !step
    scf.for %n = %c0 to %length step %bs {
      tile.store %zeros, %parts[%block, %n] : !step, !sums
    }
    scf.for %row = %block to %count step %blocks {
      %factor = tile.load_scalar %rstd[%row] : !numbers -> f32
      %factor_t = tensor.splat %factor[%bs] : !step
      %factor_1 = tensor.splat %factor : !number
      %all = scf.for %n = %c0 to %length step %bs iter_args(%acc = %zeros) -> (!step) {
        %x16 = tile.load %x[%row, %n] : !rows -> !step16
        %dy16 = tile.load %dy[%row, %n] : !rows -> !step16
        %w16 = tile.load %w[%n] : !weights -> !step_line16
        %wt16 = tile.broadcast %w16 along 0 : !step_line16 -> !step16
        %xt = arith.extf %x16 : !step16 to !step
        %dyt = arith.extf %dy16 : !step16 to !step
        %wt = arith.extf %wt16 : !step16 to !step
        %g = arith.mulf %dyt, %wt : !step
        %products = arith.mulf %g, %xt : !step
        %next = arith.addf %acc, %products : !step
        scf.yield %next : !step
      }
      %sum = tile.reduce addf %all along 1 : !step -> !number
      %sum_h = arith.mulf %sum, %factor_1 : !number
      %mean = arith.mulf %sum_h, %inverses : !number
      %mean_t = tile.broadcast %mean along 1 : !number -> !step
      scf.for %n = %c0 to %length step %bs {
        %x16 = tile.load %x[%row, %n] : !rows -> !step16
        %dy16 = tile.load %dy[%row, %n] : !rows -> !step16
        %w16 = tile.load %w[%n] : !weights -> !step_line16
        %old = tile.load %parts[%block, %n] : !sums -> !step
        %wt16 = tile.broadcast %w16 along 0 : !step_line16 -> !step16
        %xt = arith.extf %x16 : !step16 to !step
        %dyt = arith.extf %dy16 : !step16 to !step
        %wt = arith.extf %wt16 : !step16 to !step
        %h = arith.mulf %xt, %factor_t : !step
        %g = arith.mulf %dyt, %wt : !step
        %along = arith.mulf %h, %mean_t : !step
        %across = arith.subf %g, %along : !step
        %result = arith.mulf %across, %factor_t : !step
        %result16 = arith.truncf %result : !step to !step16
        tile.store %result16, %dx[%row, %n] : !step16, !rows
        %dw_row = arith.mulf %dyt, %h : !step
        %new = arith.addf %old, %dw_row : !step
        tile.store %new, %parts[%block, %n] : !step, !sums
      }
    }
  }
}

// dw: the sums of the columns of parts, BR rows of BC columns at a time.
!part = tensor<?x?xf32, #tile.open<BR, BC>>
!sum = tensor<?xf32, #tile.open<BC>>
!sum16 = tensor<?xbf16, #tile.open<BC>>
tile.kernel @weights(%parts: !sums {tile.name = "parts"}, %dw: !weights {tile.name = "dw"}) {
  %br = tile.param BR in [8, 16, 32, 64, 128]
  %bc = tile.param BC in [32, 64, 128, 256]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tile.dim %parts[0] : !sums
  %length = tile.dim %parts[1] : !sums
  tile.require %dw[0] equal %length, "the length of the rows of parts" : !weights
  %column_blocks = arith.ceildivui %length, %bc : index
  tile.grid %column_blocks, %c1, %c1
  %block = tile.program_id x
  %column = arith.muli %block, %bc : index

  tile.wait_prerequisites
  // Rows after the last one are read as zero.
  %f0 = arith.constant 0.0 : f32
  %zeros = tensor.splat %f0[%br, %bc] : !part
  %sums = scf.for %n = %c0 to %count step %br iter_args(%acc = %zeros) -> (!part) {
    %t = tile.load %parts[%n, %column] : !sums -> !part
    %next = arith.addf %acc, %t : !part
    scf.yield %next : !part
  }
  %sum = tile.reduce addf %sums along 0 : !part -> !sum
  %sum16 = arith.truncf %sum : !sum to !sum16
  tile.store %sum16, %dw[%column] : !sum16, !weights
}
