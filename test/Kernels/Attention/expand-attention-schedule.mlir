// The schedule of a kernel comes from the file of the chip, field by field, unless the
// operation or an option gives the field.
//
// RUN: tile-opt %s -tile-attach-target=chip=sm_80 -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=SM80
// RUN: tile-opt %s -tile-attach-target=chip=sm_89 -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=SM89
// RUN: tile-opt %s -tile-attach-target=chip=gfx1100 -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=GFX1100
// RUN: tile-opt %s -tile-attach-target=chip=gfx950 -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=GFX950
// RUN: tile-opt %s -tile-attach-target=chip=sm_80 \
// RUN:   -tile-apply-schedule='schedule="warps = 2"' -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=SOME
// RUN: tile-opt %s -tile-apply-schedule='schedule="tile = [96, 80], warps = 2"' \
// RUN:   -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=GIVEN
// RUN: tile-opt %s -tile-attach-target=chip=sm_90a \
// RUN:   -tile-apply-schedule='schedule="tile = [64, 96], warps = 4"' -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=ROLES
// RUN: tile-opt %s -tile-attach-target=chip=sm_90a \
// RUN:   -tile-apply-schedule='schedule="producers = 0"' -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=NO-ROLES
// RUN: tile-opt %s -tile-attach-target=chip=sm_90a \
// RUN:   -tile-apply-schedule='schedule="in_flight = 1"' -tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=ONE

!d128 = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!d256 = !tile.buffer<?x?x?x256xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// SM80-LABEL: tile.kernel @d128
// SM80-SAME: num_warps = 4
// SM80: tensor<128x64xf32>
// SM89-LABEL: tile.kernel @d128
// SM89: tensor<128x64xf32>
// GFX1100-LABEL: tile.kernel @d128
// GFX1100: tensor<64x64xf32>
// GFX950-LABEL: tile.kernel @d128
// GFX950: tensor<256x128xf32>
// SOME-LABEL: tile.kernel @d128
// SOME-SAME: num_warps = 2
// SOME: tensor<128x64xf32>
// GIVEN-LABEL: tile.kernel @d128
// GIVEN-SAME: num_warps = 2
// GIVEN: tensor<96x80xf32>
// The roles, the registers and the stages remain.
// ROLES-LABEL: tile.kernel @d128
// ROLES-SAME: {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4, registers = [232, 40], work_stages = 2, turns = false>}
// ROLES: tensor<64x96xf32>
// ROLES: } {tile.schedule = #tile.schedule<stages = 2>}
// Without producers, the kernel takes none of the fields of roles, nor the stages of
// their rings.
// NO-ROLES-LABEL: tile.kernel @d128
// NO-ROLES-SAME: {num_warps = 8 : i32, schedule = #tile.schedule<producers = 0>} {
// NO-ROLES: tensor<128x128xf32>
// NO-ROLES-NOT: stages
// With one product in flight, the kernel keeps its roles, but is not persistent, and
// its loop is as written.
// ONE-LABEL: tile.kernel @d128
// ONE-SAME: schedule = #tile.schedule<producers = 4, registers = [232, 40], work_stages = 0, turns = false, keep_loops>}
// ONE-NOT: tile.multiprocessors
// ONE: scf.for
// ONE: math.exp2
// ONE: %[[P:.*]] = arith.truncf
// ONE: tile.dot %[[P]]
// ONE: } {tile.schedule = #tile.schedule<stages = 2>}
func.func @d128(%q: !d128, %k: !d128, %v: !d128, %o: !d128, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !d128, !d128, !d128, !d128
  return
}

// SM80-LABEL: tile.kernel @d256
// SM80: tensor<64x64xf32>
// SM89-LABEL: tile.kernel @d256
// SM89: tensor<64x32xf32>
// GFX1100-LABEL: tile.kernel @d256
// GFX1100: tensor<64x16xf32>
// GFX950-LABEL: tile.kernel @d256
// GFX950: tensor<128x128xf32>
// GIVEN-LABEL: tile.kernel @d256
// GIVEN: tensor<96x80xf32>
func.func @d256(%q: !d256, %k: !d256, %v: !d256, %o: !d256, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !d256, !d256, !d256, !d256
  return
}

// The operation sets one field, and an option would win over it.
// SM80-LABEL: tile.kernel @given
// SM80-SAME: num_warps = 4
// SM80: tensor<128x32xf32>
// SOME-LABEL: tile.kernel @given
// SOME-SAME: num_warps = 2
// SOME: tensor<128x32xf32>
// GIVEN-LABEL: tile.kernel @given
// GIVEN: tensor<96x80xf32>
// ROLES-LABEL: tile.kernel @given
// ROLES: tensor<64x96xf32>
// NO-ROLES-LABEL: tile.kernel @given
// NO-ROLES-SAME: {num_warps = 8 : i32, schedule = #tile.schedule<producers = 0>} {
// NO-ROLES: tensor<128x32xf32>
func.func @given(%q: !d128, %k: !d128, %v: !d128, %o: !d128, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {schedule = #tile.schedule<tile = [128, 32]>} : !d128, !d128, !d128, !d128
  return
}
