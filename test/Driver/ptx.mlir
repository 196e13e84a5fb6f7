// One warp multiplies 16x16 by 16x8 through shared memory and writes exp2 of
// the product: every kind of operation that stage S5 has on NVIDIA chips.

// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tile-translate --tile-to-ptx --chip=sm_89 %s | FileCheck %s --check-prefixes=CHECK,SM89
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %s | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: tile-translate --tile-to-ptx --chip=sm_90a -O0 %s | FileCheck %s --check-prefix=O0

// SM80: .target sm_80
// SM89: .target sm_89
// SM90: .target sm_90a
// CHECK: .extern .shared .align 1024 .b8 tile_dynamic_shared[]
// CHECK: .entry product(
// CHECK-NEXT: .param .u64 .ptr .global .align 16 product_param_0
// CHECK-NEXT: .param .u64 .ptr .global .align 16 product_param_1
// CHECK-NEXT: .param .u64 .ptr .global .align 16 product_param_2
// CHECK-NEXT: .param .u64 product_param_3
// CHECK: .maxntid 32, 1, 1
// CHECK: .minnctapersm 1
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.commit_group
// CHECK: cp.async.wait_group 0
// CHECK: bar.sync
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-COUNT-4: ex2.approx.ftz.f32
// CHECK-NOT: ex2
// CHECK-COUNT-2: st.global.v2
// CHECK: ret;

// O0: mma.sync

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @product {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 768 : i64,
      params = []}
  gpu.func @product(%a: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %b: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %c: memref<?xf32, #global> {llvm.align = 16 : i64, llvm.noalias},
                    %stride: index) kernel
      attributes {nvvm.minctasm = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c512 = arith.constant 512 : index
    %lane = gpu.thread_id x
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #shared>
    %as = memref.view %shared[%c0][] : memref<?xi8, #shared> to memref<16x16xf16, #shared>
    %bs = memref.view %shared[%c512][] : memref<?xi8, #shared> to memref<16x8xf16, #shared>

    // A: two copies of 16 bytes a row. B: one, by the first half of the warp.
    %half = arith.remui %lane, %c2 : index
    %row = arith.divui %lane, %c2 : index
    %col = arith.muli %half, %c8 : index
    %arow = arith.muli %row, %stride : index
    %from = arith.addi %arow, %col : index
    %t0 = nvgpu.device_async_copy %a[%from], %as[%row, %col], 8 {bypassL1} : memref<?xf16, #global> to memref<16x16xf16, #shared>
    %isFirst = arith.cmpi ult, %lane, %c16 : index
    scf.if %isFirst {
      %brow = arith.muli %lane, %c8 : index
      %t1 = nvgpu.device_async_copy %b[%brow], %bs[%lane, %c0], 8 {bypassL1} : memref<?xf16, #global> to memref<16x8xf16, #shared>
    }
    %group = nvgpu.device_async_create_group
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier

    %r = arith.remui %lane, %c16 : index
    %h = arith.divui %lane, %c16 : index
    %k = arith.muli %h, %c8 : index
    %av = nvgpu.ldmatrix %as[%r, %k] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #shared> -> vector<4x2xf16>
    %bv = nvgpu.ldmatrix %bs[%r, %c0] {numTiles = 2 : i32, transpose = true} : memref<16x8xf16, #shared> -> vector<2x2xf16>
    // Fragments are slices of a thread's tile.
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %zero2 = vector.shape_cast %zero : vector<4xf32> to vector<2x2xf32>
    %d2 = nvgpu.mma.sync(%av, %bv, %zero2) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %d = vector.shape_cast %d2 : vector<2x2xf32> to vector<4xf32>
    %e = math.exp2 %d : vector<4xf32>

    %group4 = arith.divui %lane, %c4 : index
    %in4 = arith.remui %lane, %c4 : index
    %dcol = arith.muli %in4, %c2 : index
    %drow = arith.muli %group4, %c8 : index
    %to = arith.addi %drow, %dcol : index
    %lo = vector.extract_strided_slice %e {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    %hi = vector.extract_strided_slice %e {offsets = [2], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    %c64 = arith.constant 64 : index
    %to2 = arith.addi %to, %c64 : index
    vector.store %lo, %c[%to] {alignment = 8 : i64} : memref<?xf32, #global>, vector<2xf32>
    vector.store %hi, %c[%to2] {alignment = 8 : i64} : memref<?xf32, #global>, vector<2xf32>
    gpu.return
  }
}
