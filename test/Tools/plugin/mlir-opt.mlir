// The plugin gives mlir-opt the dialects, the passes and the pipelines.
// REQUIRES: plugin
// RUN: mlir-opt %load_plugin %s | FileCheck %s --check-prefix=PARSED
// RUN: mlir-opt %load_plugin %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-expand-attention)' \
// RUN:   | FileCheck %s --check-prefix=EXPANDED
// RUN: mlir-opt %load_plugin %s --pass-pipeline='builtin.module(tile-to-nvvm{chip=sm_90a})' | FileCheck %s --check-prefix=NVVM
// RUN: mlir-opt %load_plugin %s --pass-pipeline='builtin.module(tile-to-rocdl{chip=gfx942})' | FileCheck %s --check-prefix=ROCDL

// mlir-opt and tile-opt lower to the same text.
// RUN: mlir-opt %load_plugin %s --pass-pipeline='builtin.module(tile-to-nvvm{chip=sm_90a})' -o %t.mlir-opt
// RUN: tile-opt %s --tile-to-nvvm=chip=sm_90a -o %t.tile-opt
// RUN: diff %t.mlir-opt %t.tile-opt

// Passes of mlir-opt and of the plugin may stand in one pipeline.
// RUN: mlir-opt %load_plugin %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-expand-attention,canonicalize,tile.kernel(cse,loop-invariant-code-motion))' \
// RUN:   | FileCheck %s --check-prefix=EXPANDED

// The diagnostics are those of tile-opt.
// RUN: not mlir-opt %load_plugin %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_1})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHIP

!heads = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
// PARSED: tile.attention
// EXPANDED: tile.kernel @attention
// NVVM: gpu.module
// NVVM: nvvm.wgmma
// ROCDL: gpu.module
// ROCDL: rocdl.mfma
// CHIP: error: {{.*}}sm_1
func.func @attention(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !heads, !heads, !heads, !heads
  return
}
