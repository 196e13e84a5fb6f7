// Scans give the same results in every layout: in one warp, with warps along the
// rows, the columns, or both, and with the digits of a dimension in any order.

// RUN: sed -e 's/LAYOUT/#tile.layout<register = [8 -> d1, 16 -> d0 * 4], lane = [8 -> d1 * 8, 4 -> d0], warp = [4 -> 0]>/' -e 's/WARPS/4/' %s > %t.one.mlir
// RUN: sed -e 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>/' -e 's/WARPS/4/' %s > %t.rows.mlir
// RUN: sed -e 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [2, 2]>/' -e 's/WARPS/4/' %s > %t.both.mlir
// RUN: sed -e 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>/' -e 's/WARPS/4/' %s > %t.columns.mlir
// RUN: sed -e 's/LAYOUT/#tile.blocked<thread = [4, 2], lane = [4, 8], warp = [2, 2], order = [0, 1]>/' -e 's/WARPS/4/' %s > %t.blocked.mlir
// RUN: sed -e 's/LAYOUT/#tile.layout<register = [2 -> d1 * 32, 2 -> d0 * 2, 4 -> d0 * 8, 2 -> d1], lane = [4 -> d1 * 4, 2 -> 0, 2 -> d0 * 32, 2 -> d0], warp = [2 -> d1 * 16, 2 -> d0 * 4, 2 -> d1 * 2]>/' -e 's/WARPS/8/' %s > %t.mixed.mlir
// RUN: sed -e 's/LAYOUT/#tile.layout<register = [8 -> d1 * 4, 8 -> d0 * 8], lane = [2 -> d1 * 32, 8 -> d0, 2 -> d1 * 2], warp = [2 -> d1, 2 -> 0]>/' -e 's/WARPS/4/' %s > %t.lanes.mlir

// RUN: tile-run %t.one.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f16 --arg=zeros:64x64:f16 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --out=%t.addf0.npy --out=%t.addf1.npy --out=%t.down0.npy --out=%t.down1.npy --out=%t.minimumf0.npy --out=%t.minimumf1.npy --out=%t.muli0.npy --out=%t.muli1.npy
// RUN: tile-run %t.rows.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f16 --arg=zeros:64x64:f16 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.down0.npy --expect=%t.down1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.muli0.npy --expect=%t.muli1.npy --atol=1e-4
// RUN: tile-run %t.both.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f16 --arg=zeros:64x64:f16 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.down0.npy --expect=%t.down1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.muli0.npy --expect=%t.muli1.npy --atol=1e-4
// RUN: tile-run %t.columns.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f16 --arg=zeros:64x64:f16 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.down0.npy --expect=%t.down1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.muli0.npy --expect=%t.muli1.npy --atol=1e-4
// RUN: tile-run %t.blocked.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f16 --arg=zeros:64x64:f16 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.down0.npy --expect=%t.down1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.muli0.npy --expect=%t.muli1.npy --atol=1e-4
// RUN: tile-run %t.mixed.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f16 --arg=zeros:64x64:f16 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.down0.npy --expect=%t.down1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.muli0.npy --expect=%t.muli1.npy --atol=1e-4
// RUN: tile-run %t.lanes.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f16 --arg=zeros:64x64:f16 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.down0.npy --expect=%t.down1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.muli0.npy --expect=%t.muli1.npy --atol=1e-4

!f = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
!h = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
!i = !tile.buffer<64x64xi32, #tile.strided<[64, 1], align = 16>, global>
#layout = LAYOUT

tile.kernel @scan(%f: !f, %h: !h, %i: !i,
    %addf0: !f, %addf1: !f, %down0: !f, %down1: !f, %minimumf0: !h, %minimumf1: !h, %muli0: !i, %muli1: !i) attributes {num_warps = WARPS : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ft = tile.load %f[%c0, %c0] : !f -> tensor<64x64xf32, #layout>
  %ht = tile.load %h[%c0, %c0] : !h -> tensor<64x64xf16, #layout>
  %it = tile.load %i[%c0, %c0] : !i -> tensor<64x64xi32, #layout>
  %addf0t = tile.scan addf %ft along 0 : tensor<64x64xf32, #layout>
  tile.store %addf0t, %addf0[%c0, %c0] : tensor<64x64xf32, #layout>, !f
  %addf1t = tile.scan addf %ft along 1 : tensor<64x64xf32, #layout>
  tile.store %addf1t, %addf1[%c0, %c0] : tensor<64x64xf32, #layout>, !f
  %down0t = tile.scan addf %ft along 0 reverse : tensor<64x64xf32, #layout>
  tile.store %down0t, %down0[%c0, %c0] : tensor<64x64xf32, #layout>, !f
  %down1t = tile.scan addf %ft along 1 reverse : tensor<64x64xf32, #layout>
  tile.store %down1t, %down1[%c0, %c0] : tensor<64x64xf32, #layout>, !f
  %minimumf0t = tile.scan minimumf %ht along 0 reverse : tensor<64x64xf16, #layout>
  tile.store %minimumf0t, %minimumf0[%c0, %c0] : tensor<64x64xf16, #layout>, !h
  %minimumf1t = tile.scan minimumf %ht along 1 : tensor<64x64xf16, #layout>
  tile.store %minimumf1t, %minimumf1[%c0, %c0] : tensor<64x64xf16, #layout>, !h
  %muli0t = tile.scan muli %it along 0 : tensor<64x64xi32, #layout>
  tile.store %muli0t, %muli0[%c0, %c0] : tensor<64x64xi32, #layout>, !i
  %muli1t = tile.scan muli %it along 1 reverse : tensor<64x64xi32, #layout>
  tile.store %muli1t, %muli1[%c0, %c0] : tensor<64x64xi32, #layout>, !i
}
