// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!batches = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!f = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!numbers = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>

// CHECK-LABEL: func.func @plain
// CHECK: tile.matmul %{{.*}}, %{{.*}} to %{{.*}} : !{{.*}}, !{{.*}}, !{{.*}}{{$}}
func.func @plain(%a: !a, %b: !a, %c: !a) {
  tile.matmul %a, %b to %c : !a, !a, !a
  return
}

// CHECK-LABEL: func.func @attributes
// CHECK: tile.matmul %{{.*}}, %{{.*}} to %{{.*}} atomic %{{.*}} precision(tf32)
// CHECK-SAME: {schedule = #tile.schedule<warps = 8, split = 2>, transpose_a, transpose_b}
func.func @attributes(%a: !f, %b: !f, %c: !f, %sums: !f) {
  tile.matmul %a, %b to %c atomic %sums precision(tf32)
      {transpose_a, transpose_b, schedule = #tile.schedule<warps = 8, split = 2>}
      : !f, !f, !f, !f
  return
}

// CHECK-LABEL: func.func @groups
// CHECK: tile.matmul %{{.*}}, %{{.*}} to %{{.*}} ends %{{.*}} :
// CHECK: tile.matmul %{{.*}}, %{{.*}} to %{{.*}} counts %{{.*}} :
func.func @groups(%a: !a, %b: !batches, %c: !a, %d: !batches, %n: !numbers) {
  tile.matmul %a, %b to %c ends %n : !a, !batches, !a, !numbers
  tile.matmul %b, %d to %d counts %n : !batches, !batches, !batches, !numbers
  return
}

// CHECK-LABEL: func.func @epilogue
// CHECK: tile.matmul %{{.*}}, %{{.*}}, %{{.*}} to %{{.*}} : {{.*}} epilogue {
// CHECK-NEXT: ^bb0(%[[S0:.*]]: tensor<?x?xf32, #tile.open<BM, BN>>, %[[S1:.*]]: tensor<?x?xf32, #tile.open<BM, BN>>, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT: tile.param BM in [64]
// CHECK-NEXT: %[[R:.*]] = arith.mulf %[[S0]], %[[S1]]
// CHECK-NEXT: tile.yield %[[R]] : tensor<?x?xf32, #tile.open<BM, BN>>
// CHECK: epilogue {
// CHECK: tile.yield{{$}}
func.func @epilogue(%a: !a, %b: !a, %c: !f) {
  tile.matmul %a, %b, %b to %c : !a, !a, !a, !f epilogue {
  ^bb0(%x: !sum, %y: !sum, %row: index, %column: index):
    %bm = tile.param BM in [64]
    %r = arith.mulf %x, %y : !sum
    tile.yield %r : !sum
  }
  tile.matmul %a, %b : !a, !a epilogue {
  ^bb0(%x: !sum, %row: index, %column: index):
    tile.store %x, %c[%row, %column] : !sum, !f
    tile.yield
  }
  return
}
