// On AMD chips, a fence keeps the flag `nnan` of a conversion from f32 to bf16. Conversions to other
// types, and those without the flag, have none.
// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-gpu-to-llvm))' | FileCheck %s

module attributes {tile.target = "gfx942"} {
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @flags(
  // CHECK-SAME: %[[X:[^:]*]]: vector<4xf32>
  // CHECK: %[[NUMBER:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[X]])
  // CHECK-SAME: {fastmathFlags = #llvm.fastmath<nnan>}
  // CHECK: llvm.fptrunc %[[NUMBER]] : vector<4xf32> to vector<4xbf16>
  // CHECK-NOT: llvm.arithmetic.fence
  // CHECK: llvm.fptrunc %[[X]] : vector<4xf32> to vector<4xbf16>
  // CHECK: llvm.fptrunc %[[X]] {{.*}}: vector<4xf32> to vector<4xf16>
  func.func @flags(%x: vector<4xf32>) -> (vector<4xbf16>, vector<4xbf16>, vector<4xf16>) {
    %flagged = arith.truncf %x fastmath<nnan> : vector<4xf32> to vector<4xbf16>
    %plain = arith.truncf %x : vector<4xf32> to vector<4xbf16>
    %half = arith.truncf %x fastmath<nnan> : vector<4xf32> to vector<4xf16>
    return %flagged, %plain, %half : vector<4xbf16>, vector<4xbf16>, vector<4xf16>
  }
}
}
