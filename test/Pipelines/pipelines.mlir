// The output of each vendor's pipeline for one program, and the order of its
// passes.
// RUN: tile-opt %s --tile-to-nvvm=chip=sm_80 | FileCheck %s --check-prefix=NVVM
// RUN: tile-opt %s --tile-to-rocdl=chip=gfx1100 | FileCheck %s --check-prefix=WMMA
// RUN: tile-opt %s --tile-to-rocdl=chip=gfx942 | FileCheck %s --check-prefix=MFMA
// RUN: tile-opt %s --tile-to-nvvm=chip=sm_80 --dump-pass-pipeline 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefixes=PASSES,NVIDIA
// RUN: tile-opt %s --tile-to-rocdl=chip=gfx942 --dump-pass-pipeline 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefixes=PASSES,AMD

// NVVM: tile_gpu.manifest @product {block = array<i64: 128, 1, 1>
// NVVM: llvm.func @product(
// NVVM: nvvm.cp.async.shared.global
// NVVM: nvvm.barrier
// NVVM: nvvm.ldmatrix
// NVVM: nvvm.mma.sync
// NVVM-NOT: tile.load

// WMMA: tile_gpu.manifest @product {block = array<i64: 128, 1, 1>
// WMMA: llvm.func @product(
// WMMA: rocdl.wmma.f32.16x16x16.f16

// MFMA: tile_gpu.manifest @product {block = array<i64: 256, 1, 1>
// MFMA: llvm.func @product(
// MFMA: rocdl.mfma.f32.32x32x8f16

// PASSES: tile-attach-target
// PASSES: tile-apply-schedule
// PASSES: tile-expand-attention
// PASSES: tile-assign-layouts
// PASSES: tile-defer-reductions
// PASSES: tile-decompose-reductions
// PASSES: tile-decompose-conversions
// PASSES: tile-bufferize
// PASSES: tile-pipeline
// PASSES: tile-plan-shared-memory
// PASSES: tile-insert-barriers
// PASSES: tile-vectorize
// PASSES: tile-sink-fragment-loads
// PASSES: tile-skip-unit-factors
// NVIDIA: tile-to-nvgpu
// AMD: tile-to-amdgpu
// PASSES: tile-verify-target
// PASSES: tile-gpu-to-llvm
// PASSES: tile-verify-target{llvm-only=true}

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>

tile.kernel @product(%a: !b, %b: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %bt = tile.load %b[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
}
