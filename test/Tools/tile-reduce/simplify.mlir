// A program shrinks to the operations that the test needs.
// RUN: tile-reduce %s --tile-simplify=test=%S/Inputs/computes-exp2.sh | FileCheck %s

!vec = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>

// The kernel that the test does not need goes.
// CHECK-NOT: @other
// CHECK-LABEL: tile.kernel @sums
// The grid stays, because a kernel is not valid without one.
// CHECK: tile.grid
// The loop becomes one iteration. The multiplication and the addition become one of
// their operands.
// CHECK-NOT: scf.for
// CHECK-NOT: arith.mulf
// CHECK-NOT: arith.addf
// The load stays, because the compiler folds the exponential of a constant.
// CHECK: %[[LOAD:.*]] = tile.load
// CHECK: %[[EXP:.*]] = math.exp2 %[[LOAD]]
// The store stays, because the result of the exponential must have a use.
// CHECK-NEXT: tile.store %[[EXP]], %{{.*}}
// CHECK-NEXT: tile.return
// CHECK-NOT: tile.kernel
tile.kernel @sums(%x: !vec, %y: !vec) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %two = arith.constant dense<2.0> : tensor<128xf32>
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> tensor<128xf32> {
    %start = arith.muli %i, %c128 : index
    %a = tile.load %x[%start] : !vec -> tensor<128xf32>
    %b = arith.mulf %a, %two : tensor<128xf32>
    %c = math.exp2 %b : tensor<128xf32>
    %d = arith.addf %acc, %c : tensor<128xf32>
    scf.yield %d : tensor<128xf32>
  }
  tile.store %sum, %y[%c0] : tensor<128xf32>, !vec
}

tile.kernel @other(%x: !vec, %y: !vec) attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
