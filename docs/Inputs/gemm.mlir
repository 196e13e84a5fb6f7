// The matrix product C = A * B. A thread block computes 128 x 256 elements of C.
// docs/Dialects/Gemm.md follows this program through the stages of the compiler.

!matrix = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x256xf32>

tile.kernel @gemm(%a: !matrix, %b: !matrix, %c: !matrix) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index

  // A is M x K, B is K x N, C is M x N.
  %m = tile.dim %a[0] : !matrix
  %k = tile.dim %a[1] : !matrix
  %n = tile.dim %b[1] : !matrix
  %row_blocks = arith.ceildivui %m, %c128 : index
  %column_blocks = arith.ceildivui %n, %c256 : index
  tile.grid %row_blocks, %column_blocks, %c1
  tile.require %b[0] equal %k, "the columns of a" : !matrix
  tile.require %c[0] equal %m, "the rows of a" : !matrix
  tile.require %c[1] equal %n, "the columns of b" : !matrix

  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c256 : index
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %a[%row, %i] : !matrix -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %column] : !matrix -> tensor<64x256xf16>
    %next = tile.dot %at, %bt, %acc : tensor<128x64xf16>, tensor<64x256xf16> -> !acc
    scf.yield %next : !acc
  }
  %rounded = arith.truncf %sum : !acc to tensor<128x256xf16>
  tile.store %rounded, %c[%row, %column] : tensor<128x256xf16>, !matrix
}
