// A transposed MMA instruction takes its operands in reverse order.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1201},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

!o = !tile.buffer<16x16xf32, #tile.strided<[16, 1], align = 16>, global>

#wmma = #tile.mma<"wmma.gfx12.16x16x16.f16", warps = [1, 1], transposed>
// CHECK-LABEL: gpu.func @transposed_product
// CHECK: %[[A:.+]] = arith.constant dense<1.000000e+00> : vector<8xf16>
// CHECK: %[[B:.+]] = arith.constant dense<2.000000e+00> : vector<8xf16>
// CHECK: tile_gpu.mma "wmma.gfx12.16x16x16.f16" %[[B]], %[[A]],
tile.kernel @transposed_product(%o: !o) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #tile.dot_operand<0, #wmma>>
  %b = arith.constant dense<2.0> : tensor<16x16xf16, #tile.dot_operand<1, #wmma>>
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #wmma>
  %d = tile.dot %a, %b, %acc : tensor<16x16xf16, #tile.dot_operand<0, #wmma>>,
      tensor<16x16xf16, #tile.dot_operand<1, #wmma>> -> tensor<16x16xf32, #wmma>
  tile.store %d, %o[%c0, %c0] : tensor<16x16xf32, #wmma>, !o
}
