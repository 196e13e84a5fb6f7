// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},gpu.module(tile-to-nvgpu))' \
// RUN:   | FileCheck %s
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},gpu.module(tile-to-nvgpu))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SM80

gpu.module @m {
  // CHECK-LABEL: gpu.func @launch
  gpu.func @launch() {
    // SM80: error: 'tile_gpu.launch_dependents' op is not available on sm_80
    // CHECK: llvm.inline_asm has_side_effects "griddepcontrol.launch_dependents;", "~{memory}"
    tile_gpu.launch_dependents
    // SM80: error: 'tile_gpu.wait_prerequisites' op is not available on sm_80
    // CHECK: llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}"
    tile_gpu.wait_prerequisites
    gpu.return
  }
}
