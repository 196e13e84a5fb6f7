// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts,tile-check-registers))' \
// RUN:   --remark-format=emitRemark --remarks-filter=tile-check-registers -o /dev/null 2>&1 | FileCheck %s

!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @copies(%src: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: [[#@LINE+2]]:{{[0-9]+}}: remark: [Missed] tile-copies
  // CHECK-SAME: the tile takes 225 registers a thread; 8 of 128 threads hold each element
  %t = tile.load %src[%c0, %c0] : !b -> tensor<60x60xf32>
  tile.store %t, %src[%c0, %c0] : tensor<60x60xf32>, !b
  // A thread with one access has no work that others could share.
  // CHECK-NOT: tile-copies
  %s = tile.load %src[%c0, %c0] : !b -> tensor<16x16xf32>
  tile.store %s, %src[%c0, %c0] : tensor<16x16xf32>, !b
}

// Operands of a product are loaded from shared memory fragment by fragment: 512
// registers hold no operand at once.
!h = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
tile.kernel @fragments(%a: !h, %c: !b) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %x = tile.load %a[%c0, %c0] : !h -> tensor<16x512xf16>
  %y = tile.load %a[%c0, %c0] : !h -> tensor<512x64xf16>
  %d = tile.dot %x, %y, %zero : tensor<16x512xf16>, tensor<512x64xf16> -> tensor<16x64xf32>
  tile.store %d, %c[%c0, %c0] : tensor<16x64xf32>, !b
}

// So are operands that elementwise operations compute from such a tile.
#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>
tile.kernel @computed(%a: !h, %c: !b) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<16x64xf32, #mma>
  %x = tile.load %a[%c0, %c0] : !h -> tensor<16x512xf16, #tile.padded<8, order = [1, 0]>>
  %y = tile.load %a[%c0, %c0] : !h -> tensor<512x64xf16, #tile.padded<8, order = [1, 0]>>
  %xr = tile.convert_layout %x : tensor<16x512xf16, #tile.padded<8, order = [1, 0]>> -> tensor<16x512xf16, #dot_a>
  %yr = tile.convert_layout %y : tensor<512x64xf16, #tile.padded<8, order = [1, 0]>> -> tensor<512x64xf16, #dot_b>
  %z = arith.negf %yr : tensor<512x64xf16, #dot_b>
  %d = tile.dot %xr, %z, %zero : tensor<16x512xf16, #dot_a>, tensor<512x64xf16, #dot_b> -> tensor<16x64xf32, #mma>
  tile.store %d, %c[%c0, %c0] : tensor<16x64xf32, #mma>, !b
}

// So are operands that threads exchange through shared memory: 256 registers hold no
// operand b at once.
!bytes = !tile.buffer<?x?xi8, #tile.strided<[?:16, 1], align = 16>, global>
tile.kernel @exchanged(%a: !h, %b: !bytes, %c: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] : !h -> tensor<64x512xf16>
  %y8 = tile.load %b[%c0, %c0] : !bytes -> tensor<512x64xi8>
  %y = arith.sitofp %y8 : tensor<512x64xi8> to tensor<512x64xf16>
  %d = tile.dot %x, %y, %zero : tensor<64x512xf16>, tensor<512x64xf16> -> tensor<64x64xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x64xf32>, !b
}
