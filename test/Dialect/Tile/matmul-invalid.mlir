// RUN: tile-opt %s -split-input-file -verify-diagnostics

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xbf16, #tile.strided<[1]>, global>
func.func @rank(%a: !a, %b: !v, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op b must be a global buffer of rank 2, got '!tile.buffer<?xbf16, #tile.strided<[1]>, global>'}}
  tile.matmul %a, %b to %c : !a, !v, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
func.func @result_rank(%a: !a, %b: !b, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op c must be a global buffer of rank 3, got '!tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>'}}
  tile.matmul %a, %b to %c : !a, !b, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!c = !tile.buffer<?x?x?x?xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @batch_rank(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'tile.matmul' op b must be a global buffer of rank 2 or 4, got '!tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>'}}
  tile.matmul %a, %b to %c : !a, !b, !c
  return
}

// -----

!a = !tile.buffer<?x?xf64, #tile.strided<[?:2, 1], align = 16>, global>
func.func @element(%a: !a, %b: !a, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op a must have f16, bf16, f32 or i8 elements, got 'f64'}}
  tile.matmul %a, %b to %c : !a, !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @elements(%a: !a, %b: !b, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op b must have the elements of a, 'bf16', got 'f16'}}
  tile.matmul %a, %b to %c : !a, !b, !a
  return
}

// -----

!f = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
func.func @no_precision(%a: !f, %b: !f, %c: !f) {
  // expected-error @+1 {{'tile.matmul' op multiplies f32, which needs precision(tf32) or precision(bf16x3)}}
  tile.matmul %a, %b to %c : !f, !f, !f
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @precision(%a: !a, %b: !a, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op has a precision, which is for f32, not for 'bf16'}}
  tile.matmul %a, %b to %c precision(tf32) : !a, !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xi8, #tile.strided<[?:16, 1], align = 16>, global>
!f = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
func.func @result_element(%a: !a, %b: !a, %c: !f) {
  // expected-error @+1 {{'tile.matmul' op without an epilogue, c must have i32 elements, got 'f32'}}
  tile.matmul %a, %b to %c : !a, !a, !f
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!i = !tile.buffer<?x?xi32, #tile.strided<[?:4, 1], align = 16>, global>
func.func @result_of_floats(%a: !a, %b: !a, %c: !i) {
  // expected-error @+1 {{'tile.matmul' op without an epilogue, c must have f16, bf16 or f32 elements, got 'i32'}}
  tile.matmul %a, %b to %c : !a, !a, !i
  return
}

// -----

!a = !tile.buffer<64x32xbf16, #tile.strided<[32, 1], align = 16>, global>
!b = !tile.buffer<64x128xbf16, #tile.strided<[128, 1], align = 16>, global>
!c = !tile.buffer<64x128xbf16, #tile.strided<[128, 1], align = 16>, global>
func.func @extents(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'tile.matmul' op extents differ: K of a is 32, K of b is 64}}
  tile.matmul %a, %b to %c : !a, !b, !c
  return
}

// -----

!a = !tile.buffer<3x64x64xbf16, #tile.strided<[4096, 64, 1], align = 16>, global>
!b = !tile.buffer<2x64x64xbf16, #tile.strided<[4096, 64, 1], align = 16>, global>
func.func @batches(%a: !a, %b: !b, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op extents differ: batch of a is 3, batch of b is 2}}
  tile.matmul %a, %b to %c : !a, !b, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @ends_and_counts(%a: !a, %b: !b, %c: !a, %n: !n) {
  // expected-error @+1 {{'tile.matmul' op has groups with both ends and counts}}
  tile.matmul %a, %b to %c ends %n counts %n : !a, !b, !a, !n, !n
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi64, #tile.strided<[1]>, global>
func.func @ends_type(%a: !a, %b: !b, %c: !a, %n: !n) {
  // expected-error @+1 {{'tile.matmul' op ends must be a global i32 buffer of rank 1, got '!tile.buffer<?xi64, #tile.strided<[1]>, global>'}}
  tile.matmul %a, %b to %c ends %n : !a, !b, !a, !n
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @ends_transposed(%a: !a, %b: !b, %c: !a, %n: !n) {
  // expected-error @+1 {{'tile.matmul' op cannot have ends with transpose_a: groups are ranges of the rows of a}}
  tile.matmul %a, %b to %c ends %n {transpose_a} : !a, !b, !a, !n
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @groups_rank(%a: !a, %b: !a, %c: !a, %n: !n) {
  // expected-error @+1 {{'tile.matmul' op b must be a global buffer of rank 3, got '!tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>'}}
  tile.matmul %a, %b to %c ends %n : !a, !a, !a, !n
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @two_products(%a: !a, %b: !a, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op without an epilogue, needs one b and one c, got 2 and 1}}
  tile.matmul %a, %b, %b to %c : !a, !a, !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @no_result(%a: !a, %b: !a) {
  // expected-error @+1 {{'tile.matmul' op without an epilogue, needs one b and one c, got 1 and 0}}
  tile.matmul %a, %b : !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @sums_element(%a: !a, %b: !a, %c: !a, %s: !a) {
  // expected-error @+1 {{'tile.matmul' op buffers of sums must have 'f32' elements, got 'bf16'}}
  tile.matmul %a, %b to %c atomic %s : !a, !a, !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!f = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
func.func @sums_count(%a: !a, %b: !a, %c: !a, %s: !f) {
  // expected-error @+1 {{'tile.matmul' op needs a buffer of sums for each b, 1, got 2}}
  tile.matmul %a, %b to %c atomic %s, %s : !a, !a, !a, !f, !f
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!f = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
func.func @sums_of_groups(%a: !a, %b: !b, %c: !a, %n: !n, %s: !f) {
  // expected-error @+1 {{'tile.matmul' op cannot add sums of groups atomically}}
  tile.matmul %a, %b to %c ends %n atomic %s : !a, !b, !a, !n, !f
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @unknown_attribute(%a: !a, %b: !a, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op has no attribute 'transposed_b'}}
  tile.matmul %a, %b to %c {transposed_b} : !a, !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
func.func @field(%a: !a, %b: !a, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op the schedule of a product has no field 'tile', only consumer_groups, producers, storers, registers, stages, work_stages, turns, save_registers, keep_loops, late_products, split, cluster_split, stream_k, order, params, warps}}
  tile.matmul %a, %b to %c {schedule = #tile.schedule<tile = [64, 64]>} : !a, !a, !a
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
func.func @arguments(%a: !a, %b: !a, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op needs an epilogue with arguments of the types 'tensor<?x?xf32, #tile.open<BM, BN>>', 'index', 'index'; got 'tensor<?x?xf32, #tile.open<BM, BN>>', 'index'}}
  tile.matmul %a, %b to %c : !a, !a, !a epilogue {
  ^bb0(%s: !sum, %row: index):
    tile.yield %s : !sum
  }
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
func.func @yielded_type(%a: !a, %b: !a, %c: !a) {
  tile.matmul %a, %b to %c : !a, !a, !a epilogue {
  ^bb0(%s: !sum, %row: index, %column: index):
    // expected-error @+1 {{'tile.yield' op gives a tile of type 'tensor<?x?xf32, #tile.open<BM, BN>>'; expected 'tensor<?x?xbf16, #tile.open<BM, BN>>'}}
    tile.yield %s : !sum
  }
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
func.func @yielded_count(%a: !a, %b: !a, %c: !a) {
  tile.matmul %a, %b to %c : !a, !a, !a epilogue {
  ^bb0(%s: !sum, %row: index, %column: index):
    // expected-error @+1 {{'tile.yield' op gives 0 tiles for 1 results}}
    tile.yield
  }
  return
}

// -----

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>
func.func @no_yield(%a: !a, %b: !a, %c: !a) {
  // expected-error @+1 {{'tile.matmul' op needs an epilogue that ends with tile.yield}}
  tile.matmul %a, %b to %c : !a, !a, !a epilogue {
  ^bb0(%s: !sum, %row: index, %column: index):
    ub.unreachable
  }
  return
}
