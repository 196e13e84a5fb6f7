// bf16 values work on hosts without instructions for bf16. Doubles are rounded
// once: 1 + 2^-8 + 2^-40 is nearer to 1 + 2^-7 than to 1, although the nearest
// float lies in the middle, and ties go to 1.

// RUN: %python %S/Inputs/narrow.py 7 %t.x.npy %t.y.npy
// RUN: tile-run %s --chip=sm_80 --arg=%t.x.npy --arg=zeros:8:f32 --expect=%t.y.npy --rtol=0 --atol=0

!x = !tile.buffer<8xf64, #tile.strided<[1]>, global>
!y = !tile.buffer<8xf32, #tile.strided<[1]>, global>
tile.kernel @round(%x: !x, %y: !y) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %wide = tile.load %x[%c0] : !x -> tensor<8xf64>
  %narrow = arith.truncf %wide : tensor<8xf64> to tensor<8xbf16>
  %y1 = arith.extf %narrow : tensor<8xbf16> to tensor<8xf32>
  tile.store %y1, %y[%c0] : tensor<8xf32>, !y
}
