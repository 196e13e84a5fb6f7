// Blocks that share the iterations of a loop whose result is stored transposed. They divide
// the columns of the result behind the loop: those of a row of the bias, of the coordinates
// and of the sums of the columns.
//
// DEFINE: %{chip} =
// DEFINE: %{arguments} = --arg=random:200x136:f16:1 --arg=random:136x64:f16:2 --arg=nan:64x200:f32 --arg=random:200:f32:4 --arg=nan:200:f32
// DEFINE: %{run} = tile-run %s --chip=%{chip} %{arguments}
// DEFINE: %{expect} = --expect=c=%t.c.npy --expect=most=%t.most.npy --atol=1e-4
// DEFINE: %{check} = %{run} --out=c=%t.c.npy --out=most=%t.most.npy \
// DEFINE:   && %{run} --schedule='split = 3' --arg=nan:6x128x64:f32 %{expect}
// REDEFINE: %{chip} = sm_80
// RUN: %{check}
// REDEFINE: %{chip} = gfx942
// RUN: %{check}
// REDEFINE: %{chip} = gfx1201
// RUN: %{check}
// REDEFINE: %{chip} = sm_90a
// RUN: %{check} && %{run} --schedule='cluster_split = 2' %{expect} && %{run} --schedule='cluster_split = 8' %{expect}
// REDEFINE: %{chip} = sm_100a
// RUN: %{check} && %{run} --schedule='cluster_split = 4' %{expect}

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!acc = tensor<128x64xf32>
!result = tensor<64x128xf32>

tile.kernel @transposed(%a: !m, %b: !m, %c: !c, %bias: !v, %most: !v) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %k = tile.dim %a[1] : !m
  %n = tile.dim %a[0] : !m
  %columns = arith.ceildivui %n, %c128 : index
  tile.grid %columns, %c1, %c1
  %x = tile.program_id x
  %column = arith.muli %x, %c128 : index
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %a[%column, %i] : !m -> tensor<128x32xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<32x64xf16>
    %next = tile.dot %at, %bt, %acc : tensor<128x32xf16>, tensor<32x64xf16> -> !acc
    scf.yield %next : !acc
  }
  %turned = tile.transpose %sum [1, 0] : !acc -> !result
  %line = tile.load %bias[%column] : !v -> tensor<128xf32>
  %each = tile.broadcast %line along 0 : tensor<128xf32> -> !result
  %biased = arith.addf %turned, %each : !result
  %largest = tile.reduce maximumf %biased along 0 : !result -> tensor<128xf32>
  tile.store %largest, %most[%column] : tensor<128xf32>, !v
  %spread = tile.broadcast %largest along 0 : tensor<128xf32> -> !result
  %less = arith.subf %biased, %spread : !result
  %lines = tile.iota along 0 : tensor<64x128xi32>
  %places = tile.iota along 1 : tensor<64x128xi32>
  %below = arith.cmpi sle, %places, %lines : tensor<64x128xi32>
  %selected = arith.select %below, %less, %biased : tensor<64x128xi1>, !result
  tile.store %selected, %c[%c0, %column] : !result, !c
}
