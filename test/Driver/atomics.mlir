// One element of every type into global and into shared memory, for the chips
// that differ, and what the order and the scope become.

// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s | FileCheck %s --check-prefixes=PTX,SM80
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %s | FileCheck %s --check-prefixes=PTX,SM90
// RUN: tile-translate --tile-to-ptx --chip=sm_120a %s | FileCheck %s --check-prefixes=PTX,SM90
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %s -o %t.90a && llvm-objdump -d %t.90a | FileCheck %s --check-prefix=GFX90A
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %s -o %t.942 && llvm-objdump -d %t.942 | FileCheck %s --check-prefixes=GFX942
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %s -o %t.1100 && llvm-objdump -d %t.1100 | FileCheck %s --check-prefixes=GFX11
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %s -o %t.1201 && llvm-objdump -d %t.1201 | FileCheck %s --check-prefixes=GFX12

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  // PTX-LABEL: .entry add_f16(
  // GFX942-LABEL: <add_f16>:
  // GFX11-LABEL: <add_f16>:
  // GFX12-LABEL: <add_f16>:
  // PTX: atom.global.add.noftz.f16
  // GFX942: global_atomic_cmpswap
  // GFX11: global_atomic_cmpswap_b32
  // GFX12: global_atomic_cmpswap_b32
  // PTX: atom.shared.add.noftz.f16
  // GFX942: ds_cmpst
  // GFX11: ds_cmpstore
  // GFX12: ds_cmpstore
  gpu.func @add_f16(%g: memref<?xf16, #global>) workgroup(%s: memref<64xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] : memref<?xf16, #global>, vector<1xf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<1xf16>, memref<?xf16, #global>
    tile_gpu.atomic_rmw addf %v, %s[%i] order(relaxed) scope(device) : vector<1xf16>, memref<64xf16, #shared>
    gpu.return
  }

  // PTX-LABEL: .entry add_bf16(
  // GFX942-LABEL: <add_bf16>:
  // GFX11-LABEL: <add_bf16>:
  // GFX12-LABEL: <add_bf16>:
  // SM80: atom.relaxed.gpu.global.cas.b32
  // SM90: atom.global.add.noftz.bf16
  // GFX942: global_atomic_cmpswap
  // GFX11: global_atomic_cmpswap_b32
  // GFX12: global_atomic_cmpswap_b32
  // SM80: atom.relaxed.gpu.shared.cas.b32
  // SM90: atom.shared.add.noftz.bf16
  // GFX942: ds_cmpst
  // GFX11: ds_cmpstore
  // GFX12: ds_cmpstore
  gpu.func @add_bf16(%g: memref<?xbf16, #global>) workgroup(%s: memref<64xbf16, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] : memref<?xbf16, #global>, vector<1xbf16>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<1xbf16>, memref<?xbf16, #global>
    tile_gpu.atomic_rmw addf %v, %s[%i] order(relaxed) scope(device) : vector<1xbf16>, memref<64xbf16, #shared>
    gpu.return
  }

  // PTX-LABEL: .entry add_f32(
  // GFX90A-LABEL: <add_f32>:
  // GFX90A: global_atomic_add_f32
  // GFX90A: ds_add_f32
  // GFX942-LABEL: <add_f32>:
  // GFX11-LABEL: <add_f32>:
  // GFX12-LABEL: <add_f32>:
  // PTX: atom.global.add.f32
  // GFX942: global_atomic_add_f32
  // GFX11: global_atomic_add_f32
  // GFX12: global_atomic_add_f32
  // PTX: atom.shared.add.f32
  // GFX942: ds_add_f32
  // GFX11: ds_add_f32
  // GFX12: ds_add_f32
  gpu.func @add_f32(%g: memref<?xf32, #global>) workgroup(%s: memref<64xf32, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] : memref<?xf32, #global>, vector<1xf32>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<1xf32>, memref<?xf32, #global>
    tile_gpu.atomic_rmw addf %v, %s[%i] order(relaxed) scope(device) : vector<1xf32>, memref<64xf32, #shared>
    gpu.return
  }

  // PTX-LABEL: .entry add_f64(
  // GFX90A-LABEL: <add_f64>:
  // GFX90A: global_atomic_add_f64
  // GFX90A: ds_add_f64
  // GFX942-LABEL: <add_f64>:
  // GFX11-LABEL: <add_f64>:
  // GFX12-LABEL: <add_f64>:
  // PTX: atom.global.add.f64
  // GFX942: global_atomic_add_f64
  // GFX11: global_atomic_cmpswap_b64
  // GFX12: global_atomic_cmpswap_b64
  // PTX: atom.shared.add.f64
  // GFX942: ds_add_f64
  // GFX11: ds_cmpstore
  // GFX12: ds_cmpstore
  gpu.func @add_f64(%g: memref<?xf64, #global>) workgroup(%s: memref<64xf64, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] : memref<?xf64, #global>, vector<1xf64>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(relaxed) scope(device) : vector<1xf64>, memref<?xf64, #global>
    tile_gpu.atomic_rmw addf %v, %s[%i] order(relaxed) scope(device) : vector<1xf64>, memref<64xf64, #shared>
    gpu.return
  }

  // PTX-LABEL: .entry add_i32(
  // GFX942-LABEL: <add_i32>:
  // GFX11-LABEL: <add_i32>:
  // GFX12-LABEL: <add_i32>:
  // PTX: atom.global.add.u32
  // GFX942: global_atomic_add 
  // GFX11: global_atomic_add_u32
  // GFX12: global_atomic_add_u32
  // PTX: atom.shared.add.u32
  // GFX942: ds_add_u32
  // GFX11: ds_add_u32
  // GFX12: ds_add_u32
  gpu.func @add_i32(%g: memref<?xi32, #global>) workgroup(%s: memref<64xi32, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] : memref<?xi32, #global>, vector<1xi32>
    tile_gpu.atomic_rmw addi %v, %g[%i] order(relaxed) scope(device) : vector<1xi32>, memref<?xi32, #global>
    tile_gpu.atomic_rmw addi %v, %s[%i] order(relaxed) scope(device) : vector<1xi32>, memref<64xi32, #shared>
    gpu.return
  }

  // PTX-LABEL: .entry add_i64(
  // GFX942-LABEL: <add_i64>:
  // GFX11-LABEL: <add_i64>:
  // GFX12-LABEL: <add_i64>:
  // PTX: atom.global.max.s64
  // GFX942: global_atomic_smax_x2
  // GFX11: global_atomic_max_i64
  // GFX12: global_atomic_max_i64
  // PTX: atom.shared.max.s64
  // GFX942: ds_max_i64
  // GFX11: ds_max_i64
  // GFX12: ds_max_i64
  gpu.func @add_i64(%g: memref<?xi64, #global>) workgroup(%s: memref<64xi64, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] : memref<?xi64, #global>, vector<1xi64>
    tile_gpu.atomic_rmw maxs %v, %g[%i] order(relaxed) scope(device) : vector<1xi64>, memref<?xi64, #global>
    tile_gpu.atomic_rmw maxs %v, %s[%i] order(relaxed) scope(device) : vector<1xi64>, memref<64xi64, #shared>
    gpu.return
  }

  // The old value, the order and the scope are kept.
  // PTX-LABEL: .entry ordered(
  // PTX: atom.acq_rel.sys.global.add.f32
  // PTX: red.release.gpu.global.add.f32
  // PTX: atom.relaxed.cta.shared.or.b32
  // PTX: red.relaxed.cta.shared.or.b32
  // GFX942-LABEL: <ordered>:
  // GFX942: buffer_wbl2 sc0 sc1
  // GFX942: global_atomic_add_f32 {{.*}} sc0
  // GFX942: buffer_inv sc0 sc1
  // GFX942: buffer_wbl2 sc1
  // GFX942: ds_or_rtn_b32
  // GFX942: ds_or_b32
  gpu.func @ordered(%g: memref<?xf32, #global>, %o: memref<?xi32, #global>) workgroup(%s: memref<64xi32, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] : memref<?xf32, #global>, vector<1xf32>
    %n = vector.load %o[%i] : memref<?xi32, #global>, vector<1xi32>
    %a = tile_gpu.atomic_rmw addf %v, %g[%i] order(acq_rel) scope(system) : vector<1xf32>, memref<?xf32, #global> -> vector<1xf32>
    vector.store %a, %g[%i] : memref<?xf32, #global>, vector<1xf32>
    tile_gpu.atomic_rmw addf %v, %g[%i] order(release) scope(device) : vector<1xf32>, memref<?xf32, #global>
    %b = tile_gpu.atomic_rmw ori %n, %s[%i] order(relaxed) scope(block) : vector<1xi32>, memref<64xi32, #shared> -> vector<1xi32>
    vector.store %b, %o[%i] : memref<?xi32, #global>, vector<1xi32>
    tile_gpu.atomic_rmw ori %n, %s[%i] order(relaxed) scope(block) : vector<1xi32>, memref<64xi32, #shared>
    gpu.return
  }
}
