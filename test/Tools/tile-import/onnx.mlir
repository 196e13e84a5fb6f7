// RUN: tile-import %s | FileCheck %s
// RUN: tile-import %s | tile-opt --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-expand-attention)' | FileCheck %s --check-prefix=KERNEL

// The scale is 1 / sqrt(head dimension) where the operation has none. Extents are in
// the order batch, length, heads, head dimension.
// CHECK-LABEL: func.func @full(
// CHECK-SAME: %[[Q:.*]]: !tile.buffer<2x128x8x64xf16, #[[LAYOUT:.*]], global> {tile.name = "q"}
// CHECK-SAME: %[[K:.*]]: !tile.buffer<2x256x2x64xf16, #[[LAYOUT]], global> {tile.name = "k"}
// CHECK-SAME: %[[V:.*]]: !tile.buffer<2x256x2x64xf16, #[[LAYOUT]], global> {tile.name = "v"}
// CHECK-SAME: %[[O:.*]]: !tile.buffer<2x128x8x64xf16, #[[LAYOUT]], global> {tile.name = "o"}
// CHECK: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: tile.attention %[[Q]], %[[K]], %[[V]], %[[O]] scale %[[SCALE]] :
// KERNEL-LABEL: tile.kernel @full
func.func @full(%q: tensor<2x8x128x64xf16>, %k: tensor<2x2x256x64xf16>, %v: tensor<2x2x256x64xf16>) -> tensor<2x8x128x64xf16> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y, %pk, %pv, %qk = "onnx.Attention"(%q, %k, %v, %none, %none, %none) {onnx_node_name = "a", is_causal = 0 : si64, softcap = 0.0 : f32}
      : (tensor<2x8x128x64xf16>, tensor<2x2x256x64xf16>, tensor<2x2x256x64xf16>, none, none, none)
      -> (tensor<2x8x128x64xf16>, none, none, none)
  return %y : tensor<2x8x128x64xf16>
}

// Two operations in a function; dynamic batch; rank 3; the masks of equal lengths
// are the same.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME: !tile.buffer<?x128x4x128xbf16,
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: %[[CAP:.*]] = arith.constant 3.000000e+01 : f32
// CHECK: tile.attention {{.*}} softcap %[[CAP]] {causal} :
// CHECK-LABEL: func.func @layers_1(
// CHECK: tile.attention {{.*}} scale %{{[a-z0-9_]*}} :
"func.func"() <{function_type = (tensor<?x128x512xbf16>) -> tensor<?x128x512xbf16>, sym_name = "layers"}> ({
^bb0(%x: tensor<?x128x512xbf16>):
  %0 = "onnx.Attention"(%x, %x, %x) <{is_causal = 1 : si64, scale = 0.5 : f32, softcap = 30.0 : f32, q_num_heads = 4 : si64, kv_num_heads = 4 : si64, softmax_precision = 1 : si64}>
      : (tensor<?x128x512xbf16>, tensor<?x128x512xbf16>, tensor<?x128x512xbf16>) -> tensor<?x128x512xbf16>
  %1 = "onnx.Attention"(%0, %x, %x) {q_num_heads = 4 : si64, kv_num_heads = 4 : si64, qk_matmul_output_mode = 0 : si64}
      : (tensor<?x128x512xbf16>, tensor<?x128x512xbf16>, tensor<?x128x512xbf16>) -> tensor<?x128x512xbf16>
  "onnx.Return"(%1) : (tensor<?x128x512xbf16>) -> ()
}) : () -> ()

// The mask is aligned to the top left: query 0 and key 0 are at one position.
// CHECK-LABEL: func.func @more_queries(
// CHECK: %[[OFFSET:.*]] = arith.constant 0 : i32
// CHECK: tile.attention {{.*}} offset %[[OFFSET]] {causal} :
func.func @more_queries(%q: tensor<1x8x128x64xf16>, %k: tensor<1x8x64x64xf16>) {
  %y = "onnx.Attention"(%q, %k, %k) {is_causal = 1 : si64}
      : (tensor<1x8x128x64xf16>, tensor<1x8x64x64xf16>, tensor<1x8x64x64xf16>) -> tensor<1x8x128x64xf16>
  return
}
