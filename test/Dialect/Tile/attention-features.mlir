// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!pq = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?, ?, 1]>, global>
!sink = !tile.buffer<?xbf16, #tile.strided<[1]>, global>
!dsink = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: @sink
func.func @sink(%q: !q, %sink: !sink, %scale: f32) {
  // CHECK: tile.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} sink %{{.*}} scale %{{.*}} : !tile.buffer<?x?x?x64xf16{{.*}}, !tile.buffer<?xbf16
  tile.attention %q, %q, %q, %q sink %sink scale %scale : !q, !q, !q, !q, !sink
  return
}

// CHECK-LABEL: @softcap
func.func @softcap(%q: !q, %lse: !rows, %scale: f32, %cap: f32) {
  // CHECK: tile.attention {{.*}} lse %{{.*}} scale %{{.*}} softcap %{{.*}} {causal} :
  tile.attention %q, %q, %q, %q lse %lse scale %scale softcap %cap {causal}
      : !q, !q, !q, !q, !rows
  return
}

// CHECK-LABEL: @packed
func.func @packed(%q: !pq, %lse: !prows, %sink: !sink, %cu: !cu, %max: index, %scale: f32) {
  // CHECK: tile.attention {{.*}} lse %{{.*}} sink %{{.*}} seqlens %{{.*}}, %{{.*}} max %{{.*}} scale
  tile.attention %q, %q, %q, %q lse %lse sink %sink seqlens %cu, %cu max %max
      scale %scale : !pq, !pq, !pq, !pq, !prows, !sink, !cu, !cu
  return
}

// CHECK-LABEL: @backward
func.func @backward(%q: !q, %rows: !rows, %stats: !stats, %scale: f32, %left: i32, %right: i32) {
  // CHECK: tile.attention_backward {{.*}} to %{{.*}}, %{{.*}}, %{{.*}} using %{{[a-z0-9]*}} scale %{{[a-z0-9]*}} window %{{[a-z0-9]*}}, %{{[a-z0-9]*}} :
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      scale %scale window %left, %right
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
  return
}

// CHECK-LABEL: @backward_sums
func.func @backward_sums(%q: !q, %acc: !acc, %rows: !rows, %stats: !stats, %scale: f32) {
  // CHECK: using %{{.*}} dq_acc %{{.*}} kv_acc separate %{{.*}}, %{{.*}} scale
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      dq_acc %acc kv_acc separate %q, %acc scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc, !q, !acc
  // CHECK: using %{{[a-z0-9]*}} kv_acc atomic %{{.*}}, %{{.*}} scale
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      kv_acc atomic %acc, %acc scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc, !acc
  return
}

// CHECK-LABEL: @backward_features
func.func @backward_features(%q: !pq, %rows: !prows, %stats: !pstats, %sink: !sink, %dsink: !dsink,
                             %cu: !cu, %max: index, %scale: f32, %cap: f32) {
  // CHECK: sink %{{.*}}, %{{.*}} seqlens %{{.*}}, %{{.*}} max %{{.*}}, %{{.*}} scale %{{.*}} softcap %{{.*}} {causal} :
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      sink %sink, %dsink seqlens %cu, %cu max %max, %max scale %scale
      softcap %cap {causal}
      : !pq, !pq, !pq, !pq, !pq, !prows, !pq, !pq, !pq, !pstats, !sink, !dsink,
        !cu, !cu
  return
}

// CHECK-LABEL: @parts
func.func @parts(%q: !q, %acc: !acc, %rows: !rows, %stats: !stats, %scale: f32, %side: i32, %offset: i32) {
  // CHECK: tile.attention {{.*}} scale %{{[a-z0-9]*}} offset %{{[a-z0-9]*}} {causal, merge} :
  tile.attention %q, %q, %q, %acc lse %rows scale %scale offset %offset {causal, merge}
      : !q, !q, !q, !acc, !rows
  // CHECK: tile.attention {{.*}} window %{{[a-z0-9]*}}, %{{[a-z0-9]*}} offset %{{[a-z0-9]*}} :
  tile.attention %q, %q, %q, %q scale %scale window %side, %side offset %offset
      : !q, !q, !q, !q
  // CHECK: tile.attention_backward {{.*}} dlse %{{[a-z0-9]*}} to %{{.*}} offset %{{[a-z0-9]*}} {accumulate, causal} :
  tile.attention_backward %q, %q, %q, %acc, %q, %rows dlse %rows to %acc, %acc, %acc using %stats
      scale %scale offset %offset {accumulate, causal}
      : !q, !q, !q, !acc, !q, !rows, !rows, !acc, !acc, !acc, !stats
  return
}

!o_parts = !tile.buffer<?x?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!po_parts = !tile.buffer<4x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!plse_parts = !tile.buffer<4x?x?xf32, #tile.strided<[?, ?, 1]>, global>

// CHECK-LABEL: @shared_keys
func.func @shared_keys(%q: !q, %rows: !rows, %op: !o_parts, %lp: !lse_parts, %sink: !sink, %scale: f32) {
  // CHECK: tile.attention {{.*}} lse %{{[a-z0-9]*}} parts %{{[a-z0-9]*}}, %{{[a-z0-9]*}} sink %{{[a-z0-9]*}} scale
  tile.attention %q, %q, %q, %q lse %rows parts %op, %lp sink %sink scale %scale
      : !q, !q, !q, !q, !rows, !o_parts, !lse_parts, !sink
  return
}

// CHECK-LABEL: @shared_keys_packed
func.func @shared_keys_packed(%q: !pq, %op: !po_parts, %lp: !plse_parts, %cu: !cu, %max: index, %scale: f32) {
  // CHECK: tile.attention {{.*}} parts %{{[a-z0-9]*}}, %{{[a-z0-9]*}} seqlens {{.*}} {schedule = #tile.schedule<pack_heads = 8>}
  tile.attention %q, %q, %q, %q parts %op, %lp seqlens %cu, %cu max %max scale %scale
      {schedule = #tile.schedule<pack_heads = 8>} : !pq, !pq, !pq, !pq, !po_parts, !plse_parts, !cu, !cu
  return
}

!cache = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lengths = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!table = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>

// CHECK-LABEL: @key_lengths
func.func @key_lengths(%q: !q, %n: !lengths, %scale: f32) {
  // CHECK: tile.attention {{.*}} key_lengths %{{[a-z0-9]*}} scale
  tile.attention %q, %q, %q, %q key_lengths %n scale %scale : !q, !q, !q, !q, !lengths
  return
}

!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>
!works_o = !tile.buffer<?x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!works_lse = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>

// CHECK-LABEL: @works
func.func @works(%q: !q, %op: !works_o, %lp: !works_lse, %w: !works, %n: !lengths, %scale: f32) {
  // CHECK: tile.attention {{.*}} parts %{{[a-z0-9]*}}, %{{[a-z0-9]*}} works %{{[a-z0-9]*}} key_lengths %{{[a-z0-9]*}} scale %{{[a-z0-9]*}} {reuse_works}
  tile.attention %q, %q, %q, %q parts %op, %lp works %w key_lengths %n scale %scale {reuse_works}
      : !q, !q, !q, !q, !works_o, !works_lse, !works, !lengths
  return
}

!packed_q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: @works_of_some
func.func @works_of_some(%q: !packed_q, %k: !q, %op: !works_o, %lp: !works_lse, %w: !works,
                         %cu: !lengths, %n: !lengths, %least: index, %most: index, %scale: f32) {
  // CHECK: tile.attention {{.*}} works %{{[a-z0-9]*}} queries %{{[a-z0-9]*}} to %{{[a-z0-9]*}} seqlens {{.*}} {concurrent}
  tile.attention %q, %k, %k, %q parts %op, %lp works %w queries %least to %most
      seqlens %cu max %most key_lengths %n scale %scale {concurrent}
      : !packed_q, !q, !q, !packed_q, !works_o, !works_lse, !works, !lengths, !lengths
  return
}

// CHECK-LABEL: @pages
func.func @pages(%q: !pq, %k: !cache, %cu: !cu, %max: index, %n: !lengths, %t: !table, %scale: f32) {
  // CHECK: tile.attention {{.*}} seqlens %{{[a-z0-9]*}} max %{{[a-z0-9]*}} key_lengths %{{[a-z0-9]*}} pages %{{[a-z0-9]*}} scale
  tile.attention %q, %k, %k, %q seqlens %cu max %max key_lengths %n pages %t scale %scale {causal}
      : !pq, !cache, !cache, !pq, !cu, !lengths, !table
  return
}

!list = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: @page_list
func.func @page_list(%q: !q, %k: !cache, %cu: !cu, %n: !lengths, %t: !list, %scale: f32) {
  // CHECK: tile.attention {{.*}} key_lengths %{{[a-z0-9]*}} pages %{{[a-z0-9]*}}, %{{[a-z0-9]*}} scale
  tile.attention %q, %k, %k, %q key_lengths %n pages %t, %cu scale %scale
      : !q, !cache, !cache, !q, !lengths, !list, !cu
  return
}

!tree = !tile.buffer<?x?x2xi32, #tile.strided<[?, 2, 1]>, global>
!packed_tree = !tile.buffer<?x8xi32, #tile.strided<[8, 1]>, global>

// CHECK-LABEL: @tree
func.func @tree(%q: !q, %t: !tree, %scale: f32, %offset: i32) {
  // CHECK: tile.attention {{.*}} tree_mask %{{[a-z0-9]*}} scale %{{[a-z0-9]*}} offset
  tile.attention %q, %q, %q, %q tree_mask %t scale %scale offset %offset : !q, !q, !q, !q, !tree
  return
}

// CHECK-LABEL: @packed_tree
func.func @packed_tree(%q: !pq, %k: !cache, %cu: !cu, %max: index, %n: !lengths, %t: !table, %tree: !packed_tree, %scale: f32) {
  // CHECK: tile.attention {{.*}} pages %{{[a-z0-9]*}} tree_mask %{{[a-z0-9]*}} scale %{{[a-z0-9]*}} {causal}
  tile.attention %q, %k, %k, %q seqlens %cu max %max key_lengths %n pages %t tree_mask %tree scale %scale {causal}
      : !pq, !cache, !cache, !pq, !cu, !lengths, !table, !packed_tree
  return
}
