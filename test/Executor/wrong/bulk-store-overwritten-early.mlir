// The tile is overwritten while TMA may still read it.
//
// RUN: not tile-run %s --chip=sm_90a --arg=random:100x64:f16:1 --arg=zeros:100x64:f16 2>&1 | FileCheck %s
// RUN: sed -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_90a --arg=random:100x64:f16:1 --arg=zeros:100x64:f16

// CHECK: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: race: writes byte {{[0-9]+}} of shared memory, which TMA for threads {{[0-9]+}}-{{[0-9]+}} reads with nothing to order the two
// CHECK: TMA for threads {{[0-9]+}}-{{[0-9]+}} reads it here, until it has been waited for

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

tile.kernel @k(%a: !k, %b: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %a[0] : !k
  tile.grid %c1, %c1, %c1
  %t = tile.alloc {offset = 0} : !tile
  scf.for %i = %c0 to %n step %c64 {
    %v = tile.load %a[%i, %c0] : !k -> tensor<64x64xf16, #mma>
    // RIGHT: tile.bulk_wait 0 read
    tile.store %v, %t[%c0, %c0] : tensor<64x64xf16, #mma>, !tile
    tile.fence_async
    tile.bulk_store %t, %b[%i, %c0] dims [0, 1] parts [4, 1] : !tile, !k
  }
  tile.bulk_wait 0
}
