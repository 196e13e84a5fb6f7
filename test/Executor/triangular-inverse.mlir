// The inverse of a unit triangular matrix; test/Integration/operations.py runs it.
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s -o /dev/null

!matrix = !tile.buffer<64x64xf32, #tile.strided<[?, 1]>, global>
!square = tensor<64x64xf32>

tile.kernel @inverse(%a: !matrix, %result: !matrix) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !matrix -> !square
  %inverse = tile.unit_triangular_inverse %t : !square
  tile.store %inverse, %result[%c0, %c0] : !square, !matrix
}
