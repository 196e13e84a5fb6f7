// TMA additions to addresses give the same as additions by threads: for all
// types, to rows and to a permuted layout, and only within the tensor.
//
// DEFINE: %{arguments} =
// DEFINE: %{type} =
// DEFINE: %{layout} =
// DEFINE: %{check} = sed -e 's,TYPE,%{type},; s,// %{layout}: ,,; s,// THREADS: ,,' %s | tile-run - --chip=sm_90a %{arguments} --out=%t.c.npy \
// DEFINE:   && sed -e 's,TYPE,%{type},; s,// %{layout}: ,,; s,// ENGINE: ,,' %s | tile-run - --chip=sm_90a %{arguments} --expect=%t.c.npy
//
// REDEFINE: %{type} = f16
// REDEFINE: %{layout} = ROWS
// REDEFINE: %{arguments} = --arg=random:100x64:f16:1 --arg=random:100x64:f16:2
// RUN: %{check}
// REDEFINE: %{type} = bf16
// REDEFINE: %{layout} = ROWS
// REDEFINE: %{arguments} = --arg=random:64x64:bf16:1 --arg=random:64x64:bf16:2
// RUN: %{check}
// REDEFINE: %{type} = f32
// REDEFINE: %{layout} = ROWS
// REDEFINE: %{arguments} = --arg=random:193x64:f32:1 --arg=random:193x64:f32:2
// RUN: %{check}
// REDEFINE: %{type} = f64
// REDEFINE: %{layout} = ROWS
// REDEFINE: %{arguments} = --arg=random:130x64:f64:1 --arg=random:130x64:f64:2
// RUN: %{check}
// REDEFINE: %{type} = f32
// REDEFINE: %{layout} = BLOCKS
// REDEFINE: %{arguments} = --arg=random:200x64:f32:1 --arg=random:200x64:f32:2
// RUN: %{check}

!k = !tile.buffer<?x64xTYPE, #tile.strided<[64, 1], align = 16>, global>
// ROWS: #sums = #tile.strided<[64, 1], align = 16>
// ROWS: #staged = #tile.padded<0, order = [1, 0]>
// BLOCKS: #sums = #tile.map<(i, j) -> (i floordiv 8, j floordiv 16, (i mod 8) * 16 + j mod 16), align = 16>
// BLOCKS: #staged = #sums
!c = !tile.buffer<?x64xTYPE, #sums, global>
!tile = !tile.buffer<128x64xTYPE, #staged, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>

tile.kernel @k(%a: !k, %c: !c) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %a[0] : !k
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  tile.init_barriers %full, 8 : !bars
  tile.init_barriers %empty, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [8, 1, 3] registers = [184, 56, 56] {
    %p = scf.for %i = %c0 to %n step %c128 iter_args(%phase = %c1) -> index {
      %v = tile.load %a[%i, %c0] : !k -> tensor<128x64xTYPE, #mma>
      // THREADS: tile.atomic_rmw addf %v, %c[%i, %c0] : tensor<128x64xTYPE, #mma>, !c
      // ENGINE: tile.wait_barrier %empty[%c0] phase %phase : !bars
      // ENGINE: tile.store %v, %t[%c0, %c0] : tensor<128x64xTYPE, #mma>, !tile
      // ENGINE: tile.fence_async
      // ENGINE: tile.arrive_barrier %full[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }, {
    %none = arith.constant 0 : i32
  }, {
    %p = scf.for %i = %c0 to %n step %c128 iter_args(%phase = %c0) -> index {
      // ENGINE: tile.wait_barrier %full[%c0] phase %phase : !bars
      // ENGINE: tile.bulk_add %t, %c[%i, %c0] : !tile, !c
      // ENGINE: tile.bulk_wait 0 read
      // ENGINE: tile.arrive_barrier %empty[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }
}
