// A tile that one product reads as operand a and another one as operand b goes
// through one buffer, whose swizzle both can read: the warps that share the columns
// of the second product have 48 of them, 96 bytes.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,cse))' \
// RUN:   | FileCheck %s

!q = !tile.buffer<?x192xf16, #tile.strided<[192, 1], align = 16>, global>
!k = !tile.buffer<?x192xf16, #tile.strided<[192, 1], align = 16>, global>
!dq = !tile.buffer<?x192xf32, #tile.strided<[192, 1], align = 16>, global>
!dk = !tile.buffer<?x96xf32, #tile.strided<[96, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @exchanged
// CHECK: %[[LOW:.*]] = arith.truncf
// CHECK-NEXT: %[[SHARED:.*]] = tile.convert_layout %[[LOW]] : {{.*}} -> tensor<64x96xf16, #tile.swizzle<32>>
// CHECK-NOT: tile.convert_layout %[[LOW]]
// CHECK: tile.dot %[[SHARED]], %{{.*}} -> tensor<64x192xf32
// CHECK-NOT: tile.convert_layout %[[LOW]]
// CHECK: tile.dot %{{.*}}, %[[SHARED]], %{{.*}} -> tensor<192x96xf32
tile.kernel @exchanged(%q: !q, %k: !k, %dq: !dq, %dk: !dk, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %kt = tile.load %k[%c0, %c0] : !k -> tensor<96x192xf16>
  %kc = tile.transpose %kt [1, 0] : tensor<96x192xf16> -> tensor<192x96xf16>
  %zero = arith.constant dense<0.0> : tensor<64x96xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x192xf32>
  %none = arith.constant dense<0.0> : tensor<192x96xf32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %none) -> tensor<192x96xf32> {
    %qt = tile.load %q[%i, %c0] : !q -> tensor<64x192xf16>
    %qc = tile.transpose %qt [1, 0] : tensor<64x192xf16> -> tensor<192x64xf16>
    %s = tile.dot %qt, %kc, %zero : tensor<64x192xf16>, tensor<192x96xf16> -> tensor<64x96xf32>
    %low = arith.truncf %s : tensor<64x96xf32> to tensor<64x96xf16>
    %d = tile.dot %low, %kt, %zeros : tensor<64x96xf16>, tensor<96x192xf16> -> tensor<64x192xf32>
    %next = tile.dot %qc, %low, %sum : tensor<192x64xf16>, tensor<64x96xf16> -> tensor<192x96xf32>
    tile.atomic_rmw addf %d, %dq[%i, %c0] : tensor<64x192xf32>, !dq
    scf.yield %next : tensor<192x96xf32>
  }
  tile.store %sum, %dk[%c0, %c0] : tensor<192x96xf32>, !dk
}
