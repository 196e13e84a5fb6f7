// RUN: tile-import %s | FileCheck %s

// CHECK-NOT: torch
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: !tile.buffer<1x?x8x64xf16, #{{[a-z0-9]*}}, global> {tile.name = "q"}
// CHECK-SAME: !tile.buffer<1x?x2x64xf16, #{{[a-z0-9]*}}, global> {tile.name = "k"}
// CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: tile.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale %[[SCALE]] :
// CHECK-LABEL: func.func @forward_1(
// CHECK: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: tile.attention {{.*}} scale %[[SCALE]] {causal} :
// CHECK-NOT: torch
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[1,8,?,64],f16>, !torch.vtensor<[1,2,?,64],f16>, !torch.vtensor<[3,4,32,64],bf16>) -> (), sym_name = "forward"}> ({
  ^bb0(%q: !torch.vtensor<[1,8,?,64],f16>, %k: !torch.vtensor<[1,2,?,64],f16>, %x: !torch.vtensor<[3,4,32,64],bf16>):
    %none = "torch.constant.none"() : () -> !torch.none
    %zero = "torch.constant.float"() <{value = 0.000000e+00 : f64}> : () -> !torch.float
    %half = "torch.constant.float"() <{value = 5.000000e-01 : f64}> : () -> !torch.float
    %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
    %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %half, %true)
        : (!torch.vtensor<[1,8,?,64],f16>, !torch.vtensor<[1,2,?,64],f16>, !torch.vtensor<[1,2,?,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool)
        -> !torch.vtensor<[1,8,?,64],f16>
    %1 = "torch.aten.scaled_dot_product_attention"(%x, %x, %x, %none, %zero, %true, %none, %false)
        : (!torch.vtensor<[3,4,32,64],bf16>, !torch.vtensor<[3,4,32,64],bf16>, !torch.vtensor<[3,4,32,64],bf16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool)
        -> !torch.vtensor<[3,4,32,64],bf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) {torch.debug_module_name = "GPT"} : () -> ()
