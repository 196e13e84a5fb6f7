// Fields of the option win over those of operations and kernels, whose other fields
// remain. Without a name, every kernel gets the fields that it can have.
//
// RUN: tile-opt %s -tile-attach-target=chip=sm_90a -tile-apply-schedule='schedule="stages = 3, producers = 2"' \
// RUN:   | FileCheck %s --check-prefix=ALL
// RUN: tile-opt %s -tile-attach-target=chip=sm_90a \
// RUN:   -tile-apply-schedule='schedule="@b_dq: stages = 3; @k : #tile.schedule<turns> ; @f_1: warps = 4; @k: warps = 4; @k: warps = 8;"' \
// RUN:   | FileCheck %s --check-prefix=SOME
// RUN: tile-opt %s -tile-attach-target=chip=sm_90a -tile-apply-schedule='schedule="producers = 0"' \
// RUN:   | FileCheck %s --check-prefix=OFF

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

// ALL-LABEL: tile.kernel @k
// ALL-SAME: {num_warps = 8 : i32, schedule = #tile.schedule<producers = 2, storers = 2, registers = [232, 40], stages = 3>}
// SOME-LABEL: tile.kernel @k
// SOME-SAME: {num_warps = 8 : i32, schedule = #tile.schedule<producers = 2, storers = 2, registers = [232, 40], turns>}
// OFF-LABEL: tile.kernel @k
// OFF-SAME: {num_warps = 8 : i32, schedule = #tile.schedule<producers = 0>}
tile.kernel @k() attributes {num_warps = 8 : i32,
    schedule = #tile.schedule<producers = 2, storers = 2, registers = [232, 40]>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// ALL-LABEL: func.func @f
// ALL: {schedule = #tile.schedule<tile = [128, 64], producers = 2, stages = 3>}
// ALL: {schedule = #tile.schedule<producers = 2, stages = 3>}
// SOME-LABEL: func.func @f
// SOME: {schedule = #tile.schedule<tile = [128, 64], stages = 2>}
// SOME: {schedule = #tile.schedule<warps = 4>}
func.func @f(%q: !q, %scale: f32) {
  tile.attention %q, %q, %q, %q scale %scale {schedule = #tile.schedule<tile = [128, 64], stages = 2>} : !q, !q, !q, !q
  tile.attention %q, %q, %q, %q scale %scale : !q, !q, !q, !q
  return
}

// ALL-LABEL: func.func @b
// ALL: {dkv_schedule = #tile.schedule<warps = 8, producers = 2, stages = 3>, dq_schedule = #tile.schedule<stages = 3>}
// SOME-LABEL: func.func @b
// SOME: {dkv_schedule = #tile.schedule<warps = 8>, dq_schedule = #tile.schedule<stages = 3>}
func.func @b(%q: !q, %lse: !rows, %stats: !stats, %scale: f32) {
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats scale %scale
      {dkv_schedule = #tile.schedule<warps = 8>} : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
  return
}
