// A remark at the access gives the reason for a loss of speed.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
#turned = #tile.blocked<thread = [8, 1], lane = [1, 32], warp = [1, 1], order = [1, 0]>

!unaligned = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1]>, global>
!odd = !tile.buffer<?x64xf16, #tile.strided<[?, 1], align = 16>, global>
!ragged = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = !tile.buffer<8x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%a: !unaligned, %b: !odd, %c: !ragged, %g: !g, %i: index)
    attributes {num_warps = 1 : i32, shared_bytes = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %before = arith.constant -8 : index
  tile.grid %c0, %c0, %c0
  // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] width-alignment | Category:tile-vectorize | {{.*}}Reason="width 8 -> 1: %arg0: the base is only known to be aligned to 2 bytes"
  %0 = tile.load %a[%c0, %c0] : !unaligned -> tensor<8x64xf16, #rows>
  // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}}width-start{{.*}}Reason="width 8 -> 1: %arg3: the start along dimension 1 is only known to be a multiple of 1 element"
  %1 = tile.load %g[%c0, %i] : !g -> tensor<8x64xf16, #rows>
  // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}}width-extent{{.*}}Reason="width 8 -> 1: %arg2: elements (0, 0), (0, 1) may be on both sides of the end of dimension 1"
  %2 = tile.load %c[%c0, %before] : !ragged -> tensor<8x64xf16, #rows>
  // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Analysis] partial-access | Category:tile-vectorize | {{.*}}Reason="%arg2 may end within 8 elements along dimension 1: threads at the end access fewer at a time"
  %5 = tile.load %c[%c0, %c0] : !ragged -> tensor<8x64xf16, #rows>
  // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}}width-layout{{.*}}Reason="width 8 -> 1: %arg3: elements (0, 0), (0, 32) are 32 apart"
  %3 = tile.load %g[%c0, %c0] : !g -> tensor<8x64xf16, #turned>
  // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}}Reason="width 8 -> 1: %arg0: the base is only known to be aligned to 2 bytes"
  tile.store %0, %a[%c0, %c0] : tensor<8x64xf16, #rows>, !unaligned
  %s = tile.alloc {offset = 0} : !s
  // CHECK: remarks.mlir:[[@LINE+3]]:{{.*}} remark: [Missed] synchronous-copy | Category:tile-vectorize | {{.*}}Reason="asynchronous copies need at least 4 bytes: width 8 -> 1: %arg0: the base is only known to be aligned to 2 bytes"
  // CHECK: remarks.mlir:[[@LINE+2]]:{{.*}} width-alignment
  // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} uncoalesced | {{.*}}Reason="%arg0: an access of a warp touches 18 segments of 32 bytes; its elements would fit in 2"
  tile.copy async %a[%c0, %c0], %s : !unaligned, !s
  // No remark: 16 bytes.
  // CHECK-NOT: remark
  %4 = tile.load %g[%c0, %c0] : !g -> tensor<8x64xf16, #rows>
}
