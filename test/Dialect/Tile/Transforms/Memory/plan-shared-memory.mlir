// Buffers that are never live at the same time share memory.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t.remarks \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// Existing offsets are kept.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory,tile-plan-shared-memory))' \
// RUN:   | FileCheck %s

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<64x64xf16, #row>
!p = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!big = !tile.buffer<256x128xf32, #tile.padded<0, order = [1, 0]>, shared>
!bt = tensor<256x128xf32, #row>

module attributes {tile.target = "sm_80"} {

// CHECK-LABEL: tile.kernel @disjoint()
// CHECK-SAME: shared_bytes = 9216 : i64
tile.kernel @disjoint() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  // CHECK-COUNT-2: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !p
  %b = tile.alloc : !p
  tile.store %t, %a[%c0, %c0] : !t, !p
  %x = tile.load %a[%c0, %c0] : !p -> !t
  tile.store %x, %b[%c0, %c0] : !t, !p
  %y = tile.load %b[%c0, %c0] : !p -> !t
}

// Warps may still use a buffer whose accesses mbarriers order while others use the
// next one.
// CHECK-LABEL: tile.kernel @ordered()
// CHECK-SAME: shared_bytes = 18432 : i64
tile.kernel @ordered() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  %a = tile.alloc {tile.ordered} : !p
  %b = tile.alloc : !p
  tile.store %t, %a[%c0, %c0] : !t, !p
  %x = tile.load %a[%c0, %c0] : !p -> !t
  tile.store %x, %b[%c0, %c0] : !t, !p
  %y = tile.load %b[%c0, %c0] : !p -> !t
}

// The swizzled buffer starts at a multiple of 1024 bytes.
// CHECK-LABEL: tile.kernel @together()
// CHECK-SAME: shared_bytes = 17408 : i64
tile.kernel @together() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  // CHECK: tile.alloc {offset = 0 : i64} : !tile.buffer<64x64xf16, #tile.padded
  // CHECK: tile.alloc {offset = 9216 : i64} : !tile.buffer<64x64xf16, #tile.swizzle
  %a = tile.alloc : !p
  %b = tile.alloc : !s
  tile.store %t, %a[%c0, %c0] : !t, !p
  tile.store %t, %b[%c0, %c0] : !t, !s
  %x = tile.load %a[%c0, %c0] : !p -> !t
  %y = tile.load %b[%c0, %c0] : !s -> !t
}

// %a is used across iterations, so it is live in the whole loop. The buffers of the
// loop do not share memory, because there is enough.
// CHECK-LABEL: tile.kernel @loop()
// CHECK-SAME: shared_bytes = 27648 : i64
tile.kernel @loop() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  // CHECK: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !p
  tile.store %t, %a[%c0, %c0] : !t, !p
  scf.for %i = %c0 to %c4 step %c1 {
    // CHECK: tile.alloc {offset = 9216 : i64}
    // CHECK: tile.alloc {offset = 18432 : i64}
    %x = tile.load %a[%c0, %c0] : !p -> !t
    %b = tile.alloc : !p
    tile.store %x, %b[%c0, %c0] : !t, !p
    %y = tile.load %b[%c0, %c0] : !p -> !t
    %c = tile.alloc : !p
    tile.store %y, %c[%c0, %c0] : !t, !p
    %z = tile.load %c[%c0, %c0] : !p -> !t
  }
  // The memory is free again after the loop.
  // CHECK: tile.alloc {offset = 0 : i64}
  %d = tile.alloc : !p
  tile.store %t, %d[%c0, %c0] : !t, !p
  %w = tile.load %d[%c0, %c0] : !p -> !t
}

// CHECK-LABEL: tile.kernel @tight()
// CHECK-SAME: shared_bytes = 131072 : i64
// REMARK: remark: [Missed] buffers-share-in-loop | Category:tile-plan-shared-memory | {{.*}}Reason="buffers of one loop share memory, which takes more barriers: apart they need 262144 bytes, and sm_80 has 166912"
// REMARK-NOT: remark
tile.kernel @tight() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !bt
  scf.for %i = %c0 to %c4 step %c1 {
    // CHECK-COUNT-2: tile.alloc {offset = 0 : i64}
    %b = tile.alloc : !big
    tile.store %t, %b[%c0, %c0] : !bt, !big
    %y = tile.load %b[%c0, %c0] : !big -> !bt
    %c = tile.alloc : !big
    tile.store %y, %c[%c0, %c0] : !bt, !big
    %z = tile.load %c[%c0, %c0] : !big -> !bt
  }
}

// A copy without a wait may write until the kernel ends.
// CHECK-LABEL: tile.kernel @in_flight
tile.kernel @in_flight(%g: !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  // CHECK: tile.alloc {offset = 0 : i64}
  // CHECK: tile.alloc {offset = 9216 : i64}
  %a = tile.alloc : !p
  tile.copy async %g[%c0, %c0], %a : !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>, !p
  %b = tile.alloc : !p
  tile.store %t, %b[%c0, %c0] : !t, !p
  %y = tile.load %b[%c0, %c0] : !p -> !t
}

// CHECK-LABEL: tile.kernel @pinned()
// CHECK-SAME: shared_bytes = 27648 : i64
tile.kernel @pinned() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : !t
  // CHECK: tile.alloc {offset = 9216 : i64}
  // CHECK: tile.alloc {offset = 0 : i64}
  // CHECK: tile.alloc {offset = 18432 : i64}
  %a = tile.alloc {offset = 9216 : i64} : !p
  %b = tile.alloc : !p
  %c = tile.alloc : !p
  tile.store %t, %a[%c0, %c0] : !t, !p
  tile.store %t, %b[%c0, %c0] : !t, !p
  tile.store %t, %c[%c0, %c0] : !t, !p
  %x = tile.load %a[%c0, %c0] : !p -> !t
  %y = tile.load %b[%c0, %c0] : !p -> !t
  %z = tile.load %c[%c0, %c0] : !p -> !t
}

// CHECK-LABEL: tile.kernel @nothing()
// CHECK-SAME: shared_bytes = 0 : i64
tile.kernel @nothing() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

}
