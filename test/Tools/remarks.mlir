// --remarks prints what tile-opt prints as remarks of our passes, with the place
// in the source; without it there are none.

// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s --remarks -o /dev/null 2>&1 | FileCheck %s
// RUN: tile-run %s --chip=sm_80 --remarks --arg=zeros:64:f32 --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: remark

!b = !tile.buffer<64xf32, #tile.strided<[1], align = 16>, global>
tile.kernel @add(%src: !b, %dst: !b) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0] : !b -> tensor<64xf32>
  // CHECK: remarks.mlir:[[@LINE+1]]:3: remark: [Passed] atomic-width | Category:tile-vectorize
  tile.atomic_rmw addf %t, %dst[%c0] : tensor<64xf32>, !b
}
