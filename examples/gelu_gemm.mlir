// The matrix product with bias and activation C = gelu(A * B + bias) in bf16, with sums in
// f32, as in the first half of a transformer's MLP. GELU in the form with tanh:
//
//   gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
//
// The extents of the tiles are open, as in gemm.mlir.
//
//   tile-translate --tile-to-ptx --chip=sm_90a gelu_gemm.mlir -o gelu.ptx

!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!vector = !tile.buffer<?xbf16, #tile.strided<[1], align = 16>, global>
!acc = tensor<?x?xf32, #tile.open<BM, BN>>
!line16 = tensor<?xbf16, #tile.open<BN>>
!line = tensor<?xf32, #tile.open<BN>>

tile.kernel @gelu_gemm(%a: !matrix, %b: !matrix, %bias: !vector, %c: !matrix) {
  %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
  %bn = tile.param BN in [32, 64, 96, 128, 192, 256]
  %bk = tile.param BK in [32, 64, 128]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index

  // A is M x K, B is K x N, the bias has N elements, C is M x N.
  %m = tile.dim %a[0] : !matrix
  %k = tile.dim %a[1] : !matrix
  %n = tile.dim %b[1] : !matrix
  tile.require %b[0] equal %k, "the columns of a" : !matrix
  tile.require %bias[0] equal %n, "the columns of b" : !vector
  tile.require %c[0] equal %m, "the rows of a" : !matrix
  tile.require %c[1] equal %n, "the columns of b" : !matrix
  %row_blocks = arith.ceildivui %m, %bm : index
  %column_blocks = arith.ceildivui %n, %bn : index
  tile.grid %row_blocks, %column_blocks, %c1

  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %bm : index
  %column = arith.muli %y, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bn] : !acc
  %sum = scf.for %i = %c0 to %k step %bk iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %a[%row, %i] : !matrix -> tensor<?x?xbf16, #tile.open<BM, BK>>
    %bt = tile.load %b[%i, %column] : !matrix -> tensor<?x?xbf16, #tile.open<BK, BN>>
    %next = tile.dot %at, %bt, %acc : tensor<?x?xbf16, #tile.open<BM, BK>>,
                                      tensor<?x?xbf16, #tile.open<BK, BN>> -> !acc
    scf.yield %next : !acc
  }
  %bias16 = tile.load %bias[%column] : !vector -> !line16
  %bias32 = arith.extf %bias16 : !line16 to !line
  %bias_rows = tile.broadcast %bias32 along 0 : !line -> !acc
  %v = arith.addf %sum, %bias_rows : !acc

  // (1 + tanh(u)) / 2 equals 1 / (1 + exp2(-2 * log2(e) * u)), and
  // -2 * log2(e) * u = v * (linear + cubic * v^2).
  %f1 = arith.constant 1.0 : f32
  %linear_1 = arith.constant -2.30220820 : f32 // -2 * log2(e) * sqrt(2 / pi)
  %cubic_1 = arith.constant -0.102943240 : f32 // the same * 0.044715
  %ones = tensor.splat %f1[%bm, %bn] : !acc
  %linear = tensor.splat %linear_1[%bm, %bn] : !acc
  %cubic = tensor.splat %cubic_1[%bm, %bn] : !acc
  %square = arith.mulf %v, %v : !acc
  %factor = math.fma %square, %cubic, %linear : !acc
  %exponent = arith.mulf %v, %factor : !acc
  %e = math.exp2 %exponent : !acc
  %divisor = arith.addf %e, %ones : !acc
  %gelu = arith.divf %v, %divisor : !acc
  %rounded = arith.truncf %gelu : !acc to tensor<?x?xbf16, #tile.open<BM, BN>>
  tile.store %rounded, %c[%row, %column] : tensor<?x?xbf16, #tile.open<BM, BN>>, !matrix
}
