// Products share fragments of an operand in shared memory unless a tile is written between them.
// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tile.kernel(tile-repeat-reads))' | FileCheck %s

#padded = #tile.padded<8, order = [1, 0]>
#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#left = #tile.dot_operand<0, #mma>
#right = #tile.dot_operand<1, #mma>

// CHECK-LABEL: tile.kernel @together
tile.kernel @together() attributes {num_warps = 1 : i32} {
  %one = arith.constant 1 : index
  tile.grid %one, %one, %one
  %k, %g, %h, %zero = "test.values"() : () -> (tensor<32x128xf16, #padded>, tensor<128x32xf16, #padded>, tensor<128x32xf16, #padded>, tensor<32x32xf32, #mma>)
  // CHECK: %[[F:.*]] = tile.convert_layout {{.*}} -> tensor<32x128xf16, #dot_a
  // CHECK: tile.dot %[[F]]
  // CHECK: tile.dot %[[F]]
  %f = tile.convert_layout %k : tensor<32x128xf16, #padded> -> tensor<32x128xf16, #left>
  %gf = tile.convert_layout %g : tensor<128x32xf16, #padded> -> tensor<128x32xf16, #right>
  %x = tile.dot %f, %gf, %zero : tensor<32x128xf16, #left>, tensor<128x32xf16, #right> -> tensor<32x32xf32, #mma>
  %hf = tile.convert_layout %h : tensor<128x32xf16, #padded> -> tensor<128x32xf16, #right>
  %y = tile.dot %f, %hf, %zero : tensor<32x128xf16, #left>, tensor<128x32xf16, #right> -> tensor<32x32xf32, #mma>
  "test.use"(%x, %y) : (tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>) -> ()
}

// CHECK-LABEL: tile.kernel @apart
tile.kernel @apart() attributes {num_warps = 1 : i32} {
  %one = arith.constant 1 : index
  tile.grid %one, %one, %one
  %k, %g, %zero = "test.values"() : () -> (tensor<32x128xf16, #padded>, tensor<128x32xf16, #padded>, tensor<32x32xf32, #mma>)
  %f = tile.convert_layout %k : tensor<32x128xf16, #padded> -> tensor<32x128xf16, #left>
  %gf = tile.convert_layout %g : tensor<128x32xf16, #padded> -> tensor<128x32xf16, #right>
  // CHECK: tile.dot %[[F:.*]], %[[G:.*]], %{{.*}} :
  %x = tile.dot %f, %gf, %zero : tensor<32x128xf16, #left>, tensor<128x32xf16, #right> -> tensor<32x32xf32, #mma>
  %s = tile.convert_layout %x : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #padded>
  // CHECK: -> tensor<32x32xf32, #tile.padded
  // CHECK: %[[F2:.*]] = tile.convert_layout {{.*}} -> tensor<32x128xf16, #dot_a
  // CHECK: %[[G2:.*]] = tile.convert_layout {{.*}} -> tensor<128x32xf16, #dot_b
  // CHECK: tile.dot %[[F2]], %[[G2]],
  // CHECK: tile.dot %[[F2]], %[[G2]],
  %y = tile.dot %f, %gf, %x : tensor<32x128xf16, #left>, tensor<128x32xf16, #right> -> tensor<32x32xf32, #mma>
  %z = tile.dot %f, %gf, %y : tensor<32x128xf16, #left>, tensor<128x32xf16, #right> -> tensor<32x32xf32, #mma>
  "test.use"(%s, %z) : (tensor<32x32xf32, #padded>, tensor<32x32xf32, #mma>) -> ()
}

// The product of another block reads fragments that the loop keeps.
// CHECK-LABEL: tile.kernel @kept
tile.kernel @kept() attributes {num_warps = 1 : i32} {
  %one = arith.constant 1 : index
  tile.grid %one, %one, %one
  %k, %g, %zero, %n = "test.values"() : () -> (tensor<32x128xf16, #padded>, tensor<128x32xf16, #padded>, tensor<32x32xf32, #mma>, index)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[F:.*]] = tile.convert_layout {{.*}} -> tensor<32x128xf16, #dot_a
  %f = tile.convert_layout %k : tensor<32x128xf16, #padded> -> tensor<32x128xf16, #left>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) {
    %gf = tile.convert_layout %g : tensor<128x32xf16, #padded> -> tensor<128x32xf16, #right>
    // CHECK: tile.dot %[[F]]
    %x = tile.dot %f, %gf, %acc : tensor<32x128xf16, #left>, tensor<128x32xf16, #right> -> tensor<32x32xf32, #mma>
    %s = tile.convert_layout %x : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #padded>
    "test.use"(%s) : (tensor<32x32xf32, #padded>) -> ()
    // CHECK: tile.dot %[[F]]
    %y = tile.dot %f, %gf, %x : tensor<32x128xf16, #left>, tensor<128x32xf16, #right> -> tensor<32x32xf32, #mma>
    scf.yield %y : tensor<32x32xf32, #mma>
  }
  "test.use"(%sum) : (tensor<32x32xf32, #mma>) -> ()
}
