// Forward attention with producer warps: keys from the last to the first, and the MMA
// of the weights of one step in the next step. tile-persist makes the grid a loop.
//
// RUN: tile-opt %s --tile-attach-target=chip=sm_90a --tile-expand-attention --canonicalize --cse | FileCheck %s

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @full
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: schedule = #tile.schedule<producers = 4, registers = [{{[0-9]+, [0-9]+}}], work_stages = 2, keep_loops>}
func.func @full(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui
  // CHECK: tile.grid %[[BLOCKS]], %{{.*}}, %{{.*}}
  // CHECK: tile.program_id y
  // CHECK: tile.program_id x
  // CHECK: tile.program_id z
  // CHECK: tile.load
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

// The largest heads leave no shared memory for a second tile of Q.
// CHECK-LABEL: tile.kernel @one_q
// CHECK-SAME: work_stages = 1
// CHECK-SAME: turns
!l = !tile.buffer<?x?x?x256xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @one_q(%q: !l, %k: !l, %v: !l, %o: !l, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !l, !l, !l, !l
  return
}

// A packed batch has a block of threads for every block of rows. It continues with further rows of
// its sequence if that is longer than the given maximum.
// CHECK-LABEL: tile.kernel @packed
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: work_stages = 0
!p = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @packed(%q: !p, %cu: !cu, %max: index, %scale: f32) {
  // CHECK: tile.narrow
  // CHECK: scf.for {{.*}} : i32 {
  // CHECK: scf.for {{.*}} : i32 {
  // CHECK: } {tile.schedule = #tile.schedule<stages = 2>}
  // CHECK: tile.store
  // CHECK-NOT: tile.schedule
  // CHECK: tile.require
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale : !p, !p, !p, !p, !cu, !cu
  return
}

!small = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// With small heads, four warpgroups take turns; with a softcap they do not, because
// tanh needs the registers.
// CHECK-LABEL: tile.kernel @small
// CHECK-SAME: num_warps = 16 : i32
// CHECK-SAME: schedule = #tile.schedule<{{.*}}, turns, keep_loops>
// CHECK-LABEL: tile.kernel @small_softcap
// CHECK-SAME: num_warps = 8 : i32
// CHECK-NOT: turns
// CHECK: math.tanh
func.func @small(%q: !small, %k: !small, %v: !small, %o: !small, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {causal} : !small, !small, !small, !small
  return
}
func.func @small_softcap(%q: !small, %k: !small, %v: !small, %o: !small, %scale: f32, %cap: f32) {
  tile.attention %q, %k, %v, %o scale %scale softcap %cap {causal} : !small, !small, !small, !small
  return
}

// In a packed batch, the bounds of the keys that need a mask are recomputed before
// their loop.
// CHECK-LABEL: tile.kernel @packed_causal
// CHECK: math.exp2
// CHECK-NOT: scf.for
// CHECK: tile.recompute
// CHECK: scf.for
// CHECK: arith.cmpi slt, {{.*}} : tensor<128x128xi32>
// CHECK: scf.for
// CHECK-NOT: arith.cmpi slt, {{.*}} : tensor
// CHECK: } {tile.schedule = #tile.schedule<stages = 2>}
func.func @packed_causal(%q: !p, %cu: !cu, %max: index, %scale: f32) {
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale {causal} : !p, !p, !p, !p, !cu, !cu
  return
}
