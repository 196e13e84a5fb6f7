// Products of f32 become products of bf16 where they ask for it, and where the chip multiplies neither tf32 nor f32.
//
// RUN: tile-opt %s --tile-attach-target=chip=sm_80 --tile-expand-products | FileCheck %s --check-prefixes=CHECK,HAS
// RUN: tile-opt %s --tile-attach-target=chip=gfx942 --tile-expand-products | FileCheck %s --check-prefixes=CHECK,HAS
// RUN: tile-opt %s --tile-attach-target=chip=gfx1100 --tile-expand-products | FileCheck %s --check-prefixes=CHECK,LACKS
// RUN: tile-opt %s --tile-attach-target=chip=gfx1201 --tile-expand-products | FileCheck %s --check-prefixes=CHECK,LACKS

!b = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>

// The halves of a tile are computed once, after its definition, and the product of the large halves comes last.
// CHECK-LABEL: tile.kernel @bf16x3
// CHECK: %[[A:.+]] = tile.load
// CHECK: %[[HIGH:.+]] = arith.truncf %[[A]] fastmath<nnan> : tensor<64x64xf32> to tensor<64x64xbf16>
// CHECK: %[[WIDE:.+]] = arith.extf %[[HIGH]] : tensor<64x64xbf16> to tensor<64x64xf32>
// CHECK: %[[REST:.+]] = arith.subf %[[A]], %[[WIDE]] : tensor<64x64xf32>
// CHECK: %[[LOW:.+]] = arith.truncf %[[REST]] : tensor<64x64xf32> to tensor<64x64xbf16>
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.+]] = %
// CHECK-NOT: arith
// CHECK: %[[D0:.+]] = tile.dot %[[LOW]], %[[HIGH]], %[[ACC]] {warps = array<i64: 4, 1>} : tensor<64x64xbf16>
// CHECK: %[[D1:.+]] = tile.dot %[[HIGH]], %[[LOW]], %[[D0]] {warps = array<i64: 4, 1>}
// CHECK: %[[D2:.+]] = tile.dot %[[HIGH]], %[[HIGH]], %[[D1]] {warps = array<i64: 4, 1>}
// CHECK: scf.yield %[[D2]]
tile.kernel @bf16x3(%x: !b, %y: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %x[%c0, %c0] : !b -> tensor<64x64xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %d = tile.dot %a, %a, %acc precision(bf16x3) {warps = array<i64: 4, 1>}
        : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %r, %y[%c0, %c0] : tensor<64x64xf32>, !b
}

// CHECK-LABEL: tile.kernel @tf32
// HAS: tile.dot %{{.+}}, %{{.+}}, %{{.+}} precision(tf32) :
// LACKS-COUNT-3: tile.dot {{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
tile.kernel @tf32(%x: !b, %y: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %x[%c0, %c0] : !b -> tensor<64x64xf32>
  %d = tile.dot %a, %a, %zero precision(tf32)
      : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x64xf32>, !b
}
