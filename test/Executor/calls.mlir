// A kernel calls functions in a loop. The executor keeps the places of their sources.
// RUN: tile-run %s --chip=sm_80 --arg=random:64:f32:1 --arg=zeros:64:f32 --arg=zeros:64:f32 --out=y=%t.npy
// RUN: tile-run %s --chip=gfx1100 --arg=random:64:f32:1 --arg=zeros:64:f32 --arg=zeros:64:f32 --expect=y=%t.npy --expect=z=%t.npy

!x = !tile.buffer<64xf32, #tile.strided<[1], align = 16>, global>

func.func private @read(%x: !x) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !x -> tensor<64xf32>
  return %t : tensor<64xf32>
}
func.func private @add(%sum: tensor<64xf32>, %x: !x) -> tensor<64xf32> {
  %t = func.call @read(%x) : (!x) -> tensor<64xf32>
  %s = arith.addf %sum, %t : tensor<64xf32>
  return %s : tensor<64xf32>
}

tile.kernel @calls(%x: !x, %y: !x, %z: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> tensor<64xf32> {
    %next = func.call @add(%s, %x) : (tensor<64xf32>, !x) -> tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  tile.store %sum, %y[%c0] : tensor<64xf32>, !x
  // The same without calls.
  %t = tile.load %x[%c0] : !x -> tensor<64xf32>
  %two = arith.addf %t, %t : tensor<64xf32>
  %three = arith.addf %two, %t : tensor<64xf32>
  tile.store %three, %z[%c0] : tensor<64xf32>, !x
}
