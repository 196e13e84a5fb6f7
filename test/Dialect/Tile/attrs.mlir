// Every layout attribute round-trips through text, the generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s
// RUN: tile-opt %s --verify-roundtrip -o %t

// Layouts that many tiles share print as aliases.
// CHECK-DAG: #[[BLOCKED:blocked.*]] = #tile.blocked<thread = [1, 2], lane = [4, 8], warp = [2, 2], order = [1, 0]>
// CHECK-DAG: #[[LINE:blocked.*]] = #tile.blocked<thread = [3], lane = [32], warp = [1], order = [0]>
// CHECK-DAG: #[[LAYOUT:layout.*]] = #tile.layout<register = [2 -> d1, 2 -> d0 * 8], lane = [4 -> d1 * 2, 8 -> d0], warp = []>
// CHECK-DAG: #[[COPIES:layout.*]] = #tile.layout<register = [], lane = [8 -> d0, 4 -> 0], warp = [2 -> 0]>
// CHECK-DAG: #[[MMA:mma.*]] = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
// CHECK-DAG: #[[WMMA:mma.*]] = #tile.mma<"mfma.16x16x16.f16", warps = [1, 2], transposed>
// CHECK-DAG: #[[A:dot_a.*]] = #tile.dot_operand<0, #[[MMA]]>
// CHECK-DAG: #[[B:dot_b.*]] = #tile.dot_operand<1, #[[MMA]]>
// CHECK-DAG: #[[STRIDED:strided.*]] = #tile.strided<[4, 1]>

// CHECK-LABEL: func.func private @distributed
// CHECK-SAME: (tensor<16x8xf32, #[[LAYOUT]]>, tensor<8xi1, #[[COPIES]]>)
func.func private @distributed(
    tensor<16x8xf32, #tile.layout<register = [2 -> d1, 2 -> d0 * 8], lane = [4 -> d1 * 2, 8 -> d0], warp = []>>,
    // Replication prints in one form, whatever form was parsed.
    tensor<8xi1, #tile.layout<register = [], lane = [8 -> d0 * 1, 4 -> d3 * 0], warp = [2 -> 0]>>)

// CHECK-LABEL: func.func private @blocked
// CHECK-SAME: (tensor<8x32xf16, #[[BLOCKED]]>, tensor<192xi8, #[[LINE]]>)
func.func private @blocked(
    tensor<8x32xf16, #tile.blocked<thread = [1, 2], lane = [4, 8], warp = [2, 2], order = [1, 0]>>,
    tensor<192xi8, #tile.blocked<thread = [3], lane = [32], warp = [1], order = [0]>>)

// CHECK-LABEL: func.func private @matrix
// CHECK-SAME: (tensor<64x8xf32, #[[MMA]]>, tensor<16x32xf32, #[[WMMA]]>, tensor<64x16xf16, #[[A]]>, tensor<16x8xf16, #[[B]]>)
func.func private @matrix(
    tensor<64x8xf32, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>,
    tensor<16x32xf32, #tile.mma<"mfma.16x16x16.f16", warps = [1, 2], transposed>>,
    tensor<64x16xf16, #tile.dot_operand<0, <"mma.m16n8k16.f16", warps = [4, 1]>>>,
    tensor<16x8xf16, #tile.dot_operand<1, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>>)

// CHECK-LABEL: func.func private @derived
// CHECK-SAME: (tensor<64xf32, #tile.slice<1, #[[MMA]]>>, tensor<8x64xf32, #tile.permute<[1, 0], #[[MMA]]>>)
func.func private @derived(
    tensor<64xf32, #tile.slice<1, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>>,
    tensor<8x64xf32, #tile.permute<[1, 0], #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>>)

// CHECK-LABEL: func.func private @memory
// CHECK-SAME: (tensor<64x64xf16, #tile.swizzle<128>>, tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>, tensor<64x64xf16, #tile.padded<8, order = [0, 1], group = 8, groupPad = 4>>, tensor<4x4xf32, #[[STRIDED]]>, tensor<8x4xf32, #tile.permute<[1, 0], #tile.swizzle<32>>>, tensor<64x128xf16, #tile.swizzle<256, banks = 64>>, tensor<64x16xf16, #tile.swizzle<64, chunk = 8>>)
func.func private @memory(
    tensor<64x64xf16, #tile.swizzle<128>>,
    tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>,
    tensor<64x64xf16, #tile.padded<8, order = [0, 1], group = 8, groupPad = 4>>,
    tensor<4x4xf32, #tile.strided<[4, 1]>>,
    tensor<8x4xf32, #tile.permute<[1, 0], #tile.swizzle<32>>>,
    tensor<64x128xf16, #tile.swizzle<256, banks = 64>>,
    tensor<64x16xf16, #tile.swizzle<64, banks = 32, chunk = 8>>)
