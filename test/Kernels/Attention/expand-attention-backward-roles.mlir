// Gradients with producer warps: one loop in the order of the formulas, which
// tile-schedule changes. Its counter has 32 bits. On chips without TMA there are no
// producer warps.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-expand-attention)' | FileCheck %s

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @backward_stats
// CHECK-SAME: schedule = #tile.schedule<producers = 0>
// CHECK-LABEL: tile.kernel @backward_dkv
// CHECK-SAME: num_warps = 8 : i32, schedule = #tile.schedule<producers = 1, storers = 3, registers = [232, 40], stages = 2, work_stages = 0, turns = false>
// CHECK: %[[K:.*]] = tile.load %{{.*}} -> tensor<128x128xf16>
// CHECK: %[[V:.*]] = tile.load %{{.*}} -> tensor<128x128xf16>
// CHECK: tile.recompute
// CHECK: tile.recompute
// CHECK: scf.for %[[I:[a-z0-9]*]] = %{{.*}} : i32
// CHECK: %[[M:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK: %[[Q:.*]] = tile.load %{{.*}}[%[[M]], %{{.*}}]
// CHECK: tile.dot %[[K]], %{{.*}}
// CHECK: %[[EXP:.*]] = math.exp2
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %[[EXP]]
// CHECK: %[[G:.*]] = tile.load %{{.*}}[%[[M]], %{{.*}}]
// CHECK: %[[PL:.*]] = arith.truncf %[[P]]
// CHECK: tile.dot %[[V]], %{{.*}}
// CHECK: %[[DS:.*]] = arith.truncf
// CHECK: tile.dot %[[PL]], %[[G]]
// CHECK: tile.dot %[[DS]], %[[Q]]
// CHECK: %[[DST:.*]] = tile.transpose %[[DS]]
// CHECK: %[[DQ:.*]] = tile.dot %[[DST]], %[[K]]
// CHECK: tile.atomic_rmw addf %[[DQ]]
func.func @backward(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q,
                    %dk: !q, %dv: !q, %stats: !stats, %acc: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %acc scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc
  return
}

// With a window, one comparison tests both sides: the distance from the first query
// that sees the key is compared with the width of the window.
// CHECK-LABEL: tile.kernel @window_dkv
// CHECK: scf.for
// CHECK: %[[FROM:.*]] = arith.subi %{{.*}}, %{{.*}} : tensor<128x64xi32>
// CHECK: %[[WIDTH:.*]] = tensor.splat %{{.*}} : tensor<128x64xi32>
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[FROM]], %[[WIDTH]] : tensor<128x64xi32>
// CHECK: %[[SEES:.*]] = arith.andi %{{.*}}, %[[INSIDE]]
// CHECK: arith.select %[[SEES]]
// CHECK-NOT: scf.for
func.func @window(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q,
                  %dk: !q, %dv: !q, %stats: !stats, %acc: !acc, %scale: f32,
                  %left: i32, %right: i32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %acc scale %scale window %left, %right
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc
  return
}

!q192 = !tile.buffer<?x?x?x192xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc192 = !tile.buffer<?x?x?x192xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// 96 keys are no multiple of the rows of an instruction: scores have a row per query,
// and the gradients of k and v a row per dimension.
// CHECK-LABEL: tile.kernel @by_query_dkv
// CHECK-SAME: num_warps = 8 : i32, schedule = #tile.schedule<producers = 1, storers = 3, registers = [232, 40], stages = 2, work_stages = 0, turns = false>
// CHECK: %[[K:.*]] = tile.load %{{.*}} -> tensor<96x192xf16>
// CHECK: %[[V:.*]] = tile.load %{{.*}} -> tensor<96x128xf16>
// CHECK: scf.for {{.*}} -> (tensor<192x96xf32>, tensor<128x96xf32>)
// CHECK: %[[SUMS:.*]] = tile.load %{{.*}} -> tensor<64xf32>
// CHECK: %[[Q:.*]] = tile.load %{{.*}} -> tensor<64x192xf16>
// CHECK: %[[KC:.*]] = tile.transpose %[[K]]
// CHECK: tile.dot %[[Q]], %[[KC]]
// CHECK: tile.broadcast %{{.*}} along 1 : tensor<64xf32> -> tensor<64x96xf32>
// CHECK: %[[KEY:.*]] = tile.iota along 1 : tensor<64x96xi32>
// CHECK: arith.cmpi slt, %[[KEY]]
// CHECK: %[[G:.*]] = tile.load %{{.*}} -> tensor<64x128xf16>
// CHECK: %[[PL:.*]] = arith.truncf
// CHECK: %[[VC:.*]] = tile.transpose %[[V]]
// CHECK: tile.dot %[[G]], %[[VC]]
// CHECK: %[[DS:.*]] = arith.truncf
// CHECK: %[[GC:.*]] = tile.transpose %[[G]]
// CHECK: tile.dot %[[GC]], %[[PL]], %{{.*}} -> tensor<128x96xf32>
// CHECK: %[[QC:.*]] = tile.transpose %[[Q]]
// CHECK: tile.dot %[[QC]], %[[DS]], %{{.*}} -> tensor<192x96xf32>
// CHECK: %[[DQ:.*]] = tile.dot %[[DS]], %[[K]]
// CHECK: tile.atomic_rmw addf %[[DQ]]
// CHECK: tile.transpose %{{.*}} [1, 0] : tensor<192x96xf32> -> tensor<96x192xf32>
// CHECK: tile.transpose %{{.*}} [1, 0] : tensor<128x96xf32> -> tensor<96x128xf32>
func.func @by_query(%q: !q192, %k: !q192, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q192,
                    %dk: !q192, %dv: !q, %stats: !stats, %acc: !acc192, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %acc scale %scale
      : !q192, !q192, !q, !q, !q, !rows, !q192, !q192, !q, !stats, !acc192
  return
}

!q256 = !tile.buffer<?x?x?x256xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc256 = !tile.buffer<?x?x?x256xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// 80 keys leave no registers for all columns of dQ: the head dimension is in two
// slices, and one of dQ leaves before the next one is computed.
// CHECK-LABEL: tile.kernel @sliced_dkv
// CHECK-SAME: schedule = #tile.schedule<producers = 4, registers = [240, 24], stages = 2, work_stages = 0, turns = false, save_registers>
// CHECK: %[[K0:.*]] = tile.load %{{.*}} -> tensor<80x128xf16>
// CHECK: %[[K1:.*]] = tile.load %{{.*}} -> tensor<80x128xf16>
// CHECK: scf.for {{.*}} -> (tensor<128x80xf32>, tensor<128x80xf32>, tensor<256x80xf32>)
// CHECK: %[[Q0:.*]] = tile.load %{{.*}} -> tensor<64x128xf16>
// CHECK: %[[KC0:.*]] = tile.transpose %[[K0]]
// CHECK: %[[S0:.*]] = tile.dot %[[Q0]], %[[KC0]]
// CHECK: %[[Q1:.*]] = tile.load %{{.*}} -> tensor<64x128xf16>
// CHECK: %[[KC1:.*]] = tile.transpose %[[K1]]
// CHECK: tile.dot %[[Q1]], %[[KC1]], %[[S0]]
// CHECK: %[[QC0:.*]] = tile.transpose %[[Q0]]
// CHECK: tile.dot %[[QC0]], %[[DS:.*]], %{{.*}} -> tensor<128x80xf32>
// CHECK: %[[DQ0:.*]] = tile.dot %[[DS]], %[[K0]]
// CHECK: tile.atomic_rmw addf %[[DQ0]], %{{.*}}[%[[M:.*]], %c0{{.*}}]
// CHECK: %[[QC1:.*]] = tile.transpose %[[Q1]]
// CHECK: tile.dot %[[QC1]], %[[DS]], %{{.*}} -> tensor<128x80xf32>
// CHECK: %[[DQ1:.*]] = tile.dot %[[DS]], %[[K1]]
// CHECK: tile.atomic_rmw addf %[[DQ1]], %{{.*}}[%[[M]], %c128{{.*}}]
func.func @sliced(%q: !q256, %k: !q256, %v: !q256, %o: !q256, %do: !q256, %lse: !rows, %dq: !q256,
                  %dk: !q256, %dv: !q256, %stats: !stats, %acc: !acc256, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %acc scale %scale
      : !q256, !q256, !q256, !q256, !q256, !rows, !q256, !q256, !q256, !stats, !acc256
  return
}

!pq = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
// Values per row are stored for all sequences, with zeros after the rows of each: @packed_stats
// writes up to a multiple of 128 rows, so that loads past the end need no mask.
// CHECK-LABEL: tile.kernel @packed_stats
// CHECK: %[[START:.*]] = arith.minsi {{.*}} : index
// CHECK-NEXT: %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %c128 : index
// CHECK-NEXT: %[[ROWS:.*]] = arith.muli %[[BLOCKS]], %c128 : index
// CHECK-NEXT: tile.narrow %{{.*}}[0] from %[[START]] length %[[ROWS]] : !tile.buffer<?xf32
// CHECK: arith.minsi
// CHECK: tile.narrow
// CHECK: %[[BLOCKS2:.*]] = arith.ceildivui %{{.*}}, %c128 : index
// CHECK-NEXT: %[[ROWS2:.*]] = arith.muli %[[BLOCKS2]], %c128 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS2]] step
// CHECK-LABEL: tile.kernel @packed_dkv
// CHECK-SAME: schedule = #tile.schedule<producers = 1, storers = 3, registers = [232, 40], stages = 2, work_stages = 0, turns = false>
// CHECK: tile.wait_prerequisites
// CHECK: scf.for %{{.*}} : i32 {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.load %{{.*}} -> tensor<64xf32>
// CHECK-NOT: tensor<64xi1>
// CHECK-NOT: scf.for
// CHECK: tile.require
func.func @packed(%q: !pq, %k: !pq, %v: !pq, %o: !pq, %do: !pq, %lse: !prows, %dq: !pq,
                  %dk: !pq, %dv: !pq, %stats: !pstats, %cu: !cu, %max: index, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats seqlens %cu, %cu max %max, %max scale %scale
      : !pq, !pq, !pq, !pq, !pq, !prows, !pq, !pq, !pq, !pstats, !cu, !cu
  return
}

// Packed sequences and the addresses of atomics need registers, so the kernel saves
// them. Without packed sequences, it need not.
// CHECK-LABEL: tile.kernel @dense_atomic_dkv
// CHECK-SAME: schedule = #tile.schedule<producers = 1, storers = 3, registers = [232, 40], stages = 2, work_stages = 0, turns = false>
func.func @dense_atomic(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q,
                        %dk: !q, %dv: !q, %stats: !stats, %acc: !acc, %dka: !acc, %dva: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %acc kv_acc atomic %dka, %dva scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc, !acc, !acc
  return
}

!pacc = !tile.buffer<?x?x128xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
// CHECK-LABEL: tile.kernel @atomic_dkv
// CHECK-SAME: schedule = #tile.schedule<producers = 1, storers = 3, registers = [240, 24], stages = 2, work_stages = 0, turns = false, save_registers>
func.func @atomic(%q: !pq, %k: !pq, %v: !pq, %o: !pq, %do: !pq, %lse: !prows, %dq: !pq,
                  %dk: !pq, %dv: !pq, %stats: !pstats, %dka: !pacc, %dva: !pacc, %cu: !cu, %max: index, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats kv_acc atomic %dka, %dva seqlens %cu, %cu max %max, %max scale %scale
      : !pq, !pq, !pq, !pq, !pq, !prows, !pq, !pq, !pq, !pstats, !pacc, !pacc, !cu, !cu
  return
}
