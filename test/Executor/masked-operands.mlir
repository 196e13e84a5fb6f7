// A product with a masked constant: partial sums of rows. The operand takes no shared
// memory, of which this kernel took 65536 bytes on gfx90a. wgmma reads it from there.
// RUN: tile-translate %s --tile-to-llvmir --chip=gfx90a --manifest=%t.json -o /dev/null
// RUN: FileCheck %s --input-file=%t.json
// CHECK: "shared_bytes": 33280
// RUN: tile-run %s --chip=sm_90a --arg=random:64x252:f32:1 --arg=nan:64x128:f32 --out=o=%t.npy
// RUN: tile-run %s --chip=gfx90a --arg=random:64x252:f32:1 --arg=nan:64x128:f32 --expect=o=%t.npy --atol=1e-4
// RUN: tile-run %s --chip=sm_80 --arg=random:64x252:f32:1 --arg=nan:64x128:f32 --expect=o=%t.npy --atol=1e-4
// RUN: tile-run %s --chip=gfx1100 --arg=random:64x252:f32:1 --arg=nan:64x128:f32 --expect=o=%t.npy --atol=1e-4

!a = !tile.buffer<64x252xf32, #tile.strided<[252, 1], align = 16>, global>
!o = !tile.buffer<64x128xf32, #tile.strided<[128, 1], align = 16>, global>

tile.kernel @sums(%a: !a {tile.name = "a"}, %o: !o {tile.name = "o"}) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !a -> tensor<64x252xf32>
  %row = tile.iota along 0 : tensor<252x128xi32>
  %column = tile.iota along 1 : tensor<252x128xi32>
  %before = arith.cmpi sle, %row, %column : tensor<252x128xi32>
  %some = arith.constant dense<1.5> : tensor<252x128xf32>
  %none = arith.constant dense<0.0> : tensor<252x128xf32>
  %b = arith.select %before, %some, %none : tensor<252x128xi1>, tensor<252x128xf32>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %d = tile.dot %t, %b, %zero precision(bf16x3) : tensor<64x252xf32>, tensor<252x128xf32> -> tensor<64x128xf32>
  tile.store %d, %o[%c0, %c0] : tensor<64x128xf32>, !o
}
