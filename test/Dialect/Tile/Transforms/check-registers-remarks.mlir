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
