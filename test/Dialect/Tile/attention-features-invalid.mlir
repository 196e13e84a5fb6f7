// RUN: tile-opt %s -split-input-file -verify-diagnostics

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!sink = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @sink_type(%q: !q, %sink: !sink, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op sink must be a global f16, bf16 or f32 buffer of rank 1, got '!tile.buffer<?xi32, #tile.strided<[1]>, global>'}}
  tile.attention %q, %q, %q, %q sink %sink scale %scale : !q, !q, !q, !q, !sink
  return
}

// -----

!q = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!sink = !tile.buffer<4xf32, #tile.strided<[1]>, global>

func.func @sink_heads(%q: !q, %sink: !sink, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: heads of q is 8, heads of sink is 4}}
  tile.attention %q, %q, %q, %q sink %sink scale %scale : !q, !q, !q, !q, !sink
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @packed_rank(%q: !q, %cu: !cu, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op q must be a global buffer of rank 3 (sequences are packed), got}}
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale
      : !q, !q, !q, !q, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>

func.func @packed_lse(%q: !q, %cu: !cu, %lse: !lse, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op lse must be a global f32 buffer of rank 2 [heads, length of q], got '!tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>'}}
  tile.attention %q, %q, %q, %q lse %lse seqlens %cu, %cu max %max scale %scale
      : !q, !q, !q, !q, !lse, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi64, #tile.strided<[1]>, global>

func.func @bounds_type(%q: !q, %cu: !cu, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cu_q must be a global i32 buffer of rank 1, got '!tile.buffer<?xi64, #tile.strided<[1]>, global>'}}
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max scale %scale
      : !q, !q, !q, !q, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cq = !tile.buffer<3xi32, #tile.strided<[1]>, global>
!ck = !tile.buffer<4xi32, #tile.strided<[1]>, global>

func.func @bounds_extent(%q: !q, %cq: !cq, %ck: !ck, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: extent of cu_q is 3, extent of cu_k is 4}}
  tile.attention %q, %q, %q, %q seqlens %cq, %ck max %max scale %scale
      : !q, !q, !q, !q, !cq, !ck
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @no_max(%q: !q, %cu: !cu, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has cu_q without max_q}}
  "tile.attention"(%q, %q, %q, %q, %cu, %cu, %scale)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>}>
      : (!q, !q, !q, !q, !cu, !cu, f32) -> ()
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!g = !tile.buffer<?x?x?x64xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @gradient_type(%q: !q, %rows: !rows, %stats: !stats, %g: !g, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op dk must have elements of the type of q or f32, got 'bf16'}}
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %g, %q using %stats
      scale %scale : !q, !q, !q, !q, !q, !rows, !q, !g, !q, !stats
  return
}

// -----

!q = !tile.buffer<?x?x?x192xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @gradient_head(%q: !q, %v: !v, %rows: !rows, %stats: !stats, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op head dimensions of v and dv differ: 128 and 192}}
  tile.attention_backward %q, %q, %v, %v, %v, %rows to %q, %q, %q using %stats
      scale %scale : !q, !q, !v, !v, !v, !rows, !q, !q, !q, !stats
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @dq_acc(%q: !q, %rows: !rows, %stats: !stats, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op dq_acc must have f32 elements, got 'f16'}}
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      dq_acc %q scale %scale : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @kv_acc(%q: !q, %rows: !rows, %stats: !stats, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op dk_acc must have f32 elements to add to atomically, got 'f16'}}
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      kv_acc atomic %q, %q scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x2x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x8x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @kv_acc_heads(%q: !q, %k: !k, %acc: !acc, %rows: !rows, %stats: !stats, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op extents differ: heads of k is 2, heads of dk_acc is 8}}
  tile.attention_backward %q, %k, %k, %q, %q, %rows to %q, %k, %k using %stats
      kv_acc atomic %acc, %acc scale %scale
      : !q, !k, !k, !q, !q, !rows, !q, !k, !k, !stats, !acc, !acc
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!sink = !tile.buffer<?xf16, #tile.strided<[1]>, global>

func.func @dsink(%q: !q, %rows: !rows, %stats: !stats, %sink: !sink, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op dsink must be a global f32 buffer of rank 1, got '!tile.buffer<?xf16, #tile.strided<[1]>, global>'}}
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      sink %sink, %sink scale %scale
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats, !sink, !sink
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @window(%q: !q, %rows: !rows, %stats: !stats, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op has no attribute 'window'}}
  tile.attention_backward %q, %q, %q, %q, %q, %rows to %q, %q, %q using %stats
      scale %scale {window = array<i64: 3>}
      : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !stats
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @softcap(%q: !q, %scale: f32) {
  %cap = arith.constant 0.0 : f32
  // expected-error@+1 {{'tile.attention' op softcap must be finite and positive, got 0}}
  tile.attention %q, %q, %q, %q scale %scale softcap %cap : !q, !q, !q, !q
  return
}

// -----

// Scratch memory that atomics add to may have more rows than q, but not fewer.
!q = !tile.buffer<1x100x2x64xf16, #tile.strided<[12800, 128, 64, 1], align = 16>, global>
!lse = !tile.buffer<1x2x100xf32, #tile.strided<[200, 100, 1]>, global>
!stats = !tile.buffer<1x2x2x112xf32, #tile.strided<[448, 224, 112, 1]>, global>
!more = !tile.buffer<1x112x2x64xf32, #tile.strided<[14336, 128, 64, 1], align = 16>, global>
!fewer = !tile.buffer<1x96x2x64xf32, #tile.strided<[12288, 128, 64, 1], align = 16>, global>

func.func @more_rows(%q: !q, %lse: !lse, %stats: !stats, %acc: !more, %scale: f32) {
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats dq_acc %acc scale %scale
      : !q, !q, !q, !q, !q, !lse, !q, !q, !q, !stats, !more
  return
}

func.func @fewer_rows(%q: !q, %lse: !lse, %stats: !stats, %acc: !fewer, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op length of dq_acc is 96, less than the length of q, 100}}
  tile.attention_backward %q, %q, %q, %q, %q, %lse to %q, %q, %q using %stats dq_acc %acc scale %scale
      : !q, !q, !q, !q, !q, !lse, !q, !q, !q, !stats, !fewer
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @merge_without_lse(%q: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op merges into o and lse, but has no lse}}
  tile.attention %q, %q, %q, %q scale %scale {merge} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x64xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @o_type(%q: !q, %o: !o, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op o must have elements of the type of q or f32, got 'bf16'}}
  tile.attention %q, %q, %q, %o scale %scale : !q, !q, !q, !o
  return
}

// -----

!q = !tile.buffer<?x?x4x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x4x?xf32, #tile.strided<[?, ?, 1]>, global>
!others = !tile.buffer<?x8x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x4x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @dlse_heads(%q: !q, %rows: !rows, %dlse: !others, %stats: !stats, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op extents differ: heads of q is 4, heads of dlse is 8}}
  tile.attention_backward %q, %q, %q, %q, %q, %rows dlse %dlse to %q, %q, %q using %stats
      scale %scale : !q, !q, !q, !q, !q, !rows, !others, !q, !q, !q, !stats
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @dlse_rank(%q: !q, %rows: !rows, %stats: !stats, %scale: f32) {
  // expected-error@+1 {{'tile.attention_backward' op dlse must be a global f32 buffer of rank 3 [batch, heads, length of q]}}
  tile.attention_backward %q, %q, %q, %q, %q, %rows dlse %q to %q, %q, %q using %stats
      scale %scale : !q, !q, !q, !q, !q, !rows, !q, !q, !q, !q, !stats
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @parts_rank(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op o_parts must be a global buffer of rank 5, got '!tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>'}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale
      : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @parts_type(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op o_parts must have f32 elements, got 'f16'}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale
      : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x?x32xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @parts_head(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op head dimensions of o and o_parts differ: 64 and 32}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale
      : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>

func.func @parts_rows(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op lse_parts must be a global f32 buffer of rank 4 [parts, batch, heads, length of q], got '!tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>'}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale
      : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<4x?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<3x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @parts_number(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: parts of o_parts is 4, parts of lse_parts is 3}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale
      : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x8x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x4x64xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>

func.func @parts_heads(%q: !q, %op: !o_parts, %lp: !lse_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: heads of q is 8, heads of o_parts is 4}}
  tile.attention %q, %q, %q, %q parts %op, %lp scale %scale
      : !q, !q, !q, !q, !o_parts, !lse_parts
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o_parts = !tile.buffer<?x?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @parts_alone(%q: !q, %op: !o_parts, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has o_parts without lse_parts}}
  "tile.attention"(%q, %q, %q, %q, %op, %scale) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>}>
      : (!q, !q, !q, !q, !o_parts, f32) -> ()
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @no_keys(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op attribute 'expected_keys' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  tile.attention %q, %k, %v, %o scale %scale {expected_keys = 0 : i64} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @no_rows(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op attribute 'expected_rows' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  tile.attention %q, %k, %v, %o scale %scale {expected_rows = 0 : i64} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi64, #tile.strided<[1]>, global>

func.func @lengths_type(%q: !q, %n: !n, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op key_lengths must be a global i32 buffer of rank 1, got '!tile.buffer<?xi64}}
  tile.attention %q, %q, %q, %q key_lengths %n scale %scale : !q, !q, !q, !q, !n
  return
}

// -----

!q = !tile.buffer<3x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<4xi32, #tile.strided<[1]>, global>

func.func @lengths_batch(%q: !q, %n: !n, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: batch of q is 3, batch of key_lengths is 4}}
  tile.attention %q, %q, %q, %q key_lengths %n scale %scale : !q, !q, !q, !q, !n
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>

func.func @page_size(%q: !q, %n: !n, %t: !t, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op the page size of k must be static, got '!tile.buffer<?x?x?x64xf16}}
  tile.attention %q, %q, %q, %q key_lengths %n pages %t scale %scale : !q, !q, !q, !q, !n, !t
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!v = !tile.buffer<?x32x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>

func.func @page_sizes(%q: !q, %k: !k, %v: !v, %n: !n, %t: !t, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: page size of k is 16, page size of v is 32}}
  tile.attention %q, %k, %v, %q key_lengths %n pages %t scale %scale : !q, !k, !v, !q, !n, !t
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @table_rank(%q: !q, %k: !k, %n: !n, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op page_table must be a global i32 buffer of rank 2 [batch, pages], got '!tile.buffer<?xi32}}
  tile.attention %q, %k, %k, %q key_lengths %n pages %n scale %scale : !q, !k, !k, !q, !n, !n
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>

func.func @list_rank(%q: !q, %k: !k, %n: !n, %t: !t, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op page_table must be a global i32 buffer of rank 1 [pages] (beside cu_pages), got '!tile.buffer<?x?xi32}}
  tile.attention %q, %k, %k, %q key_lengths %n pages %t, %n scale %scale : !q, !k, !k, !q, !n, !t, !n
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!cu = !tile.buffer<?xi64, #tile.strided<[1]>, global>

func.func @page_bounds(%q: !q, %k: !k, %n: !n, %cu: !cu, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op cu_pages must be a global i32 buffer of rank 1, got '!tile.buffer<?xi64}}
  tile.attention %q, %k, %k, %q key_lengths %n pages %n, %cu scale %scale : !q, !k, !k, !q, !n, !n, !cu
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @bounds_without_pages(%q: !q, %n: !n, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has cu_pages without page_table}}
  "tile.attention"(%q, %q, %q, %q, %n, %n, %scale) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0>}
      : (!q, !q, !q, !q, !n, !n, f32) -> ()
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!t = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>

func.func @tree_rank(%q: !q, %t: !t, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op tree_mask must be a global i32 buffer of rank 3 [batch, length of q, words], got '!tile.buffer<?x?xi32}}
  tile.attention %q, %q, %q, %q tree_mask %t scale %scale : !q, !q, !q, !q, !t
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t = !tile.buffer<?x9xi32, #tile.strided<[9, 1]>, global>

func.func @tree_words(%q: !q, %cu: !cu, %max: index, %t: !t, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op tree_mask must have a static number of words from 1 to 8, got '!tile.buffer<?x9xi32}}
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max tree_mask %t scale %scale : !q, !q, !q, !q, !cu, !cu, !t
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t = !tile.buffer<?x?x1xi32, #tile.strided<[?, 1, 1]>, global>

func.func @tree_of_packed(%q: !q, %cu: !cu, %max: index, %t: !t, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op tree_mask must be a global i32 buffer of rank 2 [length of q, words], got}}
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max tree_mask %t scale %scale : !q, !q, !q, !q, !cu, !cu, !t
  return
}

// -----

!q = !tile.buffer<?x7x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!t = !tile.buffer<?x9x1xi32, #tile.strided<[9, 1, 1]>, global>

func.func @tree_length(%q: !q, %t: !t, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: length of q is 7, length of tree_mask is 9}}
  tile.attention %q, %q, %q, %q tree_mask %t scale %scale : !q, !q, !q, !q, !t
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @packed_queries_alone(%q: !q, %cu: !cu, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has cu_q without cu_k}}
  tile.attention %q, %q, %q, %q seqlens %cu max %max scale %scale : !q, !q, !q, !q, !cu
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @two_lengths(%q: !q, %cu: !cu, %max: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has both cu_k and key_lengths}}
  tile.attention %q, %q, %q, %q seqlens %cu, %cu max %max key_lengths %cu scale %scale : !q, !q, !q, !q, !cu, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>

func.func @works_alone(%q: !q, %w: !works, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has works without o_parts}}
  tile.attention %q, %q, %q, %q works %w scale %scale : !q, !q, !q, !q, !works
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @reuse_alone(%q: !q, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has reuse_works without works}}
  tile.attention %q, %q, %q, %q scale %scale {reuse_works} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @queries_alone(%q: !q, %cu: !cu, %n: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has least_q without works}}
  tile.attention %q, %q, %q, %q queries %n to %n seqlens %cu, %cu max %n scale %scale
      : !q, !q, !q, !q, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @concurrent_alone(%q: !q, %op: !op, %lp: !lp, %w: !works, %cu: !cu, %n: index,
                            %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has concurrent without least_q}}
  tile.attention %q, %q, %q, %q parts %op, %lp works %w seqlens %cu, %cu max %n
      scale %scale {concurrent} : !q, !q, !q, !q, !op, !lp, !works, !cu, !cu
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>

func.func @queries_of_dense(%q: !q, %op: !op, %lp: !lp, %w: !works, %n: index, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op has least_q without cu_q}}
  tile.attention %q, %q, %q, %q parts %op, %lp works %w queries %n to %n scale %scale
      : !q, !q, !q, !q, !op, !lp, !works
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x4xi32, #tile.strided<[4, 1]>, global>

func.func @works_columns(%q: !q, %op: !op, %lp: !lp, %w: !works, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op works must be a global i32 buffer [works, 5], got '!tile.buffer<?x4xi32, #tile.strided<[4, 1]>, global>'}}
  tile.attention %q, %q, %q, %q parts %op, %lp works %w scale %scale
      : !q, !q, !q, !q, !op, !lp, !works
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>

func.func @works_parts(%q: !q, %op: !op, %lp: !lp, %w: !works, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op o_parts must be a global f32 buffer of rank 3 [rows, heads, static head dimension], got '!tile.buffer<?x?x?x64xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>'}}
  tile.attention %q, %q, %q, %q parts %op, %lp works %w scale %scale
      : !q, !q, !q, !q, !op, !lp, !works
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>

func.func @works_part_rows(%q: !q, %op: !op, %lp: !lp, %w: !works, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op lse_parts must be a global f32 buffer of rank 2 [heads, rows], got '!tile.buffer<?xf32, #tile.strided<[1]>, global>'}}
  tile.attention %q, %q, %q, %q parts %op, %lp works %w scale %scale
      : !q, !q, !q, !q, !op, !lp, !works
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<32x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x16xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>

func.func @works_rows(%q: !q, %op: !op, %lp: !lp, %w: !works, %scale: f32) {
  // expected-error@+1 {{'tile.attention' op extents differ: rows of parts of o_parts is 32, rows of parts of lse_parts is 16}}
  tile.attention %q, %q, %q, %q parts %op, %lp works %w scale %scale
      : !q, !q, !q, !q, !op, !lp, !works
  return
}
