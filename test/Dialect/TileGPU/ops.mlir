// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --verify-roundtrip -o %t

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

// CHECK-LABEL: func @mma
func.func @mma(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK: tile_gpu.mma "mma.m16n8k16.f16" %{{.+}}, %{{.+}}, %{{.+}} : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func @atomic
func.func @atomic(%g: memref<?xf32, #global>, %s: memref<64xi64, #shared>,
                  %v: vector<4xf32>, %n: vector<1xi64>, %i: index, %o: i32) -> vector<1xi64> {
  // CHECK: tile_gpu.atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}] order(relaxed) scope(device) : vector<4xf32>, memref<?xf32, #gpu.address_space<global>>{{$}}
  tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<4xf32>, memref<?xf32, #global>
  // CHECK: tile_gpu.atomic_rmw maxs %{{.+}}, %{{.+}}[%{{.+}}] order(acq_rel) scope(block) : vector<1xi64>, memref<64xi64, #gpu.address_space<workgroup>> -> vector<1xi64>
  %old = tile_gpu.atomic_rmw maxs %n, %s[%i] order(acq_rel) scope(block) : vector<1xi64>, memref<64xi64, #shared> -> vector<1xi64>
  // CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}], %{{.+}} {window = 4096 : i64} : vector<4xf32>, memref<?xf32, #gpu.address_space<global>>
  tile_gpu.buffer_atomic_rmw addf %v, %g[%i], %o {window = 4096} : vector<4xf32>, memref<?xf32, #global>
  // CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}], %{{.+}} + %{{.+}} {window = 4096 : i64}
  tile_gpu.buffer_atomic_rmw addf %v, %g[%i], %o + %o {window = 4096} : vector<4xf32>, memref<?xf32, #global>
  // CHECK: %[[X:.+]] = tile_gpu.buffer_load %{{.+}}[%{{.+}}], %{{.+}} {window = 4096 : i64} : memref<?xf32, #gpu.address_space<global>>, vector<4xf32>
  %x = tile_gpu.buffer_load %g[%i], %o {window = 4096} : memref<?xf32, #global>, vector<4xf32>
  // CHECK: tile_gpu.buffer_store %[[X]], %{{.+}}[%{{.+}}], %{{.+}} + %{{.+}} {window = 4096 : i64} : vector<4xf32>, memref<?xf32, #gpu.address_space<global>>
  tile_gpu.buffer_store %x, %g[%i], %o + %o {window = 4096} : vector<4xf32>, memref<?xf32, #global>
  return %old : vector<1xi64>
}

// CHECK-LABEL: func @wgmma
func.func @wgmma(%m: memref<4096xf16, #shared>, %i: index, %a: vector<8xf16>,
                 %c: vector<64xf32>) -> vector<64xf32> {
  // CHECK: tile_gpu.matrix_descriptor %{{.+}}[%{{.+}}] {bits = 64 : i64} : memref<4096xf16, #gpu.address_space<workgroup>>
  %b = tile_gpu.matrix_descriptor %m[%i] {bits = 64 : i64} : memref<4096xf16, #shared>
  // CHECK: %{{.+}}:2 = tile_gpu.wgmma_fence %{{.+}}, %{{.+}} : vector<8xf16>, vector<64xf32>
  %f:2 = tile_gpu.wgmma_fence %a, %c : vector<8xf16>, vector<64xf32>
  // CHECK: tile_gpu.wgmma "wgmma.m64k16.f16" %{{.+}}, %{{.+}}, %{{.+}} {b_mn_major} : vector<8xf16>, vector<64xf32>
  %d = tile_gpu.wgmma "wgmma.m64k16.f16" %f#0, %b, %f#1 {b_mn_major} : vector<8xf16>, vector<64xf32>
  // CHECK: tile_gpu.wgmma "wgmma.m64k16.f16" %{{.+}}, %{{.+}}, %{{.+}} {a_mn_major, zero} : i64, vector<64xf32>
  %e = tile_gpu.wgmma "wgmma.m64k16.f16" %b, %b, %d {zero, a_mn_major} : i64, vector<64xf32>
  // CHECK: tile_gpu.wgmma_wait 0, %{{.+}} : vector<64xf32>
  %w = tile_gpu.wgmma_wait 0, %e : vector<64xf32>
  return %w : vector<64xf32>
}
