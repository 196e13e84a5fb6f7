// The requirements of attention kernels on dynamic extents.
// RUN: tile-opt %s -split-input-file -tile-apply-schedule='schedule="tile = [64, 64], warps = 4"' -tile-expand-attention --cse | FileCheck %s

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!sink = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @forward
// CHECK-SAME: %[[Q:arg0]]: {{.*}} %[[K:arg1]]: {{.*}} %[[V:arg2]]: {{.*}} %[[O:arg3]]: {{.*}} %[[LSE:arg4]]: {{.*}} %[[SINK:arg5]]:
// CHECK-DAG: %[[B:.*]] = tile.dim %[[Q]][0]
// CHECK-DAG: %[[SQ:.*]] = tile.dim %[[Q]][1]
// CHECK-DAG: %[[H:.*]] = tile.dim %[[Q]][2]
// CHECK-DAG: %[[HKV:.*]] = tile.dim %[[K]][2]
// CHECK-DAG: %[[SK:.*]] = tile.dim %[[K]][1]
// CHECK: tile.require %[[K]][0] equal %[[B]], "the batch of q"
// CHECK-NEXT: tile.require %[[V]][0] equal %[[B]], "the batch of q"
// CHECK-NEXT: tile.require %[[V]][1] equal %[[SK]], "the length of k"
// CHECK-NEXT: tile.require %[[V]][2] equal %[[HKV]], "the heads of k"
// CHECK-NEXT: tile.require %[[O]][0] equal %[[B]], "the batch of q"
// CHECK-NEXT: tile.require %[[O]][1] equal %[[SQ]], "the length of q"
// CHECK-NEXT: tile.require %[[O]][2] equal %[[H]], "the heads of q"
// CHECK-NEXT: tile.require %[[SINK]][0] equal %[[H]], "the heads of q"
// CHECK-NEXT: tile.require %[[LSE]][0] equal %[[B]], "the batch of q"
// CHECK-NEXT: tile.require %[[LSE]][1] equal %[[H]], "the heads of q"
// CHECK-NEXT: tile.require %[[LSE]][2] equal %[[SQ]], "the length of q"
// CHECK-NEXT: tile.require %[[Q]][2] multiple_of %[[HKV]], "the heads of k"
// CHECK: %[[MOST:.*]] = arith.constant 1073741823
// CHECK: tile.require %[[Q]][1] at_most %[[MOST]], "the most rows that kernels count"
// CHECK-NEXT: tile.require %[[K]][1] at_most %[[MOST]], "the most rows that kernels count"
// CHECK-NEXT: tile.return
func.func @forward(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %sink: !sink, %scale: f32) {
  tile.attention %q, %k, %v, %o lse %lse sink %sink scale %scale : !q, !q, !q, !q, !lse, !sink
  return
}

// -----

// Static extents that are known to be right need no requirement.

!q = !tile.buffer<2x50x4x64xf16, #tile.strided<[12800, 256, 64, 1], align = 16>, global>
!k = !tile.buffer<2x?x2x64xf16, #tile.strided<[?:8, 128, 64, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @known
// CHECK: %[[SK:.*]] = tile.dim %arg1[1]
// CHECK: tile.require %arg2[1] equal %[[SK]], "the length of k"
// CHECK: tile.require %arg1[1] at_most
// CHECK-NOT: tile.require
func.func @known(%q: !q, %k: !k, %v: !k, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !k, !q
  return
}

// -----

// Scratch memory: stats has the rows of all blocks of q, dq_acc at least the rows of q.

!q = !tile.buffer<?x?x4x64xf16, #tile.strided<[?:8, 256, 64, 1], align = 16>, global>
!lse = !tile.buffer<?x4x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x4x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!acc = !tile.buffer<?x?x4x64xf32, #tile.strided<[?:8, 256, 64, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @backward_stats
// CHECK-DAG: %[[B:.*]] = tile.dim %arg0[0]
// CHECK-DAG: %[[S:.*]] = tile.dim %arg0[1]
// CHECK: tile.require %arg9[0] equal %[[B]], "the batch of q"
// CHECK: tile.require %arg10[0] equal %[[B]], "the batch of q"
// CHECK: tile.require %arg10[1] at_least %[[S]], "the length of q"
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[S]], %{{.*}} : index
// CHECK: %[[ROWS:.*]] = arith.muli %[[BLOCKS]], %{{.*}} : index
// CHECK: tile.require %arg9[3] equal %[[ROWS]], "the length of q in whole blocks of 16"
// Each kernel may be launched separately, so each has its requirements.
// CHECK-LABEL: tile.kernel @backward_dkv
// CHECK: tile.require %arg9[3] equal
// CHECK-LABEL: tile.kernel @backward_dq
// CHECK: tile.require %arg9[3] equal
func.func @backward(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !lse, %dq: !q, %dk: !q, %dv: !q, %stats: !stats,
                    %acc: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv using %stats dq_acc %acc scale %scale
      : !q, !q, !q, !q, !q, !lse, !q, !q, !q, !stats, !acc
  return
}

// -----

!q = !tile.buffer<?x4x64xf16, #tile.strided<[256, 64, 1], align = 16>, global>
!lse = !tile.buffer<4x?xf32, #tile.strided<[?, 1]>, global>
!stats = !tile.buffer<4x2x?xf32, #tile.strided<[?, ?, 1]>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @packed_stats
// CHECK-DAG: %[[BOUNDS:.*]] = tile.dim %arg10[0]
// CHECK-DAG: %[[TQ:.*]] = tile.dim %arg0[0]
// CHECK: tile.require %arg11[0] equal %[[BOUNDS]], "the extent of cu_q"
// CHECK: tile.require %arg10[0] at_least %{{.*}}, "one more than there are sequences"
// CHECK: %[[MOVED:.*]] = arith.muli %{{.*}}, %c128{{.*}} : index
// CHECK: %[[ROWS:.*]] = arith.addi %[[TQ]], %[[MOVED]] : index
// CHECK: tile.require %arg9[2] at_least %[[ROWS]], "the length of q and 128 rows for each sequence"
func.func @packed(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !lse, %dq: !q, %dk: !q, %dv: !q, %stats: !stats,
                  %cu_q: !cu, %cu_k: !cu, %max: index, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv using %stats
      seqlens %cu_q, %cu_k max %max, %max scale %scale
      : !q, !q, !q, !q, !q, !lse, !q, !q, !q, !stats, !cu, !cu
  return
}
