// Reductions give the same results in every layout: in one warp, and with warps
// along the rows, the columns, or both.

// RUN: sed 's/LAYOUT/#tile.layout<register = [8 -> d1, 16 -> d0 * 4], lane = [8 -> d1 * 8, 4 -> d0], warp = [4 -> 0]>/' %s > %t.one.mlir
// RUN: sed 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>/' %s > %t.rows.mlir
// RUN: sed 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [2, 2]>/' %s > %t.both.mlir
// RUN: sed 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>/' %s > %t.columns.mlir
// RUN: sed 's/LAYOUT/#tile.blocked<thread = [4, 2], lane = [4, 8], warp = [2, 2], order = [0, 1]>/' %s > %t.blocked.mlir

// RUN: tile-run %t.one.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f16 --arg=zeros:64:f16 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 \
// RUN:   --out=%t.addf0.npy --out=%t.addf1.npy --out=%t.maxnumf0.npy --out=%t.maxnumf1.npy --out=%t.minimumf0.npy --out=%t.minimumf1.npy --out=%t.xori0.npy --out=%t.xori1.npy --out=%t.maxu0.npy --out=%t.maxu1.npy
// RUN: tile-run %t.rows.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f16 --arg=zeros:64:f16 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.maxnumf0.npy --expect=%t.maxnumf1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.xori0.npy --expect=%t.xori1.npy --expect=%t.maxu0.npy --expect=%t.maxu1.npy --atol=1e-5
// RUN: tile-run %t.both.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f16 --arg=zeros:64:f16 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.maxnumf0.npy --expect=%t.maxnumf1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.xori0.npy --expect=%t.xori1.npy --expect=%t.maxu0.npy --expect=%t.maxu1.npy --atol=1e-5
// RUN: tile-run %t.columns.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f16 --arg=zeros:64:f16 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.maxnumf0.npy --expect=%t.maxnumf1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.xori0.npy --expect=%t.xori1.npy --expect=%t.maxu0.npy --expect=%t.maxu1.npy --atol=1e-5
// RUN: tile-run %t.blocked.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f16:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f32 --arg=zeros:64:f16 --arg=zeros:64:f16 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 --arg=zeros:64:i32 \
// RUN:   --expect=%t.addf0.npy --expect=%t.addf1.npy --expect=%t.maxnumf0.npy --expect=%t.maxnumf1.npy --expect=%t.minimumf0.npy --expect=%t.minimumf1.npy --expect=%t.xori0.npy --expect=%t.xori1.npy --expect=%t.maxu0.npy --expect=%t.maxu1.npy --atol=1e-5

!f = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
!h = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
!i = !tile.buffer<64x64xi32, #tile.strided<[64, 1], align = 16>, global>
!fv = !tile.buffer<64xf32, #tile.strided<[1]>, global>
!hv = !tile.buffer<64xf16, #tile.strided<[1]>, global>
!iv = !tile.buffer<64xi32, #tile.strided<[1]>, global>
#layout = LAYOUT

tile.kernel @reduce(%f: !f, %h: !h, %i: !i,
    %addf0: !fv, %addf1: !fv, %maxnumf0: !fv, %maxnumf1: !fv, %minimumf0: !hv, %minimumf1: !hv, %xori0: !iv, %xori1: !iv, %maxu0: !iv, %maxu1: !iv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ft = tile.load %f[%c0, %c0] : !f -> tensor<64x64xf32, #layout>
  %ht = tile.load %h[%c0, %c0] : !h -> tensor<64x64xf16, #layout>
  %it = tile.load %i[%c0, %c0] : !i -> tensor<64x64xi32, #layout>
  %addf0t = tile.reduce addf %ft along 0 : tensor<64x64xf32, #layout> -> tensor<64xf32, #tile.slice<0, #layout>>
  tile.store %addf0t, %addf0[%c0] : tensor<64xf32, #tile.slice<0, #layout>>, !fv
  %addf1t = tile.reduce addf %ft along 1 : tensor<64x64xf32, #layout> -> tensor<64xf32, #tile.slice<1, #layout>>
  tile.store %addf1t, %addf1[%c0] : tensor<64xf32, #tile.slice<1, #layout>>, !fv
  %maxnumf0t = tile.reduce maxnumf %ft along 0 : tensor<64x64xf32, #layout> -> tensor<64xf32, #tile.slice<0, #layout>>
  tile.store %maxnumf0t, %maxnumf0[%c0] : tensor<64xf32, #tile.slice<0, #layout>>, !fv
  %maxnumf1t = tile.reduce maxnumf %ft along 1 : tensor<64x64xf32, #layout> -> tensor<64xf32, #tile.slice<1, #layout>>
  tile.store %maxnumf1t, %maxnumf1[%c0] : tensor<64xf32, #tile.slice<1, #layout>>, !fv
  %minimumf0t = tile.reduce minimumf %ht along 0 : tensor<64x64xf16, #layout> -> tensor<64xf16, #tile.slice<0, #layout>>
  tile.store %minimumf0t, %minimumf0[%c0] : tensor<64xf16, #tile.slice<0, #layout>>, !hv
  %minimumf1t = tile.reduce minimumf %ht along 1 : tensor<64x64xf16, #layout> -> tensor<64xf16, #tile.slice<1, #layout>>
  tile.store %minimumf1t, %minimumf1[%c0] : tensor<64xf16, #tile.slice<1, #layout>>, !hv
  %xori0t = tile.reduce xori %it along 0 : tensor<64x64xi32, #layout> -> tensor<64xi32, #tile.slice<0, #layout>>
  tile.store %xori0t, %xori0[%c0] : tensor<64xi32, #tile.slice<0, #layout>>, !iv
  %xori1t = tile.reduce xori %it along 1 : tensor<64x64xi32, #layout> -> tensor<64xi32, #tile.slice<1, #layout>>
  tile.store %xori1t, %xori1[%c0] : tensor<64xi32, #tile.slice<1, #layout>>, !iv
  %maxu0t = tile.reduce maxu %it along 0 : tensor<64x64xi32, #layout> -> tensor<64xi32, #tile.slice<0, #layout>>
  tile.store %maxu0t, %maxu0[%c0] : tensor<64xi32, #tile.slice<0, #layout>>, !iv
  %maxu1t = tile.reduce maxu %it along 1 : tensor<64x64xi32, #layout> -> tensor<64xi32, #tile.slice<1, #layout>>
  tile.store %maxu1t, %maxu1[%c0] : tensor<64xi32, #tile.slice<1, #layout>>, !iv
}
