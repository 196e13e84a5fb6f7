// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(tile-skip-unit-factors))' | FileCheck %s

module attributes {tile.target = "sm_90a"} {
gpu.module @kernels {
  // The product is needed at the end of the block: it follows the conversion, and the
  // sum and the weights are computed before the branch.
  // CHECK-LABEL: func.func @rotated
  // CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK:   %[[GROWS:.*]] = arith.cmpf
  // CHECK:   %[[A:.*]] = arith.select %[[GROWS]]
  // CHECK:   %[[F:.*]] = vector.shuffle %[[A]], %[[A]]
  // CHECK:   %[[SUM:.*]] = arith.mulf %{{.*}}, %[[A]] : vector<2xf32>
  // CHECK:   %[[W:.*]] = arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
  // CHECK:   %[[G0:.*]] = vector.extract %[[GROWS]][0] : i1
  // CHECK:   %[[G1:.*]] = vector.extract %[[GROWS]][1] : i1
  // CHECK:   %[[G:.*]] = arith.ori %[[G0]], %[[G1]] : i1
  // CHECK:   vector.extract %[[SUM]][0]
  // CHECK:   vector.extract %[[SUM]][1]
  // CHECK:   %[[WORDS:.*]] = vector.bitcast %[[W]] : vector<4xf16> to vector<2xi32>
  // CHECK:   llvm.inline_asm has_side_effects "", "f,f,r,r" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
  // CHECK:   %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[G]] -> i1
  // CHECK:   %[[R:.*]] = scf.if %[[ANY]] -> (vector<16xf32>) {
  // CHECK:     %[[P:.*]] = arith.mulf %[[O]], %[[F]] : vector<16xf32>
  // CHECK:     scf.yield %[[P]]
  // CHECK:   } else {
  // CHECK:     scf.yield %[[O]]
  // CHECK:   }
  // CHECK:   scf.yield %[[R]], %[[SUM]], %[[W]]
  func.func @rotated(%o0: vector<16xf32>, %s0: vector<2xf32>, %w0: vector<4xf16>,
                     %x: vector<2xf32>, %y: vector<4xf32>, %end: index)
      -> (vector<16xf32>, vector<2xf32>, vector<4xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant dense<1.0> : vector<2xf32>
    %all:3 = scf.for %i = %c0 to %end step %c1
        iter_args(%o = %o0, %s = %s0, %w = %w0) -> (vector<16xf32>, vector<2xf32>, vector<4xf16>) {
      %grows = arith.cmpf ogt, %x, %s : vector<2xf32>
      %a = arith.select %grows, %x, %one : vector<2xi1>, vector<2xf32>
      %f = vector.shuffle %a, %a [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1] : vector<2xf32>, vector<2xf32>
      %p = arith.mulf %o, %f : vector<16xf32>
      %sum = arith.mulf %s, %a : vector<2xf32>
      %next = arith.truncf %y : vector<4xf32> to vector<4xf16>
      scf.yield %p, %sum, %next : vector<16xf32>, vector<2xf32>, vector<4xf16>
    }
    return %all#0, %all#1, %all#2 : vector<16xf32>, vector<2xf32>, vector<4xf16>
  }

  // One is the first choice, and the factor the first operand.
  // CHECK-LABEL: func.func @inverted
  // CHECK-SAME: %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: f32, %[[C:.*]]: i1
  // CHECK: %[[NOT:.*]] = arith.xori %[[C]], %true
  // CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[NOT]] -> i1
  // CHECK: scf.if %[[ANY]]
  func.func @inverted(%x: vector<16xf32>, %y: f32, %c: i1) -> vector<16xf32> {
    %one = arith.constant 1.0 : f32
    %a = arith.select %c, %one, %y : f32
    %f = vector.broadcast %a : f32 to vector<16xf32>
    %p = arith.mulf %f, %x : vector<16xf32>
    return %p : vector<16xf32>
  }

  // Another operation of the block needs the product.
  // CHECK-LABEL: func.func @used
  // CHECK-NOT: scf.if
  func.func @used(%x: vector<16xf32>, %y: f32, %c: i1) -> vector<16xf32> {
    %one = arith.constant 1.0 : f32
    %a = arith.select %c, %y, %one : f32
    %f = vector.broadcast %a : f32 to vector<16xf32>
    %p = arith.mulf %x, %f : vector<16xf32>
    %q = arith.addf %p, %x : vector<16xf32>
    return %q : vector<16xf32>
  }

  // Too few elements, a constant, and a factor that is never known to be one.
  // CHECK-LABEL: func.func @kept
  // CHECK-NOT: scf.if
  func.func @kept(%x: vector<8xf32>, %z: vector<16xf32>, %y: f32, %c: i1)
      -> (vector<8xf32>, vector<16xf32>, vector<16xf32>) {
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %zeros = arith.constant dense<0.0> : vector<16xf32>
    %a = arith.select %c, %y, %one : f32
    %b = arith.select %c, %y, %two : f32
    %f8 = vector.broadcast %a : f32 to vector<8xf32>
    %f16 = vector.broadcast %a : f32 to vector<16xf32>
    %g16 = vector.broadcast %b : f32 to vector<16xf32>
    %p = arith.mulf %x, %f8 : vector<8xf32>
    %q = arith.mulf %zeros, %f16 : vector<16xf32>
    %r = arith.mulf %z, %g16 : vector<16xf32>
    return %p, %q, %r : vector<8xf32>, vector<16xf32>, vector<16xf32>
  }

  // An operation with side effects stays behind the branch.
  // CHECK-LABEL: func.func @effects
  // CHECK: scf.if
  // CHECK: memref.store
  func.func @effects(%x: vector<16xf32>, %y: f32, %c: i1, %m: memref<1xf32>) -> vector<16xf32> {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %a = arith.select %c, %y, %one : f32
    %f = vector.broadcast %a : f32 to vector<16xf32>
    %p = arith.mulf %x, %f : vector<16xf32>
    memref.store %y, %m[%c0] : memref<1xf32>
    return %p : vector<16xf32>
  }
}
}

// -----

module attributes {tile.target = "gfx942"} {
gpu.module @kernels {
  // CHECK-LABEL: func.func @wave
  // CHECK-SAME: %{{.*}}: vector<16xf32>, %{{.*}}: f32, %[[C:.*]]: i1
  // CHECK-NOT: inline_asm
  // CHECK: %[[LANES:.*]] = rocdl.ballot %[[C]] : i64
  // CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[LANES]], %{{.*}} : i64
  // CHECK: scf.if %[[ANY]]
  func.func @wave(%x: vector<16xf32>, %y: f32, %c: i1) -> vector<16xf32> {
    %one = arith.constant 1.0 : f32
    %a = arith.select %c, %y, %one : f32
    %f = vector.broadcast %a : f32 to vector<16xf32>
    %p = arith.mulf %x, %f : vector<16xf32>
    return %p : vector<16xf32>
  }
}
}
