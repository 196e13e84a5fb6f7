// What kernels print, in the order of blocks and threads, on all chips alike.
// RUN: tile-run %s --chip=sm_80 --arg=zeros:2x4:f32 --arg=-3 --arg=true --arg=1.5 --arg=0.1 | FileCheck %s
// RUN: tile-run %s --chip=sm_90a --arg=zeros:2x4:f32 --arg=-3 --arg=1 --arg=1.5 --arg=0.1 --checks=off | FileCheck %s
// RUN: tile-run %s --chip=gfx942 --arg=zeros:2x4:f32 --arg=-3 --arg=true --arg=1.5 --arg=0.1 --jobs=1 | FileCheck %s
// RUN: tile-run %s --chip=gfx1201 --arg=zeros:2x4:f32 --arg=-3 --arg=true --arg=1.5 --arg=0.1 | FileCheck %s

// RUN: tile-run %s --chip=sm_80 --stats --arg=zeros:2x4:f32 --arg=-3 --arg=true --arg=1.5 --arg=0.1 | FileCheck %s --check-prefix=STATS
// STATS: print and assertion

// CHECK: n: block (0, 0, 0), thread 0: -3
// CHECK-NEXT: 100% flag: block (0, 0, 0), thread 0: 1
// CHECK-NEXT: x: block (0, 0, 0), thread 0: 1.5
// CHECK-NEXT: y: block (0, 0, 0), thread 0: 0.1001
// CHECK-NEXT: block: block (0, 0, 0), thread 0: 0
// CHECK-NEXT: t: block (0, 0, 0), thread 0: [0, 0] = 0.100000001
// CHECK-NEXT: t: block (0, 0, 0), thread 0: [0, 1] = 1.10000002
// CHECK-NEXT: t: block (0, 0, 0), thread 0: [0, 2] = 2.0999999
// CHECK-NEXT: again: block (0, 0, 0), thread 0: 0
// CHECK-NEXT: again: block (0, 0, 0), thread 0: 1
// CHECK-NEXT: t: block (0, 0, 0), thread 1: [1, 0] = 0.100000001
// CHECK-NEXT: t: block (0, 0, 0), thread 1: [1, 1] = 1.10000002
// CHECK-NEXT: t: block (0, 0, 0), thread 1: [1, 2] = 2.0999999
// CHECK-NEXT: n: block (1, 0, 0), thread 0: -3
// CHECK: block: block (1, 0, 0), thread 0: 1
// CHECK: t: block (1, 0, 0), thread 1: [1, 2] = 2.0999999
// CHECK-NEXT: n: block (2, 0, 0), thread 0: -3
// CHECK: t: block (2, 0, 0), thread 1: [1, 2] = 2.0999999
// CHECK-NEXT: n: block (3, 0, 0), thread 0: -3
// CHECK: t: block (3, 0, 0), thread 1: [1, 2] = 2.0999999
// CHECK-NOT: block

!b = !tile.buffer<2x4xf32, #tile.strided<[4, 1], align = 16>, global>

tile.kernel @prints(%b: !b, %n: i32, %flag: i1, %x: bf16, %y: bf16) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tile.grid %c4, %c1, %c1
  %block = tile.program_id x
  tile.print "n" %n : i32
  tile.print "100% flag" %flag : i1
  tile.print "x" %x : bf16
  tile.print "y" %y : bf16
  tile.print "block" %block : index
  %column = tile.iota along 1 : tensor<2x4xi32>
  %f = arith.sitofp %column : tensor<2x4xi32> to tensor<2x4xf32>
  %tenth = arith.constant dense<0.1> : tensor<2x4xf32>
  %t = arith.addf %f, %tenth : tensor<2x4xf32>
  tile.print "t" %t within [2, 3] : tensor<2x4xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    tile.print "again" %i : index
  }
}
