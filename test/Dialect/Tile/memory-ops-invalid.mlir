// RUN: tile-opt %s -split-input-file -verify-diagnostics

!b = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>

func.func @slice_rank(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.slice' op gives 2 indices for a buffer of rank 3}}
  %s = tile.slice %b[%i, *] : !b to !tile.buffer<?xf16, #tile.strided<[?:8]>, global>
  return
}

// -----

!b = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

func.func @slice_nothing(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.slice' op must keep at least one dimension}}
  %s = tile.slice %b[%i, %i] : !b to !tile.buffer<?xf16, #tile.strided<[?:8]>, global>
  return
}

// -----

!ring = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>

func.func @slice_of_swizzle(%b: !ring, %i: index) {
  // expected-error@+1 {{'tile.slice' op cannot fix dimension 1 of #tile.swizzle<128>; only leading dimensions that stack tiles}}
  %s = tile.slice %b[*, %i, *] : !ring to !tile.buffer<2x64xf16, #tile.swizzle<128>, shared>
  return
}

// -----

!ring = !tile.buffer<2x64x64xf16, #tile.padded<8, order = [1, 0]>, shared>

func.func @slice_of_padded(%b: !ring, %i: index) {
  // expected-error@+1 {{'tile.slice' op cannot fix dimension 2 of #tile.padded<8, order = [1, 0]>; only leading dimensions that stack tiles}}
  %s = tile.slice %b[*, *, %i] : !ring to !tile.buffer<2x64xf16, #tile.padded<8, order = [1, 0]>, shared>
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[?:4, 1], align = 16>, global>

// The distance of rows is only 8 bytes.
func.func @slice_type(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.slice' op result type should be '!tile.buffer<64xf16, #tile.strided<[1], align = 8>, global>', got '!tile.buffer<64xf16, #tile.strided<[1], align = 16>, global>'}}
  %s = tile.slice %b[%i, *] : !b to !tile.buffer<64xf16, #tile.strided<[1], align = 16>, global>
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[?:4, 1]>, global>

func.func @slice_indices(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.slice' op has 2 indices for 1 fixed dimensions}}
  %s = "tile.slice"(%b, %i, %i) <{kept = array<i1: false, true>}>
      : (!b, index, index) -> !tile.buffer<64xf16, #tile.strided<[1]>, global>
  return
}

// -----

// No layout attribute describes the slice of a permuted layout.
!b = !tile.buffer<64x2x64xf16, #tile.permute<[1, 0, 2], #tile.swizzle<128>>, shared>

func.func @slice_of_permuted(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.slice' op cannot fix dimension 1 of #tile.permute<[1, 0, 2], #tile.swizzle<128>>; only leading dimensions that stack tiles}}
  %s = tile.slice %b[*, %i, *] : !b to !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  return
}

// -----

func.func @alloc_global() {
  // expected-error@+1 {{'tile.alloc' op allocates shared memory only}}
  %b = tile.alloc : !tile.buffer<64x64xf16, #tile.strided<[64, 1]>, global>
  return
}

// -----

func.func @alloc_offset() {
  // expected-error@+1 {{custom op 'tile.alloc' 'tile.alloc' op attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %b = tile.alloc {offset = -16} : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @load_indices(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.load' op has 1 indices for a buffer of rank 2}}
  %t = tile.load %b[%i] : !b -> tensor<64x64xf16>
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @load_rank(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.load' op moves a tile of rank 1 in a buffer of rank 2; use tile.slice to fix dimensions}}
  %t = tile.load %b[%i, %i] : !b -> tensor<64xf16>
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @load_element(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.load' op moves elements of type 'f32' in a buffer of 'f16'}}
  %t = tile.load %b[%i, %i] : !b -> tensor<64x64xf32>
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @load_dynamic(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.load' op result #0 must be tile of f16, bf16, f32, f64, i1, i8, i32 or i64 (a tensor of positive extents, static or named by #tile.open, rank 1 or more, at most 2^20 elements, no other encoding but a layout), but got 'tensor<?x64xf16>'}}
  %t = tile.load %b[%i, %i] : !b -> tensor<?x64xf16>
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @load_encoding(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.load' op result #0 must be tile of f16, bf16, f32, f64, i1, i8, i32 or i64 (a tensor of positive extents, static or named by #tile.open, rank 1 or more, at most 2^20 elements, no other encoding but a layout), but got 'tensor<64x64xf16, "row major">'}}
  %t = tile.load %b[%i, %i] : !b -> tensor<64x64xf16, "row major">
  return
}

// -----

func.func @load_no_buffer(%b: memref<64x64xf16>, %i: index) {
  // expected-error@+1 {{'tile.load' op operand #0 must be memory with a layout, but got 'memref<64x64xf16>'}}
  %t = tile.load %b[%i, %i] : memref<64x64xf16> -> tensor<64x64xf16>
  return
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @load_shared_to_shared(%b: !s) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op loads from shared memory into shared memory}}
  %t = tile.load %b[%c0, %c0] : !s -> tensor<64x64xf16, #tile.swizzle<128>>
  return
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @load_outside(%b: !s) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-error@+1 {{'tile.load' op accesses 64 elements from element 32 on along dimension 1 of a shared buffer of extent 64}}
  %t = tile.load %b[%c0, %c32] : !s -> tensor<64x64xf16>
  return
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @load_large(%b: !s, %i: index) {
  // expected-error@+1 {{'tile.load' op accesses 128 elements from element 0 on along dimension 0 of a shared buffer of extent 64}}
  %t = tile.load %b[%i, %i] : !s -> tensor<128x64xf16>
  return
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @load_before(%b: !s) {
  %c0 = arith.constant 0 : index
  %c-1 = arith.constant -1 : index
  // expected-error@+1 {{'tile.load' op accesses 32 elements from element -1 on along dimension 0 of a shared buffer of extent 64}}
  %t = tile.load %b[%c-1, %c0] : !s -> tensor<32x64xf16>
  return
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @store_shared_to_shared(%b: !s, %t: tensor<64x64xf16, #tile.swizzle<128>>, %i: index) {
  // expected-error@+1 {{'tile.store' op stores from shared memory into shared memory}}
  tile.store %t, %b[%i, %i] : tensor<64x64xf16, #tile.swizzle<128>>, !s
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @store_element(%b: !b, %t: tensor<64x64xf32>, %i: index) {
  // expected-error@+1 {{'tile.store' op moves elements of type 'f32' in a buffer of 'f16'}}
  tile.store %t, %b[%i, %i] : tensor<64x64xf32>, !b
  return
}

// -----

!b = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @atomic_float(%b: !b, %t: tensor<64xi32>, %i: index) {
  // expected-error@+1 {{'tile.atomic_rmw' op addf needs float elements, got 'i32'}}
  tile.atomic_rmw addf %t, %b[%i] : tensor<64xi32>, !b
  return
}

// -----

!b = !tile.buffer<?xf32, #tile.strided<[1]>, global>

func.func @atomic_integer(%b: !b, %t: tensor<64xf32>, %i: index) {
  // expected-error@+1 {{'tile.atomic_rmw' op maxu needs i32 or i64 elements, got 'f32'}}
  tile.atomic_rmw maxu %t, %b[%i] : tensor<64xf32>, !b
  return
}

// -----

!b = !tile.buffer<?xi64, #tile.strided<[1]>, global>

func.func @atomic_result(%b: !b, %t: tensor<64xi64>, %i: index) -> tensor<64xi32> {
  // expected-error@+1 {{'tile.atomic_rmw' op returns 'tensor<64xi32>', expected the type of its value, 'tensor<64xi64>'}}
  %old = tile.atomic_rmw addi %t, %b[%i] : tensor<64xi64>, !b -> tensor<64xi32>
  return %old : tensor<64xi32>
}

// -----

!b = !tile.buffer<?xf32, #tile.strided<[1]>, global>

func.func @atomic_kind(%b: !b, %t: tensor<64xf32>, %i: index) {
  // expected-error@+1 {{'tile.atomic_rmw' op kind mulf is not an atomic operation of tiles}}
  tile.atomic_rmw mulf %t, %b[%i] : tensor<64xf32>, !b
  return
}

// -----

!b = !tile.buffer<64x64xf32, #tile.swizzle<128>, shared>

func.func @atomic_shared(%b: !b, %t: tensor<64x64xf32, #tile.swizzle<128>>, %i: index) {
  // expected-error@+1 {{'tile.atomic_rmw' op combines shared memory into shared memory}}
  tile.atomic_rmw addf %t, %b[%i, %i] : tensor<64x64xf32, #tile.swizzle<128>>, !b
  return
}

// -----

!b = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
!t = tensor<64x64xf32, #tile.swizzle<128>>

func.func @atomic_shared_tile(%b: !b, %t: !t, %i: index) {
  // expected-error@+1 {{'tile.atomic_rmw' op returns tiles in registers only}}
  %old = tile.atomic_rmw addf %t, %b[%i, %i] : !t, !b -> !t
  return
}

// -----

!b = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>

func.func @atomic_element(%b: !b, %t: tensor<64x64xf16>, %i: index) {
  // expected-error@+1 {{'tile.atomic_rmw' op moves elements of type 'f16' in a buffer of 'f32'}}
  tile.atomic_rmw addf %t, %b[%i, %i] : tensor<64x64xf16>, !b
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @copy_to_global(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.copy' op copies from global to shared memory}}
  tile.copy %b[%i, %i], %b : !b, !b
  return
}

// -----

!b = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @copy_from_shared(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.copy' op copies from global to shared memory}}
  tile.copy %b[%i, %i], %b : !b, !b
  return
}

// -----

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>
!s = !tile.buffer<64x64xbf16, #tile.swizzle<128>, shared>

func.func @copy_element(%b: !b, %s: !s, %i: index) {
  // expected-error@+1 {{'tile.copy' op moves elements of type 'bf16' in a buffer of 'f16'}}
  tile.copy async %b[%i, %i], %s : !b, !s
  return
}

// -----

func.func @wait_group() {
  // expected-error@+1 {{'tile.wait_group' op attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  tile.wait_group -1
  return
}
