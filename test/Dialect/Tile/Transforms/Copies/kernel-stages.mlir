// The stages of a kernel's schedule are those of the loops without a schedule of their
// own. The pass that carries them out removes them.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-specialize-warps,tile-pipeline))' \
// RUN:   | FileCheck %s

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!t = tensor<64x64xf16, #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>

// CHECK-LABEL: tile.kernel @pipelined
// CHECK-SAME: {num_warps = 4 : i32} {
// CHECK: tile.alloc : !tile.buffer<4x64x64xf16
// CHECK: tile.alloc : !tile.buffer<3x64x64xf16
tile.kernel @pipelined(%g: !g, %n: index, %out: !g) attributes {num_warps = 4 : i32, schedule = #tile.schedule<stages = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
    %x = tile.load %a[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
  }
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
    %x = tile.load %a[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
  } {tile.schedule = #tile.schedule<stages = 3>}
}

// CHECK-LABEL: tile.kernel @roles
// CHECK-SAME: {num_warps = 4 : i32} {
// CHECK: tile.alloc : !tile.buffer<5x64x64xf16
// CHECK: tile.warp_roles warps = [4, 4]
tile.kernel @roles(%k: !g) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4, stages = 5>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k[0] : !g
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32, #mma> {
    %ks = tile.alloc : !s
    tile.copy %k[%i, %c0], %ks : !g, !s
    %d = tile.dot %ks, %ks, %s : !s, !s -> tensor<64x64xf32, #mma>
    scf.yield %d : tensor<64x64xf32, #mma>
  }
}
