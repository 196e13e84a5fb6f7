// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-expand-operations))' | FileCheck %s

!x = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @loads(
// CHECK-SAME: %[[X:[^:]+]]: !tile.buffer<?x64xf32, #strided, global>, %[[I:[^:]+]]: index, %[[O:[^:]+]]: f32)
tile.kernel @loads(%x: !x, %i: index, %o: f32) {
  // CHECK: %[[C0:.+]] = arith.constant 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[M:.+]] = arith.constant dense<true>
  %m = arith.constant dense<true> : tensor<16x64xi1>

  // Without a mask and another value, only the load remains.
  // CHECK: %[[L0:.+]] = tile.load %[[X]][%[[C0]], %[[C0]]]
  // CHECK-NEXT: tile.store %[[L0]]
  %l0 = tile.masked_load %x[%c0, %c0] : !x -> tensor<16x64xf32>
  tile.store %l0, %x[%c0, %c0] : tensor<16x64xf32>, !x

  // Zeros where the mask is false.
  // CHECK: %[[L1:.+]] = tile.load %[[X]][%[[I]], %[[C0]]]
  // CHECK-NEXT: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
  // CHECK-NEXT: arith.select %[[M]], %[[L1]], %[[ZERO]]
  %l1 = tile.masked_load %x[%i, %c0] mask %m : !x -> tensor<16x64xf32>
  tile.store %l1, %x[%c0, %c0] : tensor<16x64xf32>, !x

  // Rows may lie behind the end, columns may not. The start is not negative.
  // CHECK: %[[L2:.+]] = tile.load %[[X]][%[[C0]], %[[C0]]]
  // CHECK-NEXT: %[[ROW:.+]] = tile.iota along 0 : tensor<16x64xi32>
  // CHECK-NEXT: %[[END:.+]] = tile.dim %[[X]][0]
  // CHECK-NEXT: %[[LEFT:.+]] = arith.subi %[[END]], %[[C0]] : index
  // CHECK-NEXT: %[[LEFT32:.+]] = arith.index_cast %[[LEFT]] : index to i32
  // CHECK-NEXT: %[[BOUND:.+]] = tensor.splat %[[LEFT32]] : tensor<16x64xi32>
  // CHECK-NEXT: %[[IN:.+]] = arith.cmpi slt, %[[ROW]], %[[BOUND]]
  // CHECK-NEXT: %[[OTHER:.+]] = tensor.splat %[[O]] : tensor<16x64xf32>
  // CHECK-NEXT: arith.select %[[IN]], %[[L2]], %[[OTHER]]
  %l2 = tile.masked_load %x[%c0, %c0] other %o : !x -> tensor<16x64xf32>
  tile.store %l2, %x[%c0, %c0] : tensor<16x64xf32>, !x

  // The start may be negative.
  // CHECK: tile.load %[[X]][%[[I]], %[[C0]]]
  // CHECK: %[[LOW:.+]] = arith.cmpi slt
  // CHECK-NEXT: %[[BOTH:.+]] = arith.andi %[[M]], %[[LOW]]
  // CHECK: arith.subi %{{.+}}, %[[I]] : index
  // CHECK: %[[HIGH:.+]] = arith.cmpi sge
  // CHECK-NEXT: %[[ALL:.+]] = arith.andi %[[BOTH]], %[[HIGH]]
  // CHECK: arith.select %[[ALL]]
  %l3 = tile.masked_load %x[%i, %c0] mask %m other %o : !x -> tensor<16x64xf32>
  tile.store %l3, %x[%c0, %c0] : tensor<16x64xf32>, !x
}

// A line becomes the only row of a tile.
// CHECK-LABEL: tile.kernel @line(
tile.kernel @line(%x: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<16x64xf32>
  // CHECK: %[[SUMS:.+]] = tile.reduce addf %{{.+}} along 0 : tensor<16x64xf32> -> tensor<64xf32>
  %sums = tile.reduce addf %t along 0 : tensor<16x64xf32> -> tensor<64xf32>
  // CHECK-NEXT: %[[ROW:.+]] = tile.broadcast %[[SUMS]] along 0 : tensor<64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %[[SUM:.+]] = tile.reduce addf %[[ROW]] along 1 : tensor<1x64xf32> -> tensor<1xf32>
  %sum = tile.reduce addf %sums along 0 : tensor<64xf32> -> tensor<1xf32>
  // CHECK-NEXT: tensor.extract %[[SUM]]
  %number = tensor.extract %sum[%c0] : tensor<1xf32>
  %all = tensor.splat %number : tensor<16x64xf32>
  tile.store %all, %x[%c0, %c0] : tensor<16x64xf32>, !x
}

// The blocks of one element need no product; those of 2 and 4 take two each.
// CHECK-LABEL: tile.kernel @inverse(
tile.kernel @inverse(%x: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[L:.+]] = tile.load
  %t = tile.load %x[%c0, %c0] : !x -> tensor<8x8xf32>
  // CHECK: %[[I:.+]] = arith.select %{{.+}}, %{{.+}}, %[[ZERO:.+]] : tensor<8x8xi1>, tensor<8x8xf32>
  // CHECK: %[[M:.+]] = arith.select %{{.+}}, %[[L]], %[[ZERO]]
  // CHECK: %[[X:.+]] = arith.subf %[[I]], %[[M]]
  // CHECK: %[[M2:.+]] = arith.select %{{.+}}, %[[L]], %[[ZERO]]
  // CHECK: %[[MX:.+]] = tile.dot %[[M2]], %[[X]], %[[ZERO]] precision(bf16x3)
  // CHECK: %[[MINUS:.+]] = arith.negf %[[MX]]
  // CHECK: %[[X2:.+]] = tile.dot %[[X]], %[[MINUS]], %[[X]] precision(bf16x3)
  // CHECK: tile.dot %{{.+}}, %[[X2]], %[[ZERO]] precision(bf16x3)
  // CHECK: %[[X4:.+]] = tile.dot %[[X2]], %{{.+}}, %[[X2]] precision(bf16x3)
  // CHECK-NOT: tile.dot
  // CHECK: tile.store %[[X4]]
  %inverse = tile.unit_triangular_inverse %t : tensor<8x8xf32>
  tile.store %inverse, %x[%c0, %c0] : tensor<8x8xf32>, !x
}

// A choice among cases is a chain of scf.if.
// CHECK-LABEL: tile.kernel @choice(
// CHECK-SAME: %[[X:[^:]+]]: {{.+}}, %[[WHICH:[^:]+]]: index)
// CHECK: %[[T:.+]] = tile.load
// CHECK: %[[FIVE:.+]] = arith.constant 5 : index
// CHECK: %[[IS5:.+]] = arith.cmpi eq, %[[WHICH]], %[[FIVE]] : index
// CHECK: %[[R:.+]] = scf.if %[[IS5]] -> (tensor<16x64xf32>) {
// CHECK:   scf.yield %[[T]]
// CHECK: } else {
// CHECK:   %[[IS7:.+]] = arith.cmpi eq, %[[WHICH]],
// CHECK:   %[[S:.+]] = scf.if %[[IS7]] -> (tensor<16x64xf32>) {
// CHECK:     math.absf
// CHECK:   } else {
// CHECK:     arith.negf
// CHECK:   }
// CHECK:   scf.yield %[[S]]
// CHECK: }
// CHECK: tile.store %[[R]]
// CHECK-NOT: scf.if
tile.kernel @choice(%x: !x, %which: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !x -> tensor<16x64xf32>
  %r = scf.index_switch %which -> tensor<16x64xf32>
  case 5 {
    scf.yield %t : tensor<16x64xf32>
  }
  case 7 {
    %a = math.absf %t : tensor<16x64xf32>
    scf.yield %a : tensor<16x64xf32>
  }
  default {
    %n = arith.negf %t : tensor<16x64xf32>
    scf.yield %n : tensor<16x64xf32>
  }
  tile.store %r, %x[%c0, %c0] : tensor<16x64xf32>, !x
  scf.index_switch %which
  default {
    tile.store %t, %x[%c0, %c0] : tensor<16x64xf32>, !x
    scf.yield
  }
}
