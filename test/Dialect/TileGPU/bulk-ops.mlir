// RUN: tile-opt %s | tile-opt | FileCheck %s

!shared = memref<?xf16, #gpu.address_space<workgroup>>
!bars = memref<?xi64, #gpu.address_space<workgroup>>

// CHECK-LABEL: func @bulk
func.func @bulk(%m: !shared, %bars: !bars, %i: index, %map: !llvm.ptr, %x: i32, %y: i32,
                %g: memref<?xf16, #gpu.address_space<global>>) {
  // CHECK: tile_gpu.prefetch_map %{{.+}} : !llvm.ptr
  tile_gpu.prefetch_map %map : !llvm.ptr
  // CHECK: tile_gpu.bulk_prefetch %{{.+}}[%{{.+}}, %{{.+}}] : !llvm.ptr
  tile_gpu.bulk_prefetch %map[%x, %y] : !llvm.ptr
  // CHECK: tile_gpu.bulk_copy %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}] cache(evict_first) : memref
  tile_gpu.bulk_copy %map[%x, %y], %m[%i], %bars[%i] cache(evict_first) : !shared, !bars, !llvm.ptr
  // CHECK: %[[E:.+]] = tile_gpu.elect
  %e = tile_gpu.elect
  // CHECK: tile_gpu.bulk_store %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}] if %[[E]] cache(evict_last) : memref
  tile_gpu.bulk_store %m[%i], %map[%x, %y] if %e cache(evict_last) : !shared, !llvm.ptr
  // CHECK: tile_gpu.bulk_reduce add %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}] if %[[E]] : memref
  tile_gpu.bulk_reduce add %m[%i], %map[%x, %y] if %e : !shared, !llvm.ptr
  // CHECK: tile_gpu.bulk_add %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}], 1024 if %[[E]] : memref
  tile_gpu.bulk_add %m[%i], %g[%i], 1024 if %e : !shared, memref<?xf16, #gpu.address_space<global>>
  // CHECK: tile_gpu.bulk_commit
  tile_gpu.bulk_commit
  // CHECK: tile_gpu.bulk_wait 1 {read}
  tile_gpu.bulk_wait 1 {read}
  // CHECK: tile_gpu.bulk_wait 0{{$}}
  tile_gpu.bulk_wait 0
  return
}
