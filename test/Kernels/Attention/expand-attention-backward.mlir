// RUN: tile-opt %s -split-input-file \
// RUN:   -tile-apply-schedule='schedule="tile = [64, 128], warps = 8"' -tile-expand-attention | FileCheck %s

// The kernels compute delta and the base-2 lse; then dK and dV, with one block per block of keys
// and head of k; then dQ, which atomics add up, in the type of q.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

// CHECK-LABEL: tile.kernel @full_stats
// CHECK-SAME: num_warps = 4
// CHECK: tile.launch_dependents
// CHECK-NOT: tile.wait_prerequisites
// CHECK: %[[OH:.*]] = tile.slice %arg3[
// CHECK: %[[DOH:.*]] = tile.slice %arg4[
// CHECK-DAG: %[[LSEH:.*]] = tile.slice %arg5[
// CHECK-DAG: %[[DELTAH:.*]] = tile.slice %arg9[%{{.*}}, %{{.*}}, %[[C0:.*]], *]
// CHECK-DAG: %[[BASE2H:.*]] = tile.slice %arg9[%{{.*}}, %{{.*}}, %[[C1:.*]], *]
// CHECK: %[[ACCH:.*]] = tile.slice %arg10[
// CHECK: %[[X:.*]] = tile.load %[[OH]]
// CHECK: %[[XW:.*]] = arith.extf %[[X]]
// CHECK: %[[G:.*]] = tile.load %[[DOH]]
// CHECK: %[[GW:.*]] = arith.extf %[[G]]
// CHECK: %[[P:.*]] = arith.mulf %[[XW]], %[[GW]]
// CHECK: %[[SUM:.*]] = tile.reduce addf %[[P]] along 1
// CHECK: %[[LSE:.*]] = tile.load %[[LSEH]]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[LSE]]
// CHECK: tile.store %[[SUM]], %[[DELTAH]]
// CHECK: %[[BASE2:.*]] = arith.mulf %[[LSE]]
// CHECK: %[[STORED:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[BASE2]]
// CHECK: tile.store %[[STORED]], %[[BASE2H]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK: tile.store %[[ZERO]], %[[ACCH]]

// CHECK-LABEL: tile.kernel @full_dkv
// CHECK-SAME: num_warps = 8
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: tile.launch_dependents
// CHECK: %[[B:.*]] = tile.dim %arg0[0]
// CHECK: %[[SK:.*]] = tile.dim %arg1[1]
// CHECK: %[[H:.*]] = tile.dim %arg0[2]
// CHECK: %[[HKV:.*]] = tile.dim %arg1[2]
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[SK]], %[[C128]]
// CHECK: %[[PERSEQ:.*]] = arith.muli %[[BLOCKS]], %[[HKV]]
// CHECK: %[[ALL:.*]] = arith.muli %[[PERSEQ]], %[[B]]
// CHECK: tile.grid %[[ALL]], %[[C1]], %[[C1]]
// CHECK: tile.program_id x
// CHECK: arith.remui
// CHECK: %[[Y32:.*]] = arith.remui
// CHECK: %[[HKV32:.*]] = arith.index_cast %[[HKV]]
// CHECK: %[[GROUP32:.*]] = arith.divui %{{.*}}, %[[HKV32]] : i32
// CHECK: %[[GROUP:.*]] = arith.index_cast %[[GROUP32]]
// CHECK: %[[Y:.*]] = arith.index_cast %[[Y32]]
// CHECK: %[[K:.*]] = tile.load %{{.*}} -> tensor<128x64xf16>
// CHECK: %[[V:.*]] = tile.load %{{.*}} -> tensor<128x64xf16>
// CHECK-NEXT: tile.wait_prerequisites
// CHECK: %[[HEAD0:.*]] = arith.muli %[[Y]], %[[GROUP]]
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[I:.*]] = %[[C0]] to %[[GROUP]] step %[[C1]]
// CHECK: %[[HEAD:.*]] = arith.addi %[[HEAD0]], %[[I]]
// CHECK: %[[QH:.*]] = tile.slice %arg0[%{{.*}}, *, %[[HEAD]], *]
// CHECK: %[[DOH:.*]] = tile.slice %arg4[%{{.*}}, *, %[[HEAD]], *]
// CHECK: %[[ACCH:.*]] = tile.slice %arg10[%{{.*}}, *, %[[HEAD]], *]
// One loop with the mask: tile-split-masked-loops finds where it is constant.
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[DK:.*]] = %{{.*}}, %[[DV:.*]] = %{{.*}}) -> ({{.*}}) : i32
// CHECK: %[[M:.*]] = arith.index_cast %[[I]]
// CHECK: %[[LSE:.*]] = tile.load %{{.*}}[%[[M]]] {{.*}} -> tensor<64xf32>
// CHECK: %[[D:.*]] = tile.load %{{.*}}[%[[M]]] {{.*}} -> tensor<64xf32>
// CHECK: %[[Q:.*]] = tile.load %[[QH]][%[[M]], %[[C0]]]
// CHECK: %[[QT:.*]] = tile.transpose %[[Q]] [1, 0]
// CHECK: %[[S:.*]] = tile.dot %[[K]], %[[QT]]
// CHECK: %[[OFFSET:.*]] = arith.negf %[[LSE]]
// CHECK: %[[OFFSETS:.*]] = tile.broadcast %[[OFFSET]] along 0
// CHECK: %[[E:.*]] = math.fma %[[S]], %{{.*}}, %[[OFFSETS]]
// CHECK: %[[EXP:.*]] = math.exp2 %[[E]]
// CHECK: %[[KEY:.*]] = tile.iota along 0
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[KEY]], %{{.*}} : tensor<128x64xi32>
// CHECK: %[[P:.*]] = arith.select %[[EXISTS]], %[[EXP]]
// CHECK: %[[G:.*]] = tile.load %[[DOH]][%[[M]], %[[C0]]]
// CHECK: %[[PL:.*]] = arith.truncf %[[P]]
// CHECK: %[[GT:.*]] = tile.transpose %[[G]] [1, 0]
// CHECK: %[[DP:.*]] = tile.dot %[[V]], %[[GT]]
// CHECK: %[[DS:.*]] = tile.broadcast %[[D]] along 0
// CHECK: %[[DIFF:.*]] = arith.subf %[[DP]], %[[DS]]
// CHECK: %[[GRAD:.*]] = arith.mulf %[[P]], %[[DIFF]]
// CHECK: %[[GL:.*]] = arith.truncf %[[GRAD]]
// CHECK: %[[DVN:.*]] = tile.dot %[[PL]], %[[G]], %[[DV]]
// CHECK: %[[DKN:.*]] = tile.dot %[[GL]], %[[Q]], %[[DK]]
// CHECK: %[[GLT:.*]] = tile.transpose %[[GL]] [1, 0]
// CHECK: %[[DQ:.*]] = tile.dot %[[GLT]], %[[K]]
// CHECK: tile.atomic_rmw addf %[[DQ]], %[[ACCH]][%[[M]], %[[C0]]]
// CHECK: scf.yield %[[DKN]], %[[DVN]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SUMS]]#0
// CHECK: %[[DKL:.*]] = arith.truncf %[[SCALED]]
// CHECK: tile.store %[[DKL]]
// CHECK: %[[DVL:.*]] = arith.truncf %[[SUMS]]#1
// CHECK: tile.store %[[DVL]]

// CHECK-LABEL: tile.kernel @full_dq
// CHECK-SAME: num_warps = 4
// CHECK: tile.wait_prerequisites
// CHECK: %[[SUM:.*]] = tile.load {{.*}} -> tensor<16x64xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SUM]]
// CHECK: %[[LOW:.*]] = arith.truncf %[[SCALED]]
// CHECK: tile.store %[[LOW]]
// CHECK-NOT: tile.kernel
func.func @full(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q,
                %dk: !q, %dv: !q, %stats: !stats, %acc: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %acc scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc
  return
}

// -----

// Without dq_acc, the kernel of dQ iterates over the keys and there are no
// atomics. With a causal mask, a block of keys starts at its diagonal.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

// CHECK-LABEL: tile.kernel @causal_stats
// CHECK-LABEL: tile.kernel @causal_dkv
// Blocks of the same number of 8 heads follow each other: the longest come first.
// CHECK: %[[PLACE:.*]] = tile.program_id x
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[PLACE]]
// CHECK: %[[BLOCKS:.*]] = arith.index_cast
// CHECK: %[[EIGHT:.*]] = arith.index_cast %c8
// CHECK: %[[OF_EIGHT:.*]] = arith.muli %[[BLOCKS]], %[[EIGHT]]
// CHECK: %[[GROUP:.*]] = arith.divui %[[NUMBER]], %[[OF_EIGHT]]
// CHECK: %[[IN_GROUP:.*]] = arith.remui %[[NUMBER]], %[[OF_EIGHT]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[EIGHT]]
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[HEIGHT:.*]] = arith.minui %[[LEFT]], %[[EIGHT]]
// CHECK: arith.remui %[[IN_GROUP]], %[[HEIGHT]]
// CHECK: arith.divui %[[IN_GROUP]], %[[HEIGHT]]
// CHECK: %[[SK:.*]] = tile.dim %arg1[1]
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[SHIFT:.*]] = arith.subi %[[SK]]
// CHECK: %[[FIRST:.*]] = arith.subi %[[ROW]], %[[SHIFT]]
// CHECK-NOT: tile.atomic_rmw
// CHECK-LABEL: tile.kernel @causal_dq
// CHECK: %[[Q:.*]] = tile.load {{.*}} -> tensor<64x64xf16>
// CHECK: %[[G:.*]] = tile.load {{.*}} -> tensor<64x64xf16>
// CHECK: scf.for %{{.*}} iter_args(%[[DQ:.*]] = %{{.*}}) -> (tensor<64x64xf32>)
// CHECK: %[[K:.*]] = tile.load {{.*}} -> tensor<128x64xf16>
// CHECK: tile.dot %[[Q]]
// CHECK: %[[V:.*]] = tile.load {{.*}} -> tensor<128x64xf16>
// CHECK: tile.dot %[[G]]
// CHECK: tile.dot %{{.*}}, %[[K]], %[[DQ]]
// CHECK-NOT: scf.for
// CHECK: tile.store
// CHECK-NOT: tile.kernel
func.func @causal(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q,
                  %dk: !q, %dv: !q, %stats: !stats, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats scale %scale {causal}
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
  return
}

// -----

// Each query head has its own sums, and a kernel adds up the heads of a group.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

// CHECK-LABEL: tile.kernel @separate_stats
// CHECK-LABEL: tile.kernel @separate_dkv
// CHECK: %[[H:.*]] = tile.dim %arg0[2]
// CHECK: arith.muli %{{.*}}, %[[H]]
// CHECK: tile.program_id x
// CHECK: arith.remui
// CHECK: %[[HEAD32:.*]] = arith.remui
// CHECK: %[[HEAD:.*]] = arith.index_cast %[[HEAD32]]
// CHECK: tile.slice %arg10[%{{.*}}, *, %[[HEAD]], *]
// CHECK-LABEL: tile.kernel @separate_dq
// CHECK-LABEL: tile.kernel @separate_sum
// CHECK: arith.remui
// CHECK: %[[GROUP32:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK: %[[GROUP32:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK: %[[GROUP:.*]] = arith.index_cast %[[GROUP32]]
// CHECK: scf.for %{{.*}} to %[[GROUP]]
// CHECK: arith.addf
// CHECK: scf.for %{{.*}} to %[[GROUP]]
// CHECK: arith.addf
func.func @separate(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows,
                    %dq: !q, %dk: !q, %dv: !q, %stats: !stats, %dka: !acc,
                    %dva: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats kv_acc separate %dka, %dva scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc, !acc
  return
}

// -----

// All heads of a group add to zeroed sums atomically; sinks; packed sequences.

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!stats = !tile.buffer<?x2x?xf32, #tile.strided<[?, ?, 1]>, global>
!sink = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @all_stats
// CHECK-LABEL: tile.kernel @all_dsink
// CHECK-SAME: num_warps = 1
// CHECK: %[[H:.*]] = tile.dim %arg0[1]
// CHECK: tile.grid %[[H]], %c1, %c1
// CHECK: scf.for
// CHECK: tile.narrow
// CHECK: scf.for
// CHECK: arith.minnumf
// CHECK: arith.negf
// CHECK: tile.store %{{.*}}, %arg13
// CHECK-LABEL: tile.kernel @all_zero
// CHECK: tile.store {{.*}} : tensor<32x64xf32>
// CHECK: tile.store {{.*}} : tensor<32x64xf32>
// CHECK-LABEL: tile.kernel @all_dkv
// CHECK: scf.for
// CHECK: tile.atomic_rmw addf
// CHECK: tile.atomic_rmw addf
// CHECK-LABEL: tile.kernel @all_dq
// CHECK-LABEL: tile.kernel @all_sum
func.func @all(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !rows, %dq: !q,
               %dk: !q, %dv: !q, %stats: !stats, %dka: !acc, %dva: !acc,
               %sink: !sink, %dsink: !sink, %cuq: !cu, %cuk: !cu, %maxq: index,
               %maxk: index, %scale: f32, %cap: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats kv_acc atomic %dka, %dva sink %sink, %dsink
      seqlens %cuq, %cuk max %maxq, %maxk scale %scale softcap %cap
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc, !acc, !sink, !sink,
        !cu, !cu
  return
}
