// Calls in kernels become the bodies of the functions, at any depth and in regions. Functions that nothing uses any more
// are erased.
// RUN: tile-opt %s -split-input-file --tile-inline-calls | FileCheck %s

!x = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// CHECK-NOT: func.func private @twice
func.func private @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
// CHECK-NOT: func.func private @read
func.func private @read(%b: !x, %i: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %t = tile.load %b[%i] : !x -> tensor<64xf32>
  %u = func.call @twice(%t) : (tensor<64xf32>) -> tensor<64xf32>
  return %t, %u : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: tile.kernel @calls(
// CHECK-SAME: %[[X:.+]]: !tile.buffer
tile.kernel @calls(%x: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // CHECK: scf.for %[[I:.+]] =
  scf.for %i = %c0 to %c64 step %c64 {
    // CHECK-NEXT: %[[T:.+]] = tile.load %[[X]][%[[I]]]
    // CHECK-NEXT: %[[U:.+]] = arith.addf %[[T]], %[[T]]
    // CHECK-NEXT: %[[V:.+]] = arith.addf %[[U]], %[[U]]
    // CHECK-NEXT: arith.subf %[[V]], %[[T]]
    %t, %u = func.call @read(%x, %i) : (!x, index) -> (tensor<64xf32>, tensor<64xf32>)
    %v = func.call @twice(%u) : (tensor<64xf32>) -> tensor<64xf32>
    %w = arith.subf %v, %t : tensor<64xf32>
    tile.store %w, %x[%i] : tensor<64xf32>, !x
  }
}

// A function that no kernel calls stays.
// CHECK: func.func private @unused
func.func private @unused(%x: tensor<64xf32>) -> tensor<64xf32> {
  return %x : tensor<64xf32>
}
