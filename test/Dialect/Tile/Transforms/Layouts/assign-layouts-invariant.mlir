// An operand that is known in front of a loop is kept in registers across it if it
// is the only one and fits with the accumulators. If there are others, chips
// without ldmatrix count all of the other operand, too.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

!b = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>

!o = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>

module attributes {tile.target = "gfx1201"} {

// CHECK-LABEL: tile.kernel @one(
// CHECK: %[[Q:.+]] = tile.load %arg0
// CHECK: tile.convert_layout %[[Q]]
// CHECK: scf.for
// CHECK-NOT: tile.convert_layout %[[Q]]
// CHECK: tile.return
// REMARK-NOT: operand-reloaded
tile.kernel @one(%q: !b, %k: !b, %o: !o, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tile.grid %c0, %c0, %c0
  %qt = tile.load %q[%c0, %c0] : !b -> tensor<128x128xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> tensor<128x128xf32> {
    %kt = tile.load %k[%i, %c0] : !b -> tensor<128x128xf16>
    %kk = tile.transpose %kt [1, 0] : tensor<128x128xf16> -> tensor<128x128xf16>
    %s = tile.dot %qt, %kk, %acc : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %s : tensor<128x128xf32>
  }
  tile.store %r, %o[%c0, %c0] : tensor<128x128xf32>, !o
}

// CHECK-LABEL: tile.kernel @two(
// CHECK: scf.for
// CHECK: tile.convert_layout
// CHECK: tile.convert_layout
// CHECK: tile.convert_layout
tile.kernel @two(%q: !b, %w: !b, %k: !b, %o: !o, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tile.grid %c0, %c0, %c0
  %qt = tile.load %q[%c0, %c0] : !b -> tensor<128x128xf16>
  %wt = tile.load %w[%c0, %c0] : !b -> tensor<128x128xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> tensor<128x128xf32> {
    %kt = tile.load %k[%i, %c0] : !b -> tensor<128x128xf16>
    %kk = tile.transpose %kt [1, 0] : tensor<128x128xf16> -> tensor<128x128xf16>
    // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] operand-reloaded | {{.*}}Reason="operand a is read from shared memory in every iteration: keeping it would take 320 registers with the accumulators"
    %s = tile.dot %qt, %kk, %acc : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] operand-reloaded
    %t = tile.dot %wt, %kk, %s : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %t : tensor<128x128xf32>
  }
  tile.store %r, %o[%c0, %c0] : tensor<128x128xf32>, !o
}
}
