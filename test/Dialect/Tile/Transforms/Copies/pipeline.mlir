// Copies run ahead of their use, in rings and in groups.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline{stages=2},tile-lower-rings,cse))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t.remarks \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline{stages=3},tile-lower-rings,cse))' \
// RUN:   | FileCheck %s --check-prefix=THREE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline{stages=1},tile-lower-rings,cse))' \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline{stages=2 one-group},tile-lower-rings,cse))' \
// RUN:   | FileCheck %s --check-prefix=GROUP
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline{stages=2},cse))' \
// RUN:   | FileCheck %s --check-prefix=TOKENS

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1], align = 4>, global>
#one = #tile.blocked<thread = [1], lane = [32], warp = [4], order = [0]>

module attributes {tile.target = "sm_80"} {

// One copy: with two stages the copy of the next iteration overlaps with the use in
// this one; with three, two copies are in flight; with one, nothing overlaps.
// REMARK: remark: [Passed] loop-pipelined | Category:tile-pipeline | {{.*}}groups=1, stages=2
// CHECK-LABEL: tile.kernel @single(
// CHECK-SAME: %[[G:[^:]+]]: {{[^%]+}}%[[N:[^:]+]]: index
// THREE-LABEL: tile.kernel @single(
// ONE-LABEL: tile.kernel @single(
tile.kernel @single(%g: !g, %n: index, %out: !g) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C64:.+]] = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[RING:.+]] = tile.alloc : !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
  // CHECK: %[[ANY:.+]] = arith.cmpi slt, %[[C0]], %[[N]]
  // CHECK: scf.if %[[ANY]] {
  // CHECK:   %[[P:.+]] = tile.slice %[[RING]][%[[C0]], *, *]
  // CHECK:   tile.copy async %[[G]][%[[C0]], %[[C0]]], %[[P]]
  // CHECK: }
  // CHECK-NEXT: tile.commit_group
  // CHECK: scf.for %[[I:.+]] = %[[C0]] to %[[N]] step %[[C64]] iter_args(%[[SLOT:.+]] = %[[C0]])
  // CHECK: %[[OTHER:.+]] = arith.subi %{{.+}}, %[[SLOT]]
  // CHECK-NEXT: %[[K:.+]] = tile.slice %[[RING]][%[[SLOT]], *, *]
  // CHECK-NEXT: tile.wait_group 0
  // CHECK-NEXT: %[[NEXT:.+]] = arith.addi %[[I]], %[[C64]]
  // CHECK-NEXT: %[[MORE:.+]] = arith.cmpi slt, %[[NEXT]], %[[N]]
  // CHECK: scf.if %[[MORE]] {
  // CHECK:   %[[FILL:.+]] = tile.slice %[[RING]][%[[OTHER]], *, *]
  // CHECK:   tile.copy async %[[G]][%[[NEXT]], %[[C0]]], %[[FILL]]
  // CHECK: }
  // CHECK-NEXT: tile.commit_group
  // CHECK-NEXT: tile.load %[[K]]
  // CHECK: scf.yield %[[OTHER]]
  // THREE: tile.alloc : !tile.buffer<3x64x64xf16
  // THREE-COUNT-2: tile.commit_group
  // THREE: scf.for
  // THREE: %[[WRAPS:.+]] = arith.cmpi eq, %[[SLOT:.+]], %{{.+}}
  // THREE: arith.select %[[WRAPS]],
  // THREE: tile.wait_group 1
  // ONE-NOT: scf.if
  // ONE: scf.for
  // ONE-NEXT: tile.alloc : !tile.buffer<64x64xf16
  // ONE-NEXT: tile.copy async
  // ONE-NEXT: tile.commit_group
  // ONE-NEXT: tile.wait_group 0
  // ONE-NEXT: tile.load
  scf.for %i = %c0 to %n step %c64 {
    %k = tile.alloc : !s
    tile.copy %g[%i, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
  }
}

// Two copies that are read one after the other, as in attention. Each group has its
// own wait; after it, the slot that the previous readers have finished is filled.
// REMARK: groups=2, stages=2
// CHECK-LABEL: tile.kernel @attention(
// THREE-LABEL: tile.kernel @attention(
// ONE-LABEL: tile.kernel @attention(
// TOKENS-LABEL: tile.kernel @attention(
// TOKENS: %[[Q:.+]] = tile.ring.create %{{.+}} : !tile.ring<{{.+}}, 1>
// TOKENS: %[[TO:.+]], %[[QSLOT:.+]] = tile.ring.acquire %[[Q]]
// TOKENS-NEXT: tile.copy async %{{.+}}, %[[TO]]
// TOKENS-NEXT: tile.ring.publish %[[QSLOT]]
// TOKENS: %[[KS:.+]] = tile.alloc : !tile.buffer<2x64x64xf16
// TOKENS-NEXT: %[[K:.+]] = tile.ring.create %[[KS]] : !tile.ring<{{.+}}, 2>
// TOKENS-NEXT: %[[VS:.+]] = tile.alloc : !tile.buffer<2x64x64xf16
// TOKENS-NEXT: %[[V:.+]] = tile.ring.create %[[VS]] : !tile.ring<{{.+}}, 2>
// TOKENS: tile.ring.acquire %[[K]]
// TOKENS: tile.ring.acquire %[[V]]
// TOKENS: tile.ring.acquire %[[K]]
// TOKENS: %[[QR:.+]], %[[QREAD:.+]] = tile.ring.take %[[Q]]
// TOKENS-NEXT: tile.load %[[QR]]
// TOKENS-NEXT: tile.ring.release %[[QREAD]]
// TOKENS-NEXT: scf.for
// TOKENS: %[[KR:.+]], %[[KREAD:.+]] = tile.ring.take %[[K]]
// TOKENS-NEXT: %[[TO:.+]], %[[FILL:.+]] = tile.ring.acquire %[[V]]
// TOKENS: scf.if
// TOKENS-NEXT: tile.copy async %{{.+}}, %[[TO]]
// TOKENS-NEXT: }
// TOKENS-NEXT: tile.ring.publish %[[FILL]]
// TOKENS-NEXT: tile.load %[[KR]]
// TOKENS-NEXT: tile.ring.release %[[KREAD]]
// TOKENS: tile.ring.take %[[V]]
// TOKENS: tile.ring.acquire %[[K]]
// TOKENS: tile.ring.publish
// TOKENS: tile.load
// TOKENS-NEXT: tile.ring.release
// GROUP-LABEL: tile.kernel @attention(
tile.kernel @attention(%q: !g, %k: !g, %v: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // The copy of %q overlaps with the first copies of the loop: its load moves down to
  // the loop, and later groups need not be complete.
  // CHECK: tile.copy async
  // CHECK-NEXT: tile.commit_group
  // CHECK-NOT: tile.load
  // CHECK: scf.if
  // CHECK: tile.commit_group
  // CHECK: scf.if
  // CHECK: tile.commit_group
  // CHECK: scf.if
  // CHECK: tile.commit_group
  // CHECK: tile.wait_group 3
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: scf.for
  // CHECK: tile.wait_group 2
  // CHECK: scf.if
  // CHECK: tile.commit_group
  // CHECK: tile.load
  // CHECK: tile.wait_group 2
  // CHECK: scf.if
  // CHECK: tile.commit_group
  // CHECK: tile.load
  // CHECK: scf.yield
  // THREE-COUNT-6: tile.commit_group
  // THREE: tile.wait_group 5
  // THREE: scf.for
  // THREE: tile.wait_group 4
  // THREE: tile.wait_group 4

  // Each has one buffer: the copy for %v overlaps with the use of %k, and that for %k
  // with the use of %v. The copy for this iteration is always in range.
  // ONE-COUNT-3: tile.alloc : !tile.buffer<64x64xf16
  // ONE: tile.wait_group 1
  // ONE: scf.for %[[I:.+]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // ONE-NEXT: tile.wait_group 0
  // ONE-NEXT: tile.copy async %{{.+}}[%[[I]], %{{.+}}]
  // ONE-NEXT: tile.commit_group
  // ONE-NEXT: tile.load
  // ONE: tile.wait_group 0
  // ONE-NEXT: %[[NEXT:.+]] = arith.addi %[[I]],
  // ONE: scf.if
  // ONE-NEXT: tile.copy async %{{.+}}[%[[NEXT]], %{{.+}}]
  // ONE-NEXT: }
  // ONE-NEXT: tile.commit_group
  // ONE-NEXT: tile.load

  // GROUP: scf.if
  // GROUP-COUNT-2: tile.copy async
  // GROUP: tile.commit_group
  // GROUP: scf.for
  // GROUP: tile.wait_group 0
  // GROUP: scf.if
  // GROUP-COUNT-2: tile.copy async
  // GROUP: tile.commit_group
  // GROUP-NEXT: tile.load
  // GROUP-NOT: tile.wait_group
  // GROUP: tile.return
  %qs = tile.alloc : !s
  tile.copy %q[%c0, %c0], %qs : !g, !s
  %qr = tile.load %qs[%c0, %c0] : !s -> !t
  scf.for %i = %c0 to %n step %c64 {
    %ks = tile.alloc : !s
    tile.copy %k[%i, %c0], %ks : !g, !s
    %kr = tile.load %ks[%c0, %c0] : !s -> !t
    %x = arith.addf %qr, %kr : !t
    %vs = tile.alloc : !s
    tile.copy %v[%i, %c0], %vs : !g, !s
    %vr = tile.load %vs[%c0, %c0] : !s -> !t
    %y = arith.addf %x, %vr : !t
    tile.store %y, %out[%i, %c0] : !t, !g
  }
}

// Copies with interleaved reads are one group: neither slot is free before both have
// been read. The operations that a source depends on are repeated for the other iteration.
// REMARK: groups=1, stages=2
// CHECK-LABEL: tile.kernel @interleaved(
tile.kernel @interleaved(%k: !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>, %v: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // CHECK: scf.for %[[I:.+]] =
  // CHECK: tile.wait_group 0
  // CHECK: scf.if
  // CHECK-NEXT: %[[BATCH:.+]] = arith.divui %[[NEXT:.+]], %{{.+}}
  // CHECK-NEXT: %[[HEAD:.+]] = tile.slice %{{.+}}[%[[BATCH]], *, *]
  // CHECK-NEXT: tile.slice
  // CHECK-NEXT: tile.copy async %[[HEAD]]
  // CHECK: tile.copy async
  // CHECK-NOT: tile.wait_group
  // CHECK: scf.yield
  scf.for %i = %c0 to %n step %c1 {
    %ks = tile.alloc : !s
    %batch = arith.divui %i, %c64 : index
    %kh = tile.slice %k[%batch, *, *] : !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global> to !g
    tile.copy %kh[%c0, %c0], %ks : !g, !s
    %vs = tile.alloc : !s
    tile.copy %v[%i, %c0], %vs : !g, !s
    %k0 = tile.load %ks[%c0, %c0] : !s -> !t
    %v0 = tile.load %vs[%c0, %c0] : !s -> !t
    %k1 = tile.load %ks[%c0, %c0] : !s -> !t
    %x = arith.addf %k0, %v0 : !t
    %y = arith.addf %k1, %x : !t
    tile.store %y, %out[%i, %c0] : !t, !g
  }
}

// The first loop also copies for a second loop with the same copies: there is one
// prologue and one set of rings, and past the end of the first loop the tiles of the
// second loop are copied.
// REMARK: groups=1, stages=2
// REMARK: groups=1, stages=2
// CHECK-LABEL: tile.kernel @stream(
// CHECK-SAME: %[[G:[^:]+]]: {{[^%]+}}%[[MID:[^:]+]]: index, %[[N:[^:]+]]: index
tile.kernel @stream(%g: !g, %mid: index, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[RING:.+]] = tile.alloc
  // CHECK-NOT: tile.alloc
  // CHECK: %[[TRIPS:.+]] = arith.divui
  // CHECK: %[[SPAN:.+]] = arith.muli %[[TRIPS]], %[[C64:.+]] :
  // CHECK: %[[END:.+]] = arith.addi %[[C0:.+]], %[[SPAN]]
  // CHECK: scf.if
  // CHECK: tile.commit_group
  // CHECK: %[[FIRST:.+]] = scf.for %[[I:.+]] = %[[C0]] to %[[MID]] step %[[C64]] iter_args(%{{.+}} = %[[C0]])
  // CHECK: %[[NEXT:.+]] = arith.addi %[[I]], %[[C64]]
  // CHECK: %[[HERE:.+]] = arith.cmpi slt, %[[NEXT]], %[[MID]]
  // CHECK: %[[BEYOND:.+]] = arith.subi %[[NEXT]], %[[END]]
  // CHECK: %[[THERE:.+]] = arith.addi %[[MID]], %[[BEYOND]]
  // CHECK: %[[IN:.+]] = arith.cmpi slt, %[[THERE]], %[[N]]
  // CHECK: %[[ROW:.+]] = arith.select %[[HERE]], %[[NEXT]], %[[THERE]]
  // CHECK: %[[EXISTS:.+]] = arith.ori %[[HERE]], %[[IN]]
  // CHECK: scf.if %[[EXISTS]] {
  // CHECK: tile.copy async %[[G]][%[[ROW]], %[[C0]]]
  // CHECK: scf.yield
  // CHECK: }
  // CHECK-NEXT: scf.for %{{.+}} = %[[MID]] to %[[N]] step %[[C64]] iter_args(%{{.+}} = %[[FIRST]])
  // CHECK: tile.wait_group 0
  // CHECK: tile.return
  scf.for %i = %c0 to %mid step %c64 {
    %k = tile.alloc : !s
    tile.copy %g[%i, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
  }
  scf.for %i = %mid to %n step %c64 {
    %k = tile.alloc : !s
    %zero = arith.constant 0 : index
    tile.copy %g[%i, %zero], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    %y = arith.addf %x, %x : !t
    tile.store %y, %out[%i, %c0] : !t, !g
  }
}

// With different steps or tiles there are two pipelines.
// REMARK: groups=1, stages=2
// REMARK: groups=1, stages=2
// REMARK: groups=1, stages=2
// CHECK-LABEL: tile.kernel @separate(
// CHECK: tile.alloc
// CHECK: scf.for
// CHECK: tile.alloc
// CHECK: scf.for
// CHECK: tile.alloc
// CHECK: scf.for
tile.kernel @separate(%g: !g, %mid: index, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %mid step %c64 {
    %k = tile.alloc : !s
    tile.copy %g[%i, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
  }
  scf.for %i = %mid to %n step %c1 {
    %k = tile.alloc : !s
    tile.copy %g[%i, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
  }
  scf.for %i = %mid to %n step %c1 {
    %k = tile.alloc : !s
    tile.copy %out[%i, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %g[%i, %c0] : !t, !g
  }
}

// A page table that the kernel never writes is read ahead with the copy. One that the
// kernel writes is read in its iteration.
// REMARK: remark: [Missed] copy-not-pipelined | Category:tile-pipeline | {{.*}}Reason="its place depends on 'tile.load_scalar', which cannot run ahead"
// REMARK: groups=1, stages=2
// CHECK-LABEL: tile.kernel @paged(
// CHECK-SAME: %[[G:[^:]+]]: {{[^%]+}}%[[TABLE:[^:]+]]:
// CHECK: scf.for %[[I:[^ ]+]] =
// CHECK: tile.wait_group 0
// CHECK: %[[NEXT:.+]] = arith.addi %[[I]], %{{.+}} : index
// CHECK: scf.if
// CHECK-NEXT: %[[PAGE:.+]] = tile.load_scalar %[[TABLE]][%[[NEXT]]]
// CHECK-NEXT: %[[ROW:.+]] = arith.index_cast %[[PAGE]]
// CHECK: tile.copy async %[[G]][%[[ROW]], %{{.+}}]
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tile.load_scalar
// CHECK: tile.copy async
// CHECK-NEXT: tile.commit_group
// CHECK-NEXT: tile.wait_group 0
tile.kernel @paged(%g: !g, %table: !table, %written: !table, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c1 {
    %k = tile.alloc : !s
    %page = tile.load_scalar %table[%i] : !table -> i32
    %row = arith.index_cast %page : i32 to index
    tile.copy %g[%row, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
  }
  scf.for %i = %c0 to %n step %c1 {
    %k = tile.alloc : !s
    %page = tile.load_scalar %written[%i] : !table -> i32
    %row = arith.index_cast %page : i32 to index
    tile.copy %g[%row, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
    %ones = arith.constant dense<1> : tensor<128xi32, #one>
    tile.store %ones, %written[%i] : tensor<128xi32, #one>, !table
  }
}

// A source that is known only in its iteration is copied in that iteration.
// REMARK: remark: [Missed] copy-not-pipelined | Category:tile-pipeline | {{.*}}Reason="its place depends on a value that a loop carries"
// CHECK-LABEL: tile.kernel @carried(
// CHECK: scf.for
// CHECK: tile.alloc : !tile.buffer<64x64xf16
// CHECK-NEXT: tile.copy async
// CHECK-NEXT: tile.commit_group
// CHECK-NEXT: tile.wait_group 0
// CHECK-NEXT: tile.load
tile.kernel @carried(%g: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%row = %c0) -> index {
    %k = tile.alloc : !s
    tile.copy %g[%row, %c0], %k : !g, !s
    %x = tile.load %k[%c0, %c0] : !s -> !t
    tile.store %x, %out[%i, %c0] : !t, !g
    %next = arith.addi %row, %i : index
    scf.yield %next : index
  }
}

// A read of memory that the loop does not write moves past the wait to its use:
// before the wait it would occupy registers needlessly.
// REMARK: remark: [Passed] loop-pipelined | Category:tile-pipeline | {{.*}}groups=1, stages=2
// CHECK-LABEL: tile.kernel @reread(
// CHECK: scf.for
// CHECK-NOT: tile.load
// CHECK: tile.wait_group
// CHECK: tile.commit_group
// CHECK-NEXT: %[[K:.+]] = tile.load
// CHECK-NEXT: %[[Q:.+]] = tile.load
// CHECK-NEXT: arith.addf %[[Q]], %[[K]]
// THREE-LABEL: tile.kernel @reread(
// ONE-LABEL: tile.kernel @reread(
// GROUP-LABEL: tile.kernel @reread(
tile.kernel @reread(%g: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %once = tile.alloc : !s
  tile.copy %g[%c0, %c0], %once : !g, !s
  scf.for %i = %c0 to %n step %c64 {
    %q = tile.load %once[%c0, %c0] : !s -> !t
    %each = tile.alloc : !s
    tile.copy %g[%i, %c0], %each : !g, !s
    %k = tile.load %each[%c0, %c0] : !s -> !t
    %x = arith.addf %q, %k : !t
    tile.store %x, %out[%i, %c0] : !t, !g
  }
}

// The author's number of stages is used, and the outer loop is unchanged.
// REMARK: [Missed] copy-not-pipelined {{.*}}Reason="a loop inside its loop is pipelined"
// REMARK: [Passed] loop-pipelined {{.*}}groups=1, stages=4
// REMARK-NOT: remark
// CHECK-LABEL: tile.kernel @nested(
// CHECK: scf.for
// CHECK: tile.copy async
// CHECK-NEXT: tile.commit_group
// CHECK: tile.alloc : !tile.buffer<4x64x64xf16
// CHECK-COUNT-3: scf.if
// CHECK: scf.for
// CHECK: tile.wait_group 2
// CHECK-NOT: tile.schedule
tile.kernel @nested(%g: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
    %x = tile.load %a[%c0, %c0] : !s -> !t
    scf.for %j = %c0 to %n step %c1 {
      %b = tile.alloc : !s
      tile.copy %g[%j, %c0], %b : !g, !s
      %y = tile.load %b[%c0, %c0] : !s -> !t
      %z = arith.addf %x, %y : !t
      tile.store %z, %out[%j, %c0] : !t, !g
    } {tile.schedule = #tile.schedule<stages = 4>}
  }
}

}
