// The matrix product with bias and activation C = gelu(A * B + bias) in bf16, with sums in
// f32, as in the first half of a transformer's MLP. GELU in the form with tanh:
//
//   gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
//
// tile.matmul becomes the loop of gemm.mlir. Its region, the epilogue, computes a tile of C
// from a tile of sums. The extents BM and BN of these tiles are open.
//
//   tile-translate --tile-to-ptx --chip=sm_90a gelu_gemm.mlir -o gelu.ptx

!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!vector = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
!line16 = tensor<?xbf16, #tile.open<BN>>
!line = tensor<?xf32, #tile.open<BN>>
!result = tensor<?x?xbf16, #tile.open<BM, BN>>

// (1 + tanh(u)) / 2 equals 1 / (1 + exp2(-2 * log2(e) * u)), and
// -2 * log2(e) * u = x * (linear + cubic * x^2).
func.func private @gelu(%x: !sum, %bm: index, %bn: index) -> !sum {
  %f1 = arith.constant 1.0 : f32
  %linear_1 = arith.constant -2.30220820 : f32 // -2 * log2(e) * sqrt(2 / pi)
  %cubic_1 = arith.constant -0.102943240 : f32 // the same * 0.044715
  %ones = tensor.splat %f1[%bm, %bn] : !sum
  %linear = tensor.splat %linear_1[%bm, %bn] : !sum
  %cubic = tensor.splat %cubic_1[%bm, %bn] : !sum
  %square = arith.mulf %x, %x : !sum
  %factor = math.fma %square, %cubic, %linear : !sum
  %exponent = arith.mulf %x, %factor : !sum
  %e = math.exp2 %exponent : !sum
  %divisor = arith.addf %e, %ones : !sum
  %result = arith.divf %x, %divisor : !sum
  return %result : !sum
}

// A is M x K, B is K x N, the bias has N elements, C is M x N.
func.func @gelu_gemm(%a: !matrix, %b: !matrix, %bias: !vector, %c: !matrix) {
  tile.matmul %a, %b to %c : !matrix, !matrix, !matrix epilogue {
  ^bb0(%sum: !sum, %row: index, %column: index):
    %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
    %bn = tile.param BN in [32, 64, 96, 128, 192, 256]
    %bias16 = tile.load %bias[%column] : !vector -> !line16
    %bias32 = arith.extf %bias16 : !line16 to !line
    %bias_rows = tile.broadcast %bias32 along 0 : !line -> !sum
    %x = arith.addf %sum, %bias_rows : !sum
    %gelu = func.call @gelu(%x, %bm, %bn) : (!sum, index, index) -> !sum
    %rounded = arith.truncf %gelu : !sum to !result
    tile.yield %rounded : !result
  }
  return
}
