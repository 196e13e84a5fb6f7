// TMA overwrites a stage that a consumer has not released.
//
// RUN: not tile-run %s --chip=sm_90a --arg=random:128x64:f16:1 --arg=zeros:128x64:f16 2>&1 | FileCheck %s
// RUN: sed -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_90a --arg=random:128x64:f16:1 --arg=zeros:128x64:f16

// CHECK: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: race: copies to byte 0 of shared memory, which TMA writes with nothing to order the two

!k = !tile.buffer<128x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

tile.kernel @k(%a: !k, %b: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  %empty = tile.alloc : !bars
  tile.init_barriers %full, 1 : !bars
  tile.init_barriers %empty, 4 : !bars
  tile.barrier
  tile.warp_roles warps = [4, 4] registers = [128, 40] {
    %p = scf.for %i = %c0 to %c128 step %c64 iter_args(%phase = %c0) -> index {
      tile.wait_barrier %full[%c0] phase %phase : !bars
      %v = tile.load %t[%c0, %c0] : !tile -> tensor<64x64xf16, #rows>
      tile.arrive_barrier %empty[%c0] : !bars
      tile.store %v, %b[%i, %c0] : tensor<64x64xf16, #rows>, !k
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }, {
    %p = scf.for %i = %c0 to %c128 step %c64 iter_args(%phase = %c1) -> index {
      // RIGHT: tile.wait_barrier %empty[%c0] phase %phase : !bars
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %t, %full[%c0] : !k, !tile, !bars
      %next = arith.subi %c1, %phase : index
      scf.yield %next : index
    }
  }
}
