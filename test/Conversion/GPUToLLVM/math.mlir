// RUN: split-file %s %t
// RUN: tile-opt --allow-unregistered-dialect %t/input.mlir --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},gpu.module(tile-lower-math))' | FileCheck %s --check-prefixes=CHECK,NV
// RUN: tile-opt --allow-unregistered-dialect %t/input.mlir --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},gpu.module(tile-lower-math))' | FileCheck %s --check-prefixes=CHECK,AMD

// The instructions of each function. Tests on the executor check their results.

// CHECK-LABEL: gpu.func @scalars
// NV: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// AMD: rocdl.exp2
// NV: llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"
// AMD: rocdl.log
// NV: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"
// AMD: llvm.call_intrinsic "llvm.amdgcn.rsq.f32"

// exp(x) = exp2(x * log2(e)), log(x) = log2(x) * ln(2).
// CHECK-LABEL: gpu.func @natural(
// CHECK-SAME: %[[X:.+]]: f32
// CHECK-DAG: %[[LOG2E:.+]] = arith.constant 1.44269502 : f32
// CHECK-DAG: %[[LN2:.+]] = arith.constant 0.693147182 : f32
// CHECK: %[[Y:.+]] = arith.mulf %[[X]], %[[LOG2E]]
// NV: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[Y]])
// AMD: rocdl.exp2 %[[Y]]
// NV: %[[L:.+]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%[[X]])
// AMD: %[[L:.+]] = rocdl.log %[[X]]
// CHECK: arith.mulf %[[L]], %[[LN2]]

// The author allows an absolute error: one formula for all numbers.
// CHECK-LABEL: gpu.func @approximate_tanh
// NV: ex2.approx
// AMD: rocdl.exp2
// CHECK: arith.addf
// NV: nvvm.rcp.approx.ftz.f
// AMD: rocdl.rcp
// CHECK: arith.mulf
// CHECK: %[[FAR:.+]] = arith.subf
// CHECK-NEXT: "test.use"(%[[FAR]])

// Without the permission, numbers near 0 have a polynomial.
// CHECK-LABEL: gpu.func @tanh(
// CHECK-SAME: %[[X:.+]]: vector<2xf32>
// CHECK: %[[FAR:.+]] = vector.from_elements
// CHECK: %[[SQUARE:.+]] = arith.mulf %[[X]], %[[X]]
// CHECK-COUNT-5: math.fma
// CHECK: %[[NEAR:.+]] = arith.mulf %[[X]],
// CHECK: %[[SIZE:.+]] = math.absf %[[X]]
// CHECK: %[[IS_NEAR:.+]] = arith.cmpf olt, %[[SIZE]],
// CHECK: arith.select %[[IS_NEAR]], %[[NEAR]], %[[FAR]]

// The rest after a nearest multiple of pi / 2, in three steps.
// CHECK-LABEL: gpu.func @sin(
// CHECK-SAME: %[[X:.+]]: f32
// CHECK: %[[SIZE:.+]] = math.absf %[[X]]
// CHECK: %[[K:.+]] = math.roundeven
// CHECK: %[[R0:.+]] = math.fma %[[K]], %{{.+}}, %[[SIZE]]
// CHECK: %[[R1:.+]] = math.fma %[[K]], %{{.+}}, %[[R0]]
// CHECK: %[[R2:.+]] = math.fma %[[K]], %{{.+}}, %[[R1]]

// A loop of f64 operations for each element.
// CHECK-LABEL: gpu.func @remainder(
// CHECK-COUNT-2: scf.while
// CHECK-NOT: arith.remf
// CHECK: gpu.return

// Element by element, in f32.
// CHECK-LABEL: gpu.func @vector
// CHECK: %[[E:.+]]:2 = vector.to_elements
// CHECK: %[[W0:.+]] = arith.extf %[[E]]#0 : bf16 to f32
// NV: %[[R0:.+]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[W0]])
// AMD: %[[R0:.+]] = rocdl.exp2 %[[W0]]
// CHECK: %[[N0:.+]] = arith.truncf %[[R0]] : f32 to bf16
// CHECK: %[[W1:.+]] = arith.extf %[[E]]#1 : bf16 to f32
// CHECK: %[[N1:.+]] = arith.truncf
// CHECK: vector.from_elements %[[N0]], %[[N1]] : vector<1x2xbf16>

// Functions are approximated only where the author allows it.
// CHECK-LABEL: gpu.func @division(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32
// CHECK: arith.divf %[[X]], %[[Y]] : f32
// CHECK: arith.divf %[[X]], %[[Y]] fastmath<arcp>
// NV: %[[R:.+]] = nvvm.rcp.approx.ftz.f %[[Y]]
// AMD: %[[R:.+]] = rocdl.rcp %[[Y]]
// CHECK: arith.mulf %[[X]], %[[R]]
// NV: %[[R:.+]] = nvvm.rcp.approx.ftz.f %[[Y]]
// AMD: %[[R:.+]] = rocdl.rcp %[[Y]]
// CHECK-NEXT: "test.use"(%{{.+}}, %{{.+}}, %{{.+}}, %[[R]])

// A quotient that is only narrowed may be 2 ulp of f32 off.
// CHECK-LABEL: gpu.func @narrowed
// NV: %[[Q:.+]] = llvm.call_intrinsic "llvm.nvvm.div.full"(%{{.+}}, %{{.+}}) : (f32, f32) -> f32
// AMD: %[[Q:.+]] = arith.divf
// CHECK: arith.truncf %[[Q]] : f32 to f16
// NV: %[[A:.+]] = llvm.call_intrinsic "llvm.nvvm.div.full"
// NV: %[[B:.+]] = llvm.call_intrinsic "llvm.nvvm.div.full"
// NV: %[[V:.+]] = vector.from_elements %[[A]], %[[B]] : vector<2xf32>
// CHECK: arith.truncf %{{.+}} : vector<2xf32> to vector<2xbf16>
// CHECK: arith.divf

// No instruction, but a polynomial.
// CHECK-LABEL: gpu.func @polynomial
// CHECK-NOT: math.erf
// CHECK: math.fma

// CHECK-LABEL: gpu.func @selectable
// CHECK: math.floor
// CHECK: math.sqrt

// Predicates compare the magnitude, in every type.
// CHECK-LABEL: gpu.func @predicates(
// CHECK-SAME: %[[X:.+]]: f16
// CHECK-DAG: %[[INF:.+]] = arith.constant 0x7C00 : f16
// CHECK-DAG: %[[LEAST:.+]] = arith.constant 6.103520e-05 : f16
// CHECK-DAG: %[[Y:.+]] = math.absf %[[X]]
// CHECK-DAG: arith.cmpf oeq, %{{.+}}, %[[INF]]
// CHECK-DAG: arith.cmpf oge, %{{.+}}, %[[LEAST]]
// CHECK-DAG: arith.cmpf olt, %{{.+}}, %[[INF]]

// Half away from zero, in every type.
// CHECK-LABEL: gpu.func @round(
// CHECK-SAME: %[[X:.+]]: f64
// CHECK: %[[WHOLE:.+]] = math.trunc %[[X]]
// CHECK: %[[REST:.+]] = arith.subf %[[X]], %[[WHOLE]]
// CHECK: %[[SIZE:.+]] = math.absf %[[REST]]
// CHECK: %[[FAR:.+]] = arith.cmpf oge, %[[SIZE]], %{{.+}} : f64
// CHECK: %[[ONE:.+]] = math.copysign %{{.+}}, %[[X]]
// CHECK: %[[NEXT:.+]] = arith.addf %[[WHOLE]], %[[ONE]]
// CHECK: arith.select %[[FAR]], %[[NEXT]], %[[WHOLE]]

// CHECK-LABEL: gpu.func @clamp
// CHECK: %[[RAISED:.+]] = arith.maximumf
// CHECK: arith.minimumf %[[RAISED]],

//--- input.mlir
gpu.module @m {
  gpu.func @scalars(%x: f32) {
    %0 = math.exp2 %x : f32
    %1 = math.log2 %x : f32
    %2 = math.rsqrt %x : f32
    "test.use"(%0, %1, %2) : (f32, f32, f32) -> ()
    gpu.return
  }
  gpu.func @natural(%x: f32) {
    %0 = math.exp %x : f32
    %1 = math.log %x : f32
    "test.use"(%0, %1) : (f32, f32) -> ()
    gpu.return
  }
  gpu.func @approximate_tanh(%x: f32) {
    %0 = math.tanh %x fastmath<afn> : f32
    "test.use"(%0) : (f32) -> ()
    gpu.return
  }
  gpu.func @tanh(%x: vector<2xf32>) {
    %0 = math.tanh %x : vector<2xf32>
    "test.use"(%0) : (vector<2xf32>) -> ()
    gpu.return
  }
  gpu.func @sin(%x: f32) {
    %0 = math.sin %x : f32
    "test.use"(%0) : (f32) -> ()
    gpu.return
  }
  gpu.func @remainder(%x: vector<2xf16>, %y: vector<2xf16>) {
    %0 = arith.remf %x, %y : vector<2xf16>
    "test.use"(%0) : (vector<2xf16>) -> ()
    gpu.return
  }
  gpu.func @vector(%x: vector<1x2xbf16>) {
    %0 = math.exp2 %x : vector<1x2xbf16>
    "test.use"(%0) : (vector<1x2xbf16>) -> ()
    gpu.return
  }
  gpu.func @division(%x: f32, %y: f32) {
    %one = arith.constant 1.0 : f32
    %0 = arith.divf %x, %y : f32
    %1 = arith.divf %x, %y fastmath<arcp> : f32
    %2 = arith.divf %x, %y fastmath<arcp,afn> : f32
    %3 = arith.divf %one, %y fastmath<arcp,afn> : f32
    "test.use"(%0, %1, %2, %3) : (f32, f32, f32, f32) -> ()
    gpu.return
  }
  gpu.func @narrowed(%x: f32, %y: f32, %v: vector<2xf32>) {
    %0 = arith.divf %x, %y : f32
    %1 = arith.truncf %0 : f32 to f16
    %2 = arith.divf %v, %v : vector<2xf32>
    %3 = arith.truncf %2 : vector<2xf32> to vector<2xbf16>
    %4 = arith.divf %y, %x : f32
    %5 = arith.truncf %4 : f32 to f16
    "test.use"(%1, %3, %4, %5) : (f16, vector<2xbf16>, f32, f16) -> ()
    gpu.return
  }
  gpu.func @polynomial(%x: vector<4xf32>) {
    %0 = math.erf %x : vector<4xf32>
    "test.use"(%0) : (vector<4xf32>) -> ()
    gpu.return
  }
  gpu.func @selectable(%x: vector<4xf64>) {
    %0 = math.floor %x : vector<4xf64>
    %1 = math.sqrt %0 : vector<4xf64>
    "test.use"(%1) : (vector<4xf64>) -> ()
    gpu.return
  }
  gpu.func @predicates(%x: f16) {
    %0 = math.isinf %x : f16
    %1 = math.isnormal %x : f16
    "test.use"(%0, %1) : (i1, i1) -> ()
    gpu.return
  }
  gpu.func @round(%x: f64) {
    %0 = math.round %x : f64
    "test.use"(%0) : (f64) -> ()
    gpu.return
  }
  gpu.func @clamp(%x: f32, %low: f32, %high: f32) {
    %0 = math.clampf %x to [%low, %high] : f32
    "test.use"(%0) : (f32) -> ()
    gpu.return
  }
}
