// The matrix product C = A * B in bf16. The extents of the tiles are open: BM, BN
// and BK are parameters, and the compiler chooses their values and the number of warps.
//
//   tile-translate --tile-to-ptx --chip=sm_90a gemm.mlir -o gemm.ptx
//
// --sizes='a = 64x7168, b = 7168x2112' tells it for which problem, and
// --schedule='params = {BM = 128, BN = 256}' gives some of the values.

!matrix = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<?x?xf32, #tile.open<BM, BN>>

tile.kernel @gemm(%a: !matrix, %b: !matrix, %c: !matrix) {
  %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
  %bn = tile.param BN in [32, 64, 96, 128, 192, 256]
  %bk = tile.param BK in [32, 64, 128]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index

  // A is M x K, B is K x N, C is M x N.
  %m = tile.dim %a[0] : !matrix
  %k = tile.dim %a[1] : !matrix
  %n = tile.dim %b[1] : !matrix
  tile.require %b[0] equal %k, "the columns of a" : !matrix
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
  %rounded = arith.truncf %sum : !acc to tensor<?x?xbf16, #tile.open<BM, BN>>
  tile.store %rounded, %c[%row, %column] : tensor<?x?xbf16, #tile.open<BM, BN>>, !matrix
}
