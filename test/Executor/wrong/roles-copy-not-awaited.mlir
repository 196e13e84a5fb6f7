// A consumer reads a stage without waiting for the producer's TMA load.
//
// RUN: not tile-run %s --chip=sm_90a --arg=random:64x64:f16:1 --arg=zeros:64x64:f16 2>&1 | FileCheck %s
// RUN: sed -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_90a --arg=random:64x64:f16:1 --arg=zeros:64x64:f16

// CHECK: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: reads byte {{[0-9]+}} of shared memory, which no thread has written

!k = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

tile.kernel @k(%a: !k, %b: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  tile.init_barriers %full, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [4, 1] {
    // RIGHT: tile.wait_barrier %full[%c0] phase %c0 : !bars
    %v = tile.load %t[%c0, %c0] : !tile -> tensor<64x64xf16, #rows>
    tile.store %v, %b[%c0, %c0] : tensor<64x64xf16, #rows>, !k
  }, {
    tile.bulk_copy %a[%c0, %c0] dims [0, 1], %t, %full[%c0] : !k, !tile, !bars
  }
}
