// Threads compute an operand of constants and coordinates where they multiply it.
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts,cse))' | FileCheck %s
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts,cse))' | FileCheck %s
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,cse))' | FileCheck %s --check-prefix=WGMMA

!buffer = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
!out = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>

// The mask has two uses, each with the layout that it needs.
// CHECK-LABEL: tile.kernel @masked
// CHECK: arith.select {{.*}} : tensor<64x64xi1, #[[B:dot_b]]>, tensor<64x64xf16, #[[B]]>
// CHECK-NOT: tile.convert_layout {{.*}} -> tensor<64x64xf16, #dot_b>
// CHECK: tile.dot {{.*}}, tensor<64x64xf16, #dot_b>
// CHECK: tile.store
// wgmma reads operand b from shared memory.
// WGMMA-LABEL: tile.kernel @masked
// WGMMA: tile.convert_layout {{.*}} -> tensor<64x64xf16, #tile.swizzle<128>>
tile.kernel @masked(%a: !buffer, %f: !buffer, %o: !out) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !buffer -> tensor<64x64xf16>
  %row = tile.iota along 0 : tensor<64x64xi32>
  %end = arith.constant dense<60> : tensor<64x64xi32>
  %inside = arith.cmpi slt, %row, %end : tensor<64x64xi32>
  %ones = arith.constant dense<1.5> : tensor<64x64xf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %b = arith.select %inside, %ones, %none : tensor<64x64xi1>, tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %t, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %d, %o[%c0, %c0] : tensor<64x64xf32>, !out
  tile.store %b, %f[%c0, %c0] : tensor<64x64xf16>, !buffer
}

// Exponentials are computed once for all warps.
// CHECK-LABEL: tile.kernel @exponentials
// CHECK: math.exp2 {{.*}} : tensor<64x64xf16, #blocked
tile.kernel @exponentials(%a: !buffer, %o: !out) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0] : !buffer -> tensor<64x64xf16>
  %row = tile.iota along 0 : tensor<64x64xi32>
  %x = arith.sitofp %row : tensor<64x64xi32> to tensor<64x64xf16>
  %b = math.exp2 %x : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %t, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %d, %o[%c0, %c0] : tensor<64x64xf32>, !out
}

// A loop would keep more registers than it has to spare: the operand stays in shared
// memory.
// CHECK-LABEL: tile.kernel @loop
// CHECK: arith.select {{.*}} : tensor<256x64xi1, #blocked
// CHECK: scf.for
!long = !tile.buffer<?x256xf16, #tile.strided<[256, 1], align = 16>, global>
tile.kernel @loop(%a: !long, %o: !out, %n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %row = tile.iota along 0 : tensor<256x64xi32>
  %end = arith.constant dense<250> : tensor<256x64xi32>
  %inside = arith.cmpi slt, %row, %end : tensor<256x64xi32>
  %ones = arith.constant dense<1.5> : tensor<256x64xf16>
  %none = arith.constant dense<0.0> : tensor<256x64xf16>
  %b = arith.select %inside, %ones, %none : tensor<256x64xi1>, tensor<256x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %t = tile.load %a[%i, %c0] : !long -> tensor<64x256xf16>
    %d = tile.dot %t, %b, %s : tensor<64x256xf16>, tensor<256x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !out
}
