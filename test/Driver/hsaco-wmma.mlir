// One wave multiplies 16x16 by 16x16 through LDS and writes exp2 of the
// product, on chips with WMMA. The fragments differ between gfx11 and gfx12:
// 16 elements a lane, each held twice, and 8.

// RUN: split-file %s %t
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %t/gfx11.mlir -o %t.gfx1100 --resources | FileCheck %s --check-prefix=RES
// RUN: llvm-readelf --notes --symbols %t.gfx1100 | FileCheck %s --check-prefixes=ELF,GFX1100
// RUN: llvm-objdump -d %t.gfx1100 | FileCheck %s --check-prefix=ASM
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %t/gfx12.mlir -o %t.gfx1201 --resources | FileCheck %s --check-prefix=RES
// RUN: llvm-readelf --notes --symbols %t.gfx1201 | FileCheck %s --check-prefixes=ELF,GFX1201
// RUN: llvm-objdump -d %t.gfx1201 | FileCheck %s --check-prefix=ASM

// RES: {"argument_bytes":{{[0-9]+}},"loops":[],"name":"product","registers":{{[0-9]+}},"scalar_registers":{{[0-9]+}},"shared_bytes":512,"spill_bytes":0,"stack_bytes":0,"wave_size":32,"waves_per_simd":{{[0-9]+}}}

// ELF-DAG: product{{$}}
// ELF-DAG: product.kd
// ELF: amdhsa.kernels:
// ELF: .group_segment_fixed_size: 512
// ELF: .max_flat_workgroup_size: 32
// ELF: .wavefront_size: 32
// GFX1100: amdhsa.target: {{.*}}gfx1100
// GFX1201: amdhsa.target: {{.*}}gfx1201

// ASM: ds_store_b128
// A barrier of one wave is none.
// ASM-NOT: s_barrier
// ASM: ds_load_b128
// ASM: v_wmma_f32_16x16x16_f16
// ASM-COUNT-8: v_exp_f32
// ASM-NOT: v_exp_f32
// ASM: s_endpgm

//--- gfx11.mlir
#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @product {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 512 : i64,
      params = []}
  gpu.func @product(%a: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %b: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %c: memref<?xf32, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %stride: index)
      workgroup(%lds: memref<512xi8, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %lane = gpu.thread_id x
    %as = memref.view %lds[%c0][] : memref<512xi8, #shared> to memref<16x16xf16, #shared>
    %half = arith.remui %lane, %c2 : index
    %row = arith.divui %lane, %c2 : index
    %col = arith.muli %half, %c8 : index
    %arow = arith.muli %row, %stride : index
    %from = arith.addi %arow, %col : index
    %x = vector.load %a[%from] {alignment = 16 : i64} : memref<?xf16, #global>, vector<8xf16>
    vector.store %x, %as[%row, %col] {alignment = 16 : i64} : memref<16x16xf16, #shared>, vector<8xf16>
    gpu.barrier

    %r = arith.remui %lane, %c16 : index
    %av = vector.load %as[%r, %c0] {alignment = 16 : i64} : memref<16x16xf16, #shared>, vector<16xf16>
    %brow = arith.muli %r, %c16 : index
    %bv = vector.load %b[%brow] {alignment = 16 : i64} : memref<?xf16, #global>, vector<16xf16>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %d = amdgpu.wmma 16x16x16 %av * %bv + %zero : vector<16xf16>, vector<16xf16>, vector<8xf32>
    %e = math.exp2 %d : vector<8xf32>
    %to = arith.muli %lane, %c8 : index
    vector.store %e, %c[%to] {alignment = 16 : i64} : memref<?xf32, #global>, vector<8xf32>
    gpu.return
  }
}

//--- gfx12.mlir
#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @product {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 512 : i64,
      params = []}
  gpu.func @product(%a: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %b: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %c: memref<?xf32, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %stride: index)
      workgroup(%lds: memref<512xi8, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %lane = gpu.thread_id x
    %as = memref.view %lds[%c0][] : memref<512xi8, #shared> to memref<16x16xf16, #shared>
    %half = arith.remui %lane, %c2 : index
    %row = arith.divui %lane, %c2 : index
    %col = arith.muli %half, %c8 : index
    %arow = arith.muli %row, %stride : index
    %from = arith.addi %arow, %col : index
    %x = vector.load %a[%from] {alignment = 16 : i64} : memref<?xf16, #global>, vector<8xf16>
    vector.store %x, %as[%row, %col] {alignment = 16 : i64} : memref<16x16xf16, #shared>, vector<8xf16>
    gpu.barrier

    %r = arith.remui %lane, %c16 : index
    %h = arith.divui %lane, %c16 : index
    %k = arith.muli %h, %c8 : index
    %av = vector.load %as[%r, %k] {alignment = 16 : i64} : memref<16x16xf16, #shared>, vector<8xf16>
    %brow = arith.muli %r, %c16 : index
    %bfrom = arith.addi %brow, %k : index
    %bv = vector.load %b[%bfrom] {alignment = 16 : i64} : memref<?xf16, #global>, vector<8xf16>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %d = amdgpu.wmma 16x16x16 %av * %bv + %zero : vector<8xf16>, vector<8xf16>, vector<8xf32>
    %e = math.exp2 %d : vector<8xf32>
    %to = arith.muli %lane, %c8 : index
    vector.store %e, %c[%to] {alignment = 16 : i64} : memref<?xf32, #global>, vector<8xf32>
    gpu.return
  }
}
