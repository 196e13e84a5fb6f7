// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-defer-reductions))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-defer-reductions))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: :[[#]]:{{.*}} remark: [Passed] reduction-deferred | Category:tile-defer-reductions | {{.*}}Reason="threads exchange their parts of the sum behind the loop"

// Four lanes share a row; 128 threads share the elements of a wide row.
// CHECK-DAG: #[[LANES:layout.*]] = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> d1, 8 -> d0], warp = [4 -> d0 * 16]>
// CHECK-DAG: #[[THREADS:layout.*]] = #tile.layout<register = [], lane = [32 -> d1], warp = [4 -> d1 * 32]>

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#row = #tile.slice<1, #mma>
#wide = #tile.layout<register = [4 -> d1], lane = [32 -> d1 * 4], warp = [4 -> d1 * 128]>
#number = #tile.slice<1, #wide>
!tile = tensor<64x32xf32, #mma>
!sum = tensor<64xf32, #row>
!like = tensor<64xf32, #tile.slice<1, #tile.mma<"mma.m16n8k16.bf16", warps = [4, 1]>>>
!line = tensor<64xf32, #tile.layout<register = [], lane = [32 -> d0], warp = [2 -> d0 * 32, 2 -> 0]>>
!out = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// The factors are spread over the parts.
// CHECK-LABEL: tile.kernel @scaled(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x4xf32, #[[LANES]]>
// CHECK: %[[PARTS:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[ZERO]]) -> (tensor<64x4xf32, #[[LANES]]>)
// CHECK: %[[P:.*]] = tile.reduce_in_threads addf %{{.*}} along 1 : tensor<64x32xf32, #mma> -> tensor<64x4xf32, #[[LANES]]>
// CHECK: %[[F:.*]] = tile.broadcast %{{.*}} along 1
// CHECK: math.fma %[[S]], %[[F]], %[[P]] : tensor<64x4xf32, #[[LANES]]>
// CHECK: %[[SUM:.*]] = tile.reduce addf %[[PARTS]] along 1 : tensor<64x4xf32, #[[LANES]]> -> tensor<64xf32, #tile.slice<1, #mma>>
// CHECK: tile.store %[[SUM]]
tile.kernel @scaled(%n: index, %x: f32, %f: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %factor = tensor.splat %f : !sum
  %zero = arith.constant dense<0.0> : !sum
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!sum) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %next = math.fma %s, %factor, %p fastmath<reassoc> : !sum
    scf.yield %next : !sum
  }
  tile.store %r, %out[%c0] : !sum, !out
}

// One thread begins with the first value of the sum.
// CHECK-LABEL: tile.kernel @scalar(
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : tensor<1x128xi32, #[[THREADS]]>
// CHECK: %[[INIT:.*]] = arith.select %[[FIRST]], %{{.*}}, %{{.*}} : tensor<1x128xi1, #[[THREADS]]>
// CHECK: %[[PARTS:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[INIT]]) -> (tensor<1x128xf32, #[[THREADS]]>)
// CHECK: %[[P:.*]] = tile.reduce_in_threads addf
// CHECK: %[[F:.*]] = tensor.splat %{{.*}} : tensor<1x128xf32, #[[THREADS]]>
// CHECK: %[[OLD:.*]] = arith.mulf %[[S]], %[[F]]
// CHECK: arith.addf %[[OLD]], %[[P]]
// CHECK: %[[SUM:.*]] = tile.reduce addf %[[PARTS]] along 1
// CHECK: tensor.extract %[[SUM]]
tile.kernel @scalar(%n: index, %x: f32, %f: f32, %a: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : tensor<1x512xf32, #wide>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (f32) {
    %p = tile.reduce addf %t along 1 : tensor<1x512xf32, #wide> -> tensor<1xf32, #number>
    %e = tensor.extract %p[%c0] : tensor<1xf32, #number>
    %old = arith.mulf %s, %f fastmath<reassoc> : f32
    %next = arith.addf %old, %e fastmath<reassoc> : f32
    scf.yield %next : f32
  }
  %v = tensor.splat %r : tensor<512xf32, #tile.slice<0, #wide>>
  tile.store %v, %out[%c0] : tensor<512xf32, #tile.slice<0, #wide>>, !out
}

// Maxima need no flag. All threads begin with the first value.
// CHECK-LABEL: tile.kernel @max(
// CHECK: %[[INIT:.*]] = tile.broadcast %{{.*}} along 1
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %[[INIT]]) -> (tensor<64x4xf32, #[[LANES]]>)
// CHECK: %[[P:.*]] = tile.reduce_in_threads maxnumf
// CHECK: scf.if %{{.*}} -> (tensor<64x4xf32, #[[LANES]]>)
// CHECK: arith.maxnumf %[[S]], %[[P]]
// CHECK: tile.reduce maxnumf
tile.kernel @max(%n: index, %x: f32, %flag: i1, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %start = tensor.splat %x : !sum
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!sum) {
    %p = tile.reduce maxnumf %t along 1 : !tile -> !sum
    %q = scf.if %flag -> (!sum) {
      %both = arith.maxnumf %s, %p : !sum
      scf.yield %both : !sum
    } else {
      scf.yield %s : !sum
    }
    scf.yield %q : !sum
  }
  tile.store %r, %out[%c0] : !sum, !out
}

// The order of the additions is that of the program.
// REMARK: :[[@LINE+11]]:{{.*}} remark: [Missed] reduction-not-deferred | Category:tile-defer-reductions | {{.*}}Reason="threads exchange their parts of the sum in every iteration: 'arith.addf' has no fastmath<reassoc>"
// CHECK-LABEL: tile.kernel @unflagged(
// CHECK-NOT: tile.reduce_in_threads
tile.kernel @unflagged(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %zero = arith.constant dense<0.0> : !sum
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!sum) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %next = arith.addf %s, %p : !sum
    scf.yield %next : !sum
  }
  tile.store %r, %out[%c0] : !sum, !out
}

// The loop needs the whole sum.
// CHECK-LABEL: tile.kernel @used(
// CHECK-NOT: tile.reduce_in_threads
tile.kernel @used(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %zero = arith.constant dense<0.0> : !sum
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!sum) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %next = arith.addf %s, %p fastmath<reassoc> : !sum
    tile.store %next, %out[%c0] : !sum, !out
    scf.yield %next : !sum
  }
}

// A product of sums is no sum of products.
// CHECK-LABEL: tile.kernel @squared(
// CHECK-NOT: tile.reduce_in_threads
tile.kernel @squared(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %zero = arith.constant dense<0.0> : !sum
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!sum) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %next = math.fma %s, %s, %p fastmath<reassoc> : !sum
    scf.yield %next : !sum
  }
  tile.store %r, %out[%c0] : !sum, !out
}

// A first iteration before the loop, and a second loop, have parts of the same sum.
// CHECK-LABEL: tile.kernel @chain(
// CHECK: %[[P:.*]] = tile.reduce_in_threads addf
// CHECK: %[[INIT:.*]] = arith.addf %[[P]], %{{.*}} : tensor<64x4xf32
// CHECK: %[[A:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK: tile.reduce_in_threads addf
// CHECK: %[[B:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[A]])
// CHECK: tile.reduce_in_threads addf
// CHECK: %[[SUM:.*]] = tile.reduce addf %[[B]] along 1
// CHECK: arith.mulf %[[SUM]], %[[SUM]]
tile.kernel @chain(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %start = tensor.splat %x : !sum
  %p0 = tile.reduce addf %t along 1 : !tile -> !sum
  %s0 = arith.addf %p0, %start fastmath<reassoc> : !sum
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%s = %s0) -> (!sum) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %next = arith.addf %s, %p fastmath<reassoc> : !sum
    scf.yield %next : !sum
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (!sum) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %next = arith.addf %s, %p fastmath<reassoc> : !sum
    scf.yield %next : !sum
  }
  %square = arith.mulf %b, %b : !sum
  tile.store %square, %out[%c0] : !sum, !out
}

// A thread holds 248 of 255 registers of tiles.
// REMARK: remark: [Missed] reduction-not-deferred | Category:tile-defer-reductions | {{.*}}Reason="a thread has few registers left: an exchange in the loop limits what the back end moves"
// CHECK-LABEL: tile.kernel @many_registers(
// CHECK-NOT: tile.reduce_in_threads
tile.kernel @many_registers(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : tensor<64x448xf32, #mma>
  %zero = arith.constant dense<0.0> : !sum
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %u = %t) -> (!sum, tensor<64x448xf32, #mma>) {
    %p = tile.reduce addf %u along 1 : tensor<64x448xf32, #mma> -> !sum
    %next = arith.addf %s, %p fastmath<reassoc> : !sum
    %v = math.exp2 %u : tensor<64x448xf32, #mma>
    scf.yield %next, %v : !sum, tensor<64x448xf32, #mma>
  }
  tile.store %r#0, %out[%c0] : !sum, !out
}

// Products are none of the sums.
// CHECK-LABEL: tile.kernel @product(
// CHECK-NOT: tile.reduce_in_threads
tile.kernel @product(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %start = tensor.splat %x : !sum
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!sum) {
    %p = tile.reduce mulf %t along 1 : !tile -> !sum
    scf.yield %p : !sum
  }
  tile.store %r, %out[%c0] : !sum, !out
}

// A conversion after which threads have the same elements is no exchange.
// CHECK-LABEL: tile.kernel @converted(
// CHECK: %[[PARTS:.*]] = scf.for {{.*}} -> (tensor<64x4xf32, #[[LANES]]>)
// CHECK: %[[P:.*]] = tile.reduce_in_threads addf
// CHECK: arith.addf %{{.*}}, %[[P]] : tensor<64x4xf32, #[[LANES]]>
// CHECK: %[[SUM:.*]] = tile.reduce addf %[[PARTS]] along 1
// CHECK: %[[LIKE:.*]] = tile.convert_layout %[[SUM]]
// CHECK: tile.store %[[LIKE]]
tile.kernel @converted(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %zero = arith.constant dense<0.0> : !like
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!like) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %q = tile.convert_layout %p : !sum -> !like
    %next = arith.addf %s, %q fastmath<reassoc> : !like
    scf.yield %next : !like
  }
  tile.store %r, %out[%c0] : !like, !out
}

// Other conversions are.
// CHECK-LABEL: tile.kernel @exchanged(
// CHECK-NOT: tile.reduce_in_threads
tile.kernel @exchanged(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %zero = arith.constant dense<0.0> : !line
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!line) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %q = tile.convert_layout %p : !sum -> !line
    %next = arith.addf %s, %q fastmath<reassoc> : !line
    scf.yield %next : !line
  }
  tile.store %r, %out[%c0] : !line, !out
}

// Another loop uses the sum, which is whole in front of it.
// CHECK-LABEL: tile.kernel @used_later(
// CHECK: %[[PARTS:.*]] = scf.for
// CHECK: tile.reduce_in_threads addf
// CHECK: %[[SUM:.*]] = tile.reduce addf %[[PARTS]] along 1
// CHECK: scf.for
// CHECK: tile.store %[[SUM]]
tile.kernel @used_later(%n: index, %x: f32, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %x : !tile
  %zero = arith.constant dense<0.0> : !sum
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!sum) {
    %p = tile.reduce addf %t along 1 : !tile -> !sum
    %next = arith.addf %s, %p fastmath<reassoc> : !sum
    scf.yield %next : !sum
  }
  scf.for %i = %c0 to %n step %c1 {
    tile.store %r, %out[%i] : !sum, !out
  }
}
