// Products of tf32 whose right operand has contiguous rows are computed transposed where
// the MMA reads columns only.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-swap-operands))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-swap-operands))' \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_120a},tile.kernel(tile-swap-operands))' \
// RUN:   | FileCheck %s --check-prefix=NONE

// REMARK-COUNT-3: remark: [Passed] operands-swapped
// REMARK-NOT: operands-swapped
// NONE-NOT: tile.transpose {{.*}} : tensor<32x{{.*}}> -> tensor<{{.*}}x32xf32

!m = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!acc = tensor<?x?xf32, #tile.open<BM, BN>>

// CHECK-LABEL: tile.kernel @open
tile.kernel @open(%a: !m, %b: !m, %c: !m) {
  %bm = tile.param BM in [64, 128]
  %bn = tile.param BN in [128, 256]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a[1] : !m
  tile.grid %c1, %c1, %c1
  %f0 = arith.constant 0.0 : f32
  // CHECK: %[[ZERO:.+]] = tensor.splat %{{.+}}[%[[BN:.+]], %[[BM:.+]]] : tensor<?x?xf32, #tile.open<BN, BM>>
  %zero = tensor.splat %f0[%bm, %bn] : !acc
  // CHECK: %[[SUM:.+]] = scf.for {{.*}} iter_args(%[[ACC:.+]] = %[[ZERO]]) -> (tensor<?x?xf32, #tile.open<BN, BM>>)
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (!acc) {
    // CHECK-DAG: %[[A:.+]] = tile.load %arg0
    // CHECK-DAG: %[[B:.+]] = tile.load %arg1
    %at = tile.load %a[%c0, %i] : !m -> tensor<?x32xf32, #tile.open<BM>>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<32x?xf32, #tile.open<BN>>
    // CHECK-DAG: %[[BT:.+]] = tile.transpose %[[B]] [1, 0] : tensor<32x?xf32, #tile.open<BN>> -> tensor<?x32xf32, #tile.open<BN>>
    // CHECK-DAG: %[[AT:.+]] = tile.transpose %[[A]] [1, 0] : tensor<?x32xf32, #tile.open<BM>> -> tensor<32x?xf32, #tile.open<BM>>
    // CHECK: %[[NEXT:.+]] = tile.dot %[[BT]], %[[AT]], %[[ACC]] precision(tf32)
    // CHECK: scf.yield %[[NEXT]]
    %next = tile.dot %at, %bt, %acc precision(tf32) : tensor<?x32xf32, #tile.open<BM>>, tensor<32x?xf32, #tile.open<BN>> -> !acc
    scf.yield %next : !acc
  }
  // CHECK: %[[BACK:.+]] = tile.transpose %[[SUM]] [1, 0] : tensor<?x?xf32, #tile.open<BN, BM>> -> tensor<?x?xf32, #tile.open<BM, BN>>
  // CHECK: tile.store %[[BACK]]
  tile.store %sum, %c[%c0, %c0] : !acc, !m
}

// An accumulator of equal elements, and one that another tile starts.
// CHECK-LABEL: tile.kernel @accumulators
tile.kernel @accumulators(%a: !m, %b: !m, %c: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %at = tile.load %a[%c0, %c0] : !m -> tensor<64x32xf32>
  %bt = tile.load %b[%c0, %c0] : !m -> tensor<32x128xf32>
  %one = arith.constant dense<1.0> : tensor<64x128xf32>
  // CHECK: %[[ONE:.+]] = arith.constant dense<1.000000e+00> : tensor<128x64xf32>
  // CHECK: %[[P:.+]] = tile.dot %{{.+}}, %{{.+}}, %[[ONE]] {{.*}} -> tensor<128x64xf32>
  // CHECK: tile.transpose %[[P]] [1, 0] : tensor<128x64xf32> -> tensor<64x128xf32>
  %first = tile.dot %at, %bt, %one precision(tf32) : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
  // CHECK: %[[START:.+]] = tile.transpose %{{.+}} [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
  // CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[START]])
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %first) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%c0, %i] : !m -> tensor<64x32xf32>
    %y = tile.load %b[%i, %c0] : !m -> tensor<32x128xf32>
    %next = tile.dot %x, %y, %acc precision(tf32) : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x128xf32>, !m
}

// Products that stay: with operands that suit, a computed operand, a pinned instruction,
// and a sum that the loop reads.
// CHECK-LABEL: tile.kernel @others
// CHECK-COUNT-4: tile.dot {{.*}} -> tensor<64x128xf32>
tile.kernel @others(%a: !m, %b: !m, %c: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %at = tile.load %a[%c0, %c0] : !m -> tensor<64x32xf32>
  %bk = tile.load %b[%c0, %c0] : !m -> tensor<128x32xf32>
  %bt = tile.transpose %bk [1, 0] : tensor<128x32xf32> -> tensor<32x128xf32>
  %p0 = tile.dot %at, %bt, %zero precision(tf32) : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
  %bn = tile.load %b[%c0, %c0] : !m -> tensor<32x128xf32>
  %twice = arith.addf %bn, %bn : tensor<32x128xf32>
  %p1 = tile.dot %at, %twice, %zero precision(tf32) : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
  %p2 = tile.dot %at, %bn, %zero precision(tf32) {instruction = "mma.m16n8k8.tf32"} : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %half = arith.addf %acc, %p0 : tensor<64x128xf32>
    %next = tile.dot %at, %bn, %half precision(tf32) : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  %s1 = arith.addf %p1, %p2 : tensor<64x128xf32>
  %s2 = arith.addf %s1, %sum : tensor<64x128xf32>
  tile.store %s2, %c[%c0, %c0] : tensor<64x128xf32>, !m
}

// Blocks of a cluster divide the rows of the sum.
// CHECK-LABEL: tile.kernel @cluster
// CHECK-NOT: tile.transpose
tile.kernel @cluster(%a: !m, %b: !m, %c: !m, %n: index) attributes {schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%c0, %i] : !m -> tensor<64x32xf32>
    %y = tile.load %b[%i, %c0] : !m -> tensor<32x128xf32>
    %next = tile.dot %x, %y, %acc precision(tf32) : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x128xf32>, !m
}
