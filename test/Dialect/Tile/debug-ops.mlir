// Assertions and prints round-trip, and passes keep them.
// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s --check-prefix=KEPT

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

// CHECK-LABEL: func.func @reports
// KEPT-LABEL: func.func @reports
func.func @reports(%c: i1, %t: tensor<16x64xi1>, %laid_out: tensor<16x64xi1, #rows>,
                   %open: tensor<?x?xi1, #tile.open<M, N>>) {
  // CHECK: tile.assert %{{.*}}, "100% \22sure\22" : i1
  tile.assert %c, "100% \"sure\"" : i1
  // CHECK: tile.assert %{{.*}}, "each" : tensor<16x64xi1>
  tile.assert %t, "each" : tensor<16x64xi1>
  // CHECK: tile.assert %{{.*}}, "each" : tensor<16x64xi1, #blocked>
  tile.assert %laid_out, "each" : tensor<16x64xi1, #rows>
  // CHECK: tile.assert %{{.*}}, "each" : tensor<?x?xi1, #tile.open<M, N>>
  tile.assert %open, "each" : tensor<?x?xi1, #tile.open<M, N>>
  // CHECK: tile.print "c" %{{.*}} : i1
  tile.print "c" %c : i1
  // CHECK: tile.print "part" %{{.*}} within [10, 60] : tensor<16x64xi1>
  tile.print "part" %t within [10, 60] : tensor<16x64xi1>

  // Nothing is removed, merged, or hoisted.
  // KEPT-COUNT-4: tile.assert
  // KEPT-COUNT-2: tile.print
  // KEPT: scf.for
  // KEPT-NEXT: tile.print "again"
  // KEPT-NEXT: tile.assert %{{.*}}, "again"
  // KEPT-NEXT: tile.print "again"
  // KEPT-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    tile.print "again" %c : i1
    tile.assert %c, "again" : i1
    tile.print "again" %c : i1
  }
  return
}

// A condition that holds needs no check.
// KEPT-LABEL: func.func @constants
// KEPT: %[[FALSE:.*]] = arith.constant false
// KEPT-NEXT: tile.assert %[[FALSE]], "never"
// KEPT-NEXT: return
func.func @constants() {
  %true = arith.constant true
  %false = arith.constant false
  %all = arith.constant dense<true> : tensor<64xi1>
  tile.assert %true, "holds" : i1
  tile.assert %all, "holds" : tensor<64xi1>
  tile.assert %false, "never" : i1
  return
}
