// RUN: tile-import %s --split-input-file --verify-diagnostics

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>, %e0: tensor<64x64xi1>) {
  // expected-error @+1 {{has operand 3 (attn_mask), which cannot be imported}}
  %y = "onnx.Attention"(%q, %k, %v, %e0) {} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<64x64xi1>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>, %e0: none, %e1: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{has operand 4 (past_key), which cannot be imported}}
  %y = "onnx.Attention"(%q, %k, %v, %e0, %e1) {} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, none, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>, %e0: none, %e1: none, %e2: none, %e3: tensor<1xi64>) {
  // expected-error @+1 {{has operand 6 (nonpad_kv_seqlen), which cannot be imported}}
  %y = "onnx.Attention"(%q, %k, %v, %e0, %e1, %e2, %e3) {} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, none, none, none, tensor<1xi64>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>, %e0: none, %e1: none, %e2: none, %e3: none, %e4: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{has operand 7, which cannot be imported}}
  %y = "onnx.Attention"(%q, %k, %v, %e0, %e1, %e2, %e3, %e4) {} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, none, none, none, none, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{has a used result 3; only the first, Y, can be imported}}
  %y:4 = "onnx.Attention"(%q, %k, %v) {} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>, none, none, tensor<1x4x64x64xf16>)
  "onnx.Return"(%y#3) : (tensor<1x4x64x64xf16>) -> ()
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{has the attribute 'local_window_size' = 3 : si64, which cannot be imported}}
  %y = "onnx.Attention"(%q, %k, %v) {local_window_size = 3 : si64} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{has the attribute 'scale' = "big", which cannot be imported}}
  %y = "onnx.Attention"(%q, %k, %v) {scale = "big"} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{has the attribute 'softmax_precision' = 10 : si64, which cannot be imported}}
  %y = "onnx.Attention"(%q, %k, %v) {softmax_precision = 10 : si64} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf32>, %k: tensor<1x4x64x64xf32>, %v: tensor<1x4x64x64xf32>) {
  // expected-error @+1 {{the elements of q must be f16 or bf16, got 'f32'}}
  %y = "onnx.Attention"(%q, %k, %v) {} : (tensor<1x4x64x64xf32>, tensor<1x4x64x64xf32>, tensor<1x4x64x64xf32>) -> (tensor<1x4x64x64xf32>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x?xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{the head dimension of q must be static}}
  %y = "onnx.Attention"(%q, %k, %v) {} : (tensor<1x4x64x?xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x?xf16>)
  return
}

// -----

func.func @f(%q: tensor<*xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{Q must be a ranked tensor of floating-point numbers, got 'tensor<*xf16>'}}
  %y = "onnx.Attention"(%q, %k, %v) {} : (tensor<*xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<4x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{Q must have the dimensions batch, heads, length and head dimension, got rank 2}}
  %y = "onnx.Attention"(%q, %k, %v) {} : (tensor<4x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<4x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x64x256xf16>, %k: tensor<1x64x256xf16>, %v: tensor<1x64x256xf16>) {
  // expected-error @+1 {{Q has rank 3 and needs the attribute 'q_num_heads', a number of heads}}
  %y = "onnx.Attention"(%q, %k, %v) {} : (tensor<1x64x256xf16>, tensor<1x64x256xf16>, tensor<1x64x256xf16>) -> (tensor<1x64x256xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x64x256xf16>, %k: tensor<1x64x256xf16>, %v: tensor<1x64x256xf16>) {
  // expected-error @+1 {{the last extent of K must be a multiple of 'kv_num_heads' = 3}}
  %y = "onnx.Attention"(%q, %k, %v) {q_num_heads = 4 : si64, kv_num_heads = 3 : si64} : (tensor<1x64x256xf16>, tensor<1x64x256xf16>, tensor<1x64x256xf16>) -> (tensor<1x64x256xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x64x256xf16>, %k: tensor<1x64x256xf16>, %v: tensor<1x64x256xf16>) {
  // expected-error @+1 {{Q has rank 3 and needs the attribute 'q_num_heads', a number of heads}}
  %y = "onnx.Attention"(%q, %k, %v) {q_num_heads = -4 : si64, kv_num_heads = 4 : si64} : (tensor<1x64x256xf16>, tensor<1x64x256xf16>, tensor<1x64x256xf16>) -> (tensor<1x64x256xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x64x64xf16>, %v: tensor<1x4x64x64xf16>) {
  // expected-error @+1 {{'tile.attention' op scale must be finite and not negative, got -1.000000e+00}}
  %y = "onnx.Attention"(%q, %k, %v) {scale = -1.0 : f32} : (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x44xf16>, %k: tensor<1x4x64x44xf16>, %v: tensor<1x4x64x44xf16>) {
  // expected-error @+1 {{'tile.attention' op head dimensions 44 (q, k) and 44 (v) are not supported}}
  %y = "onnx.Attention"(%q, %k, %v) {} : (tensor<1x4x64x44xf16>, tensor<1x4x64x44xf16>, tensor<1x4x64x44xf16>) -> (tensor<1x4x64x44xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x4x64x64xf16>, %k: tensor<1x3x64x64xf16>, %v: tensor<1x3x64x64xf16>) {
  // expected-error @+1 {{'tile.attention' op heads of q (4) are no multiple of heads of k (3)}}
  %y = "onnx.Attention"(%q, %k, %v) {} : (tensor<1x4x64x64xf16>, tensor<1x3x64x64xf16>, tensor<1x3x64x64xf16>) -> (tensor<1x4x64x64xf16>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{needs the operands Q, K and V}}
  "onnx.Attention"() : () -> ()
  return
}

// -----

// expected-error @+1 {{the module has no attention to import: neither onnx.Attention nor torch.aten.scaled_dot_product_attention}}
module {
  func.func @f() {
    return
  }
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],f16>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{has an attn_mask, which cannot be imported}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %mask, %zero, %false, %none, %false) : (!torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[1,4,64,64],f16>
  return
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],f16>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{dropout_p must be the constant 0.0}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %p, %false, %none, %false) : (!torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[1,4,64,64],f16>
  return
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],f16>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{is_causal must be a constant}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %b, %none, %false) : (!torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[1,4,64,64],f16>
  return
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],f16>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{scale must be a constant or none}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %p, %false) : (!torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool) -> !torch.vtensor<[1,4,64,64],f16>
  return
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],f16>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{enable_gqa must be a constant}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %none, %b) : (!torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[1,4,64,64],f16>
  return
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],f16>, %k: !torch.vtensor<[1,2,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{query and key must have equal numbers of heads without enable_gqa}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %none, %false) : (!torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,2,64,64],f16>, !torch.vtensor<[1,2,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[1,4,64,64],f16>
  return
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],f16>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{needs 8 operands (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa), got 6}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false) : (!torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool) -> !torch.vtensor<[1,4,64,64],f16>
  return
}

// -----

func.func @f(%q: !torch.vtensor<[1,4,64,64],si8>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{query must be a ranked tensor of floating-point numbers, got '!torch.vtensor<[1,4,64,64],si8>'}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %none, %false) : (!torch.vtensor<[1,4,64,64],si8>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[1,4,64,64],si8>
  return
}

// -----

func.func @f(%q: !torch.vtensor, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{query must be a ranked tensor of floating-point numbers, got '!torch.vtensor'}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %none, %false) : (!torch.vtensor, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor
  return
}

// -----

func.func @f(%q: !torch.vtensor<[4,64,64],f16>, %k: !torch.vtensor<[1,4,64,64],f16>, %mask: !torch.vtensor<[1,4,64,64],f16>, %p: !torch.float, %b: !torch.bool) {
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-error @+1 {{query must have the dimensions batch, heads, length and head dimension, got rank 3}}
  %0 = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %none, %false) : (!torch.vtensor<[4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.vtensor<[1,4,64,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[4,64,64],f16>
  return
}

