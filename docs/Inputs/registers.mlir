!b = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!o = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
tile.kernel @sums(%x: !b, %y: !o) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !b -> tensor<128x128xf32>
  %u = math.exp2 %t : tensor<128x128xf32>
  %s = tile.reduce addf %u along 1 : tensor<128x128xf32> -> tensor<128xf32>
  tile.store %s, %y[%c0] : tensor<128xf32>, !o
}
