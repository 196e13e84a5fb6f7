// Blocks that share the iterations of a loop: products of a batch, each added to what
// the result holds, and the sums of the columns of b in parts of 32 rows. The grid has
// three dimensions, the loop begins above zero, and some parts have no iteration.
//
// DEFINE: %{chip} =
// DEFINE: %{arguments} = --arg=random:3x70x200:f16:1 --arg=random:3x200x40:f16:2 --arg=random:3x70x40:f32:3 --arg=zeros:3x3x32x64:f32
// DEFINE: %{run} = tile-run %s --chip=%{chip} %{arguments}
// DEFINE: %{check} = %{run} --out=c=%t.c.npy --out=sums=%t.sums.npy \
// DEFINE:   && %{run} --schedule='split = 2' --arg=zeros:18x32x64:f32 --arg=zeros:18x32x64:f32 --expect=c=%t.c.npy --expect=sums=%t.sums.npy --atol=1e-4 \
// DEFINE:   && %{run} --schedule='split = 5' --arg=zeros:45x32x64:f32 --arg=zeros:45x32x64:f32 --expect=c=%t.c.npy --expect=sums=%t.sums.npy --atol=1e-4
// REDEFINE: %{chip} = sm_80
// RUN: %{check}
// REDEFINE: %{chip} = sm_90a
// RUN: %{check}
// REDEFINE: %{chip} = gfx942
// RUN: %{check}
// REDEFINE: %{chip} = gfx1201
// RUN: %{check}

!operand = !tile.buffer<?x?x?xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!result = !tile.buffer<?x?x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!sums = !tile.buffer<?x?x32x64xf32, #tile.strided<[?:4, 2048, 64, 1], align = 16>, global>
!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<32x64xf32>

tile.kernel @products(%a: !operand, %b: !operand, %c: !result, %sums: !sums) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %batch = tile.dim %a[0] : !operand
  %rows = tile.dim %a[1] : !operand
  %k = tile.dim %a[2] : !operand
  %columns = tile.dim %b[2] : !operand
  %x = arith.ceildivui %rows, %c32 : index
  %y = arith.ceildivui %columns, %c64 : index
  tile.grid %x, %y, %batch
  %i = tile.program_id x
  %j = tile.program_id y
  %l = tile.program_id z
  %row = arith.muli %i, %c32 : index
  %column = arith.muli %j, %c64 : index
  %am = tile.slice %a[%l, *, *] : !operand
  %bm = tile.slice %b[%l, *, *] : !operand
  %cm = tile.slice %c[%l, *, *] : !result
  %first = tile.load %cm[%row, %column] : !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global> -> !acc
  %zero = arith.constant dense<0.0> : !acc
  %r:2 = scf.for %n = %c32 to %k step %c32 iter_args(%acc = %first, %sum = %zero) -> (!acc, !acc) {
    %at = tile.load %am[%row, %n] : !m -> tensor<32x32xf16>
    %bt = tile.load %bm[%n, %column] : !m -> tensor<32x64xf16>
    %wide = arith.extf %bt : tensor<32x64xf16> to !acc
    %next = arith.addf %wide, %sum : !acc
    %d = tile.dot %at, %bt, %acc : tensor<32x32xf16>, tensor<32x64xf16> -> !acc
    scf.yield %d, %next : !acc, !acc
  }
  %half = arith.constant dense<0.5> : !acc
  %scaled = arith.mulf %r#0, %half : !acc
  tile.store %scaled, %cm[%row, %column] : !acc, !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
  %place = tile.slice %sums[%l, %i, *, *] : !sums
  tile.store %r#1, %place[%c0, %c0] : !acc, !tile.buffer<32x64xf32, #tile.strided<[64, 1], align = 16>, global>
}
