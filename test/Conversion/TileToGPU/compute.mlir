// Tiles in registers become vectors in the register order of their layouts.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>
#line = #tile.blocked<thread = [2], lane = [32], warp = [2], order = [0]>

!o = !tile.buffer<16x16xf32, #tile.strided<[16, 1], align = 16>, global>
!v = !tile.buffer<128xf32, #tile.strided<[1], align = 16>, global>

// CHECK-LABEL: gpu.func @elementwise(
// CHECK-SAME: %[[X:[^:]+]]: f32
// CHECK-DAG: %[[TWO:.+]] = arith.constant dense<2.000000e+00> : vector<2xf32>
// CHECK-DAG: %[[S:.+]] = vector.broadcast %[[X]] : f32 to vector<2xf32>
// CHECK: %[[M:.+]] = arith.mulf %[[S]], %[[TWO]] fastmath<contract> : vector<2xf32>
// CHECK: %[[E:.+]] = math.exp2 %[[M]] : vector<2xf32>
// CHECK: %[[C:.+]] = arith.cmpf olt, %[[M]], %[[E]] : vector<2xf32>
// CHECK: arith.select %[[C]], %[[M]], %[[E]] : vector<2xi1>, vector<2xf32>
tile.kernel @elementwise(%x: f32, %o: !v) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tensor.splat %x : tensor<128xf32, #line>
  %two = arith.constant dense<2.0> : tensor<128xf32, #line>
  %m = arith.mulf %s, %two fastmath<contract> : tensor<128xf32, #line>
  %e = math.exp2 %m : tensor<128xf32, #line>
  %c = arith.cmpf olt, %m, %e : tensor<128xf32, #line>
  %r = arith.select %c, %m, %e : tensor<128xi1, #line>, tensor<128xf32, #line>
  tile.store %r, %o[%c0] : tensor<128xf32, #line>, !v
}

// Registers 0 and 1 are in row lane / 4, registers 2 and 3 are 8 rows further; the
// columns of two instructions have a distance of 8.
// CHECK-LABEL: gpu.func @coordinates
// CHECK-DAG: %[[ROWS:.+]] = arith.constant dense<[0, 0, 8, 8, 0, 0, 8, 8]> : vector<8xi32>
// CHECK-DAG: %[[COLUMNS:.+]] = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9]> : vector<8xi64>
// CHECK: %[[ROW:.+]] = vector.broadcast %{{.+}} : i32 to vector<8xi32>
// CHECK: arith.addi %[[ROW]], %[[ROWS]] : vector<8xi32>
// CHECK: %[[COLUMN:.+]] = arith.extui %{{.+}} : i32 to i64
// CHECK: %[[ALL:.+]] = vector.broadcast %[[COLUMN]] : i64 to vector<8xi64>
// CHECK: arith.addi %[[ALL]], %[[COLUMNS]] : vector<8xi64>
tile.kernel @coordinates(%o: !o) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.iota along 0 : tensor<16x16xi32, #mma>
  %j = tile.iota along 1 : tensor<16x16xi64, #mma>
  %k = arith.trunci %j : tensor<16x16xi64, #mma> to tensor<16x16xi32, #mma>
  %s = arith.addi %i, %k : tensor<16x16xi32, #mma>
  %f = arith.sitofp %s : tensor<16x16xi32, #mma> to tensor<16x16xf32, #mma>
  tile.store %f, %o[%c0, %c0] : tensor<16x16xf32, #mma>, !o
}

// A value per row is repeated over the columns, and a value per column over the rows.
// CHECK-LABEL: gpu.func @broadcast
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [0, 0, 1, 1, 0, 0, 1, 1] : vector<2xf32>, vector<2xf32>
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [0, 1, 0, 1, 2, 3, 2, 3] : vector<4xf32>, vector<4xf32>
tile.kernel @broadcast(%o: !o, %v: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.load %v[%c0] : !v -> tensor<16xf32, #tile.slice<1, #mma>>
  %j = tile.load %v[%c0] : !v -> tensor<16xf32, #tile.slice<0, #mma>>
  %rows = tile.broadcast %i along 1 : tensor<16xf32, #tile.slice<1, #mma>> -> tensor<16x16xf32, #mma>
  %columns = tile.broadcast %j along 0 : tensor<16xf32, #tile.slice<0, #mma>> -> tensor<16x16xf32, #mma>
  %s = arith.addf %rows, %columns : tensor<16x16xf32, #mma>
  tile.store %s, %o[%c0, %c0] : tensor<16x16xf32, #mma>, !o
}

// An accumulator used as operand A of the next MMA is the same vector; another
// register order is a permutation of it.
// CHECK-LABEL: gpu.func @conversions
// CHECK: %[[P:.+]] = arith.truncf %{{.+}} : vector<8xf32> to vector<8xf16>
// CHECK-NOT: vector.shuffle
// CHECK: tile_gpu.mma "mma.m16n8k16.f16" %[[P]],
tile.kernel @conversions(%o: !o, %x: f32) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %f = tile.load %o[%c0, %c0] : !o -> tensor<16x16xf32, #mma>
  %p = arith.truncf %f : tensor<16x16xf32, #mma> to tensor<16x16xf16, #mma>
  %a = tile.convert_layout %p : tensor<16x16xf16, #mma> -> tensor<16x16xf16, #dot_a>
  %b = arith.constant dense<1.0> : tensor<16x16xf16, #dot_b>
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
  %d = tile.dot %a, %b, %acc : tensor<16x16xf16, #dot_a>, tensor<16x16xf16, #dot_b> -> tensor<16x16xf32, #mma>
  tile.store %d, %o[%c0, %c0] : tensor<16x16xf32, #mma>, !o
}

#four = #tile.layout<register = [2 -> d0, 2 -> d0 * 2], lane = [32 -> d0 * 4], warp = []>
#swapped = #tile.layout<register = [2 -> d0 * 2, 2 -> d0], lane = [32 -> d0 * 4], warp = []>

// CHECK-LABEL: gpu.func @permuted
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [0, 2, 1, 3] : vector<4xf32>, vector<4xf32>
tile.kernel @permuted(%v: !v, %x: f32) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %i = tile.iota along 0 : tensor<128xi32, #four>
  %f = arith.sitofp %i : tensor<128xi32, #four> to tensor<128xf32, #four>
  %p = tile.convert_layout %f : tensor<128xf32, #four> -> tensor<128xf32, #swapped>
  %q = math.exp2 %p : tensor<128xf32, #swapped>
  tile.store %q, %v[%c0] : tensor<128xf32, #swapped>, !v
}

// 32x16 with a depth of 32: two instructions along the rows, two along the columns
// and two along the depth; the latter use one accumulator.
// One sum is computed in four parts, because an MMA waits for the one before.
// CHECK-LABEL: gpu.func @chains
// CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK: %[[ONE:.+]] = arith.constant dense<1.000000e+00> : vector<4xf32>
// CHECK: %[[P0:.+]] = tile_gpu.mma {{.*}}, %[[ONE]] :
// CHECK-COUNT-3: tile_gpu.mma {{.*}}, %[[ZERO]] :
// CHECK: %[[Q0:.+]] = tile_gpu.mma {{.*}}, %[[P0]] :
// CHECK: %[[S1:.+]] = arith.addf %[[Q0]], %{{.+}} : vector<4xf32>
// CHECK: %[[S2:.+]] = arith.addf %[[S1]], %{{.+}} : vector<4xf32>
// CHECK: arith.addf %[[S2]], %{{.+}} : vector<4xf32>
tile.kernel @chains(%a: !tile.buffer<16x80xf16, #tile.strided<[80, 1], align = 16>, global>,
                    %b: !tile.buffer<80x8xf16, #tile.strided<[8, 1], align = 16>, global>,
                    %o: !tile.buffer<16x8xf32, #tile.strided<[8, 1], align = 16>, global>)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %x = tile.load %a[%c0, %c0] : !tile.buffer<16x80xf16, #tile.strided<[80, 1], align = 16>, global> -> tensor<16x80xf16, #dot_a>
  %y = tile.load %b[%c0, %c0] : !tile.buffer<80x8xf16, #tile.strided<[8, 1], align = 16>, global> -> tensor<80x8xf16, #dot_b>
  %acc = arith.constant dense<1.0> : tensor<16x8xf32, #mma>
  %d = tile.dot %x, %y, %acc : tensor<16x80xf16, #dot_a>, tensor<80x8xf16, #dot_b> -> tensor<16x8xf32, #mma>
  tile.store %d, %o[%c0, %c0] : tensor<16x8xf32, #mma>, !tile.buffer<16x8xf32, #tile.strided<[8, 1], align = 16>, global>
}

// CHECK-LABEL: gpu.func @product
// CHECK-SAME: %[[A:[^:]+]]: memref
// CHECK-COUNT-8: tile_gpu.mma "mma.m16n8k16.f16" %{{.+}} : vector<8xf16>, vector<4xf16>, vector<4xf32>
// CHECK-NOT: tile_gpu.mma
tile.kernel @product(%s: !tile.buffer<32x32xf16, #tile.strided<[32, 1], align = 16>, global>,
                     %o: !tile.buffer<32x16xf32, #tile.strided<[16, 1], align = 16>, global>)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %a = tile.load %s[%c0, %c0] : !tile.buffer<32x32xf16, #tile.strided<[32, 1], align = 16>, global> -> tensor<32x32xf16, #dot_a>
  %b = tile.load %s[%c0, %c0] : !tile.buffer<32x32xf16, #tile.strided<[32, 1], align = 16>, global> -> tensor<32x16xf16, #dot_b>
  %acc = arith.constant dense<0.0> : tensor<32x16xf32, #mma>
  %d = tile.dot %a, %b, %acc : tensor<32x32xf16, #dot_a>, tensor<32x16xf16, #dot_b> -> tensor<32x16xf32, #mma>
  tile.store %d, %o[%c0, %c0] : tensor<32x16xf32, #mma>,
      !tile.buffer<32x16xf32, #tile.strided<[16, 1], align = 16>, global>
}

// Tiles are carried through loops and branches.
// CHECK-LABEL: gpu.func @control_flow
// CHECK: scf.for {{.*}} -> (vector<2xf32>)
// CHECK: scf.if {{.*}} -> (vector<2xf32>)
tile.kernel @control_flow(%v: !v, %n: index) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %v[%c0] : !v -> tensor<128xf32, #line>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> tensor<128xf32, #line> {
    %some = arith.cmpi slt, %i, %c1 : index
    %b = scf.if %some -> tensor<128xf32, #line> {
      %e = math.exp2 %a : tensor<128xf32, #line>
      scf.yield %e : tensor<128xf32, #line>
    } else {
      scf.yield %t : tensor<128xf32, #line>
    }
    scf.yield %b : tensor<128xf32, #line>
  }
  tile.store %r, %v[%c0] : tensor<128xf32, #line>, !v
}
