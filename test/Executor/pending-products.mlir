// A loop carries a product in flight over its back edge: the product of one
// iteration runs while the next tiles are taken, and its slots are released one
// iteration later. The result is that of awaited products.
//
// RUN: tile-run %s --chip=sm_90a --arg=random:64x256:f16:1 --arg=random:256x64:f16:2 --arg=nan:64x64:f32 --out=%t.npy
// RUN: sed -e '/\/\/ CARRIED$/d' -e 's,// AWAITED: ,,' %s \
// RUN:   | tile-run - --chip=sm_90a --arg=random:64x256:f16:1 --arg=random:256x64:f16:2 --arg=nan:64x64:f32 --expect=%t.npy
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %s -o - | FileCheck %s

// The first product is in flight when the loop starts. In the loop, the wait for
// the product before leaves the new one in flight; only the last wait leaves none.
// CHECK: wgmma.mma_async
// CHECK: wgmma.commit_group
// CHECK-NOT: wgmma.wait_group
// CHECK: wgmma.mma_async
// CHECK: wgmma.commit_group
// CHECK-NOT: wgmma.
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK-NOT: wgmma.
// CHECK: wgmma.wait_group.sync.aligned 0

!a = !tile.buffer<64x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!c = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<3x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<3xi64, #tile.padded<0, order = [0]>, shared>
!ring = !tile.ring<!tile, 3>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

tile.kernel @k(%a: !a, %b: !b, %c: !c) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %b[0] : !b
  tile.grid %c1, %c1, %c1
  %as = tile.alloc : !storage
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %bs = tile.alloc : !storage
  %bf = tile.alloc : !bars
  %be = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !ring
  %rb = tile.ring.create %bs, %bf, %be : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %a0, %sa0 = tile.ring.take %ra : !ring
    %b0, %sb0 = tile.ring.take %rb : !ring
    %first = tile.dot async %a0, %b0, %zero : !tile, !tile -> !pending
    %last, %sa2, %sb2 = scf.for %i = %c64 to %n step %c64 iter_args(%p = %first, %sa = %sa0, %sb = %sb0) -> (!pending, !tile.slot, !tile.slot) { // CARRIED
    // AWAITED: %f = tile.await %first : !pending
    // AWAITED: tile.ring.release %sa0
    // AWAITED: tile.ring.release %sb0
    // AWAITED: %d = scf.for %i = %c64 to %n step %c64 iter_args(%s = %f) -> !acc {
      %a1, %sa1 = tile.ring.take %ra : !ring
      %b1, %sb1 = tile.ring.take %rb : !ring
      %q = tile.dot async %a1, %b1, %p : !tile, !tile, !pending -> !pending // CARRIED
      %done = tile.await %p : !pending // CARRIED
      tile.ring.release %sa // CARRIED
      tile.ring.release %sb // CARRIED
      scf.yield %q, %sa1, %sb1 : !pending, !tile.slot, !tile.slot // CARRIED
      // AWAITED: %q = tile.dot %a1, %b1, %s : !tile, !tile -> !acc
      // AWAITED: tile.ring.release %sa1
      // AWAITED: tile.ring.release %sb1
      // AWAITED: scf.yield %q : !acc
    }
    %d = tile.await %last : !pending // CARRIED
    tile.ring.release %sa2 // CARRIED
    tile.ring.release %sb2 // CARRIED
    tile.store %d, %c[%c0, %c0] : !acc, !c
  }, {
    scf.for %i = %c0 to %n step %c64 {
      %at, %sa = tile.ring.acquire %ra : !ring
      tile.bulk_copy %a[%c0, %i] dims [0, 1], %at fills %sa : !a, !tile
      %bt, %sb = tile.ring.acquire %rb : !ring
      tile.bulk_copy %b[%i, %c0] dims [0, 1], %bt fills %sb : !b, !tile
    }
  }
}
