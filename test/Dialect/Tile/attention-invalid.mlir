// RUN: tile-opt %s -split-input-file -verify-diagnostics

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1]>, global>
!k = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1]>, global>
!v = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1]>, global>
!o = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1]>, global>

func.func @rank(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op q must be a global buffer of rank 4, got '!tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1]>, global>'}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<1x8x8x64xf16, #tile.strided<[4096, 512, 64, 1]>, shared>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @shared(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op k must be a global buffer of rank 4, got '!tile.buffer<1x8x8x64xf16, #tile.strided<[4096, 512, 64, 1]>, shared>'}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @element(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op q must have f16 or bf16 elements, like the other buffers, got 'f32'}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @mixed(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op v must have f16 or bf16 elements, like the other buffers, got 'bf16'}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x?xf16, #tile.strided<[?:8, ?:8, ?:8, 1]>, global>

func.func @dynamic_head(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op the head dimension of o must be static}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @heads_of_q_and_k(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op head dimensions of q and k differ: 64 and 128}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @heads_of_v_and_o(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op head dimensions of v and o differ: 64 and 128}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x84xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x84xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x84xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x84xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @head_dimension(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op head dimensions 84 (q, k) and 84 (v) are not supported: each must be a multiple of 8 from 8 to 256}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x264xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x264xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @value_dimension(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op head dimensions 64 (q, k) and 264 (v) are not supported: each must be a multiple of 8 from 8 to 256}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<2x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<3x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @batch_of_k(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: batch of q is 2, batch of k is 3}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<2x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<3x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @batch_of_v(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: batch of q is 2, batch of v is 3}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<2x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<3x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @batch_of_o(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: batch of q is 2, batch of o is 3}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x128x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x256x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @length_of_o(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: length of q is 128, length of o is 256}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x128x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x64x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @length_of_v(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: length of k is 128, length of v is 64}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x4x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @number_of_heads_of_o(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: heads of q is 8, heads of o is 4}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x4x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @number_of_heads_of_v(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: heads of k is 8, heads of v is 4}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x3x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x3x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @groups(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op heads of q (8) are no multiple of heads of k (3)}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>

func.func @lse_rank(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op lse must be a global f32 buffer of rank 3 [batch, heads, length of q], got '!tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>'}}
  tile.attention %q, %k, %v, %o lse %lse scale %scale : !q, !k, !v, !o, !lse
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf16, #tile.strided<[?, ?, 1]>, global>

func.func @lse_element(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op lse must be a global f32 buffer of rank 3 [batch, heads, length of q], got '!tile.buffer<?x?x?xf16, #tile.strided<[?, ?, 1]>, global>'}}
  tile.attention %q, %k, %v, %o lse %lse scale %scale : !q, !k, !v, !o, !lse
  return
}

// -----

!q = !tile.buffer<2x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<3x?x?xf32, #tile.strided<[?, ?, 1]>, global>

func.func @lse_batch(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: batch of q is 2, batch of lse is 3}}
  tile.attention %q, %k, %v, %o lse %lse scale %scale : !q, !k, !v, !o, !lse
  return
}

// -----

!q = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x4x?xf32, #tile.strided<[?, ?, 1]>, global>

func.func @lse_heads(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: heads of q is 8, heads of lse is 4}}
  tile.attention %q, %k, %v, %o lse %lse scale %scale : !q, !k, !v, !o, !lse
  return
}

// -----

!q = !tile.buffer<?x128x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x64xf32, #tile.strided<[?, ?, 1]>, global>

func.func @lse_length(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: length of q is 128, length of lse is 64}}
  tile.attention %q, %k, %v, %o lse %lse scale %scale : !q, !k, !v, !o, !lse
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @window_attribute(%q: !q, %k: !k, %v: !v, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has no attribute 'window'}}
  tile.attention %q, %k, %v, %o scale %scale {window = array<i64: 16, 0>} : !q, !k, !v, !o
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @negative_scale(%q: !q, %k: !q, %v: !q, %o: !q) {
  %scale = arith.constant -0.125 : f32
  // expected-error@+1 {{'tile.attention' op scale must be finite and not negative, got -1.250000e-01}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @infinite_scale(%q: !q, %k: !q, %v: !q, %o: !q) {
  %scale = arith.constant 0x7F800000 : f32
  // expected-error@+1 {{'tile.attention' op scale must be finite and not negative, got INF}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @nan_scale(%q: !q, %k: !q, %v: !q, %o: !q) {
  %scale = arith.constant 0x7FC00000 : f32
  // expected-error@+1 {{'tile.attention' op scale must be finite and not negative, got nan}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}
