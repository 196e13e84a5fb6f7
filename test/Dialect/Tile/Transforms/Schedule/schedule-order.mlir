// A loop that writes to global memory stays in its iterations. Its products run beside
// other operations of the same iteration: the backward pass of attention, written in
// the order of its formulas. Nothing waits for dV and dK: they start when dS is there.

// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-schedule))' \
// RUN:   --remark-format=emitRemark --remarks-filter=tile-schedule -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-schedule))' \
// RUN:   --remark-format=emitRemark --remarks-filter=tile-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM80
// SM80: [Missed] loop-not-rotated {{.*}}Reason="the kernel has no producer warps"

!rows = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!sums = !tile.buffer<?x128xf32, #tile.strided<[?:8, 1], align = 16>, global>
!keys = tensor<128x128xf16>
!queries = tensor<64x128xf16>
!scores = tensor<128x64xf32>

// The kernel asks for no turns: its warpgroups do not alternate.
// CHECK-LABEL: tile.kernel @backward
// CHECK-NOT: turns
tile.kernel @backward(%q: !rows, %k: !rows, %v: !rows, %do: !rows, %dq: !sums, %dk: !sums, %dv: !sums)
    attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %q[0] : !rows
  %kt = tile.load %k[%c0, %c0] : !rows -> !keys
  %vt = tile.load %v[%c0, %c0] : !rows -> !keys
  %no_scores = arith.constant dense<0.0> : !scores
  %no_dq = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<128x128xf32>
  // CHECK: scf.for
  // CHECK: %[[Q:.*]] = tile.load %arg0
  // CHECK: %[[S:.*]] = tile.dot
  // CHECK: %[[DO:.*]] = tile.load %arg3
  // CHECK: %[[DP:.*]] = tile.dot
  // CHECK: %[[P:.*]] = math.exp2 %[[S]]
  // CHECK: %[[DS:.*]] = arith.mulf %[[P]], %[[DP]]
  // CHECK: %[[DS16:.*]] = arith.truncf %[[DS]]
  // CHECK: %[[P16:.*]] = arith.truncf %[[P]]
  // CHECK: tile.dot %[[P16]], %[[DO]]
  // CHECK: %[[DST:.*]] = tile.transpose %[[DS16]]
  // CHECK: %[[PART:.*]] = tile.dot %[[DST]]
  // CHECK: tile.dot %[[DS16]], %[[Q]]
  // CHECK: tile.atomic_rmw addf %[[PART]]
  // CHECK: scf.yield
  // REMARK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Passed] loop-reordered {{.*}} exact=true,
  %r:2 = scf.for %m = %c0 to %n step %c64 iter_args(%dk_sum = %none, %dv_sum = %none)
      -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    %qt = tile.load %q[%m, %c0] : !rows -> !queries
    %q_t = tile.transpose %qt [1, 0] : !queries -> tensor<128x64xf16>
    %s = tile.dot %kt, %q_t, %no_scores : !keys, tensor<128x64xf16> -> !scores
    %p = math.exp2 %s : !scores
    %dot = tile.load %do[%m, %c0] : !rows -> !queries
    %p16 = arith.truncf %p : !scores to tensor<128x64xf16>
    %next_dv = tile.dot %p16, %dot, %dv_sum : tensor<128x64xf16>, !queries -> tensor<128x128xf32>
    %do_t = tile.transpose %dot [1, 0] : !queries -> tensor<128x64xf16>
    %dp = tile.dot %vt, %do_t, %no_scores : !keys, tensor<128x64xf16> -> !scores
    %ds = arith.mulf %p, %dp : !scores
    %ds16 = arith.truncf %ds : !scores to tensor<128x64xf16>
    %next_dk = tile.dot %ds16, %qt, %dk_sum : tensor<128x64xf16>, !queries -> tensor<128x128xf32>
    %ds_t = tile.transpose %ds16 [1, 0] : tensor<128x64xf16> -> tensor<64x128xf16>
    %part = tile.dot %ds_t, %kt, %no_dq : tensor<64x128xf16>, !keys -> tensor<64x128xf32>
    tile.atomic_rmw addf %part, %dq[%m, %c0] : tensor<64x128xf32>, !sums
    scf.yield %next_dk, %next_dv : tensor<128x128xf32>, tensor<128x128xf32>
  }
  tile.store %r#0, %dk[%c0, %c0] : tensor<128x128xf32>, !sums
  tile.store %r#1, %dv[%c0, %c0] : tensor<128x128xf32>, !sums
}
