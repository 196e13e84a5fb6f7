// TMA stores and reductions write the same as threads: for all types, by the
// warps of the first role and by one thread of another role, and only within
// the tensor.
//
// DEFINE: %{arguments} =
// DEFINE: %{type} =
// DEFINE: %{check} = sed -e 's,TYPE,%{type},; s,// THREADS: ,,' %s | tile-run - --chip=sm_90a %{arguments} --out=%t.b.npy --out=%t.c.npy \
// DEFINE:   && sed -e 's,TYPE,%{type},; s,// ENGINE: ,,' %s | tile-run - --chip=sm_90a %{arguments} --expect=%t.b.npy --expect=%t.c.npy
//
// REDEFINE: %{type} = f16
// REDEFINE: %{arguments} = --arg=random:100x64:f16:1 --arg=nan:100x64:f16 --arg=random:100x64:f16:2
// RUN: %{check}
// REDEFINE: %{type} = bf16
// REDEFINE: %{arguments} = --arg=random:64x64:bf16:1 --arg=nan:64x64:bf16 --arg=random:64x64:bf16:2
// RUN: %{check}
// REDEFINE: %{type} = f32
// REDEFINE: %{arguments} = --arg=random:193x64:f32:1 --arg=nan:193x64:f32 --arg=random:193x64:f32:2
// RUN: %{check}

!k = !tile.buffer<?x64xTYPE, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<128x64xTYPE, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>

tile.kernel @k(%a: !k, %b: !k, %c: !k) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %a[0] : !k
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %u = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  tile.init_barriers %full, 8 : !bars
  tile.init_barriers %empty, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [8, 1] {
    %p = scf.for %i = %c0 to %n step %c128 iter_args(%phase = %c1) -> index {
      %v = tile.load %a[%i, %c0] : !k -> tensor<128x64xTYPE, #mma>
      // THREADS: tile.store %v, %b[%i, %c0] : tensor<128x64xTYPE, #mma>, !k
      // THREADS: tile.atomic_rmw addf %v, %c[%i, %c0] order(relaxed) scope(device) : tensor<128x64xTYPE, #mma>, !k
      // ENGINE: tile.bulk_wait 0 read
      // ENGINE: tile.store %v, %t[%c0, %c0] : tensor<128x64xTYPE, #mma>, !tile
      // ENGINE: tile.fence_async
      // ENGINE: tile.bulk_store %t, %b[%i, %c0] dims [0, 1] parts [8, 1] cache(evict_first) : !tile, !k
      // ENGINE: tile.wait_barrier %empty[%c0] phase %phase : !bars
      // ENGINE: tile.store %v, %u[%c0, %c0] : tensor<128x64xTYPE, #mma>, !tile
      // ENGINE: tile.fence_async
      // ENGINE: tile.arrive_barrier %full[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
    // ENGINE: tile.bulk_wait 0
  }, {
    %p = scf.for %i = %c0 to %n step %c128 iter_args(%phase = %c0) -> index {
      // ENGINE: tile.wait_barrier %full[%c0] phase %phase : !bars
      // ENGINE: tile.bulk_reduce add %u, %c[%i, %c0] dims [0, 1] : !tile, !k
      // ENGINE: tile.bulk_wait 0 read
      // ENGINE: tile.arrive_barrier %empty[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }
}
