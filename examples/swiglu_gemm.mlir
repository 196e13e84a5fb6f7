// The gated matrix product C = silu(A * Wg) * (A * Wu) in bf16, with sums in f32, as in
// the first half of a transformer's SwiGLU layer: silu(x) = x / (1 + exp(-x)). The
// extents of the tiles are open, as in gemm.mlir.
//
//   tile-translate --tile-to-ptx --chip=sm_90a swiglu_gemm.mlir -o swiglu.ptx
//
// A block computes the same tile of both products, so that A is read once and neither
// product goes to memory.

!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<?x?xf32, #tile.open<BM, BN>>

tile.kernel @swiglu_gemm(%a: !matrix, %wg: !matrix, %wu: !matrix, %c: !matrix) {
  %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
  %bn = tile.param BN in [32, 64, 96, 128, 192, 256]
  %bk = tile.param BK in [32, 64, 128]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index

  // A is M x K, Wg and Wu are K x N, C is M x N.
  %m = tile.dim %a[0] : !matrix
  %k = tile.dim %a[1] : !matrix
  %n = tile.dim %wg[1] : !matrix
  tile.require %wg[0] equal %k, "the columns of a" : !matrix
  tile.require %wu[0] equal %k, "the columns of a" : !matrix
  tile.require %wu[1] equal %n, "the columns of wg" : !matrix
  tile.require %c[0] equal %m, "the rows of a" : !matrix
  tile.require %c[1] equal %n, "the columns of wg" : !matrix
  %row_blocks = arith.ceildivui %m, %bm : index
  %column_blocks = arith.ceildivui %n, %bn : index
  tile.grid %row_blocks, %column_blocks, %c1

  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %bm : index
  %column = arith.muli %y, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bn] : !acc
  %sums:2 = scf.for %i = %c0 to %k step %bk
      iter_args(%gate_acc = %zero, %up_acc = %zero) -> (!acc, !acc) {
    %at = tile.load %a[%row, %i] : !matrix -> tensor<?x?xbf16, #tile.open<BM, BK>>
    %gt = tile.load %wg[%i, %column] : !matrix -> tensor<?x?xbf16, #tile.open<BK, BN>>
    %ut = tile.load %wu[%i, %column] : !matrix -> tensor<?x?xbf16, #tile.open<BK, BN>>
    %gate = tile.dot %at, %gt, %gate_acc : tensor<?x?xbf16, #tile.open<BM, BK>>,
                                           tensor<?x?xbf16, #tile.open<BK, BN>> -> !acc
    %up = tile.dot %at, %ut, %up_acc : tensor<?x?xbf16, #tile.open<BM, BK>>,
                                       tensor<?x?xbf16, #tile.open<BK, BN>> -> !acc
    scf.yield %gate, %up : !acc, !acc
  }

  // exp(-x) equals exp2(-x * log2(e)).
  %f1 = arith.constant 1.0 : f32
  %minus_log2e_1 = arith.constant -1.44269504 : f32
  %ones = tensor.splat %f1[%bm, %bn] : !acc
  %minus_log2e = tensor.splat %minus_log2e_1[%bm, %bn] : !acc
  %scaled = arith.mulf %sums#0, %minus_log2e : !acc
  %e = math.exp2 %scaled : !acc
  %divisor = arith.addf %e, %ones : !acc
  %silu = arith.divf %sums#0, %divisor : !acc
  %result = arith.mulf %silu, %sums#1 : !acc
  %rounded = arith.truncf %result : !acc to tensor<?x?xbf16, #tile.open<BM, BN>>
  tile.store %rounded, %c[%row, %column] : tensor<?x?xbf16, #tile.open<BM, BN>>, !matrix
}
