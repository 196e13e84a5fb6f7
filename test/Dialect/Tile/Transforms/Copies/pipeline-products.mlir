// A product in flight reads its operands until it is awaited: their slots are released
// after the await, and no other copy fills them before.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline{stages=1}))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!pending = !tile.pending<!acc>

module attributes {tile.target = "sm_90a"} {

// REMARK: [Passed] loop-pipelined {{.*}}groups=2, stages=1
// CHECK-LABEL: tile.kernel @awaited(
// CHECK: scf.for
// CHECK: %[[K:.+]], %[[KSLOT:.+]] = tile.ring.take
// CHECK: %[[FIRST:.+]] = tile.dot async %[[K]]
// CHECK: %[[SECOND:.+]] = tile.dot async %[[K]], %[[K]], %[[FIRST]]
// CHECK: tile.await %[[SECOND]]
// CHECK-NEXT: tile.ring.release %[[KSLOT]]
// CHECK: tile.ring.take
// CHECK: tile.ring.acquire
// CHECK: tile.dot async
tile.kernel @awaited(%k: !g, %v: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  scf.for %i = %c0 to %n step %c64 {
    %ks = tile.alloc : !s
    tile.copy %k[%i, %c0], %ks : !g, !s
    %p = tile.dot async %ks, %ks, %zero : !s, !s -> !pending
    %q = tile.dot async %ks, %ks, %p : !s, !s, !pending -> !pending
    %x = tile.await %q : !pending
    %vs = tile.alloc : !s
    tile.copy %v[%i, %c0], %vs : !g, !s
    %r = tile.dot async %vs, %vs, %x : !s, !s -> !pending
    %y = tile.await %r : !pending
  }
}

// REMARK: [Missed] copy-not-pipelined {{.*}}Reason="a product in flight reads its buffer beyond the block of the copy"
// REMARK-NOT: remark
// CHECK-LABEL: tile.kernel @carried(
// CHECK-NOT: tile.ring
tile.kernel @carried(%k: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %qs = tile.alloc : !s
  %first = tile.dot async %qs, %qs, %zero : !s, !s -> !pending
  %last = scf.for %i = %c0 to %n step %c64 iter_args(%p = %first) -> !pending {
    %ks = tile.alloc : !s
    tile.copy %k[%i, %c0], %ks : !g, !s
    %q = tile.dot async %ks, %ks, %p : !s, !s, !pending -> !pending
    scf.yield %q : !pending
  }
  %sum = tile.await %last : !pending
}

}
