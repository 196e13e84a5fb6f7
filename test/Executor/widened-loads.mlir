// LLVM widens loads of two elements to four where the memory behind them may
// be read: here padding that no thread writes. The executor counts the elements
// that the program loads.

// RUN: for chip in sm_80 sm_89 sm_90a gfx942 gfx950 gfx1100 gfx1201; do \
// RUN:   tile-run %s --chip=$chip --arg=zeros:3x2:f32 --out=out=%t.npy \
// RUN:   && %python -c "import sys, struct; assert struct.unpack('<6f', open(sys.argv[1], 'rb').read()[-24:]) == (128,) * 6" %t.npy || exit 1; done

!out = !tile.buffer<3x2xf32, #tile.strided<[2, 1]>, global>
tile.kernel @reduce(%out: !out {tile.name = "out"}) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ones = arith.constant dense<1.0> : tensor<3x128xf32>
  %sum = tile.reduce addf %ones along 1 : tensor<3x128xf32> -> tensor<3xf32>
  %both = tile.broadcast %sum along 1 : tensor<3xf32> -> tensor<3x2xf32>
  tile.store %both, %out[%c0, %c0] : tensor<3x2xf32>, !out
}
