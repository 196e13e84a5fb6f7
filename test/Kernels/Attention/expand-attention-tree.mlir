// RUN: tile-opt %s -tile-attach-target=chip=sm_90a -tile-expand-attention -canonicalize -split-input-file | FileCheck %s
// RUN: tile-opt %s -tile-attach-target=chip=sm_90a -tile-expand-attention -canonicalize -tile-split-masked-loops -canonicalize -split-input-file | FileCheck %s --check-prefix=SPLIT

// Bits of a tree mask hide keys behind those that all queries see. The words of a row
// are loaded before the walk, which ends with the bits.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!tree = !tile.buffer<?x?x2xi32, #tile.strided<[?, 2, 1]>, global>

// CHECK-LABEL: tile.kernel @tree(
// CHECK: %[[NODE:.*]] = arith.subi %[[SK:[a-z0-9_]*]], %[[SQ:[a-z0-9_]*]] : index
// CHECK: %[[END:.*]] = arith.addi %[[NODE]], %c64
// CHECK: arith.minsi %[[SK]], %[[END]]
// CHECK: %[[LOW:.*]] = tile.slice %arg4[%{{.*}}, *, %c0]
// CHECK: %[[LOWS:.*]] = tile.load %[[LOW]][
// CHECK: %[[HIGH:.*]] = tile.slice %arg4[%{{.*}}, *, %c1]
// CHECK: %[[HIGHS:.*]] = tile.load %[[HIGH]][
// CHECK: scf.for
// CHECK-DAG: tile.broadcast %[[LOWS]]
// CHECK-DAG: tile.broadcast %[[HIGHS]]
// CHECK: %[[WORD:.*]] = arith.select
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[WORD]]
// CHECK: arith.trunci %[[SHIFTED]] : {{.*}}xi32> to {{.*}}xi1>
// CHECK: arith.ori
// CHECK: tile.require %arg0[1] at_most %c64, "the nodes that tree_mask has bits for"

// The loop over the keys that all queries see has no mask.
// SPLIT-LABEL: tile.kernel @tree(
// SPLIT: scf.for
// SPLIT-NOT: arith.cmpi
// SPLIT-NOT: arith.shrui
// SPLIT: scf.yield
// SPLIT: scf.for
// SPLIT: arith.shrui
// SPLIT: scf.yield
func.func @tree(%q: !q, %k: !q, %v: !q, %o: !q, %tree: !tree, %scale: f32) {
  tile.attention %q, %k, %v, %o tree_mask %tree scale %scale : !q, !q, !q, !q, !tree
  return
}

// -----

// The heads of a query share its word, and its node begins at the offset.

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!tree = !tile.buffer<?x1xi32, #tile.strided<[1, 1]>, global>

// CHECK-LABEL: tile.kernel @packed(
// CHECK: %[[OFFSET:.*]] = arith.index_cast %arg9 : i32 to index
// CHECK: arith.addi %[[OFFSET]], %c32
// CHECK: %[[ROWS:.*]] = tile.slice %arg7[*, %c0]
// CHECK: %[[WORDS:.*]] = tile.narrow %[[ROWS]][0]
// CHECK: %[[LOADED:.*]] = tile.load %[[WORDS]][%{{.*}}] : {{.*}} -> tensor<16xi32>
// CHECK: %[[SHARED:.*]] = tile.broadcast %[[LOADED]] {{.*}}tensor<16x8xi32>
// CHECK: tile.reshape %[[SHARED]] : tensor<16x8xi32> -> tensor<128xi32>
func.func @packed(%q: !q, %k: !q, %v: !q, %o: !q, %cu: !n, %ck: !n, %max: index, %tree: !tree, %scale: f32, %offset: i32) {
  tile.attention %q, %k, %v, %o seqlens %cu, %ck max %max tree_mask %tree scale %scale offset %offset
      {schedule = #tile.schedule<pack_heads = 8>} : !q, !q, !q, !q, !n, !n, !tree
  return
}
