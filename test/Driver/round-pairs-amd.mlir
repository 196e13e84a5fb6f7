// On RDNA a pair of f32 is rounded to f16 by two products with one, which need no instruction that
// packs the halves.
// RUN: tile-translate --tile-to-llvmir --chip=gfx1201 %s | FileCheck %s
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %s | llvm-objdump -d - | FileCheck %s --check-prefix=ASM
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %s | llvm-objdump -d - | FileCheck %s --check-prefix=ASM
// RUN: tile-run %s --chip=gfx1201 --arg=random:32x32:f32:1 --arg=zeros:32x32:f16 --out=y=%t.gfx1201.npy
// RUN: tile-run %s --chip=sm_80 --arg=random:32x32:f32:1 --arg=zeros:32x32:f16 --expect=y=%t.gfx1201.npy

#rows = #tile.blocked<thread = [1, 32], lane = [32, 1], warp = [1, 1], order = [1, 0]>
!m = !tile.buffer<?x32xf32, #tile.strided<[32, 1], align = 16>, global>
!h = !tile.buffer<?x32xf16, #tile.strided<[32, 1], align = 16>, global>

// CHECK-LABEL: define amdgpu_kernel void @round(
// CHECK: [[ONE:%.*]] = call float @llvm.arithmetic.fence.f32(float 1.000000e+00)
// CHECK: [[PRODUCT:%.*]] = fmul <32 x float>
// CHECK: fptrunc <32 x float> [[PRODUCT]] to <32 x half>
// ASM-LABEL: <round>:
// ASM-NOT: v_pack_b32_f16
// ASM-COUNT-16: v_fma_mixhi_f16
// ASM-NOT: v_pack_b32_f16
tile.kernel @round(%x: !m, %y: !h) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %xt = tile.load %x[%c0, %c0] : !m -> tensor<32x32xf32, #rows>
  %yt = arith.truncf %xt : tensor<32x32xf32, #rows> to tensor<32x32xf16, #rows>
  tile.store %yt, %y[%c0, %c0] : tensor<32x32xf16, #rows>, !h
}
