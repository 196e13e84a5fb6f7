// A linear layer with GELU, y = gelu(x * w^T + bias), in bf16 with sums in f32, where
// gelu(z) = z / 2 * (1 + erf(z / sqrt(2))).
//
// tile.matmul becomes the loop of gemm.mlir. Its region computes a tile of y from a tile
// of sums. The extents BM and BN of these tiles are open.
//
//   tile-translate --tile-to-ptx --chip=sm_90a linear.mlir -o linear.ptx

!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!vector = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
!result = tensor<?x?xbf16, #tile.open<BM, BN>>

func.func private @gelu(%z: !sum, %bm: index, %bn: index) -> !sum {
  %half_1 = arith.constant 0.5 : f32
  %one_1 = arith.constant 1.0 : f32
  %root_half_1 = arith.constant 0.70710678 : f32
  %half = tensor.splat %half_1[%bm, %bn] : !sum
  %one = tensor.splat %one_1[%bm, %bn] : !sum
  %root_half = tensor.splat %root_half_1[%bm, %bn] : !sum
  %scaled = arith.mulf %z, %root_half : !sum
  %erf = math.erf %scaled : !sum
  %factor = arith.addf %erf, %one : !sum
  %half_z = arith.mulf %z, %half : !sum
  %gelu = arith.mulf %half_z, %factor : !sum
  return %gelu : !sum
}

func.func @linear(%x: !matrix, %w: !matrix, %bias: !vector, %y: !matrix) {
  // x is M x K, w is N x K, y is M x N.
  tile.matmul %x, %w to %y {transpose_b} : !matrix, !matrix, !matrix epilogue {
  ^bb0(%sum: !sum, %row: index, %column: index):
    %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
    %bn = tile.param BN in [32, 64, 96, 128, 192, 256]
    %b16 = tile.load %bias[%column] : !vector -> tensor<?xbf16, #tile.open<BN>>
    %b = arith.extf %b16 : tensor<?xbf16, #tile.open<BN>> to tensor<?xf32, #tile.open<BN>>
    %bs = tile.broadcast %b along 0 : tensor<?xf32, #tile.open<BN>> -> !sum
    %z = arith.addf %sum, %bs : !sum
    %gelu = func.call @gelu(%z, %bm, %bn) : (!sum, index, index) -> !sum
    %rounded = arith.truncf %gelu : !sum to !result
    tile.yield %rounded : !result
  }
  return
}
