// Comparisons of a coordinate become one comparison with the least bound.
// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tile.kernel(tile-join-comparisons))' | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#row = #tile.slice<1, #mma>
!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!ints = tensor<64x64xi32, #mma>
!flags = tensor<64x64xi1, #mma>
!row = tensor<64xi32, #row>

// The last key and the diagonal. The bound of the last key shows that column + n
// does not wrap around.
// CHECK-LABEL: tile.kernel @causal
// CHECK: scf.for %[[N:.*]] =
// CHECK: %[[LEFT:.*]] = arith.index_cast
// CHECK: arith.subi %[[LEFT]], %c1_i32
// CHECK: arith.maxsi %{{.*}} : tensor<64xi32, #tile.slice<1, #mma>>
// CHECK: arith.subi %{{.*}} : tensor<64xi32, #tile.slice<1, #mma>>
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}} : tensor<64xi32, #tile.slice<1, #mma>>
// CHECK: %[[BOUND:.*]] = tile.broadcast %[[LAST]] along 1
// CHECK: %[[COLUMN:.*]] = tile.iota along 1
// CHECK: %[[MASK:.*]] = arith.cmpi sle, %[[COLUMN]], %[[BOUND]]
// CHECK-NOT: cmpi
// CHECK: "use"(%[[MASK]])
tile.kernel @causal(%b: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %keys = tile.dim %b[0] : !b
  tile.grid %c1, %c1, %c1
  %row = tile.program_id x
  %row32 = arith.index_cast %row : index to i32
  %column = tile.iota along 1 : !ints
  %line = tile.iota along 0 : !ints
  %first = tensor.splat %row32 : !ints
  %query = arith.addi %line, %first : !ints
  scf.for %n = %c0 to %keys step %c64 {
    %left = arith.subi %keys, %n : index
    %left32 = arith.index_cast %left : index to i32
    %end = tensor.splat %left32 : !ints
    %inside = arith.cmpi slt, %column, %end : !ints
    %n32 = arith.index_cast %n : index to i32
    %offset = tensor.splat %n32 : !ints
    %key = arith.addi %column, %offset : !ints
    %before = arith.cmpi sle, %key, %query : !ints
    %visible = arith.andi %inside, %before : !flags
    "use"(%visible) : (!flags) -> ()
  }
}

// Without the last key, n + 63 may be 2^31 and more if the step is not known to
// be a multiple of 64.
// CHECK-LABEL: tile.kernel @wraps
// CHECK: %[[KEY:.*]] = arith.addi %{{.*}} : tensor<64x64xi32
// CHECK: %[[MASK:.*]] = arith.cmpi sle, %[[KEY]], %{{.*}} : tensor<64x64xi32
// CHECK: "use"(%[[MASK]])
tile.kernel @wraps(%b: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %keys = tile.dim %b[0] : !b
  tile.grid %c1, %c1, %c1
  %column = tile.iota along 1 : !ints
  %query = tile.iota along 0 : !ints
  scf.for %n = %c0 to %keys step %c64 {
    %n32 = arith.index_cast %n : index to i32
    %offset = tensor.splat %n32 : !ints
    %key = arith.addi %column, %offset : !ints
    %before = arith.cmpi sle, %key, %query : !ints
    "use"(%before) : (!flags) -> ()
  }
}

// A window has two bounds, a disjunction the complement of a bound.
// CHECK-LABEL: tile.kernel @window
// CHECK: arith.cmpi sle, %{{.*}} : tensor<64x64xi32
// CHECK: arith.cmpi sge, %{{.*}} : tensor<64x64xi32
// CHECK: %[[WINDOW:.*]] = arith.andi
// CHECK-NOT: arith.andi
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}} : tensor<64xi32
// CHECK: %[[BOUND:.*]] = tile.broadcast %[[LAST]] along 1
// CHECK: %[[HIDDEN:.*]] = arith.cmpi sgt, %{{.*}}, %[[BOUND]]
// CHECK-NOT: arith.ori
// CHECK: "use"(%[[WINDOW]], %[[HIDDEN]])
tile.kernel @window(%n: i32, %w: i32) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %column = tile.iota along 1 : !ints
  %rows = "rows"() : () -> !row
  %last = tile.broadcast %rows along 1 : !row -> !ints
  %end = tensor.splat %n : !ints
  %begin = tensor.splat %w : !ints
  %in0 = arith.cmpi slt, %column, %end : !ints
  %in1 = arith.cmpi sge, %last, %column : !ints
  %in2 = arith.cmpi sgt, %column, %begin : !ints
  %both = arith.andi %in0, %in1 : !flags
  %all = arith.andi %both, %in2 : !flags
  %out0 = arith.cmpi sge, %column, %end : !ints
  %out1 = arith.cmpi slt, %last, %column : !ints
  %either = arith.ori %out0, %out1 : !flags
  "use"(%all, %either) : (!flags, !flags) -> ()
}

// A sum that the program marks as one that does not wrap around (nsw). Nothing is known
// of the offset: it is put between the numbers at which all coordinates are visible or
// none, so that the difference does not wrap around.
// CHECK-LABEL: tile.kernel @marked
// CHECK: %[[LOW:.*]] = arith.maxsi %arg0, %c-64_i32 : i32
// CHECK: %[[OFFSET:.*]] = arith.minsi %[[LOW]], %c64_i32 : i32
// CHECK: %[[OFFSETS:.*]] = tensor.splat %[[OFFSET]]
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %[[OFFSETS]] : tensor<64xi32
// CHECK: %[[BOUND:.*]] = tile.broadcast %[[LAST]] along 1
// CHECK: %[[BELOW:.*]] = arith.cmpi sle, %{{.*}}, %[[BOUND]]
// CHECK: %[[ONE:.*]] = arith.addi %{{.*}}, %c-1_i32 : i32
// CHECK: tensor.splat %[[ONE]]
// CHECK: %[[ABOVE:.*]] = arith.cmpi sge
// CHECK-NOT: cmpi
// CHECK: "use"(%[[BELOW]], %[[ABOVE]])
tile.kernel @marked(%f: i32) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %column = tile.iota along 1 : !ints
  %line = tile.iota along 0 : !ints
  %offset = tensor.splat %f : !ints
  %key = arith.addi %column, %offset overflow<nsw> : !ints
  %below = arith.cmpi sle, %key, %line : !ints
  %above = arith.cmpi sgt, %key, %line : !ints
  "use"(%below, %above) : (!flags, !flags) -> ()
}
