// Tiles whose extents have names, in all operations that work on tiles without a
// layout.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s
// RUN: tile-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CANONICAL

!b = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!sums = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// The number of warps may be open, too, and stays so.
// CHECK-LABEL: tile.kernel @f(
// CHECK-SAME: attributes {schedule = #tile.schedule<producers = 4, registers = [232, 40], params = {BM = 32}>} {
// CHECK: %[[BM:.*]] = tile.param BM in [16, 32, 64]
// CHECK: %[[BN:.*]] = tile.param B_2.n in [64]
// CHECK: tile.grid %[[BM]],
// CHECK: tile.load {{.*}} -> tensor<?x64xf16, #tile.open<BM>>
// CHECK: tile.load {{.*}} -> tensor<64x?xf16, #tile.open<B_2.n>>
// CHECK: tensor.splat %{{.*}}[%[[BM]], %[[BN]]] : tensor<?x?xf32, #tile.open<BM, B_2.n>>
// CHECK: tile.dot {{.*}} -> tensor<?x?xf32, #tile.open<BM, B_2.n>>
// CHECK: arith.cmpf {{.*}} : tensor<?x?xf32, #tile.open<BM, B_2.n>>
// CHECK: arith.select {{.*}} : tensor<?x?xi1, #tile.open<BM, B_2.n>>, tensor<?x?xf32, #tile.open<BM, B_2.n>>
// CHECK: tile.transpose {{.*}} -> tensor<?x?xf32, #tile.open<B_2.n, BM>>
// CHECK: tile.reduce addf {{.*}} -> tensor<?xf32, #tile.open<BM>>
// CHECK: tile.broadcast {{.*}} -> tensor<?x?xf32, #tile.open<BM, B_2.n>>
// CHECK: tile.scan maxnumf {{.*}} along 1 reverse : tensor<?x?xf32, #tile.open<BM, B_2.n>>
// CHECK: tile.iota along 1 : tensor<?x?xi32, #tile.open<BM, B_2.n>>
// CHECK: tile.atomic_rmw addf {{.*}} : tensor<?xf32, #tile.open<BM>>

// No parameter goes away, although no operation uses the value of ONLY_TYPE.
// CANONICAL: tile.param BM in
// CANONICAL: tile.param B_2.n in
// CANONICAL: tile.param ONLY_TYPE in
tile.kernel @f(%a: !b, %b: !b, %sums: !sums) attributes {
    schedule = #tile.schedule<params = {BM = 32}, producers = 4, registers = [232, 40]>} {
  %bm = tile.param BM in [16, 32, 64]
  %bn = tile.param B_2.n in [64]
  %only = tile.param ONLY_TYPE in [8, 16]
  %c0 = arith.constant 0 : index
  tile.grid %bm, %bm, %bm
  %at = tile.load %a[%c0, %c0] : !b -> tensor<?x64xf16, #tile.open<BM>>
  %bt = tile.load %b[%c0, %c0] : !b -> tensor<64x?xf16, #tile.open<B_2.n>>
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bn] : tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %d = tile.dot %at, %bt, %zero : tensor<?x64xf16, #tile.open<BM>>, tensor<64x?xf16, #tile.open<B_2.n>>
       -> tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %less = arith.cmpf olt, %d, %zero : tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %e = arith.select %less, %d, %zero : tensor<?x?xi1, #tile.open<BM, B_2.n>>, tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %t = tile.transpose %e [1, 0] : tensor<?x?xf32, #tile.open<BM, B_2.n>> -> tensor<?x?xf32, #tile.open<B_2.n, BM>>
  %r = tile.reduce addf %t along 0 : tensor<?x?xf32, #tile.open<B_2.n, BM>> -> tensor<?xf32, #tile.open<BM>>
  %w = tile.broadcast %r along 1 : tensor<?xf32, #tile.open<BM>> -> tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %p = tile.scan maxnumf %w along 1 reverse : tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %i = tile.iota along 1 : tensor<?x?xi32, #tile.open<BM, B_2.n>>
  %fi = arith.sitofp %i : tensor<?x?xi32, #tile.open<BM, B_2.n>> to tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %s = arith.addf %p, %fi : tensor<?x?xf32, #tile.open<BM, B_2.n>>
  %s1 = tile.reduce addf %s along 1 : tensor<?x?xf32, #tile.open<BM, B_2.n>> -> tensor<?xf32, #tile.open<BM>>
  tile.atomic_rmw addf %s1, %sums[%c0] : tensor<?xf32, #tile.open<BM>>, !sums
  %o = tile.load %sums[%c0] : !sums -> tensor<?xf32, #tile.open<ONLY_TYPE>>
  tile.store %o, %sums[%c0] : tensor<?xf32, #tile.open<ONLY_TYPE>>, !sums

  // Shapes and parts keep open extents.
  // CHECK: tile.reshape {{.*}} : tensor<?x64xf16, #tile.open<BM>> -> tensor<4x?x16xf16, #tile.open<BM>>
  %groups = tile.reshape %at : tensor<?x64xf16, #tile.open<BM>> -> tensor<4x?x16xf16, #tile.open<BM>>
  // CHECK: tile.extract {{.*}} [0, 32] : tensor<?x64xf16, #tile.open<BM>> -> tensor<?x32xf16, #tile.open<BM>>
  %half = tile.extract %at [0, 32] : tensor<?x64xf16, #tile.open<BM>> -> tensor<?x32xf16, #tile.open<BM>>
  // CHECK: tile.concatenate {{.*}} along 1 : tensor<?x32xf16, #tile.open<BM>> -> tensor<?x64xf16, #tile.open<BM>>
  %twice = tile.concatenate %half, %half along 1 : tensor<?x32xf16, #tile.open<BM>> -> tensor<?x64xf16, #tile.open<BM>>
  // CHECK: tile.reduce addf {{.*}} along 0 : tensor<?xf32, #tile.open<BM>> -> tensor<1xf32>
  %one = tile.reduce addf %s1 along 0 : tensor<?xf32, #tile.open<BM>> -> tensor<1xf32>
}
