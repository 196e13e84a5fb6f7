// f16 values work on hosts without instructions for f16. The host computes a
// fused multiply-add of f16 in f64 and rounds once: 1 + 2^-11 + 2^-40 is nearer
// to 1 + 2^-10 than to 1, although the nearest float lies in the middle, and ties
// go to 1.

// RUN: %python %S/Inputs/narrow.py 10 %t.x.npy %t.y.npy
// RUN: tile-run %s --chip=sm_80 --arg=%t.x.npy --arg=zeros:8:f32 --expect=%t.y.npy --rtol=0 --atol=0

!x = !tile.buffer<8xf64, #tile.strided<[1]>, global>
!y = !tile.buffer<8xf32, #tile.strided<[1]>, global>
tile.kernel @round(%x: !x, %y: !y) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ones = arith.constant dense<1.0> : tensor<8xf16>
  %zeros = arith.constant dense<-0.0> : tensor<8xf16>
  %wide = tile.load %x[%c0] : !x -> tensor<8xf64>
  %narrow = arith.truncf %wide : tensor<8xf64> to tensor<8xf16>
  %same = math.fma %narrow, %ones, %zeros : tensor<8xf16>
  %y1 = arith.extf %same : tensor<8xf16> to tensor<8xf32>
  tile.store %y1, %y[%c0] : tensor<8xf32>, !y
}
