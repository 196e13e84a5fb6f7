// Threads poll for a value that no thread writes. In the repaired kernel the
// last thread writes it, and the others leave the loop.
//
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:i32 --max-turns=100000 2>&1 | FileCheck %s
// RUN: sed -e '/\/\/ WRONG$/d' -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_80 --arg=zeros:64:i32
// RUN: not tile-run %s --chip=sm_80 --arg=zeros:64:i32 --max-turns=100000 --checks=off 2>&1 | FileCheck %s

// CHECK: wrong/endless-loop.mlir:[[@LINE+22]]:{{[0-9]+}}: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: does not leave a loop: threads of the block have run 100352 loop iterations, and none of them has ended or waited
// CHECK: note: thread 63 waits here, at 'llvm.nvvm.barrier.cta.sync.aligned.all'

#global = #gpu.address_space<global>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "i32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xi32, #global>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %isLast = arith.cmpi eq, %t, %c63 : index
    scf.if %isLast {
      // RIGHT: memref.atomic_rmw addi %one, %a[%c0] : (i32, memref<64xi32, #global>) -> i32
    } else {
      scf.while : () -> () {
        %flag = memref.atomic_rmw addi %zero, %a[%c0] : (i32, memref<64xi32, #global>) -> i32
        %unset = arith.cmpi eq, %flag, %zero : i32
        scf.condition(%unset)
      } do {
        scf.yield
      }
    }
    gpu.barrier
    gpu.return
  }
}
