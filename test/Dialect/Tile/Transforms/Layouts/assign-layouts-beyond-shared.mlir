// A tile that does not fit shared memory comes from global memory to the registers of the
// products, if all of them read the same fragments.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile.kernel(tile-assign-layouts))' | FileCheck %s --check-prefix=FITS

!g = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!o = !tile.buffer<256x64xf32, #tile.strided<[64, 1]>, global>

// 256 rows with padding take 66 KiB; gfx942 has 64, gfx950 160.
// CHECK: #[[A:.+]] = #tile.dot_operand<0, #{{.+}}>
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.load %arg0{{.*}} -> tensor<256x128xf16, #dot_a>
// CHECK: tile.load %arg1{{.*}} -> tensor<64x128xf16, #tile.padded<
// FITS-LABEL: tile.kernel @product
// FITS: tile.load %arg0{{.*}} -> tensor<256x128xf16, #tile.padded<
tile.kernel @product(%q: !g, %k: !g, %o: !o) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %qt = tile.load %q[%c0, %c0] : !g -> tensor<256x128xf16>
  %kt = tile.load %k[%c0, %c0] : !g -> tensor<64x128xf16>
  %kt_t = tile.transpose %kt [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
  %s = tile.dot %qt, %kt_t, %zero : tensor<256x128xf16>, tensor<128x64xf16> -> tensor<256x64xf32>
  tile.store %s, %o[%c0, %c0] : tensor<256x64xf32>, !o
}
