// Scans by a region that does not commute give the same results in every layout.

// RUN: sed -e 's/LAYOUT/#tile.layout<register = [8 -> d1, 16 -> d0 * 4], lane = [8 -> d1 * 8, 4 -> d0], warp = [4 -> 0]>/' -e 's/WARPS/4/' %s > %t.one.mlir
// RUN: sed -e 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>/' -e 's/WARPS/4/' %s > %t.rows.mlir
// RUN: sed -e 's/LAYOUT/#tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>/' -e 's/WARPS/4/' %s > %t.columns.mlir
// RUN: sed -e 's/LAYOUT/#tile.blocked<thread = [4, 2], lane = [4, 8], warp = [2, 2], order = [0, 1]>/' -e 's/WARPS/4/' %s > %t.blocked.mlir
// RUN: sed -e 's/LAYOUT/#tile.layout<register = [2 -> d1 * 32, 2 -> d0 * 2, 4 -> d0 * 8, 2 -> d1], lane = [4 -> d1 * 4, 2 -> 0, 2 -> d0 * 32, 2 -> d0], warp = [2 -> d1 * 16, 2 -> d0 * 4, 2 -> d1 * 2]>/' -e 's/WARPS/8/' %s > %t.mixed.mlir
// RUN: sed -e 's/LAYOUT/#tile.layout<register = [8 -> d1 * 4, 8 -> d0 * 8], lane = [2 -> d1 * 32, 8 -> d0, 2 -> d1 * 2], warp = [2 -> d1, 2 -> 0]>/' -e 's/WARPS/4/' %s > %t.lanes.mlir

// RUN: tile-run %t.one.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f32:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --out=%t.h0.npy --out=%t.h1.npy --out=%t.up0.npy --out=%t.up1.npy --out=%t.last0.npy --out=%t.last1.npy
// RUN: tile-run %t.rows.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f32:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.h0.npy --expect=%t.h1.npy --expect=%t.up0.npy --expect=%t.up1.npy --expect=%t.last0.npy --expect=%t.last1.npy --atol=1e-4
// RUN: tile-run %t.columns.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f32:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.h0.npy --expect=%t.h1.npy --expect=%t.up0.npy --expect=%t.up1.npy --expect=%t.last0.npy --expect=%t.last1.npy --atol=1e-4
// RUN: tile-run %t.blocked.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f32:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.h0.npy --expect=%t.h1.npy --expect=%t.up0.npy --expect=%t.up1.npy --expect=%t.last0.npy --expect=%t.last1.npy --atol=1e-4
// RUN: tile-run %t.mixed.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f32:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.h0.npy --expect=%t.h1.npy --expect=%t.up0.npy --expect=%t.up1.npy --expect=%t.last0.npy --expect=%t.last1.npy --atol=1e-4
// RUN: tile-run %t.lanes.mlir --chip=sm_80 --arg=random:64x64:f32:1 --arg=random:64x64:f32:2 --arg=random:64x64:i32:3 \
// RUN:   --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:f32 --arg=zeros:64x64:i32 --arg=zeros:64x64:i32 \
// RUN:   --expect=%t.h0.npy --expect=%t.h1.npy --expect=%t.up0.npy --expect=%t.up1.npy --expect=%t.last0.npy --expect=%t.last1.npy --atol=1e-4

!f = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
!i = !tile.buffer<64x64xi32, #tile.strided<[64, 1], align = 16>, global>
#layout = LAYOUT
!ft = tensor<64x64xf32, #layout>
!it = tensor<64x64xi32, #layout>

// Recurrences h[i] = a[i] * h[i - 1] / 4 + b[i], and the last odd number.
tile.kernel @scans(%a: !f, %b: !f, %n: !i,
    %h0: !f, %h1: !f, %up0: !f, %up1: !f, %last0: !i, %last1: !i) attributes {num_warps = WARPS : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %quarter = arith.constant dense<0.25> : !ft
  %all = tile.load %a[%c0, %c0] : !f -> !ft
  %at = arith.mulf %all, %quarter : !ft
  %bt = tile.load %b[%c0, %c0] : !f -> !ft
  %nt = tile.load %n[%c0, %c0] : !i -> !it
  %p_h0, %h0t = tile.associative_scan %at, %bt along 0 : !ft, !ft {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    %xz = arith.mulf %x, %z : f32
    %zy = arith.mulf %z, %y : f32
    %s = arith.addf %zy, %w : f32
    tile.yield %xz, %s : f32, f32
  }
  tile.store %h0t, %h0[%c0, %c0] : !ft, !f
  %p_h1, %h1t = tile.associative_scan %at, %bt along 1 : !ft, !ft {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    %xz = arith.mulf %x, %z : f32
    %zy = arith.mulf %z, %y : f32
    %s = arith.addf %zy, %w : f32
    tile.yield %xz, %s : f32, f32
  }
  tile.store %h1t, %h1[%c0, %c0] : !ft, !f
  %p_up0, %up0t = tile.associative_scan %at, %bt along 0 reverse : !ft, !ft {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    %xz = arith.mulf %x, %z : f32
    %zy = arith.mulf %z, %y : f32
    %s = arith.addf %zy, %w : f32
    tile.yield %xz, %s : f32, f32
  }
  tile.store %up0t, %up0[%c0, %c0] : !ft, !f
  %p_up1, %up1t = tile.associative_scan %at, %bt along 1 reverse : !ft, !ft {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    %xz = arith.mulf %x, %z : f32
    %zy = arith.mulf %z, %y : f32
    %s = arith.addf %zy, %w : f32
    tile.yield %xz, %s : f32, f32
  }
  tile.store %up1t, %up1[%c0, %c0] : !ft, !f
  %last0t = tile.associative_scan %nt along 0 reverse : !it {
  ^bb0(%x: i32, %y: i32):
    %one = arith.constant 1 : i32
    %bit = arith.andi %y, %one : i32
    %isOdd = arith.cmpi eq, %bit, %one : i32
    %s = arith.select %isOdd, %y, %x : i32
    tile.yield %s : i32
  }
  tile.store %last0t, %last0[%c0, %c0] : !it, !i
  %last1t = tile.associative_scan %nt along 1 : !it {
  ^bb0(%x: i32, %y: i32):
    %one = arith.constant 1 : i32
    %bit = arith.andi %y, %one : i32
    %isOdd = arith.cmpi eq, %bit, %one : i32
    %s = arith.select %isOdd, %y, %x : i32
    tile.yield %s : i32
  }
  tile.store %last1t, %last1[%c0, %c0] : !it, !i
}
