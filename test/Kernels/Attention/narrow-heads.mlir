// RUN: tile-translate --tile-to-llvmir --chip=sm_80 %s | FileCheck %s
// RUN: tile-translate --tile-to-llvmir --chip=sm_90a %s | FileCheck %s
// RUN: tile-translate --tile-to-llvmir --chip=gfx942 %s | FileCheck %s
// RUN: tile-translate --tile-to-llvmir --chip=gfx950 %s | FileCheck %s
// RUN: tile-translate --tile-to-llvmir --chip=gfx1100 %s | FileCheck %s
// RUN: tile-translate --tile-to-llvmir --chip=gfx1201 %s | FileCheck %s

// dQ has 32 columns here, padding included: the warps of a block must divide it
// on every chip.

!heads = !tile.buffer<?x?x?x8xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!values = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!acc = !tile.buffer<?x?x?x8xf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>

// CHECK: define {{.*}}void @backward_dkv(
func.func @backward(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %do: !heads, %lse: !lse,
                    %dq: !heads, %dk: !heads, %dv: !heads, %stats: !stats, %dq_acc: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %dq_acc scale %scale
      : !heads, !heads, !heads, !heads, !heads, !lse, !heads, !heads, !heads, !stats, !acc
  return
}

// CHECK: define {{.*}}void @wide_values_dkv(
func.func @wide_values(%q: !heads, %k: !heads, %v: !values, %o: !values, %do: !values, %lse: !lse,
                       %dq: !heads, %dk: !heads, %dv: !values, %stats: !stats, %dq_acc: !acc, %scale: f32) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
      using %stats dq_acc %dq_acc scale %scale
      : !heads, !heads, !values, !values, !values, !lse, !heads, !heads, !values, !stats, !acc
  return
}
