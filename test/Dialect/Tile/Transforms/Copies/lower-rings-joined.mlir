// RUN: tile-opt %s -split-input-file -allow-unregistered-dialect --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-lower-rings,cse))' | FileCheck %s

// Rings whose slots are in use together share mbarriers.

!m = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!ring = !tile.ring<!tile, 2>

// Both slots are taken and released side by side: one wait and one arrival. Each copy
// arrives at the mbarrier of the first ring.
// CHECK-LABEL: tile.kernel @product
tile.kernel @product(%a: !m, %b: !m, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %as = tile.alloc : !storage
  // CHECK: %[[F:.*]] = tile.alloc : !tile.buffer<2xi64
  // CHECK: %[[E:.*]] = tile.alloc : !tile.buffer<2xi64
  // CHECK-NOT: tile.alloc : !tile.buffer<2xi64
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !ring
  %bs = tile.alloc : !storage
  %bf = tile.alloc : !bars
  %be = tile.alloc : !bars
  %rb = tile.ring.create %bs, %bf, %be : !ring
  // CHECK: tile.init_barriers %[[F]], 2
  // CHECK-NEXT: tile.init_barriers %[[E]], 4
  // CHECK: tile.warp_roles
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK: scf.for
    // CHECK: tile.wait_barrier %[[F]]
    // CHECK-NOT: tile.wait_barrier
    // CHECK: tile.await
    // CHECK-NEXT: tile.arrive_barrier %[[E]]
    // CHECK-NOT: tile.arrive_barrier
    // CHECK: scf.yield
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %at, %aslot = tile.ring.take %ra : !ring
      %bt, %bslot = tile.ring.take %rb : !ring
      %p = tile.dot async %at, %bt, %x : !tile, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      tile.ring.release %bslot
      tile.ring.release %aslot
      scf.yield %y : !acc
    }
  }, {
    // CHECK: scf.for
    // CHECK: tile.wait_barrier %[[E]]
    // CHECK: tile.bulk_copy %{{.*}}, %[[F]][%[[SLOT:.*]]] :
    // CHECK-NOT: tile.wait_barrier
    // CHECK: tile.bulk_copy %{{.*}}, %[[F]][%[[SLOT]]] :
    scf.for %i = %c0 to %n step %c64 {
      %at, %aslot = tile.ring.acquire %ra : !ring
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %at fills %aslot : !m, !tile
      %bt, %bslot = tile.ring.acquire %rb : !ring
      tile.bulk_copy %b[%i, %c0] dims [0, 1], %bt fills %bslot : !m, !tile
    }
  }
}

// -----

!m = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
!rows = !tile.buffer<2x64xf32, #tile.padded<0, order = [0]>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!ring = !tile.ring<!tile, 2>
!row_ring = !tile.ring<!row, 2>

// A few bytes that are taken later and released earlier join the ring of the tile that
// is held meanwhile. Their release remains an arrival of its own.
// CHECK-LABEL: tile.kernel @held
tile.kernel @held(%a: !m, %r: !v, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %rs = tile.alloc : !rows
  %rf = tile.alloc : !bars
  %re = tile.alloc : !bars
  %rr = tile.ring.create %rs, %rf, %re : !row_ring
  %as = tile.alloc : !storage
  // CHECK: %[[F:.*]] = tile.alloc : !tile.buffer<2xi64
  // CHECK: %[[E:.*]] = tile.alloc : !tile.buffer<2xi64
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !ring
  // CHECK: tile.init_barriers %[[F]], 2
  // CHECK-NEXT: tile.init_barriers %[[E]], 8
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK: scf.for
    // CHECK: tile.wait_barrier %[[F]]
    // CHECK: tile.dot async
    // CHECK-NOT: tile.wait_barrier
    // CHECK: tile.load
    // CHECK: tile.arrive_barrier %[[E]][%{{.*}}] fenced
    // CHECK: tile.await
    // CHECK-NEXT: tile.arrive_barrier %[[E]][%{{[^ ]*}}] :
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %at, %aslot = tile.ring.take %ra : !ring
      %p = tile.dot async %at, %at, %x : !tile, !tile, !acc -> !tile.pending<!acc>
      %rt, %rslot = tile.ring.take %rr : !row_ring
      %l = tile.load %rt[%c0] : !row -> tensor<64xf32, #tile.slice<0, #mma>>
      "test.use"(%l) : (tensor<64xf32, #tile.slice<0, #mma>>) -> ()
      tile.ring.release %rslot fenced
      %y = tile.await %p : !tile.pending<!acc>
      tile.ring.release %aslot
      scf.yield %y : !acc
    }
  }, {
    // CHECK: tile.wait_barrier %[[E]]
    // CHECK-NOT: tile.wait_barrier
    scf.for %i = %c0 to %n step %c64 {
      %rt, %rslot = tile.ring.acquire %rr : !row_ring
      tile.bulk_copy %r[%i] dims [0], %rt fills %rslot : !v, !row
      %at, %aslot = tile.ring.acquire %ra : !ring
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %at fills %aslot : !m, !tile
    }
  }
}

// -----

!m = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!ring = !tile.ring<!tile, 2>

// The slot of the second ring is needed later and longer, as V is in attention.
// CHECK-LABEL: tile.kernel @later
tile.kernel @later(%a: !m, %b: !m, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %as = tile.alloc : !storage
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !ring
  %bs = tile.alloc : !storage
  %bf = tile.alloc : !bars
  %be = tile.alloc : !bars
  %rb = tile.ring.create %bs, %bf, %be : !ring
  // CHECK-COUNT-2: tile.init_barriers %{{.*}}, 1
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK: scf.for
    // CHECK-COUNT-2: tile.wait_barrier
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %at, %aslot = tile.ring.take %ra : !ring
      %p = tile.dot async %at, %at, %x : !tile, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      tile.ring.release %aslot
      %bt, %bslot = tile.ring.take %rb : !ring
      %q = tile.dot async %bt, %bt, %y : !tile, !tile, !acc -> !tile.pending<!acc>
      %z = tile.await %q : !tile.pending<!acc>
      tile.ring.release %bslot
      scf.yield %z : !acc
    }
  }, {
    scf.for %i = %c0 to %n step %c64 {
      %at, %aslot = tile.ring.acquire %ra : !ring
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %at fills %aslot : !m, !tile
      %bt, %bslot = tile.ring.acquire %rb : !ring
      tile.bulk_copy %b[%i, %c0] dims [0, 1], %bt fills %bslot : !m, !tile
    }
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!storage = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
!rows = !tile.buffer<2x64xf32, #tile.padded<0, order = [0]>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
#left = #tile.dot_operand<0, #mma>
!acc = tensor<64x64xf32, #mma>
!ring = !tile.ring<!tile, 2>
!row_ring = !tile.ring<!row, 2>

// Threads load the left operand and the factors of a product. The right operand is taken
// later, but filled first, and all slots are released soon after the product. One wait and
// one arrival serve all three.
// CHECK-LABEL: tile.kernel @loaded
tile.kernel @loaded(%a: !m, %b: !m, %r: !v, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %bs = tile.alloc : !storage
  %bf = tile.alloc : !bars
  %be = tile.alloc : !bars
  %rb = tile.ring.create %bs, %bf, %be : !ring
  %as = tile.alloc : !storage
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !ring
  %rs = tile.alloc : !rows
  %rf = tile.alloc : !bars
  %re = tile.alloc : !bars
  %rr = tile.ring.create %rs, %rf, %re : !row_ring
  // CHECK: tile.init_barriers %[[F:.*]], 3
  // CHECK-NEXT: tile.init_barriers %[[E:.*]], 4
  // CHECK-NOT: tile.init_barriers
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK: scf.for
    // CHECK: tile.wait_barrier %[[F]]
    // CHECK-NOT: tile.wait_barrier
    // CHECK-NOT: tile.arrive_barrier
    // CHECK: tile.await
    // CHECK-NOT: tile.wait_barrier
    // CHECK: tile.arrive_barrier %[[E]][%{{.*}}] fenced
    // CHECK-NOT: tile.arrive_barrier
    // CHECK: scf.yield
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %at, %aslot = tile.ring.take %ra : !ring
      %l = tile.load %at[%c0, %c0] : !tile -> tensor<64x64xf16, #left>
      tile.ring.release %aslot fenced
      %bt, %bslot = tile.ring.take %rb : !ring
      %p = tile.dot async %l, %bt, %zero : tensor<64x64xf16, #left>, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      tile.ring.release %bslot
      %rt, %rslot = tile.ring.take %rr : !row_ring
      %f = tile.load %rt[%c0] : !row -> tensor<64xf32, #tile.slice<1, #mma>>
      tile.ring.release %rslot fenced
      %e = tile.broadcast %f along 1 : tensor<64xf32, #tile.slice<1, #mma>> -> !acc
      %z = arith.mulf %y, %e : !acc
      %t = arith.addf %x, %z : !acc
      scf.yield %t : !acc
    }
  }, {
    // CHECK: tile.wait_barrier %[[E]]
    // CHECK-NOT: tile.wait_barrier
    scf.for %i = %c0 to %n step %c64 {
      %bt, %bslot = tile.ring.acquire %rb : !ring
      tile.bulk_copy %b[%i, %c0] dims [0, 1], %bt fills %bslot : !m, !tile
      %at, %aslot = tile.ring.acquire %ra : !ring
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %at fills %aslot : !m, !tile
      %rt, %rslot = tile.ring.acquire %rr : !row_ring
      tile.bulk_copy %r[%i] dims [0], %rt fills %rslot : !v, !row
    }
  }
}

// -----

!m = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tall = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<128x64xf32, #mma>
!tall_ring = !tile.ring<!tall, 2>
!ring = !tile.ring<!tile, 2>

// The copy of the smaller tile starts first, behind the one wait.
// CHECK-LABEL: tile.kernel @smallest_first(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: !tile.buffer<?x64xf16,
tile.kernel @smallest_first(%a: !m, %b: !m, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %as = tile.alloc : !tile.buffer<2x128x64xf16, #tile.swizzle<128>, shared>
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !tall_ring
  %bs = tile.alloc : !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
  %bf = tile.alloc : !bars
  %be = tile.alloc : !bars
  %rb = tile.ring.create %bs, %bf, %be : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %at, %aslot = tile.ring.take %ra : !tall_ring
      %bt, %bslot = tile.ring.take %rb : !ring
      %p = tile.dot async %at, %bt, %x : !tall, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      tile.ring.release %bslot
      tile.ring.release %aslot
      scf.yield %y : !acc
    }
  }, {
    // CHECK: tile.wait_barrier
    // CHECK: scf.for %[[I:[a-z0-9]+]] =
    // CHECK: %[[NEXT:[a-z0-9]+]] = arith.addi %[[I]],
    // CHECK: tile.wait_barrier
    // CHECK-NOT: tile.wait_barrier
    // CHECK: tile.bulk_copy %[[B]][%[[NEXT]],
    // CHECK: tile.bulk_copy %[[A]][%[[I]],
    scf.for %i = %c0 to %n step %c64 {
      %at, %aslot = tile.ring.acquire %ra : !tall_ring
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %at fills %aslot : !m, !tall
      %next = arith.addi %i, %c1 : index
      %bt, %bslot = tile.ring.acquire %rb : !ring
      tile.bulk_copy %b[%next, %c0] dims [0, 1], %bt fills %bslot : !m, !tile
    }
  }
}

// -----

!m = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tall = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<128x64xf32, #mma>
!tall_ring = !tile.ring<!tall, 2>
!ring = !tile.ring<!tile, 2>

// Something else uses the smaller tile: the copies stay in their order.
// CHECK-LABEL: tile.kernel @other_use(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: !tile.buffer<?x64xf16,
tile.kernel @other_use(%a: !m, %b: !m, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %as = tile.alloc : !tile.buffer<2x128x64xf16, #tile.swizzle<128>, shared>
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !tall_ring
  %bs = tile.alloc : !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
  %bf = tile.alloc : !bars
  %be = tile.alloc : !bars
  %rb = tile.ring.create %bs, %bf, %be : !ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %at, %aslot = tile.ring.take %ra : !tall_ring
      %bt, %bslot = tile.ring.take %rb : !ring
      %p = tile.dot async %at, %bt, %x : !tall, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      tile.ring.release %bslot
      tile.ring.release %aslot
      scf.yield %y : !acc
    }
  }, {
    // CHECK: tile.bulk_copy %[[A]][
    // CHECK: tile.bulk_copy %[[B]][
    scf.for %i = %c0 to %n step %c64 {
      %at, %aslot = tile.ring.acquire %ra : !tall_ring
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %at fills %aslot : !m, !tall
      %next = arith.addi %i, %c1 : index
      %bt, %bslot = tile.ring.acquire %rb : !ring
      %part = tile.slice %bt[*, *] : !tile to !tile
      tile.bulk_copy %b[%next, %c0] dims [0, 1], %bt fills %bslot : !m, !tile
    }
  }
}

// -----

!m = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!ring = !tile.ring<!tile, 2>
!row_ring = !tile.ring<!row, 2>

// The smaller tile is taken behind the product: its copy stays behind that of
// the larger one, which the product waits for.
// CHECK-LABEL: tile.kernel @taken_later(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{.*}}, %[[R:[a-z0-9]+]]: !tile.buffer<?xf32,
tile.kernel @taken_later(%a: !m, %r: !v, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %as = tile.alloc : !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
  %af = tile.alloc : !bars
  %ae = tile.alloc : !bars
  %ra = tile.ring.create %as, %af, %ae : !ring
  %rs = tile.alloc : !tile.buffer<2x64xf32, #tile.padded<0, order = [0]>, shared>
  %rf = tile.alloc : !bars
  %re = tile.alloc : !bars
  %rr = tile.ring.create %rs, %rf, %re : !row_ring
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %at, %aslot = tile.ring.take %ra : !ring
      %p = tile.dot async %at, %at, %x : !tile, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      %rt, %rslot = tile.ring.take %rr : !row_ring
      "use"(%rt) : (!row) -> ()
      tile.ring.release %rslot
      tile.ring.release %aslot
      scf.yield %y : !acc
    }
  }, {
    // CHECK: tile.bulk_copy %[[A]][
    // CHECK: tile.bulk_copy %[[R]][
    scf.for %i = %c0 to %n step %c64 {
      %at, %aslot = tile.ring.acquire %ra : !ring
      tile.bulk_copy %a[%i, %c0] dims [0, 1], %at fills %aslot : !m, !tile
      %rt, %rslot = tile.ring.acquire %rr : !row_ring
      tile.bulk_copy %r[%i] dims [0], %rt fills %rslot : !v, !row
    }
  }
}
