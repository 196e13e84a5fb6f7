// An operand from outside the loop that does not fit the registers beside the
// accumulators is read again in every iteration, and a remark reports it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=DEFAULT --allow-empty
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefix=KEPT
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{operand-budget=25}))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=SMALL
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{operand-budget=25}))' \
// RUN:   | FileCheck %s --check-prefix=RELOADED

!b = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>

module attributes {tile.target = "sm_80"} {
// KEPT: %[[Q:.+]] = tile.load
// KEPT: tile.convert_layout %[[Q]]
// KEPT: scf.for
// RELOADED: %[[Q:.+]] = tile.load
// RELOADED: scf.for
// RELOADED: tile.convert_layout %[[Q]]
tile.kernel @scores(%q: !b, %k: !b, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.grid %c0, %c0, %c0
  %qt = tile.load %q[%c0, %c0] : !b -> tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %kt = tile.load %k[%i, %c0] : !b -> tensor<64x128xf16>
    %kk = tile.transpose %kt [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    // DEFAULT-NOT: remark
    // SMALL: assign-layouts-remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] operand-reloaded | Category:tile-assign-layouts | {{.*}}Reason="operand a is read from shared memory in every iteration: keeping it would take 96 registers with the accumulators"
    %s = tile.dot %qt, %kk, %acc : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
}
}
