// Fields that do not fit what the operation computes, or the row that the other fields
// come from.
// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-expand-attention)'

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
!pq = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @persistent_packed(%q: !pq, %cu: !cu, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'work_stages' in its schedule: packed sequences have no length at launch}}
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale {schedule = #tile.schedule<work_stages = 1>} : !pq, !pq, !pq, !pq, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
!pq = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @persistent_merge(%q: !q, %lse: !rows, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'work_stages' in its schedule: a merge reads what other blocks write}}
  tile.attention %q, %q, %q, %q lse %lse scale %scale {merge, schedule = #tile.schedule<work_stages = 2>} : !q, !q, !q, !q, !rows
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
!pq = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @rows_of_stats(%q: !pq, %lse: !prows, %stats: !pstats, %cu: !cu, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op 'tile = [96, 64]' of the schedule of dk and dv: with roles, the queries of packed sequences must divide 128}}
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats
      seqlens %cu, %cu max %max, %max scale %scale {dkv_schedule = #tile.schedule<tile = [96, 64]>}
      : !pq, !pq, !pq, !pq, !pq, !prows, !pq, !pq, !pq, !pstats, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
!pq = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @queries_tile(%q: !q, %lse: !rows, %stats: !stats, %acc: !acc, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op 'tile = [64, 24]' of its schedule with 4 warps must be multiples of 16 and 16}}
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats scale %scale
      {dq_schedule = #tile.schedule<tile = [64, 24]>} : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
!pq = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @columns(%q: !q, %lse: !rows, %stats: !stats, %acc: !acc, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op 'column_warps' of a schedule is 3, which does not divide its 8 warps}}
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats scale %scale
      {dkv_schedule = #tile.schedule<column_warps = 3>} : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @cluster_of_parts(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'cluster_split' in its schedule: its parts have blocks of the grid}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale {schedule = #tile.schedule<cluster_split = 2>} : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>

func.func @cluster_that_merges(%q: !q, %lse: !lse, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'cluster_split' in its schedule: a merge reads what other blocks write}}
  tile.attention %q, %q, %q, %q lse %lse scale %scale {merge, schedule = #tile.schedule<cluster_split = 2>} : !q, !q, !q, !q, !lse
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @cluster_of_three(%q: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'cluster_split' in its schedule: 3 blocks cannot divide 128 columns of the output}}
  tile.attention %q, %q, %q, %q scale %scale {schedule = #tile.schedule<cluster_split = 3>} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @persistent_cluster(%q: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'work_stages' in its schedule: blocks share the keys of a tile}}
  tile.attention %q, %q, %q, %q scale %scale {schedule = #tile.schedule<cluster_split = 2, work_stages = 1>} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @persistent_parts(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'work_stages' in its schedule: blocks share the keys of a tile}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale {schedule = #tile.schedule<work_stages = 1>} : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @persistent_heads(%q: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cannot have 'work_stages' in its schedule: the rows of a tile are heads}}
  tile.attention %q, %q, %q, %q scale %scale {schedule = #tile.schedule<pack_heads = 8, work_stages = 1>} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @packed_heads(%q: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op 'pack_heads = 24' of its schedule must divide the 64 rows of a tile}}
  tile.attention %q, %q, %q, %q scale %scale {schedule = #tile.schedule<pack_heads = 24>} : !q, !q, !q, !q
  return
}
