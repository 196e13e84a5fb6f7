// Every operation round-trips through text, the generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s
// RUN: tile-opt %s --verify-roundtrip -o %t
// RUN: tile-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
#partial = #tile.layout<register = [2 -> d1, 8 -> d1 * 8], lane = [4 -> d1 * 2, 8 -> 0], warp = [4 -> d0]>
#all = #tile.layout<register = [4 -> d0, 2 -> d1, 8 -> d1 * 8], lane = [4 -> d1 * 2, 8 -> 0], warp = [4 -> 0]>

!heads = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!head = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!counts = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!stage = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!ring = !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>

// CHECK-LABEL: tile.kernel @empty() {
// CHECK-NEXT: %[[C:.+]] = arith.constant 1 : index
// CHECK-NEXT: tile.grid %[[C]], %[[C]], %[[C]]
// CHECK-NEXT: tile.return
// GENERIC: "tile.kernel"() <{function_type = () -> (), sym_name = "empty"}>
tile.kernel @empty() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// CHECK-LABEL: tile.kernel @arguments(
// CHECK-SAME: %{{[^:]+}}: !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global> {tile.name = "q"}
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: i32, %{{[^:]+}}: i64, %{{[^:]+}}: index) attributes {num_warps = 8 : i32} {
tile.kernel @arguments(%q: !head {tile.name = "q"}, %f: f32, %i: i32, %l: i64, %n: index)
    attributes {num_warps = 8 : i32} {
  %i0 = arith.index_cast %i : i32 to index
  %l0 = arith.index_cast %l : i64 to index
  // CHECK: tile.grid %{{.+}}, %{{.+}}, %{{.+}} {note}
  tile.grid %i0, %l0, %n {note}
  // CHECK-NEXT: tile.program_id x
  %x = tile.program_id x
  // CHECK-NEXT: tile.program_id y
  %y = tile.program_id y
  // CHECK-NEXT: tile.program_id z
  %z = tile.program_id z
  // CHECK-NEXT: tile.num_programs x
  %count = tile.num_programs x
  // CHECK-NEXT: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%q: !heads, %counts: !counts) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tile.dim %{{.+}}[1] : !tile.buffer<?x?x?x64xf16, #strided{{[0-9]*}}, global>
  // GENERIC: "tile.dim"(%{{.+}}) <{dim = 1 : i64}>
  %rows = tile.dim %q[1] : !heads
  // CHECK: tile.recompute %{{.+}}
  // GENERIC: "tile.recompute"(%{{.+}}) : (i32) -> i32
  %rows32 = arith.index_cast %rows : index to i32
  %again = tile.recompute %rows32
  tile.grid %rows, %c1, %c1
  // CHECK: tile.slice %{{.+}}[%{{.+}}, *, %{{.+}}, *] : !tile.buffer<?x?x?x64xf16, #strided{{[0-9]*}}, global> to !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global>
  // GENERIC: "tile.slice"(%{{.+}}, %{{.+}}, %{{.+}}) <{kept = array<i1: false, true, false, true>}>
  %qh = tile.slice %q[%c0, *, %c1, *] : !heads to !head
  // CHECK: tile.alloc : !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared>
  %ring = tile.alloc : !ring
  // CHECK: tile.alloc {offset = 1024 : i64} : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  %pinned = tile.alloc {offset = 1024} : !stage
  // CHECK: tile.slice %{{.+}}[%{{.+}}, *, *] : !tile.buffer<2x64x64xf16, #tile.swizzle<128>, shared> to !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  %stage = tile.slice %ring[%c1, *, *] : !ring to !stage
  // CHECK: tile.load %{{.+}}[%{{.+}}, %{{.+}}] : !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global> -> tensor<64x64xf16>
  %t = tile.load %qh[%rows, %c0] : !head -> tensor<64x64xf16>
  // CHECK: tile.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}] : tensor<64x64xf16>, !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global>
  tile.store %t, %qh[%rows, %c0] : tensor<64x64xf16>, !head
  // CHECK: tile.store %{{.+}} : tensor<64x64xf16>, !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  tile.store %t, %stage[%c0, %c0] : tensor<64x64xf16>, !stage
  // CHECK: tile.copy %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}} : !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global>, !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  tile.copy %qh[%rows, %c0], %stage : !head, !stage
  // CHECK: tile.copy async %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}} {note = 1 : i64} :
  tile.copy async %qh[%rows, %c0], %stage {note = 1} : !head, !stage
  // CHECK-NEXT: tile.commit_group
  tile.commit_group
  // CHECK-NEXT: tile.wait_group 2
  tile.wait_group 2
  // CHECK-NEXT: tile.barrier
  tile.barrier
  // CHECK: tile.transpose %{{.+}} [1, 0] : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared> -> !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
  %transposed = tile.transpose %stage [1, 0]
      : !stage -> !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
  %ones = arith.constant dense<1> : tensor<64xi32>
  // CHECK: tile.atomic_rmw addi %{{.+}}, %{{.+}}[%{{.+}}] : tensor<64xi32>, !tile.buffer<?xi32, #strided{{[0-9]*}}, global>
  tile.atomic_rmw addi %ones, %counts[%c0] : tensor<64xi32>, !counts
  // CHECK: tile.atomic_rmw addi %{{.+}}, %{{.+}}[%{{.+}}] order(acq_rel) scope(system) : tensor<64xi32>, !tile.buffer<?xi32, #strided{{[0-9]*}}, global> -> tensor<64xi32>
  %old = tile.atomic_rmw addi %ones, %counts[%c0] order(acq_rel) scope(system) : tensor<64xi32>, !counts -> tensor<64xi32>
  // CHECK: tile.atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}] : tensor<64x64xf16>
  tile.atomic_rmw addf %t, %qh[%c0, %c0] : tensor<64x64xf16>, !head
}

// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%x: f32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<1.0> : tensor<64x32xf16>
  %b = arith.constant dense<1.0> : tensor<32x16xf16>
  %acc = tensor.splat %x : tensor<64x16xf32>
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  %d = tile.dot %a, %b, %acc : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  %bytes = arith.constant dense<1> : tensor<64x64xi8>
  %none = arith.constant dense<0> : tensor<64x64xi32>
  %sum = tile.dot %bytes, %bytes, %none : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} precision(tf32) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %tf32 = tile.dot %one, %one, %one precision(tf32) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} precision(bf16x3) {warps = array<i64: 2, 1>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %bf16x3 = tile.dot %one, %one, %tf32 precision(bf16x3) {warps = array<i64: 2, 1>}
      : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} {warps = array<i64: 2, 1>} : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  %w = tile.dot %a, %b, %d {warps = array<i64: 2, 1>}
      : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} {instruction = "mma.m16n8k16.f16"} : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  %e = tile.dot %a, %b, %d {instruction = "mma.m16n8k16.f16"}
      : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  // CHECK: tile.transpose %{{.+}} [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
  %t = tile.transpose %a [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
  // CHECK: tile.reduce maxnumf %{{.+}} along 1 : tensor<64x16xf32> -> tensor<64xf32>
  %max = tile.reduce maxnumf %e along 1 : tensor<64x16xf32> -> tensor<64xf32>
  // CHECK: tile.broadcast %{{.+}} along 1 : tensor<64xf32> -> tensor<64x16xf32>
  %m = tile.broadcast %max along 1 : tensor<64xf32> -> tensor<64x16xf32>
  // CHECK: tile.iota along 0 : tensor<64x16xi32>
  %row = tile.iota along 0 : tensor<64x16xi32>
  // CHECK: tile.iota along 2 : tensor<2x4x8xi64>
  %deep = tile.iota along 2 : tensor<2x4x8xi64>
}

// All kinds of reductions.
// CHECK-LABEL: tile.kernel @reductions
tile.kernel @reductions() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %f = arith.constant dense<1.0> : tensor<8x8xbf16>
  %i = arith.constant dense<1> : tensor<8x8xi64>
  // CHECK: tile.reduce addf
  %0 = tile.reduce addf %f along 0 : tensor<8x8xbf16> -> tensor<8xbf16>
  // CHECK: tile.reduce mulf
  %1 = tile.reduce mulf %f along 0 : tensor<8x8xbf16> -> tensor<8xbf16>
  // CHECK: tile.reduce maximumf
  %2 = tile.reduce maximumf %f along 0 : tensor<8x8xbf16> -> tensor<8xbf16>
  // CHECK: tile.reduce minimumf
  %3 = tile.reduce minimumf %f along 0 : tensor<8x8xbf16> -> tensor<8xbf16>
  // CHECK: tile.reduce minnumf
  %4 = tile.reduce minnumf %f along 0 : tensor<8x8xbf16> -> tensor<8xbf16>
  // CHECK: tile.reduce addi
  %5 = tile.reduce addi %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce muli
  %6 = tile.reduce muli %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce maxs
  %7 = tile.reduce maxs %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce mins
  %8 = tile.reduce mins %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce maxu
  %9 = tile.reduce maxu %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce minu
  %10 = tile.reduce minu %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce andi
  %11 = tile.reduce andi %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce ori
  %12 = tile.reduce ori %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
  // CHECK: tile.reduce xori
  %13 = tile.reduce xori %i along 0 : tensor<8x8xi64> -> tensor<8xi64>
}

// All kinds of scans, in both directions.
// CHECK-LABEL: tile.kernel @scans
tile.kernel @scans() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %f = arith.constant dense<1.0> : tensor<8x8xbf16>
  %i = arith.constant dense<1> : tensor<8x8xi64>
  %v = arith.constant dense<1.0> : tensor<8xf64>
  // CHECK: tile.scan addf %{{.+}} along 0 : tensor<8x8xbf16>
  %0 = tile.scan addf %f along 0 : tensor<8x8xbf16>
  // CHECK: tile.scan mulf %{{.+}} along 0 reverse : tensor<8x8xbf16>
  %1 = tile.scan mulf %f along 0 reverse : tensor<8x8xbf16>
  // CHECK: tile.scan maximumf %{{.+}} along 1 : tensor<8x8xbf16>
  %2 = tile.scan maximumf %f along 1 : tensor<8x8xbf16>
  // CHECK: tile.scan minimumf %{{.+}} along 0 reverse : tensor<8x8xbf16>
  %3 = tile.scan minimumf %f along 0 reverse : tensor<8x8xbf16>
  // CHECK: tile.scan maxnumf %{{.+}} along 0 : tensor<8x8xbf16>
  %4 = tile.scan maxnumf %f along 0 : tensor<8x8xbf16>
  // CHECK: tile.scan minnumf %{{.+}} along 1 reverse : tensor<8x8xbf16>
  %5 = tile.scan minnumf %f along 1 reverse : tensor<8x8xbf16>
  // CHECK: tile.scan addi %{{.+}} along 0 : tensor<8x8xi64>
  %6 = tile.scan addi %i along 0 : tensor<8x8xi64>
  // CHECK: tile.scan muli %{{.+}} along 0 reverse : tensor<8x8xi64>
  %7 = tile.scan muli %i along 0 reverse : tensor<8x8xi64>
  // CHECK: tile.scan maxs %{{.+}} along 1 : tensor<8x8xi64>
  %8 = tile.scan maxs %i along 1 : tensor<8x8xi64>
  // CHECK: tile.scan mins %{{.+}} along 0 reverse : tensor<8x8xi64>
  %9 = tile.scan mins %i along 0 reverse : tensor<8x8xi64>
  // CHECK: tile.scan maxu %{{.+}} along 0 : tensor<8x8xi64>
  %10 = tile.scan maxu %i along 0 : tensor<8x8xi64>
  // CHECK: tile.scan minu %{{.+}} along 1 reverse : tensor<8x8xi64>
  %11 = tile.scan minu %i along 1 reverse : tensor<8x8xi64>
  // CHECK: tile.scan andi %{{.+}} along 0 : tensor<8x8xi64>
  %12 = tile.scan andi %i along 0 : tensor<8x8xi64>
  // CHECK: tile.scan ori %{{.+}} along 0 reverse : tensor<8x8xi64>
  %13 = tile.scan ori %i along 0 reverse : tensor<8x8xi64>
  // CHECK: tile.scan xori %{{.+}} along 1 : tensor<8x8xi64>
  %14 = tile.scan xori %i along 1 : tensor<8x8xi64>
  // CHECK: tile.scan addf %{{.+}} along 0 : tensor<8xf64>
  %s = tile.scan addf %v along 0 : tensor<8xf64>
  // CHECK: tile.associative_scan %{{.+}} along 1 reverse : tensor<8x8xi64> {
  // CHECK-NEXT: ^bb0(%[[X:.+]]: i64, %[[Y:.+]]: i64):
  // CHECK-NEXT: %[[Z:.+]] = arith.subi %[[X]], %[[Y]] : i64
  // CHECK-NEXT: tile.yield %[[Z]] : i64
  // CHECK-NEXT: }
  %15 = tile.associative_scan %i along 1 reverse : tensor<8x8xi64> {
  ^bb0(%x: i64, %y: i64):
    %z = arith.subi %x, %y : i64
    tile.yield %z : i64
  }
  // CHECK: %{{.+}}:2 = tile.associative_scan %{{.+}}, %{{.+}} along 0 : tensor<8x8xbf16>, tensor<8x8xi64> {
  // CHECK-NEXT: ^bb0(%{{.+}}: bf16, %{{.+}}: i64, %{{.+}}: bf16, %{{.+}}: i64):
  %16:2 = tile.associative_scan %f, %i along 0 : tensor<8x8xbf16>, tensor<8x8xi64> {
  ^bb0(%x: bf16, %n: i64, %y: bf16, %o: i64):
    tile.yield %y, %n : bf16, i64
  }
  // CHECK: tile.reduce addf %{{.+}} along 0 : tensor<8xf64> -> tensor<1xf64>
  %r = tile.reduce addf %v along 0 : tensor<8xf64> -> tensor<1xf64>
  %m = arith.constant dense<0.5> : tensor<8x8xf32>
  // CHECK: tile.unit_triangular_inverse %{{.+}} : tensor<8x8xf32>
  %n = tile.unit_triangular_inverse %m : tensor<8x8xf32>
}

// Shapes and parts of tiles, and loads at places that tiles give.
// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%q: !head, %counts: !counts) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %other = arith.constant 1.0 : f16
  %mask = arith.constant dense<true> : tensor<16x64xi1>
  // CHECK: tile.masked_load %{{.+}}[%{{.+}}, %{{.+}}] : !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global> -> tensor<16x64xf16>
  %l0 = tile.masked_load %q[%c0, %c0] : !head -> tensor<16x64xf16>
  // CHECK: tile.masked_load %{{.+}}[%{{.+}}, %{{.+}}] mask %{{.+}} : !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global> -> tensor<16x64xf16>
  %l1 = tile.masked_load %q[%c0, %c0] mask %mask : !head -> tensor<16x64xf16>
  // CHECK: tile.masked_load %{{.+}}[%{{.+}}, %{{.+}}] other %{{.+}} : !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global> -> tensor<16x64xf16>
  %l2 = tile.masked_load %q[%c0, %c0] other %other : !head -> tensor<16x64xf16>
  // CHECK: tile.masked_load %{{.+}}[%{{.+}}, %{{.+}}] mask %{{.+}} other %{{.+}} : !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global> -> tensor<16x64xf16>
  %l3 = tile.masked_load %q[%c0, %c0] mask %mask other %other : !head -> tensor<16x64xf16>
  %rows = tile.load %counts[%c0] : !counts -> tensor<16xi32>
  // CHECK: tile.gather %{{.+}}[%{{.+}}, %{{.+}}] along 0 by %{{.+}} : !tile.buffer<?x64xf16, #strided{{[0-9]*}}, global>, tensor<16xi32> -> tensor<16x64xf16>
  %g = tile.gather %q[%c0, %c0] along 0 by %rows : !head, tensor<16xi32> -> tensor<16x64xf16>
  // CHECK: tile.reshape %{{.+}} : tensor<16x64xf16> -> tensor<16x2x32xf16>
  %r = tile.reshape %g : tensor<16x64xf16> -> tensor<16x2x32xf16>
  // CHECK: tile.extract %{{.+}} [8, 0, 16] : tensor<16x2x32xf16> -> tensor<8x1x16xf16>
  %e = tile.extract %r [8, 0, 16] : tensor<16x2x32xf16> -> tensor<8x1x16xf16>
  // CHECK: tile.concatenate %{{.+}}, %{{.+}}, %{{.+}} along 1 : tensor<8x1x16xf16> -> tensor<8x3x16xf16>
  %c = tile.concatenate %e, %e, %e along 1 : tensor<8x1x16xf16> -> tensor<8x3x16xf16>
}

// CHECK-LABEL: tile.kernel @laid_out
tile.kernel @laid_out() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %p = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
  // CHECK: tile.convert_layout %{{.+}} : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #tile.swizzle<128>>
  %s = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #tile.swizzle<128>>
  // CHECK: tile.transpose %{{.+}} [1, 0] : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
  %t = tile.transpose %s [1, 0] : tensor<64x64xf16, #tile.swizzle<128>>
      -> tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
  // CHECK: tile.convert_layout %{{.+}} : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot_a>
  %a = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot_a>
  // CHECK: tile.convert_layout %{{.+}} -> tensor<64x64xf16, #dot_b>
  %b = tile.convert_layout %t : tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
      -> tensor<64x64xf16, #dot_b>
  // CHECK: tile.dot %{{.+}} : tensor<64x64xf16, #dot_a>, tensor<64x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
  %d = tile.dot %a, %b, %zero : tensor<64x64xf16, #dot_a>, tensor<64x64xf16, #dot_b>
      -> tensor<64x64xf32, #mma>
  // CHECK: tile.reduce addf %{{.+}} along 1 : tensor<64x64xf32, #mma> -> tensor<64xf32, #tile.slice<1, #mma>>
  %sum = tile.reduce addf %d along 1 : tensor<64x64xf32, #mma> -> tensor<64xf32, #tile.slice<1, #mma>>
  // CHECK: tile.broadcast %{{.+}} along 1 : tensor<64xf32, #tile.slice<1, #mma>> -> tensor<64x64xf32, #mma>
  %w = tile.broadcast %sum along 1 : tensor<64xf32, #tile.slice<1, #mma>> -> tensor<64x64xf32, #mma>
  // CHECK: tile.reduce_in_warps mulf %{{.+}} along 0 : tensor<64x64xf32, #mma> -> tensor<4x64xf32, #layout>
  %part = tile.reduce_in_warps mulf %d along 0 : tensor<64x64xf32, #mma> -> tensor<4x64xf32, #partial>
  // CHECK: tile.broadcast_in_warps %{{.+}} along 0 : tensor<4x64xf32, #layout> -> tensor<64x64xf32, #mma>
  %repeated = tile.broadcast_in_warps %part along 0 : tensor<4x64xf32, #partial> -> tensor<64x64xf32, #mma>
  // CHECK: tile.scan addf %{{.+}} along 0 : tensor<64x64xf32, #mma>
  %scan = tile.scan addf %d along 0 : tensor<64x64xf32, #mma>
  // CHECK: %{{.+}}, %{{.+}} = tile.scan_in_warps addf %{{.+}} along 0 reverse : tensor<64x64xf32, #mma> -> tensor<4x64xf32, #layout>
  %runs, %totals = tile.scan_in_warps addf %d along 0 reverse : tensor<64x64xf32, #mma> -> tensor<4x64xf32, #partial>
  // CHECK: tile.convert_layout
  %all = tile.convert_layout %totals : tensor<4x64xf32, #partial> -> tensor<4x64xf32, #all>
  // CHECK: tile.join_scans addf %{{.+}}, %{{.+}} along 0 reverse : tensor<64x64xf32, #mma>, tensor<4x64xf32, #layout1>
  %joined = tile.join_scans addf %runs, %all along 0 reverse : tensor<64x64xf32, #mma>, tensor<4x64xf32, #all>
  // CHECK: tile.extract %{{.+}} [0, 32] : tensor<64x64xf32, #mma> -> tensor<64x32xf32, #mma>
  %right = tile.extract %d [0, 32] : tensor<64x64xf32, #mma> -> tensor<64x32xf32, #mma>
  // CHECK: tile.iota along 1 : tensor<64x64xi32, #blocked>
  %column = tile.iota along 1 : tensor<64x64xi32, #rows>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %lse: !lse, %scale: f32) {
  // CHECK: tile.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} scale %{{.+}} : !tile.buffer<?x?x?x64xf16,
  tile.attention %q, %k, %v, %o scale %scale : !heads, !heads, !heads, !heads
  // CHECK: tile.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} scale %{{.+}} window %{{.+}}, %{{.+}} {causal} :
  %left = arith.constant 16 : i32
  %open = arith.constant -1 : i32
  tile.attention %q, %k, %v, %o scale %scale window %left, %open {causal}
      : !heads, !heads, !heads, !heads
  // CHECK: tile.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} lse %{{.+}} scale %{{.+}} :
  // CHECK-SAME: , !tile.buffer<?x?x?xf32, #strided{{[0-9]*}}, global>
  tile.attention %q, %k, %v, %o lse %lse scale %scale : !heads, !heads, !heads, !heads, !lse
  return
}
