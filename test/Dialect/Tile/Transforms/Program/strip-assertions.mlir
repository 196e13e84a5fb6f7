// RUN: tile-opt %s -split-input-file --tile-strip-assertions | FileCheck %s

!b = !tile.buffer<?xi32, #tile.strided<[1], align = 16>, global>

// What only an assertion needs goes with it, a read and a loop too.
// CHECK-LABEL: tile.kernel @assertions
// CHECK-NEXT: %[[C1:.+]] = arith.constant 1 : index
// CHECK-NEXT: %[[C0:.+]] = arith.constant 0 : index
// CHECK-NEXT: tile.grid %[[C1]], %[[C1]], %[[C1]]
// CHECK-NEXT: %[[T:.+]] = tile.load
// CHECK-NEXT: tile.print "t" %[[T]]
// CHECK-NEXT: tile.store %[[T]]
// CHECK-NEXT: tile.return
tile.kernel @assertions(%src: !b, %dst: !b, %limit: !b) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0] : !b -> tensor<128xi32>
  %most = tile.load_scalar %limit[%c0] : !b -> i32
  %mosts = tensor.splat %most : tensor<128xi32>
  %inside = arith.cmpi slt, %t, %mosts : tensor<128xi32>
  tile.assert %inside, "an index is out of bounds" : tensor<128xi1>
  scf.for %i = %c0 to %c8 step %c1 {
    %n = tile.load_scalar %limit[%i] : !b -> i32
    %positive = arith.cmpi sgt, %n, %most : i32
    tile.assert %positive, "limits do not rise" : i1
  }
  tile.print "t" %t : tensor<128xi32>
  tile.store %t, %dst[%c0] : tensor<128xi32>, !b
}

// -----

// A module without assertions is unchanged.
// CHECK-LABEL: func.func @unused
// CHECK: arith.addi
func.func @unused(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %x : i32
}
