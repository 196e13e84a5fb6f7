// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-inline-calls

// expected-note@+1 {{function defined here}}
func.func private @outside(tensor<64xf32>) -> tensor<64xf32>

tile.kernel @external() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error@+1 {{'func.call' op calls function @outside, which has no body}}
  %y = func.call @outside(%x) : (tensor<64xf32>) -> tensor<64xf32>
}

// -----

// expected-note@+1 {{function defined here}}
func.func private @even(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = func.call @odd(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @odd(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error@+1 {{'func.call' op calls function @even, which calls itself}}
  %y = func.call @even(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

tile.kernel @recursive() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = arith.constant dense<1.0> : tensor<64xf32>
  %y = func.call @even(%x) : (tensor<64xf32>) -> tensor<64xf32>
}

// -----

// expected-note@+1 {{function defined here}}
func.func private @branches(%x: tensor<64xf32>) -> tensor<64xf32> {
  cf.br ^end
^end:
  return %x : tensor<64xf32>
}

tile.kernel @blocks() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error@+1 {{'func.call' op calls function @branches, which has branches between blocks; use scf.if and scf.for}}
  %y = func.call @branches(%x) : (tensor<64xf32>) -> tensor<64xf32>
}
