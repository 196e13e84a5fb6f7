// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{the first dimension consists of pages, so that its stride must be '?'}}
!t = !tile.buffer<?x8xf32, #tile.strided<[8, 1], page = 4>, global>

// -----

// expected-error@+1 {{a page has at least one element}}
!t = !tile.buffer<?x8xf32, #tile.strided<[?, 1], page = 0>, global>

// -----

// expected-error@+1 {{a page has at most 2^31 - 1 elements, got -3}}
!t = !tile.buffer<?x8xf32, #tile.strided<[?, 1], page = -3>, global>

// -----

// expected-error@+1 {{expected 'page'}}
!t = !tile.buffer<?x8xf32, #tile.strided<[?, 1], align = 16, pages = 4>, global>

// -----

!pages = !tile.buffer<?x?x8xf32, #tile.strided<[?, 8, 1]>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @dynamic(%k: !pages, %t: !table, %n: index) {
  // expected-error@+2 {{views pages [pages, rows, ...] with a static number of rows, got '!tile.buffer<?x?x8xf32}}
  %v = tile.paged %k by %t length %n
      : !pages, !table
  return
}

// -----

!pages = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @rank(%k: !pages, %t: !table, %n: index) {
  // expected-error@+2 {{views pages [pages, rows, ...] with a static number of rows, got '!tile.buffer<?xf32}}
  %v = tile.paged %k by %t length %n
      : !pages, !table
  return
}

// -----

!pages = !tile.buffer<4x4x8xf32, #tile.padded<0, order = [2, 1, 0]>, shared>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @shared(%k: !pages, %t: !table, %n: index) {
  // expected-error@+2 {{views pages in global memory with strides, got '!tile.buffer<4x4x8xf32}}
  %v = tile.paged %k by %t length %n
      : !pages, !table
  return
}

// -----

!pages = !tile.buffer<?x4x8xf32, #tile.strided<[32, 8, 1]>, global>
!table = !tile.buffer<?xi64, #tile.strided<[1]>, global>
func.func @table(%k: !pages, %t: !table, %n: index) {
  // expected-error@+1 {{'tile.paged' op needs a table of rank 1 with i32 elements in global memory, got '!tile.buffer<?xi64}}
  %v = tile.paged %k by %t length %n : !pages, !table
  return
}

// -----

!pages = !tile.buffer<?x4x8xf32, #tile.strided<[32, 8, 1]>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!rows = !tile.buffer<?x8xf32, #tile.strided<[?:16, 1], page = 4>, global>
func.func @result(%k: !pages, %t: !table, %n: index) {
  // expected-error@+1 {{'tile.paged' op result type should be '!tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>', got}}
  %v = tile.paged %k by %t length %n : !pages, !table to !rows
  return
}

// -----

// A view of pages is only read.

!rows = !tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>
func.func @store(%v: !rows, %x: tensor<16x8xf32>, %i: index) {
  // expected-error@+1 {{'tile.store' op cannot access '!tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>', a view of pages; tile.load can}}
  tile.store %x, %v[%i, %i] : tensor<16x8xf32>, !rows
  return
}

// -----

!rows = !tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>
func.func @scalar(%v: !rows, %i: index) {
  // expected-error@+1 {{'tile.load_scalar' op cannot access '!tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>', a view of pages; tile.load can}}
  %x = tile.load_scalar %v[%i, %i] : !rows -> f32
  return
}

// -----

!rows = !tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>
func.func @gather(%v: !rows, %rows: tensor<16xi32>, %i: index) {
  // expected-error@+1 {{a view of pages; tile.load can}}
  %x = tile.gather %v[%i, %i] along 0 by %rows : !rows, tensor<16xi32> -> tensor<16x8xf32>
  return
}

// -----

!rows = !tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>
func.func @slice(%v: !rows, %i: index) {
  // expected-error@+1 {{a view of pages; slice the pages}}
  %x = tile.slice %v[*, %i] : !rows
  return
}

// -----

!rows = !tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>
func.func @narrow(%v: !rows, %i: index) {
  // expected-error@+1 {{narrows buffers in global memory, got '!tile.buffer<?x8xf32}}
  %x = tile.narrow %v[0] from %i length %i : !rows
  return
}

// -----

!rows = !tile.buffer<?x8xf32, #tile.strided<[?:8, 1], page = 4>, global>
// expected-error@+1 {{argument 0 is a view of pages; arguments are the pages and the table}}
tile.kernel @argument(%v: !rows) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
