// The example attention_sink_backward.mlir: the compiler chooses the width of
// every atomic. With the author's layout dQ is added in coalesced scalars, with
// the compiler's layout in vectors, in the loop with a mask and in that without.
// dV and dK come from swizzled shared memory, four elements at a time.

// RUN: tile-opt %tile_src_root/examples/attention_sink_backward.mlir --tile-to-nvvm=chip=sm_90a \
// RUN:   --remarks-filter='tile-vectorize' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=AUTHOR
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %tile_src_root/examples/attention_sink_backward.mlir | FileCheck %s --check-prefix=SM80
// RUN: sed -e '/^!dq_/d' -e 's/!dq_blocks {/!sums {tile.accumulator, /' -e 's/!dq_blocks/!sums/' -e 's/!dq_rows/!sum_rows/' \
// RUN:   %tile_src_root/examples/attention_sink_backward.mlir > %t.mlir
// RUN: tile-opt %t.mlir --tile-to-nvvm=chip=sm_90a \
// RUN:   --remarks-filter='tile-(vectorize|choose.*)' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=COMPILER
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %t.mlir | FileCheck %s --check-prefix=SM90

// AUTHOR: [Missed] width-layout {{.*}}Reason="width 4 -> 1: %dq: elements (0, 0), (0, 1) are 32 apart"
// AUTHOR: [Passed] atomic-width {{.*}}Reason=nvidia.f32, width=1
// AUTHOR-COUNT-2: [Passed] atomic-width {{.*}}Reason=nvidia.f32x4, width=4
// AUTHOR-NOT: atomic-width

// SM80-NOT: .v2.f32
// SM80-NOT: .v4.f32
// SM80-COUNT-32: atom.global.add.f32

// COMPILER: [Passed] accumulator-layout
// COMPILER-COUNT-4: [Passed] atomic-width {{.*}}Reason=nvidia.f32x4, width=4
// COMPILER-NOT: atomic-width

// SM90-COUNT-48: red.global.add.v4.f32
// SM90-NOT: {{red|atom}}.global
