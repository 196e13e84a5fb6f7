// TMA stores and reductions of a range of rows write the same as threads:
// nothing before the start or after the end of the range.
//
// DEFINE: %{arguments} = --arg=random:193x64:f32:1 --arg=nan:193x64:f32 --arg=random:193x64:f32:2
// RUN: sed -e 's,// THREADS: ,,' %s | tile-run - --chip=sm_90a %{arguments} --out=%t.b.npy --out=%t.c.npy
// RUN: sed -e 's,// ENGINE: ,,' %s | tile-run - --chip=sm_90a %{arguments} --expect=%t.b.npy --expect=%t.c.npy

!k = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<128x64xf32, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>

tile.kernel @k(%a: !k, %b: !k, %c: !k) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %start = arith.constant 5 : index
  %length = arith.constant 131 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %u = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  tile.init_barriers %full, 8 : !bars
  tile.init_barriers %empty, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [8, 1] {
    %as = tile.narrow %a[0] from %start length %length : !k to !k
    %bs = tile.narrow %b[0] from %start length %length : !k to !k
    %cs = tile.narrow %c[0] from %start length %length : !k to !k
    %p = scf.for %i = %c0 to %length step %c128 iter_args(%phase = %c1) -> index {
      %v = tile.load %as[%i, %c0] : !k -> tensor<128x64xf32, #mma>
      // THREADS: tile.store %v, %bs[%i, %c0] : tensor<128x64xf32, #mma>, !k
      // THREADS: tile.atomic_rmw addf %v, %cs[%i, %c0] order(relaxed) scope(device) : tensor<128x64xf32, #mma>, !k
      // ENGINE: tile.bulk_wait 0 read
      // ENGINE: tile.store %v, %t[%c0, %c0] : tensor<128x64xf32, #mma>, !tile
      // ENGINE: tile.fence_async
      // ENGINE: tile.bulk_store %t, %b[%i, %c0] dims [0, 1] within %start, %length parts [8, 1] : !tile, !k
      // ENGINE: tile.wait_barrier %empty[%c0] phase %phase : !bars
      // ENGINE: tile.store %v, %u[%c0, %c0] : tensor<128x64xf32, #mma>, !tile
      // ENGINE: tile.fence_async
      // ENGINE: tile.arrive_barrier %full[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
    // ENGINE: tile.bulk_wait 0
  }, {
    %p = scf.for %i = %c0 to %length step %c128 iter_args(%phase = %c0) -> index {
      // ENGINE: tile.wait_barrier %full[%c0] phase %phase : !bars
      // ENGINE: tile.bulk_reduce add %u, %c[%i, %c0] dims [0, 1] within %start, %length : !tile, !k
      // ENGINE: tile.bulk_wait 0 read
      // ENGINE: tile.arrive_barrier %empty[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }
}
