// Adds the product of two tiles to dq. docs/tutorials/width.md explains the width of the
// additions.

!h = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!dq = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>

tile.kernel @add(%a: !h, %b: !h, %dq: !dq) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %rows = tile.dim %a[0] : !h
  %blocks = arith.ceildivui %rows, %c32 : index
  tile.grid %blocks, %c1, %c1
  %block = tile.program_id x
  %row = arith.muli %block, %c32 : index
  %at = tile.load %a[%row, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %dq[%row, %c0] : tensor<32x64xf32>, !dq
}
