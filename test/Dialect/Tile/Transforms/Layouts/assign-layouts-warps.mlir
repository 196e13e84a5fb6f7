// Warps are placed along the rows of a product, unless the author or the uses of
// the product determine another grid.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s

// CHECK-DAG: #[[ROWS:.+]] = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
// CHECK-DAG: #[[SQUARE:.+]] = #tile.mma<"mma.m16n8k16.f16", warps = [2, 2]>
// CHECK-DAG: #[[COLUMNS:.+]] = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!line = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>

// The product is only written to memory: a square grid of warps reads the least.
// CHECK-LABEL: tile.kernel @written
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[SQUARE]]>
tile.kernel @written(%a: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %at, %at, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %n = arith.negf %r : tensor<64x64xf32>
  tile.atomic_rmw addf %n, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// The first product is an operand of the second one without a conversion, if the
// warps of both products have whole rows.
// CHECK-LABEL: tile.kernel @chained
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
tile.kernel @chained(%a: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %at, %at, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %low = arith.truncf %r : tensor<64x64xf32> to tensor<64x64xf16>
  %s = tile.dot %low, %at, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %s, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// CHECK-LABEL: tile.kernel @pinned
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[COLUMNS]]>
tile.kernel @pinned(%a: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %at, %at, %zero {warps = array<i64: 1, 4>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// So does one that a loop adds up.
// CHECK-LABEL: tile.kernel @summed
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[SQUARE]]>
tile.kernel @summed(%a: !b, %o: !f, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %at = tile.load %a[%i, %c0] : !b -> tensor<64x64xf16>
    %s = tile.dot %at, %at, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// A product that continues another one has its warps: the sums stay in their
// registers, although the last ones alone are only written.
// CHECK-LABEL: tile.kernel @continued
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
// CHECK: tile.reduce
// CHECK-NOT: tile.convert_layout %{{.*}}f32
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
tile.kernel @continued(%a: !b, %o: !f, %v: !line) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %at, %at, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %m = tile.reduce maxnumf %r along 1 : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %m, %v[%c0] : tensor<64xf32>, !line
  %s = tile.dot %at, %at, %r : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %s, %o[%c0, %c0] : tensor<64x64xf32>, !f
}
