// RUN: tile-opt %s -allow-unregistered-dialect --pass-pipeline='builtin.module(tile.kernel(tile-scale-after-reduction))' | FileCheck %s
// RUN: tile-opt %s -allow-unregistered-dialect --pass-pipeline='builtin.module(tile.kernel(tile-scale-after-reduction,canonicalize))' \
// RUN:   | FileCheck %s --check-prefix=CONSTANT

!s = tensor<64x64xf32>
!row = tensor<64xf32>

// The maximum of the products is the product of the maximum if the scale is positive
// and finite. Other readers of the product become FMAs.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: %[[SCORES:.*]] = "test.scores"
// CHECK: %[[SPLAT:.*]] = tensor.splat %[[SCALE:.*]] : tensor<64x64xf32>
// CHECK-NOT: arith.mulf
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[SCALE]], %{{.*}} : f32
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[SCALE]], %{{.*}} : f32
// CHECK: %[[POSITIVE:.*]] = arith.andi %[[ABOVE]], %[[BELOW]] : i1
// CHECK: %[[MOST:.*]] = scf.if %[[POSITIVE]] -> (tensor<64xf32>) {
// CHECK:   %[[M:.*]] = tile.reduce maxnumf %[[SCORES]] along 1
// CHECK:   %[[ROW:.*]] = tensor.splat %[[SCALE]] : tensor<64xf32>
// CHECK:   %[[SCALED:.*]] = arith.mulf %[[M]], %[[ROW]] : tensor<64xf32>
// CHECK:   scf.yield %[[SCALED]]
// CHECK: } else {
// CHECK:   %[[PRODUCT:.*]] = arith.mulf %[[SCORES]], %[[SPLAT]]
// CHECK:   %[[M:.*]] = tile.reduce maxnumf %[[PRODUCT]] along 1
// CHECK:   scf.yield %[[M]]
// CHECK: }
// CHECK: %[[B:.*]] = tile.broadcast %[[MOST]]
// CHECK: %[[MINUS:.*]] = arith.negf %[[B]]
// CHECK: math.fma %[[SCORES]], %[[SPLAT]], %[[MINUS]]
// CHECK: math.fma %[[SCORES]], %[[SPLAT]], %[[B]]
tile.kernel @softmax(%scale: f32) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %scores = "test.scores"() : () -> !s
  %splat = tensor.splat %scale : !s
  %product = arith.mulf %scores, %splat : !s
  %most = tile.reduce maxnumf %product along 1 : !s -> !row
  %b = tile.broadcast %most along 1 : !row -> !s
  %d = arith.subf %product, %b : !s
  %e = arith.addf %b, %product : !s
  "test.use"(%d, %e) : (!s, !s) -> ()
}

// The sign of a constant is known.
// CONSTANT-LABEL: tile.kernel @constant
// CONSTANT-NOT: scf.if
// CONSTANT: tile.reduce minnumf %{{.*}} along 1
// CONSTANT: arith.mulf %{{.*}} : tensor<64xf32>
tile.kernel @constant() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %scores = "test.scores"() : () -> !s
  %scale = arith.constant 0.125 : f32
  %splat = tensor.splat %scale : !s
  %product = arith.mulf %splat, %scores : !s
  %least = tile.reduce minnumf %product along 1 : !s -> !row
  "test.use"(%least) : (!row) -> ()
}

// A constant tile of equal elements is a scale, too.
// CONSTANT-LABEL: tile.kernel @constant_tile
// CONSTANT-DAG: %[[SPLAT:.*]] = arith.constant dense<1.250000e-01> : tensor<64x64xf32>
// CONSTANT-DAG: %[[ROW:.*]] = arith.constant dense<1.250000e-01> : tensor<64xf32>
// CONSTANT: %[[SCORES:.*]] = "test.scores"
// CONSTANT-NOT: scf.if
// CONSTANT: %[[M:.*]] = tile.reduce maxnumf %[[SCORES]] along 1
// CONSTANT: %[[MOST:.*]] = arith.mulf %[[M]], %[[ROW]] : tensor<64xf32>
// CONSTANT: math.fma %[[SCORES]], %[[SPLAT]], %{{.*}} : tensor<64x64xf32>
tile.kernel @constant_tile() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %scores = "test.scores"() : () -> !s
  %splat = arith.constant dense<0.125> : !s
  %product = arith.mulf %scores, %splat : !s
  %most = tile.reduce maxnumf %product along 1 : !s -> !row
  %b = tile.broadcast %most along 1 : !row -> !s
  %d = arith.subf %product, %b : !s
  "test.use"(%d) : (!s) -> ()
}

// Unchanged: a sum, a product that something else reads, a subtraction of the product,
// the sum of the product with itself, a maximum with NaN, a scale for each row, and f16.
// CHECK-LABEL: tile.kernel @unchanged
// CHECK-NOT: scf.if
// CHECK-NOT: math.fma
tile.kernel @unchanged(%scale: f32) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %scores = "test.scores"() : () -> !s
  %splat = tensor.splat %scale : !s
  %0 = arith.mulf %scores, %splat : !s
  %sum = tile.reduce addf %0 along 1 : !s -> !row
  %1 = arith.mulf %scores, %splat : !s
  %read = tile.reduce maxnumf %1 along 1 : !s -> !row
  %exp = math.exp2 %1 : !s
  %2 = arith.mulf %scores, %splat : !s
  %subtracted = tile.reduce maxnumf %2 along 1 : !s -> !row
  %difference = arith.subf %scores, %2 : !s
  %6 = arith.mulf %scores, %splat : !s
  %twice = tile.reduce maxnumf %6 along 1 : !s -> !row
  %double = arith.addf %6, %6 : !s
  %3 = arith.mulf %scores, %splat : !s
  %nan = tile.reduce maximumf %3 along 1 : !s -> !row
  %rows = "test.row"() : () -> !row
  %each = tile.broadcast %rows along 1 : !row -> !s
  %4 = arith.mulf %scores, %each : !s
  %varied = tile.reduce maxnumf %4 along 1 : !s -> !row
  %halves = "test.halves"() : () -> tensor<64x64xf16>
  %narrow = arith.truncf %scale : f32 to f16
  %half = tensor.splat %narrow : tensor<64x64xf16>
  %5 = arith.mulf %halves, %half : tensor<64x64xf16>
  %short = tile.reduce maxnumf %5 along 1 : tensor<64x64xf16> -> tensor<64xf16>
  "test.use"(%sum, %read, %exp, %subtracted, %difference, %twice, %double, %nan, %varied, %short)
      : (!row, !row, !s, !row, !s, !row, !s, !row, !row, tensor<64xf16>) -> ()
}

// Two products with one addition: the first one becomes an FMA, the second one stays.
// CHECK-LABEL: tile.kernel @shared_addition
// CHECK: %[[KEPT:.+]] = arith.mulf %{{.+}}, %{{.+}} : tensor<64x64xf32>
// CHECK: scf.if
// CHECK: tile.reduce maxnumf %[[KEPT]] along 1
// CHECK-NOT: scf.if
// CHECK: math.fma %{{.+}}, %{{.+}}, %[[KEPT]]
tile.kernel @shared_addition(%scale: f32) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %scores:2 = "test.scores"() : () -> (!s, !s)
  %splat = tensor.splat %scale : !s
  %first = arith.mulf %scores#0, %splat : !s
  %second = arith.mulf %scores#1, %splat : !s
  %0 = tile.reduce maxnumf %first along 1 : !s -> !row
  %1 = tile.reduce maxnumf %second along 1 : !s -> !row
  %sum = arith.addf %first, %second : !s
  "test.use"(%0, %1, %sum) : (!row, !row, !s) -> ()
}
