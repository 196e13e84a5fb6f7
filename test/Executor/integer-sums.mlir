// The accumulator of a product of i8 may be any number, also one with the bits by which the
// executor marks registers of products in flight.
// RUN: tile-run %s --chip=sm_90a --arg=2145386497 --arg=zeros:64x32:i32 --out=y=%t.npy
// RUN: tile-run %s --chip=sm_80 --arg=2145386497 --arg=zeros:64x32:i32 --expect=y=%t.npy

!out = !tile.buffer<64x32xi32, #tile.strided<[32, 1], align = 16>, global>

tile.kernel @sums(%start: i32, %y: !out {tile.name = "y"}) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<1> : tensor<64x32xi8>
  %b = arith.constant dense<1> : tensor<32x32xi8>
  %bt = tile.transpose %b [1, 0] : tensor<32x32xi8> -> tensor<32x32xi8>
  %acc = tensor.splat %start : tensor<64x32xi32>
  %d = tile.dot %a, %bt, %acc : tensor<64x32xi8>, tensor<32x32xi8> -> tensor<64x32xi32>
  tile.store %d, %y[%c0, %c0] : tensor<64x32xi32>, !out
}
