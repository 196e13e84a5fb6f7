// Threads divide by zero, and the smallest integer by -1. A GPU continues with
// some number, and so does a run without checks.
//
// DEFINE: %{divisor} = 0
// DEFINE: %{run} = --chip=sm_80 --arg=zeros:64:i32 --arg=-2147483648 --arg=%{divisor}
// RUN: not tile-run %s %{run} 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - %{run}
// RUN: tile-run %s %{run} --checks=off
// REDEFINE: %{divisor} = -1
// RUN: not tile-run %s %{run} 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - %{run}
// RUN: tile-run %s %{run} --checks=off

// CHECK: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: divides an integer by zero, or the smallest one by -1

#global = #gpu.address_space<global>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "i32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "scalar", name = "n", type = "i32"},
                  {kind = "scalar", name = "d", type = "i32"}]}
  gpu.func @k(%a: memref<64xi32, #global>, %n: i32, %d: i32) kernel {
    %t = gpu.thread_id x
    %one = arith.constant 1 : i32
    %q = arith.divsi %n, %d : i32 // WRONG
    // RIGHT: %divisor = arith.maxsi %d, %one : i32
    // RIGHT: %q = arith.divsi %n, %divisor : i32
    memref.store %q, %a[%t] : memref<64xi32, #global>
    gpu.return
  }
}
