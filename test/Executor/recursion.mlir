// A thread's stack holds the frame of each function once.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:i32 2>&1 | FileCheck %s

// CHECK: error: function '{{[fg]}}' calls itself, which cannot be run

#global = #gpu.address_space<global>
gpu.module @kernels {
  llvm.func @f(%n: i32) -> i32 attributes {passthrough = ["noinline", "optnone"]} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %r = llvm.call @g(%n) : (i32) -> i32
    %s = llvm.mul %r, %n : i32
    llvm.return %s : i32
  }
  llvm.func @g(%n: i32) -> i32 attributes {passthrough = ["noinline", "optnone"]} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %m = llvm.add %n, %one : i32
    %r = llvm.call @f(%m) : (i32) -> i32
    %s = llvm.mul %r, %n : i32
    llvm.return %s : i32
  }
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "i32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xi32, #global>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %a[%t] : memref<64xi32, #global>
    %w = llvm.call @f(%v) : (i32) -> i32
    memref.store %w, %a[%t] : memref<64xi32, #global>
    gpu.return
  }
}
