// Vector atomics of sm_90a. Chips/Atomics.h has the rows.

// RUN: tile-translate --tile-to-ptx --chip=sm_90a %s | FileCheck %s --check-prefix=SM90
// RUN: %if ptxas %{ tile-translate --tile-to-ptx --chip=sm_90a %s -o %t.ptx && %ptxas -arch=sm_90a %t.ptx -o /dev/null %}
// RUN: %if ptxas %{ tile-translate --tile-to-ptx --chip=sm_80 %S/atomics.mlir -o %t.80.ptx && %ptxas -arch=sm_80 %t.80.ptx -o /dev/null %}

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  // SM90-LABEL: .entry f32x2(
  // SM90: red.global.add.v2.f32 [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.global.add.v2.f32 {%r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.acquire.gpu.global.add.v2.f32 {%r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
  gpu.func @f32x2(%g: memref<?xf32, #global>, %i: index) kernel {
    %v = vector.load %g[%i] {alignment = 16} : memref<?xf32, #global>, vector<2xf32>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xf32>, memref<?xf32, #global>
    %old = tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xf32>, memref<?xf32, #global> -> vector<2xf32>
    vector.store %old, %g[%i] {alignment = 16} : memref<?xf32, #global>, vector<2xf32>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(acquire) scope(device) : vector<2xf32>, memref<?xf32, #global>
    gpu.return
  }

  // SM90-LABEL: .entry f32x4(
  // SM90: red.global.add.v4.f32 [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.global.add.v4.f32 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.acquire.gpu.global.add.v4.f32 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  gpu.func @f32x4(%g: memref<?xf32, #global>, %i: index) kernel {
    %v = vector.load %g[%i] {alignment = 16} : memref<?xf32, #global>, vector<4xf32>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<4xf32>, memref<?xf32, #global>
    %old = tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<4xf32>, memref<?xf32, #global> -> vector<4xf32>
    vector.store %old, %g[%i] {alignment = 16} : memref<?xf32, #global>, vector<4xf32>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(acquire) scope(device) : vector<4xf32>, memref<?xf32, #global>
    gpu.return
  }

  // SM90-LABEL: .entry f16x2(
  // SM90: red.global.add.noftz.f16x2 [%rd{{[0-9]+}}], %r{{[0-9]+}};
  // SM90: atom.global.add.noftz.f16x2 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
  // SM90: atom.acquire.gpu.global.add.noftz.f16x2 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
  gpu.func @f16x2(%g: memref<?xf16, #global>, %i: index) kernel {
    %v = vector.load %g[%i] {alignment = 16} : memref<?xf16, #global>, vector<2xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xf16>, memref<?xf16, #global>
    %old = tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xf16>, memref<?xf16, #global> -> vector<2xf16>
    vector.store %old, %g[%i] {alignment = 16} : memref<?xf16, #global>, vector<2xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(acquire) scope(device) : vector<2xf16>, memref<?xf16, #global>
    gpu.return
  }

  // SM90-LABEL: .entry f16x4(
  // SM90: red.global.add.noftz.v2.f16x2 [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.global.add.noftz.v2.f16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.acquire.gpu.global.add.noftz.v2.f16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
  gpu.func @f16x4(%g: memref<?xf16, #global>, %i: index) kernel {
    %v = vector.load %g[%i] {alignment = 16} : memref<?xf16, #global>, vector<4xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<4xf16>, memref<?xf16, #global>
    %old = tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<4xf16>, memref<?xf16, #global> -> vector<4xf16>
    vector.store %old, %g[%i] {alignment = 16} : memref<?xf16, #global>, vector<4xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(acquire) scope(device) : vector<4xf16>, memref<?xf16, #global>
    gpu.return
  }

  // SM90-LABEL: .entry f16x8(
  // SM90: red.global.add.noftz.v4.f16x2 [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.global.add.noftz.v4.f16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.acquire.gpu.global.add.noftz.v4.f16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  gpu.func @f16x8(%g: memref<?xf16, #global>, %i: index) kernel {
    %v = vector.load %g[%i] {alignment = 16} : memref<?xf16, #global>, vector<8xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<8xf16>, memref<?xf16, #global>
    %old = tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<8xf16>, memref<?xf16, #global> -> vector<8xf16>
    vector.store %old, %g[%i] {alignment = 16} : memref<?xf16, #global>, vector<8xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(acquire) scope(device) : vector<8xf16>, memref<?xf16, #global>
    gpu.return
  }

  // SM90-LABEL: .entry bf16x2(
  // SM90: red.global.add.noftz.bf16x2 [%rd{{[0-9]+}}], %r{{[0-9]+}};
  // SM90: atom.global.add.noftz.bf16x2 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
  // SM90: atom.acquire.gpu.global.add.noftz.bf16x2 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
  gpu.func @bf16x2(%g: memref<?xbf16, #global>, %i: index) kernel {
    %v = vector.load %g[%i] {alignment = 16} : memref<?xbf16, #global>, vector<2xbf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xbf16>, memref<?xbf16, #global>
    %old = tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<2xbf16>, memref<?xbf16, #global> -> vector<2xbf16>
    vector.store %old, %g[%i] {alignment = 16} : memref<?xbf16, #global>, vector<2xbf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(acquire) scope(device) : vector<2xbf16>, memref<?xbf16, #global>
    gpu.return
  }

  // SM90-LABEL: .entry bf16x8(
  // SM90: red.global.add.noftz.v4.bf16x2 [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.global.add.noftz.v4.bf16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  // SM90: atom.acquire.gpu.global.add.noftz.v4.bf16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  gpu.func @bf16x8(%g: memref<?xbf16, #global>, %i: index) kernel {
    %v = vector.load %g[%i] {alignment = 16} : memref<?xbf16, #global>, vector<8xbf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<8xbf16>, memref<?xbf16, #global>
    %old = tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<8xbf16>, memref<?xbf16, #global> -> vector<8xbf16>
    vector.store %old, %g[%i] {alignment = 16} : memref<?xbf16, #global>, vector<8xbf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(acquire) scope(device) : vector<8xbf16>, memref<?xbf16, #global>
    gpu.return
  }

  // SM90-LABEL: .entry pairs_in_shared(
  // SM90: red.shared.add.noftz.bf16x2 [%r{{[0-9]+}}], %r{{[0-9]+}};
  gpu.func @pairs_in_shared(%g: memref<?xbf16, #global>) workgroup(%s: memref<64xbf16, #shared>) kernel {
    %i = arith.constant 2 : index
    %v = vector.load %g[%i] {alignment = 4} : memref<?xbf16, #global>, vector<2xbf16>
    tile_gpu.atomic_rmw addf %v, %s[%i] order(relaxed) scope(device) : vector<2xbf16>, memref<64xbf16, #shared>
    gpu.return
  }
}
