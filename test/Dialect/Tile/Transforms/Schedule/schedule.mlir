// Products of one iteration run beside the exponentials of another: the order of
// FlashAttention-3, with the product of keys one iteration ahead.

// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-schedule))' | FileCheck %s

!rows = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @attention
// Two warpgroups take turns, so that one multiplies while the other computes
// exponentials.
// CHECK-SAME: #tile.schedule<producers = 4, registers = [240, 24], turns>
tile.kernel @attention(%q: !rows, %k: !rows, %v: !rows, %o: !rows, %scale: f32)
    attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4, registers = [240, 24]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  // CHECK: %[[N:.*]] = tile.dim %arg1[0]
  %n = tile.dim %k[0] : !rows
  tile.grid %c1, %c1, %c1
  %qt = tile.load %q[%c0, %c0] : !rows -> tensor<128x128xf16>
  %c = tensor.splat %scale : tensor<128x128xf32>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // CHECK: %[[NONE:.*]] = arith.constant dense<0xFF800000>
  %no_max = arith.constant dense<0xFF800000> : tensor<128xf32>

  // The prologue: keys of the first iteration.
  // CHECK: tile.load %arg1[%[[C0:.*]], %[[C0]]]
  // CHECK: %[[S0:.*]] = tile.dot
  // CHECK: %[[SC0:.*]] = arith.mulf %[[S0]]
  // CHECK: %[[M0:.*]] = tile.reduce maxnumf %[[SC0]]
  // CHECK: %[[MAX0:.*]] = arith.maxnumf %[[NONE]], %[[M0]]
  // CHECK: math.exp2
  // CHECK: %[[SCALED0:.*]] = arith.mulf
  // CHECK: %[[P0:.*]] = arith.truncf

  // Carried: the scaled output, the weights and the maximum.
  // CHECK: %[[SECOND:.*]] = arith.constant 128 : index
  // CHECK: %[[L:.*]]:3 = scf.for %[[I:.*]] = %[[SECOND]] to %[[N]] step
  // CHECK-SAME: iter_args(%[[SCALED:.*]] = %[[SCALED0]], %[[P:.*]] = %[[P0]], %[[MAX:.*]] = %[[MAX0]])
  %r:2 = scf.for %i = %c0 to %n step %c128 iter_args(%out = %zero, %max = %no_max)
      -> (tensor<128x128xf32>, tensor<128xf32>) {
    // CHECK: %[[BEFORE:.*]] = arith.subi %[[I]]
    // CHECK: tile.load %arg1[%[[I]], %[[C0]]]
    // CHECK: %[[S:.*]] = tile.dot
    // CHECK: %[[V:.*]] = tile.load %arg2[%[[BEFORE]], %[[C0]]]
    // CHECK: %[[OUT:.*]] = tile.dot %[[P]], %[[V]], %[[SCALED]]
    // CHECK: %[[SC:.*]] = arith.mulf %[[S]]
    // CHECK: %[[M:.*]] = tile.reduce maxnumf %[[SC]]
    // CHECK: %[[MAX1:.*]] = arith.maxnumf %[[MAX]], %[[M]]
    // CHECK: %[[E:.*]] = math.exp2
    // CHECK: %[[CHANGE:.*]] = arith.subf %[[MAX]], %[[MAX1]]
    // CHECK: %[[FACTOR:.*]] = math.exp2 %[[CHANGE]]
    // CHECK: %[[T:.*]] = tile.broadcast %[[FACTOR]]
    // CHECK: %[[SCALED1:.*]] = arith.mulf %[[OUT]], %[[T]]
    // CHECK: %[[P1:.*]] = arith.truncf %[[E]]
    // CHECK: scf.yield %[[SCALED1]], %[[P1]], %[[MAX1]]
    %kt = tile.load %k[%i, %c0] : !rows -> tensor<128x128xf16>
    %k_t = tile.transpose %kt [1, 0] : tensor<128x128xf16> -> tensor<128x128xf16>
    %s = tile.dot %qt, %k_t, %zero : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    %s2 = arith.mulf %s, %c : tensor<128x128xf32>
    %m = tile.reduce maxnumf %s2 along 1 : tensor<128x128xf32> -> tensor<128xf32>
    %new_max = arith.maxnumf %max, %m : tensor<128xf32>
    %mt = tile.broadcast %new_max along 1 : tensor<128xf32> -> tensor<128x128xf32>
    %below = arith.subf %s2, %mt : tensor<128x128xf32>
    %p = math.exp2 %below : tensor<128x128xf32>
    %change = arith.subf %max, %new_max : tensor<128xf32>
    %factor = math.exp2 %change : tensor<128xf32>
    %ft = tile.broadcast %factor along 1 : tensor<128xf32> -> tensor<128x128xf32>
    %scaled = arith.mulf %out, %ft : tensor<128x128xf32>
    %p16 = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xf16>
    %vt = tile.load %v[%i, %c0] : !rows -> tensor<128x128xf16>
    %new_out = tile.dot %p16, %vt, %scaled : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %new_out, %new_max : tensor<128x128xf32>, tensor<128xf32>
  }

  // The epilogue: values of the last iteration. Without an iteration, the
  // results are the initial values.
  // CHECK: %[[EMPTY:.*]] = arith.cmpi sge, %[[C0]], %[[N]]
  // CHECK: %[[ONE:.*]] = arith.constant 1
  // CHECK: %[[MOST:.*]] = arith.subi %[[N]], %[[ONE]]
  // CHECK: %[[STEPS:.*]] = arith.divui %[[MOST]], %[[C128:.*]] :
  // CHECK: %[[LAST:.*]] = arith.muli %[[STEPS]], %[[C128]]
  // CHECK: %[[PLACE:.*]] = arith.select %[[EMPTY]], %[[C0]], %[[LAST]]
  // CHECK: %[[VL:.*]] = tile.load %arg2[%[[PLACE]], %[[C0]]]
  // CHECK: %[[END:.*]] = tile.dot %[[L]]#1, %[[VL]], %[[L]]#0
  // CHECK: arith.select %[[EMPTY]], %{{.*}}, %[[END]]
  // CHECK: arith.select %[[EMPTY]], %[[NONE]], %[[L]]#2
  %mt = tile.broadcast %r#1 along 1 : tensor<128xf32> -> tensor<128x128xf32>
  %e = arith.addf %r#0, %mt : tensor<128x128xf32>
  %e16 = arith.truncf %e : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %e16, %o[%c0, %c0] : tensor<128x128xf16>, !rows
}
