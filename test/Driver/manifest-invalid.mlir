// RUN: split-file %s %t
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/form.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t/none.mlir -o /dev/null
// RUN: rm -f %t.json
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/none.mlir -o /dev/null --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ls %t.json

// FORM: form.mlir:2:3: error: 'tile_gpu.manifest' op 'grid' has no JSON form: [affine_map
// NONE: none.mlir:2:3: error: the kernel has no tile_gpu.manifest

//--- form.mlir
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [affine_map<(d0) -> (d0)>, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64,
      params = []}
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
//--- none.mlir
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
