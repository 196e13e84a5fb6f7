// RUN: tile-opt %s -split-input-file \
// RUN:   -tile-apply-schedule='schedule="tile = [128, 64], warps = 4"' -tile-expand-attention | FileCheck %s

// A sink is an additional score: it is part of the maximum, so that nothing
// overflows, and of the sum.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!sink = !tile.buffer<?xbf16, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @sink
func.func @sink(%q: !q, %lse: !lse, %sink: !sink, %scale: f32) {
  // CHECK: arith.remui
  // CHECK: %[[Y32:.*]] = arith.remui
  // CHECK: %[[Y:.*]] = arith.index_cast %[[Y32]]
  // CHECK: %[[R:.*]]:3 = scf.for
  // CHECK: scf.yield
  // CHECK: %[[SINK:.*]] = tile.load_scalar %arg2[%[[Y]]]
  // CHECK: %[[WIDE:.*]] = arith.extf %[[SINK]] : bf16 to f32
  // CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
  // CHECK: %[[SINK2:.*]] = arith.mulf %[[WIDE]], %[[LOG2E]]
  // CHECK: %[[BASE:.*]] = arith.mulf %[[R]]#1
  // CHECK: %[[SINKS:.*]] = tensor.splat %[[SINK2]] : tensor<128xf32>
  // CHECK: %[[LARGEST:.*]] = arith.maxnumf %[[BASE]], %[[SINKS]]
  // CHECK: %[[PIVOT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LARGEST]]
  // CHECK: %[[LOWERED:.*]] = arith.subf %[[BASE]], %[[PIVOT]]
  // CHECK: %[[FACTOR:.*]] = math.exp2 %[[LOWERED]]
  // CHECK: %[[ABOVE:.*]] = arith.subf %[[SINKS]], %[[PIVOT]]
  // CHECK: %[[ADDED:.*]] = math.exp2 %[[ABOVE]]
  // CHECK: %[[SUM:.*]] = math.fma %[[R]]#2, %[[FACTOR]], %[[ADDED]]
  // CHECK: %[[INVERSE:.*]] = arith.divf
  // CHECK: arith.mulf %[[INVERSE]], %[[FACTOR]]
  // CHECK: %[[LOG:.*]] = math.log2 %[[SUM]]
  // CHECK: arith.addf %[[PIVOT]], %[[LOG]]
  tile.attention %q, %q, %q, %q lse %lse sink %sink scale %scale
      : !q, !q, !q, !q, !lse, !sink
  return
}

// -----

// The scores become tanh(scale / cap * s), before the mask, and c = cap * log2(e).

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @softcap
// CHECK-SAME: %[[SCALE:arg1]]: f32 {tile.nonnegative}, %[[CAP:arg2]]: f32 {tile.nonnegative})
func.func @softcap(%q: !q, %scale: f32, %cap: f32) {
  // CHECK: arith.mulf %[[CAP]], %{{.*}} : f32
  // CHECK: %[[INNER:.*]] = arith.divf %[[SCALE]], %[[CAP]] : f32
  // CHECK: scf.for
  // CHECK: %[[S:.*]] = tile.dot
  // CHECK: %[[FACTOR:.*]] = tensor.splat %[[INNER]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR]]
  // CHECK: %[[CAPPED:.*]] = math.tanh %[[SCALED]]
  // CHECK: arith.select %{{.*}}, %[[CAPPED]]
  tile.attention %q, %q, %q, %q scale %scale softcap %cap : !q, !q, !q, !q
  return
}

// -----

// Packed sequences: their bounds are clamped to the buffer, rows beyond a sequence
// are outside of its views, and a block iterates over all of its blocks of rows.

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @packed
// CHECK-SAME: %[[Q:arg0]]: {{.*}}, %[[LSE:arg1]]: {{.*}}, %[[CUQ:arg2]]: {{.*}}, %[[CUK:arg3]]: {{.*}}, %[[MAX:arg4]]: index
func.func @packed(%q: !q, %lse: !lse, %cuq: !cu, %cuk: !cu, %max: index, %scale: f32) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
  // CHECK: %[[N:.*]] = tile.dim %[[CUQ]][0]
  // CHECK: %[[B:.*]] = arith.subi %[[N]], %[[C1]]
  // CHECK: %[[H:.*]] = tile.dim %[[Q]][1]
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[MAX]], %[[C128]]
  // CHECK: %[[PERSEQ:.*]] = arith.muli %[[BLOCKS]], %[[H]]
  // CHECK: %[[GRID:.*]] = arith.muli %[[PERSEQ]], %[[B]]
  // CHECK: tile.grid %[[GRID]], %[[C1]], %[[C1]]
  // CHECK: %[[X32:.*]] = arith.remui
  // CHECK: arith.remui
  // CHECK: %[[Z32:.*]] = arith.divui
  // CHECK: %[[X:.*]] = arith.index_cast %[[X32]]
  // CHECK: %[[Z:.*]] = arith.index_cast %[[Z32]]
  // CHECK: %[[T:.*]] = tile.dim %[[Q]][0]
  // CHECK: %[[ALL:.*]] = arith.index_cast %[[T]] : index to i32
  // CHECK: tile.load_scalar %[[CUQ]][%[[Z]]]
  // CHECK: %[[FIRST:.*]] = arith.maxsi
  // CHECK: %[[BEGIN:.*]] = arith.minsi %[[FIRST]], %[[ALL]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[Z]], %[[C1]]
  // CHECK: tile.load_scalar %[[CUQ]][%[[NEXT]]]
  // CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %[[ALL]]
  // CHECK: %[[END:.*]] = arith.maxsi %[[LAST]], %[[BEGIN]]
  // CHECK: %[[START:.*]] = arith.index_cast %[[BEGIN]]
  // CHECK: %[[LENGTH:.*]] = arith.subi %[[END]], %[[BEGIN]]
  // CHECK: %[[SQ:.*]] = arith.index_cast %[[LENGTH]]
  // CHECK: tile.load_scalar %[[CUK]]
  // CHECK: %[[HEAD:.*]] = tile.slice %[[Q]][*, %{{.*}}, *]
  // CHECK: %[[QH:.*]] = tile.narrow %[[HEAD]][0] from %[[START]] length %[[SQ]]
  // CHECK: %[[ROW:.*]] = arith.muli %[[X]], %[[C128]]
  // CHECK: %[[STEP:.*]] = arith.muli %[[BLOCKS]], %[[C128]]
  // CHECK: scf.for %[[I:.*]] = %[[ROW]] to %[[SQ]] step %[[STEP]]
  // CHECK: tile.load %[[QH]][%[[I]], %[[C0]]]
  // CHECK: %[[SUMS:.*]] = tile.slice %[[LSE]][%{{.*}}, *]
  // CHECK: %[[LSEH:.*]] = tile.narrow %[[SUMS]][0] from %[[START]] length %[[SQ]]
  // CHECK: tile.store %{{.*}}, %[[LSEH]][%[[I]]]
  tile.attention %q, %q, %q, %q lse %lse seqlens %cuq, %cuk max %max scale %scale
      : !q, !q, !q, !q, !lse, !cu, !cu
  return
}
