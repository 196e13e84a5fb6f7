// LLVM merges a load of which a store masks all elements with the padding behind
// it, which no thread writes. The executor counts no byte of it.

// RUN: for chip in gfx942 gfx950; do \
// RUN:   tile-run %s --chip=$chip --arg=zeros:2x52:i32 --out=out=%t.npy \
// RUN:   && %python -c "import sys, struct; assert struct.unpack('<104i', open(sys.argv[1], 'rb').read()[-416:]) == (4,) * 104" %t.npy || exit 1; done

#rows = #tile.layout<register = [3 -> d1, 19 -> d1 * 3], lane = [64 -> 0], warp = [2 -> d0]>
!out = !tile.buffer<2x52xi32, #tile.strided<[52, 1]>, global>
tile.kernel @reduce(%out: !out {tile.name = "out"}) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %twos = arith.constant dense<2> : tensor<2x57xi32, #rows>
  %product = tile.reduce muli %twos along 0 : tensor<2x57xi32, #rows> -> tensor<57xi32, #tile.slice<0, #rows>>
  %both = tile.broadcast %product along 0 : tensor<57xi32, #tile.slice<0, #rows>> -> tensor<2x57xi32, #rows>
  tile.store %both, %out[%c0, %c0] : tensor<2x57xi32, #rows>, !out
}
