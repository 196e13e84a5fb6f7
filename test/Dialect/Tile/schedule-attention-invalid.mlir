// RUN: tile-opt %s -split-input-file -verify-diagnostics

!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
!pq = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!prows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!pstats = !tile.buffer<?x2x?xf32, #tile.strided<[?:4, ?:4, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @columns(%q: !q, %lse: !rows, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op the schedule of the attribute 'schedule' has no field 'column_warps', only tile, pack_heads, warps, producers, registers, stages, work_stages, in_flight, turns, save_registers}}
  tile.attention %q, %q, %q, %q lse %lse scale %scale {schedule = #tile.schedule<column_warps = 2>} : !q, !q, !q, !q, !rows
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

func.func @work(%q: !q, %lse: !rows, %stats: !stats, %acc: !acc, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op the schedule of the attribute 'dkv_schedule' has no field 'work_stages', only tile, warps, column_warps, producers, storers, registers, stages, in_flight, turns, save_registers}}
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats scale %scale
      {dkv_schedule = #tile.schedule<work_stages = 1>} : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
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

func.func @queries(%q: !q, %lse: !rows, %stats: !stats, %acc: !acc, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op the schedule of the attribute 'dq_schedule' has no field 'producers', only tile, warps, stages}}
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats scale %scale
      {dq_schedule = #tile.schedule<producers = 4>} : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
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

func.func @no_kernel(%q: !q, %lse: !rows, %stats: !stats, %acc: !acc, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op cannot have dq_schedule beside dq_acc, with which dq has no kernel of its own}}
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats dq_acc %acc scale %scale
      {dq_schedule = #tile.schedule<stages = 2>} : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !acc
  return
}
