// RUN: tile-opt %s -split-input-file -tile-apply-schedule='schedule="tile = [64, 64], warps = 4"' \
// RUN:   -tile-expand-attention -cse | FileCheck %s

// Blocks along y share the keys of a tile. Each walks over as many steps of 64 keys,
// and writes its result to its part of the buffers. The sink is left to the second
// kernel.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!o_parts = !tile.buffer<?x?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!sink = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @parts(
// CHECK: tile.launch_dependents
// CHECK: %[[PART:.*]] = tile.program_id y
// CHECK: %[[PARTS:.*]] = tile.dim %arg5[0]
// CHECK: %[[O:.*]] = tile.slice %arg5[%[[PART]], *, *, *, *]
// CHECK: %[[LSE:.*]] = tile.slice %arg6[%[[PART]], *, *, *]
// CHECK: tile.grid %{{.*}}, %[[PARTS]], %c1
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: %[[STEPS:.*]] = arith.ceildivsi %{{.*}}, %c64
// CHECK: %[[SOME:.*]] = arith.maxsi %[[STEPS]], %c0
// CHECK: %[[EACH:.*]] = arith.ceildivsi %[[SOME]], %[[PARTS]]
// CHECK: %[[SIZE:.*]] = arith.muli %[[EACH]], %c64
// CHECK: %[[SKIPPED:.*]] = arith.muli %[[PART]], %[[SIZE]]
// CHECK: %[[BEGIN:.*]] = arith.addi %{{.*}}, %[[SKIPPED]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN]], %[[SIZE]]
// CHECK: %[[MINE:.*]] = arith.minsi %[[END]], %[[NEXT]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[MINE]] step %c64
// CHECK-NOT: tile.load_scalar %arg7
// CHECK: %[[HEAD:.*]] = tile.slice %[[O]]
// CHECK: tile.store %{{.*}}, %[[HEAD]]
// CHECK: tile.require %arg6[0] equal %[[PARTS]], "the parts of o_parts"
// CHECK: tile.require %arg5[0] at_least %{{.*}}, "the fewest parts of the keys"
// CHECK: tile.require %arg5[0] at_most %{{.*}}, "the most parts of the keys"

// The second kernel weights the parts of a row by exp2(l - m). Parts beyond the last
// have no weight.
// CHECK-LABEL: tile.kernel @parts_combine(
// CHECK-SAME: num_warps = 1
// CHECK: tile.wait_prerequisites
// CHECK: %[[O:.*]] = tile.slice %arg5[*, %{{.*}}, %{{.*}}, %{{.*}}, *]
// CHECK: %[[LSE:.*]] = tile.slice %arg6[*, %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK: %[[PARTS:.*]] = tile.dim %arg5[0]
// CHECK: %[[R:.*]]:3 = scf.for %[[P:.*]] = %c0 to %[[PARTS]] step %c8
// CHECK: %[[NATURAL:.*]] = tile.load %[[LSE]][%[[P]]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[PARTS]], %[[P]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt
// CHECK: %[[L:.*]] = arith.select %[[EXISTS]]
// CHECK: tile.reduce maxnumf
// CHECK: %[[MAX:.*]] = arith.maxnumf
// CHECK: %[[PIVOT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MAX]]
// CHECK: %[[W:.*]] = math.exp2
// CHECK: %[[ALPHA:.*]] = math.exp2
// CHECK: %[[VALUES:.*]] = tile.load %[[O]][%[[P]], %c0] {{.*}} -> tensor<8x64xf32>
// CHECK: %[[SPREAD:.*]] = tile.broadcast %[[W]] along 1
// CHECK: %[[WEIGHTED:.*]] = arith.mulf %[[VALUES]], %[[SPREAD]]
// CHECK: %[[SUM:.*]] = tile.reduce addf %[[WEIGHTED]] along 0
// CHECK: tile.load_scalar %arg7
// CHECK: tile.store %{{.*}} : tensor<1x64xf16>
// CHECK: math.log2
func.func @parts(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %op: !o_parts, %lp: !lse_parts, %sink: !sink, %scale: f32) {
  tile.attention %q, %k, %v, %o lse %lse parts %op, %lp sink %sink scale %scale {causal}
      : !q, !q, !q, !q, !lse, !o_parts, !lse_parts, !sink
  return
}

// -----

// The four blocks of a cluster share the keys of a tile. They exchange the largest
// scores and the sums of all rows; each combines and stores 16 of 64 columns of the
// output, and the first one stores lse.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!sink = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @cluster(
// CHECK-SAME: cluster_blocks = 4 : i32
// CHECK-NOT: tile.launch_dependents
// CHECK: %[[PART:.*]] = tile.cluster_rank
// CHECK: tile.grid %{{.*}}, %c1, %c1
// CHECK: %[[EACH:.*]] = arith.ceildivsi %{{.*}}, %c4
// CHECK: %[[SIZE:.*]] = arith.muli %[[EACH]], %c64
// CHECK: %[[SKIPPED:.*]] = arith.muli %[[PART]], %[[SIZE]]
// CHECK: %[[R:.*]]:3 = scf.for
// CHECK: %[[MAX:.*]] = tile.cluster_reduce maxnumf %[[R]]#1 : tensor<64xf32> -> tensor<64xf32>
// CHECK: %[[PIVOT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MAX]]
// CHECK: arith.subf %[[R]]#1, %[[PIVOT]]
// CHECK: %[[WEIGHT:.*]] = math.exp2
// CHECK: %[[SUM:.*]] = arith.mulf %[[R]]#2, %[[WEIGHT]]
// CHECK: tile.cluster_reduce addf %[[SUM]] : tensor<64xf32> -> tensor<64xf32>
// CHECK: %[[SPREAD:.*]] = tile.broadcast %[[WEIGHT]] along 1
// CHECK: %[[OUT:.*]] = arith.mulf %[[R]]#0, %[[SPREAD]]
// CHECK: %[[BY_COLUMN:.*]] = tile.transpose %[[OUT]] [1, 0]
// CHECK: %[[MINE:.*]] = tile.cluster_reduce addf %[[BY_COLUMN]] : tensor<64x64xf32> -> tensor<16x64xf32>
// CHECK: tile.transpose %[[MINE]] [1, 0]
// CHECK: tile.load_scalar %arg5
// CHECK: %[[COLUMN:.*]] = arith.muli %[[PART]], %c16
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[PART]], %c0
// CHECK: tile.store %{{.*}}[%{{.*}}, %[[COLUMN]]] : tensor<64x16xf16>
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK-NEXT: tile.store {{.*}} : tensor<64xf32>
// CHECK-NOT: tile.kernel @cluster_combine
func.func @cluster(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %sink: !sink, %scale: f32) {
  tile.attention %q, %k, %v, %o lse %lse sink %sink scale %scale
      {causal, schedule = #tile.schedule<cluster_split = 4>} : !q, !q, !q, !q, !lse, !sink
  return
}

// -----

// The rows of a tile are 8 heads that share a head of k, at each of 8 queries. Tiles
// of more heads are along z.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!sink = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @heads(
// CHECK: %[[SHARED:.*]] = arith.divui
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[SHARED]], %c8
// CHECK: tile.grid %{{.*}}, %c1, %[[TILES]]
// CHECK: %[[Z:.*]] = tile.program_id z
// CHECK: %[[SKIPPED:.*]] = arith.muli %[[Z]], %c8
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[SKIPPED]]
// CHECK: %[[COUNT:.*]] = arith.subi %{{.*}}, %[[SKIPPED]]
// CHECK: %[[AT:.*]] = tile.slice %arg0[%[[B:.*]], *, *, *]
// CHECK: %[[Q:.*]] = tile.load %[[AT]][%[[QUERY:.*]], %[[FIRST]], %c0] {{.*}} -> tensor<8x8x64xf16>
// CHECK: tile.reshape %[[Q]] : tensor<8x8x64xf16> -> tensor<64x64xf16>
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = tile.iota along 0
// CHECK: arith.divui %[[ROW]], %{{.*}} : tensor<64x64xi32>
// CHECK: scf.yield
// CHECK: %[[O:.*]] = tile.slice %arg3[%[[B]], *, *, *]
// CHECK: %[[GROUP:.*]] = tile.narrow %[[O]][1] from %[[FIRST]] length %[[COUNT]]
// CHECK: %[[LSE:.*]] = tile.slice %arg4[%[[B]], *, *]
// CHECK: %[[NUMBERS:.*]] = tile.narrow %[[LSE]][0] from %[[FIRST]] length %[[COUNT]]
// CHECK: %[[SINK:.*]] = tile.narrow %arg5[0] from %[[FIRST]] length %[[COUNT]]
// CHECK: %[[SINKS:.*]] = tile.load %[[SINK]][%c0] {{.*}} -> tensor<8xf32>
// CHECK: tile.broadcast %{{.*}} along 0 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK: tile.store %{{.*}}, %[[GROUP]][%[[QUERY]], %c0, %c0] : tensor<8x8x64xf16>
// CHECK: %[[BY_HEAD:.*]] = tile.transpose %{{.*}} [1, 0] : tensor<8x8xf32>
// CHECK: tile.store %[[BY_HEAD]], %[[NUMBERS]][%c0, %[[QUERY]]]
func.func @heads(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %sink: !sink, %scale: f32) {
  tile.attention %q, %k, %v, %o lse %lse sink %sink scale %scale {causal, schedule = #tile.schedule<pack_heads = 8>}
      : !q, !q, !q, !q, !lse, !sink
  return
}
