// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts,tile-check-registers))' \
// RUN:   --remark-format=emitRemark --remarks-filter=tile-check-registers -o /dev/null 2>&1 | FileCheck %s

// The estimate of registers is reported at the operation where it is the largest,
// with the tiles that are live there.
!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
tile.kernel @fits(%x: !b, %y: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.load %x[%c0, %c0] : !b -> tensor<128x64xf32>
  %t = tile.load %x[%c1, %c0] : !b -> tensor<64x64xf32>
  // CHECK: [[#@LINE+3]]:{{[0-9]+}}: remark: [Analysis] registers
  // CHECK-SAME: a thread needs about [[#TOTAL:]] registers, of 255:
  // CHECK-SAME: {{^}} [[#TOTAL - 96]] for addresses and scalars, the others for tiles of 128x64xf32 (64), 64x64xf32 (32)"
  tile.store %t, %y[%c1, %c0] : tensor<64x64xf32>, !b
  tile.store %s, %y[%c0, %c0] : tensor<128x64xf32>, !b
}

// Two tiles that fit one by one do not fit together.
tile.kernel @spills(%x: !b, %y: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.load %x[%c0, %c0] : !b -> tensor<128x128xf32>
  %t = tile.load %x[%c1, %c0] : !b -> tensor<128x128xf32>
  // CHECK: [[#@LINE+2]]:{{[0-9]+}}: remark: [Missed] registers-exceeded
  // CHECK-SAME: a thread needs about {{[0-9]+}} registers, of 255: {{[0-9]+}} for addresses and scalars, the others for tiles of 128x128xf32 (128), 128x128xf32 (128)"
  tile.store %t, %y[%c1, %c0] : tensor<128x128xf32>, !b
  tile.store %s, %y[%c0, %c0] : tensor<128x128xf32>, !b
}

// Elementwise operations are computed element by element: of x * exp2(x * x), only x or the
// result is live.
tile.kernel @run(%x: !b, %y: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: remark: [Analysis] registers
  // CHECK-SAME: the others for tiles of 128x128xf32 (128)"
  %s = tile.load %x[%c0, %c0] : !b -> tensor<128x128xf32>
  %square = arith.mulf %s, %s : tensor<128x128xf32>
  %two = arith.constant dense<2.0> : tensor<128x128xf32>
  %half = arith.divf %square, %two : tensor<128x128xf32>
  %e = math.exp2 %half : tensor<128x128xf32>
  %t = arith.mulf %s, %e : tensor<128x128xf32>
  tile.store %t, %y[%c0, %c0] : tensor<128x128xf32>, !b
}

// A reduction ends a run: it needs all elements of its operand.
tile.kernel @reduction(%x: !b, %y: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: remark: [Missed] registers-exceeded
  // CHECK-SAME: tiles of 128x128xf32 (128), 128x128xf32 (128)
  %s = tile.load %x[%c0, %c0] : !b -> tensor<128x128xf32>
  %square = arith.mulf %s, %s : tensor<128x128xf32>
  %sums = tile.reduce addf %square along 1 : tensor<128x128xf32> -> tensor<128xf32>
  %all = tile.broadcast %sums along 1 : tensor<128xf32> -> tensor<128x128xf32>
  %shifted = arith.addf %square, %all : tensor<128x128xf32>
  %t = arith.mulf %s, %shifted : tensor<128x128xf32>
  tile.store %t, %y[%c0, %c0] : tensor<128x128xf32>, !b
}

// A kernel without tiles in registers has no estimate.
// CHECK-NOT: remark
tile.kernel @empty(%x: !b) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
