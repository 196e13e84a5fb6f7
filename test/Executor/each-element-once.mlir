// 256 threads copy 384 chunks of 16 bytes, so 128 of them copy two. Two threads
// with the same chunk would race and move more bytes than the tile has.
//
// DEFINE: %{arguments} = --arg=random:16x192:f16:1 --arg=nan:16x192:f16 --stats
// RUN: tile-run %s --chip=sm_80 %{arguments} --out=%t.sm_80.npy | FileCheck %s
// RUN: tile-run %s --chip=gfx1100 %{arguments} --expect=%t.sm_80.npy | FileCheck %s
// RUN: tile-run %s --chip=gfx942 %{arguments} --expect=%t.sm_80.npy | FileCheck %s

// CHECK: bytes read from global memory 6144
// CHECK-NEXT: bytes written to global memory 6144
// CHECK-NEXT: bytes read from shared memory
// CHECK-NEXT: bytes written to shared memory 6144

!global = !tile.buffer<16x192xf16, #tile.strided<[192, 1], align = 16>, global>
!shared = !tile.buffer<16x192xf16, #tile.padded<8, order = [1, 0]>, shared>

tile.kernel @copy(%a: !global, %b: !global) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !shared
  tile.copy async %a[%c0, %c0], %s : !global, !shared
  tile.commit_group
  tile.wait_group 0
  tile.barrier
  %t = tile.load %s[%c0, %c0] : !shared -> tensor<16x192xf16>
  tile.store %t, %b[%c0, %c0] : tensor<16x192xf16>, !global
}
