// RUN: tile-opt %s -tile-apply-schedule='schedule="tile = [64, 64], warps = 4"' -tile-expand-attention | FileCheck %s

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!w = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

// The offset moves the window away from the one that is aligned at the ends, by
// offset - (sk - sq) keys. A side of the window that a negative number leaves open
// stays open.
// CHECK-LABEL: tile.kernel @offset
// CHECK: %[[GIVEN:.*]] = arith.index_cast %arg3 : i32 to index
// CHECK: %[[ALIGNED:.*]] = arith.subi
// CHECK: %[[DELAY:.*]] = arith.subi %[[GIVEN]], %[[ALIGNED]]
// CHECK: %[[RIGHT:.*]] = arith.addi %{{.*}}, %[[DELAY]]
// CHECK: %[[RAISED:.*]] = arith.maxsi %[[RIGHT]]
// CHECK: arith.minsi %[[RAISED]]
// CHECK: %[[SIDE:.*]] = arith.index_cast %arg2 : i32 to index
// CHECK: %[[MOVED:.*]] = arith.subi %[[SIDE]]
// CHECK: %[[RAISED:.*]] = arith.maxsi %[[MOVED]]
// CHECK: %[[LIMITED:.*]] = arith.minsi %[[RAISED]]
// CHECK: %[[OPEN:.*]] = arith.cmpi slt, %arg2
// CHECK: arith.select %[[OPEN]], %{{.*}}, %[[LIMITED]]
func.func @offset(%q: !q, %scale: f32, %left: i32, %offset: i32) {
  %right = arith.constant -1 : i32
  tile.attention %q, %q, %q, %q scale %scale window %left, %right offset %offset {causal}
      : !q, !q, !q, !q
  return
}

// The result for other keys is one more score, lse, with the value o.
// CHECK-LABEL: tile.kernel @merge
// CHECK: %[[R:.*]]:3 = scf.for
// CHECK: %[[BASE:.*]] = arith.mulf %[[R]]#1
// CHECK: %[[OTHER:.*]] = tile.load %{{.*}} -> tensor<64xf32>
// CHECK: %[[SCORE:.*]] = arith.mulf %[[OTHER]]
// CHECK: %[[LARGEST:.*]] = arith.maxnumf %[[BASE]], %[[SCORE]]
// CHECK: %[[PIVOT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LARGEST]]
// CHECK: %[[ABOVE:.*]] = arith.subf %[[SCORE]], %[[PIVOT]]
// CHECK: %[[WEIGHT:.*]] = math.exp2 %[[ABOVE]]
// CHECK: %[[SHARE:.*]] = arith.mulf %[[WEIGHT]]
// CHECK: %[[O:.*]] = tile.load %{{.*}} -> tensor<64x64xf32>
// CHECK: %[[SPREAD:.*]] = tile.broadcast %[[SHARE]]
// CHECK: %[[BOTH:.*]] = math.fma %[[O]], %[[SPREAD]]
// CHECK: tile.store %[[BOTH]]
func.func @merge(%q: !q, %o: !w, %lse: !lse, %scale: f32) {
  tile.attention %q, %q, %q, %o lse %lse scale %scale {merge} : !q, !q, !q, !w, !lse
  return
}

// delta loses dlse where the query sees a key; gradients are added to what their
// buffers hold.
// CHECK-LABEL: tile.kernel @gradients_stats
// CHECK: %[[SUM:.*]] = tile.reduce addf
// CHECK: %[[LSE:.*]] = tile.load
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[LSE]]
// CHECK: %[[READ:.*]] = tile.load
// CHECK: %[[DLSE:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[READ]]
// CHECK: %[[DELTA:.*]] = arith.subf %[[SUM]], %[[DLSE]]
// CHECK: tile.store %[[DELTA]]
// CHECK-LABEL: tile.kernel @gradients_dkv
// CHECK: %[[BEFORE:.*]] = tile.load %[[DK:.*]][%{{.*}}] : !tile.buffer<?x64xf32
// CHECK: %[[BOTH:.*]] = arith.addf %{{.*}}, %[[BEFORE]]
// CHECK: tile.store %[[BOTH]], %[[DK]]
// CHECK: %[[BEFORE:.*]] = tile.load %[[DV:.*]][%{{.*}}] : !tile.buffer<?x64xf32
// CHECK: %[[BOTH:.*]] = arith.addf %{{.*}}, %[[BEFORE]]
// CHECK: tile.store %[[BOTH]], %[[DV]]
// CHECK-LABEL: tile.kernel @gradients_dq
// CHECK: %[[BEFORE:.*]] = tile.load %[[DQ:.*]][%{{.*}}] : !tile.buffer<?x64xf32
// CHECK: %[[BOTH:.*]] = arith.addf %{{.*}}, %[[BEFORE]]
// CHECK: tile.store %[[BOTH]], %[[DQ]]
func.func @gradients(%q: !q, %lse: !lse, %dlse: !lse, %dq: !w, %dk: !w, %dv: !w, %stats: !stats, %scale: f32) {
  tile.attention_backward %q, %q, %q, %q, %q, %lse dlse %dlse to %dq, %dk, %dv using %stats
      scale %scale {accumulate} : !q, !q, !q, !q, !q, !lse, !lse, !w, !w, !w, !stats
  return
}
