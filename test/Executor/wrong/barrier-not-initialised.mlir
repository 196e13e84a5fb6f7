// A thread waits at an mbarrier that no thread has initialized.
//
// RUN: not tile-run %s --chip=sm_90a --arg=random:64x64:f16:1 2>&1 | FileCheck %s

// CHECK: error: kernel 'k', block (0, 0, 0), thread 0: 'mbarrier.try_wait.parity.shared::cta.b64' uses byte 0 of shared memory, which no thread has made a barrier

!k = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @k(%a: !k) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %full = tile.alloc : !bars
  tile.wait_barrier %full[%c0] phase %c0 : !bars
}
