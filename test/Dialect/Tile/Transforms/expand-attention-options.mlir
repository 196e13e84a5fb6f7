// Tile sizes are chosen for the chip and the head dimension, or given as options.
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
// RUN:   -tile-expand-attention="block-n=32 num-warps=2" \
// RUN:   | FileCheck %s --check-prefix=SOME
// RUN: tile-opt %s -tile-expand-attention="block-m=96 block-n=80 num-warps=2" \
// RUN:   | FileCheck %s --check-prefix=GIVEN

!d128 = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!d256 = !tile.buffer<?x?x?x256xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// SM80-LABEL: tile.kernel @d128
// SM80-SAME: num_warps = 4
// SM80: tensor<128x64xf32>
// SM89-LABEL: tile.kernel @d128
// SM89: tensor<128x64xf32>
// GFX1100-LABEL: tile.kernel @d128
// GFX1100: tensor<64x32xf32>
// GFX950-LABEL: tile.kernel @d128
// GFX950: tensor<64x64xf32>
// SOME-LABEL: tile.kernel @d128
// SOME-SAME: num_warps = 2
// SOME: tensor<128x32xf32>
// GIVEN-LABEL: tile.kernel @d128
// GIVEN-SAME: num_warps = 2
// GIVEN: tensor<96x80xf32>
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
// GFX950: tensor<64x64xf32>
// GIVEN-LABEL: tile.kernel @d256
// GIVEN: tensor<96x80xf32>
func.func @d256(%q: !d256, %k: !d256, %v: !d256, %o: !d256, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !d256, !d256, !d256, !d256
  return
}
