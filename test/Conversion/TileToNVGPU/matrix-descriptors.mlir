// Loop-invariant matrix descriptors are computed where they are written if uniform
// registers can hold them, otherwise at the MMAs that read them or in front of the
// loop.
//
// RUN: tile-opt %s --tile-to-nvgpu | FileCheck %s

#shared = #gpu.address_space<workgroup>
module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: func @few
// CHECK-COUNT-2: "mov.b32 $0, $1;"
// CHECK: scf.for
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: return
func.func @few(%m: memref<4096xf16, #shared>, %i: index, %b: i64, %c: vector<4xf32>, %n: i32) -> vector<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a0 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 0 : i32} : memref<4096xf16, #shared>
  %a1 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 2 : i32} : memref<4096xf16, #shared>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %c) -> vector<4xf32> : i32 {
    %d0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a0, %b, %s : i64, vector<4xf32>
    %d1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a1, %b, %d0 : i64, vector<4xf32>
    scf.yield %d1 : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// The matrix product has more instructions than descriptors fit uniform registers.
// CHECK-LABEL: func @long
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: scf.for
// CHECK: llvm.inline_asm has_side_effects "{\0A\09.reg .b32 low;\0A\09.reg .b64 descriptor<9>;
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: return
func.func @long(%m: memref<4096xf16, #shared>, %i: index, %b: i64, %c: vector<4xf32>, %n: i32) -> vector<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a0 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 0 : i32} : memref<4096xf16, #shared>
  %a1 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 2 : i32} : memref<4096xf16, #shared>
  %a2 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 4 : i32} : memref<4096xf16, #shared>
  %a3 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 6 : i32} : memref<4096xf16, #shared>
  %a4 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 8 : i32} : memref<4096xf16, #shared>
  %a5 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 10 : i32} : memref<4096xf16, #shared>
  %a6 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 12 : i32} : memref<4096xf16, #shared>
  %a7 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 14 : i32} : memref<4096xf16, #shared>
  %a8 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 16 : i32} : memref<4096xf16, #shared>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %c) -> vector<4xf32> : i32 {
    %d0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a0, %b, %s : i64, vector<4xf32>
    %d1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a1, %b, %d0 : i64, vector<4xf32>
    %d2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a2, %b, %d1 : i64, vector<4xf32>
    %d3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a3, %b, %d2 : i64, vector<4xf32>
    %d4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a4, %b, %d3 : i64, vector<4xf32>
    %d5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a5, %b, %d4 : i64, vector<4xf32>
    %d6 = tile_gpu.wgmma "wgmma.m64k16.f16" %a6, %b, %d5 : i64, vector<4xf32>
    %d7 = tile_gpu.wgmma "wgmma.m64k16.f16" %a7, %b, %d6 : i64, vector<4xf32>
    %d8 = tile_gpu.wgmma "wgmma.m64k16.f16" %a8, %b, %d7 : i64, vector<4xf32>
    scf.yield %d8 : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// Each product is short, but together they have more descriptors than a loop keeps
// beside its scalars. They are computed in front of the loop, not where they are
// written.
// CHECK-LABEL: func @many
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: nvvm.barrier0
// CHECK-COUNT-18: "mov.b32 $0, $1;"
// CHECK: scf.for
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: return
func.func @many(%m: memref<4096xf16, #shared>, %i: index, %b: i64, %c: vector<4xf32>, %n: i32) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a0 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 0 : i32} : memref<4096xf16, #shared>
  %a1 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 2 : i32} : memref<4096xf16, #shared>
  %a2 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 4 : i32} : memref<4096xf16, #shared>
  %a3 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 6 : i32} : memref<4096xf16, #shared>
  %a4 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 8 : i32} : memref<4096xf16, #shared>
  %a5 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 10 : i32} : memref<4096xf16, #shared>
  %a6 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 12 : i32} : memref<4096xf16, #shared>
  %a7 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 14 : i32} : memref<4096xf16, #shared>
  %a8 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 16 : i32} : memref<4096xf16, #shared>
  %a9 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 18 : i32} : memref<4096xf16, #shared>
  %a10 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 20 : i32} : memref<4096xf16, #shared>
  %a11 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 22 : i32} : memref<4096xf16, #shared>
  %a12 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 24 : i32} : memref<4096xf16, #shared>
  %a13 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 26 : i32} : memref<4096xf16, #shared>
  %a14 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 28 : i32} : memref<4096xf16, #shared>
  %a15 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 30 : i32} : memref<4096xf16, #shared>
  %a16 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 32 : i32} : memref<4096xf16, #shared>
  %a17 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 34 : i32} : memref<4096xf16, #shared>
  nvvm.barrier0
  %r:3 = scf.for %j = %c0 to %n step %c1 iter_args(%s = %c, %t = %c, %u = %c) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) : i32 {
    %s0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a0, %b, %s : i64, vector<4xf32>
    %s1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a1, %b, %s0 : i64, vector<4xf32>
    %s2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a2, %b, %s1 : i64, vector<4xf32>
    %s3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a3, %b, %s2 : i64, vector<4xf32>
    %s4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a4, %b, %s3 : i64, vector<4xf32>
    %s5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a5, %b, %s4 : i64, vector<4xf32>
    %t0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a6, %b, %t : i64, vector<4xf32>
    %t1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a7, %b, %t0 : i64, vector<4xf32>
    %t2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a8, %b, %t1 : i64, vector<4xf32>
    %t3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a9, %b, %t2 : i64, vector<4xf32>
    %t4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a10, %b, %t3 : i64, vector<4xf32>
    %t5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a11, %b, %t4 : i64, vector<4xf32>
    %u0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a12, %b, %u : i64, vector<4xf32>
    %u1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a13, %b, %u0 : i64, vector<4xf32>
    %u2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a14, %b, %u1 : i64, vector<4xf32>
    %u3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a15, %b, %u2 : i64, vector<4xf32>
    %u4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a16, %b, %u3 : i64, vector<4xf32>
    %u5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a17, %b, %u4 : i64, vector<4xf32>
    scf.yield %s5, %t5, %u5 : vector<4xf32>, vector<4xf32>, vector<4xf32>
  }
  return %r#0, %r#1, %r#2 : vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// In a loop with a mask they are computed at the MMAs.
// CHECK-LABEL: func @many_with_mask
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: scf.for
// CHECK: .reg .b64 descriptor<18>;
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: return
func.func @many_with_mask(%m: memref<4096xf16, #shared>, %i: index, %b: i64, %c: vector<4xf32>, %n: i32) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a0 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 0 : i32} : memref<4096xf16, #shared>
  %a1 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 2 : i32} : memref<4096xf16, #shared>
  %a2 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 4 : i32} : memref<4096xf16, #shared>
  %a3 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 6 : i32} : memref<4096xf16, #shared>
  %a4 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 8 : i32} : memref<4096xf16, #shared>
  %a5 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 10 : i32} : memref<4096xf16, #shared>
  %a6 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 12 : i32} : memref<4096xf16, #shared>
  %a7 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 14 : i32} : memref<4096xf16, #shared>
  %a8 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 16 : i32} : memref<4096xf16, #shared>
  %a9 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 18 : i32} : memref<4096xf16, #shared>
  %a10 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 20 : i32} : memref<4096xf16, #shared>
  %a11 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 22 : i32} : memref<4096xf16, #shared>
  %a12 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 24 : i32} : memref<4096xf16, #shared>
  %a13 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 26 : i32} : memref<4096xf16, #shared>
  %a14 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 28 : i32} : memref<4096xf16, #shared>
  %a15 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 30 : i32} : memref<4096xf16, #shared>
  %a16 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 32 : i32} : memref<4096xf16, #shared>
  %a17 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 34 : i32} : memref<4096xf16, #shared>
  nvvm.barrier0
  %r:3 = scf.for %j = %c0 to %n step %c1 iter_args(%s = %c, %t = %c, %u = %c) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) : i32 {
    %s0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a0, %b, %s : i64, vector<4xf32>
    %s1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a1, %b, %s0 : i64, vector<4xf32>
    %s2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a2, %b, %s1 : i64, vector<4xf32>
    %s3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a3, %b, %s2 : i64, vector<4xf32>
    %s4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a4, %b, %s3 : i64, vector<4xf32>
    %s5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a5, %b, %s4 : i64, vector<4xf32>
    %t0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a6, %b, %t : i64, vector<4xf32>
    %t1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a7, %b, %t0 : i64, vector<4xf32>
    %t2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a8, %b, %t1 : i64, vector<4xf32>
    %t3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a9, %b, %t2 : i64, vector<4xf32>
    %t4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a10, %b, %t3 : i64, vector<4xf32>
    %t5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a11, %b, %t4 : i64, vector<4xf32>
    %u0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a12, %b, %u : i64, vector<4xf32>
    %u1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a13, %b, %u0 : i64, vector<4xf32>
    %u2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a14, %b, %u1 : i64, vector<4xf32>
    %u3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a15, %b, %u2 : i64, vector<4xf32>
    %u4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a16, %b, %u3 : i64, vector<4xf32>
    %u5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a17, %b, %u4 : i64, vector<4xf32>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %flags = arith.cmpf ogt, %s5, %zero : vector<4xf32>
    %seen = arith.select %flags, %s5, %zero : vector<4xi1>, vector<4xf32>
    scf.yield %seen, %t5, %u5 : vector<4xf32>, vector<4xf32>, vector<4xf32>
  }
  return %r#0, %r#1, %r#2 : vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// Descriptors move only in innermost loops.
// CHECK-LABEL: func @outer
// CHECK-COUNT-9: "mov.b32 $0, $1;"
// CHECK: scf.for
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: return
func.func @outer(%m: memref<4096xf16, #shared>, %i: index, %b: i64, %c: vector<4xf32>, %n: i32) -> vector<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a0 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 0 : i32} : memref<4096xf16, #shared>
  %a1 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 2 : i32} : memref<4096xf16, #shared>
  %a2 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 4 : i32} : memref<4096xf16, #shared>
  %a3 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 6 : i32} : memref<4096xf16, #shared>
  %a4 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 8 : i32} : memref<4096xf16, #shared>
  %a5 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 10 : i32} : memref<4096xf16, #shared>
  %a6 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 12 : i32} : memref<4096xf16, #shared>
  %a7 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 14 : i32} : memref<4096xf16, #shared>
  %a8 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 16 : i32} : memref<4096xf16, #shared>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %c) -> vector<4xf32> : i32 {
    %d0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a0, %b, %s : i64, vector<4xf32>
    %d1 = tile_gpu.wgmma "wgmma.m64k16.f16" %a1, %b, %d0 : i64, vector<4xf32>
    %d2 = tile_gpu.wgmma "wgmma.m64k16.f16" %a2, %b, %d1 : i64, vector<4xf32>
    %d3 = tile_gpu.wgmma "wgmma.m64k16.f16" %a3, %b, %d2 : i64, vector<4xf32>
    %d4 = tile_gpu.wgmma "wgmma.m64k16.f16" %a4, %b, %d3 : i64, vector<4xf32>
    %d5 = tile_gpu.wgmma "wgmma.m64k16.f16" %a5, %b, %d4 : i64, vector<4xf32>
    %d6 = tile_gpu.wgmma "wgmma.m64k16.f16" %a6, %b, %d5 : i64, vector<4xf32>
    %d7 = tile_gpu.wgmma "wgmma.m64k16.f16" %a7, %b, %d6 : i64, vector<4xf32>
    %d8 = tile_gpu.wgmma "wgmma.m64k16.f16" %a8, %b, %d7 : i64, vector<4xf32>
    scf.for %x = %c0 to %n step %c1 : i32 {
    }
    scf.yield %d8 : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// CHECK-LABEL: func @saves
// CHECK-NOT: "mov.b32 $0, $1;"
// CHECK: scf.for
// CHECK: llvm.inline_asm has_side_effects "{\0A\09.reg .b32 low;\0A\09.reg .b64 descriptor<1>;
func.func @saves(%m: memref<4096xf16, #shared>, %i: index, %b: i64, %c: vector<4xf32>, %n: i32) -> vector<4xf32> attributes {tile.schedule = #tile.schedule<save_registers>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a0 = tile_gpu.matrix_descriptor %m[%i] {bits = 0 : i64, distance = 0 : i32} : memref<4096xf16, #shared>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %c) -> vector<4xf32> : i32 {
    %d0 = tile_gpu.wgmma "wgmma.m64k16.f16" %a0, %b, %s : i64, vector<4xf32>
    scf.yield %d0 : vector<4xf32>
  }
  return %r : vector<4xf32>
}

}
