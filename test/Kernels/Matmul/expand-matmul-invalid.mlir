// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-expand-matmul

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @beside(%a: !a, %b: !a, %c: !a, %x: i32) {
  // expected-error @+1 {{'math.ctlz' op cannot stand beside named tile operations; only arith operations can}}
  %y = math.ctlz %x : i32
  tile.matmul %a, %b to %c : !a, !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!q = !tile.buffer<?x?x?x64xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @beside_attention(%a: !a, %b: !a, %c: !a, %q: !q, %scale: f32) {
  tile.matmul %a, %b to %c : !a, !a, !a
  // expected-error @+1 {{'tile.attention' op cannot stand beside tile.matmul; write a function for each}}
  tile.attention %q, %q, %q, %q scale %scale : !q, !q, !q, !q
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
// expected-error @+1 {{function @result of named tile operations becomes kernels, which return no values}}
func.func @result(%a: !a, %b: !a, %c: !a, %x: i32) -> i32 {
  tile.matmul %a, %b to %c : !a, !a, !a
  return %x : i32
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @nested(%a: !a, %b: !a, %c: !a, %x: i1) {
  scf.if %x {
    // expected-error @+1 {{'tile.matmul' op must be at the top level of a func.func of the module, with one block}}
    tile.matmul %a, %b to %c : !a, !a, !a
  }
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
// expected-note @+1 {{defined here}}
func.func private @f_product()
func.func @f(%a: !a, %b: !a, %c: !a, %s: !s) {
  // expected-error @+1 {{'tile.matmul' op becomes kernel @f_product, which exists}}
  tile.matmul %a, %b to %c atomic %s : !a, !a, !a, !s
  return
}

// -----

// The sizes of a splat are the parameters of its type.
!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
!result = tensor<?x?xbf16, #tile.open<BM, BN>>
func.func @sizes(%a: !a, %b: !a, %c: !a) {
  tile.matmul %a, %b to %c : !a, !a, !a epilogue {
  ^bb0(%s: !sum, %row: index, %column: index):
    %f0 = arith.constant 0.0 : bf16
    // expected-error @+1 {{expected the parameter 'BM' as a size of 'tensor<?x?xbf16, #tile.open<BM, BN>>', got another value}}
    %r = tensor.splat %f0[%row, %column] : !result
    tile.yield %r : !result
  }
  return
}
