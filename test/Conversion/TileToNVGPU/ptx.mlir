// The registers that ldmatrix loads are the operands of mma.sync, without a move
// in the loop.
//
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s | FileCheck %s

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

// CHECK-LABEL: .entry f16(
// CHECK: cp.async.cg.shared.global [%{{.+}}], [%{{.+}}], 16, %{{.+}};
// CHECK: cp.async.commit_group;
// CHECK: cp.async.wait_group 0;
// CHECK: bar.sync 0;
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {[[A:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, [%{{.+}}];
// CHECK: ld.global.v4.b32 {[[C:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, [%{{.+}}];
// CHECK: ld.global.v2.b32 {[[B:%r[0-9]+, %r[0-9]+]]}, [%{{.+}}];
// CHECK: $L__BB{{[0-9]}}_2:
// CHECK-NEXT: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NEXT: {[[C]]},
// CHECK-NEXT: {[[A]]},
// CHECK-NEXT: {[[B]]},
// CHECK-NEXT: {[[C]]};
// CHECK-NEXT: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {[[A]]}, [%{{.+}}];
// CHECK-NOT: mov
// CHECK: bra
module attributes {tile.target = "sm_80"} {
gpu.module @m {
gpu.func @f16(%A: memref<1024xf16, #global>, %B: memref<1024xf16, #global>,
              %C: memref<1024xf32, #global>, %n: index)
    workgroup(%smem: memref<4096xf16, #shared>) kernel {
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %i8 = arith.muli %t, %c8 : index
  %i4 = arith.muli %t, %c4 : index
  nvgpu.device_async_copy %A[%i8], %smem[%i8], 8, %n {bypassL1} : memref<1024xf16, #global> to memref<4096xf16, #shared>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  gpu.barrier
  %rows1 = nvgpu.ldmatrix %smem[%i8] {numTiles = 4 : i32, transpose = false} : memref<4096xf16, #shared> -> vector<4x2xf16>
  %a0 = vector.shape_cast %rows1 : vector<4x2xf16> to vector<8xf16>
  %b = vector.load %B[%i4] {alignment = 8} : memref<1024xf16, #global>, vector<4xf16>
  %c = vector.load %C[%i4] {alignment = 16} : memref<1024xf32, #global>, vector<4xf32>
  %d, %last = scf.for %i = %c0 to %n step %c8 iter_args(%acc = %c, %a = %a0)
      -> (vector<4xf32>, vector<8xf16>) {
    %sum = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %acc
        : vector<8xf16>, vector<4xf16>, vector<4xf32>
    %rows2 = nvgpu.ldmatrix %smem[%i] {numTiles = 4 : i32, transpose = true} : memref<4096xf16, #shared> -> vector<4x2xf16>
    %next = vector.shape_cast %rows2 : vector<4x2xf16> to vector<8xf16>
    scf.yield %sum, %next : vector<4xf32>, vector<8xf16>
  }
  vector.store %d, %C[%i4] {alignment = 16} : memref<1024xf32, #global>, vector<4xf32>
  gpu.return
}

// CHECK-LABEL: .entry bf16(
// CHECK: $L__BB{{[0-9]}}_2:
// CHECK-NEXT: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NEXT: {[[C:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]},
// CHECK-NEXT: {[[A:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]},
// CHECK-NEXT: {%r{{[0-9]+}}, %r{{[0-9]+}}},
// CHECK-NEXT: {[[C]]};
// CHECK-NEXT: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {[[A]]}, [%{{.+}}];
// CHECK-NOT: mov
// CHECK: bra
gpu.func @bf16(%B: memref<1024xbf16, #global>, %C: memref<1024xf32, #global>, %n: index)
    workgroup(%smem: memref<4096xbf16, #shared>) kernel {
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %i4 = arith.muli %t, %c4 : index
  %rows3 = nvgpu.ldmatrix %smem[%i4] {numTiles = 4 : i32, transpose = false} : memref<4096xbf16, #shared> -> vector<4x2xbf16>
  %a0 = vector.shape_cast %rows3 : vector<4x2xbf16> to vector<8xbf16>
  %b = vector.load %B[%i4] {alignment = 8} : memref<1024xbf16, #global>, vector<4xbf16>
  %c = vector.load %C[%i4] {alignment = 16} : memref<1024xf32, #global>, vector<4xf32>
  %d, %last = scf.for %i = %c0 to %n step %c8 iter_args(%acc = %c, %a = %a0)
      -> (vector<4xf32>, vector<8xbf16>) {
    %sum = tile_gpu.mma "mma.m16n8k16.bf16" %a, %b, %acc
        : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
    %rows4 = nvgpu.ldmatrix %smem[%i] {numTiles = 4 : i32, transpose = false} : memref<4096xbf16, #shared> -> vector<4x2xbf16>
    %next = vector.shape_cast %rows4 : vector<4x2xbf16> to vector<8xbf16>
    scf.yield %sum, %next : vector<4xf32>, vector<8xbf16>
  }
  vector.store %d, %C[%i4] {alignment = 16} : memref<1024xf32, #global>, vector<4xf32>
  gpu.return
}
}
}
