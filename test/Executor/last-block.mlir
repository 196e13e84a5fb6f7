// The block that arrives last at the counter of a row adds what all of them have written:
// the addition releases what all threads of a block have stored, and acquires what those
// of the other blocks have. The counters are zero again afterwards.
//
// DEFINE: %{chip} =
// DEFINE: %{run} = tile-run %s --chip=%{chip} --arg=random:5x3000:f32:1 --arg=counters=zeros:5:i32
// DEFINE: %{check} = %{run} --arg=o=nan:5x256:f32 --arg=parts=nan:5x1x256:f32 --out=counters=%t.n.npy --out=o=%t.o.npy && %{run} --arg=o=zeros:5x256:f32 --arg=parts=nan:5x7x256:f32 --expect=counters=%t.n.npy --expect=o=%t.o.npy --atol=1e-4
// REDEFINE: %{chip} = sm_80
// RUN: %{check}
// REDEFINE: %{chip} = sm_90a
// RUN: %{check}
// REDEFINE: %{chip} = gfx942
// RUN: %{check}
// REDEFINE: %{chip} = gfx1100
// RUN: %{check}
// REDEFINE: %{chip} = gfx1201
// RUN: %{check}

!x = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!parts = !tile.buffer<?x?x256xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!rp = !tile.buffer<?x256xf32, #tile.strided<[?:8, 1], align = 16>, global>
!result = !tile.buffer<?x256xf32, #tile.strided<[?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!columns = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!row = !tile.buffer<256xf32, #tile.strided<[1], align = 16>, global>
tile.kernel @sums(%x: !x, %parts: !parts {tile.name = "parts"}, %counters: !n {tile.name = "counters"}, %o: !result {tile.name = "o"}) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %rows = tile.dim %x[0] : !x
  %cols = tile.dim %x[1] : !x
  %p = tile.dim %parts[1] : !parts
  tile.grid %rows, %p, %c1
  %row = tile.program_id x
  %part = tile.program_id y
  %blocks = arith.ceildivui %cols, %c256 : index
  %each = arith.ceildivui %blocks, %p : index
  %size = arith.muli %each, %c256 : index
  %begin = arith.muli %part, %size : index
  %end0 = arith.addi %begin, %size : index
  %end = arith.minsi %end0, %cols : index
  %xr = tile.slice %x[%row, *] : !x to !columns
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %sum = scf.for %i = %begin to %end step %c256 iter_args(%acc = %zero) -> (tensor<256xf32>) {
    %t = tile.load %xr[%i] : !columns -> tensor<256xf32>
    %s = arith.addf %acc, %t : tensor<256xf32>
    scf.yield %s : tensor<256xf32>
  }
  %pr = tile.slice %parts[%row, *, *] : !parts to !rp
  %mine = tile.slice %pr[%part, *] : !rp to !row
  tile.store %sum, %mine[%c0] : tensor<256xf32>, !row
  %counter = tile.narrow %counters[0] from %row length %c1 : !n to !n
  %ones = arith.constant dense<1> : tensor<1024xi32>
  %old = tile.atomic_rmw addi %ones, %counter[%c0] order(acq_rel) : tensor<1024xi32>, !n -> tensor<1024xi32>
  %old1 = tile.reshape %old : tensor<1024xi32> -> tensor<1x1024xi32>
  %arrived1 = tile.reduce addi %old1 along 1 : tensor<1x1024xi32> -> tensor<1xi32>
  %arrived = tensor.extract %arrived1[%c0] : tensor<1xi32>
  %p32 = arith.index_cast %p : index to i32
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %last = arith.subi %p32, %c1_i32 : i32
  %isLast = arith.cmpi eq, %arrived, %last : i32
  scf.if %isLast {
    %result = scf.for %i = %c0 to %p step %c1 iter_args(%acc = %zero) -> (tensor<256xf32>) {
      %from = tile.slice %pr[%i, *] : !rp to !row
      %t = tile.load %from[%c0] : !row -> tensor<256xf32>
      %s = arith.addf %acc, %t : tensor<256xf32>
      scf.yield %s : tensor<256xf32>
    }
    %to = tile.slice %o[%row, *] : !result to !row
    tile.store %result, %to[%c0] : tensor<256xf32>, !row
    %none = tensor.splat %c0_i32 : tensor<1xi32>
    tile.store %none, %counter[%c0] : tensor<1xi32>, !n
  }
}
