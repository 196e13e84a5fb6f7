// Tiles that waves copy to the LDS without registers have a swizzle in place of padding, if
// the schedule asks for stages. The swizzle is for the banks of the chip. A tile that is
// transposed on the way cannot be copied so. On gfx950, where reads transpose, V stays in the
// order of global memory: its swizzle of 64 bytes has no conflicts with these reads.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile.kernel(tile-assign-layouts))' | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' | FileCheck %s --check-prefixes=CHECK,GFX942,COPIED
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile.kernel(tile-assign-layouts))' | FileCheck %s --check-prefixes=CHECK,PADDED,COPIED
// RUN: sed 's/ {tile.schedule = .*}//' %s | tile-opt - --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile.kernel(tile-assign-layouts))' | FileCheck %s --check-prefixes=CHECK,PADDED,READ

!g = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!o = !tile.buffer<64x128xf32, #tile.strided<[128, 1]>, global>

// CHECK-LABEL: tile.kernel @products
tile.kernel @products(%k: !g, %v: !g, %n: index, %o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<64x128xf32> {
    // GFX950: tile.load %arg0{{.*}} -> tensor<64x128xf16, #tile.swizzle<256, banks = 64>>
    // GFX942: tile.load %arg0{{.*}} -> tensor<64x128xf16, #tile.swizzle<128>>
    // PADDED: tile.load %arg0{{.*}} -> tensor<64x128xf16, #tile.padded<{{8|16}}, order = [1, 0]>>
    %kt = tile.load %k[%i, %c0] : !g -> tensor<64x128xf16>
    %kt_t = tile.transpose %kt [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    %s = tile.dot %kt, %kt_t, %none : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    // GFX950: tile.load %arg1{{.*}} -> tensor<64x128xf16, #tile.swizzle<64, banks = 64>>
    // READ: tile.load %arg1{{.*}} -> tensor<64x128xf16, #tile.padded<32, order = [1, 0]>>
    // COPIED: tile.load %arg1{{.*}} -> tensor<64x128xf16, #tile.padded<{{4|8}}, order = [0, 1], group = {{8|16}}, groupPad = {{4|8}}>>
    %vt = tile.load %v[%i, %c0] : !g -> tensor<64x128xf16>
    %d = tile.dot %p, %vt, %acc : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.schedule = #tile.schedule<stages = 2>}
  tile.store %sum, %o[%c0, %c0] : tensor<64x128xf32>, !o
}
