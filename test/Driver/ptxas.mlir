// ptxas accepts the PTX of ptx.mlir for every chip.

// REQUIRES: ptxas
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %S/ptx.mlir -o %t.80.ptx --resources | FileCheck %s
// RUN: %ptxas -arch=sm_80 %t.80.ptx -o /dev/null
// RUN: tile-translate --tile-to-ptx --chip=sm_89 %S/ptx.mlir -o %t.89.ptx --resources | FileCheck %s
// RUN: %ptxas -arch=sm_89 %t.89.ptx -o /dev/null
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %S/ptx.mlir -o %t.90.ptx --resources | FileCheck %s
// RUN: %ptxas -arch=sm_90a %t.90.ptx -o /dev/null

// CHECK: "name":"product","registers":{{[1-9][0-9]*}},"shared_bytes":0,"spill_bytes":0,"stack_bytes":0}
