// Two logical operations with constants are one lop3, if several words have the second
// constant and no address is made of them.
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %s | FileCheck %s
// DEFINE: %{run} = tile-run %s --arg=random:32x8:i32:1 --arg=zeros:32x8:i32 --arg=zeros:32x8:bf16
// RUN: %{run} --chip=gfx1100 --out=y=%t.y.npy --out=z=%t.z.npy
// RUN: %{run} --chip=sm_80 --expect=y=%t.y.npy --expect=z=%t.z.npy
// RUN: %{run} --chip=sm_90a --expect=y=%t.y.npy --expect=z=%t.z.npy

#rows = #tile.blocked<thread = [1, 8], lane = [32, 1], warp = [1, 1], order = [1, 0]>
!m = !tile.buffer<32x8xi32, #tile.strided<[8, 1], align = 16>, global>
!h = !tile.buffer<32x8xbf16, #tile.strided<[8, 1], align = 16>, global>
!t = tensor<32x8xi32, #rows>

// The tables of (x & c1) ^ c2, which LLVM makes of the first pair, and of (x & c1) | c2.
// CHECK-LABEL: .entry logic(
// CHECK-NOT: and.b32
// CHECK-COUNT-8: lop3.b32 {{%r[0-9]+}}, {{%r[0-9]+}}, -256, 65535, 106;
// CHECK-COUNT-8: lop3.b32 {{%r[0-9]+}}, {{%r[0-9]+}}, 983055, 1124090624, 234;
tile.kernel @logic(%x: !m, %y: !m, %z: !h) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %xt = tile.load %x[%c0, %c0] : !m -> !t
  %low = arith.constant dense<0xFF> : !t
  %next = arith.constant dense<0xFF00> : !t
  %set = arith.ori %xt, %low : !t
  %turned = arith.xori %set, %next : !t
  tile.store %turned, %y[%c0, %c0] : !t, !m
  %mask = arith.constant dense<0x000F000F> : !t
  %bits = arith.constant dense<0x43004300> : !t
  %masked = arith.andi %xt, %mask : !t
  %number = arith.ori %masked, %bits : !t
  %half = arith.trunci %number : !t to tensor<32x8xi16, #rows>
  %float = arith.bitcast %half : tensor<32x8xi16, #rows> to tensor<32x8xbf16, #rows>
  tile.store %float, %z[%c0, %c0] : tensor<32x8xbf16, #rows>, !h
}
