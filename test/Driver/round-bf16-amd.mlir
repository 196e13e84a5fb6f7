// f32 is rounded to bf16 by integer arithmetic, where there is no instruction for it. The check for
// NaN is left out if the conversion has `fastmath<nnan>`.
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %s | llvm-objdump -d - | FileCheck %s
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %s | llvm-objdump -d - | FileCheck %s --check-prefix=WAVE64
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %s | llvm-objdump -d - | FileCheck %s --check-prefix=NATIVE
// RUN: tile-run %s --chip=gfx1201 --arg=random:32x32:f32:1 --arg=zeros:32x32:bf16 --arg=zeros:32x32:bf16 --out=y=%t.npy
// RUN: tile-run %s --chip=sm_80 --arg=random:32x32:f32:1 --arg=zeros:32x32:bf16 --arg=zeros:32x32:bf16 --expect=y=%t.npy --expect=z=%t.npy

!m = !tile.buffer<?x32xf32, #tile.strided<[32, 1], align = 16>, global>
!h = !tile.buffer<?x32xbf16, #tile.strided<[32, 1], align = 16>, global>

// CHECK-LABEL: <round>:
// CHECK-COUNT-32: v_cmp_o_f32
// CHECK-NOT: v_cmp_o_f32
// WAVE64-LABEL: <round>:
// WAVE64-COUNT-16: v_cmp_o_f32
// WAVE64-NOT: v_cmp_o_f32
// NATIVE-LABEL: <round>:
// NATIVE-NOT: v_cmp_{{[ou]}}_f32
// NATIVE-COUNT-8: v_cvt_pk_bf16_f32
tile.kernel @round(%x: !m, %y: !h, %z: !h) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %xt = tile.load %x[%c0, %c0] : !m -> tensor<32x32xf32>
  %yt = arith.truncf %xt : tensor<32x32xf32> to tensor<32x32xbf16>
  tile.store %yt, %y[%c0, %c0] : tensor<32x32xbf16>, !h
  %zt = arith.truncf %xt fastmath<nnan> : tensor<32x32xf32> to tensor<32x32xbf16>
  tile.store %zt, %z[%c0, %c0] : tensor<32x32xbf16>, !h
}
