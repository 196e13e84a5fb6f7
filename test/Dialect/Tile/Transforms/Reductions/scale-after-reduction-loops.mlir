// Loops with asynchronous products have a copy for positive, finite scales, which has no
// branch beside a product in flight.
// RUN: tile-opt %s -allow-unregistered-dialect --pass-pipeline='builtin.module(tile.kernel(tile-scale-after-reduction,canonicalize))' | FileCheck %s

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!s = tensor<64x64xf32, #mma>
!row = tensor<64xf32, #tile.slice<1, #mma>>
!flags = tensor<64x64xi1, #mma>

// The loop around the loop with the product is copied. A scale beside -inf of a mask
// also moves behind the maximum. The other loop is the program.
// CHECK-LABEL: tile.kernel @masked(
// CHECK-SAME: %[[SCALE:.+]]: f32
// CHECK: %[[ABOVE:.+]] = arith.cmpf ogt, %[[SCALE]], %{{.+}} : f32
// CHECK: %[[BELOW:.+]] = arith.cmpf olt, %[[SCALE]], %{{.+}} : f32
// CHECK: %[[POSITIVE:.+]] = arith.andi %[[ABOVE]], %[[BELOW]] : i1
// CHECK: scf.if %[[POSITIVE]] {
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:       %[[S:.+]] = tile.await
// CHECK-NEXT:  %[[SEEN:.+]] = arith.select %{{.+}}, %[[S]], %{{.+}}
// CHECK-NEXT:  %[[M:.+]] = tile.reduce maxnumf %[[SEEN]] along 1
// CHECK-NEXT:  %[[ROW:.+]] = tensor.splat %[[SCALE]]
// CHECK-NEXT:  %[[MOST:.+]] = arith.mulf %[[M]], %[[ROW]]
// CHECK-NEXT:  %[[B:.+]] = tile.broadcast %[[MOST]]
// CHECK-NEXT:  %[[MINUS:.+]] = arith.negf %[[B]]
// CHECK-NEXT:  math.fma %[[SEEN]], %{{.+}}, %[[MINUS]]
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:       %[[S:.+]] = tile.await
// CHECK-NEXT:  %[[PRODUCT:.+]] = arith.mulf %[[S]]
// CHECK-NEXT:  %[[SEEN:.+]] = arith.select %{{.+}}, %[[PRODUCT]], %{{.+}}
// CHECK-NEXT:  tile.reduce maxnumf %[[SEEN]] along 1
// CHECK-NOT:   math.fma
tile.kernel @masked(%scale: f32, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %hidden = arith.constant dense<0xFF800000> : !s
  %splat = tensor.splat %scale : !s
  %t = tile.alloc : !tile
  %visible = "test.visible"() : () -> !flags
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %p = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<!s>
      %s = tile.await %p : !tile.pending<!s>
      %product = arith.mulf %s, %splat : !s
      %seen = arith.select %visible, %product, %hidden : !flags, !s
      %most = tile.reduce maxnumf %seen along 1 : !s -> !row
      %b = tile.broadcast %most along 1 : !row -> !s
      %d = arith.subf %seen, %b : !s
      "test.use"(%d) : (!s) -> ()
    }
  }
}

// Results of the loop, and two scales. A mask with another number stays.
// CHECK-LABEL: tile.kernel @two_scales(
// CHECK-SAME: %[[FIRST:.+]]: f32, %[[SECOND:.+]]: f32
// CHECK: %[[ONE:.+]] = arith.andi
// CHECK: %[[OTHER:.+]] = arith.andi
// CHECK: %[[BOTH:.+]] = arith.andi %[[ONE]], %[[OTHER]] : i1
// CHECK: %[[RESULT:.+]] = scf.if %[[BOTH]] -> (tensor<64xf32
// CHECK:   %[[LOOP:.+]] = scf.for
// CHECK:     %[[S:.+]] = tile.await
// CHECK-NEXT: %[[M:.+]] = tile.reduce minnumf %[[S]] along 1
// CHECK-NEXT: %[[ROW:.+]] = tensor.splat %[[FIRST]]
// CHECK-NEXT: arith.mulf %[[M]], %[[ROW]]
// CHECK-NEXT: tile.reduce maxnumf %[[S]] along 1
// CHECK-NEXT: %[[ROW:.+]] = tensor.splat %[[SECOND]]
// CHECK:     %[[PRODUCT:.+]] = arith.mulf %[[S]]
// CHECK-NEXT: %[[SEEN:.+]] = arith.select %{{.+}}, %[[PRODUCT]]
// CHECK-NEXT: tile.reduce maxnumf %[[SEEN]] along 1
// CHECK:   scf.yield %[[LOOP]]
// CHECK: } else {
// CHECK:   %[[LOOP:.+]] = scf.for
// CHECK-COUNT-3: arith.mulf %{{.+}} : tensor<64x64xf32
// CHECK:   scf.yield %[[LOOP]]
// CHECK: "test.use"(%[[RESULT]])
tile.kernel @two_scales(%first: f32, %second: f32, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %least = arith.constant dense<-1.0e+30> : !s
  %rows = "test.rows"() : () -> !row
  %a = tensor.splat %first : !s
  %b = tensor.splat %second : !s
  %t = tile.alloc : !tile
  %visible = "test.visible"() : () -> !flags
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %rows) -> (!row) {
    %p = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<!s>
    %s = tile.await %p : !tile.pending<!s>
    %0 = arith.mulf %s, %a : !s
    %1 = tile.reduce minnumf %0 along 1 : !s -> !row
    %2 = arith.mulf %s, %b : !s
    %3 = tile.reduce maxnumf %2 along 1 : !s -> !row
    %4 = arith.mulf %s, %b : !s
    %5 = arith.select %visible, %4, %least : !flags, !s
    %6 = tile.reduce maxnumf %5 along 1 : !s -> !row
    %7 = arith.addf %1, %3 : !row
    %8 = arith.addf %7, %6 : !row
    scf.yield %8 : !row
  }
  "test.use"(%r) : (!row) -> ()
}

// No copy is needed for a positive constant, and none is made for a negative one.
// CHECK-LABEL: tile.kernel @constants(
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: %[[S:.+]] = tile.await
// CHECK-NEXT: tile.reduce maxnumf %[[S]] along 1
// CHECK: scf.for
// CHECK: %[[S:.+]] = tile.await
// CHECK-NEXT: %[[PRODUCT:.+]] = arith.mulf %[[S]]
// CHECK-NEXT: tile.reduce maxnumf %[[PRODUCT]] along 1
// CHECK-NOT: scf.if
tile.kernel @constants(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %positive = arith.constant dense<0.25> : !s
  %negative = arith.constant dense<-0.25> : !s
  %t = tile.alloc : !tile
  scf.for %i = %c0 to %n step %c1 {
    %p = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<!s>
    %s = tile.await %p : !tile.pending<!s>
    %0 = arith.mulf %s, %positive : !s
    %1 = tile.reduce maxnumf %0 along 1 : !s -> !row
    "test.use"(%1) : (!row) -> ()
  }
  scf.for %i = %c0 to %n step %c1 {
    %p = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<!s>
    %s = tile.await %p : !tile.pending<!s>
    %0 = arith.mulf %s, %negative : !s
    %1 = tile.reduce maxnumf %0 along 1 : !s -> !row
    "test.use"(%1) : (!row) -> ()
  }
}

// A scale that an iteration computes has a branch in the loop.
// CHECK-LABEL: tile.kernel @computed(
// CHECK: scf.for
// CHECK: tile.await
// CHECK: scf.if
// CHECK-NOT: scf.for
tile.kernel @computed(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %t = tile.alloc : !tile
  scf.for %i = %c0 to %n step %c1 {
    %scale = "test.scale"(%i) : (index) -> f32
    %splat = tensor.splat %scale : !s
    %p = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<!s>
    %s = tile.await %p : !tile.pending<!s>
    %0 = arith.mulf %s, %splat : !s
    %1 = tile.reduce maxnumf %0 along 1 : !s -> !row
    "test.use"(%1) : (!row) -> ()
  }
}

// No branch may continue a product in flight, which this loop carries.
// CHECK-LABEL: tile.kernel @carried(
// CHECK: tile.dot async
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: tile.await
// CHECK: scf.if
// CHECK-NOT: scf.for
tile.kernel @carried(%scale: f32, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !s
  %splat = tensor.splat %scale : !s
  %t = tile.alloc : !tile
  %first = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<!s>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %first) -> (!tile.pending<!s>) {
    %s = tile.await %p : !tile.pending<!s>
    %0 = arith.mulf %s, %splat : !s
    %1 = tile.reduce maxnumf %0 along 1 : !s -> !row
    "test.use"(%1) : (!row) -> ()
    %next = tile.dot async %t, %t, %zero : !tile, !tile -> !tile.pending<!s>
    scf.yield %next : !tile.pending<!s>
  }
  %last = tile.await %r : !tile.pending<!s>
  "test.use"(%last) : (!s) -> ()
}
