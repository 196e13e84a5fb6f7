// TMA adds data that threads have written without a fence.proxy.async.
//
// RUN: not tile-run %s --chip=sm_90a --arg=random:128x64:f32:1 --arg=zeros:128x64:f32 2>&1 | FileCheck %s
// RUN: sed -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_90a --arg=random:128x64:f32:1 --arg=zeros:128x64:f32

// CHECK: error: kernel 'k', block (0, 0, 0), thread 128: reads byte 0 of shared memory through the async proxy, with no fence.proxy.async since thread {{[0-9]+}} wrote it

!c = !tile.buffer<128x64xf32, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf32, #tile.padded<0, order = [1, 0]>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#rows = #tile.blocked<thread = [1, 4], lane = [4, 8], warp = [4, 1], order = [1, 0]>

tile.kernel @k(%a: !c, %c: !c) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  tile.init_barriers %full, 4 : !bars
  tile.init_barriers %empty, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [4, 1] {
    %p = scf.for %i = %c0 to %c128 step %c64 iter_args(%phase = %c1) -> index {
      %v = tile.load %a[%i, %c0] : !c -> tensor<64x64xf32, #rows>
      tile.wait_barrier %empty[%c0] phase %phase : !bars
      tile.store %v, %t[%c0, %c0] : tensor<64x64xf32, #rows>, !tile
      // RIGHT: tile.fence_async
      tile.arrive_barrier %full[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }, {
    %p = scf.for %i = %c0 to %c128 step %c64 iter_args(%phase = %c0) -> index {
      tile.wait_barrier %full[%c0] phase %phase : !bars
      tile.bulk_add %t, %c[%i, %c0] : !tile, !c
      tile.bulk_wait 0 read
      tile.arrive_barrier %empty[%c0] : !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }
}
