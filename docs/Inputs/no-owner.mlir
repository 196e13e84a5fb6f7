// A lane holds a row. The second warp starts at row 16, so it repeats half of the
// rows of the first warp, and rows 48 to 63 have no owner.
#rows = #tile.layout<register = [8 -> d1], lane = [32 -> d0], warp = [2 -> d0 * 16]>
tile.kernel @k(%x: !tile.buffer<64x8xf32, #tile.strided<[8, 1]>, global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !tile.buffer<64x8xf32, #tile.strided<[8, 1]>, global> -> tensor<64x8xf32, #rows>
}
