// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @no_message(%c: i1) {
  // expected-error@+1 {{'tile.assert' op needs a message that is not empty}}
  tile.assert %c, "" : i1
  return
}

// -----

func.func @lines(%c: i1) {
  // expected-error@+1 {{'tile.assert' op has a control character in its message: byte 3 is 10}}
  tile.assert %c, "two\nlines" : i1
  return
}

// -----

func.func @condition(%c: tensor<64xi32>) {
  // expected-error@+1 {{'tile.assert' op operand #0 must be 1-bit signless integer or tile of i1}}
  tile.assert %c, "holds" : tensor<64xi32>
  return
}

// -----

func.func @no_label(%x: f32) {
  // expected-error@+1 {{'tile.print' op needs a label that is not empty}}
  tile.print "" %x : f32
  return
}

// -----

func.func @zero(%x: f32) {
  // expected-error@+1 {{'tile.print' op has a control character in its label: byte 1 is 0}}
  tile.print "x\00y" %x : f32
  return
}

// -----

func.func @element(%x: i8) {
  // expected-error@+1 {{'tile.print' op operand #0 must be 16-bit float or bfloat16 type or 32-bit float or 64-bit float or 1-bit signless integer or 32-bit signless integer or 64-bit signless integer or index or tile of f16, bf16, f32, f64, i1, i8, i32 or i64}}
  tile.print "x" %x : i8
  return
}

// -----

func.func @within_rank(%t: tensor<16x64xf32>) {
  // expected-error@+1 {{'tile.print' op has 1 extents 'within', but its value has rank 2}}
  tile.print "t" %t within [16] : tensor<16x64xf32>
  return
}

// -----

func.func @within_scalar(%x: f32) {
  // expected-error@+1 {{'tile.print' op has 1 extents 'within', but its value has rank 0}}
  tile.print "x" %x within [1] : f32
  return
}

// -----

func.func @within_negative(%t: tensor<16xf32>) {
  // expected-error@+1 {{'tile.print' op has a negative extent 'within'}}
  tile.print "t" %t within [-1] : tensor<16xf32>
  return
}
