// Gradients on a chip whose threads copy tiles through registers. 16 keys of two warps
// leave no registers for all columns of dQ beside the sums of dK and dV: the head
// dimension is in slices, and those of V and dO are as wide.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile-expand-attention)' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-expand-attention)' | FileCheck %s --check-prefix=WHOLE

!q = !tile.buffer<?x?x?x256xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x256xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @sliced_dkv
// CHECK: %[[K0:.*]] = tile.load %{{.*}} -> tensor<16x64xf16>
// CHECK-COUNT-3: tile.load %{{.*}} -> tensor<16x64xf16>
// CHECK: %[[V0:.*]] = tile.load %{{.*}} -> tensor<16x64xf16>
// CHECK-COUNT-3: tile.load %{{.*}} -> tensor<16x64xf16>
// CHECK: scf.for {{.*}} -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>)
// CHECK: scf.for
// CHECK: %[[Q0:.*]] = tile.load %{{.*}} -> tensor<32x64xf16>
// CHECK: %[[QC0:.*]] = tile.transpose %[[Q0]]
// CHECK: %[[S0:.*]] = tile.dot %[[K0]], %[[QC0]]
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[S0]]
// CHECK: arith.select
// CHECK: %[[G0:.*]] = tile.load %{{.*}} -> tensor<32x64xf16>
// CHECK: %[[P:.*]] = arith.truncf
// CHECK: %[[GC0:.*]] = tile.transpose %[[G0]]
// CHECK: %[[DP0:.*]] = tile.dot %[[V0]], %[[GC0]]
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[DP0]]
// CHECK: tile.dot %[[P]], %[[G0]], %{{.*}} -> tensor<16x64xf32>
// CHECK: tile.dot %[[DS:.*]], %[[Q0]], %{{.*}} -> tensor<16x64xf32>
// CHECK: %[[DQ0:.*]] = tile.dot %{{.*}}, %[[K0]]
// CHECK: tile.atomic_rmw addf %[[DQ0]], %{{.*}}[%[[M:.*]], %c0{{.*}}]
// CHECK: tile.atomic_rmw addf %{{.*}}, %{{.*}}[%[[M]], %c64{{.*}}]
// CHECK: tile.atomic_rmw addf %{{.*}}, %{{.*}}[%[[M]], %c128{{.*}}]
// CHECK: tile.atomic_rmw addf %{{.*}}, %{{.*}}[%[[M]], %c192{{.*}}]

// WHOLE-LABEL: tile.kernel @sliced_dkv
// WHOLE-NOT: x64xf16
// WHOLE: tile.atomic_rmw
// WHOLE-NOT: tile.atomic_rmw
// WHOLE-LABEL: tile.kernel @sliced_dq
func.func @sliced(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q,
                  %dk: !q, %dv: !q, %stats: !stats, %acc: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %acc scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc
  return
}
