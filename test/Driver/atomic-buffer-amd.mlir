// The buffer form of atomics, for every element type that a chip supports. A
// mask is an offset outside the window, without a branch. Base and window are
// in scalar registers, small offsets in the instruction.

// RUN: split-file %s %t
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %t/all.mlir -o %t/90a && llvm-objdump -d %t/90a | FileCheck %s --check-prefixes=ALL,GFX9
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %t/all.mlir -o %t/942 && llvm-objdump -d %t/942 | FileCheck %s --check-prefixes=ALL,GFX9
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %t/all.mlir -o %t/950 && llvm-objdump -d %t/950 | FileCheck %s --check-prefixes=ALL,GFX9
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %t/all.mlir -o %t/1100 && llvm-objdump -d %t/1100 | FileCheck %s --check-prefixes=ALL,GFX11
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %t/all.mlir -o %t/1201 && llvm-objdump -d %t/1201 | FileCheck %s --check-prefixes=ALL,GFX12
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %t/f16.mlir -o %t/90a && llvm-objdump -d %t/90a | FileCheck %s --check-prefix=F16
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %t/f16.mlir -o %t/942 && llvm-objdump -d %t/942 | FileCheck %s --check-prefix=F16
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %t/f16.mlir -o %t/1201 && llvm-objdump -d %t/1201 | FileCheck %s --check-prefix=F16
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %t/bf16.mlir -o %t/950 && llvm-objdump -d %t/950 | FileCheck %s --check-prefix=BF16
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %t/bf16.mlir -o %t/1201 && llvm-objdump -d %t/1201 | FileCheck %s --check-prefix=BF16
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %t/f64.mlir -o %t/90a && llvm-objdump -d %t/90a | FileCheck %s --check-prefix=F64
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %t/f64.mlir -o %t/950 && llvm-objdump -d %t/950 | FileCheck %s --check-prefix=F64
// RUN: not tile-translate --tile-to-hsaco --chip=gfx1100 %t/f16.mlir 2>&1 | FileCheck %s --check-prefix=NO-F16
// RUN: not tile-translate --tile-to-hsaco --chip=gfx942 %t/bf16.mlir 2>&1 | FileCheck %s --check-prefix=NO-BF16
// RUN: not tile-translate --tile-to-hsaco --chip=gfx1201 %t/f64.mlir 2>&1 | FileCheck %s --check-prefix=NO-F64
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %t/tile.mlir -o %t/942 && llvm-objdump -d %t/942 | FileCheck %s --check-prefix=TILE
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %t/tile.mlir -o %t/1100 && llvm-objdump -d %t/1100 | FileCheck %s --check-prefix=TILE

// NO-F16: f16.mlir:8:5: error: 'tile_gpu.buffer_atomic_rmw' op combines 'vector<2xf16>' at once within a window; gfx1100 has no such instruction
// NO-BF16: error: 'tile_gpu.buffer_atomic_rmw' op combines 'vector<2xbf16>' at once within a window; gfx942 has no such instruction
// NO-F64: error: 'tile_gpu.buffer_atomic_rmw' op combines 'vector<1xf64>' at once within a window; gfx1201 has no such instruction

//--- all.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  // ALL-LABEL: <f32>:
  // GFX9-DAG: s_mov_b32 s{{[0-9]+}}, 0x27000
  // GFX11-DAG: s_mov_b32 s{{[0-9]+}}, 0x31027000
  // GFX12-DAG: s_mov_b32 s{{[0-9]+}}, 0x31027000
  // ALL-DAG: s_movk_i32 s{{[0-9]+}}, 0x1000
  // ALL-NOT: exec
  // GFX9: buffer_atomic_add_f32 v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}], 0 offen offset:256{{ +//}}
  // GFX11: buffer_atomic_add_f32 v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}], 0 offen offset:256{{ +//}}
  // GFX12: buffer_atomic_add_f32 v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}], null offen offset:256 scope:SCOPE_DEV
  // ALL: s_endpgm
  gpu.func @f32(%g: memref<?xf32, #global>, %base: index, %count: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = vector.load %g[%i] {alignment = 4} : memref<?xf32, #global>, vector<1xf32>
    %t = arith.index_castui %i : index to i32
    %c4 = arith.constant 4 : i32
    %c256 = arith.constant 256 : i32
    %outside = arith.constant -2147483648 : i32
    %bytes = arith.muli %t, %c4 : i32
    %in = arith.cmpi ult, %t, %count : i32
    %first = arith.select %in, %bytes, %outside : i32
    %offset = arith.addi %first, %c256 : i32
    tile_gpu.buffer_atomic_rmw addf %v, %g[%base], %first {window = 4096} : vector<1xf32>, memref<?xf32, #global>
    tile_gpu.buffer_atomic_rmw addf %v, %g[%base], %offset {window = 4096} : vector<1xf32>, memref<?xf32, #global>
    gpu.return
  }

  // ALL-LABEL: <integers>:
  // GFX9: buffer_atomic_add v
  // GFX9: buffer_atomic_smax v
  // GFX9: buffer_atomic_umin_x2 v
  // GFX9: buffer_atomic_or_x2 v
  // GFX11: buffer_atomic_add_u32
  // GFX11: buffer_atomic_max_i32
  // GFX11: buffer_atomic_min_u64
  // GFX11: buffer_atomic_or_b64
  // GFX12: buffer_atomic_add_u32 {{.*}} scope:SCOPE_DEV
  // GFX12: buffer_atomic_max_i32 {{.*}} scope:SCOPE_DEV
  // GFX12: buffer_atomic_min_u64 {{.*}} scope:SCOPE_DEV
  // GFX12: buffer_atomic_or_b64 {{.*}} scope:SCOPE_DEV
  gpu.func @integers(%a: memref<?xi32, #global>, %b: memref<?xi64, #global>, %offset: i32) kernel {
    %c0 = arith.constant 0 : index
    %v = vector.load %a[%c0] : memref<?xi32, #global>, vector<1xi32>
    %w = vector.load %b[%c0] : memref<?xi64, #global>, vector<1xi64>
    tile_gpu.buffer_atomic_rmw addi %v, %a[%c0], %offset {window = 64} : vector<1xi32>, memref<?xi32, #global>
    tile_gpu.buffer_atomic_rmw maxs %v, %a[%c0], %offset {window = 64} : vector<1xi32>, memref<?xi32, #global>
    tile_gpu.buffer_atomic_rmw minu %w, %b[%c0], %offset {window = 64} : vector<1xi64>, memref<?xi64, #global>
    tile_gpu.buffer_atomic_rmw ori %w, %b[%c0], %offset {window = 64} : vector<1xi64>, memref<?xi64, #global>
    gpu.return
  }
}

//--- f16.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  // F16-LABEL: <f16>:
  // F16: buffer_atomic_pk_add_f16
  gpu.func @f16(%g: memref<?xf16, #global>, %offset: i32) kernel {
    %c0 = arith.constant 0 : index
    %v = vector.load %g[%c0] {alignment = 4} : memref<?xf16, #global>, vector<2xf16>
    tile_gpu.buffer_atomic_rmw addf %v, %g[%c0], %offset {window = 64} : vector<2xf16>, memref<?xf16, #global>
    gpu.return
  }
}

//--- bf16.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  // BF16-LABEL: <bf16>:
  // BF16: buffer_atomic_pk_add_bf16
  gpu.func @bf16(%g: memref<?xbf16, #global>, %offset: i32) kernel {
    %c0 = arith.constant 0 : index
    %v = vector.load %g[%c0] {alignment = 4} : memref<?xbf16, #global>, vector<2xbf16>
    tile_gpu.buffer_atomic_rmw addf %v, %g[%c0], %offset {window = 64} : vector<2xbf16>, memref<?xbf16, #global>
    gpu.return
  }
}

//--- f64.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  // F64-LABEL: <f64>:
  // F64: buffer_atomic_add_f64
  gpu.func @f64(%g: memref<?xf64, #global>, %offset: i32) kernel {
    %c0 = arith.constant 0 : index
    %v = vector.load %g[%c0] : memref<?xf64, #global>, vector<1xf64>
    tile_gpu.buffer_atomic_rmw addf %v, %g[%c0], %offset {window = 64} : vector<1xf64>, memref<?xf64, #global>
    gpu.return
  }
}

// A tile program: the rows of 80 bytes are masked by an offset, none by a
// branch, and the descriptor needs no loop over the lanes of a wave, because
// the head and the block are the same for all.
//--- tile.mlir
!heads = !tile.buffer<?x?x16xf32, #tile.strided<[?:4, 20, 1], align = 16>, global>
!dst = !tile.buffer<?x16xf32, #tile.strided<[20, 1], align = 16>, global>
// TILE-LABEL: <add>:
// TILE-NOT: exec
// TILE: v_cndmask_b32
// TILE-NOT: exec
// TILE: buffer_atomic_add_f32
// TILE-NOT: {{exec|global_atomic}}
// TILE: s_endpgm
tile.kernel @add(%b: !heads) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rows = tile.dim %b[1] : !heads
  %heads = tile.dim %b[0] : !heads
  %blocks = arith.ceildivui %rows, %c16 : index
  tile.grid %blocks, %heads, %c1
  %x = tile.program_id x
  %h = tile.program_id y
  %i = arith.muli %x, %c16 : index
  %s = tile.slice %b[%h, *, *] : !heads to !dst
  %t = arith.constant dense<1.0> : tensor<16x16xf32>
  tile.atomic_rmw addf %t, %s[%i, %c0] : tensor<16x16xf32>, !dst
}
