// RUN: split-file %s %t
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/part.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/form.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t/none.mlir -o /dev/null
// RUN: rm -f %t.json
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/none.mlir -o /dev/null --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ls %t.json

// PART: part.mlir:2:3: error: the kernel has no 'tile.grid', which its manifest needs
// FORM: form.mlir:2:3: error: 'tile.grid' has no JSON form: [affine_map
// NONE: none.mlir:2:3: error: the kernel has no 'tile.grid', which its manifest needs

//--- part.mlir
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel, tile.params = []} {
    llvm.return
  }
}
//--- form.mlir
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel, tile.params = [],
      tile.grid = [affine_map<(d0) -> (d0)>]} {
    llvm.return
  }
}
//--- none.mlir
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
