// Atomics that add two contiguous elements to the permuted accumulator of dQ,
//   (l, d) -> (l / 8, d / 8, d % 2, 4 * (l % 8) + (d % 8) / 2),
// in which (l, d) and (l, d + 1) are 32 elements apart. An addition to the wrong
// address is no race, so only the results show the error. The repaired kernel
// gives the expected results.
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s > %t.right.mlir
// RUN: tile-run %t.right.mlir --chip=sm_90a --arg=random:64:f32:1 --arg=zeros:256:f32 --out=%t.npy
// RUN: tile-run %t.right.mlir --chip=sm_80 --arg=random:64:f32:1 --arg=zeros:256:f32 --expect=%t.npy --rtol=1e-6 --atol=0 | FileCheck %s --check-prefix=AGREES
// RUN: not tile-run %s --chip=sm_90a --arg=random:64:f32:1 --arg=zeros:256:f32 --expect=%t.npy --rtol=1e-6 --atol=0 | FileCheck %s
// RUN: %python %S/Inputs/permuted.py %t.npy

// AGREES: dq: largest difference 0.00e+00
// AGREES-NOT: wrong
// CHECK: dq: largest difference {{.*}} elements are wrong

#global = #gpu.address_space<global>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [2, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "dq", type = "f32", rank = 1, shape = [256],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %dq: memref<256xf32, #global>) kernel {
    // Thread t holds elements (l, d) and (l, d + 1) of 8 x 16, l = t / 8, d = 2 (t % 8).
    %t = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %l = arith.divui %t, %c8 : index
    %half = arith.remui %t, %c8 : index
    // d / 8 and (d % 8) / 2
    %high = arith.divui %half, %c4 : index
    %low = arith.remui %half, %c4 : index
    %x = arith.muli %high, %c64 : index
    %y = arith.muli %l, %c4 : index
    %z = arith.addi %x, %y : index
    %i = arith.addi %z, %low : index
    %v = memref.load %a[%t] : memref<64xf32, #global>
    %one = vector.broadcast %v : f32 to vector<1xf32>
    %even = arith.divui %i, %c2 : index // WRONG
    %place = arith.muli %even, %c2 : index // WRONG
    %two = vector.broadcast %v : f32 to vector<2xf32> // WRONG
    tile_gpu.atomic_rmw addf %two, %dq[%place] order(relaxed) scope(device) : vector<2xf32>, memref<256xf32, #global> // WRONG
    // RIGHT: %j = arith.addi %i, %c32 : index
    // RIGHT: tile_gpu.atomic_rmw addf %one, %dq[%i] order(relaxed) scope(device) : vector<1xf32>, memref<256xf32, #global>
    // RIGHT: tile_gpu.atomic_rmw addf %one, %dq[%j] order(relaxed) scope(device) : vector<1xf32>, memref<256xf32, #global>
    gpu.return
  }
}
