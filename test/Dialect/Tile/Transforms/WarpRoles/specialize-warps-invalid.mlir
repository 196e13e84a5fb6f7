// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-specialize-warps))'

// The error has the bytes that the rings take, and those of the chip.
!k = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// expected-error-re@below {{'tile.kernel' op has a schedule that does not fit: its rings take 26{{[0-9]+}} bytes of shared memory; sm_90a has 232448}}
tile.kernel @rings(%k: !k) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k[0] : !k
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32, #mma> {
    %ks = tile.alloc : !tile
    tile.copy %k[%i, %c0], %ks : !k, !tile
    %d = tile.dot %ks, %ks, %s : !tile, !tile -> tensor<64x64xf32, #mma>
    scf.yield %d : tensor<64x64xf32, #mma>
  } {tile.schedule = #tile.schedule<stages = 32>}
}

