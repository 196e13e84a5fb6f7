// Forward attention with producer warps: tile-schedule rotates the loop over the keys,
// and tile-persist makes the grid a loop.
//
// RUN: tile-opt %s --tile-attach-target=chip=sm_90a --tile-expand-attention --canonicalize --cse | FileCheck %s

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @full
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: schedule = #tile.schedule<producers = 4, registers = [{{[0-9]+, [0-9]+}}], work_stages = 2, turns = false>}
func.func @full(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui
  // CHECK: tile.grid %[[BLOCKS]], %{{.*}}, %{{.*}}
  // CHECK: tile.program_id y
  // CHECK: tile.program_id x
  // CHECK: tile.program_id z
  // CHECK: %[[Q:.*]] = tile.load
  // CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) {{.*}} : i32
  // CHECK: tile.dot %[[Q]]
  // CHECK: %[[P:.*]] = arith.truncf
  // CHECK: tile.dot %[[P]]
  // CHECK-NOT: scf.for
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
// CHECK-SAME: schedule = #tile.schedule<{{.*}}, turns>
// CHECK-LABEL: tile.kernel @small_softcap
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: turns = false
// CHECK: math.tanh
func.func @small(%q: !small, %k: !small, %v: !small, %o: !small, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {causal} : !small, !small, !small, !small
  return
}
func.func @small_softcap(%q: !small, %k: !small, %v: !small, %o: !small, %scale: f32, %cap: f32) {
  tile.attention %q, %k, %v, %o scale %scale softcap %cap {causal} : !small, !small, !small, !small
  return
}
