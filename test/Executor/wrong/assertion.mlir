// An element of a condition is false. What was printed before is shown.
//
// DEFINE: %{arguments} = --arg=zeros:100:f32 --arg=7
// RUN: not tile-run %s --chip=sm_90a %{arguments} > %t 2>&1
// RUN: FileCheck %s < %t
// RUN: not tile-run %s --chip=gfx1100 %{arguments} --checks=off > %t 2>&1
// RUN: FileCheck %s < %t
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:100:f32 --arg=-1 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not tile-run %s --chip=gfx942 --arg=zeros:100:f32 --arg=1000 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 %{arguments}

// CHECK: n: block (0, 0, 0), thread 0: 7
// CHECK: assertion.mlir:[[@LINE+29]]:3: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: assertion failed at [7]: i must be less than n, 100%

// SCALAR: assertion.mlir:[[@LINE+15]]:3: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: assertion failed: n is negative

// Calls in two branches stay apart.
// BRANCH: assertion.mlir:[[@LINE+18]]:5: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: assertion failed: n is too large

!b = !tile.buffer<100xf32, #tile.strided<[1]>, global>

tile.kernel @k(%b: !b, %n: i32) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.grid %c1, %c1, %c1
  tile.print "n" %n : i32
  // RIGHT: %limit = arith.constant dense<100> : tensor<100xi32>
  %limit = tensor.splat %n : tensor<100xi32> // WRONG
  %is_natural = arith.cmpi sge, %n, %zero : i32
  tile.assert %is_natural, "n is negative" : i1
  %most = arith.constant 100 : i32
  %least = arith.constant 1 : i32
  %is_positive = arith.cmpi sge, %n, %least : i32
  scf.if %is_positive {
    %is_small = arith.cmpi sle, %n, %most : i32
    tile.assert %is_small, "n is too large" : i1
  } else {
    tile.assert %is_natural, "n is still negative" : i1
  }
  %i = tile.iota along 0 : tensor<100xi32>
  %below = arith.cmpi slt, %i, %limit : tensor<100xi32>
  tile.assert %below, "i must be less than n, 100%" : tensor<100xi1>
}
