// A persistent kernel does each work once, whatever the number of its blocks: with
// works of one length, with works that grow along x, and with works that shrink. Each
// work adds its number of iterations to its own tile.
//
// DEFINE: %{small} = --arg=zeros:80x48:f32 --arg=5 --arg=3
// DEFINE: %{large} = --arg=zeros:96x32:f32 --arg=6 --arg=2
// DEFINE: %{groups} = --arg=zeros:64x176:f32 --arg=4 --arg=11
// DEFINE: %{pairs} = --arg=zeros:64x192:f32 --arg=4 --arg=12
// DEFINE: %{persistent} = tile-run %s --chip=sm_90a --schedule='work_stages = 1' --atol=0
//
// RUN: tile-run %s --chip=sm_90a %{small} --out=%t.small.npy
// RUN: tile-run %s --chip=sm_90a %{large} --out=%t.large.npy
// RUN: tile-run %s --chip=sm_90a %{groups} --out=%t.groups.npy
// RUN: tile-run %s --chip=sm_90a %{pairs} --out=%t.pairs.npy
// RUN: %{persistent} %{small} --grid=1,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{small} --grid=2,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{small} --grid=3,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{small} --grid=4,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{small} --grid=7,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{small} --grid=8,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{small} --grid=14,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{small} --grid=15,1,1 --expect=%t.small.npy
// RUN: %{persistent} %{large} --grid=1,1,1 --expect=%t.large.npy
// RUN: %{persistent} %{large} --grid=5,1,1 --expect=%t.large.npy
// RUN: %{persistent} %{large} --grid=6,1,1 --expect=%t.large.npy
// RUN: %{persistent} %{large} --grid=11,1,1 --expect=%t.large.npy
// RUN: %{persistent} %{groups} --grid=1,1,1 --expect=%t.groups.npy
// RUN: %{persistent} %{groups} --grid=2,1,1 --expect=%t.groups.npy
// RUN: %{persistent} %{groups} --grid=3,1,1 --expect=%t.groups.npy
// RUN: %{persistent} %{groups} --grid=5,1,1 --expect=%t.groups.npy
// RUN: %{persistent} %{groups} --grid=9,1,1 --expect=%t.groups.npy
// RUN: %{persistent} %{pairs} --grid=4,1,1 --expect=%t.pairs.npy
// RUN: %{persistent} %{pairs} --grid=5,1,1 --expect=%t.pairs.npy
// RUN: %{persistent} %{pairs} --grid=9,1,1 --expect=%t.pairs.npy
// RUN: %{persistent} %{pairs} --grid=13,1,1 --expect=%t.pairs.npy
// RUN: %{persistent} %{pairs} --grid=25,1,1 --expect=%t.pairs.npy

// RUN: %{persistent} %{large} --expect=%t.large.npy --remarks 2>&1 | FileCheck %s
// CHECK: kernel-persistent {{.*}}longest-works=none
// CHECK: kernel-persistent {{.*}}longest-works="largest x"
// CHECK: kernel-persistent {{.*}}longest-works="smallest x"

!counts = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!operand = tensor<16x16xf16>
!sum = tensor<16x16xf32>

tile.kernel @equal(%counts: !counts, %nx: index, %ny: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  tile.grid %nx, %ny, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %ones = arith.constant dense<0.25> : !operand
  %zero = arith.constant dense<0.0> : !sum
  %sum = scf.for %n = %c0 to %c2 step %c1 iter_args(%s = %zero) -> (!sum) {
    %next = tile.dot %ones, %ones, %s : !operand, !operand -> !sum
    scf.yield %next : !sum
  }
  %row = arith.muli %x, %c16 : index
  %column = arith.muli %y, %c16 : index
  tile.atomic_rmw addf %sum, %counts[%row, %column] : !sum, !counts
}

tile.kernel @growing(%counts: !counts, %nx: index, %ny: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %nx, %ny, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %end = arith.addi %x, %c1 : index
  %ones = arith.constant dense<0.25> : !operand
  %zero = arith.constant dense<0.0> : !sum
  %sum = scf.for %n = %c0 to %end step %c1 iter_args(%s = %zero) -> (!sum) {
    %next = tile.dot %ones, %ones, %s : !operand, !operand -> !sum
    scf.yield %next : !sum
  }
  %row = arith.muli %x, %c16 : index
  %column = arith.muli %y, %c16 : index
  tile.atomic_rmw addf %sum, %counts[%row, %column] : !sum, !counts
}

tile.kernel @shrinking(%counts: !counts, %nx: index, %ny: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %nx, %ny, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %ones = arith.constant dense<0.25> : !operand
  %zero = arith.constant dense<0.0> : !sum
  %sum = scf.for %n = %x to %nx step %c1 iter_args(%s = %zero) -> (!sum) {
    %next = tile.dot %ones, %ones, %s : !operand, !operand -> !sum
    scf.yield %next : !sum
  }
  %row = arith.muli %x, %c16 : index
  %column = arith.muli %y, %c16 : index
  tile.atomic_rmw addf %sum, %counts[%row, %column] : !sum, !counts
}
