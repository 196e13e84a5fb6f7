// One wave of 64 multiplies 16x16 by 16x16 on chips with MFMA.

// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %s -o %t.gfx942 --resources | FileCheck %s --check-prefix=RES
// RUN: llvm-readelf --notes %t.gfx942 | FileCheck %s --check-prefixes=ELF,GFX942
// RUN: llvm-objdump -d %t.gfx942 | FileCheck %s --check-prefix=ASM
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %s -o %t.gfx950 --resources | FileCheck %s --check-prefix=RES
// RUN: llvm-readelf --notes %t.gfx950 | FileCheck %s --check-prefixes=ELF,GFX950
// RUN: llvm-objdump -d %t.gfx950 | FileCheck %s --check-prefix=ASM

// RES: "shared_bytes":512,"spill_bytes":0,"stack_bytes":0,"wave_size":64,"waves_per_simd":{{[0-9]+}}}

// ELF: .group_segment_fixed_size: 512
// ELF: .max_flat_workgroup_size: 64
// ELF: .wavefront_size: 64
// GFX942: amdhsa.target: {{.*}}gfx942
// GFX950: amdhsa.target: {{.*}}gfx950

// ASM: ds_write_b64
// ASM: ds_read_b64
// ASM: v_mfma_f32_16x16x16_f16
// ASM-COUNT-4: v_exp_f32
// ASM-COUNT-4: v_rcp_f32
// ASM: global_store_dwordx4
// ASM: s_endpgm

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @product {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 512 : i64,
      params = []}
  gpu.func @product(%a: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %b: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %c: memref<?xf32, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %stride: index)
      workgroup(%lds: memref<512xi8, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %lane = gpu.thread_id x
    %as = memref.view %lds[%c0][] : memref<512xi8, #shared> to memref<16x16xf16, #shared>
    %quarter = arith.remui %lane, %c4 : index
    %row = arith.divui %lane, %c4 : index
    %col = arith.muli %quarter, %c4 : index
    %arow = arith.muli %row, %stride : index
    %from = arith.addi %arow, %col : index
    %x = vector.load %a[%from] {alignment = 8 : i64} : memref<?xf16, #global>, vector<4xf16>
    vector.store %x, %as[%row, %col] {alignment = 8 : i64} : memref<16x16xf16, #shared>, vector<4xf16>
    gpu.barrier

    %r = arith.remui %lane, %c16 : index
    %h = arith.divui %lane, %c16 : index
    %k = arith.muli %h, %c4 : index
    %av = vector.load %as[%r, %k] {alignment = 8 : i64} : memref<16x16xf16, #shared>, vector<4xf16>
    %brow = arith.muli %r, %c16 : index
    %bfrom = arith.addi %brow, %k : index
    %bv = vector.load %b[%bfrom] {alignment = 8 : i64} : memref<?xf16, #global>, vector<4xf16>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %d = amdgpu.mfma 16x16x16 %av * %bv + %zero blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
    %e = math.exp2 %d : vector<4xf32>
    %one = arith.constant dense<1.0> : vector<4xf32>
    %i = arith.divf %one, %e fastmath<arcp,afn> : vector<4xf32>
    %to = arith.muli %lane, %c4 : index
    vector.store %i, %c[%to] {alignment = 16 : i64} : memref<?xf32, #global>, vector<4xf32>
    gpu.return
  }
}
