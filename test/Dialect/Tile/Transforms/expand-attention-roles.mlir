// Forward attention where warps copy for others: blocks of threads do one block
// of rows after another, the keys from the last to the first, and the weights of
// one step are multiplied in the next.
//
// RUN: tile-opt %s --tile-attach-target=chip=sm_90a --tile-expand-attention --canonicalize --cse | FileCheck %s

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @full
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: tile.producer_warps = 4 : i64, tile.registers = array<i32: {{[0-9]+, [0-9]+}}>
func.func @full(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui
  // CHECK: %[[ONE:.*]] = arith.muli %[[BLOCKS]]
  // CHECK: %[[ALL:.*]] = arith.muli %[[ONE]]
  // CHECK: %[[LAUNCHED:.*]] = arith.minui %[[ALL]], %c132
  // CHECK: tile.grid %[[LAUNCHED]], %c1, %c1
  // CHECK: scf.for %[[WORK:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
  // CHECK: arith.remui %[[WORK]]
  // CHECK: %[[Q:.*]] = tile.load
  // CHECK: tile.dot %[[Q]]
  // CHECK: arith.select
  // CHECK: %[[P0:.*]] = arith.truncf
  // CHECK: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[P:.*]] = %[[P0]], %[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK: %[[S:.*]] = tile.dot %[[Q]]
  // CHECK: %[[V:.*]] = tile.load
  // CHECK: %[[ACC1:.*]] = tile.dot %[[P]], %[[V]], %[[ACC]]
  // CHECK-NOT: arith.select
  // CHECK: tile.reduce maxnumf %[[S]]
  // CHECK: %[[P1:.*]] = arith.truncf
  // CHECK: %[[ACC2:.*]] = arith.mulf %[[ACC1]]
  // CHECK: scf.yield %[[P1]], %[[ACC2]]
  // CHECK: tile.dot %[[R]]#0, %{{.*}}, %[[R]]#1
  // CHECK: tile.store
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}

// Under a causal mask the last rows see the most keys: they go together with the
// first ones.
// CHECK-LABEL: tile.kernel @causal
func.func @causal(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %c128
  // CHECK: arith.ceildivui %[[BLOCKS]], %c2
  // CHECK: scf.for
  // CHECK: %[[SINGLE:.*]] = arith.cmpi eq
  // CHECK: %[[COUNT:.*]] = arith.select %[[SINGLE]], %c1_i32, %c2_i32
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[COUNT]] step %c1_i32 : i32 {
  tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
  return
}

// A packed batch has kernels as before, and asks for what it cannot get.
// CHECK-LABEL: tile.kernel @packed
// CHECK-SAME: num_warps = 4 : i32
// CHECK-SAME: tile.producer_warps = 4 : i64
!p = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @packed(%q: !p, %cu: !cu, %max: index, %scale: f32) {
  // CHECK-NOT: arith.minui %{{.*}}, %c132
  // CHECK: tile.narrow
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale : !p, !p, !p, !p, !cu, !cu
  return
}
