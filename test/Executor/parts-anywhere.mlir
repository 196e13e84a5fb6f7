// Parts whose extents do not divide those of the tile or of the offset go through shared
// memory.
// RUN: tile-run %s --chip=sm_90a --arg=random:12x40:f32:1 --arg=nan:7x24:f32 --arg=nan:7x24:f32 --out=o=%t.npy
// RUN: tile-run %s --chip=sm_90a --arg=random:12x40:f32:1 --arg=nan:7x24:f32 --arg=nan:7x24:f32 --expect=direct=%t.npy
// RUN: tile-run %s --chip=gfx942 --arg=random:12x40:f32:1 --arg=nan:7x24:f32 --arg=nan:7x24:f32 --expect=o=%t.npy
// RUN: tile-run %s --chip=gfx1100 --arg=random:12x40:f32:1 --arg=nan:7x24:f32 --arg=nan:7x24:f32 --expect=o=%t.npy

!a = !tile.buffer<12x40xf32, #tile.strided<[40, 1], align = 16>, global>
!o = !tile.buffer<7x24xf32, #tile.strided<[24, 1], align = 16>, global>

tile.kernel @part(%a: !a {tile.name = "a"}, %o: !o {tile.name = "o"}, %direct: !o {tile.name = "direct"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c13 = arith.constant 13 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !a -> tensor<12x40xf32>
  %p = tile.extract %t [3, 13] : tensor<12x40xf32> -> tensor<7x24xf32>
  tile.store %p, %o[%c0, %c0] : tensor<7x24xf32>, !o
  // The same elements from global memory.
  %q = tile.load %a[%c3, %c13] : !a -> tensor<7x24xf32>
  tile.store %q, %direct[%c0, %c0] : tensor<7x24xf32>, !o
}
