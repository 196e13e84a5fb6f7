// Of the shapes of an instruction, a product has the one with which warps exchange
// the fewest elements with shared memory; if they are equal, the largest.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefix=GFX1100

// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefix=GFX950

// CHECK-DAG: #[[WIDE:.+]] = #tile.mma<"mfma.32x32x8.f16", warps = [4, 1], transposed>
// CHECK-DAG: #[[SMALL:.+]] = #tile.mma<"mfma.16x16x16.f16", warps = [4, 1], transposed>
// CHECK-DAG: #[[SQUARE:.+]] = #tile.mma<"mfma.32x32x8.f16", warps = [2, 2], transposed>
// GFX950-DAG: #[[FIRST:.+]] = #tile.mma<"mfma.16x16x32.f16", warps = [4, 1], transposed>
// GFX950-DAG: #[[NEXT:.+]] = #tile.mma<"mfma.16x16x32.chained.f16", warps = [4, 1], transposed>
// GFX1100-DAG: #[[FEW:.+]] = #tile.mma<"wmma.gfx11.16x16x16.f16", warps = [4, 1], transposed>
// GFX1100-DAG: #[[MANY:.+]] = #tile.mma<"wmma.gfx11.16x16x16.f16", warps = [2, 2]>

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>

// Four warps have 32 of 128 rows each.
// CHECK-LABEL: tile.kernel @rows(
// CHECK: tile.reduce maxnumf %{{.+}} along 1 : tensor<128x64xf32, #[[WIDE]]>
// GFX1100-LABEL: tile.kernel @rows(
// GFX1100: tile.reduce maxnumf %{{.+}} along 1 : tensor<128x64xf32, #[[FEW]]>
tile.kernel @rows(%q: !b, %k: !b, %o: !v) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %qt = tile.load %q[%c0, %c0] : !b -> tensor<128x64xf16>
  %kt = tile.load %k[%c0, %c0] : !b -> tensor<64x64xf16>
  %s = tile.dot %qt, %kt, %zero : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
  %r = tile.reduce maxnumf %s along 1 : tensor<128x64xf32> -> tensor<128xf32>
  tile.store %r, %o[%c0] : tensor<128xf32>, !v
}

// Rows that are reduced stay with a warp, so 64 rows have the small shape. The
// result is operand a of the second product without an exchange.
// CHECK-LABEL: tile.kernel @chain(
// CHECK: tile.reduce maxnumf %{{.+}} along 1 : tensor<64x64xf32, #[[SMALL]]>
// CHECK: tile.dot %{{.+}} -> tensor<64x64xf32, #[[SMALL]]>
// On gfx950 the second product has the depth in the order of the first one's
// accumulators.
// GFX950-LABEL: tile.kernel @chain(
// GFX950: tile.reduce maxnumf %{{.+}} along 1 : tensor<64x64xf32, #[[FIRST]]>
// GFX950: tile.dot %{{.+}} -> tensor<64x64xf32, #[[NEXT]]>
// GFX1100-LABEL: tile.kernel @chain(
// GFX1100: tile.reduce maxnumf %{{.+}} along 1 : tensor<64x64xf32, #[[FEW]]>
tile.kernel @chain(%q: !b, %k: !b, %w: !b, %o: !v, %p: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %qt = tile.load %q[%c0, %c0] : !b -> tensor<64x64xf16>
  %kt = tile.load %k[%c0, %c0] : !b -> tensor<64x64xf16>
  %wt = tile.load %w[%c0, %c0] : !b -> tensor<64x64xf16>
  %s = tile.dot %qt, %kt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %r = tile.reduce maxnumf %s along 1 : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %r, %o[%c0] : tensor<64xf32>, !v
  %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %d = tile.dot %h, %wt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %d, %p[%c0, %c0] : tensor<64x64xf32>, !f
}

// Sums that are only stored may have a square of warps, which reads less.
// CHECK-LABEL: tile.kernel @loop(
// CHECK: tile.dot %{{.+}} -> tensor<64x64xf32, #[[SQUARE]]>
// GFX1100-LABEL: tile.kernel @loop(
// GFX1100: tile.dot %{{.+}} -> tensor<64x64xf32, #[[MANY]]>
tile.kernel @loop(%a: !b, %b: !b, %o: !f, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %at = tile.load %a[%i, %c0] : !b -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !b -> tensor<64x64xf16>
    %d = tile.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// Products that continue each other are transposed together: rows of the last one
// are reduced.
// GFX1100-LABEL: tile.kernel @continued(
// GFX1100: tile.dot %{{.+}} -> tensor<64x64xf32, #[[FEW]]>
// GFX1100-NOT: tile.convert_layout %{{.*}}f32
// GFX1100: tile.dot %{{.+}} -> tensor<64x64xf32, #[[FEW]]>
// GFX1100: tile.reduce
tile.kernel @continued(%q: !b, %k: !b, %o: !v) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %qt = tile.load %q[%c0, %c0] : !b -> tensor<64x64xf16>
  %kt = tile.load %k[%c0, %c0] : !b -> tensor<64x64xf16>
  %s = tile.dot %qt, %kt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %t = tile.dot %kt, %qt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %r = tile.reduce maxnumf %t along 1 : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %r, %o[%c0] : tensor<64xf32>, !v
}
