// A rotated loop computes what the loop as written does, after 0 to 4 iterations:
// with the best schedule of a chip with asynchronous products, and with schedules
// that are drawn at random.

// DEFINE: %{inputs} = --arg=q=random:64x64:f16:1 --arg=k=random:300x64:f16:2 --arg=v=random:300x64:f16:3 --arg=o=nan:320x64:f32 --arg=m=nan:320:f32
// DEFINE: %{chip} = sm_80
// DEFINE: %{seed} = 0
// DEFINE: %{fields} = stages = 2
// DEFINE: %{rotate} = tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=%{chip}},tile-apply-schedule{schedule="%{fields}"},tile.kernel(tile-schedule{seed=%{seed}}))' -o %t.mlir
// DEFINE: %{check} = tile-run %t.mlir --chip=%{chip} %{inputs} --expect=o=%t.o.npy --expect=m=%t.m.npy --atol=1e-5

// DEFINE: %{written} = tile-run %s --chip=%{chip} %{inputs} --out=o=%t.o.npy --out=m=%t.m.npy

// RUN: %{written}
// REDEFINE: %{seed} = 1
// RUN: %{rotate} && %{check}
// REDEFINE: %{seed} = 2
// RUN: %{rotate} && %{check}
// REDEFINE: %{seed} = 3
// RUN: %{rotate} && %{check}
// REDEFINE: %{seed} = 4
// RUN: %{rotate} && %{check}
// REDEFINE: %{seed} = 5
// RUN: %{rotate} && %{check}
// REDEFINE: %{seed} = 6
// RUN: %{rotate} && %{check}
// REDEFINE: %{chip} = gfx942
// RUN: %{written} && %{rotate} && %{check}
// REDEFINE: %{seed} = 0
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{fields} = producers = 4
// RUN: %{written} && %{rotate} && FileCheck %s < %t.mlir && %{check}

// A persistent kernel, in which the end of a work runs beside the next one. Blocks
// have 5 works, 3 and 2, or 2 and 1.
// REDEFINE: %{fields} = producers = 4, work_stages = 2
// RUN: %{rotate} && %{check} --grid=1,1,1 --remarks 2>&1 | FileCheck %s --check-prefix=WORKS
// RUN: %{check} --grid=2,1,1
// RUN: %{check} --grid=3,1,1
// WORKS: works-overlapped

// CHECK: iter_args
// CHECK: arith.select

!half = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!float = !tile.buffer<?x64xf32, #tile.strided<[?:8, 1], align = 16>, global>
!rows = !tile.buffer<?xf32, #tile.strided<[1], align = 4>, global>

tile.kernel @attention(%q: !half {tile.name = "q"}, %k: !half {tile.name = "k"}, %v: !half {tile.name = "v"},
                       %o: !float {tile.name = "o"}, %m: !rows {tile.name = "m"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  tile.grid %c5, %c1, %c1
  // Block i has i iterations.
  %block = tile.program_id x
  %end = arith.muli %block, %c64 : index
  %qt = tile.load %q[%c0, %c0] : !half -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %no_max = arith.constant dense<-100.0> : tensor<64xf32>
  %no_sum = arith.constant dense<0.0> : tensor<64xf32>
  %column = tile.iota along 1 : tensor<64x64xi32>
  %hidden = arith.constant dense<-50.0> : tensor<64x64xf32>
  %one = arith.constant 1 : i32
  %first = arith.constant 40 : i32
  %scale = arith.constant dense<0.1> : tensor<64x64xf32>
  %r:4 = scf.for %i = %c0 to %end step %c64
      iter_args(%out = %zero, %max = %no_max, %sum = %no_sum, %visible = %first)
      -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, i32) {
    %kt = tile.load %k[%i, %c0] : !half -> tensor<64x64xf16>
    %k_t = tile.transpose %kt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %qt, %k_t, %zero {warps = array<i64: 4, 1>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %s1 = arith.mulf %s, %scale : tensor<64x64xf32>
    // A scalar that the loop carries, and a mask that depends on it.
    %limit = tensor.splat %visible : tensor<64x64xi32>
    %is = arith.cmpi slt, %column, %limit : tensor<64x64xi32>
    %s2 = arith.select %is, %s1, %hidden : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addi %visible, %one : i32
    %m1 = tile.reduce maxnumf %s2 along 1 : tensor<64x64xf32> -> tensor<64xf32>
    %new_max = arith.maxnumf %max, %m1 : tensor<64xf32>
    %mt = tile.broadcast %new_max along 1 : tensor<64xf32> -> tensor<64x64xf32>
    %below = arith.subf %s2, %mt : tensor<64x64xf32>
    %p = math.exp2 %below : tensor<64x64xf32>
    %change = arith.subf %max, %new_max : tensor<64xf32>
    %factor = math.exp2 %change : tensor<64xf32>
    %step_sum = tile.reduce addf %p along 1 : tensor<64x64xf32> -> tensor<64xf32>
    %old_sum = arith.mulf %sum, %factor : tensor<64xf32>
    %new_sum = arith.addf %old_sum, %step_sum : tensor<64xf32>
    %ft = tile.broadcast %factor along 1 : tensor<64xf32> -> tensor<64x64xf32>
    %scaled = arith.mulf %out, %ft : tensor<64x64xf32>
    %p16 = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %vt = tile.load %v[%i, %c0] : !half -> tensor<64x64xf16>
    %new_out = tile.dot %p16, %vt, %scaled {warps = array<i64: 4, 1>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %new_out, %new_max, %new_sum, %next : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, i32
  }
  %row = arith.muli %block, %c64 : index
  tile.store %r#0, %o[%row, %c0] : tensor<64x64xf32>, !float
  %count = arith.sitofp %r#3 : i32 to f32
  %counts = tensor.splat %count : tensor<64xf32>
  %both = arith.addf %r#1, %r#2 : tensor<64xf32>
  %all = arith.addf %both, %counts : tensor<64xf32>
  tile.store %all, %m[%row] : tensor<64xf32>, !rows
}
