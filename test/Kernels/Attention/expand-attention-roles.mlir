// Forward attention with producer warps: a block of threads processes one block of
// rows after another, and keys from the last to the first. The MMA of the weights of
// one step is in the next step; that of the last step is beside the first MMA of the
// next rows.
//
// RUN: tile-opt %s --tile-attach-target=chip=sm_90a --tile-expand-attention --canonicalize --cse | FileCheck %s

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @full
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: schedule = #tile.schedule<producers = 4, registers = [{{[0-9]+, [0-9]+}}], work_stages = 0, keep_loops>}
func.func @full(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui
  // CHECK: %[[SEQUENCES:.*]] = arith.muli
  // CHECK: %[[ALL:.*]] = arith.muli %[[BLOCKS]], %[[SEQUENCES]]
  // CHECK: %[[MOST:.*]] = tile.multiprocessors
  // CHECK: %[[LAUNCHED:.*]] = arith.minui %[[ALL]], %[[MOST]]
  // CHECK: tile.grid %[[LAUNCHED]], %c1, %c1
  // CHECK: %[[WORKERS:.*]] = tile.num_programs x
  // CHECK: %[[WORKERS32:.*]] = arith.index_cast %[[WORKERS]]
  // CHECK: %[[COUNT:.*]] = arith.ceildivui %{{.*}}, %[[WORKERS32]] : i32
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

// With a causal mask the last rows see the most keys, so the last block of rows is
// paired with the first one, unless there is a block of threads for each block of
// rows. The middle one of an odd number has no pair.
// CHECK-LABEL: tile.kernel @causal
func.func @causal(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %c128
  // CHECK: %[[ALL:.*]] = arith.muli %[[BLOCKS]]
  // CHECK: tile.multiprocessors
  // CHECK: %[[WORKERS:.*]] = tile.num_programs x
  // CHECK: %[[WORKERS32:.*]] = arith.index_cast %[[WORKERS]]
  // CHECK: %[[ALL32:.*]] = arith.index_cast %[[ALL]]
  // CHECK: %[[ALONE:.*]] = arith.cmpi uge, %[[WORKERS32]], %[[ALL32]]
  // CHECK: %[[COUNT:.*]] = arith.select %[[ALONE]], %c1_i32
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[COUNT]] step %c1_i32
  // CHECK: %[[SINGLE:.*]] = arith.cmpi eq
  // CHECK: arith.andi %{{.*}}, %[[SINGLE]]
  tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
  return
}

// The largest heads leave no shared memory for a second tile of Q, so each block of
// rows ends before the next one starts.
// CHECK-LABEL: tile.kernel @one_q
// CHECK-NOT: turns
!l = !tile.buffer<?x?x?x256xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @one_q(%q: !l, %k: !l, %v: !l, %o: !l, %scale: f32) {
  // CHECK: tile.multiprocessors
  // CHECK: scf.for %{{[a-z0-9]*}} = %c0_i32 to %{{[a-z0-9]*}} step %c1_i32 : i32 {
  // CHECK: tile.dot
  // CHECK: scf.for
  // CHECK: tile.dot
  // CHECK: tile.dot
  // CHECK: scf.yield
  // CHECK: tile.dot
  // CHECK: tile.store
  // CHECK: } {tile.schedule = #tile.schedule<stages = 1>}
  tile.attention %q, %k, %v, %o scale %scale : !l, !l, !l, !l
  return
}

// A packed batch has a block of threads for every block of rows. It continues with further rows of
// its sequence if that is longer than the given maximum.
// CHECK-LABEL: tile.kernel @packed
// CHECK-SAME: num_warps = 8 : i32
// CHECK-SAME: schedule = #tile.schedule<producers = 4
!p = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @packed(%q: !p, %cu: !cu, %max: index, %scale: f32) {
  // CHECK-NOT: tile.multiprocessors
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
