// wgmma reads operands of 32 and 8 bits only along the depth. If the rows of b are contiguous in memory, mma.sync is
// used, and a remark reports it.
//
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// REMARK: remark: [Missed] operand-not-k-major | {{.*}}Reason="wgmma.m64k8.tf32 needs an operand b whose columns are contiguous in memory, and its rows are: mma.m16n8k8.tf32 is used instead"
// REMARK: remark: [Missed] operand-not-k-major | {{.*}}Reason="wgmma.m64k32.i8 needs an operand b whose columns are contiguous in memory, and its rows are: mma.m16n8k32.i8 is used instead"

!words = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
!bytes = !tile.buffer<64x64xi8, #tile.strided<[64, 1], align = 16>, global>

module attributes {tile.target = "sm_90a"} {
// CHECK-DAG: #[[TF32:.+]] = #tile.mma<"mma.m16n8k8.tf32", warps = [4, 1]>
// CHECK-DAG: #[[TF32K:.+]] = #tile.mma<"wgmma.m64k8.tf32", warps = [4, 1]>
// CHECK-DAG: #[[I8:.+]] = #tile.mma<"mma.m16n8k32.i8", warps = [4, 1]>
// CHECK-DAG: #[[I8K:.+]] = #tile.mma<"wgmma.m64k32.i8", warps = [4, 1]>

// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.dot {{.*}} precision(tf32) {{.*}} -> tensor<64x64xf32, #[[TF32]]>
// CHECK: tile.dot {{.*}} -> tensor<64x64xi32, #[[I8]]>
tile.kernel @rows(%a: !words, %b: !bytes) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0> : tensor<64x64xi32>
  %f = tile.load %a[%c0, %c0] : !words -> tensor<64x64xf32>
  %i = tile.load %b[%c0, %c0] : !bytes -> tensor<64x64xi8>
  %d = tile.dot %f, %f, %zero precision(tf32) {warps = array<i64: 4, 1>}
      : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %e = tile.dot %i, %i, %none {warps = array<i64: 4, 1>} : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
}

// The same with the columns contiguous. a may be in registers if it is not.
// CHECK-LABEL: tile.kernel @columns
// CHECK: tile.dot {{.*}} precision(tf32) {{.*}} -> tensor<64x64xf32, #[[TF32K]]>
// CHECK: tile.dot {{.*}} -> tensor<64x64xi32, #[[I8K]]>
tile.kernel @columns(%a: !words, %b: !bytes) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0> : tensor<64x64xi32>
  %f = tile.load %a[%c0, %c0] : !words -> tensor<64x64xf32>
  %i = tile.load %b[%c0, %c0] : !bytes -> tensor<64x64xi8>
  %ft = tile.transpose %f [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %it = tile.transpose %i [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
  %d = tile.dot %f, %ft, %zero precision(tf32) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %e = tile.dot %it, %it, %none : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
}
}
