// Rows that begin at any element are copied ahead in aligned words: what lies before and
// behind a row in %x does not count. Nothing is read for the rows behind the last one,
// which are zeros. test/Integration/rows.py runs rows with padding between them.
// RUN: tile-run %s --chip=gfx1100 --arg=random:9x1001:bf16:1 --arg=nan:9x1001:bf16 --arg=5 --arg=700 --out=y=%t.npy
// RUN: tile-run %s --chip=sm_80 --arg=random:9x1001:bf16:1 --arg=nan:9x1001:bf16 --arg=5 --arg=700 --expect=y=%t.npy --atol=0.02
// RUN: tile-run %s --chip=sm_90a --arg=random:9x1001:bf16:1 --arg=nan:9x1001:bf16 --arg=5 --arg=700 --expect=y=%t.npy --atol=0.02
// RUN: tile-run %s --chip=gfx1100 --arg=random:7x5:bf16:1 --arg=nan:7x5:bf16 --arg=0 --arg=5 --out=y=%t.5.npy
// RUN: tile-run %s --chip=sm_90a --arg=random:7x5:bf16:1 --arg=nan:7x5:bf16 --arg=0 --arg=5 --expect=y=%t.5.npy --atol=0.02
// RUN: tile-translate %s --tile-to-ptx --chip=sm_80 | FileCheck %s
// CHECK: cp.async.cg.shared.global

!rows = !tile.buffer<?x?xbf16, #tile.strided<[?, 1]>, global>
!t16 = tensor<1x1024xbf16>
!t = tensor<1x1024xf32>

tile.kernel @scale(%x: !rows {tile.name = "x"}, %y: !rows {tile.name = "y"},
    %first: index {tile.name = "first"}, %length: index {tile.name = "length"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
  %block = tile.program_id x
  %count = tile.dim %x[0] : !rows
  tile.require %y[0] equal %count, "the rows of x" : !rows
  %part = tile.narrow %x[1] from %first length %length : !rows to !rows
  %c5 = arith.constant 5 : index
  %end = arith.addi %count, %c5 : index
  scf.for %i = %block to %end step %c2 {
    %t16 = tile.load %part[%i, %c0] : !rows -> !t16
    %t = arith.extf %t16 : !t16 to !t
    %sum = tile.reduce addf %t along 1 : !t -> tensor<1xf32>
    %sums = tile.broadcast %sum along 1 : tensor<1xf32> -> !t
    %q = arith.addf %t, %sums : !t
    %q16 = arith.truncf %q : !t to !t16
    tile.store %q16, %y[%i, %c0] : !t16, !rows
  }
}
