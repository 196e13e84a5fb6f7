// On RDNA a factor of many elements is in a pair of registers, which are in
// different banks, so that two products are issued together.
// RUN: tile-translate --tile-to-llvmir --chip=gfx1201 %s | FileCheck %s
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %s | llvm-objdump -d - | FileCheck %s --check-prefix=ASM
// RUN: tile-translate --tile-to-llvmir --chip=gfx1201 -O0 %s | FileCheck %s --check-prefix=PACKED

// PACKED-NOT: asm

#rows = #tile.blocked<thread = [1, 32], lane = [32, 1], warp = [1, 1], order = [1, 0]>
!m = !tile.buffer<?x32xf32, #tile.strided<[32, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>

// CHECK-LABEL: define amdgpu_kernel void @scale(
// CHECK: call <2 x float> asm "", "=v,0"(
// CHECK: fmul <32 x float>
// ASM-LABEL: <scale>:
// ASM-COUNT-12: v_dual_mul_f32
tile.kernel @scale(%x: !m, %f: !v, %y: !m) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %xt = tile.load %x[%c0, %c0] : !m -> tensor<32x32xf32, #rows>
  %ft = tile.load %f[%c0] : !v -> tensor<32xf32, #tile.slice<1, #rows>>
  %all = tile.broadcast %ft along 1 : tensor<32xf32, #tile.slice<1, #rows>> -> tensor<32x32xf32, #rows>
  %yt = arith.mulf %xt, %all : tensor<32x32xf32, #rows>
  tile.store %yt, %y[%c0, %c0] : tensor<32x32xf32, #rows>, !m
}

// A factor that all lanes have is in a scalar register.
// CHECK-LABEL: define amdgpu_kernel void @uniform(
// CHECK-NOT: asm
// CHECK: fmul <
// CHECK: ret void
tile.kernel @uniform(%x: !m, %f: f32, %y: !m) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %xt = tile.load %x[%c0, %c0] : !m -> tensor<32x32xf32, #rows>
  %all = tensor.splat %f : tensor<32x32xf32, #rows>
  %yt = arith.mulf %xt, %all : tensor<32x32xf32, #rows>
  tile.store %yt, %y[%c0, %c0] : tensor<32x32xf32, #rows>, !m
}

// Elements behind the end of a row are zeros in all lanes.
// CHECK-LABEL: define amdgpu_kernel void @masked(
// ASM-LABEL: <masked>:
tile.kernel @masked(%x: !tile.buffer<3x4xf32, #tile.strided<[?, 1], align = 16>, global>,
                    %y: !tile.buffer<8x?x?xf32, #tile.strided<[?, ?, 1], align = 16>, global>)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %xt = tile.load %x[%c0, %c0] : !tile.buffer<3x4xf32, #tile.strided<[?, 1], align = 16>, global> -> tensor<8x8xf32>
  %all = tile.broadcast %xt along 2 : tensor<8x8xf32> -> tensor<8x8x45xf32>
  %f = arith.constant 0.03125 : f32
  %factor = tensor.splat %f : tensor<8x8x45xf32>
  %yt = arith.mulf %all, %factor : tensor<8x8x45xf32>
  tile.store %yt, %y[%c0, %c0, %c0] : tensor<8x8x45xf32>, !tile.buffer<8x?x?xf32, #tile.strided<[?, ?, 1], align = 16>, global>
}
