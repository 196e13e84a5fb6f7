// Rows of any length, by wide accesses: y = x * x, in parts of 256 columns.
// test/Integration/operations.py compares the results, also with other layouts.
// RUN: tile-run %s --chip=sm_80 --arg=random:5x520:bf16:1 --arg=nan:5x520:bf16 --out=%t.npy
// RUN: tile-run %s --chip=gfx1201 --arg=random:5x520:bf16:1 --arg=nan:5x520:bf16 --expect=%t.npy

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = tensor<4x256xbf16>
!wide = tensor<4x256xf32>

tile.kernel @square(%x: !rows, %y: !rows) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  %count = tile.dim %x[0] : !rows
  %columns = tile.dim %x[1] : !rows
  %blocks = arith.ceildivui %count, %c4 : index
  tile.grid %blocks, %c1, %c1
  tile.require %y[0] equal %count, "the rows of x" : !rows
  tile.require %y[1] equal %columns, "the columns of x" : !rows
  %block = tile.program_id x
  %row = arith.muli %block, %c4 : index
  scf.for %column = %c0 to %columns step %c256 {
    %t = tile.load %x[%row, %column] : !rows -> !tile
    %a = arith.extf %t : !tile to !wide
    %b = arith.mulf %a, %a : !wide
    %r = arith.truncf %b : !wide to !tile
    tile.store %r, %y[%row, %column] : !tile, !rows
  }
}
