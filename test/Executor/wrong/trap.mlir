// A thread executes a trap.
//
// RUN: not tile-run %s --chip=sm_80 --arg=1 2>&1 | FileCheck %s
// RUN: not tile-run %s --chip=gfx942 --arg=1 --checks=off 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=1

// CHECK: trap.mlir:[[@LINE+7]]:{{[0-9]+}}: error: kernel 'k', block (0, 0, 0), thread 0: executes a trap

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "scalar", name = "n", type = "i32"}]}
  gpu.func @k(%n: i32) kernel {
    // RIGHT: gpu.printf "n = %d\n", %n : i32
    llvm.intr.trap // WRONG
    gpu.return
  }
}
