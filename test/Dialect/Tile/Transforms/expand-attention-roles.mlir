// Forward attention where warps copy for others: blocks of threads do one block
// of rows after another, the keys from the last to the first, and the weights of
// one step are multiplied in the next, those of the last step beside the first
// products of the next rows.
//
// RUN: tile-opt %s --tile-attach-target=chip=sm_90a --tile-expand-attention --canonicalize --cse | FileCheck %s

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @full
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: tile.producer_warps = 4 : i64, tile.registers = array<i32: {{[0-9]+, [0-9]+}}>}
func.func @full(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui
  // CHECK: %[[ONE:.*]] = arith.muli %[[BLOCKS]]
  // CHECK: %[[ALL:.*]] = arith.muli %[[ONE]]
  // CHECK: %[[LAUNCHED:.*]] = arith.minui %[[ALL]], %c132
  // CHECK: tile.grid %[[LAUNCHED]], %c1, %c1
  // CHECK: %[[COUNT:.*]] = arith.ceildivui %{{.*}} : i32
  // CHECK: %[[LAST:.*]]:3 = scf.for %[[WORK:.*]] = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args(%[[PLAST:.*]] = %{{.*}}, %[[ACCLAST:.*]] = %{{.*}}, %[[SUMLAST:.*]] = %{{.*}})
  // CHECK: %[[NEXT:.*]] = arith.cmpi ne, %[[WORK]]
  // CHECK: %[[VLAST:.*]] = tile.load
  // CHECK: %[[Q:.*]] = tile.load
  // CHECK: tile.dot %[[Q]]
  // CHECK: %[[ACC0:.*]] = tile.dot %[[PLAST]], %[[VLAST]], %[[ACCLAST]]
  // CHECK: arith.select
  // CHECK: %[[P0:.*]] = arith.truncf
  // CHECK: scf.if %[[NEXT]] {
  // CHECK: arith.mulf %[[ACC0]]
  // CHECK: tile.store
  // CHECK: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[P:.*]] = %[[P0]], %[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK: %[[S:.*]] = tile.dot %[[Q]]
  // CHECK: %[[V:.*]] = tile.load
  // CHECK: %[[ACC1:.*]] = tile.dot %[[P]], %[[V]], %[[ACC]]
  // CHECK-NOT: arith.select
  // CHECK: tile.reduce maxnumf %[[S]]
  // CHECK: %[[P1:.*]] = arith.truncf
  // CHECK: %[[ACC2:.*]] = arith.mulf %[[ACC1]]
  // CHECK: scf.yield %[[P1]], %[[ACC2]]
  // CHECK: scf.yield %[[R]]#0, %[[R]]#1
  // CHECK: tile.dot %[[LAST]]#0, %{{.*}}, %[[LAST]]#1
  // CHECK: tile.store
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}

// Under a causal mask the last rows see the most keys: they go together with the
// first ones. What is in the middle of an odd number goes alone.
// CHECK-LABEL: tile.kernel @causal
func.func @causal(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %c128
  // CHECK: arith.ceildivui %[[BLOCKS]], %c2
  // CHECK: %[[PAIRS:.*]] = arith.ceildivui %{{.*}} : i32
  // CHECK: %[[COUNT:.*]] = arith.addi %[[PAIRS]], %[[PAIRS]]
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[COUNT]] step %c1_i32
  // CHECK: %[[SECOND:.*]] = arith.cmpi eq, %{{.*}}, %c1_i32
  // CHECK: %[[SINGLE:.*]] = arith.cmpi eq
  // CHECK: arith.andi %[[SECOND]], %[[SINGLE]]
  tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
  return
}

// The largest heads leave no room for a second tile of Q: there each block of
// rows ends before the next begins.
// CHECK-LABEL: tile.kernel @one_q
// CHECK-NOT: tile.turns
!l = !tile.buffer<?x?x?x256xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @one_q(%q: !l, %k: !l, %v: !l, %o: !l, %scale: f32) {
  // CHECK: arith.minui %{{.*}}, %c132
  // CHECK: scf.for %{{[a-z0-9]*}} = %c0_i32 to %{{[a-z0-9]*}} step %c1_i32 : i32 {
  // CHECK: tile.dot
  // CHECK: scf.for
  // CHECK: tile.dot
  // CHECK: tile.dot
  // CHECK: scf.yield
  // CHECK: tile.dot
  // CHECK: tile.store
  // CHECK: } {tile.stages = 1 : i64}
  tile.attention %q, %k, %v, %o scale %scale : !l, !l, !l, !l
  return
}

// In a packed batch there is a block of threads for every block of rows, which goes on with the next
// one of a sequence that is longer than it was said to be.
// CHECK-LABEL: tile.kernel @packed
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: tile.producer_warps = 4 : i64
!p = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @packed(%q: !p, %cu: !cu, %max: index, %scale: f32) {
  // CHECK-NOT: arith.minui %{{.*}}, %c132
  // CHECK: tile.narrow
  // CHECK: scf.for {{.*}} : i32 {
  // CHECK: scf.for {{.*}} : i32 {
  // CHECK: } {tile.stages = 2 : i64}
  // CHECK: tile.store
  // CHECK: } {tile.stages = 1 : i64}
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale : !p, !p, !p, !p, !cu, !cu
  return
}

!small = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// Four groups of small heads take turns, but under a softcap, where tanh takes
// the registers.
// CHECK-LABEL: tile.kernel @small
// CHECK-SAME: num_warps = 16 : i32
// CHECK-SAME: tile.turns
// CHECK-LABEL: tile.kernel @small_softcap
// CHECK-SAME: num_warps = 8 : i32
// CHECK-NOT: tile.turns
// CHECK: math.tanh
func.func @small(%q: !small, %k: !small, %v: !small, %o: !small, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {causal} : !small, !small, !small, !small
  return
}
func.func @small_softcap(%q: !small, %k: !small, %v: !small, %o: !small, %scale: f32, %cap: f32) {
  tile.attention %q, %k, %v, %o scale %scale softcap %cap {causal} : !small, !small, !small, !small
  return
}

// Of a packed batch, the bounds of the keys that need a mask are computed again
// in front of their loop.
// CHECK-LABEL: tile.kernel @packed_causal
// CHECK: math.exp2
// CHECK-NOT: scf.for
// CHECK: tile.recompute
// CHECK: scf.for
// CHECK: arith.cmpi slt, {{.*}} : tensor<128x128xi32>
// CHECK: scf.for
// CHECK-NOT: arith.cmpi slt, {{.*}} : tensor
// CHECK: } {tile.stages = 2 : i64}
func.func @packed_causal(%q: !p, %cu: !cu, %max: index, %scale: f32) {
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale {causal} : !p, !p, !p, !p, !cu, !cu
  return
}
