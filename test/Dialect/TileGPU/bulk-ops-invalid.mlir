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
