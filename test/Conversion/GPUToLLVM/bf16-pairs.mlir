// On NVIDIA chips, bf16 elements become f32 two at a time, and elements that are rounded to
// bf16 before are rounded in pairs, too.
// RUN: sed s/CHIP/sm_80/ %s | tile-opt --pass-pipeline='builtin.module(gpu.module(tile-gpu-to-llvm))' | FileCheck %s
// RUN: sed s/CHIP/gfx942/ %s | tile-opt --pass-pipeline='builtin.module(gpu.module(tile-gpu-to-llvm))' | FileCheck %s --check-prefix=AMD

module attributes {tile.target = "CHIP"} {
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @pairs
  // CHECK-COUNT-2: nvvm.convert.f32x2.to.bf16x2
  // CHECK-NOT: nvvm.convert.f32x2.to.bf16x2
  // CHECK-NOT: llvm.fpext
  // AMD-LABEL: llvm.func @pairs
  // AMD: llvm.fptrunc
  // AMD: llvm.fpext
  func.func @pairs(%x: vector<4xf32>) -> vector<4xf32> {
    %half = arith.truncf %x : vector<4xf32> to vector<4xbf16>
    %back = arith.extf %half : vector<4xbf16> to vector<4xf32>
    %rest = arith.subf %x, %back : vector<4xf32>
    return %rest : vector<4xf32>
  }

  // CHECK-LABEL: llvm.func @words
  // CHECK-DAG: %[[HALF:.*]] = llvm.mlir.constant(16 : i32)
  // CHECK-DAG: %[[UPPER:.*]] = llvm.mlir.constant(-65536 : i32)
  // CHECK: %[[WORDS:.*]] = llvm.bitcast %{{.*}} : vector<4xbf16> to vector<2xi32>
  // CHECK: %[[WORD:.*]] = llvm.extractelement %[[WORDS]]
  // CHECK: llvm.extractelement %[[WORDS]]
  // CHECK-DAG: llvm.shl %[[WORD]], %[[HALF]]
  // CHECK-DAG: llvm.and %[[WORD]], %[[UPPER]]
  // CHECK-NOT: llvm.fpext
  // CHECK: llvm.return
  // AMD-LABEL: llvm.func @words
  // AMD: llvm.fpext
  func.func @words(%x: vector<4xbf16>) -> vector<4xf32> {
    %wide = arith.extf %x : vector<4xbf16> to vector<4xf32>
    return %wide : vector<4xf32>
  }

  // An odd number of elements, elements in registers of their own, other elements, and
  // other roundings stay.
  // CHECK-LABEL: llvm.func @others
  // CHECK-NOT: nvvm.convert
  // CHECK-NOT: llvm.shl
  // CHECK: llvm.return
  func.func @others(%x: vector<3xf32>, %y: vector<4xf32>, %z: f32, %u: bf16, %v: bf16,
                    %single: vector<1xbf16>)
      -> (vector<3xf32>, vector<4xf32>, f32, vector<2xf32>, vector<2xf32>) {
    %odd = arith.truncf %x : vector<3xf32> to vector<3xbf16>
    %odd_back = arith.extf %odd : vector<3xbf16> to vector<3xf32>
    %f16 = arith.truncf %y : vector<4xf32> to vector<4xf16>
    %f16_back = arith.extf %f16 : vector<4xf16> to vector<4xf32>
    %one = arith.truncf %z : f32 to bf16
    %one_back = arith.extf %one : bf16 to f32
    %gathered = vector.from_elements %u, %v : vector<2xbf16>
    %gathered_wide = arith.extf %gathered : vector<2xbf16> to vector<2xf32>
    %inserted = vector.insert_strided_slice %single, %gathered {offsets = [1], strides = [1]}
        : vector<1xbf16> into vector<2xbf16>
    %inserted_wide = arith.extf %inserted : vector<2xbf16> to vector<2xf32>
    return %odd_back, %f16_back, %one_back, %gathered_wide, %inserted_wide
        : vector<3xf32>, vector<4xf32>, f32, vector<2xf32>, vector<2xf32>
  }
}
}
