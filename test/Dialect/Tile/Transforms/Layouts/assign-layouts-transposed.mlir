// Products contract both dimensions of a tile in a loop. Without reads that transpose, the
// tile is loaded twice, in both orders, if the shared memory has room. An operand that is
// known in front of all loops is read there.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,OUT,TWO
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,OUT,ONE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' \
// RUN:   --remarks-filter=tile-assign-layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!o = !tile.buffer<64x64xf32, #tile.strided<[64, 1]>, global>

// CHECK-LABEL: tile.kernel @both
// OUT: %[[K:.*]] = tile.load %arg0
// OUT: tile.convert_layout %[[K]] : {{.*}} -> tensor<64x64xf16, #dot_a>
// OUT: scf.for
// OUT: scf.for
// ONE: tile.load %arg1
// ONE-NOT: tile.load
// TWO: %[[Q:.*]] = tile.load %arg1{{.*}} -> tensor<32x64xf16, #tile.padded<{{.*}}order = [1, 0]
// TWO-NEXT: %[[T:.*]] = tile.load %arg1{{.*}} -> tensor<32x64xf16, #tile.padded<{{.*}}order = [0, 1]
// TWO: %[[V:.*]] = tile.transpose %[[Q]]
// TWO: tile.convert_layout %[[V]] : {{.*}} -> tensor<64x32xf16, #dot_b>
// TWO: tile.convert_layout %[[T]] : {{.*}} -> tensor<32x64xf16, #dot_b>
// TWO-NOT: tile.load
tile.kernel @both(%k: !g, %q: !g, %n: index, %o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %kt = tile.load %k[%c0, %c0] : !g -> tensor<64x64xf16>
  %sums = scf.for %h = %c0 to %n step %c1 iter_args(%outer = %zero) -> tensor<64x64xf32> {
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %outer) -> tensor<64x64xf32> {
      %qt = tile.load %q[%i, %c0] : !g -> tensor<32x64xf16>
      %qtt = tile.transpose %qt [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
      %s = tile.dot %kt, %qtt, %none : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf32>
      %p = arith.truncf %s : tensor<64x32xf32> to tensor<64x32xf16>
      %d = tile.dot %p, %qt, %acc : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    scf.yield %sum : tensor<64x64xf32>
  }
  tile.store %sums, %o[%c0, %c0] : tensor<64x64xf32>, !o
}

// The tile takes more than half of the shared memory.
// CHECK-LABEL: tile.kernel @too_large
// CHECK: scf.for
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// REMARK: [[#@LINE+11]]:11: remark: {{.*}}single-elements{{.*}}a transposed copy would take {{[0-9]+}} bytes of shared memory beside {{[0-9]+}}
tile.kernel @too_large(%q: !tile.buffer<?x256xf16, #tile.strided<[?:8, 1], align = 16>, global>, %n: index,
                       %o: !tile.buffer<64x256xf32, #tile.strided<[256, 1]>, global>)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<64x256xf32> {
    %qt = tile.load %q[%i, %c0] : !tile.buffer<?x256xf16, #tile.strided<[?:8, 1], align = 16>, global> -> tensor<64x256xf16>
    %qtt = tile.transpose %qt [1, 0] : tensor<64x256xf16> -> tensor<256x64xf16>
    %s = tile.dot %qt, %qtt, %none : tensor<64x256xf16>, tensor<256x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.dot %p, %qt, %acc : tensor<64x64xf16>, tensor<64x256xf16> -> tensor<64x256xf32>
    scf.yield %d : tensor<64x256xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x256xf32>, !tile.buffer<64x256xf32, #tile.strided<[256, 1]>, global>
}
