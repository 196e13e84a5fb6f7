// Blocks that add the sums of a split reduction divide the rows of a tile: four of them
// for 64 x 128 elements, in each product of a batch. They do not if a row of the result
// needs another row of the argument, which another block may have written.
//
// DEFINE: %{chip} =
// DEFINE: %{source} =
// DEFINE: %{arguments} = --arg=random:3x70x200:f16:1 --arg=random:3x200x160:f16:2 --arg=random:3x80x160:f32:3
// DEFINE: %{run} = sed -e 's,// %{source}: ,,' %s | tile-run - --chip=%{chip} %{arguments}
// DEFINE: %{check} = %{run} --out=c=%t.npy && %{run} --schedule='split = 2' --arg=zeros:12x64x128:f32 --expect=c=%t.npy --atol=1e-4
// REDEFINE: %{chip} = sm_80
// REDEFINE: %{source} = SAME
// RUN: %{check}
// REDEFINE: %{source} = OTHER
// RUN: %{check}
// REDEFINE: %{chip} = gfx942
// RUN: %{check}

!operand = !tile.buffer<?x?x?xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!result = !tile.buffer<?x?x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!acc = tensor<64x128xf32>

tile.kernel @products(%a: !operand, %b: !operand, %c: !result) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %batch = tile.dim %a[0] : !operand
  %k = tile.dim %a[2] : !operand
  %columns = tile.dim %b[2] : !operand
  %y = arith.ceildivui %columns, %c128 : index
  tile.grid %c1, %y, %batch
  %j = tile.program_id y
  %l = tile.program_id z
  %column = arith.muli %j, %c128 : index
  %am = tile.slice %a[%l, *, *] : !operand
  %bm = tile.slice %b[%l, *, *] : !operand
  %cm = tile.slice %c[%l, *, *] : !result
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %n = %c0 to %k step %c32 iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %am[%c0, %n] : !m -> tensor<64x32xf16>
    %bt = tile.load %bm[%n, %column] : !m -> tensor<32x128xf16>
    %d = tile.dot %at, %bt, %acc : tensor<64x32xf16>, tensor<32x128xf16> -> !acc
    scf.yield %d : !acc
  }
  // SAME: %old = tile.load %cm[%c16, %column] : !c -> !acc
  // OTHER: %old = tile.load %cm[%c0, %column] : !c -> !acc
  %r = arith.addf %sum, %old : !acc
  tile.store %r, %cm[%c16, %column] : !acc, !c
}
