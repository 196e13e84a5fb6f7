// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="stages"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PARSE
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="tile = [64, 64], stage = 2"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="@k: stages = 40"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RANGE
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="#tile.swizzle<128>"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="@other: stages = 2"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="stages = 2; @k stages = 2"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=COLON
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="@k: tile = [64, 64]"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FIELD
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="storers = 1, column_warps = 2"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="@k: storers = 2"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=KERNEL
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="@k: producers = 2"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TMA
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="params = {BM = 64}"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PARAM
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="@k: params = {BM = 64}"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PARAM-OF
// RUN: not tile-opt %s -tile-attach-target=chip=gfx942 -tile-apply-schedule='schedule="@open: params = {B_M = 48}"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=VALUE

// PARSE: --schedule:1:7: error: expected
// UNKNOWN: --schedule:1:18: error: a schedule has no field 'stage'; its fields are tile,
// RANGE: --schedule:1:5: error: field 'stages' of a schedule lies in 1 .. 32, got 40
// OTHER: --schedule:1:1: error: expected #tile.schedule, got #tile.swizzle<128>
// NAME: --schedule:1:1: error: no kernel with a schedule is named 'other'; there are k, open, f
// COLON: --schedule:1:13: error: expected ':' and fields after the name of a kernel
// FIELD: --schedule:1:1: error: the schedule of 'k' has no field 'tile'
// NONE: --schedule:1:1: error: the schedule of no kernel of the program has field 'column_warps'
// PARAM: --schedule:1:1: error: no kernel has the parameter 'BM'
// PARAM-OF: --schedule:1:1: error: 'k' does not have the parameter 'BM'

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// KERNEL: apply-schedule-invalid.mlir:[[@LINE+3]]:1: error: 'tile.kernel' op field 'storers' of a schedule needs roles: 'producers' is 0
// TMA: apply-schedule-invalid.mlir:[[@LINE+2]]:1: error: 'tile.kernel' op 'producers = 2' of a schedule needs TMA, which gfx942 does not have

tile.kernel @k() attributes {num_warps = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// VALUE: apply-schedule-invalid.mlir:[[@LINE+1]]:1: error: 'tile.kernel' op has a schedule with 'B_M = 48'; its values are 32, 64
tile.kernel @open() {
  %bm = tile.param B_M in [32, 64]
  tile.grid %bm, %bm, %bm
}

func.func @f(%q: !q, %scale: f32) {
  tile.attention %q, %q, %q, %q scale %scale : !q, !q, !q, !q
  return
}
