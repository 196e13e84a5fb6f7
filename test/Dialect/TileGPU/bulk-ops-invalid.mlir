// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @global(%m: memref<?xf16, #gpu.address_space<global>>, %i: index, %map: !llvm.ptr, %x: i32, %e: i1) {
  // expected-error @below {{'tile_gpu.bulk_store' op needs memory in #gpu.address_space<workgroup>, got 'memref<?xf16, #gpu.address_space<global>>'}}
  tile_gpu.bulk_store %m[%i], %map[%x] if %e : memref<?xf16, #gpu.address_space<global>>, !llvm.ptr
  return
}

// -----

func.func @rank(%m: memref<?xf16, #gpu.address_space<workgroup>>, %i: index, %map: !llvm.ptr, %x: i32, %e: i1) {
  // expected-error @below {{'tile_gpu.bulk_store' op needs 1 to 5 coordinates, got 6}}
  tile_gpu.bulk_store %m[%i], %map[%x, %x, %x, %x, %x, %x] if %e : memref<?xf16, #gpu.address_space<workgroup>>, !llvm.ptr
  return
}

// -----

func.func @element(%m: memref<?xf64, #gpu.address_space<workgroup>>, %i: index, %map: !llvm.ptr, %x: i32, %e: i1) {
  // expected-error @below {{'tile_gpu.bulk_reduce' op adds elements of f16, bf16 or f32, got 'f64'}}
  tile_gpu.bulk_reduce add %m[%i], %map[%x] if %e : memref<?xf64, #gpu.address_space<workgroup>>, !llvm.ptr
  return
}

// -----

func.func @nowhere(%map: !llvm.ptr) {
  // expected-error @below {{'tile_gpu.bulk_prefetch' op needs 1 to 5 coordinates, got 0}}
  tile_gpu.bulk_prefetch %map[] : !llvm.ptr
  return
}

// -----

func.func @add_space(%m: memref<?xf32, #gpu.address_space<global>>, %i: index, %x: i1) {
  // expected-error @+1 {{'tile_gpu.bulk_add' op needs the source in #gpu.address_space<workgroup>}}
  tile_gpu.bulk_add %m[%i], %m[%i], 64 if %x : memref<?xf32, #gpu.address_space<global>>, memref<?xf32, #gpu.address_space<global>>
  return
}

// -----

func.func @add_destination(%m: memref<?xf32, #gpu.address_space<workgroup>>, %i: index, %x: i1) {
  // expected-error @+1 {{'tile_gpu.bulk_add' op needs the destination in #gpu.address_space<global>}}
  tile_gpu.bulk_add %m[%i], %m[%i], 64 if %x : memref<?xf32, #gpu.address_space<workgroup>>, memref<?xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @add_elements(%m: memref<?xi32, #gpu.address_space<workgroup>>, %g: memref<?xi32, #gpu.address_space<global>>, %i: index, %x: i1) {
  // expected-error @+1 {{'tile_gpu.bulk_add' op adds floats to such of the same type, got 'i32' and 'i32'}}
  tile_gpu.bulk_add %m[%i], %g[%i], 64 if %x : memref<?xi32, #gpu.address_space<workgroup>>, memref<?xi32, #gpu.address_space<global>>
  return
}

// -----

func.func @add_count(%m: memref<?xf16, #gpu.address_space<workgroup>>, %g: memref<?xf16, #gpu.address_space<global>>, %i: index, %x: i1) {
  // expected-error @+1 {{'tile_gpu.bulk_add' op adds multiples of 16 bytes, got 12 elements of 'f16'}}
  tile_gpu.bulk_add %m[%i], %g[%i], 12 if %x : memref<?xf16, #gpu.address_space<workgroup>>, memref<?xf16, #gpu.address_space<global>>
  return
}
