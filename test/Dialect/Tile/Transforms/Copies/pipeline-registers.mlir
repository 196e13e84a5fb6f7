// Chips without asynchronous copies fill rings through registers: the load stands where
// the slot is acquired, the store after the readers of the other slots. The products
// between stay there. AMD chips check bounds without a branch: a load of an iteration
// that does not exist starts at the end of the buffer.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline,tile-lower-rings,cse))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline,tile-lower-rings,tile-plan-shared-memory,tile-insert-barriers,cse))' \
// RUN:   | FileCheck %s --check-prefix=BARRIER

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>
!s = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

module attributes {tile.target = "gfx1201"} {

// With one stage, the tile of %v is loaded beside the use of %k, and that of the next %k
// beside the use of %v. Each phase has one barrier.
// REMARK: [Passed] loop-pipelined {{.*}}groups=2, stages=1
// CHECK-LABEL: tile.kernel @attention(
// CHECK-SAME: %[[K:[^:]+]]: {{[^%]+}}%[[V:[^:]+]]: {{[^%]+}}%[[N:[^:]+]]: index
// BARRIER-LABEL: tile.kernel @attention(
tile.kernel @attention(%k: !g, %v: !g, %n: index, %out: !g)
    attributes {schedule = #tile.schedule<stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[KS:.+]] = tile.alloc
  // CHECK: %[[VS:.+]] = tile.alloc
  // CHECK: %[[ANY:.+]] = arith.cmpi slt, %[[C0:.+]], %[[N]]
  // CHECK-NEXT: %[[END:.+]] = tile.dim %[[K]][0]
  // CHECK-NEXT: %[[START:.+]] = arith.select %[[ANY]], %[[C0]], %[[END]] : index
  // CHECK-NEXT: %[[FIRST:.+]] = tile.load %[[K]][%[[START]], %[[C0]]] : {{.+}} -> tensor<64x64xf16, #[[COPY:.+]]>
  // CHECK-NEXT: tile.schedule_barrier
  // CHECK-NEXT: tile.schedule_barrier
  // CHECK-NEXT: tile.store %[[FIRST]], %[[KS]]
  // CHECK: scf.for %[[I:.+]] = %[[C0]] to %[[N]] step %{{.+}} {
  // CHECK-NEXT: %[[THIS:.+]] = tile.load %[[V]][%[[I]], %[[C0]]] : {{.+}} -> tensor<64x64xf16, #[[COPY]]>
  // CHECK-NEXT: tile.schedule_barrier
  // CHECK-NEXT: tile.load %[[KS]]
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: tile.schedule_barrier
  // CHECK-NEXT: tile.store %[[THIS]], %[[VS]]
  // CHECK-NEXT: %[[NEXT:.+]] = arith.addi %[[I]],
  // CHECK-NEXT: %[[MORE:.+]] = arith.cmpi slt, %[[NEXT]], %[[N]]
  // CHECK-NEXT: %[[PLACE:.+]] = arith.select %[[MORE]], %[[NEXT]], %[[END]] : index
  // CHECK-NEXT: %[[LATER:.+]] = tile.load %[[K]][%[[PLACE]], %[[C0]]]
  // CHECK: tile.load %[[VS]]
  // CHECK: tile.store {{.+}}, %{{.+}} : tensor<64x64xf16, #{{.+}}>, !tile.buffer<?x64xf16
  // CHECK-NEXT: tile.schedule_barrier
  // CHECK-NEXT: tile.store %[[LATER]], %[[KS]]
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.return
  // BARRIER: scf.for
  // BARRIER-NEXT: tile.load %{{.+}} : !tile.buffer<?x64xf16
  // BARRIER-NEXT: tile.schedule_barrier
  // BARRIER-NEXT: tile.barrier
  // BARRIER-NEXT: tile.load
  // BARRIER-NEXT: arith.addf
  // BARRIER-NEXT: tile.schedule_barrier
  // BARRIER-NEXT: tile.store
  // BARRIER: arith.select
  // BARRIER: tile.barrier
  // BARRIER-NEXT: tile.load
  // BARRIER-NOT: tile.barrier
  // BARRIER: tile.return
  scf.for %i = %c0 to %n step %c64 {
    %ks = tile.alloc : !s
    tile.copy %k[%i, %c0], %ks : !g, !s
    %kr = tile.load %ks[%c0, %c0] : !s -> !t
    %kx = arith.addf %kr, %kr : !t
    %vs = tile.alloc : !s
    tile.copy %v[%i, %c0], %vs : !g, !s
    %vr = tile.load %vs[%c0, %c0] : !s -> !t
    %y = arith.addf %kx, %vr : !t
    tile.store %y, %out[%i, %c0] : !t, !g
  }
}

// Two tiles of a group are loaded under one condition. The loop asks for two stages;
// another one gets two, since it has one group.
// REMARK: [Passed] loop-pipelined {{.*}}groups=1, stages=2
// REMARK: [Passed] loop-pipelined {{.*}}groups=1, stages=2
// CHECK-LABEL: tile.kernel @product(
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.+]] = %{{.+}}) -> (index)
// CHECK: %[[OTHER:.+]] = arith.subi %{{.+}}, %[[SLOT]]
// CHECK-NOT: scf.if
// CHECK: %[[FIRST:.+]] = tile.load %{{.+}} : !tile.buffer<?x64xf16
// CHECK: %[[SECOND:.+]] = tile.load %{{.+}} : !tile.buffer<?x64xf16
// CHECK: tile.load
// CHECK: tile.load
// CHECK: %[[A:.+]] = tile.slice %{{.+}}[%[[OTHER]], *, *]
// CHECK-NEXT: tile.store %[[FIRST]], %[[A]]
// CHECK-NEXT: %[[B:.+]] = tile.slice %{{.+}}[%[[OTHER]], *, *]
// CHECK-NEXT: tile.store %[[SECOND]], %[[B]]
// CHECK-NEXT: scf.yield %[[OTHER]]
// CHECK: scf.for
// CHECK-NOT: #tile.schedule
// The slot that is filled is another one than the slot that is read, so one barrier a
// phase orders both.
// BARRIER-LABEL: tile.kernel @product(
// BARRIER: scf.for
// BARRIER: arith.select
// BARRIER: tile.barrier
// BARRIER-NEXT: tile.load
// BARRIER-NEXT: tile.load
// BARRIER-NOT: tile.barrier
// BARRIER: tile.store %{{.+}} : tensor<64x64xf16, #{{.+}}>, !tile.buffer<?x64xf16
// BARRIER-NOT: tile.barrier
// BARRIER: }
// BARRIER: scf.for
tile.kernel @product(%a: !g, %b: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c64 {
    %as = tile.alloc : !s
    tile.copy %a[%i, %c0], %as : !g, !s
    %bs = tile.alloc : !s
    tile.copy %b[%i, %c0], %bs : !g, !s
    %ar = tile.load %as[%c0, %c0] : !s -> !t
    %br = tile.load %bs[%c0, %c0] : !s -> !t
    %again = tile.load %as[%c0, %c0] : !s -> !t
    %x = arith.addf %ar, %br : !t
    %y = arith.addf %x, %again : !t
    tile.store %y, %out[%i, %c0] : !t, !g
  } {tile.schedule = #tile.schedule<stages = 2>}
  scf.for %i = %c0 to %n step %c64 {
    %as = tile.alloc : !s
    tile.copy %a[%i, %c0], %as : !g, !s
    %ar = tile.load %as[%c0, %c0] : !s -> !t
    tile.store %ar, %out[%i, %c0] : !t, !g
  }
}

// With three stages, a slot is filled a phase after its readers and read two phases
// later: one barrier an iteration orders both groups.
// BARRIER-LABEL: tile.kernel @three(
// BARRIER: tile.barrier
// BARRIER-NEXT: scf.for
// BARRIER-NOT: tile.barrier
// BARRIER: tile.load %{{.+}} : !tile.buffer<64x64xf16
// BARRIER-NOT: tile.barrier
// BARRIER: tile.load %{{.+}} : !tile.buffer<64x64xf16
// BARRIER: tile.barrier
// BARRIER-NEXT: tile.store
// BARRIER-NOT: tile.barrier
// BARRIER: tile.return
tile.kernel @three(%k: !g, %v: !g, %n: index, %out: !g)
    attributes {schedule = #tile.schedule<stages = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c64 {
    %ks = tile.alloc : !s
    tile.copy %k[%i, %c0], %ks : !g, !s
    %kr = tile.load %ks[%c0, %c0] : !s -> !t
    tile.store %kr, %out[%i, %c0] : !t, !g
    %vs = tile.alloc : !s
    tile.copy %v[%i, %c0], %vs : !g, !s
    %vr = tile.load %vs[%c0, %c0] : !s -> !t
    tile.store %vr, %out[%i, %c0] : !t, !g
  }
}

// Copies that their author makes asynchronous become ordinary ones where no slot is
// theirs alone.
// CHECK-LABEL: tile.kernel @by_hand(
// CHECK-NOT: tile.commit_group
// CHECK-NOT: tile.wait_group
// CHECK: tile.copy async %{{.+}}, %[[S:.+]] :
// CHECK-NEXT: tile.copy async %{{.+}}, %[[S]] :
// CHECK-NEXT: tile.load %[[S]]
tile.kernel @by_hand(%a: !g, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %s = tile.alloc : !s
  %ring = tile.ring.create %s : !tile.ring<!s, 1>
  %to, %fill = tile.ring.acquire %ring : !tile.ring<!s, 1>
  tile.copy async %a[%c0, %c0], %to : !g, !s
  tile.copy async %a[%c1, %c0], %to : !g, !s
  tile.ring.publish %fill
  %from, %read = tile.ring.take %ring : !tile.ring<!s, 1>
  %t = tile.load %from[%c0, %c0] : !s -> !t
  tile.ring.release %read
  tile.store %t, %out[%c0, %c0] : !t, !g
}


// The second loop begins where the first one ends: the tile ahead has the same start in
// both. It is a sum, which is known not to be negative.
// CHECK-LABEL: tile.kernel @adjoining(
// CHECK: %[[MID:.+]] = arith.muli
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %[[MID]] step
// CHECK: %[[NEXT:.+]] = arith.addi %[[I]],
// CHECK-NOT: arith.subi
// CHECK: %[[START:.+]] = arith.select %{{.+}}, %[[NEXT]], %[[NEXT]] : index
// CHECK: scf.for
tile.kernel @adjoining(%g: !g, %v: !g, %out: !g)
    attributes {schedule = #tile.schedule<stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %g[0] : !g
  %blocks = arith.divui %n, %c64 : index
  %mid = arith.muli %blocks, %c64 : index
  %zero = arith.constant dense<0.0> : !t
  %first = scf.for %i = %c0 to %mid step %c64 iter_args(%s = %zero) -> (!t) {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
    %x = tile.load %a[%c0, %c0] : !s -> !t
    %y = arith.addf %s, %x : !t
    %b = tile.alloc : !s
    tile.copy %v[%i, %c0], %b : !g, !s
    %z = tile.load %b[%c0, %c0] : !s -> !t
    %w = arith.addf %y, %z : !t
    scf.yield %w : !t
  }
  %second = scf.for %i = %mid to %n step %c64 iter_args(%s = %first) -> (!t) {
    %a = tile.alloc : !s
    tile.copy %g[%i, %c0], %a : !g, !s
    %x = tile.load %a[%c0, %c0] : !s -> !t
    %y = arith.addf %s, %x : !t
    %b = tile.alloc : !s
    tile.copy %v[%i, %c0], %b : !g, !s
    %z = tile.load %b[%c0, %c0] : !s -> !t
    %w = arith.subf %y, %z : !t
    scf.yield %w : !t
  }
  tile.store %second, %out[%c0, %c0] : !t, !g
}

}
