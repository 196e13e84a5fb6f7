// Asynchronous copies of rows whose end is inside an access: what follows the end is
// read as zero, although memory goes on there. The sums of rows are compared with those
// of a chip that copies single elements through registers.
//
// DEFINE: %{arguments} = --arg=random:40x96:f16:1 --arg=nan:40x16:f32
//
// RUN: tile-run %s --chip=gfx1100 %{arguments} --arg=90 --out=o=%t.90.npy
// RUN: tile-run %s --chip=sm_80 %{arguments} --arg=90 --expect=o=%t.90.npy --atol=1e-3
// RUN: tile-run %s --chip=sm_89 %{arguments} --arg=90 --expect=o=%t.90.npy --atol=1e-3
// RUN: tile-run %s --chip=gfx1100 %{arguments} --arg=65 --out=o=%t.65.npy
// RUN: tile-run %s --chip=sm_80 %{arguments} --arg=65 --expect=o=%t.65.npy --atol=1e-3
// RUN: tile-run %s --chip=gfx1100 %{arguments} --arg=7 --out=o=%t.7.npy
// RUN: tile-run %s --chip=sm_80 %{arguments} --arg=7 --expect=o=%t.7.npy --atol=1e-3
// RUN: tile-run %s --chip=sm_80 %{arguments} --arg=90 --remarks 2>&1 | FileCheck %s
// CHECK-NOT: synchronous-copy

!rows = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!sums = !tile.buffer<?x16xf32, #tile.strided<[16, 1], align = 16>, global>

tile.kernel @sums(%a: !rows {tile.name = "a"}, %o: !sums {tile.name = "o"}, %length: index {tile.name = "length"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %part = tile.narrow %a[1] from %c0 length %length : !rows to !rows
  %ones = arith.constant dense<1.0> : tensor<32x16xf16>
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %sum = scf.for %n = %c0 to %length step %c32 iter_args(%s = %zero) -> (tensor<64x16xf32>) {
    %t = tile.load %part[%c0, %n] : !rows -> tensor<64x32xf16>
    %next = tile.dot %t, %ones, %s : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
    scf.yield %next : tensor<64x16xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x16xf32>, !sums
}
