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
  // expected-error @+1 {{'tile_gpu.mma' op operand #2 must be fixed-length vector of 32-bit float or 32-bit signless integer values of ranks 1, but got 'vector<4xf16>'}}
  tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf16>
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

func.func @load_space(%m: memref<64xf32, #gpu.address_space<workgroup>>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_load' op needs global memory, got 'memref<64xf32, #gpu.address_space<workgroup>>'}}
  %v = tile_gpu.buffer_load %m[%i], %o {window = 256} : memref<64xf32, #gpu.address_space<workgroup>>, vector<1xf32>
  return
}

// -----

func.func @load_element(%m: memref<64xf32, #gpu.address_space<global>>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_load' op accesses elements of type 'f16' in 'memref<64xf32, #gpu.address_space<global>>'}}
  %v = tile_gpu.buffer_load %m[%i], %o {window = 256} : memref<64xf32, #gpu.address_space<global>>, vector<1xf16>
  return
}

// -----

func.func @load_map(%m: memref<64xf32, affine_map<(d0) -> (d0 * 2)>, #gpu.address_space<global>>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_load' op needs memory without a layout map, got}}
  %v = tile_gpu.buffer_load %m[%i], %o {window = 256} : memref<64xf32, affine_map<(d0) -> (d0 * 2)>, #gpu.address_space<global>>, vector<1xf32>
  return
}

// -----

func.func @load_width(%m: memref<64xf32, #gpu.address_space<global>>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_load' op accesses 'vector<3xf32>'; it must have 1, 2, 4, 8 or 16 bytes}}
  %v = tile_gpu.buffer_load %m[%i], %o {window = 256} : memref<64xf32, #gpu.address_space<global>>, vector<3xf32>
  return
}

// -----

func.func @store_window(%m: memref<64xf32, #gpu.address_space<global>>, %v: vector<1xf32>, %i: index, %o: i32) {
  // expected-error @+1 {{'tile_gpu.buffer_store' op has a window of 2147483648 bytes; offsets reach less than 2^31}}
  tile_gpu.buffer_store %v, %m[%i], %o {window = 2147483648} : vector<1xf32>, memref<64xf32, #gpu.address_space<global>>
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

func.func @wgmma_sum(%a: i64, %c: vector<8xf32>) {
  // expected-error @+1 {{'tile_gpu.wgmma' op accumulates 'i32' by "wgmma.m64k32.i8", got 'vector<8xf32>'}}
  tile_gpu.wgmma "wgmma.m64k32.i8" %a, %a, %c : i64, vector<8xf32>
  return
}

// -----

func.func @wgmma_bytes_major(%a: i64, %c: vector<8xi32>) {
  // expected-error @+1 {{'tile_gpu.wgmma' op has an operand that is not K-major, which "wgmma.m64k32.i8" does not read}}
  tile_gpu.wgmma "wgmma.m64k32.i8" %a, %a, %c {b_mn_major} : i64, vector<8xi32>
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

// -----

func.func @descriptor_strided(%m: memref<64xf16, strided<[2]>, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{'tile_gpu.matrix_descriptor' op needs memory without a layout map, got 'memref<64xf16, strided<[2]>, #gpu.address_space<workgroup>>'}}
  %d = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64} : memref<64xf16, strided<[2]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @wait_negative(%c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.wgmma_wait' op attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  %d = tile_gpu.wgmma_wait -1, %c : vector<4xf32>
  return
}
