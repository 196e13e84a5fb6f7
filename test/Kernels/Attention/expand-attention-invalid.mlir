// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   -tile-attach-target=chip=sm_80 -tile-expand-attention

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// expected-error @below {{function @result of named tile operations becomes kernels, which return no values}}
func.func @result(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) -> f32 {
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return %scale : f32
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @other_op(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  // expected-error @below {{'math.absf' op cannot stand beside named tile operations; only arith operations can}}
  %positive = math.absf %scale : f32
  tile.attention %q, %k, %v, %o scale %positive : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// expected-error @below {{argument 4 has type 'i8'; expected a global buffer, f16, bf16, f32, f64, i1, i32, i64 or index}}
func.func @argument(%q: !q, %k: !q, %v: !q, %o: !q, %scale: i8) {
  %scale32 = arith.sitofp %scale : i8 to f32
  tile.attention %q, %k, %v, %o scale %scale32 : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// expected-note @below {{function defined here}}
func.func @called(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}

func.func @caller(%q: !q, %scale: f32) {
  // expected-error @below {{'func.call' op uses function @called, which becomes a kernel}}
  call @called(%q, %q, %q, %q, %scale) : (!q, !q, !q, !q, f32) -> ()
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// expected-note @below {{defined here}}
func.func @twice_1() {
  return
}

func.func @twice(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  // expected-error @below {{'tile.attention' op becomes kernel @twice_1, which exists}}
  tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @nested(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32, %n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error @below {{'tile.attention' op must be at the top level of a func.func of the module, with one block}}
    tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  }
  return
}

// -----

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

tile.kernel @in_kernel(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.attention' op must be at the top level of a func.func of the module, with one block}}
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
}
