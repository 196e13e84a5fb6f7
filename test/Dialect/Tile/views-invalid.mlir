// RUN: tile-opt %s -split-input-file -verify-diagnostics

!rows = !tile.buffer<?x64xf16, #tile.strided<[?:4, 1], align = 16>, global>

func.func @type(%rows: !rows, %i: index) {
  // expected-error@+1 {{'tile.narrow' op result type should be '!tile.buffer<?x64xf16, #tile.strided<[?:4, 1], align = 8>, global>', got '!tile.buffer<?x64xf16, #tile.strided<[?:4, 1], align = 16>, global>'}}
  %part = tile.narrow %rows[0] from %i length %i : !rows to !rows
  return
}

// -----

!rows = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

func.func @dimension(%rows: !rows, %i: index) {
  // expected-error@+1 {{'tile.narrow' op dimension 2 does not exist in a buffer of rank 2}}
  %part = tile.narrow %rows[2] from %i length %i : !rows to !rows
  return
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @shared(%tile: !tile, %i: index) {
  // expected-error@+1 {{'tile.narrow' op narrows buffers in global memory, got '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>'}}
  %part = tile.narrow %tile[0] from %i length %i : !tile to !tile
  return
}

// -----

!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @element(%cu: !cu, %i: index) {
  // expected-error@+1 {{'tile.load_scalar' op reads an element of type 'i64' in a buffer of 'i32'}}
  %start = tile.load_scalar %cu[%i] : !cu -> i64
  return
}

// -----

!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @indices(%cu: !cu) {
  // expected-error@+1 {{'tile.load_scalar' op has 0 indices for a buffer of rank 1}}
  %start = tile.load_scalar %cu[] : !cu -> i32
  return
}

// -----

!s = !tile.buffer<64xi32, #tile.strided<[1]>, shared>

func.func @shared(%s: !s, %i: index) {
  // expected-error@+1 {{'tile.load_scalar' op reads global memory only}}
  %start = tile.load_scalar %s[%i] : !s -> i32
  return
}

// -----

!rows = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

func.func @inferred(%rows: !rows, %i: index) {
  // expected-error@+1 {{gives 3 indices for a buffer of rank 2}}
  %row = tile.slice %rows[%i, *, *] : !rows
  return
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @inferred(%tile: !tile, %i: index) {
  // expected-error@+1 {{narrows buffers in global memory, got '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>'}}
  %part = tile.narrow %tile[0] from %i length %i : !tile
  return
}

// -----

func.func @inferred(%i: index) {
  // expected-error@+1 {{expected the type of a buffer, got 'index'}}
  %row = tile.slice %i[%i, *] : index
  return
}
