// RUN: tile-opt %s -split-input-file \
// RUN:   -tile-apply-schedule='schedule="tile = [128, 64], warps = 4"' -tile-expand-attention | FileCheck %s

// Without a mask: a loop over the blocks of keys, of which the last may end early.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @full
// CHECK-SAME: %[[Q:arg0]]: {{.*}} %[[K:arg1]]: {{.*}} %[[V:arg2]]: {{.*}} %[[O:arg3]]: {{.*}} %[[SCALE:arg4]]: f32 {tile.nonnegative})
// CHECK-SAME: num_warps = 4
func.func @full(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
  // CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
  // CHECK: %[[B:.*]] = tile.dim %[[Q]][0]
  // CHECK: %[[SQ:.*]] = tile.dim %[[Q]][1]
  // CHECK: %[[H:.*]] = tile.dim %[[Q]][2]
  // CHECK: %[[HKV:.*]] = tile.dim %[[K]][2]
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[SQ]], %[[C128]]
  // All blocks lie along x, which alone may exceed 65535.
  // CHECK: %[[PERSEQ:.*]] = arith.muli %[[BLOCKS]], %[[H]]
  // CHECK: %[[ALL:.*]] = arith.muli %[[PERSEQ]], %[[B]]
  // CHECK: tile.grid %[[ALL]], %[[C1:.*]], %[[C1]]
  // CHECK: %[[ID:.*]] = tile.program_id x
  // CHECK: %[[ID32:.*]] = arith.index_cast %[[ID]] : index to i32
  // CHECK: %[[BLOCKS32:.*]] = arith.index_cast %[[BLOCKS]]
  // CHECK: %[[H32:.*]] = arith.index_cast %[[H]]
  // CHECK: %[[REST:.*]] = arith.divui %[[ID32]], %[[BLOCKS32]]
  // CHECK-DAG: %[[X32:.*]] = arith.remui %[[ID32]], %[[BLOCKS32]]
  // CHECK-DAG: %[[Y32:.*]] = arith.remui %[[REST]], %[[H32]]
  // CHECK-DAG: %[[Z32:.*]] = arith.divui %[[REST]], %[[H32]]
  // The head of K and V is the head of Q divided by the group size.
  // CHECK: %[[HKV32:.*]] = arith.index_cast %[[HKV]]
  // CHECK: %[[GROUP:.*]] = arith.divui %{{.*}}, %[[HKV32]] : i32
  // CHECK: %[[Y:.*]] = arith.index_cast %[[Y32]]
  // CHECK: %[[YKV32:.*]] = arith.divui %[[Y32]]
  // CHECK: %[[YKV:.*]] = arith.index_cast %[[YKV32]]
  // CHECK: %[[X:.*]] = arith.index_cast %[[X32]]
  // CHECK: %[[Z:.*]] = arith.index_cast %[[Z32]]
  // CHECK: %[[SK:.*]] = tile.dim %[[K]][1]
  // CHECK: %[[QH:.*]] = tile.slice %[[Q]][%[[Z]], *, %[[Y]], *]
  // CHECK: %[[KH:.*]] = tile.slice %[[K]][%[[Z]], *, %[[YKV]], *]
  // CHECK: %[[VH:.*]] = tile.slice %[[V]][%[[Z]], *, %[[YKV]], *]
  // CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[SCALE]], %[[LOG2E]]
  // CHECK: %[[C:.*]] = arith.maximumf %[[PRODUCT]]
  // CHECK: %[[ROW:.*]] = arith.muli %[[X]], %[[C128]]
  // CHECK: %[[KEYS:.*]] = arith.index_cast %[[SK]] : index to i32
  // CHECK: %[[QT:.*]] = tile.load %[[QH]][%[[ROW]], %[[C0]]]
  // CHECK-SAME: -> tensor<128x64xf16>
  // CHECK: %[[CROWS:.*]] = tensor.splat %[[C]] : tensor<128xf32>
  // CHECK: %[[CTILE:.*]] = tensor.splat %[[C]] : tensor<128x64xf32>

  // CHECK: %[[ALL:.*]]:3 = scf.for %[[J:.*]] = %[[C0]] to %[[SK]] step %[[C64]]
  // CHECK-SAME: iter_args(%[[ACC:.*]] = %{{.*}}, %[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) ->
  // CHECK: %[[KT:.*]] = tile.load %[[KH]][%[[J]], %[[C0]]]
  // CHECK: %[[KTT:.*]] = tile.transpose %[[KT]] [1, 0]
  // CHECK: %[[S:.*]] = tile.dot %[[QT]], %[[KTT]]
  // CHECK: %[[COL:.*]] = tile.iota along 1 : tensor<128x64xi32>
  // CHECK: %[[J32:.*]] = arith.index_cast %[[J]]
  // CHECK: %[[REST:.*]] = arith.subi %[[KEYS]], %[[J32]]
  // CHECK: %[[BOUND:.*]] = tensor.splat %[[REST]]
  // CHECK: %[[MASK:.*]] = arith.cmpi slt, %[[COL]], %[[BOUND]]
  // CHECK: %[[SEEN:.*]] = arith.select %[[MASK]], %[[S]]
  // CHECK: %[[M:.*]] = tile.reduce maxnumf %[[SEEN]] along 1
  // CHECK: %[[MNEW:.*]] = arith.maxnumf %[[MAX]], %[[M]]
  // CHECK: %[[NOTHING:.*]] = arith.cmpf oeq, %[[MNEW]]
  // CHECK: %[[PIVOT:.*]] = arith.select %[[NOTHING]], %{{.*}}, %[[MNEW]]
  // CHECK: %[[MC:.*]] = arith.mulf %[[PIVOT]], %[[CROWS]]
  // CHECK: %[[NEG:.*]] = arith.negf %[[MC]]
  // CHECK: %[[NEGT:.*]] = tile.broadcast %[[NEG]] along 1
  // CHECK: %[[E:.*]] = math.fma %[[SEEN]], %[[CTILE]], %[[NEGT]]
  // CHECK: %[[P:.*]] = math.exp2 %[[E]]
  // CHECK: %[[CHANGE:.*]] = arith.subf %[[MAX]], %[[PIVOT]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[CHANGE]], %[[CROWS]]
  // CHECK: %[[ALPHA:.*]] = math.exp2 %[[SCALED]]
  // CHECK: %[[PSUM:.*]] = tile.reduce addf %[[P]] along 1
  // CHECK: %[[SUMNEW:.*]] = math.fma %[[SUM]], %[[ALPHA]], %[[PSUM]]
  // CHECK: %[[ALPHAT:.*]] = tile.broadcast %[[ALPHA]] along 1
  // CHECK: %[[ACCA:.*]] = arith.mulf %[[ACC]], %[[ALPHAT]]
  // CHECK: %[[PH:.*]] = arith.truncf %[[P]]
  // CHECK: %[[VT:.*]] = tile.load %[[VH]][%[[J]], %[[C0]]]
  // CHECK: %[[ACCNEW:.*]] = tile.dot %[[PH]], %[[VT]], %[[ACCA]]
  // CHECK: scf.yield %[[ACCNEW]], %[[MNEW]], %[[SUMNEW]]

  // CHECK: %[[OH:.*]] = tile.slice %[[O]][%[[Z]], *, %[[Y]], *]
  // CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#2
  // CHECK: %[[DIVISOR:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[ALL]]#2
  // CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[DIVISOR]]
  // CHECK: %[[INVT:.*]] = tile.broadcast %[[INVERSE]] along 1
  // CHECK: %[[OUT:.*]] = arith.mulf %[[ALL]]#0, %[[INVT]]
  // CHECK: %[[OUTH:.*]] = arith.truncf %[[OUT]]
  // CHECK: tile.store %[[OUTH]], %[[OH]][%[[ROW]], %[[C0]]]
  // CHECK-NOT: tile.store
  // CHECK-NOT: func.func
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}

// -----

// Causal: the last rows come first; the loop ends at the diagonal of the last row.

!q = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>

// CHECK-LABEL: tile.kernel @causal
func.func @causal(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %scale: f32) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
  // CHECK-DAG: %[[C127:.*]] = arith.constant 127 : index
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui
  // CHECK: %[[X32:.*]] = arith.remui
  // CHECK: %[[X:.*]] = arith.index_cast %[[X32]]
  // CHECK: %[[SQ:.*]] = tile.dim %arg0[1]
  // CHECK: %[[SK:.*]] = tile.dim %arg1[1]
  // CHECK: %[[LAST:.*]] = arith.subi %[[BLOCKS]], %[[C1]]
  // CHECK: %[[BLOCK:.*]] = arith.subi %[[LAST]], %[[X]]
  // CHECK: %[[ROW:.*]] = arith.muli %[[BLOCK]]
  // CHECK: %[[SHIFT:.*]] = arith.subi %[[SK]], %[[SQ]]
  // CHECK: %[[DIAGONAL:.*]] = arith.addi %[[ROW]], %[[SHIFT]]
  // CHECK: %[[KEYS:.*]] = arith.index_cast %[[SK]]
  // CHECK: %[[FIRST:.*]] = arith.addi %[[DIAGONAL]], %[[C1]]
  // CHECK: %[[ENDS:.*]] = arith.addi %[[FIRST]], %[[C127]]
  // CHECK: %[[END:.*]] = arith.minsi %[[ENDS]], %[[SK]]
  // CHECK: %[[UPPER:.*]] = arith.index_cast %[[FIRST]]
  // CHECK: %[[ALL:.*]]:3 = scf.for %[[J:.*]] = %[[C0]] to %[[END]] step %[[C64]]
  // CHECK: %[[COL:.*]] = tile.iota along 1
  // CHECK: %[[J32:.*]] = arith.index_cast %[[J]]
  // CHECK: arith.subi %[[KEYS]], %[[J32]]
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[COL]]
  // CHECK: %[[R:.*]] = tile.iota along 0
  // CHECK: %[[RELATIVE:.*]] = arith.subi %[[UPPER]], %[[J32]]
  // CHECK: %[[SPLAT:.*]] = tensor.splat %[[RELATIVE]]
  // CHECK: %[[BOUND:.*]] = arith.addi %[[R]], %[[SPLAT]]
  // CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[COL]], %[[BOUND]]
  // CHECK: %[[MASK:.*]] = arith.andi %[[EXISTS]], %[[BELOW]]
  // CHECK: arith.select %[[MASK]]
  // CHECK-NOT: scf.for
  // CHECK: %[[LSEH:.*]] = tile.slice %arg4[%{{.*}}, %{{.*}}, *]
  // CHECK: %[[BASE2:.*]] = arith.mulf %[[ALL]]#1
  // CHECK: %[[LOG:.*]] = math.log2 %[[ALL]]#2
  // CHECK: %[[LSE2:.*]] = arith.addf %[[BASE2]], %[[LOG]]
  // CHECK: %[[LN2:.*]] = arith.constant 0.693147182 : f32
  // CHECK: %[[LN2T:.*]] = tensor.splat %[[LN2]]
  // CHECK: %[[LSE:.*]] = arith.mulf %[[LSE2]], %[[LN2T]]
  // CHECK: tile.store %[[LSE]], %[[LSEH]][%[[ROW]]]
  tile.attention %q, %k, %v, %o lse %lse scale %scale {causal} : !q, !q, !q, !q, !lse
  return
}

// -----

// A window has both sides.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @window
func.func @window(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C18:.*]] = arith.constant 18 : index
  // CHECK-DAG: %[[C33:.*]] = arith.constant 33 : index
  // CHECK-DAG: %[[C127:.*]] = arith.constant 127 : index
  // CHECK: %[[X32:.*]] = arith.remui
  // CHECK: %[[X:.*]] = arith.index_cast %[[X32]]
  // CHECK: %[[SK:.*]] = tile.dim %arg1[1]
  // CHECK: arith.muli %[[X]]
  // CHECK: %[[DIAGONAL:.*]] = arith.addi
  // CHECK: %[[FIRSTEND:.*]] = arith.addi %[[DIAGONAL]], %[[C18]]
  // CHECK: %[[LASTEND:.*]] = arith.addi %[[FIRSTEND]], %[[C127]]
  // CHECK: %[[END:.*]] = arith.minsi %[[LASTEND]], %[[SK]]
  // CHECK: %[[UPPER:.*]] = arith.index_cast %[[FIRSTEND]]
  // CHECK: %[[FIRST:.*]] = arith.subi %[[DIAGONAL]], %[[C33]]
  // CHECK: %[[FIRST0:.*]] = arith.maxsi %[[FIRST]], %[[C0]]
  // CHECK: arith.divui %[[FIRST0]]
  // CHECK: %[[BEGIN:.*]] = arith.muli
  // CHECK: %[[LOWER:.*]] = arith.index_cast %[[FIRST]]
  // CHECK: %[[BEGIN32:.*]] = arith.index_cast %[[BEGIN]]
  // CHECK: %[[END32:.*]] = arith.index_cast %[[END]]
  // CHECK: scf.for %{{.*}} = %[[BEGIN32]] to %[[END32]]
  // CHECK: %[[COL:.*]] = tile.iota along 1
  // CHECK: arith.subi %[[UPPER]]
  // CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[COL]]
  // CHECK: arith.andi %{{.*}}, %[[BELOW]]
  // CHECK: arith.subi %[[LOWER]]
  // CHECK: %[[ABOVE:.*]] = arith.cmpi sge, %[[COL]]
  // CHECK: %[[MASK:.*]] = arith.andi %{{.*}}, %[[ABOVE]]
  // CHECK: arith.select %[[MASK]]
  // CHECK-NOT: scf.for
  %left = arith.constant 33 : i32
  %right = arith.constant 17 : i32
  tile.attention %q, %k, %v, %o scale %scale window %left, %right : !q, !q, !q, !q
  return
}

// -----

// A window that is open to the right bounds the keys only on the left; one that is
// open on both sides has no bounds.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @left_0
// CHECK: scf.for %{{.*}} to %{{.*}} step
// CHECK: arith.cmpi sge
// CHECK-LABEL: tile.kernel @left_1
// CHECK-NOT: tile.iota along 0
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @left(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  %left = arith.constant 64 : i32
  %open = arith.constant -1 : i32
  tile.attention %q, %k, %v, %o scale %scale window %left, %open : !q, !q, !q, !q
  tile.attention %q, %k, %v, %o scale %scale window %open, %open : !q, !q, !q, !q
  return
}

// -----

// Each kernel has all arguments and computes the scalars it needs.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @scalars_0(
// CHECK-SAME: %arg4: f32, %arg5: f32
// CHECK: %[[SCALE:.*]] = arith.mulf %arg4, %arg5 : f32
// CHECK-NOT: arith.divf %arg4
// CHECK: arith.mulf %[[SCALE]], %{{.*}} : f32
// CHECK-LABEL: tile.kernel @scalars_1(
// CHECK-SAME: %arg4: f32, %arg5: f32
// CHECK-NOT: arith.mulf %arg4
// CHECK: %[[SCALE:.*]] = arith.divf %arg4, %arg5 : f32
// CHECK: arith.mulf %[[SCALE]], %{{.*}} : f32
func.func @scalars(%q: !q, %k: !q, %v: !q, %o: !q, %x: f32, %y: f32) {
  %product = arith.mulf %x, %y : f32
  tile.attention %q, %k, %v, %o scale %product : !q, !q, !q, !q
  %quotient = arith.divf %x, %y : f32
  tile.attention %k, %q, %v, %o scale %quotient : !q, !q, !q, !q
  return
}

// CHECK-LABEL: func.func @other
// CHECK-NEXT: return %arg0
func.func @other(%x: f32) -> f32 {
  return %x : f32
}

// -----

// The head dimensions of the scores and of the values may differ.

!q = !tile.buffer<2x?x32x192xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<2x?x8x192xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<2x?x8x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<2x?x32x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @two_head_dims
// CHECK: tile.load {{.*}} -> tensor<128x192xf16>
// CHECK: scf.for
// CHECK-SAME: -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>)
// CHECK: tile.load {{.*}} -> tensor<64x192xf16>
// CHECK: tile.load {{.*}} -> tensor<64x128xf16>
// CHECK: tile.store {{.*}} : tensor<128x128xf16>
func.func @two_head_dims(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}
