// LLVM widens loads of one element to vectors of all elements of the tile, and
// computes with these before it takes the elements that the program loads. The
// padding of the rows, which no thread writes, is among the others.

// RUN: for chip in gfx942 gfx950; do \
// RUN:   tile-run %s --chip=$chip --arg=random:5x5:f32:1 --arg=nan:5:f32 --out=%t.npy || exit 1; done

!a = !tile.buffer<5x5xf32, #tile.strided<[5, 1]>, global>
!o = !tile.buffer<5xf32, #tile.strided<[1]>, global>
#rows = #tile.padded<8, order = [1, 0]>
#columns = #tile.layout<register = [5 -> d1, 5 -> d0], lane = [64 -> 0], warp = []>
#twice = #tile.slice<0, #tile.layout<register = [2 -> d0, 5 -> d2, 5 -> d1], lane = [64 -> 0], warp = []>>
#once = #tile.slice<0, #tile.layout<register = [5 -> d0, 5 -> d1, 5 -> d2], lane = [64 -> 0], warp = []>>
tile.kernel @sums(%a: !a, %o: !o) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %shared = tile.load %a[%c0, %c0] : !a -> tensor<5x5xf32, #rows>
  %x = tile.convert_layout %shared : tensor<5x5xf32, #rows> -> tensor<5x5xf32, #columns>
  %y = math.absf %x : tensor<5x5xf32, #columns>
  %z = tile.convert_layout %y : tensor<5x5xf32, #columns> -> tensor<5x5xf32, #twice>
  %again = tile.convert_layout %z : tensor<5x5xf32, #twice> -> tensor<5x5xf32, #rows>
  %w = tile.convert_layout %again : tensor<5x5xf32, #rows> -> tensor<5x5xf32, #once>
  %sums = tile.reduce addf %w along 1 : tensor<5x5xf32, #once> -> tensor<5xf32, #tile.slice<1, #once>>
  tile.store %sums, %o[%c0] : tensor<5xf32, #tile.slice<1, #once>>, !o
}
