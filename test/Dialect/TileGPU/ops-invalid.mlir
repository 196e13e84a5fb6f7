// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.mma' op names the unknown instruction "mma.m16n8k8"}}
  tile_gpu.mma "mma.m16n8k8" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return
}

// -----

func.func @a_size(%a: vector<4xf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.mma' op takes 'vector<8xf16>' as a of "mma.m16n8k16.f16", got 'vector<4xf16>'}}
  tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<4xf16>, vector<4xf16>, vector<4xf32>
  return
}

// -----

func.func @b_type(%a: vector<8xbf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.mma' op takes 'vector<4xbf16>' as b of "mma.m16n8k16.bf16", got 'vector<4xf16>'}}
  tile_gpu.mma "mma.m16n8k16.bf16" %a, %b, %c : vector<8xbf16>, vector<4xf16>, vector<4xf32>
  return
}

// -----

func.func @c_size(%a: vector<16xf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.mma' op takes 'vector<8xf32>' as c of "wmma.gfx11.16x16x16.f16", got 'vector<4xf32>'}}
  tile_gpu.mma "wmma.gfx11.16x16x16.f16" %a, %a, %c : vector<16xf16>, vector<16xf16>, vector<4xf32>
  return
}

// -----

func.func @c_type(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf16>) {
  // expected-error @+1 {{'tile_gpu.mma' op operand #2 must be fixed-length vector of 32-bit float values of ranks 1, but got 'vector<4xf16>'}}
  tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf16>
  return
}

// -----

func.func @load_global(%m: memref<64xf16, #gpu.address_space<global>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.load_matrix' op needs memory in #gpu.address_space<workgroup>, got 'memref<64xf16, #gpu.address_space<global>>'}}
  tile_gpu.load_matrix %m[%i] : memref<64xf16, #gpu.address_space<global>> -> vector<8xf16>
  return
}

// -----

func.func @load_strided(%m: memref<64xf16, strided<[2]>, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.load_matrix' op needs memory without a layout map, got 'memref<64xf16, strided<[2]>, #gpu.address_space<workgroup>>'}}
  tile_gpu.load_matrix %m[%i] : memref<64xf16, strided<[2]>, #gpu.address_space<workgroup>> -> vector<8xf16>
  return
}

// -----

func.func @load_type(%m: memref<64xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.load_matrix' op loads elements of type 'bf16' from 'memref<64xf16, #gpu.address_space<workgroup>>'}}
  tile_gpu.load_matrix %m[%i] : memref<64xf16, #gpu.address_space<workgroup>> -> vector<8xbf16>
  return
}

// -----

func.func @load_size(%m: memref<64xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.load_matrix' op has 2, 4 or 8 elements (1, 2 or 4 matrices), got 6}}
  tile_gpu.load_matrix %m[%i] : memref<64xf16, #gpu.address_space<workgroup>> -> vector<6xf16>
  return
}

// -----

func.func @store_matrix_type(%v: vector<8xbf16>, %m: memref<64xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.store_matrix' op stores elements of type 'bf16' to 'memref<64xf16, #gpu.address_space<workgroup>>'}}
  tile_gpu.store_matrix %v, %m[%i] : vector<8xbf16>, memref<64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @store_matrix_size(%v: vector<6xf16>, %m: memref<64xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.store_matrix' op has 2, 4 or 8 elements (1, 2 or 4 matrices), got 6}}
  tile_gpu.store_matrix %v, %m[%i] : vector<6xf16>, memref<64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_source(%m: memref<64xf16>, %s: memref<64xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.async_copy' op needs source in #gpu.address_space<global>, got 'memref<64xf16>'}}
  tile_gpu.async_copy %m[%i], %s[%i], %i {elements = 8} : memref<64xf16>, memref<64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_dest(%m: memref<64xf16, #gpu.address_space<global>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.async_copy' op needs dest in #gpu.address_space<workgroup>, got 'memref<64xf16, #gpu.address_space<global>>'}}
  tile_gpu.async_copy %m[%i], %m[%i], %i {elements = 8} : memref<64xf16, #gpu.address_space<global>>, memref<64xf16, #gpu.address_space<global>>
  return
}

// -----

func.func @copy_type(%m: memref<64xf16, #gpu.address_space<global>>, %s: memref<64xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.async_copy' op copies elements of type 'f16' to 'memref<64xf32, #gpu.address_space<workgroup>>'}}
  tile_gpu.async_copy %m[%i], %s[%i], %i {elements = 8} : memref<64xf16, #gpu.address_space<global>>, memref<64xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_size(%m: memref<64xf16, #gpu.address_space<global>>, %s: memref<64xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.async_copy' op copies 4, 8 or 16 bytes, got 1 elements of 'f16'}}
  tile_gpu.async_copy %m[%i], %s[%i], %i {elements = 1} : memref<64xf16, #gpu.address_space<global>>, memref<64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @wait_negative() {
  // expected-error @+1 {{'tile_gpu.wait_group' op attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  tile_gpu.wait_group -1
  return
}

// -----

func.func @atomic_kind(%m: memref<64xf32, #gpu.address_space<global>>, %v: vector<1xf32>, %i: index) {
  // expected-error @+1 {{'tile_gpu.atomic_rmw' op has no kind addi for elements of type 'f32'}}
  tile_gpu.atomic_rmw addi %v, %m[%i] order(relaxed) scope(device) : vector<1xf32>, memref<64xf32, #gpu.address_space<global>>
  return
}

// -----

func.func @atomic_float_kind(%m: memref<64xf32, #gpu.address_space<global>>, %v: vector<1xf32>, %i: index) {
  // expected-error @+1 {{'tile_gpu.atomic_rmw' op has no kind mulf for elements of type 'f32'}}
  tile_gpu.atomic_rmw mulf %v, %m[%i] order(relaxed) scope(device) : vector<1xf32>, memref<64xf32, #gpu.address_space<global>>
  return
}

// -----

// Integers are never combined as floats.
func.func @atomic_element(%m: memref<64xi32, #gpu.address_space<global>>, %v: vector<2xf32>, %i: index) {
  // expected-error @+1 {{'tile_gpu.atomic_rmw' op combines elements of type 'f32' into 'memref<64xi32, #gpu.address_space<global>>'}}
  tile_gpu.atomic_rmw addf %v, %m[%i] order(relaxed) scope(device) : vector<2xf32>, memref<64xi32, #gpu.address_space<global>>
  return
}

// -----

func.func @atomic_space(%m: memref<64xf32>, %v: vector<1xf32>, %i: index) {
  // expected-error @+1 {{'tile_gpu.atomic_rmw' op needs global or workgroup memory, got 'memref<64xf32>'}}
  tile_gpu.atomic_rmw addf %v, %m[%i] order(relaxed) scope(device) : vector<1xf32>, memref<64xf32>
  return
}

// -----

func.func @window_space(%m: memref<64xf32, #gpu.address_space<workgroup>>, %v: vector<1xf32>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_atomic_rmw' op needs global memory, got 'memref<64xf32, #gpu.address_space<workgroup>>'}}
  tile_gpu.buffer_atomic_rmw addf %v, %m[%i], %o {window = 256} : vector<1xf32>, memref<64xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @window_size(%m: memref<64xf32, #gpu.address_space<global>>, %v: vector<1xf32>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_atomic_rmw' op has a window of 2147483648 bytes; offsets reach less than 2^31}}
  tile_gpu.buffer_atomic_rmw addf %v, %m[%i], %o {window = 2147483648} : vector<1xf32>, memref<64xf32, #gpu.address_space<global>>
  return
}

// -----

func.func @window_kind(%m: memref<64xf32, #gpu.address_space<global>>, %v: vector<1xf32>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_atomic_rmw' op has no kind ori for elements of type 'f32'}}
  tile_gpu.buffer_atomic_rmw ori %v, %m[%i], %o {window = 256} : vector<1xf32>, memref<64xf32, #gpu.address_space<global>>
  return
}

// -----

func.func @atomic_result(%m: memref<64xf32, #gpu.address_space<global>>, %v: vector<2xf32>, %i: index) {
  // expected-error @+1 {{'tile_gpu.atomic_rmw' op returns 'vector<1xf32>' for 'vector<2xf32>'}}
  %old = tile_gpu.atomic_rmw addf %v, %m[%i] order(relaxed) scope(device) : vector<2xf32>, memref<64xf32, #gpu.address_space<global>> -> vector<1xf32>
  return
}

// -----

func.func @not_of_one_warp(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.mma' op names "wgmma.m64k16.f16", which is no instruction of one warp}}
  tile_gpu.mma "wgmma.m64k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return
}

// -----

func.func @not_of_four_warps(%a: vector<8xf16>, %b: i64, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.wgmma' op names "mma.m16n8k16.f16", which is no instruction of four warps}}
  tile_gpu.wgmma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf32>
  return
}

// -----

func.func @wgmma_columns(%a: vector<8xf16>, %b: i64, %c: vector<256xf32>) {
  // expected-error @+1 {{'tile_gpu.wgmma' op accumulates a multiple of 8 columns up to 256, 4 registers for each 8, got 'vector<256xf32>'}}
  tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %c : vector<8xf16>, vector<256xf32>
  return
}

// -----

func.func @wgmma_a(%a: vector<4xf16>, %b: i64, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.wgmma' op takes 'vector<8xf16>' or a descriptor as a of "wgmma.m64k16.f16", got 'vector<4xf16>'}}
  tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %c : vector<4xf16>, vector<4xf32>
  return
}

// -----

func.func @wgmma_major(%a: vector<8xf16>, %b: i64, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.wgmma' op has a in registers, where nothing is major}}
  tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %c {a_mn_major} : vector<8xf16>, vector<4xf32>
  return
}

// -----

func.func @descriptor_space(%m: memref<64xf16, #gpu.address_space<global>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.matrix_descriptor' op needs memory in #gpu.address_space<workgroup>}}
  %d = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64} : memref<64xf16, #gpu.address_space<global>>
  return
}
